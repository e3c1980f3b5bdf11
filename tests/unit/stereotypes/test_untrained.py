import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.core import stage
from evenhand.errors import InputError
from evenhand.scoring import execution
from evenhand.scoring.methods import METHODS
from evenhand.scoring.models import random_causal_lm, random_masked_lm
from evenhand.stereotypes.pairs import PAIRS
from evenhand.stereotypes.score_pairs import score_pairs
from evenhand.stereotypes.scores import NULL_SCORES
from evenhand.stereotypes.untrained import score_untrained
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


def run(tmp_path, pairs, folder, family="masked", **options):
    out = tmp_path / "null.parquet"
    given = {"seeds": 2, "methods": None, "dtype": "fp32", "tokens_per_batch": 2048, "threads": 1}
    given |= {"name": "tiny", "revision": None, "device": "cpu"} | options
    counts = score_untrained(pairs, out, folder, family, **given)
    table = pq.read_table(out)
    assert table.schema.equals(NULL_SCORES)
    return table.to_pylist(), counts


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_each_seed_is_what_score_pairs_says_of_that_model(tmp_path, pairs, folders, family):
    kind = "masked" if family == "bert" else "causal"
    rows, counts = run(tmp_path, pairs, folders[family], kind)
    assert [row["seed"] for row in rows] == sorted(row["seed"] for row in rows)
    assert counts["null_seeds"] == len({row["seed"] for row in rows}) == 2
    draw = random_masked_lm if family == "bert" else random_causal_lm
    for seed in (0, 1):
        lm = draw(folders[family], seed)
        folder = tmp_path / f"random-{seed}"
        lm.model.save_pretrained(folder)
        lm.tokenizer.save_pretrained(folder)
        out = tmp_path / "scores.parquet"
        score_pairs(
            pairs=pairs,
            out=out,
            tokens=tmp_path / "tokens.parquet",
            gate=tmp_path / "gate.json",
            null=tmp_path / "null_of_random.parquet",
            name="random",
            model=folder,
        )
        expected = pq.read_table(out).to_pylist()
        found = [
            {k: v for k, v in row.items() if k != "seed"} for row in rows if row["seed"] == seed
        ]
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            # the weights lie elsewhere in memory, and with that the last bit of a sum may differ
            assert one == {
                key: pytest.approx(value, rel=1e-5) if isinstance(value, float) else value
                for key, value in other.items()
            }
    method = "aul" if family == "bert" else "log_likelihood"
    values = {row[method] for row in rows if row["pair_id"] == "pair-0" and row["side"] == "more"}
    assert len(values) == 2


def test_only_what_the_methods_need_is_read(tmp_path, pairs, folders):
    rows, counts = run(tmp_path, pairs, folders["bert"], seeds=1, methods=["sss", "log_likelihood"])
    scored = [row for row in rows if row["excluded"] is None]
    assert counts["null_scored"] == len(scored) > 0
    assert any(row["sss"] is not None for row in scored)
    assert all(row["aul"] is row["n_correct"] is None for row in rows)
    assert all(row["n_tokens"] > 0 for row in scored)


@pytest.mark.parametrize(
    ("null_methods", "scored_by"), [(["sss"], {"sss"}), ([], {"aul"}), (None, {"aul"})]
)
def test_score_pairs_scores_untrained_models_by_their_own_methods_if_there_are_some(
    tmp_path, pairs, folders, null_methods, scored_by
):
    outputs = {name: tmp_path / name for name in ("out", "tokens", "gate", "null")}
    options = {"methods": ["aul"], "null_methods": null_methods, "null_seeds": 1}
    counts = score_pairs(pairs=pairs, **outputs, name="tiny", model=folders["bert"], **options)
    rows = pq.read_table(outputs["null"]).to_pylist()
    found = {name for row in rows for name in ("aul", "sss", "cps") if row[name] is not None}
    assert found == scored_by
    assert counts["null_seeds"] == 1


@pytest.mark.parametrize("options", [{"seeds": 0}, {"methods": ["log_likelihood"]}])
def test_nothing_to_score_gives_an_empty_table(tmp_path, pairs, folders, options):
    rows, counts = run(tmp_path, pairs, folders["bert"], **options)
    assert rows == [] and counts["null_seeds"] == 0


def test_threads_and_a_second_run_give_the_same_bytes(tmp_path, pairs, folders):
    run(tmp_path, pairs, folders["bert"], seeds=2)
    first = (tmp_path / "null.parquet").read_bytes()
    run(tmp_path, pairs, folders["bert"], seeds=2, threads=2)
    assert (tmp_path / "null.parquet").read_bytes() == first


def test_bf16_runs(tmp_path, pairs, folders):
    full, _ = run(tmp_path, pairs, folders["bert"], seeds=1)
    low, _ = run(tmp_path, pairs, folders["bert"], seeds=1, dtype="bf16")
    scored = [(a["aul"], b["aul"]) for a, b in zip(low, full, strict=True) if b["aul"] is not None]
    assert any(a != b for a, b in scored)
    assert all(a == pytest.approx(b, abs=0.05) for a, b in scored)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, pairs, folders, monkeypatch):
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    monkeypatch.setenv("EVENHAND_STATE", str(tmp_path / "state"))
    real, calls = execution._fit, {"all": 0, "stop": None}

    def counting(*arguments):
        if calls["all"] == calls["stop"]:
            raise KeyboardInterrupt
        calls["all"] += 1
        return real(*arguments)

    monkeypatch.setattr(execution, "_fit", counting)
    names = ("out", "tokens", "gate", "null")
    given = {"pairs": pairs, "name": "tiny", "model": folders["bert"], "null_seeds": 3}
    stage.execute(score_pairs, given | {name: tmp_path / f"whole.{name}" for name in names})
    needed = calls["all"]
    calls |= {"all": 0, "stop": 5 * needed // 6}
    parts = {name: tmp_path / f"part.{name}" for name in names}
    with pytest.raises(KeyboardInterrupt):
        stage.execute(score_pairs, given | parts)
    calls |= {"all": 0, "stop": None}
    stage.execute(score_pairs, given | parts)
    assert calls["all"] <= needed - needed // 2
    for name, path in parts.items():
        assert path.read_bytes() == (tmp_path / f"whole.{name}").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": -1}, "number of seeds is -1"),
        ({"methods": ["bias"]}, "no method 'bias'"),
    ],
)
def test_wrong_options(tmp_path, pairs, folders, options, message):
    with pytest.raises(InputError, match=message):
        run(tmp_path, pairs, folders["bert"], **options)


def test_every_method_is_for_a_family_that_can_be_drawn():
    assert {method.family for method in METHODS.values()} == {"masked", "causal"}
