"""The front page: the findings of each system, and how far to trust them."""

import importlib
from collections.abc import Mapping
from typing import Any

from evenhand.report.headline import SYSTEMS, VERDICTS, plain, say, total
from evenhand.report.sections.planted import describe_planted
from evenhand.report.study import Study

#: The main findings, which the console prints: one of each kind of planted truth, if there is one,
#: then the clearest finding of each system.
MAIN = 3


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    cards = system_cards(study, {name: plain("question", system=name) for name in SYSTEMS})
    # the clearest finding first, and remedies behind what they should mend
    cards.sort(
        key=lambda card: (
            card["id"] == "mitigation",
            -card["headline"].strength if card["headline"] else 0,
        )
    )
    truths = describe_planted(study.planted, study.files) if study.planted else []
    headlines = [card["headline"] for card in cards if card["headline"]]
    findings = [say("planted_line", entry=row) for row in truths if row["main"]]
    findings += [headline.line for headline in headlines]
    provenance = study.document("provenance.json") or {"files": []}
    files = [entry for entry in provenance["files"] if entry.get("result", True)]
    sections = [("short", "In short")] * bool(findings)
    sections += [("planted", "Planted truth")] * bool(truths)
    return published_counts(cards) | {
        "sections": [*sections, ("trust", "Trust")],
        "who_fares_worse": plain("question_groups"),
        "absent": [plain("absent", system=name) for name in SYSTEMS if name not in study.systems],
        "truths": truths,
        "findings": findings[:MAIN],
        "left_out": [line for headline in headlines for line in headline.left_out],
        "result_files": len(files),
        "traced_files": sum(entry["stage"] is not None for entry in files),
    }


def system_cards(study: Study, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return, for each of these systems, id, title, pages, headline and the files behind it.

    A system that is not of this configuration has no headline.
    """
    cards = []
    for system, title in titles.items():
        headline = None
        if system in study.systems:
            module = importlib.import_module(f"evenhand.report.headlines.{system}")
            headline = module.describe(study)
        counted = [file for line in headline.verdicts for file in line.files] if headline else []
        cards.append(
            {
                "id": system.replace("_", "-"),
                "title": title,
                "pages": SYSTEMS[system],
                "headline": headline,
                "files": headline.files if headline else [],
                "counts": total(headline.verdicts) if headline else None,
                "counted": list(dict.fromkeys(counted)),
            }
        )
    return cards


def published_counts(cards: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the cards with the number of published values by verdict over all of them."""
    headlines = [card["headline"] for card in cards if card["headline"]]
    counts = total(verdicts for headline in headlines for verdicts in headline.verdicts)
    return {"cards": cards, "verdicts": VERDICTS, "counts": counts}
