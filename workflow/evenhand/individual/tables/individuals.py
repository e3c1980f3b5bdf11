"""The numbers of test individuals and answers behind Tables 4 and 8."""

from collections.abc import Iterator
from typing import Any

from evenhand.core.tables import Row, Table, integer, percent, share
from evenhand.individual.people import count_answers, members, name_of, read_answers
from evenhand.individual.results import FORM, SETTING, SETTING_COLUMNS, order, setting_of
from evenhand.individual.study import IndividualStudy
from evenhand.individual.tables import table_4, table_8

_KINDS = {
    "wrong": "predicted wrongly",
    "positive": "predicted positive",
    "changed": "with a changed label",
    "beyond": "whose probability moves beyond tau",
}

TABLE = Table(
    "individuals",
    title="Test individuals and answers behind the numbers",
    key=(*SETTING, "group", "label"),
    columns=(
        *SETTING_COLUMNS,
        integer("group", "Code of the attribute; blank: all"),
        integer("label", "0 or 1; blank: both"),
        integer("seeds", "Whose predictions were kept"),
        integer("runs", "That have measures"),
        integer("answers", "Of one seed on one test individual"),
        integer("people", "Test individuals"),
        *(
            column
            for kind, meaning in _KINDS.items()
            for column in (
                integer(kind, f"Answers {meaning}"),
                integer(f"{kind}_people", f"Test individuals {meaning}, by one seed at least"),
            )
        ),
        integer("flips", "Answers times other values of the attribute"),
        integer("changed_flips"),
        integer("beyond_flips"),
        percent("acc", "Mean over these seeds, as all that follow"),
        share("positive_rate"),
        percent("ifr_b"),
        percent("ifr_p"),
        percent("ifr_p_all"),
    ),
    form=FORM,
)


def rows(study: IndividualStudy) -> Iterator[Row]:
    """Yield a row per setting of Tables 4 and 8, group and label with test individuals."""
    names = {
        name_of(setting_of(row)) for member in (table_4, table_8) for row in member.rows(study)
    }
    datasets = {row["file"]: row["dataset"] for row in study.runs}
    counted: dict[Any, list[dict[str, Any]]] = {}
    for number, (runs, predictions) in enumerate(study.trainings):
        if number not in datasets:
            continue
        for answers in read_answers(runs, predictions, study.people[datasets[number]], names):
            named = dict(zip(SETTING, answers.setting, strict=True))
            named |= {"seeds": len(answers.seeds), "runs": answers.runs}
            counted[answers.setting] = [
                named | {"group": group, "label": label} | count_answers(answers, some)
                for group, label, some in members(answers)
            ]
    for setting in sorted(counted, key=order):
        yield from counted[setting]
