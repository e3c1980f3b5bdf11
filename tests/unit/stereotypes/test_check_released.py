import csv
import gzip
import json

import pytest

from evenhand.errors import InputError
from evenhand.stereotypes.check_released import check_released

LABELS = ("stereotype", "anti-stereotype", "unrelated")

#: Target term and the scores of stereotype, anti-stereotype and unrelated, per part.
TRIPLES = {
    "intrasentence": [("nurse", 3, 2, 1), ("nurse", 1, 2, 3), ("baker", 2, 3, 1)],
    "intersentence": [("nurse", 3, 2, 1)],
}
#: By hand. nurse: pro 1 of 2, related 2 of 4; baker: pro 0 of 1, related 2 of 2.
INTRASENTENCE = ("75.000000", "25.000000", "37.500000")


def gold(folder, triples=TRIPLES):
    data = {
        part: [
            {
                "id": f"{part}{n}",
                "target": target,
                "sentences": [
                    {"id": f"{part}{n}{label}", "gold_label": label} for label in LABELS[::-1]
                ],
            }
            for n, (target, *_) in enumerate(rows)
        ]
        for part, rows in triples.items()
    }
    path = folder / "gold.json"
    path.write_text(json.dumps({"data": data}), encoding="utf-8")
    return path


def scores(folder, name="one_System", triples=TRIPLES, **changed):
    document = {
        part: [
            {"id": f"{part}{n}{label}", "score": score}
            for n, (_, *values) in enumerate(rows)
            for label, score in zip(LABELS, values, strict=True)
        ]
        for part, rows in triples.items()
    } | changed
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def published(folder, *rows):
    path = folder / "published.csv"
    path.write_text("\n".join(["file,system,part,lms,ss,icat,source", *rows]), encoding="utf-8")
    return path


def check(folder, files, table):
    out = folder / "out"
    counts = check_released(gold=gold(folder), scores=files, published=table, out=out)
    with (out / "stereoset.csv").open(encoding="utf-8", newline="") as stream:
        return {(row["system"], row["part"]): row for row in csv.DictReader(stream)}, counts


def test_by_hand(tmp_path):
    table = published(
        tmp_path,
        "one_System,one,intrasentence,75.0,25,37.50,s",
        "one_System,one,intersentence,100,99.9,0,s",
        "two_System,two,overall,1,2,3,s",
    )
    rows, counts = check(tmp_path, [scores(tmp_path)], table)
    one = rows["one", "intrasentence"]
    assert (one["lms"], one["ss"], one["icat"]) == INTRASENTENCE
    assert one["published_icat"] == "37.500000"
    assert (one["verdict"], one["reason"]) == ("reproduced", "")
    other = rows["one", "intersentence"]
    assert (other["lms"], other["verdict"]) == ("100.000000", "differs")
    assert other["reason"] == "ss by +0.100000"
    # Both parts: nurse has pro 2 of 3 and related 4 of 6, baker 0 of 1 and 2 of 2.
    both = rows["one", "overall"]
    assert (both["lms"], both["ss"], both["verdict"]) == (
        *("83.333333", "33.333333", "not_published"),
    )
    assert {rows["two", part]["verdict"] for part in TRIPLES} == {"not_given"}
    assert rows["two", "overall"]["lms"] == "" and len(rows) == 6
    assert counts == {"differs": 1, "not_given": 3, "not_published": 1, "reproduced": 1}


def test_published_numbers_are_compared_at_their_decimals(tmp_path):
    for lms, verdict in (("75", "reproduced"), ("75.04", "differs"), ("74.6", "differs")):
        table = published(tmp_path, f"one_System,one,intrasentence,{lms},25.0,37.5,s")
        rows, _ = check(tmp_path, [scores(tmp_path)], table)
        assert rows["one", "intrasentence"]["verdict"] == verdict


def test_no_number_without_every_score(tmp_path):
    lacking = TRIPLES | {"intrasentence": TRIPLES["intrasentence"][:2]}
    infinite = TRIPLES | {"intersentence": [("nurse", 3, float("nan"), 1)]}
    files = [scores(tmp_path, "a", lacking), scores(tmp_path, "b", infinite, intrasentence=None)]
    rows, _ = check(tmp_path, files, published(tmp_path))
    assert rows["a", "intrasentence"]["verdict"] == "not_scored"
    assert rows["a", "intrasentence"]["reason"] == "3 of 9 sentences have no finite score"
    assert rows["a", "overall"]["reason"] == "3 of 12 sentences have no finite score"
    assert rows["a", "intersentence"]["verdict"] == "not_published"
    assert rows["b", "intrasentence"]["reason"] == "9 of 9 sentences have no finite score"
    assert {rows["b", part]["lms"] for part in TRIPLES} == {""}


def test_broken_files(tmp_path):
    table = published(tmp_path)
    one = scores(tmp_path)
    packed = tmp_path / "one_System.json.gz"
    packed.write_bytes(gzip.compress(one.read_bytes()))
    with pytest.raises(InputError, match="is a second file of scores of one_System"):
        check(tmp_path, [one, packed], table)
    with pytest.raises(InputError, match="holds no scores of StereoSet"):
        check(tmp_path, [gold(tmp_path)], table)
    with pytest.raises(InputError, match="record 1 of intrasentence has no id and score"):
        check(tmp_path, [scores(tmp_path, intrasentence=[{"id": "a"}])], table)
    twice = [{"id": "a", "score": 1}] * 2
    with pytest.raises(InputError, match="scores the intrasentence sentence 'a' twice"):
        check(tmp_path, [scores(tmp_path, intrasentence=twice)], table)
    for row, match in (("f,s,both,1,2,3,x", "the part is 'both'"), ("f,s,overall,a,2,3,x", "'a'")):
        with pytest.raises(InputError, match=match) as caught:
            check(tmp_path, [], published(tmp_path, row))
        assert caught.value.line == 2


def test_the_published_table_agrees_with_itself(repository):
    table = repository / "resources" / "stereotypes" / "published_stereoset.csv"
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 33 and len({row["system"] for row in rows}) == 11
    for row in rows:
        lms, ss, icat = (float(row[name]) for name in ("lms", "ss", "icat"))
        assert icat == pytest.approx(lms * min(ss, 100 - ss) / 50, abs=3e-6)


@pytest.mark.mirror
def test_the_authors_own_scores_give_the_published_numbers(mirror, repository, tmp_path):
    folder = mirror / "stereoset"
    counts = check_released(
        gold=folder / "dev_ids_and_gold.json.gz",
        scores=sorted((folder / "released_scores").iterdir()),
        published=repository / "resources" / "stereotypes" / "published_stereoset.csv",
        out=tmp_path,
    )
    assert counts == {"not_given": 27, "reproduced": 6}
    with (tmp_path / "stereoset.csv").open(encoding="utf-8", newline="") as stream:
        found = {
            (row["system"], row["part"]): tuple(
                round(float(row[metric]), 1) for metric in ("lms", "ss", "icat")
            )
            for row in csv.DictReader(stream)
            if row["lms"]
        }
    assert found["bert-base-cased", "intrasentence"] == (83.0, 58.7, 68.6)
    assert found["bert-base-cased", "intersentence"] == (88.5, 60.4, 70.1)
    assert found["gpt2", "intrasentence"] == (91.1, 61.9, 69.4)
    assert found["gpt2", "intersentence"] == (76.3, 52.3, 72.8)
