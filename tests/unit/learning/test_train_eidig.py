import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenhand.core.scratch import scratch_at
from evenhand.errors import InputError
from evenhand.learning.eidig import generation
from evenhand.learning.train_eidig import train_eidig
from evenhand.learning.train_table import GROUPS, PREDICTIONS, RUNS
from evenhand.tabular.prepared import make_split
from unit.learning.made_eidig import people
from unit.learning.made_tables import arguments, table, train

#: What depends on the parameters of a run.
MEASURES = ("acc", "balanced_acc", "positive_rate", "ifr_b", "ifr_p", "ddp", "deo_0", "deo_1")


def run(tmp_path, made, **options):
    files = arguments(tmp_path, made, epochs=6)
    counts = train_eidig(**files, **{"seeds": 1, "tries": 60} | options)
    out, groups, predictions = (files[name] for name in ("out", "groups", "predictions"))
    written = [file.read_bytes() for file in (out, groups, predictions)]
    return counts, pq.read_table(out), pq.read_table(groups), written


@pytest.mark.parametrize("track", ["integers", "base"])
def test_the_tables_and_counts(tmp_path, track):
    made = people(240)
    counts, runs, groups, before = run(tmp_path, made, track=track, seeds=2)
    assert runs.schema == RUNS and groups.schema == GROUPS
    name = "eidig" if track == "base" else "eidig_integers"
    assert runs["method"].to_pylist() == [f"{name}_base", f"{name}_control", name] * 2
    assert runs["seed"].to_pylist() == [0, 0, 0, 1, 1, 1]
    assert runs["run"].to_pylist() == list(range(6)) and groups.num_rows == 12
    assert set(runs["individual"].to_pylist()) == {"none"}
    assert all(rate is not None for name in MEASURES for rate in runs[name].to_pylist())
    for found, near, ids, added, turned in zip(
        *(counts[name] for name in ("global_ids", "local_ids", "ids", "added", "turned")),
        strict=True,
    ):
        assert 0 < found <= ids <= found + near
        assert added == ids // 20 and 0 <= turned <= added
    assert (counts["runs"], counts["diverged"]) == (6, 0)
    said = pq.read_table(tmp_path / "predictions.parquet")
    assert said.schema == PREDICTIONS and counts["predictions"] == said.num_rows == 6 * 72
    # the same input gives the same bytes, and fewer predictions are a part of them
    fewer, *_, again = run(tmp_path, made, track=track, seeds=2, predicted_seeds=1)
    assert again[:2] == before[:2]
    assert fewer == counts | {"predictions": 216}
    assert pq.read_table(tmp_path / "predictions.parquet") == said.slice(0, 216)


@pytest.mark.parametrize("track", ["integers", "base"])
def test_predictions_come_to_the_measures_of_the_runs(tmp_path, track):
    """The whole numbers of the attribute are in another order than its groups."""
    made = people(240)
    codes = made.integers.copy()
    codes[:, 2] = 7 - 4 * made.a
    made = dataclasses.replace(made, integers=codes, meta={"integer_groups": ["first", "second"]})
    _, runs, *_ = run(tmp_path, made, track=track, seeds=2)
    own = made.a if track == "base" else 1 - made.a
    said = pq.read_table(tmp_path / "predictions.parquet").to_pylist()
    moved = 0
    for one in runs.to_pylist():
        rows = [each for each in said if each["run"] == one["run"]]
        held = make_split(made, one["seed"]).test
        assert [each["row"] for each in rows] == held.tolist()
        right, kept = [], []
        for each in rows:
            assert each["p_flipped"][own[each["row"]]] is None
            other = each["p_flipped"][1 - own[each["row"]]]
            right.append((each["p"] > 0.5) == made.y[each["row"]])
            kept.append((each["p"] > 0.5) == (other > 0.5))
            moved += each["p"] != other
        assert one["acc"] == pytest.approx(100 * np.mean(right))
        assert one["ifr_b"] == pytest.approx(100 * np.mean(kept))
    assert moved


def test_without_augmentation_it_is_the_control(tmp_path, monkeypatch):
    made = people(240)
    monkeypatch.setattr(generation, "SHARE", 0.0)
    monkeypatch.setattr(generation.draw, "__defaults__", (0.0,))
    counts, runs, groups, _ = run(tmp_path, made, track="integers")
    assert counts["added"] == [0] and counts["ids"][0] > 0
    _, control, eidig = runs.to_pylist()
    assert {name: control[name] for name in MEASURES} == {name: eidig[name] for name in MEASURES}
    rates = groups.drop_columns(["run", "group"]).to_pylist()
    assert rates[2:4] == rates[4:6]


def test_the_base_is_the_mlp_of_the_other_methods(tmp_path):
    made = people(240)
    _, runs, _, _ = run(tmp_path, made, track="base", seeds=2, tries=1)
    _, theirs, *_ = train(tmp_path, made, epochs=6)
    for mine, other in zip(runs.to_pylist()[::3], theirs, strict=True):
        for name in ("acc", "positive_rate", "ifr_b", "ddp", "n_train", "n_test"):
            assert mine[name] == pytest.approx(other[name]), name
        assert mine["ifr_p"] == pytest.approx(other["ifr_p"], abs=3)


@pytest.mark.parametrize("track", ["base", "integers"])
def test_a_seed_that_leaves_a_group_empty_harms_no_other(tmp_path, track):
    made = people(240)
    kind = made.integer_features.index(made.attribute_name)
    codes, a = made.integers.copy(), made.a.copy()
    own = np.unique(codes[:, kind])
    # on the track `integers` the rare group is one of its own encoding alone
    codes[:, kind] = np.where(np.arange(240) < 2, own[-1], own[0])
    if track == "base":
        a[:] = np.arange(240) < 2
    options = {"track": track, "tries": 3, "seeds": 6}
    broken = dataclasses.replace(made, integers=codes, a=a)
    counts, runs, groups, _ = run(tmp_path, broken, **options)
    rows = runs.to_pylist()
    lost = {row["seed"] for row in rows if row["reason"]}
    assert 0 < len(lost) < 6
    assert (counts["runs"], counts["empty"], counts["diverged"]) == (18, 3 * len(lost), 0)
    assert len(counts["ids"]) == 6 - len(lost)
    assert all((row["acc"] is None) == row["diverged"] == (row["seed"] in lost) for row in rows)
    assert groups.num_rows == 36


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"track": "integer"}, "`track` is integer, not one of base, integers"),
        ({"variant": "10"}, "`variant` is 10, not one of 5, inf"),
        ({"track": "integers"}, "made has no whole numbers for group"),
    ],
)
def test_input_that_is_wrong(tmp_path, options, match):
    with pytest.raises(InputError, match=match):
        run(tmp_path, table(), **options)


def checkpointed(tmp_path, made, **options):
    """A run by the folder of its checkpoints: counts, and the bytes of the tables."""

    def train(folder):
        with scratch_at(folder):
            counts, *_, written = run(tmp_path, made, **{"tries": 20} | options)
        return counts, written

    return train


def test_a_run_that_was_stopped_goes_on_with_the_next_seed(tmp_path, interrupted):
    options = {"track": "integers", "seeds": 3}
    interrupted.goes_on(checkpointed(tmp_path, people(240), **options), 2)


def test_seeds_of_another_search_or_table_are_not_read(tmp_path, interrupted):
    interrupted.refused(
        checkpointed(tmp_path, people(240)),
        checkpointed(tmp_path, people(240), tries=21),
        checkpointed(tmp_path, people(240, seed=1)),
    )
