"""The tables of a data set of cases: their contract, and the numbers of each member."""

import datetime
import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from evenhand.core.families import load_members
from evenhand.core.resources import read_resource
from evenhand.core.tables import PACKAGE, NotApplicable, read_tables
from evenhand.errors import InputError
from evenhand.legal import case_tables
from evenhand.legal.built import CaseStudy, group_names
from evenhand.legal.case_tables import cross, groups, labels, leakage, lengths, rules, shift, sizes
from evenhand.legal.declaration import COLUMN, Dataset
from evenhand.legal.findings import Finding, findings_files
from evenhand.legal.tabulate_cases import tabulate_cases
from evenhand.legal.tokenise_cases import tokenise_cases
from expected import check_expected
from unit.legal import made_tokenizers
from unit.legal.made_cases import LANGUAGES, court, evidence, record, write_cases, write_found
from unit.legal.made_records import table as sentences
from unit.legal.made_study import only
from unit.made_tables import check_declaration, check_rows, read_back

MEMBERS = load_members(case_tables)
NAMES = [member.TABLE.name for member in MEMBERS]
HOSTILE = '"a", <b>{{ 7 }}'

CASES = [
    {"labels": ["3", "6"], "defendant_state": "Rest of Europe", "applicant_gender": "male",
     "date": datetime.date(2001, 5, 4), "text": ["A violation of Article 3."]},
    {"labels": [], "defendant_state": "Rest of Europe", "applicant_gender": "female",
     "date": datetime.date(2016, 1, 1), "duplicate_of": "ecthr-1"},
    {"labels": None, "defendant_state": "C.E. European", "date": datetime.date(2004, 1, 1)},
    {"labels": ["3"], "split": "test", "defendant_state": "C.E. European"},
]  # fmt: skip


@pytest.fixture
def resources(repository):
    return repository / "resources/legal"


def inputs(folder, resources, kind, cases):
    """The arguments of the stage for a small data set with findings and tokens."""
    data = write_cases(folder / "d.parquet", kind, cases)
    found = [(record(n), Finding(HOSTILE, "rule", 0.5, (), (HOSTILE,))) for n in (1, 2)]
    attribute = court(kind).attributes[0].name
    model = made_tokenizers.save(folder / "model", made_tokenizers.words())
    tokens, metas = folder / "t.arrow", folder / "t.json"
    tokenise_cases(data=data, out=tokens, meta=metas, name="tiny", model=model)
    return {
        "data": data,
        "claims": resources / "published_cross.csv",
        "words": resources / "outcome_words.csv",
        "dataset": HOSTILE,
        "findings": write_found(folder, found, attribute=attribute, kind=kind)[1],
        "tokens": [tokens],
        "metas": [metas],
        "permutations": 100,
    }


def table(folder, member, kind, cases, **options):
    """The rows of one table of these cases, as they are read back."""
    data = write_cases(folder / "d.parquet", kind, cases)
    empty = folder / "none.csv"
    empty.write_text(",".join(cross.CLAIMS) + "\n", encoding="utf-8")
    given = {"claims": empty, "words": folder / "words.csv", "published": False} | options
    study = CaseStudy(data, **given)
    rows = [{"dataset": "mine"} | row for row in member.rows(study)]
    return read_back(folder / "out", member.TABLE, rows)


@pytest.mark.parametrize("kind", LANGUAGES)
def test_rows_follow_the_declarations_and_not_the_order_of_cases(tmp_path, resources, kind):
    cases = CASES if kind == "ecthr" else [{}, {"split": "test"}, {"labels": None}]
    options = inputs(tmp_path, resources, kind, cases)
    counts = tabulate_cases(**options, out=tmp_path / "out")
    assert list(counts["rows"]) == NAMES and "left_out" not in counts
    for member in MEMBERS:
        check_declaration(member)
        rows = check_rows(tmp_path / "out", member.TABLE)
        assert rows and {row["dataset"] for row in rows} == {HOSTILE}
    again = tmp_path / "again"
    again.mkdir()
    numbered = [{"case_id": f"{kind}-{n}"} | one for n, one in enumerate(cases, start=1)]
    shuffled = inputs(again, resources, kind, numbered[::-1])
    tabulate_cases(**shuffled, out=again / "out")
    for name in (*NAMES, PACKAGE):
        if name != "leakage":  # names the first cases as examples
            file = name if name == PACKAGE else f"{name}.csv"
            assert (again / "out" / file).read_bytes() == (tmp_path / "out" / file).read_bytes()


def test_no_case_no_findings_and_no_tokens(tmp_path, resources):
    options = inputs(tmp_path, resources, "scotus", [])
    for name in ("findings", "tokens", "metas"):
        del options[name]
    counts = tabulate_cases(**options, out=tmp_path / "out")
    assert counts["left_out"] == {"rules": "there are no findings"}
    found = read_tables(tmp_path / "out")
    assert "rules" not in found and found["lengths"] == []
    assert {row["share"] for row in found["groups"]} == {None}


MULTI = [
    *[{"labels": ["2", "3"], "split": "train"}] * 3,
    *[{"labels": [], "split": "train"}] * 2,
    *[{"labels": ["3", "P1-1"], "split": "test"}] * 4,
    {"labels": ["P1-1"], "split": "test"},
    {"labels": None, "split": "test"},
]


def shifted(folder, kind, cases, **options):
    rows = table(folder, shift, kind, cases, **({"permutations": 200} | options))
    return {(row["attribute"], row["group"], row["splits"]): row for row in rows}


def test_all_labels_count_and_the_published_errors_stand_beside(tmp_path):
    row = shifted(tmp_path, "ecthr", MULTI)["all", "all", "train-test"]
    assert (row["train_cases"], row["other_cases"]) == (5, 5)  # one has no known label
    expected = {
        "distance": ([3, 3, 0, 2], [0, 4, 5, 0]),  # 2, 3, P1-1, none
        # as published: none, 2, 3 and, of the lowest only, P1-1 (which is then dropped)
        "compat_lowest_only": ([2, 3, 0, 0], [0, 0, 4, 1]),
        "compat_last_dropped": ([2, 3, 3], [0, 0, 4]),
        "compat_published": ([2, 3, 0], [0, 0, 4]),
    }
    for name, pair in expected.items():
        assert row[name] == pytest.approx(jensenshannon(*pair), abs=1e-6), name
    single = [{"labels": ["Privacy"]}, {"labels": ["Unions"], "split": "dev"}]
    row = shifted(tmp_path, "scotus", single)["all", "all", "train-dev"]
    assert row["distance"] == pytest.approx(np.sqrt(np.log(2)), abs=1e-6)
    assert row["compat_published"] is None


def men(train, test, n=120):
    """Single-labelled cases of men with these shares of one label in train and test."""
    return [
        {"labels": ["0" if number < share * n else ">120"], "split": split,
         "defendant_gender": "male"}
        for split, share in (("train", train), ("test", test))
        for number in range(n)
    ]  # fmt: skip


MALE = ("defendant_gender", "male", "train-test")


def test_a_shift_is_above_the_noise_and_none_is_not(tmp_path):
    rows = shifted(tmp_path, "cail", men(0.2, 0.8))
    row = rows[MALE]
    assert row["above_noise"] is True
    assert row["noise_95"] < row["distance"]
    # all, men, and the cases whose region is not known
    assert sum(one["above_noise"] is True for one in rows.values()) == 3
    woman = rows["defendant_gender", "female", "train-test"]
    assert woman["train_cases"] == 0
    assert woman["distance"] is woman["p"] is woman["above_noise"] is None
    row = shifted(tmp_path, "cail", men(0.5, 0.5))[MALE]
    assert (row["distance"], row["above_noise"], row["p"]) == (0, False, 1)
    row = shifted(tmp_path, "cail", men(0.5, 0.58))[MALE]
    assert 0.05 < row["p"] < 0.5 and row["above_noise"] is False


def test_the_draws_of_a_row_do_not_depend_on_other_rows(tmp_path):
    few = shifted(tmp_path, "cail", men(0.4, 0.6))[MALE]
    more = [*men(0.4, 0.6), {"defendant_gender": "female"}]
    assert shifted(tmp_path, "cail", more)[MALE] == few


@pytest.mark.parametrize("kind", ["ecthr", "fscs"])
def test_the_published_shares_fit_their_kinds(resources, kind):
    claims = cross.read_claims(resources / "published_cross.csv", court(kind))
    assert claims and all(0 < float(share) < 1 for share in claims.values())
    for attribute, group, other, other_group in claims:
        assert group in group_names(court(kind).attribute(attribute))
        assert other_group in group_names(court(kind).attribute(other))


def counted(folder, kind, cases, **options):
    rows = table(folder, lengths, kind, cases, **options)
    return rows, lambda unit, quantity: only(rows, unit=unit, quantity=quantity)


@pytest.mark.parametrize("longest", [1, 39, 40, 400, 4000, 123456])
def test_the_histogram_covers_every_case_once(tmp_path, longest):
    cases = [{"text": ["a " * (1 + longest * n // 9)]} for n in range(10)]
    rows, _ = counted(tmp_path, "ecthr", cases)
    bars = [row for row in rows if (row["unit"], row["quantity"]) == ("words", "histogram")]
    assert sum(row["count"] for row in bars) == 10
    assert len(bars) <= 42
    assert bars[0]["from"] == 0
    for one, following in itertools.pairwise(bars):
        assert one["to"] + 1 == following["from"]


def tokens_of(folder, cases):
    model = made_tokenizers.save(folder / "model", made_tokenizers.words())
    pair = (folder / "t.arrow", folder / "t.json")
    tokenise_cases(data=write_cases(folder / "t.parquet", "ecthr", cases), out=pair[0],
                   meta=pair[1], name="tiny", model=model)  # fmt: skip
    return [pair]


@pytest.mark.parametrize("cases", [[{}], [{}, {}]])
def test_tokens_of_another_data_set(tmp_path, cases):
    tokens = tokens_of(tmp_path, [{}, {"case_id": "another"}])
    with pytest.raises(InputError, match="other cases than the data set"):
        counted(tmp_path, "ecthr", cases, tokens=tokens)


RECORDS = [record(n, text=("He was born in 1950.",)) for n in range(1, 6)]


def ruled(folder, **found):
    """The rows of rules, of lists of (record, finding) by attribute."""
    for attribute, pairs in found.items():
        write_found(folder, pairs, attribute=attribute)
    files = findings_files(folder / "part.findings")[1]
    return table(folder, rules, "ecthr", [{}], findings=files)


def leaked(folder, kind, cases, *patterns):
    lines = [f'{kind},{language},"{pattern}"\n' for language, pattern in patterns]
    (folder / "words.csv").write_text("kind,language,pattern\n" + "".join(lines), encoding="utf-8")
    return table(folder, leakage, kind, cases, permutations=300)


def test_a_revealing_word_is_associated_and_an_idle_one_is_not(tmp_path):
    cases = [
        {
            "text": ["Beschwerde abgewiesen." if n % 2 else "Strasse.", "x" if n % 3 else "Haus"],
            "labels": ["dismissal" if n % 2 else "approval"],
        }
        for n in range(60)
    ]
    rows = leaked(tmp_path, "fscs", cases, ("de", "abgewiesen"), ("de", "Haus"))
    revealing, idle = (row for row in rows if row["label"] is None)
    assert (revealing["associated"], idle["associated"]) == (True, False)
    assert revealing["mutual_information"] == pytest.approx(1)
    assert revealing["noise_95"] < 0.5
    approval = only(rows, pattern="abgewiesen", label="approval")
    names = ("label_with", "of_with", "label_without", "of_without")
    assert [approval[name] for name in names] == [0, 30, 30, 30]
    assert approval["high"] < 0.5


@pytest.mark.parametrize(("module", "is_in"), [("defendant_gender", True), (COLUMN, False)])
def test_the_shift_of_missing_values_of_a_column_is_left_out(tmp_path, module, is_in):
    data = write_cases(tmp_path / "d.parquet", "cail", [{}, {"split": "test"}])
    study = CaseStudy(data, published=False, claims=data, words=data)
    of_gender, *_ = study.groups
    attribute = replace(of_gender.attribute, module=module)
    vars(study)["groups"] = [of_gender._replace(attribute=attribute)]
    groups = {row["group"] for row in shift.rows(study)}
    assert groups == {"all", *of_gender.names[:-1]} | ({of_gender.names[-1]} if is_in else set())


@pytest.mark.parametrize("date", [datetime.date(2001, 5, 4), None])
def test_the_size_of_a_data_set_has_its_dates_if_it_has_any(tmp_path, date):
    data = write_cases(tmp_path / "d.parquet", "cail", [{"date": date}])
    study = CaseStudy(data, published=False, claims=data, words=data)
    vars(study)["dataset"] = replace(study.dataset, years="")
    quantities = [row["quantity"] for row in sizes.rows(study)]
    assert ("cases with a date" in quantities) == (date is not None)


def test_the_words_of_a_declared_data_set_are_its_labels():
    dataset = Dataset(title="", languages=(), task="multi_class", labels=("a+", "≥5"),
                      attributes=())  # fmt: skip
    patterns = leakage._label_patterns(dataset)
    assert [(each.language, each.pattern) for each in patterns] == [("", r"\ba\+"), ("", r"≥5\b")]
    assert not leakage._label_patterns(replace(dataset, kind="ecthr"))


@pytest.mark.parametrize(
    ("pattern", "match"),
    [("(open", "words.csv:2: .* is no regular expression"), ("x*", "found in every text")],
)
def test_broken_patterns(tmp_path, pattern, match):
    with pytest.raises(InputError, match=match):
        leaked(tmp_path, "cail", [{}], ("zh", pattern))


@pytest.mark.parametrize(*sentences("outcomes"))
def test_sentences_that_state_an_outcome_are_found(tmp_path, resources, kind, language, text):
    words = resources / "outcome_words.csv"
    cases = [{"text": [text], "language": language}]
    rows = table(tmp_path, leakage, kind, cases, words=words)
    assert any(row["cases"] for row in rows)
    patterns = [row for row in read_resource(words, leakage.WORDS) if row["kind"] == kind]
    assert len([row for row in rows if row["label"] is None]) == len(patterns)


CROSSED = [
    *[{"applicant_gender": "male", "defendant_state": "C.E. European"}] * 5,
    {"applicant_gender": "male", "defendant_state": "Rest of Europe"},
    {"applicant_gender": None, "defendant_state": "C.E. European"},
    {"applicant_gender": "female"},
]
CLAIM = "ecthr,applicant_gender,male,defendant_state,C.E. European,0.83"
CUT = [
    {"text": ["case " * 200, "facts"]},  # 126 and 1 are read
    {"text": ["facts of"] * 34},  # 64 of 68
    {"text": ["case"]},
]
FOUND = [
    {"text": ["Nothing.", "Ébène: it found a VIOLATION of Article 3, violation of Article 5."]},
    {"text": ["A violation of law."], "labels": ["3", "6"]},
    {"text": ["A violation of Article 6.", "No violation of Article 8."], "labels": None},
    {"text": ["Une violation of Article 3."], "language": "fr"},
    {"text": ["violation of Article"], "language": None},
    {"text": ["the Court finds a breach"], "labels": ["3", "6"]},
    {"text": ["the court FINDS"], "labels": []},
]
LONG = [{"text": ["one two  three", "four"]}, {"text": ["one two"] * 40}]

#: The table, the kind, the cases and the options of scenes.
SCENES = {
    "sizes": (sizes, "ecthr", CASES, {}),
    "sizes of FairLex's own cases": (sizes, "ecthr", CASES, {"published": True}),
    "sizes without a split": (sizes, "scotus", [{"split": None}, {}], {"published": True}),
    "sizes of a binary task": (sizes, "fscs", [{}], {}),
    "sizes with an exact copy, and a near one": (
        sizes,
        "fscs",
        [{"text": ["x"]}, *({"text": [of], "duplicate_of": "fscs-1"} for of in "xy")],
        {},
    ),
    "groups": (groups, "ecthr", CASES, {}),
    "labels": (labels, "ecthr", CASES, {}),
    "single labels": (labels, "cail", [{}], {}),
    "crossed": (cross, "ecthr", CROSSED, {"claims": CLAIM, "published": True}),
    "a claim that is wrong": (
        cross,
        "ecthr",
        CROSSED[:2],
        {"claims": CLAIM.replace("0.83", "0.84"), "published": True},
    ),
    "a claim that is rounded up": (
        cross,
        "ecthr",
        [*CROSSED[:2], CROSSED[5]],
        {"claims": CLAIM.replace("0.83", "0.67"), "published": True},
    ),
    "a claim on other cases": (cross, "ecthr", CROSSED[:1], {"claims": CLAIM}),
    "a claim without a case": (cross, "ecthr", [], {"claims": CLAIM, "published": True}),
    "words and paragraphs": (lengths, "ecthr", LONG, {}),
    "characters": (lengths, "cail", [{"text": ["被告人 张某。", "某"]}], {}),
    "tokens that the limits cut": (lengths, "ecthr", CUT, {"tokens": CUT}),
    "words of outcomes": (
        leakage,
        "ecthr",
        FOUND,
        {"words": ("violation of Article", "breach", "(?-i:the Court) finds")},
    ),
    "words of many cases": (leakage, "cail", [{"text": ["x", "判处"]}] * 300, {"words": ("判处",)}),
    "words of no case": (leakage, "cail", [{}], {"words": ("死刑",)}),
}


def scene(folder, member, kind, cases, options):
    """The rows of a table with a case, each in a line."""
    folder.mkdir()
    options = dict(options)
    if "claims" in options:
        text = ",".join(cross.CLAIMS) + f"\n{options['claims']}\n"
        options["claims"] = folder / "claims.csv"
        options["claims"].write_text(text, encoding="utf-8")
    if "tokens" in options:
        options["tokens"] = tokens_of(folder, options["tokens"])
    if "words" in options:
        patterns = ((LANGUAGES[kind], pattern) for pattern in options.pop("words"))
        rows = leaked(folder, kind, cases, *patterns)
    else:
        rows = table(folder, member, kind, cases, **options)
    return [
        " ".join(f"{name}={row[name]}" for name in [*row][1:] if row[name] is not None)
        for row in rows
        if (row.get("cases") != 0 and row.get("count") != 0) or row.get("verdict")
    ]


def test_the_tables_of_small_data_sets(tmp_path):
    lines = []
    for number, (name, given) in enumerate(SCENES.items()):
        lines += [f"## {name}", *scene(tmp_path / str(number), *given)]
    check_expected("tables/small_cases.txt", "\n".join(lines) + "\n")


def test_rules_by_value(tmp_path):
    he = (evidence(RECORDS[0], "He"),)
    pairs = [
        (RECORDS[0], Finding("male", "pronouns", 0.9, he)),
        (RECORDS[1], Finding("male", "pronouns", 0.7, he, ("several_respondents",))),
        (RECORDS[2], Finding("female", "pronouns", 0.8, he)),
        (RECORDS[3], Finding(None, "legal_person", 0.5)),
        (RECORDS[4], Finding("male", "title", 1)),
    ]
    years = [
        (one, Finding(year, "born_in_year", 1.0))
        for one, year in zip(RECORDS, ("1950", "1960", None), strict=False)
    ]
    names = ("attribute", "rule", "value", "cases", "of", "mean_confidence", "flags")
    rows = ruled(tmp_path, applicant_gender=pairs, applicant_birth_year=years)
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("applicant_gender", "pronouns", "male", 2, 5, 0.8, "several_respondents 1"),
        ("applicant_gender", "pronouns", "female", 1, 5, 0.8, None),
        ("applicant_gender", "legal_person", "n/a", 1, 5, 0.5, None),
        ("applicant_gender", "title", "male", 1, 5, 1, None),
        ("applicant_birth_year", "born_in_year", "a number", 2, 3, 1, None),
        ("applicant_birth_year", "born_in_year", "unknown", 1, 3, 1, None),
    ]
    assert [row["with_evidence"] for row in rows] == [2, 1, 0, 0, 0, 0]
    with pytest.raises(NotApplicable, match="no findings"):
        table(tmp_path, rules, "ecthr", [{}])
