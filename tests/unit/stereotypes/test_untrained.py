import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.scoring.models import load_language_model
from evenhand.stereotypes.pairs import PAIRS
from evenhand.stereotypes.score_pairs import score_pairs
from evenhand.stereotypes.scores import NULL_SCORES
from unit.stereotypes import english_models


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {
        family: english_models.save(tmp_path_factory.mktemp(family), family)
        for family in ("bert", "gpt2")
    }


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.Table.from_pylist(english_models.all_pairs(), PAIRS), path)
    return path


def run(tmp_path, pairs, folder, **options):
    outputs = {name: tmp_path / f"{name}.parquet" for name in ("out", "tokens", "gate", "null")}
    counts = score_pairs(pairs=pairs, **outputs, name="tiny", model=folder, **options)
    table = pq.read_table(outputs["null"])
    assert table.schema.equals(NULL_SCORES)
    return table.to_pylist(), counts


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_each_seed_has_the_scores_of_that_model(tmp_path, pairs, folders, family):
    rows, counts = run(tmp_path, pairs, folders[family], null_seeds=2)
    assert [row["seed"] for row in rows] == sorted(row["seed"] for row in rows)
    assert counts["null_seeds"] == len({row["seed"] for row in rows}) == 2
    kind = "masked" if family == "bert" else "causal"
    lm = load_language_model(folders[family], kind, seed=1)
    folder = tmp_path / "random"
    lm.model.save_pretrained(folder)
    lm.tokenizer.save_pretrained(folder)
    run(tmp_path, pairs, folder)
    expected = pq.read_table(tmp_path / "out.parquet").to_pylist()
    found = [row for row in rows if row.pop("seed") == 1]
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        # the weights lie elsewhere in memory, and with that the last bit of a sum may differ
        assert row == {
            key: pytest.approx(value, rel=1e-5) if isinstance(value, float) else value
            for key, value in other.items()
        }
    method = "aul" if family == "bert" else "log_likelihood"
    values = {row[method] for row in rows if row["pair_id"] == "pair-0" and row["side"] == "more"}
    assert len(values) == 2


@pytest.mark.parametrize(
    ("options", "scored_by"),
    [
        ({"null_methods": ["sss"]}, {"sss"}),
        ({"null_methods": []}, {"aul"}),
        ({"null_methods": None}, {"aul"}),
        ({"null_methods": ["log_likelihood"]}, set()),
        ({"null_seeds": 0}, set()),
    ],
)
def test_only_the_requested_methods_are_scored(tmp_path, pairs, folders, options, scored_by):
    options = {"methods": ["aul"], "null_seeds": 1} | options
    rows, counts = run(tmp_path, pairs, folders["bert"], **options)
    found = {name for row in rows for name in ("aul", "sss", "cps") if row[name] is not None}
    assert found == scored_by
    assert counts["null_seeds"] == bool(scored_by)
    assert counts["null_scored"] == sum(row["excluded"] is None for row in rows)
    if scored_by == {"sss"}:
        assert all(row["n_correct"] is None for row in rows)


def test_bf16_runs(tmp_path, pairs, folders):
    full, _ = run(tmp_path, pairs, folders["bert"], null_seeds=1)
    low, _ = run(tmp_path, pairs, folders["bert"], null_seeds=1, dtype="bf16")
    scored = [(a["aul"], b["aul"]) for a, b in zip(low, full, strict=True) if b["aul"] is not None]
    assert any(a != b for a, b in scored)
    assert all(a == pytest.approx(b, abs=0.05) for a, b in scored)
