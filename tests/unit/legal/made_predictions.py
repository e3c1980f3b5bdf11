"""Small predictions for made data sets, and a data set on which a classifier fails one group."""

from pathlib import Path

import numpy as np

from evenhand.legal.built import BuiltCases
from evenhand.legal.groups import NO_ATTRIBUTE
from evenhand.legal.predictions import Predictions, write_predictions
from unit.legal.made_cases import write_cases


def predictions(data, say, *, seed=1, **given):
    """What a made classifier says of the cases; `say` turns true labels (n, k) to logits."""
    cases = BuiltCases(data)
    places = cases.labelled
    ids, splits = np.array(cases.case_ids, dtype=str)[places], cases.splits[places]
    named = {"classifier": "linear", "objective": "erm", "attribute": NO_ATTRIBUTE} | given
    logits = np.asarray(say(cases.labels[1][places]), dtype=np.float32)
    features = np.hstack([logits, np.cos(np.arange(len(ids)))[:, None]]).astype(np.float16)
    same = {"case_ids": ids, "splits": splits, "logits": logits, "features": features}
    return Predictions(**named, seed=seed, **same)


def right(hot):
    """Logits that predict the labels."""
    return 4.0 * hot - 2.0


def noisy(seed, noise=2.0):
    """Logits that predict them as well for everybody."""
    return lambda hot: right(hot) + np.random.default_rng(seed).normal(size=hot.shape) * noise


def write(path: Path, *trainings) -> Path:
    write_predictions(path, trainings)
    return path


def people(men=60, women=60, splits=("train", "test"), **more):
    """Cases of men and women with three labels in turn, the same in each split."""
    labels = ["0", "<=12", "<=36"]
    return [
        {"labels": [labels[number % 3]], "split": split, "defendant_gender": gender} | more
        for split in splits
        for gender, count in (("male", men), ("female", women))
        for number in range(count)
    ]


def wrong_for(genders, gender, share=0.8):
    """Logits that say the next label for the first cases of a gender, and are right otherwise.

    The genders are given in the order of the cases, whatever their split.
    """

    def say(hot):
        logits = right(hot)
        own = np.flatnonzero(np.array(genders) == gender)
        chosen = own[: int(share * len(own))]
        logits[chosen] = np.roll(logits[chosen], 1, axis=1)
        return logits

    return say


def write_people(path, **given):
    """A data set of such cases; and the gender of each."""
    cases = people(**given)
    return write_cases(path, "cail", cases), [one["defendant_gender"] for one in cases]
