import importlib
from pathlib import Path

import pytest

from evenhand import plan, plan_classifiers, plan_legal
from evenhand.core.config import complete, read_schema
from evenhand.core.families import declared
from evenhand.core.places import SCHEMA
from evenhand.errors import InputError
from evenhand.learning.objective import load_objective

SOURCES = {"judgments": {"name": "judgments", "file": "j.zip", "licence": "CC0"}}


def configured(parts: dict, kind: str = "ecthr", models: dict | None = None, **more) -> dict:
    one = {"kind": kind, "parts": parts} | {k: v for k, v in more.items() if k == "tokenizers"}
    legal = {"datasets": {"mine": one}} | {k: v for k, v in more.items() if k != "tokenizers"}
    config = complete({"legal": legal, "models": models or {}}, read_schema(SCHEMA))
    return plan_legal.expand(config)


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    return tmp_path


HUDOC = {"format": "hudoc_json", "sources": ["judgments"]}
TEXTS = {"format": "hudoc_text", "files": ["texts"]}


def test_parts_are_read_in_the_order_of_their_names(here):
    config = configured({"z": HUDOC, "a": TEXTS})
    assert plan_legal.parts(config, "mine") == ["a", "z"]
    assert [Path(one).stem for one in plan_legal.records(config, "mine")] == ["a", "z"]
    assert plan_legal.part_files(config, SOURCES, "mine", "a") == ["texts"]
    assert plan_legal.part_files(config, SOURCES, "mine", "z") == [
        "results/sources/judgments/j.zip"
    ]


def test_a_reader_is_told_its_own_options_only(here):
    config = configured({"z": HUDOC, "a": TEXTS})
    told = plan_legal.part_options(config, "mine", "z")
    assert told == ["format", "documents", "no_finding", "encoding"]
    assert plan_legal.part_options(config, "mine", "a") == ["format", "no_finding", "encoding"]


def test_tables_of_readers_and_attributes(here):
    config = configured({"x": {"format": "scdb", "files": ["texts"]}}, kind="scotus")
    assert "resources/legal/scdb_issue_areas.csv" in plan_legal.part_tables(config, "mine", "x")
    assert "resources/legal/scdb_respondents.csv" in plan_legal.attribute_tables(config, "mine")
    assert plan_legal.attribute_modules(config, "mine") == ["respondent_type", "decision_direction"]


@pytest.mark.parametrize(
    ("parts", "more", "match"),
    [
        ({"a": {"format": "hudoc_text"}}, {}, "parts.a names neither files nor sources"),
        ({"a": TEXTS}, {"kind": "cail"}, "is read as hudoc_text, which is ecthr"),
        ({"a": TEXTS}, {"tokenizers": ["bert"]}, "tokenizers names bert, which is none of"),
        (
            {"a": {"format": "hudoc_text", "files": ["nowhere"]}},
            {},
            "legal.datasets.mine.parts.a.files.0 is nowhere, and there is no such",
        ),
    ],
)
def test_configurations_that_cannot_be(here, parts, more, match):
    config = configured(parts, **more)
    with pytest.raises(InputError, match=match):
        plan.check_files(config)
        plan.check_sources(config, SOURCES)


def test_the_curves_are_of_each_training(here):
    one = {"kind": "linear", "datasets": ["mine"], "seeds": 2}
    one |= {"objectives": ["erm", "group_dro"], "attributes": ["applicant_gender"]}
    config = configured({"a": TEXTS}, classifiers={"linear": one})
    assert plan_classifiers.histories(config, "mine") == [
        "<results>/legal/mine/history/linear/erm/none/all.parquet",
        "<results>/legal/mine/history/linear/group_dro/applicant_gender/all.parquet",
    ]
    assert {*plan_classifiers.histories(config, "mine")} <= {*plan_classifiers.other_files(config)}
    assert plan_classifiers.table_folders(config) == ["<results>/tables/classifiers/mine"]
    declarations = [plan_legal.declaration(config, "mine")]
    assert plan_classifiers.declarations(config) == {"declarations": declarations}
    called = plan_classifiers.objective_titles()
    titles = dict(zip(called["objectives"], called["objective_titles"], strict=True))
    assert (titles["erm"], titles["group_dro"], titles["v_rex"]) == ("ERM", "Group DRO", "V-REx")
    cases = plan_classifiers.cases_page_options(config)
    assert cases["objectives"] == called["objectives"]
    assert not plan_classifiers.table_folders(configured({"a": TEXTS}))
    note = plan_classifiers.few_seeds(config)
    assert note.startswith("note: with fewer than 5 seeds (linear has 2) intervals are wide")
    for enough in (1, 5):  # the intervals of one run are over cases alone
        config["legal"]["classifiers"]["linear"]["seeds"] = enough
        assert not plan_classifiers.few_seeds(config)


def test_a_classifier_that_is_not_tested_is_noted(here):
    Path("texts/train.csv").write_text("text,label,sex\n")
    data = {"files": ["texts"], "text": "text", "label": {"column": "label", "task": "binary"}}
    data |= {"attributes": {"sex": {"column": "sex"}}}
    linear = {"kind": "linear", "datasets": ["mine"], "objectives": ["group_dro"]}
    noted = {}
    for audited, objectives in (("erm", ()), ("group_dro", ()), ("erm", ("erm",))):
        datasets = {"mine": data | {"audited": [audited]}}
        words = linear | {"objectives": ["group_dro", *objectives]}
        text = {"datasets": datasets, "classifiers": {"words": words}}
        config = plan_legal.expand(complete({"text": text}, read_schema(SCHEMA)))
        noted[audited, *objectives] = plan_classifiers.without_plain(config)
    assert list(map(bool, noted.values())) == [True, False, False]
    assert noted["erm",] == (
        "note: words is trained with group_dro alone: the tests here are of plain training; add"
        " `erm` to `objectives`, or name group_dro under `audited`."
    )
    of_court = configured({"a": TEXTS}, classifiers={"linear": linear})
    assert plan_classifiers.without_plain(of_court).endswith("add `erm` to `objectives`.")


def test_the_page_of_the_cases_has_a_place_for_each_prediction(here):
    one = {"kind": "linear", "datasets": ["mine"], "objectives": ["erm", "group_dro"]}
    one |= {"attributes": ["applicant_gender"]}
    config = configured({"a": TEXTS, "b": TEXTS}, classifiers={"linear": one})
    files = plan_classifiers.cases_page_files(config)
    folder = "<results>/legal/mine"
    assert files == {
        "cases": [f"{folder}/mine.parquet"],
        "records": [f"{folder}/records/a.parquet", f"{folder}/records/b.parquet"],
        "predictions": [
            f"{folder}/predictions/linear/erm/none/all.parquet",
            f"{folder}/predictions/linear/group_dro/applicant_gender/all.parquet",
        ],
    }
    without = configured({"a": TEXTS})
    assert plan_classifiers.cases_page_files(without)["predictions"] == []
    assert not plan_classifiers.cases_page_files(configured_without())


TEXTS_ONLY = {"a": TEXTS}
LINEAR = {"kind": "linear", "datasets": ["mine"]}
ENCODER = {"kind": "hierarchical", "datasets": ["mine"], "model": "tiny"}
TINY = {"tiny": {"hub": "some/encoder"}}


def with_classifiers(**classifiers: dict) -> dict:
    return configured(TEXTS_ONLY, classifiers=classifiers, models=TINY)


def test_a_training_is_told_only_what_differs_from_its_family(here):
    config = with_classifiers(
        linear=LINEAR, same=LINEAR | {"clip": 1.0, "epsilon": 1e-3, "epochs": 20, "patience": 5}
    )
    told = plan_classifiers.training_options(config, "linear", "erm", "none")
    assert told == {
        **{"family": "linear", "classifier": "linear", "objective": "erm"},
        **{"attribute": None, "objective_options": None, "settings": None},
    }
    same = plan_classifiers.training_options(config, "same", "erm", "none")
    assert same == told | {"classifier": "same"}


def test_settings_reach_their_stages(here):
    linear = LINEAR | {"learning_rate": 0.003, "epsilon": 1e-8, "min_df": 2, "warmup": 0.1}
    encoder = ENCODER | {"dtype": "bf16", "mode": "compat", "accumulate": 4, "keep_weights": False}
    config = with_classifiers(linear=linear, encoder=encoder)
    told = plan_classifiers.training_options(config, "linear", "erm", "none")
    assert told["settings"] == ["learning_rate=0.003", "warmup=0.1", "epsilon=1e-08"]
    told = plan_classifiers.training_options(config, "encoder", "group_dro", "applicant_age")
    assert told["settings"] == ["accumulate=4", "dtype=bf16", "mode=compat", "keep_weights=False"]
    assert told["attribute"] == "applicant_age"


def test_epochs_are_chosen_by_groups_only_where_there_are_some(here):
    config = with_classifiers(linear=LINEAR | {"select": "worst_group_f1"})
    told = plan_classifiers.training_options(config, "linear", "group_dro", "applicant_age")
    assert told["settings"] == ["select=worst_group_f1"]
    told = plan_classifiers.training_options(config, "linear", "erm", "none")
    assert told["settings"] is None


def test_what_the_plan_reads_off_an_objective_is_what_it_says():
    config = with_classifiers()
    names = read_schema(SCHEMA)["properties"]["legal"]["properties"]["objectives"]["propertyNames"]
    for name in names["enum"]:
        module = load_objective(name)
        assert plan_classifiers.uses_groups(name) == module.USES_GROUPS
        assert plan_classifiers.pairs(config, name) == module.OPTIONS.get("pairs")


@pytest.mark.parametrize("family", plan_classifiers.STANDS_FOR)
def test_every_setting_of_a_family_is_a_key(family):
    module = importlib.import_module(f"evenhand.legal.classifiers.{family}")
    described = read_schema(SCHEMA)["properties"]["legal"]["properties"]["classifiers"]
    keys = described["additionalProperties"]["properties"]
    assert declared(module.__name__, "SETTINGS") == module.SETTINGS
    assert module.SETTINGS.keys() <= keys.keys()
    for name, key in keys.items():
        if name in module.SETTINGS and "only_for" in key:
            assert family in key["only_for"]["kind"]


def test_what_no_classifier_makes_use_of_is_refused(here):
    plain = LINEAR | {"objectives": ["erm"], "select": "worst_group_f1"}
    settings = {"swap": "gender", "objectives": {"irm": [], "erm": []}}
    config = configured(TEXTS_ONLY, classifiers={"plain": plain}, models=TINY)
    config["legal"] |= settings
    written = {"legal": settings | {"classifiers": {"plain": plain}}}
    with pytest.raises(InputError) as caught:
        plan.check_effects(config, written)
    assert str(caught.value).splitlines() == [
        "config: legal.classifiers.plain.select has no effect, since none of its objectives sees"
        " groups",
        "config: legal.objectives.irm has no effect, since no classifier is trained with it",
        "config: legal.swap has no effect, since no counterfactuals are requested; remove what is"
        " not used.",
    ]
    plain |= {"objectives": ["irm"], "counterfactuals": True}
    plan.check_effects(with_classifiers(plain=plain), {"legal": {"classifiers": {"plain": plain}}})


def test_groups_may_be_a_product_of_attributes_and_label(here):
    objectives = ["erm", "group_dro", "leace"]
    product = {"groups": ["label", "applicant_gender"], "objectives": objectives}
    config = with_classifiers(linear=LINEAR | product)
    folders = [file.rsplit("/", 2)[-2] for file in plan_classifiers.predictions(config, "mine")]
    assert folders == ["none", "label+applicant_gender", "applicant_gender"]
    written = {"legal": {"classifiers": {"linear": product | {"attributes": ["applicant_age"]}}}}
    with pytest.raises(InputError, match="groups says what the objectives see"):
        plan.check_effects(config, written)
    for groups, words in (
        (["label"], "has the label alone"),
        (["label", "colour"], "groups names colour, which is none of the attributes of mine"),
    ):
        with pytest.raises(InputError, match=words):
            plan_classifiers.check_classifiers(with_classifiers(linear=LINEAR | {"groups": groups}))


def test_an_encoder_without_a_model_is_refused(here):
    frozen = {"kind": "frozen", "datasets": ["mine"]}
    words = "classifiers.words needs a `model`, as it is of kind: frozen; write the name of a model"
    with pytest.raises(InputError, match=words):
        plan_classifiers.check_classifiers(with_classifiers(words=frozen))


def test_an_adversary_is_not_for_linear_classifiers(here):
    config = with_classifiers(linear=LINEAR | {"objectives": ["adversarial"]})
    with pytest.raises(InputError, match="adversarial needs a representation that is trained"):
        plan_classifiers.check_classifiers(config)
    config["legal"]["objectives"] = {"adversarial": ["compat=true"]}
    plan_classifiers.check_classifiers(config)


def test_what_stands_for_the_paper(here):
    frozen = ENCODER | {"kind": "frozen"}
    config = with_classifiers(
        words=LINEAR, other_words=LINEAR | {"stands_for": "none"}, frozen=frozen, whole=ENCODER
    )
    assert plan_classifiers.standing(config, "mine") == {
        "linear": ["words"],
        "transformer": ["whole"],
    }
    config = with_classifiers(frozen=frozen | {"stands_for": "transformer"})
    assert plan_classifiers.standing(config, "mine") == {"transformer": ["frozen"]}
    assert plan_classifiers.standing(with_classifiers(frozen=frozen), "mine") == {}
    config["text"]["datasets"] = {"mine": {"label": {"positive": 1}}}
    options = plan_classifiers.standing(config, "mine")
    assert (options["rates"], options["positive"]) == (True, "1")


def configured_without() -> dict:
    return complete({}, read_schema(SCHEMA))


def test_only_fairlex_own_files_meet_the_published_sizes(here):
    fairlex = {"format": "fairlex", "sources": ["judgments"]}
    assert plan_legal.is_published(configured({"a": fairlex}), "mine")
    assert not plan_legal.is_published(configured({"a": fairlex, "b": TEXTS}), "mine")


def test_an_audit_counts_once_its_sheets_are_back(here):
    config = configured({"a": TEXTS}, audit={"filled": "audit"})
    folder = Path("audit/mine/applicant_gender")
    folder.mkdir(parents=True)
    assert plan_legal.audited(config, "mine") == ([], [])
    (folder / "mine.xlsx").touch()
    assert plan_legal.audited(config, "mine") == ([], [])  # nobody knows what was drawn
    (folder / "handed_out.csv").touch()
    (folder / "~$mine.xlsx").touch()
    lists, sheets = plan_legal.audited(config, "mine")
    assert lists == [str(folder / "handed_out.csv")]
    assert sheets == [str(folder / "mine.xlsx")]
    assert plan_legal.audit_tables(config) == ["<results>/tables/audits/mine"]
    assert plan_legal.handed_out(config, "mine") == lists


def test_a_data_set_of_columns_alone_has_no_audit(here):
    Path("rows.csv").touch()
    own = {"files": ["rows.csv"], "text": "bio", "label": {"column": "y", "task": "binary"}}
    for module, sheets in ((None, []), ("applicant_gender", ["<results>/legal/mine/audit"])):
        sex = {"column": "sex"} if module is None else {"extract": module}
        dataset = own | {"attributes": {"age": {"column": "age"}, "sex": sex}}
        config = complete({"text": {"datasets": {"mine": dataset}}}, read_schema(SCHEMA))
        files = plan_legal.other_files(plan_legal.expand(config))
        assert [name for name in files if "audit" in name] == sheets


def test_the_card_names_its_sources(here):
    config = configured({"a": TEXTS, "z": HUDOC})
    assert plan_legal.card_options(config, SOURCES) == {
        "datasets": ["mine"],
        "titles": ["ECtHR"],
        "sources": ["texts, judgments (CC0)"],
        "published": [],
    }
    assert plan_legal.card_inputs(config)["data"] == ["<results>/legal/mine/mine.parquet"]


def fair(kind: str = "linear", options: tuple[str, ...] = (), of: str = "ecthr", **more) -> dict:
    """A configuration with one classifier, which compares pairs."""
    one = {"kind": kind, "datasets": ["mine"], "seeds": 1, "objectives": ["erm", "iifr_text"]}
    one |= {} if kind == "linear" else {"model": "bert"}
    legal = {key: more.pop(key) for key in ("swap", "tables") if key in more}
    parts = {"ecthr": TEXTS, "fscs": {"format": "swiss_judgment", "files": ["texts"]}}[of]
    models = {"bert": {"hub": "some/bert", "language": "en"}}
    return configured(
        {"a": parts}, of, models, classifiers={"mine": one | more},
        objectives={"iifr_text": list(options)}, **legal,
    )  # fmt: skip


def tables(folder: str, *names: str) -> str:
    Path(folder).mkdir()
    for name in names:
        Path(folder, f"{name}.csv").touch()
    return folder


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("linear", [], {}),
        ("linear", ["pairs=cosine"], {}),
        ("linear", ["pairs=counterfactual"], {"counterfactuals": "twins/words/mine.arrow"}),
        ("linear", ["pairs=graph"], {"neighbours": "neighbours/words/mine.parquet"}),
        ("frozen", ["pairs=counterfactual"], {"counterfactuals": "twins/embeddings/bert.arrow"}),
        ("frozen", ["pairs=graph"], {"neighbours": "neighbours/embeddings/bert.parquet"}),
        (
            "hierarchical",
            ["weight=1", "pairs=counterfactual"],
            {"counterfactuals": "twins/tokens/bert.arrow"},
        ),
        ("hierarchical", ["pairs=graph"], {"neighbours": "neighbours/embeddings/bert.parquet"}),
    ],
)
def test_a_training_reads_what_its_family_and_objective_need(here, kind, options, expected):
    config = fair(kind, options)

    def read(objective: str) -> dict[str, str]:
        return plan_classifiers.training_inputs(config, "mine", "mine", objective, "none")

    names = {"linear": "words/mine", "frozen": "embeddings/bert", "hierarchical": "tokens/bert"}
    usual = {"data": "training/none.parquet", "features": f"{names[kind]}.arrow"}
    usual |= {} if kind == "linear" else {"features_meta": f"{names[kind]}.json"}
    usual = {key: f"<results>/legal/mine/{path}" for key, path in usual.items()}
    assert read("erm") == usual
    more = {key: f"<results>/legal/mine/{path}" for key, path in expected.items()}
    assert read("iifr_text") == usual | more


def test_counterfactuals_of_all_objectives(here):
    folder = tables("own", "swap_gender_en", "swap_gender_en_followers", "swap_gender_de")
    config = fair(counterfactuals=True, tables=folder)
    plan_classifiers.check_classifiers(config)
    given = plan_classifiers.training_inputs(config, "mine", "mine", "erm", "none")
    assert given["counterfactuals"] == "<results>/legal/mine/twins/words/mine.arrow"
    assert plan_classifiers.with_counterfactuals(config, "mine") == plan_classifiers.predictions(
        config, "mine"
    )
    assert plan_classifiers.swapped(config) == ["mine"]
    assert plan_classifiers.swap_tables(config, "mine") == [
        "own/swap_gender_en.csv",
        "own/swap_gender_en_followers.csv",
    ]


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"swap": "age"}, r"the words of age \(swap_age_en.csv in own\)"),
        ({"of": "fscs"}, r"swap_gender_de.csv or swap_gender_fr.csv or swap_gender_it.csv in own"),
    ],
)
def test_what_no_table_swaps(here, given, match):
    folder = tables("own", "swap_gender_en", "swap_nationality_en")
    for options, wanted in ((("pairs=counterfactual",), False), ((), True)):
        with pytest.raises(InputError, match=match):
            plan_classifiers.check_classifiers(
                fair(options=options, counterfactuals=wanted, tables=folder, **given)
            )
    config = fair(counterfactuals=True, tables=folder, swap="nationality")
    plan_classifiers.check_classifiers(config)
    assert plan_classifiers.swap_tables(config, "mine") == ["own/swap_nationality_en.csv"]
