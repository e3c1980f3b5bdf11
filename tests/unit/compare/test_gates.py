import pytest

from evenhand.compare.gates import (
    BROKEN,
    HELD,
    UNDECIDED,
    Gate,
    judge_gate,
    parse_gate,
    read_gates,
)
from evenhand.compare.numbers import compare_tables
from evenhand.compare.results import Results
from evenhand.errors import InputError
from unit.compare.made_folders import (
    BASE,
    SWEEP,
    sweep_row,
    write_bias,
    write_provenance,
    write_table,
)

SWEEPS = "tables/individual/grid.csv"


@pytest.fixture
def judge(tmp_path):
    """Compare rows of a sweep (or the bias of sentences), and judge a gate."""

    def judged(gate, base, head, write=None):
        for name, rows in (("base", base), ("head", head)):
            folder = tmp_path / name
            if write is not None:
                write(folder, rows)
            else:
                write_table(folder, SWEEPS, rows, SWEEP)
            write_provenance(folder)
        tables = compare_tables(*(Results(tmp_path / n) for n in ("base", "head")))
        return judge_gate(parse_gate(gate), tables)

    return judged


# The form.


def test_a_gate_in_words_and_back():
    text = "tables/bias/slguset/models.csv:mean_bias:model=a=b:words=:rose"
    gate = parse_gate(text)
    assert gate == Gate(
        "tables/bias/slguset/models.csv", "mean_bias", {"model": "a=b", "words": ""}, "rose"
    )
    assert str(gate) == text
    assert parse_gate("t:c:moved") == Gate("t", "c")


@pytest.mark.parametrize(
    "text", ["", "t:c", "t:c:up", "t:c:model:rose", "t:c:=x:rose", "t:c:a=1:a=2:rose"]
)
def test_what_is_no_gate(text):
    with pytest.raises(InputError, match="TABLE:COLUMN"):
        parse_gate(text)


def test_gates_of_a_file(tmp_path):
    path = tmp_path / "gates.yaml"
    path.write_text(
        "- {table: tables/bias/*.csv, number: mean_bias, where: {model: 'a:b'}, fail_if: rose}\n"
        "- {table: t, number: n, fail_if: fell}\n"
    )
    assert read_gates(path) == [
        Gate("tables/bias/*.csv", "mean_bias", {"model": "a:b"}, "rose"),
        Gate("t", "n", {}, "fell"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no list of gates"),
        ("[]", "no list of gates"),
        ("a: 1", "no list of gates"),
        ("[1]", "gate 1 is not a mapping"),
        ("- {table: t, fail_if: rose}", "lacks number"),
        ("- {table: t, number: n, fail_if: grew}", "not one of rose, fell, moved"),
        ("- {table: t, number: n, fail_if: rose, were: {}}", "unknown key 'were'"),
        ("- {table: t, number: n, fail_if: rose, where: {seed: 0}}", "numbers in quotes"),
        ("- {table: t", "is not YAML"),
    ],
)
def test_mistakes_in_a_file_of_gates(tmp_path, text, message):
    path = tmp_path / "gates.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_gates(path)
    with pytest.raises(InputError, match="no such file"):
        read_gates(tmp_path / "none.yaml")


# What becomes of it.


@pytest.mark.parametrize(
    ("direction", "head", "status"),
    [
        ("rose", 60.0, BROKEN),
        ("rose", 40.0, HELD),
        ("rose", 50.5, HELD),
        ("fell", 60.0, HELD),
        ("fell", 40.0, BROKEN),
        ("moved", 60.0, BROKEN),
        ("moved", 40.0, BROKEN),
        ("moved", 50.5, HELD),
        ("moved", 50.0, HELD),
    ],
)
def test_directions(judge, direction, head, status):
    found = judge(f"{SWEEPS}:mean:{direction}", [sweep_row(50.0)], [sweep_row(head)])
    assert found.status == status
    assert found.judged == 1
    assert len(found.breaking) == (status == BROKEN)


BIAS = "tables/bias/slguset/models.csv:mean_bias:model=mine"


@pytest.mark.parametrize(
    ("head", "rose", "fell"),
    [
        (BASE - 0.1, BROKEN, HELD),  # the bias is negative: further from zero
        (BASE + 0.1, HELD, BROKEN),
        (-BASE, HELD, HELD),  # as biased, the other way
        (0.2 - 2 * BASE, BROKEN, HELD),
    ],
)
def test_bias_rose_if_it_is_farther_from_none_on_either_side(judge, head, rose, fell):
    assert judge(f"{BIAS}:rose", BASE, head, write_bias).status == rose
    assert judge(f"{BIAS}:fell", BASE, head, write_bias).status == fell


def test_a_gate_is_adjusted_for_its_own_numbers_only(judge):
    base = [sweep_row(10.0, metric=f"m{n}") for n in range(40)]
    head = [sweep_row(11.6, metric="m0"), *base[1:]]
    assert judge(f"{SWEEPS}:mean:metric=m0:rose", base, head).status == BROKEN
    among = judge(f"{SWEEPS}:mean:rose", base, head)
    assert (among.status, among.judged) == (HELD, 40)


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("tables/none.csv:mean:rose", "neither folder has such a table"),
        (
            f"{SWEEPS}:sd:rose",
            "no number sd with an interval; it has mean, in rows named by dataset, method, ",
        ),
        (
            f"{SWEEPS}:mean:model=x:rose",
            "model names no rows of tables/individual/grid.csv; dataset,",
        ),
        (f"{SWEEPS}:mean:method=x:rose", "chooses no row"),
    ],
)
def test_a_gate_that_compares_nothing_does_not_pass(judge, gate, words):
    found = judge(gate, [sweep_row(1.0)], [sweep_row(1.0)])
    assert found.status == UNDECIDED
    assert words in found.words


@pytest.mark.parametrize(
    ("base", "head", "words"),
    [
        ([sweep_row(1.0)], [sweep_row(1.0, method="other")], "1 of base gone"),
        ([sweep_row(1.0, method="other")], [sweep_row(1.0)], "1 new in head"),
        ([sweep_row(1.0)], [sweep_row("")], "1 of base gone"),
        ([sweep_row("")], [sweep_row(1.0)], "1 new in head"),
        ([sweep_row("")], [sweep_row("")], "chooses no row with a number"),
        ([sweep_row(1.0, 0.0)], [sweep_row(2.0, 0.0)], "1 that cannot be judged"),
        ([sweep_row(1.0), sweep_row(2.0)], [sweep_row(1.0)], "two rows have the same"),
    ],
)
def test_a_gate_whose_number_is_not_in_both_does_not_pass(judge, base, head, words):
    found = judge(f"{SWEEPS}:mean:method=mlp:moved", base, head)
    assert found.status == UNDECIDED
    assert words in found.words


def test_one_number_gone_among_several_does_not_pass(judge):
    base = [sweep_row(1.0, metric="a"), sweep_row(2.0, metric="b")]
    found = judge(f"{SWEEPS}:mean:moved", base, base[:1])
    assert (found.status, found.judged) == (UNDECIDED, 1)
    assert judge(f"{SWEEPS}:mean:moved", base[:1], base).status == HELD


def test_a_change_that_cannot_be_judged_does_not_pass_behind_numbers_that_stayed(judge):
    base = [sweep_row(1.0, metric="a"), sweep_row(2.0, 0.0, metric="b")]
    head = [base[0], sweep_row(90.0, 0.0, metric="b")]
    found = judge(f"{SWEEPS}:mean:moved", base, head)
    assert (found.status, found.judged) == (UNDECIDED, 1)
    assert "1 that cannot be judged" in found.words
    judged = [sweep_row(1.1, metric="a"), head[1]]
    assert judge(f"{SWEEPS}:mean:moved", base, judged).status == HELD


def test_a_table_that_one_run_lacks_does_not_pass(tmp_path):
    write_table(tmp_path / "base", "tables/a_length.csv", [{"model": "m"}])
    for name in ("base", "head"):
        write_table(tmp_path / name, SWEEPS, [sweep_row(1.0)])
        write_provenance(tmp_path / name)
    tables = compare_tables(*(Results(tmp_path / n) for n in ("base", "head")))
    found = judge_gate(parse_gate("tables/a_length.csv:share_longer:rose"), tables)
    assert (found.status, found.words) == (UNDECIDED, "head has no tables/a_length.csv")
