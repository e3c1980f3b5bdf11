"""The report on the classifiers of legal cases."""

from typing import Any

from evenhand.core.rows import grouped, where
from evenhand.core.tables import read_table
from evenhand.legal.classifier_findings import classifier_findings
from evenhand.legal.published import ALL, read_claims
from evenhand.report.headline import plain, say
from evenhand.report.headlines.legal import (
    VERDICTS_ON_GROUPS,
    accuracy_gap,
    conclude,
    judge,
    rate_gaps,
    titled,
    without_plain,
)
from evenhand.report.sections import legal_classifiers as classifiers
from evenhand.report.sections.legal_data import (
    copied_in,
    navigation,
    read_datasets,
    titles_by_name,
)
from evenhand.report.sections.more_tables import OF_MITIGATION, MoreTables
from evenhand.report.study import Study


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    datasets = read_datasets(study, "tables/classifiers/*")
    together = [(dataset.declaration, dataset.tables) for dataset in datasets]
    claims = read_claims(study.path("legal/published_claims.csv"), ALL)
    titles = titles_by_name(datasets)
    objectives = study.titles_of("objectives")
    described = []
    for dataset in datasets:
        tables = dataset.tables
        table_4, scores, calibration = (
            where(tables[name], objective=classifiers.BASE)
            for name in ("table_4", "group_scores", "calibration")
        )
        table_2 = [
            {"name": attribute, "classifier": classifier, "rows": rows}
            | classifiers.draw_table_2(rows, scores)
            for (attribute, classifier), rows in grouped(
                tables["table_2"], "attribute", "classifier"
            ).items()
        ]
        calibration = [
            row | {"noise_words": plain("legal_noise", verdict=row["verdict"])}
            for row in calibration
        ]
        bins, declaration = tables["calibration_bins"], dataset.declaration
        values = {
            "task": declaration.task,
            "has_two_labels": len(declaration.labels) == 2,
            "table_4": classifiers.describe_table_4(table_4),
            "claims": tables["claims"],
            "table_2": table_2,
            "calibration": calibration,
            "counterfactual": classifiers.by_training(tables.get("counterfactual", [])),
            "group_scores": classifiers.describe_group_scores(scores),
            "calibration_curves": classifiers.describe_calibration_curves(bins),
            "findings": classifier_findings([(declaration, tables)], objectives, claims),
        }
        described.append(dataset.head | values)
    lowest = judge(
        {dataset.id: dataset.tables["table_4"] for dataset in datasets},
        {dataset.id: dataset.tables["group_scores"] for dataset in datasets},
        titles,
        {path.name: read_table(path / "cross.csv") for path in study.paths("tables/cases/*")},
    )
    rates = [row | titled(row, titles) for row in rate_gaps(study)]
    return {
        "question": plain("question", system="legal_rates" if rates else "legal"),
        "has_rates": bool(rates),
        "sections": navigation(datasets),
        "datasets": described,
        "lowest": sorted(lowest, key=lambda row: VERDICTS_ON_GROUPS.index(row["judged"])),
        "lowest_files": [
            f"tables/classifiers/{dataset.id}/{table}.csv"
            for table in ("table_4", "group_scores")
            for dataset in datasets
        ],
        "lead": [
            *conclude(lowest, rates=rates, accuracy=accuracy_gap(study, lowest)),
            *without_plain(study),
        ],
        "copied": copied_in(study),
        "over_all": classifier_findings(together, objectives, claims) if together[1:] else [],
        "swapped": study.swapped.replace("_", " "),
        "test_cases": "test" in study.linked,
        "objective": objectives.heading,
        "measures": classifiers.MEASURES,
        "noise_words": classifiers.noise_words,
        "verdict_on": lambda row: say("legal_verdict", row=row),
        "more_tables": MoreTables(study, ["tables/classifiers/*"], but=OF_MITIGATION),
    }
