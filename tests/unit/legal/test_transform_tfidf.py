from pathlib import Path

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.legal.features import read_features
from evenhand.legal.fit_tfidf import fit_tfidf
from evenhand.legal.make_counterfactuals import make_counterfactuals
from evenhand.legal.transform_tfidf import transform_tfidf
from unit.cases import read_csv
from unit.legal.made_cases import write_cases

LEGAL = Path(__file__).parents[3] / "resources" / "legal"

TEXTS = ["he left the house", "she left the house again", "the dog left", "he saw the dog again"]


def made(folder: Path, kind: str = "ecthr", texts: list[str] = TEXTS) -> dict[str, Path]:
    """A data set, its weights, its vocabulary, its counterfactuals."""
    splits = ("train", "train", "train", "dev")
    rows = [
        {"text": [text, "and so on"], "split": splits[n % 4], "labels": None if n == 5 else ["2"]}
        for n, text in enumerate(texts * 3)
    ]
    if kind == "cail":
        rows = [row | {"labels": ["0"]} for row in rows]
    files = {
        name: folder / name for name in ("data", "words", "vocabulary", "counterfactuals", "out")
    }
    write_cases(files["data"], kind, rows)
    fit_tfidf(data=files["data"], out=files["words"], vocabulary=files["vocabulary"])
    language = "zh" if kind == "cail" else "en"
    table = LEGAL / f"swap_gender_{language}.csv"
    make_counterfactuals(data=files["data"], tables=[table], out=files["counterfactuals"])
    return files


def weigh(files: dict[str, Path], **given):
    usual = {name: files[name] for name in ("counterfactuals", "vocabulary", "out")}
    return transform_tfidf(**{**usual, **given})


@pytest.mark.parametrize(
    ("kind", "texts"),
    [("ecthr", TEXTS), ("cail", ["他离开房子", "她离开房子", "狗离开房子", "他看见狗"])],
)
def test_a_text_that_is_the_same_has_the_same_weights_to_the_last_bit(tmp_path, kind, texts):
    files = made(tmp_path, kind, texts)
    weigh(files, counterfactuals=files["data"])
    assert files["out"].read_bytes() == files["words"].read_bytes()


def test_the_weights_of_counterfactuals(tmp_path):
    files = made(tmp_path)
    counts = weigh(files)
    ids, matrix = read_features(files["words"])
    swapped_ids, counterfactuals = read_features(files["out"])
    assert swapped_ids == ids
    assert counts == {"cases": 12, "features": matrix.shape[1], "without_features": 0}
    terms = [row["term"] for row in read_csv(files["vocabulary"])]
    he, she = terms.index("he"), terms.index("she")
    assert (counterfactuals[0, he], counterfactuals[0, she] > 0) == (0, True)
    assert (counterfactuals[1, she], counterfactuals[1, he] > 0) == (0, True)
    np.testing.assert_array_equal(counterfactuals[2].toarray(), matrix[2].toarray())
    np.testing.assert_allclose(np.sqrt(counterfactuals.power(2).sum(axis=1)), 1, atol=1e-6)


def test_what_is_no_vocabulary(tmp_path):
    files = made(tmp_path)
    files["vocabulary"].write_text("term,train_cases\nhe,many\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the column"):
        weigh(files)
