"""The sentences of `make why`, from made plans; `tests/workflow/test_why.py` has real ones."""

import json
import os

import pytest

from evenhand.core import code, why
from unit.cases import load_cases

CASES = load_cases(__file__)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def job(rule="a", outputs=("a.txt",), made=True, **changes):
    """A job that is up to date, but for what is given; its outputs are there if `made`."""
    for output in outputs if made else ():
        with open(output, "w") as stream:  # noqa: PTH123
            stream.write("made")
        os.utime(output, (1000, 1000))
    plain = {
        "rule": rule,
        "wildcards": {},
        "inputs": [],
        "outputs": list(outputs),
        "recorded": made,
        "forced": False,
        "missing": [],
        "incomplete": [],
        "updated": [],
        "made_anew": [],
        "former_inputs": changes.get("inputs", []),
        "params_before": [],
        "params_now": [],
        "command_changed": False,
        "software_changed": False,
    }
    return plain | changes


def lines(*jobs, state=None):
    return why.explain(list(jobs), state)[1:]


@pytest.mark.parametrize(("changes", "said"), CASES["each_cause_has_its_clause"])
def test_each_cause_has_its_clause(changes, said):
    said = said or "config: k.x is gone; config: k.y is new: 1"
    assert lines(job(**changes)) == [f"a: {said}"]


@pytest.mark.parametrize(("before", "now", "said"), CASES["what_happened_to_the_inputs_is_named"])
def test_what_happened_to_the_inputs_is_named(before, now, said):
    changes = [repr({"inputs": roles}) for roles in (before, now)]
    assert lines(job(params_before=changes[:1], params_now=changes[1:])) == [f"a: {said}"]


def test_a_job_of_new_wildcards_names_the_keys_that_they_come_from():
    config = {"sets": {"a": {"objectives": ["erm", "irm"], "seeds": 2}, "b": {"objectives": []}}}
    config["sets"]["b"]["objectives"] = [{"of": "erm"}, "erm", "irm"]
    ran = [{"set": "a", "objective": "erm", "seed": "0"}, {"set": "b", "objective": "erm"}]
    past = why.History([*ran, {"page": "index"}], [config])
    new = {"set": "a", "objective": "irm", "seed": "0"}
    for wildcards, words in (
        (new, "objective=irm (sets.a.objectives)"),
        (new | {"objective": "erm", "seed": "1"}, "seed=1"),
        ({"set": "b", "objective": "irm"}, "objective=irm (sets.b.objectives)"),
        ({"objective": "irm"}, "objective=irm (sets.a.objectives, sets.b.objectives)"),
        ({"set": "b", "seed": "0"}, "seed=0 and set=b"),
        ({"set": "a", "page": "index"}, "page=index and set=a"),
    ):
        assert past.unknown(wildcards) == (words,)
    known = why.History([*ran, {"set": "a", "objective": "irm"}], [config])
    words = "objective=irm and set=b (sets.b.objectives)"
    assert known.unknown({"set": "b", "objective": "irm"}) == (words,)
    assert known.unknown(ran[0]) == known.unknown({}) == ()
    assert why.History([], [config]).unknown(new) == ()
    jobs = [job(outputs=[name], wildcards=new, made=False) for name in "xy"]
    (line,) = why.explain(jobs, None, past)[1:]
    assert line == f"a x 2: it has not run here yet, nor any job with {past.unknown(new)[0]}"


def test_jobs_stand_below_those_that_they_wait_for_whatever_the_plan_s_order():
    c = job("a_last", ["3"], inputs=["2", "1"], made_anew=["2", "1"])
    b = job("b", ["2"], inputs=["1"], made_anew=["1"])
    a = job("z_first", ["1"], forced=True)
    expected = [
        "z_first: forced on the command line",
        "b: because z_first runs",
        "a_last: because b and z_first run",
    ]
    assert lines(a, b, c) == lines(c, b, a) == expected


def test_jobs_with_the_same_cause_share_a_line_and_its_files():
    jobs = [
        job(outputs=[f"{n}.txt"], wildcards={"shard": str(n)}, inputs=[f"in{n}"], former_inputs=[])
        for n in range(6)
    ]
    assert lines(*jobs) == ["a x 6: new among its inputs: in0, in1, in2 and 3 more"]
    assert lines(*jobs[:2]) == ["a x 2: new among its inputs: in0 and in1"]
    assert lines(jobs[0]) == ["a (shard=0): new among its inputs: in0"]
    jobs[1]["forced"] = True
    assert lines(*jobs[:2]) == [
        "a (shard=0): new among its inputs: in0",
        "a (shard=1): forced on the command line; new among its inputs: in1",
    ]


def test_what_the_code_was_is_compared_with_what_it_is(tmp_path):
    now = code.manifest("evenhand.core.cache")
    modules = {name: dict(parts) for name, parts in now["modules"].items()}
    modules["evenhand.core.cache"]["prune"] = "0" * 16
    modules["evenhand.core.cache"]["(module)"] = "0" * 16
    modules["evenhand.core.cache"]["former"] = "0" * 16
    del modules["evenhand.core.cache"]["store"]
    del modules["evenhand.core.files"]
    modules["evenhand.gone"] = {}
    then = {"modules": modules, "packages": now["packages"] | {"python": "3.10", "jieba": "0.42"}}
    del then["packages"]["cyclopts"]
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "0123456789abcdef.json").write_text(json.dumps(then))
    digest = code.digest("evenhand.core.cache")
    plan = job(
        params_before=["'evenhand.core.cache@0123456789abcdef'"],
        params_now=[f"'evenhand.core.cache@{digest}'"],
    )
    assert lines(plan, state=tmp_path) == [
        "a: evenhand.core.cache: changed prune and statements outside its definitions; added "
        "store; removed former; evenhand.core.files is imported now; evenhand.gone is no longer "
        "imported; cyclopts is imported now; jieba is no longer imported; python 3.10 -> "
        + now["packages"]["python"]
    ]
