import numpy as np
import pytest

from evenhand.comparison.gates import (
    BROKEN,
    HELD,
    UNDECIDED,
    Gate,
    judge_gate,
    parse_gate,
    read_gates,
)
from evenhand.core.tables import write_tables
from evenhand.errors import InputError
from evenhand.predictions.tables import gaps, groups
from unit.comparison.made_folders import (
    BASE,
    SWEEPS,
    compare,
    sweep_row,
    write_bias,
    write_pairs,
    write_table,
)

BIAS = "tables/bias/slguset/models.csv:mean_bias:model=mine"
MEAN = f"{SWEEPS}:mean"


@pytest.fixture
def judge(folders):
    """Compare rows of a sweep, or what `write` writes, and judge a gate."""

    def judged(gate, base, head, write=None):
        write = write or (lambda folder, rows: write_table(folder, SWEEPS, rows))
        tables = compare(folders, write, base, head)
        return judge_gate(parse_gate(gate), list(tables.values()))

    return judged


def test_a_gate_is_parsed_and_shown():
    text = "tables/bias/slguset/models.csv:mean_bias:model=a=b:words=:rose"
    table, where = "tables/bias/slguset/models.csv", {"model": "a=b", "words": ""}
    assert parse_gate(text) == Gate(table, "mean_bias", where, "rose")
    assert str(parse_gate(text)) == text
    assert parse_gate("t:c:moved") == Gate("t", "c")
    text = "t:c:task=a__b-1: c_d:bias_type=gender:rose"
    where = {"task": "a__b-1: c_d", "bias_type": "gender"}  # a value with a colon
    assert parse_gate(text) == Gate("t", "c", where, "rose") and str(parse_gate(text)) == text
    entry = {"table": "t", "number": "c", "where": {"model": "a"}, "fail_if": "rose"}
    assert parse_gate(entry) == parse_gate("t:c:model=a:rose")


@pytest.mark.parametrize(
    "text",
    ["", "t:c", "t:c:up", "t:c:model:rose", "t:c:=x:rose", "t:c:a=1:a=2:rose", "t:c:a=1:fell:rose",
     "t:c:a=1::rose"],
)  # fmt: skip
def test_a_malformed_gate_is_an_error(text):
    with pytest.raises(InputError, match="TABLE:COLUMN"):
        parse_gate(text)
    with pytest.raises(
        InputError, match=r"^gate 2 lacks the key fail_if\ngate 2 lacks the key numb"
    ):
        parse_gate({"table": text}, 2)


def test_gates_are_read_from_a_file(tmp_path):
    path = tmp_path / "gates.yaml"
    path.write_text(
        "- {table: tables/bias/*.csv, number: mean_bias, where: {model: 'a:b'}, fail_if: rose}\n"
        "- {table: t, number: n, where: , fail_if: fell}\n"
    )
    assert read_gates(path) == [
        Gate("tables/bias/*.csv", "mean_bias", {"model": "a:b"}, "rose"),
        Gate("t", "n", {}, "fell"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"is empty; give a list of gates"),
        ("[]", "give a list of gates"),
        (
            "{table: t}",
            'the file is {"table": "t"}; it must be a list, with 1 or more .*; give a l',
        ),
        ("[1]", "gate 1 is 1; it must be a mapping"),
        ("- {table: t, fail_if: rose}", "gate 1 lacks the key number; give a list"),
        ("- {table: t, number: n, fail_if: grew}", '`fail_if` of gate 1 is "grew"; allowed are r'),
        ("- {table: t, number: n, fail_if: rose, were: {}}", "no key `were` of gate 1, did you me"),
        ("- {table: t, number: n, fail_if: rose, where: [tpr]}", "`where` of gate 1 is .*mapping"),
        ("- {table: t, number: n, fail_if: rose, where: {seed: 0}}", "`where.seed` of gate 1 is 0"),
        ("- {table: t", r":1: is not YAML \(expected ',' or '}'"),
        (None, r"no such file; did you mean .*/gate\.yaml\?"),
    ],
)
def test_a_malformed_file_of_gates_is_an_error(tmp_path, text, message):
    path = tmp_path / "gates.yaml"
    (path if text is not None else tmp_path / "gate.yaml").write_text(text or "")
    with pytest.raises(InputError, match=message):
        read_gates(path)


@pytest.mark.parametrize(
    ("head", "rose", "fell", "moved"),
    [
        (60.0, BROKEN, HELD, BROKEN),
        (40.0, HELD, BROKEN, BROKEN),
        (50.5, HELD, HELD, HELD),
        (50.0, HELD, HELD, HELD),
    ],
)
def test_directions(judge, head, rose, fell, moved):
    for direction, status in {"rose": rose, "fell": fell, "moved": moved}.items():
        outcome = judge(f"{MEAN}:{direction}", [sweep_row(50.0)], [sweep_row(head)])
        assert (outcome.status, outcome.judged) == (status, 1)
        assert len(outcome.breaking) == (status == BROKEN)
        allowed = {"rose": 40.0, "fell": 60.0}.get(direction) == head
        words = f"1 moved in the allowed direction, {'down' if direction == 'rose' else 'up'}"
        assert (words in outcome.words) == allowed


@pytest.mark.parametrize(
    ("head", "rose", "fell"),
    [
        (BASE - 0.1, BROKEN, HELD),  # the bias is negative: farther from zero
        (BASE + 0.1, HELD, BROKEN),
        (-BASE, HELD, HELD),  # as biased, in the other direction
        (0.2 - 2 * BASE, BROKEN, HELD),
    ],
)
def test_bias_rose_if_it_is_farther_from_neutral_on_either_side(judge, head, rose, fell):
    outcomes = [judge(f"{BIAS}:{side}", BASE, head, write_bias) for side in ("rose", "fell")]
    assert [outcome.status for outcome in outcomes] == [rose, fell]
    words = [" nearer to 0" in outcomes[0].words, " farther from 0" in outcomes[1].words]
    assert words == [fell == BROKEN, rose == BROKEN]


def test_a_gate_is_adjusted_for_its_own_numbers_only(judge):
    base = [sweep_row(10.0, metric=f"m{n}") for n in range(40)]
    head = [sweep_row(11.6, metric="m0"), *base[1:]]
    assert judge(f"{MEAN}:metric=m0:rose", base, head).status == BROKEN
    outcome = judge(f"{MEAN}:rose", base, head)
    assert (outcome.status, outcome.judged) == (HELD, 40)


def test_a_gate_counts_a_number_under_two_names_once(judge):
    pairs = "tables/pairs/mine/bias_scores.csv:score:bias_type=all"
    base, head = np.tile([1.0, -1.0], 20), np.ones(40)
    for column, count in (("", 1), (":subset=clean", 1), (":method=cps", 1)):
        methods = [{"aul": values, "cps": values} for values in (base, head)]
        outcome = judge(f"{pairs}{column}:moved", *methods, write_pairs)
        assert (outcome.status, outcome.judged, len(outcome.breaking)) == (BROKEN, count, 1)


C = sweep_row(1.0, metric="b", method="linear")
A, B = sweep_row(1.0, metric="a"), sweep_row(2.0, metric="b")
NO_NUMBER = "no number sd with an interval; it has mean, in rows named by dataset, method, "


@pytest.mark.parametrize(
    ("gate", "base", "head", "judged", "words"),
    [
        ("tables/none.csv:mean:rose", [A], [A], 0, f"has such a table; choose one of {SWEEPS}"),
        (f"{SWEEPS}:sd:rose", [A], [A], 0, NO_NUMBER),
        (f"{MEAN}:model=x:rose", [A], [A], 0, f"model names no rows of {SWEEPS}; dataset,"),
        (f"{MEAN}:method=x:rose", [A], [A], 0, "has method=x; choose one of mlp"),
        (f"{MEAN}:method=linear:metric=ḃ:rose", [A, C], [A, C], 0, "one of b; did you mean b?"),
        (f"{MEAN}:dataset=Loan:rose", [A], [A], 0, "=Loan (its name counts, not its title)"),
        (f"{MEAN}:method=mlp:metric=b:rose", [A, C], [A, C], 0, "chooses no row with a number"),
        (f"{MEAN}:moved", [sweep_row("")], [sweep_row("")], 0, "chooses no row with a number"),
        (f"{MEAN}:metric=a:moved", [A], [B], 0, "1 of base gone"),
        (f"{MEAN}:metric=b:moved", [A], [B], 0, "1 new in head"),
        (f"{MEAN}:method=mlp:moved", [A], [B], 0, "1 new in head; spell the groups alike in both"),
        (f"{MEAN}:moved", [sweep_row(1.0)], [sweep_row("")], 0, "1 of base gone"),
        (f"{MEAN}:moved", [sweep_row("")], [sweep_row(1.0)], 0, "1 new in head"),
        (f"{MEAN}:moved", [A, B], [A], 1, "1 of base gone"),
        (f"{MEAN}:moved", [A, A], [A], 0, "two rows have the same"),
        (
            f"{MEAN}:moved", [A, sweep_row(2.0, 0.0)], [A, sweep_row(90.0, 0.0)], 1,
            "1 that cannot be judged (reason: an interval without width)",
        ),
    ],
)  # fmt: skip
def test_a_gate_that_cannot_be_judged_does_not_pass(judge, gate, base, head, judged, words):
    outcome = judge(gate, base, head)
    assert (outcome.status, outcome.judged) == (UNDECIDED, judged)
    assert words in outcome.words


def test_a_gate_holds_beside_new_numbers_and_ones_that_cannot_be_judged(judge):
    assert judge(f"{MEAN}:moved", [A], [A, B]).status == HELD
    changed = [sweep_row(1.1, metric="a"), sweep_row(90.0, 0.0)]
    assert judge(f"{MEAN}:moved", [A, sweep_row(2.0, 0.0)], changed).status == HELD


def test_a_table_that_a_run_lacks_does_not_pass(folders, judge):
    write_table(folders[0], "tables/a_length.csv", [{"model": "m"}])
    outcome = judge("tables/a_length.csv:share_longer:rose", [A], [A])
    assert (outcome.status, outcome.words) == (UNDECIDED, "head has no tables/a_length.csv")


def test_a_gate_on_a_table_without_intervals_names_one_beside_it(folders):
    name = "tables/predictions/mine"
    for folder in folders:
        tables = ((gaps.TABLE, {"gap": 1.0}), (groups.TABLE, {"difference": 0.1}))
        rows = [(table, [dict.fromkeys(table.header) | row]) for table, row in tables]
        write_tables(folder / name, rows)
    outcome = judge_gate(parse_gate(f"{name}/gaps.csv:gap:rose"), [*compare(folders).values()])
    assert outcome.words.endswith(f"it has none: set it on {name}/groups.csv:difference")


def test_a_gate_that_holds_tells_of_a_number_on_the_other_side(judge):
    """From 62 % to 38 %: no farther from 50, and no bias has risen."""
    values = np.where(np.arange(160) % 8 < 5, 1.0, -1.0)
    gate = "tables/pairs/mine/bias_scores.csv:score:model=tiny:method=aul:subset=all:bias_type=all:"
    for direction, status in (("rose", HELD), ("moved", BROKEN)):
        outcome = judge(gate + direction, values, -values, write_pairs)
        assert outcome.status == status
        assert ("1 moved to the other side of 50" in outcome.words) == (status == HELD)
