from pathlib import Path

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.legal.features import read_features
from evenhand.legal.swap_cases import swap_cases
from evenhand.legal.weigh_twins import weigh_twins
from evenhand.legal.weigh_words import weigh_words
from unit.legal.made_cases import read_csv, write_cases

LEGAL = Path(__file__).parents[3] / "resources" / "legal"

TEXTS = ["he left the house", "she left the house again", "the dog left", "he saw the dog again"]


def made(folder: Path, kind: str = "ecthr", texts: list[str] = TEXTS) -> dict[str, Path]:
    """A data set, its weights, its vocabulary, its twins."""
    splits = ("train", "train", "train", "dev")
    rows = [
        {"text": [text, "and so on"], "split": splits[n % 4], "labels": None if n == 5 else ["2"]}
        for n, text in enumerate(texts * 3)
    ]
    if kind == "cail":
        rows = [row | {"labels": ["0"]} for row in rows]
    files = {name: folder / name for name in ("data", "words", "vocabulary", "twins", "out")}
    write_cases(files["data"], kind, rows)
    weigh_words(data=files["data"], out=files["words"], vocabulary=files["vocabulary"], kind=kind)
    language = "zh" if kind == "cail" else "en"
    table = LEGAL / f"swap_gender_{language}.csv"
    swap_cases(data=files["data"], words=[table], languages=[language], out=files["twins"])
    return files


def weigh(files: dict[str, Path], kind: str = "ecthr", **given):
    usual = {name: files[name] for name in ("twins", "vocabulary", "out")}
    return weigh_twins(**{**usual, **given}, kind=kind)


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("ecthr", TEXTS),
        ("cail", ["他离开房子", "她离开房子", "狗离开房子", "他看见狗"]),
    ],
)
def test_a_text_that_is_the_same_has_the_same_weights_to_the_last_bit(tmp_path, kind, texts):
    files = made(tmp_path, kind, texts)
    weigh(files, kind, twins=files["data"])
    assert files["out"].read_bytes() == files["words"].read_bytes()


def test_the_weights_of_twins(tmp_path):
    files = made(tmp_path)
    counts = weigh(files)
    ids, matrix = read_features(files["words"])
    twin_ids, twins = read_features(files["out"])
    assert twin_ids == ids
    assert counts == {"cases": 12, "features": matrix.shape[1], "without_features": 0}
    terms = [row["term"] for row in read_csv(files["vocabulary"])]
    he, she = terms.index("he"), terms.index("she")
    assert (twins[0, he], twins[0, she] > 0) == (0, True)
    assert (twins[1, she], twins[1, he] > 0) == (0, True)
    np.testing.assert_array_equal(twins[2].toarray(), matrix[2].toarray())
    np.testing.assert_allclose(np.sqrt(twins.power(2).sum(axis=1)), 1, atol=1e-6)


def test_what_is_no_vocabulary(tmp_path):
    files = made(tmp_path)
    files["vocabulary"].write_text("term,train_cases\nhe,many\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the column"):
        weigh(files)
    files["vocabulary"].write_text(
        "column,term,words,train_cases,train_times,idf\n0,he,1,many,2,1.0\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="is no vocabulary"):
        weigh(files)
