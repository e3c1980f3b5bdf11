"""Section: every person held out by itself, as columns that a script draws.

`data` of a data set is a JSON document with

- ``key``: the name of the data set, which addresses name (see ``people.js``), its ``title``,
  ``label`` (what the label 1 means) and ``attribute`` (its name).
- ``id``: of each person, the row of ``data.parquet``.
- ``truth``: a text of `evenhand.report.digits`, a digit a person: the label.
- ``groupings``: the data set's own, and those that methods have of their own: ``values`` of the
  attribute, and ``group``, a text with two digits a person: the place in ``values``. ``name`` says
  what such a grouping is, where it is not that of the data set by other numbers.
- ``features``: what networks see of a person: ``name``, ``unit``, ``values`` (words or numbers)
  and ``codes``, a text of ``width`` digits a person: the place in ``values``.
- ``digits``: those that texts consist of.
- ``held``: of each split and seed the people who were held out, six to a digit, the first one
  the highest bit.
- ``trainings``: of each ``name`` (in words), ``training`` (what addresses call it), ``method``,
  ``grouping`` (the place in ``groupings``), ``seeds`` (their numbers), ``runs`` (how many runs have
  measures), ``held`` (for each seed the place in ``held``) and ``said``: for each seed a text with
  two digits for each person held out (in the order of ``id``) and value of the attribute, the
  person's own first and then the others as in ``values``. A number is a probability in
  thousandths, plus `STEPS` if the decision is the label 1 (of the own value) or changes (of
  others), plus twice `STEPS` if the probability is further away than tau (of others).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.individual.people import WITH_INTEGERS, Answers
from evenhand.individual.results import SETTING
from evenhand.report.digits import DIGITS, from_digits, to_digits, width_of
from evenhand.report.features import Feature, features_of
from evenhand.report.render import visible
from evenhand.report.sections.individual_words import method, setting
from evenhand.tabular.prepared import Prepared

#: People that the page shows without its script.
SHOWN = 25

#: Probabilities are told in thousandths.
STEPS = 1001

#: What the page calls a grouping that is not the data set's own.
INTEGERS = "EIDIG’s whole numbers"

#: People to a digit of ``held``.
BITS = 6


def describe_people(
    title: str,
    table: Prepared,
    answers: Sequence[Answers],
    *,
    words: Sequence[dict[str, Any]] = (),
    format: str = "",
    most: int = 50_000,
) -> dict[str, Any]:
    """The people of a data set who were held out, with what each training says of them.

    Parameters
    ----------
    title : str
        What the page calls the data set.
    table : Prepared
        The people.
    answers : sequence of Answers
        Of each training, in the order of the page.
    words : sequence of dict
        Of `evenhand.report.features.read_words`.
    format : str
        That of the data set.
    most : int
        No more people than this are taken, the first ones.

    Returns
    -------
    dict
        key, title, label, attribute, data, rows (people on the page), left_out, shown (rows for
        readers without the script), trainings (how many), integers (whether one is of EIDIG on
        whole numbers), answers (how many), seeds (the most that a training has, and how many of
        its runs have measures).

    Raises
    ------
    InputError
        `most` is below one, or two trainings of one split and seed held out other people.
    """
    if most < 1:
        raise InputError(f"the page cannot show {most} people", remedy="give a number of people")
    rows = [one.row for one in answers]
    held_out = np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
    chosen = held_out[:most]
    held: dict[tuple[Any, int], np.ndarray] = {}
    groupings = [_grouping(table, table, chosen)]
    trainings = []
    for one in answers:
        grouping = _grouping(one.people, table, chosen)
        if grouping not in groupings:
            groupings.append(grouping)
        place = groupings.index(grouping)
        trainings.append(_training(one, chosen, held) | {"grouping": place})
    features = features_of(table, words, format)
    label = str(table.meta.get("label") or "")
    document = {
        "key": table.name,
        "title": visible(title),
        "label": visible(label),
        "attribute": visible(table.attribute_name),
        "id": chosen.tolist(),
        "truth": to_digits(table.y[chosen], 1),
        "groupings": groupings,
        "features": [_feature(one, chosen) for one in features],
        "digits": DIGITS,
        "held": [_bits(some, chosen) for some in held.values()],
        "trainings": trainings,
    }
    counts = [(len(one.seeds), one.runs) for one in answers]
    return {
        "key": table.name,
        "title": title,
        "label": label,
        "attribute": table.attribute_name,
        "data": document,
        "rows": len(chosen),
        "left_out": len(held_out) - len(chosen),
        "shown": [_shown(document, i) for i in range(min(len(chosen), SHOWN))],
        "trainings": len(trainings),
        "integers": any(one["method"].startswith(WITH_INTEGERS) for one in trainings),
        "answers": sum(int(np.isin(one.row, chosen).sum()) for one in answers),
        "seeds": max(counts, default=(0, 0)),
    }


def _grouping(people: Prepared, table: Prepared, chosen: np.ndarray) -> dict[str, Any]:
    """The groups of the chosen people; it has a name if they are others than those of `table`."""
    values, own = (np.array(one.attribute_values)[one.a] for one in (people, table))
    return {
        "name": "" if np.array_equal(values, own) else INTEGERS,
        "values": [visible(one) for one in people.attribute_values],
        "group": to_digits(people.a[chosen]),
    }


def _training(
    answers: Answers,
    chosen: np.ndarray,
    held: dict[tuple[Any, int], np.ndarray],
) -> dict[str, Any]:
    """What the seeds of one training say of the chosen people; `held` learns who was held out."""
    named = dict(zip(SETTING, answers.setting, strict=True))
    split, places, said = named["split"], [], []
    codes = _codes(answers)
    for i, seed in enumerate(answers.seeds):
        own = np.flatnonzero(answers.seed == i)
        rows = answers.row[own]
        key = split, seed
        if (np.diff(rows) <= 0).any() or not np.array_equal(held.setdefault(key, rows), rows):
            raise InputError(
                f"two trainings on {named['dataset']} do not hold out the same people for seed"
                f" {seed}",
                remedy="train all of them again",
            )
        places.append(list(held).index(key))
        said.append(to_digits(codes[own[np.isin(rows, chosen)]]))
    words = setting(named)
    return {
        "name": visible(method(named) + (f", {words}" if words else "")),
        "training": answers.name[1],
        "method": named["method"],
        "seeds": answers.seeds,
        "runs": answers.runs,
        "held": places,
        "said": said,
    }


def _codes(answers: Answers) -> np.ndarray:
    """The numbers of ``said``, int64, of shape (n, values): the own value first."""
    table = answers.people
    own = table.a[answers.row][:, None] == np.arange(len(table.attribute_values))
    p = np.where(own, answers.p[:, None], answers.flipped).astype(np.float64)
    first = np.where(own, answers.positive[:, None], answers.changed)
    codes = np.rint(p * (STEPS - 1)).astype(np.int64) + STEPS * (first + 2 * answers.beyond)
    order = np.argsort(~own, axis=1, kind="stable")
    return np.take_along_axis(codes, order, axis=1)


def _bits(rows: np.ndarray, chosen: np.ndarray) -> str:
    there = np.isin(chosen, rows)
    padded = np.zeros(-(-len(there) // BITS) * BITS, dtype=np.int64)
    padded[: len(there)] = there
    return to_digits(padded.reshape(-1, BITS) @ 2 ** np.arange(BITS)[::-1], 1)


def _feature(feature: Feature, chosen: np.ndarray) -> dict[str, Any]:
    width = width_of(len(feature.values) - 1)
    return {
        "name": visible(feature.name),
        "unit": feature.unit,
        "values": [visible(one) if isinstance(one, str) else _whole(one) for one in feature.values],
        "width": width,
        "codes": to_digits(feature.codes[chosen], width),
    }


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _shown(document: dict[str, Any], place: int) -> dict[str, Any]:
    """A person as a template shows them: id, group, truth, features."""
    features = [
        (one["name"], one["values"][_digit(one["codes"], place, one["width"])], one["unit"])
        for one in document["features"]
    ]
    groups = document["groupings"][0]
    return {
        "id": document["id"][place],
        "group": groups["values"][_digit(groups["group"], place, 2)],
        "truth": _digit(document["truth"], place, 1),
        "features": [
            (name, f"{value if isinstance(value, str) else f'{value:,}'} {unit}".strip())
            for name, value, unit in features
        ],
    }


def _digit(text: str, place: int, width: int) -> int:
    return int(from_digits(text[place * width : (place + 1) * width], width)[0])


def people_table(data: dict[str, Any]) -> tuple[list[str], Iterator[list[Any]]]:
    """The header and the rows of a table of the people of a data set's `data`.

    row, group, the groups that methods have of their own, label, and each feature, with its unit
    behind its name.
    """
    features = data["features"]
    groupings = [one for i, one in enumerate(data["groupings"]) if not i or one["name"]]
    header = ["row", *(", ".join(filter(None, ["group", one["name"]])) for one in groupings)]
    header.append("label")
    header += [f"{one['name']} ({one['unit']})" if one["unit"] else one["name"] for one in features]

    def rows() -> Iterator[list[Any]]:
        codes = [from_digits(one["codes"], one["width"]).tolist() for one in features]
        groups = [_groups(one) for one in groupings]
        truth = from_digits(data["truth"], 1).tolist()
        for i, row in enumerate(data["id"]):
            known = [one["values"][code[i]] for one, code in zip(features, codes, strict=True)]
            yield [row, *(group[i] for group in groups), truth[i], *known]

    return header, rows()


def _groups(grouping: dict[str, Any]) -> list[str]:
    """What the group of each person is called."""
    return [grouping["values"][code] for code in from_digits(grouping["group"]).tolist()]


#: The columns of the table of answers.
ANSWERS = (
    *("training", "row", "group", "label", "seeds", "wrong", "positive", "changed", "beyond"),
    *("flips", "changed_flips", "beyond_flips", "probability", "difference"),
)


def answers_table(data: dict[str, Any]) -> tuple[list[str], Iterator[list[Any]]]:
    """The header and the rows of a table of what each training says of each person, over seeds.

    `ANSWERS`: seeds that held the person out; those whose decision is wrong, is the label 1, and
    changes; those whose probability is beyond tau; flips, and those that do either; the mean
    probability of the label 1, and how far the furthest flip is from it, to three decimals.
    """

    def rows() -> Iterator[list[Any]]:
        named = [_groups(one) for one in data["groupings"]]
        truth = from_digits(data["truth"], 1)
        ids = np.array(data["id"])
        for one in data["trainings"]:
            groups = named[one["grouping"]]
            values = len(data["groupings"][one["grouping"]]["values"])
            person, own, flipped = decoded(data, one, values)
            count = np.bincount(person, minlength=len(ids))
            flags = {
                "wrong": own // STEPS % 2 != truth[person],
                "positive": own // STEPS % 2,
                "changed": (flipped // STEPS % 2).any(axis=1),
                "beyond": (flipped // STEPS // 2).any(axis=1),
                "changed_flips": (flipped // STEPS % 2).sum(axis=1),
                "beyond_flips": (flipped // STEPS // 2).sum(axis=1),
                "p": own % STEPS,
            }
            sums = {
                name: np.bincount(person, flag, minlength=len(ids)).astype(np.int64)
                for name, flag in flags.items()
            }
            furthest = np.zeros(len(ids), dtype=np.int64)
            away = np.abs(flipped % STEPS - own[:, None] % STEPS).max(axis=1)
            np.maximum.at(furthest, person, away)
            for i in np.flatnonzero(count).tolist():
                yield [
                    *(one["training"], data["id"][i], groups[i], int(truth[i])),
                    int(count[i]),
                    *(int(sums[name][i]) for name in ("wrong", "positive", "changed", "beyond")),
                    int(count[i]) * (values - 1),
                    *(int(sums[name][i]) for name in ("changed_flips", "beyond_flips")),
                    round(int(sums["p"][i]) / int(count[i]) / (STEPS - 1), 3),
                    int(furthest[i]) / (STEPS - 1),
                ]

    return list(ANSWERS), rows()


def decoded(
    data: dict[str, Any], training: dict[str, Any], values: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A training's answers: place of the person (n,), own number (n,), others (n, values - 1)."""
    people, numbers = [], []
    for held, said in zip(training["held"], training["said"], strict=True):
        digits = from_digits(data["held"][held], 1)
        bits = (digits[:, None] >> np.arange(BITS)[::-1]) & 1
        people.append(np.flatnonzero(bits.ravel()))
        numbers.append(from_digits(said).reshape(-1, values))
    person = np.concatenate(people) if people else np.zeros(0, dtype=np.int64)
    codes = np.concatenate(numbers) if numbers else np.zeros((0, values), dtype=np.int64)
    return person, codes[:, 0], codes[:, 1:]
