import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.stereotypes.read_scores import read_models, read_pair_set
from unit.stereotypes.made_scores import score_rows, together, write_model, write_pairs


@pytest.fixture
def pairs(tmp_path):
    return write_pairs(
        tmp_path / "pairs.parquet",
        [
            {"cluster": "b", "annotators": 5, "agreement": 4, "direction": "stereo"},
            {"cluster": "a", "flags": ["duplicate"]},
            {"cluster": "b", "excluded": "identical", "agreement": 0},
        ],
    )


def test_pairs(pairs):
    found = read_pair_set(pairs)
    assert found.pair_id.tolist() == ["0", "1", "2"]
    assert found.cluster[:, 0].tolist() == [1, 0, 1]
    assert found.direction.tolist() == ["stereo", "", ""]
    assert found.agreement == pytest.approx([4, np.nan, np.nan], nan_ok=True)
    assert found.clean.tolist() == [True, False, False]
    assert found.excluded.tolist() == [False, False, True]


def test_columns_follow_the_pairs_whatever_the_order_of_the_rows(tmp_path, pairs):
    values = {
        "aul": [(-1.0, -2.0, -9.0), (-3.0, None, -9.0), (-5.0, -6.0)],
        "sss": [(None,) * 3] * 3,
    }
    values["sss"][2] = (None, None)
    rows = score_rows(
        values,
        more={(0, "less", "shuffled"): {"aul": -7.0}, (1, "more", "original"): {"excluded": "x"}},
    )
    (model,) = read_models(read_pair_set(pairs), **write_model(tmp_path, "m", rows[::-1]))
    assert (model.name, model.trusted, model.methods) == ("m", True, ["aul"])
    aul = [
        model.scores.column("aul", *which)
        for which in (("more",), ("less",), ("unrelated",), ("less", "shuffled"), ("more", "x"))
    ]
    expected = [
        [-1, np.nan, -5],  # the second is excluded
        [-2, np.nan, -6],
        [-9, -9, np.nan],
        [-7, np.nan, np.nan],
        [np.nan] * 3,
    ]
    assert np.array(aul) == pytest.approx(np.array(expected), nan_ok=True)


def test_blank_methods_have_no_scores(tmp_path, pairs):
    rows = score_rows({"aul": [(-1.0, -2.0)] * 3})
    options = {"methods": ["cps", "aul"], "blank": {"cps": "no_attention"}}
    (model,) = read_models(read_pair_set(pairs), **write_model(tmp_path, "m", rows, **options))
    assert (model.methods, model.blank) == (["aul"], {"cps": "no_attention"})


def test_an_untrusted_model_has_only_pairs_without_a_score(tmp_path, pairs):
    why = {(n, "less", "original"): {"excluded": "too_long"} for n in (0, 1)}
    why |= {(2, "more", "original"): {"excluded": "identical"}}  # for a reason of the pair
    why |= {(2, "less", "shuffled"): {"excluded": "too_long"}}
    rows = score_rows({"aul": [(-1.0, -2.0)] * 3}, more=why)
    options = write_model(tmp_path, "bad", rows, trusted=False)
    (model,) = read_models(read_pair_set(pairs), **options)
    assert not model.trusted and model.unscored == {"too_long": ["0", "1"]}
    assert model.methods == [] and model.blank == {} and model.scores is None


def test_nulls_by_seed_and_by_name(tmp_path, pairs):
    rows = score_rows({"aul": [(-1.0, -2.0)] * 3})
    blocks = [score_rows({"aul": [(-1.0 - seed, -2.0)] * 3}) for seed in range(3)]
    options = together(
        write_model(tmp_path, "without", rows), write_model(tmp_path, "with", rows, nulls=blocks)
    )
    options["nulls"] += write_model(tmp_path, "empty", rows, nulls=[])["nulls"]
    options = together(options, write_model(tmp_path, "empty", rows))
    one, other, empty = read_models(read_pair_set(pairs), **options)
    assert one.nulls == empty.nulls == []
    assert [null.column("aul", "more")[0] for null in other.nulls] == [-1, -2, -3]


def test_wrong_inputs(tmp_path, pairs):
    pair_set = read_pair_set(pairs)
    rows = score_rows({"aul": [(-1.0, -2.0)] * 3})
    good = write_model(tmp_path, "good", rows)
    with pytest.raises(InputError, match="there is no gate of good"):
        read_models(pair_set, good["scores"], [])
    with pytest.raises(InputError, match="there are no scores of good"):
        read_models(pair_set, [], good["gates"])
    with pytest.raises(InputError, match="is a second file of good"):
        read_models(pair_set, [*good["scores"], tmp_path / "other" / "good.parquet"], good["gates"])
    renamed = [row | {"pair_id": "x"} if row["pair_id"] == "0" else row for row in rows]
    for wrong, message in (
        (rows[:4], r"m\.parquet: its pairs are not those of the set"),
        (renamed, "its pairs are not those of the set"),
        (rows + rows[:1], "has a pair's original more sentence twice"),
        ([], "its pairs are not those of the set"),
    ):
        with pytest.raises(InputError, match=message):
            read_models(pair_set, **write_model(tmp_path, "m", wrong))
    good["gates"][0].write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="lacks trusted, which score_pairs writes"):
        read_models(pair_set, **good)
    with pytest.raises(InputError, match="holds no pair"):
        read_pair_set(write_pairs(tmp_path / "empty.parquet", []))
