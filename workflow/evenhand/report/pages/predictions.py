"""The report on external predictions: gaps between groups and their uncertainty."""

from typing import Any

from markupsafe import escape

from evenhand.predictions.words import TITLES, doubts, findings, model_words, undecided
from evenhand.report.headline import say
from evenhand.report.headlines.predictions import (
    by_chance_in,
    conclude,
    draw,
    drawn_title,
    read_audit,
    same_trainings,
)
from evenhand.report.render import slug
from evenhand.report.sections.legal_data import copied_in
from evenhand.report.sections.more_tables import MoreTables
from evenhand.report.study import Study
from evenhand.text.catalogue import borderline, doubt_of


def content(study: Study) -> dict[str, Any]:
    """Return the values of the template."""
    folders = {path.name: path for path in study.paths("tables/predictions/*")}
    sets = []
    for path in study.paths("*/meta.json"):
        meta = read_audit(path, folders[path.parent.name], study.titles)
        meta["id"] = f"set-{slug(meta['name'])}"
        for row in meta["tables"].get("preferences", []):
            row["why"] = "; ".join(filter(None, (undecided(row), doubt_of(row), borderline(row))))
        sets.append(
            meta
            | {"figure": draw(meta)}
            | {"drawn": drawn_title(meta["tables"])}
            | {"doubts": doubts(meta, meta["tables"]), "named": model_words(meta)}
        )
    headline, same = conclude(sets, "below"), same_trainings(sets)
    chances = by_chance_in([meta for meta in sets if meta["name"] not in same])
    for meta in sets:
        chance = chances.get(meta["name"])
        meta["findings"] = findings(meta["tables"], meta["delta"], meta, chance)
    for meta in sets:  # those that the page begins with are not repeated
        meta["findings"] = [
            words
            for words in meta["findings"]
            if not any(statement.endswith(escape(words)) for statement in headline.statements)
        ]
    for meta in sets:
        if words := same.get(meta["name"]):
            meta["findings"] = [say("predictions_same", words=words)]
    return {
        "sections": [(meta["id"], meta["title"]) for meta in sets],
        "headline": headline,
        "copied": copied_in(study),
        "sets": sets,
        "titles": TITLES,
        "more_tables": MoreTables(study, ["tables/predictions/*"]),
    }
