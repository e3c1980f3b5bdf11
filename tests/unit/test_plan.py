import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand import (
    plan,
    plan_individual,
    plan_legal,
    plan_models,
    plan_predictions,
    plan_report,
    plan_slguset,
    plan_stereotypes,
)
from evenhand.core.config import complete, read_schema
from evenhand.core.families import declared, load_members
from evenhand.core.places import SCHEMA
from evenhand.core.sources import read_sources
from evenhand.errors import InputError
from evenhand.sheets.tasks import HANDED_OUT
from evenhand.slguset.shards import Skipped
from unit.cases import load_cases

CASES = load_cases(__file__)

#: Those of files that are left out.
REASONS = ("hidden_file", "unknown_format", "unreadable_file", "unusable_name")

SOURCES = {"news": {"name": "news", "file": "news.txt.gz"}, "set": {"name": "set", "file": "s.csv"}}


def configured(slguset: dict | None = None, **top: object) -> dict:
    return plan_individual.expand(complete({"slguset": slguset or {}, **top}, read_schema(SCHEMA)))


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVENHAND_MIRROR", raising=False)
    Path("papers").mkdir()
    Path("papers/a.txt").write_text("她来了。\n", encoding="utf-8")
    Path("papers/cover.jpg").write_bytes(b"\xff")
    return tmp_path


def test_a_source_is_a_shard_of_its_own_and_skipped_files_are_told(here):
    corpora = {"b": {"files": ["papers"]}, "a": {"sources": ["news"]}}
    shards, skipped = plan_slguset.plan_corpora(configured({"corpora": corpora}), SOURCES)
    assert [corpus for corpus, _ in shards.values()] == ["a", "b"]
    assert shards["a-news"][1].files == ("results/sources/news/news.txt.gz",)
    assert [(one.path, bool(one.reason)) for one in skipped] == [("papers/cover.jpg", True)]


def test_files_that_are_not_read_become_rows_of_bounded_length():
    few = [Skipped("a/\udcff\n{x}.txt", "unusable_name", "a name with controls")]
    many = [Skipped(f"b/{i:05}.pdf", "unknown_format", "its suffix") for i in range(5000)]
    rows = plan_slguset.quarantine_rows([*few, *many])
    assert plan_slguset.not_read(rows).split("\n")[0] == (
        "not read: a/\\xff {x}.txt (a name with controls)"
    )
    assert plan_slguset.not_read(rows).split("\n")[-1] == (
        "not read: b/00100.pdf (its suffix) and 4899 more"
    )
    assert len(rows) == 102 and sum(json.loads(row)["parts"] for row in rows) == 5001
    long = [Skipped(f"{'c' * 4000}{i}", reason, "x") for reason in REASONS for i in range(99)]
    rows = plan_slguset.quarantine_rows(long)
    assert sum(json.loads(row)["parts"] for row in rows) == len(long)
    assert sum(map(len, rows)) < 2 * plan_slguset.MOST_BYTES + 4100 * len(REASONS)


TEXTS = {
    "text": "text",
    "label": {"column": "label", "task": "binary"},
    "attributes": {"a": {"column": "a"}},
}


def people(**settings: object) -> dict:
    datasets = {"t": {"format": "adult", "files": ["papers/a.txt"]}}
    return {"individual_fairness": {"datasets": datasets} | settings}


@pytest.mark.parametrize(("config", "problem"), CASES["a_fault_of_the_files_is_named"])
def test_a_fault_of_the_files_is_named(here, config, problem):
    Path("p.csv").touch()
    os.mkfifo("pipe.csv")
    with pytest.raises(InputError, match=problem):
        plan.check_files(configured(**config))


def test_a_file_of_texts_is_named_by_the_users_key(here):
    Path("papers/{x}.csv").write_text("text,label,a\n")
    config = complete(
        {"text": {"datasets": {"t": TEXTS | {"files": ["papers/*.csv"]}}}}, read_schema(SCHEMA)
    )
    with pytest.raises(InputError, match=r"text\.datasets\.t\.files\.0 is .*: a name with {, }"):
        plan.check_files(plan_legal.expand(config))


@pytest.mark.parametrize(("config", "problem"), CASES["a_fault_of_the_sources_is_named"])
def test_a_fault_of_the_sources_is_named(here, config, problem):
    with pytest.raises(InputError, match=problem):
        config = configured(**config)
        plan.check_sources(config, SOURCES)
        plan_slguset.plan_corpora(config, SOURCES)


def test_the_mirror_stands_in_for_its_name_and_its_absence_is_told(here, monkeypatch):
    config = configured({"corpora": {"x": {"files": ["{mirror}/a.txt"]}}})
    with pytest.raises(InputError, match="set `mirror` or the environment variable"):
        plan_slguset.plan_corpora(config, SOURCES)
    monkeypatch.setenv("EVENHAND_MIRROR", "papers")
    (_, shard), *_ = plan_slguset.plan_corpora(config, SOURCES)[0].values()
    assert shard.files == ("papers/a.txt",)


def sheets(*names: str, round: str = "one") -> None:
    folder = Path("filled", round)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()


@pytest.mark.parametrize(
    ("names", "complete_"),
    [
        ([], False),
        (["a.csv", "b.xlsx"], False),
        (["a.csv", "b.xlsx", ".c.csv.swp", "~$b.xlsx", "notes.txt"], False),
        (["a.csv", "b.xlsx", "c.csv"], True),
        (["export.json"], True),
    ],
)
def test_a_round_is_complete_when_its_sheets_are_back(here, names, complete_):
    sheets(*names)
    corpora = {"x": {"files": ["papers"]}}
    config = configured({"corpora": corpora, "annotation": {"round": "one", "filled": "filled"}})
    assert plan_slguset.annotation_rounds(config)["one"].complete() is complete_


def freeze(name):
    path = Path("filled") / name / HANDED_OUT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"round,annotators\n{name},a b\n{name},b c\n", encoding="utf-8")


def test_rounds_are_the_frozen_ones_and_the_present_one(here):
    freeze("one")
    sheets("a.csv", "b.csv", "c.csv", round="one")
    settings = {"round": "two", "filled": "filled"}
    config = configured({"annotation": settings, "corpora": {"x": {"files": ["papers"]}}})
    rounds = plan_slguset.annotation_rounds(config)
    assert {name: one.complete() for name, one in rounds.items()} == {"one": True, "two": False}
    said = plan_slguset.waiting(config)
    assert "Round two waits" in said and "Round one" not in said
    sheet = "results/slguset/annotation/two/sheets/handed_out.csv"
    assert f"cp -n {sheet} filled/two/" in said and "Another corpus needs another folder" in said
    freeze("two")
    sheets("A.XLSX", round="two")
    said = plan_slguset.waiting(config)
    assert "Freeze" not in said and "1 of 3 filled sheets are there: filled/two/A.XLSX" in said
    sheets("b.csv", "c.csv", round="two")
    assert plan_slguset.waiting(config) == ""


def test_a_round_drawn_by_uncertainty_must_be_frozen_when_its_sheets_are_back(here):
    settings = {"round": "one", "filled": "filled", "draw": "uncertain"}
    corpora = {"x": {"files": ["papers"]}}
    slguset = {"annotation": settings, "corpora": corpora, "acceptance": {"learn": True}}
    config = configured(slguset)
    assert plan_slguset.is_undecided(config, "one")
    far = configured(slguset | {"acceptance": {"learn": True, "model": "far"}})
    with pytest.raises(
        InputError, match=r"acceptance\.model names far, which is none of the models"
    ):
        plan_slguset.inputs(far, {})
    sheets("a.csv", "b.csv", "c.csv")
    with pytest.raises(InputError, match="round one, drawn by uncertainty, are not frozen"):
        plan_slguset.inputs(config, {})
    freeze("one")
    assert not plan_slguset.is_undecided(config, "one")
    Path("filled/one").rename("filled/third")  # lists are read once
    with pytest.raises(InputError, match=r"third/handed_out.csv:2: is of the round one, not third"):
        plan_slguset.annotation_rounds(config)


def test_what_is_not_there_is_not_asked_for(here):
    corpora = {"x": {"files": ["papers"]}}
    corpus, data = "<results>/tables/corpus", "<results>/{}/slguset.parquet"
    own, published = (data.format(name) for name in ("slguset", "slguset_published"))
    files = plan_report.slguset_files(configured({"corpora": corpora}), ["x-1"])
    assert corpus in files and not {own, published} & {*files}
    files = plan_report.slguset_files(configured({"published": {"file": "s.csv"}}), [])
    assert corpus not in files and published in files and "/bias/" not in str(files)
    models = {"m": {"hub": "m"}}
    config = configured({"published": {"file": "s.csv"}}, models=models)
    files = plan_report.slguset_files(config, [])
    assert "<results>/tables/bias/slguset_published" in files
    files = plan_report.explorer_files(config)
    assert files["bias_scores"] == ["<results>/slguset_published/bias/m.parquet"]
    assert files["datasets"] == ["<results>/slguset_published/slguset.parquet"]
    assert files["summaries"] == ["<results>/tables/bias/slguset_published"]
    assert plan_report.slguset_files(configured(), []) == []


def test_the_tagger_needs_something_to_learn_from(here):
    with pytest.raises(InputError, match="nothing to learn from; list tagged corpora"):
        plan_slguset.tagged_files(configured({"filters": ["names_crf"]}), SOURCES)
    corpora = [{"file": "a.txt", "format": "pku"}, {"source": "news", "format": "cluener"}]
    config = configured({"filters": ["names_crf"], "train_names_crf": {"corpora": corpora}})
    assert plan_slguset.tagged_files(config, SOURCES) == [
        "a.txt",
        "results/sources/news/news.txt.gz",
    ]


def test_a_vocabulary_needs_a_model_with_a_folder(here):
    models = {"mine": {"path": "m"}, "far": {"hub": "far"}}
    config = configured({"vocabulary": "mine"}, models=models)
    assert plan_slguset.vocabulary_folder(config) == "m"
    for name in ("far", "none"):
        with pytest.raises(InputError, match=f"vocabulary is '{name}', which is no model"):
            plan_slguset.vocabulary_folder(configured({"vocabulary": name}, models=models))


def test_jobs_find_python_the_library_and_the_cache(here, monkeypatch):
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    environment = plan.job_environment(configured(results="out"), "/lib")
    assert environment["PATH"].endswith(":/bin") and environment["PYTHONPATH"] == "/lib"
    assert environment["EVENHAND_CACHE"] == "out/.evenhand/cache"
    assert environment["DISABLE_SAFETENSORS_CONVERSION"] == "1"
    off = configured(cache={"enabled": False, "folder": "shared"}, offline=True)
    assert plan.job_environment(off, "/lib")["EVENHAND_CACHE"] == ""
    assert plan.job_environment(off, "/lib")["HF_HUB_OFFLINE"] == "1"


#: What a folder of a model needs.
WHOLE = ("config.json", "model.safetensors", "tokenizer.json")


def model_files(folder: str, *names: str) -> None:
    Path(folder).mkdir()
    for name in names:
        Path(folder, name).touch()


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (WHOLE[1:], r"m: the model folder lacks config\.json; save the model into it with save_"),
        (WHOLE[::2], r"m: the model folder lacks model\.safetensors; save the model into it"),
        ((*WHOLE[::2], "tf_model.h5"), r"m: the model folder lacks model\.safetensors; save"),
        (WHOLE[:2], r"m: the model folder lacks a tokenizer \(one of .*; save the tokenizer into"),
        (("config.json", "pytorch_model.bin"), r"m: the model folder lacks a tokenizer"),
    ],
)
def test_a_model_folder_that_lacks_a_file_is_refused(here, files, problem):
    model_files("m", *files)
    config = configured({"corpora": {"x": {"files": ["papers"]}}}, models={"mine": {"path": "m"}})
    with pytest.raises(InputError, match=rf"^config: models\.mine\.path is {problem}"):
        plan.check_files(config)


def test_a_path_that_does_not_exist_has_the_nearest_one(here):
    Path("models/tiny").mkdir(parents=True)
    Path("p.csv").touch()
    config = configured(
        {"corpora": {"x": {"files": ["papers"]}}}, models={"mine": {"path": "modles/tiny"}}
    )
    with pytest.raises(InputError, match=r"no such model folder; did you mean models/tiny\?"):
        plan.check_files(config)
    files = dict.fromkeys(("label", "prediction"), "y") | {"files": ["P.csv"], "groups": ["g"]}
    with pytest.raises(InputError, match=r"is P.csv, and there is no .*; did you mean p.csv\?"):
        plan.check_files(configured({}, predictions={"x": files}))


@pytest.mark.parametrize("weights", ["pytorch_model.bin", "pytorch_model.bin.index.json"])
def test_pickled_weights_are_converted_first(here, weights):
    model_files("pickled", "config.json", "vocab.txt", weights)
    model_files("both", *WHOLE, weights)
    models = {
        "pickled": {"path": "pickled"},
        "both": {"path": "both"},
        "far": {"hub": "a/b", "revision": "v1"},
        "far_pickled": {"hub": "a/b", "revision": "v1", "convert": True},
    }
    config = configured({"published": {"file": "papers/a.txt"}}, models=models)
    plan.check_files(config)
    assert plan_models.converted(config) == ["far_pickled", "pickled"]
    assert [plan_models.model_folder(config, name) for name in models] == [
        *("<results>/models/pickled", "both", None, "<results>/models/far_pickled")
    ]
    nowhere, there = dict.fromkeys(("hub_name", "revision")), {"hub_name": "a/b", "revision": "v1"}
    assert [plan_models.hub_place(config, name) for name in models] == [
        *(nowhere, nowhere, there, nowhere)
    ]
    files = plan.other_files(config, [])
    assert [file for file in files if "/models/" in file] == [
        f"<results>/models/{name}" for name in ("far_pickled", "pickled")
    ]


def test_planning_loads_no_library_of_tables_or_models(repository):
    code = """if True:
        import sys
        from pathlib import Path
        from evenhand import plan, plan_individual, plan_legal, plan_report
        from evenhand.core.config import complete, read_config, read_schema
        schema = read_schema(Path("workflow/schemas/config.schema.yaml"))
        config = plan_legal.expand(complete(read_config(Path("config/config.yaml")), schema))
        config = plan_individual.expand(config)
        plan.check_files(config)
        for name, one in config["legal"]["datasets"].items():
            for part in one["parts"]:
                assert plan_legal.part_options(config, name, part)
            plan_legal.attribute_tables(config, name)
        assert len(plan_report.headline_files(config, ["a"])) == 5
        assert plan_report.deliverables(config, ["a"])
        print({"torch", "transformers", "numpy", "pyarrow", "jinja2"} & {*sys.modules})
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=repository
    )
    assert done.stdout == "set()\n"


def test_models_are_scored_on_sets_of_their_language(here):
    models = {"zh": {"hub": "a", "language": "zh"}, "en": {"hub": "b", "language": "en"}}
    models["any"] = {"hub": "c"}
    sets = {
        "crows": {"format": "crows_pairs", "file": "c.csv", "language": "en"},
        "own": {"format": "crows_pairs", "file": "c.csv"},
        "slguset": {"format": "slguset", "edition": "slguset_published"},
        "waiting": {"format": "slguset"},
    }
    config = configured({"published": {"file": "s.csv"}}, models=models, stereotypes={"sets": sets})
    assert plan_stereotypes.pair_sets(config) == {
        "crows": ["any", "en"],
        "own": ["any", "en", "zh"],
        "slguset": ["any", "zh"],
    }
    files = plan_report.models_files(config)
    assert files["tables"] == [
        f"<results>/tables/pairs/{name}" for name in ("crows", "own", "slguset")
    ]
    assert len(files["gates"]) == 7
    assert "<results>/stereotypes/own/null/zh.parquet" in plan.other_files(config, [])


def test_a_set_may_wait_for_its_annotators(here):
    corpora, models = {"x": {"files": ["papers"]}}, {"m": {"hub": "a"}}
    sets = {"p": {"format": "slguset"}}
    config = configured({"corpora": corpora}, models=models, stereotypes={"sets": sets})
    plan.check_files(config)
    assert plan_stereotypes.pair_sets(config) == {}


def test_a_set_of_pairs_has_one_file(here):
    sets = {"a": {"format": "crows_pairs"}, "b": {"format": "slguset"}}
    sets["c"] = {"format": "stereoset", "source": "news"}
    config = configured({}, stereotypes={"sets": sets})
    with pytest.raises(InputError, match=r"sets\.a has no file and no source"):
        plan_stereotypes.pair_set_file(config, SOURCES, "a")
    assert (
        plan_stereotypes.pair_set_file(config, SOURCES, "b") == "<results>/slguset/slguset.parquet"
    )
    assert (
        plan_stereotypes.pair_set_file(config, SOURCES, "c") == "results/sources/news/news.txt.gz"
    )


def test_a_method_has_its_own_grid_where_it_names_one(here):
    Path("t.csv").write_text("x\n")
    loans = {"format": "table", "files": ["t.csv"], "label": "x", "attribute": "g"}
    tables = {"loans": loans, "empty": {"format": "adult"}}
    settings = {"datasets": tables, "methods": ["mlp", "alfr"], "lambdas": [1], "mus": [4]}
    settings |= {"grids": {"mlp": {"lambdas": [2, 3]}}, "official_split": ["loans"]}
    settings["eidig"] = {"seeds": 1, "tracks": ["base", "integers"]}
    config = configured({}, individual_fairness=settings)
    plan.check_files(config)
    assert plan_individual.training_options(config, "mlp")["lambdas"] == [2, 3]
    assert "mus" not in plan_individual.training_options(config, "mlp")
    assert plan_individual.training_options(config, "alfr")["lambdas"] == [1]
    assert plan_individual.training_options(config, "alfr")["mus"] == [4]
    assert plan_individual.training_modules(config, "alfr") == [
        "evenhand.learning.methods.alfr",
        "evenhand.learning.individual_losses.iifr_cosine",
        "evenhand.learning.individual_losses.none",
    ]
    runs = [
        Path(file).relative_to("<results>/tabular") for file in plan_individual.table_runs(config)
    ]
    assert [str(run) for run in runs if run.parts[0] == "loans"] == [
        "loans/runs/random/mlp.parquet",
        "loans/runs/random/alfr.parquet",
        "loans/runs/official/mlp.parquet",
        "loans/runs/eidig/base.parquet",
    ]
    assert "<results>/tabular/empty/runs/eidig/integers.parquet" in plan_individual.table_runs(
        config
    )
    for kind in ("groups", "predictions"):  # of each table of runs
        assert plan_individual.table_runs(config, kind) == [
            file.replace("/runs/", f"/{kind}/") for file in plan_individual.table_runs(config)
        ]
    assert "individual_fairness" in plan_report.page_inputs(config, ())
    assert plan_individual.table_files(config, SOURCES, "loans") == ["t.csv"]
    with pytest.raises(InputError, match=r"datasets\.empty names neither files nor sources"):
        plan_individual.table_files(config, SOURCES, "empty")
    settings["datasets"]["loans"]["files"] = ["gone.csv"]
    with pytest.raises(InputError, match=r"loans\.files\.0 is gone\.csv"):
        plan.check_files(configured({}, individual_fairness=settings))


def with_people(**settings: object) -> dict:
    return complete(people(**settings), read_schema(SCHEMA))


def test_a_method_is_told_what_it_makes_use_of_and_where_that_stands(here):
    config = with_people(grids={"mlp": {"lambdas": [2]}, "alfr": {"individual": ["none"]}})
    keys = {name: plan_individual.training_keys(config, name) for name in ("mlp", "alfr")}
    assert keys["mlp"]["lambdas"] == "individual_fairness.grids.mlp.lambdas"
    assert keys["mlp"]["epsilons"] == "individual_fairness.epsilons"
    assert keys["mlp"].keys() - keys["alfr"].keys() == {
        *("lambdas", "epsilons", "reduction", "epsilon_unit")
    }
    assert keys["alfr"].keys() - keys["mlp"].keys() == {"mus"}
    for name in ("majority", "mlp_without_attribute"):  # which take no individual loss
        options = plan_individual.training_options(config, name)
        assert options.keys() == {"individual", "seeds", "js_base", "predicted_seeds"}
        assert options["individual"] == ["none"]
    flips = with_people(individual=["iifr_counterfactual"])  # which has no threshold
    assert "epsilons" not in plan_individual.training_keys(flips, "mlp")
    assert plan_individual.training_options(config, "mlp", "official")["lambdas"] == [1]
    assert plan_individual.training_options(config, "mlp", "official")["epsilons"] == [0.8]
    assert "epsilons" not in plan_individual.training_options(flips, "mlp", "official")


def test_the_reasons_of_filters_are_those_that_their_modules_name(here):
    section = read_schema(SCHEMA)["properties"]["slguset"]["properties"]
    names = section["filters"]["items"]["enum"]
    for name in names:
        module = importlib.import_module(f"evenhand.slguset.filters.{name}")
        assert all(len(words) == 2 for words in module.REASONS.values())
        config = configured({"filters": [name]})
        reasons = plan_slguset.reasons(config)
        assert [*reasons] == [*module.REASONS, "near_duplicate"]
        assert "gender" not in str(module.REASONS) and "{" not in str(reasons.values())
    some = configured({"filters": ["biology", "names_jieba"]})
    assert [*plan_slguset.reasons(some)][:2] == ["biology", "name"]
    filters = {"pack": "resources/packs/zh_age", "filters": ["coreference", "names_listed"]}
    ages = plan_slguset.reasons(configured(filters))
    assert ages["coreference"][0] == "Another age term" and "whose age a" in ages["name"][1]
    titles = plan_report.reason_titles(some)
    assert next(iter(titles.items())) == ("reasons/biology", "Biological sex")
    assert titles["meanings/near_duplicate"].startswith("Another sentence that is kept")


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("evenhand.legal.formats", ("KIND", "TABLES", "OPTIONS")),
        ("evenhand.legal.attributes", ("TABLES",)),
        ("evenhand.report.headlines", ("FILES",)),
    ],
)
def test_what_the_plan_reads_off_a_plugin_is_what_it_says(package, names):
    for module in load_members(package):
        for name in {*names} & {*vars(module)}:  # TABLES and OPTIONS are optional
            read, value = declared(module.__name__, name), getattr(module, name)
            if isinstance(value, dict):
                assert read.keys() == value.keys()
            assert read == value or ... in read.values()


def test_what_the_plan_reads_off_a_method_or_a_loss_is_what_it_says():
    section = read_schema(SCHEMA)["properties"]["individual_fairness"]["properties"]
    for name in section["methods"]["items"]["enum"]:
        method = importlib.import_module(f"evenhand.learning.methods.{name}").METHOD
        read = declared(f"evenhand.learning.methods.{name}", "METHOD")
        assert read.get("takes_individual", True) == method.takes_individual
        assert ("adversary_loss" in read) == method.takes_mu
    for name in section["individual"]["items"]["enum"]:
        loss = importlib.import_module(f"evenhand.learning.individual_losses.{name}").LOSS
        read = declared(f"evenhand.learning.individual_losses.{name}", "LOSS")
        assert read.get("takes_epsilon", False) == loss.takes_epsilon
        assert (name == "none") == (loss.pairs is None)


def test_a_method_of_random_models_alone_has_no_effect(here):
    settings = {"methods": ["aul", "sss"], "null_methods": ["sss", "cps"], "null_seeds": 1}
    written = {"stereotypes": settings}
    with pytest.raises(InputError, match="null_methods has no effect, since cps is none of"):
        plan.check_effects(configured(**written), written)
    settings["null_methods"] = ["sss"]
    plan.check_effects(configured(**written), written)


@pytest.mark.parametrize(("settings", "faults"), CASES["a_key_that_no_training_sees_is_refused"])
def test_a_key_that_no_training_sees_is_refused(here, settings, faults):
    config = with_people(**settings)
    written = {"individual_fairness": settings}
    if not faults:
        plan.check_effects(config, written)
        return
    with pytest.raises(InputError) as caught:
        plan.check_effects(config, written)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(faults)
    assert all(any(fault in line for line in lines) for fault in faults)
    assert lines[-1].endswith("; remove what is not used.")
    config["individual_fairness"]["datasets"] = {}  # there is nothing to train
    plan.check_effects(config, written)


@pytest.mark.parametrize("row", ["my news,a.txt,,,CC0", "news,a b.txt,,,CC0", "a/b,c,,,CC0"])
def test_a_data_source_has_a_name_that_a_file_can_have(here, row):
    table = Path("sources.csv")
    table.write_text(f"name,file,sha256,url,licence\n1998.b-c,d.tar.gz,,,CC0\n{row}\n")
    with pytest.raises(InputError, match=r"sources\.csv:3: the (name|file) '.*' of a data source"):
        read_sources(table)
    table.write_text("name,file,sha256,url,licence\n1998.b-c,d.tar.gz,,,CC0\n")
    assert [*read_sources(table)] == ["1998.b-c"]


def test_pairs_of_ones_own_are_called_by_their_name(here):
    sets = {
        "ours": {"format": "crows_pairs", "file": "p.csv"},
        "named": {"format": "crows_pairs", "file": "p.csv", "title": "Our pairs"},
        "known": {"format": "crows_pairs", "source": "set"},
        "triples": {"format": "stereoset", "file": "p.json", "part": "intersentence"},
    }
    config = configured({}, stereotypes={"sets": sets})
    told = {name: plan_stereotypes.pair_set_options(config, name) for name in sets}
    assert {name: one["title"] for name, one in told.items()} == {
        **{"ours": "ours", "named": "Our pairs", "known": None, "triples": "triples"}
    }
    assert [name for name, one in told.items() if "part" in one] == ["triples"]


def test_a_configuration_is_checked_from_the_command_line(here, monkeypatch, capsys):
    (here / "good.yaml").write_text("predictions: {p: {format: lm_eval, files: [good.yaml]}}\n")
    (here / "bad.yaml").write_bytes(b"results: \xff\n")
    (here / "lost.yaml").write_text("slguset: {corpora: {x: {files: [gone]}}}\n")
    monkeypatch.setattr("sys.argv", ["plan", "--check", "good.yaml"])
    plan.main()
    monkeypatch.setattr("sys.argv", ["plan", "--check", "bad.yaml"])
    with pytest.raises(SystemExit) as caught:
        plan.main()
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("error: bad.yaml:1: is not UTF-8 but seems to be")
    monkeypatch.setattr("sys.argv", ["plan", "--check", "lost.yaml"])
    with pytest.raises(SystemExit):
        plan.main()
    assert capsys.readouterr().err.startswith("error: gone: corpus x: cannot be read (No such")


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize(
    ("changes", "problem", "of_header"),
    [
        ({}, None, True),
        ({"label": "promotd"}, "has no column 'promotd', which `label` names", True),
        ({"attribute": "team"}, "has no column 'team', which `attribute` names", True),
        ({"attribute": ["origin", "tem"]}, "has no column 'tem', which `attribute` names", True),
        ({"features": ["hours", "x"]}, "has no column 'x', which `features` names", True),
        ({"split": "part"}, "has no column 'part', which `split` names", True),
        ({"split": "origin"}, "the split origin has 'moon'; write train or test", False),
        ({"positive": "yes"}, "`positive` is yes, which is no value of promoted", True),
        (
            {"label": "origin", "attribute": "promoted"},
            "the label origin has 3 values (moon, north and south); it needs two",
            False,
        ),
        ({"attribute": "hours"}, "the attribute hours has 30 numbers in 30 rows", False),
    ],
)
def test_a_table_is_read_before_any_job(here, monkeypatch, changes, problem, of_header, is_large):
    rows = [f"{n},{['north', 'south', 'moon'][n % 3]},{n % 2}" for n in range(30)]
    Path("staff.csv").write_text("\n".join(["hours,origin,promoted", *rows]) + "\n")
    table = {"format": "table", "files": ["staff.csv"], "label": "promoted", "attribute": "origin"}
    config = {"individual_fairness": {"datasets": {"staff": table | changes}}}
    Path("config.yaml").write_text(json.dumps(config))
    if is_large:
        monkeypatch.setattr(plan_individual, "SMALL", 10)
    if problem and (of_header or not is_large):
        with pytest.raises(InputError, match=re.escape(problem)):
            plan.check_config(Path("config.yaml"))
    else:
        plan.check_config(Path("config.yaml"))


def biographies(here: Path, **label: object) -> dict:
    """A configuration with texts, and a linear classifier of them that is audited."""
    (here / "p.csv").write_text("bio,job,sex\n")
    how = {"language": "en", "text": "bio", "attributes": {"sex": {"column": "sex"}}}
    how |= {"label": {"column": "job"} | label, "audited": ["erm"]}
    linear = {"kind": "linear", "datasets": ["bios"], "objectives": ["erm"]}
    return {
        "text": {"datasets": {"bios": how | {"files": [str(here / "p.csv")]}}},
        "legal": {"classifiers": {"words": linear}},
    }


def test_an_unknown_group_of_audited_classifiers_is_named(here):
    written = biographies(here, task="multi_class")
    written["legal"]["classifiers"]["words"] |= {"objectives": ["group_dro"], "groups": ["gender"]}
    written["text"]["datasets"]["bios"]["audited"] = ["group_dro"]
    with pytest.raises(InputError, match=r"classifiers\.words\.groups .*gender.*label.*sex"):
        plan.checked(written)


@pytest.mark.parametrize(("change", "words"), CASES["declared_texts_are_read_before_any_job"])
@pytest.mark.parametrize("small", [1 << 20, 0])
def test_declared_texts_are_read_before_any_job(here, monkeypatch, change, words, small):
    monkeypatch.setattr(plan_legal, "SMALL", small)  # of a larger file less is checked
    written = biographies(here, task="multi_class")
    rows = [f"A life {n},{('cook', 'nurse')[n % 2]},{'fm'[n // 6]},{n},1,train,"
            f"{'held-out' if n > 8 else 'train'}" for n in range(12)]  # fmt: skip
    (here / "p.csv").write_text("\n".join(["bio,job,sex,number,one,part,fold", *rows]))
    (here / "cut").mkdir()
    (here / "cut/train.csv").write_bytes((here / "p.csv").read_bytes())
    (here / "cut/test.csv").write_text('bio,job,sex,number,one,part,fold\n"A li')
    bios = written["text"]["datasets"]["bios"]
    bios |= change | {"label": bios["label"] | change.get("label", {})}
    # columns, what the declaration shows, and the positive label
    early = ("which `", r"config: text\.", "is king")
    if words is None or (small == 0 and not any(part in words for part in early)):
        plan.checked(written, with_texts=True)
    else:
        with pytest.raises(InputError, match=words):
            plan.checked(written, with_texts=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"groups": ["gender"]}, "p.csv: has no column 'gender', which `predictions.m.groups` nam"),
        ({"probabilities": {"a": "p", "c": "q"}}, "^p.csv: y has b, for which `predictions.m.pro"),
        ({"probabilities": {"a": "p", "b": "r"}}, "^p.csv:2: has no row .*: .*do not sum to 1"),
        ({"positive": "c"}, "^p.csv: `predictions.m.positive` is c, which is no value of y; cho"),
        ({"positive": "b"}, None),
        ({"probabilities": {}, "prediction": "y"}, "^p.csv: y is named as `predictions.m.label`"),
    ],
)
@pytest.mark.parametrize("small", [1 << 20, 0])
def test_predictions_are_read_before_any_job(here, monkeypatch, change, words, small):
    monkeypatch.setattr(plan_predictions, "SMALL", small)
    entry = {"files": ["p.csv"], "label": "y", "probabilities": {"a": "p", "b": "q"}}
    written = {"predictions": {"m": entry | {"groups": ["sex"]} | change}}
    rows = [f"{'ab'[n % 2]},{'fm'[n // 6]},0.9,0.1,0.7" for n in range(12)]
    (here / "p.csv").write_text("\n".join(["y,sex,p,q,r", *rows]))
    (here / "config.yaml").write_text(json.dumps(written))
    if words is None or not (small or "no value" in words):
        plan.check_config(here / "config.yaml")
    else:
        with pytest.raises(InputError, match=words):
            plan.check_config(here / "config.yaml")


@pytest.mark.parametrize(
    ("of_texts", "name"), [(True, "p.csv"), (True, "p*.csv"), (False, "p.csv")]
)
def test_a_file_beside_the_configuration_is_found_from_another_folder(here, name, of_texts):
    (here / "text").mkdir()
    written = biographies(here / "text", task="multi_class")
    written["text"]["datasets"]["bios"]["files"] = [name]
    entry = {"files": [name], "label": "job", "prediction": "job", "groups": ["sex"]}
    written = written if of_texts else {"predictions": {"mine": entry}}
    Path("text/config.yaml").write_text(json.dumps(written))
    words = "no such file or folder; it is in text/, beside the configuration: run it there, or "
    with pytest.raises(InputError, match=re.escape(f"{words}write text/{name}.")):
        plan.check_config(Path("text/config.yaml"))
    Path("text/p.csv").unlink()
    with pytest.raises(InputError, match=r"no such file or folder; (name a file|check the path)"):
        plan.check_config(Path("text/config.yaml"))


@pytest.mark.parametrize(("overlapping", "names", "hint"), CASES["unknown_attribute"])
def test_an_unknown_attribute_of_columns_has_the_names_of_its_groups(
    here, overlapping, names, hint
):
    written = biographies(here, task="binary")
    who = {"columns": ["who_rural", "who_poor"], "overlapping": overlapping}
    written["text"]["datasets"]["bios"]["attributes"] = {"who": who}
    written["legal"]["classifiers"]["words"] |= {"objectives": ["group_dro"], "attributes": names}
    with pytest.raises(InputError, match=hint):
        plan.checked(written)
    (here / "p.csv").write_text("bio,job,sex\nA life,cook,f\n")
    with pytest.raises(InputError, match=r"p\.csv: has no column 'who_rural', which .*\.who"):
        plan.checked(written, with_texts=True)  # the cause


def test_languages_of_two_and_of_three_letters_are_read(here):
    for code in ("fr", "gsw", "he", None):
        written = biographies(here, task="binary")
        written["text"]["datasets"]["bios"]["language"] = code
        assert plan.checked(written)[0]["legal"]["datasets"]["bios"]


def test_counterfactuals_of_texts_without_a_language_are_refused(here):
    written = biographies(here, task="binary")
    written["text"]["datasets"]["bios"]["language"] = None
    written["legal"]["classifiers"]["words"]["counterfactuals"] = True
    with pytest.raises(InputError, match=r"lists the words of gender \(it has no language in "):
        plan.checked(written)


def test_keys_of_the_other_section_are_pointed_out(here):
    written = biographies(here, task="multi_class")
    written["text"]["datasets"]["bios"]["kind"] = "ecthr"
    with pytest.raises(
        InputError, match=r"text\.datasets\.bios\.kind is a key of `legal.datasets`"
    ):
        plan.checked(written)
    for entry, words in (
        ({"kind": "mine", "parts": {}}, "scotus; declare texts of your own under `text.datasets`"),
        ({"files": ["p.csv"]}, r"x\.files is a key of the data sets of `text.datasets`; decl"),
    ):
        with pytest.raises(InputError, match=words):
            plan.checked({"legal": {"datasets": {"x": entry}}})


def test_labels_may_be_numbers(here):
    written = biographies(here, task="multi_class", labels=[0, 1.0, "2", "none"])
    config, *_ = plan.checked(written)
    declared = json.loads(config["legal"]["datasets"]["bios"]["declaration"])
    assert declared["label"]["labels"] == ["0", "1", "2", "none"]
    with pytest.raises(InputError, match=r"label\.labels names a label twice: 1, 1"):
        plan.checked(biographies(here, task="binary", labels=[1, "1"]))


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "split",
            {"shares": [0.5, 0.3, 0.3]},
            r"split\.shares is \[0\.5, 0\.3, 0\.3\], which sums",
        ),
        ("language", "English", r'language is "English"; .*a code of ISO 639, such as en'),
        ("language", "xx", "language is xx, which is no code of ISO 639; write a code of two let"),
    ],
)
def test_shares_and_languages_are_refused_by_their_key(here, key, value, words):
    written = biographies(here, task="binary")
    written["text"]["datasets"]["bios"][key] = value
    with pytest.raises(InputError, match=rf"^config: text\.datasets\.bios\.{words}"):
        plan.checked(written)


@pytest.mark.parametrize("place", ["label", "attribute", "table", "predictions"])
def test_borders_that_do_not_ascend_are_refused(here, place):
    bins = {"bins": {"age": [50, 30]}}
    config = {
        "label": biographies(here, task="binary", bins=[50, 30]),
        "attribute": biographies(here, task="binary"),
        "table": people(),
        "predictions": {"predictions": {"p": {"files": ["p.csv"]} | bins}},
    }[place]
    if place == "attribute":
        config["text"]["datasets"]["bios"]["attributes"]["sex"]["bins"] = [50, 30]
    if place == "table":
        config["individual_fairness"]["datasets"]["t"] |= bins
    with pytest.raises(
        InputError,
        match=r"^config: \S+ is \[50, 30\], which does not ascend; write \[30, 50\]; every",
    ):
        plan.checked(config)


@pytest.mark.parametrize(("value", "label"), [(1, "1"), (1.0, "1"), ("yes", "yes"), (None, None)])
def test_a_positive_label_without_quotes_is_text(value, label, here):
    expanded, *_ = plan.checked(biographies(here, task="binary", positive=value))
    (entry,) = expanded["predictions"].values()
    assert entry["positive"] == label


def test_a_positive_label_without_an_audit_names_the_objective_to_audit(here):
    written = biographies(here, task="binary", positive="cook")
    del written["text"]["datasets"]["bios"]["audited"]
    written["legal"]["classifiers"]["words"]["objectives"] = ["group_dro"]
    words = r"no classifier of bios is audited \(to audit one, write `audited: \[group_dro\]`, or "
    with pytest.raises(InputError, match=words):
        plan.check_effects(plan.checked(written)[0], written)
    del written["legal"]
    plan.check_effects(plan.checked(written)[0], written)


def test_the_positive_label_is_checked_where_no_classifier_is_declared(here):
    written = biographies(here, task="binary", positive="cook")
    del written["legal"]
    rows = [f"A life {n},{('cook', 'nurse')[n % 2]},{'fm'[n // 6]}" for n in range(12)]
    (here / "p.csv").write_text("\n".join(["bio,job,sex", *rows]))
    plan.check_effects(plan.checked(written, with_texts=True)[0], written)
    written["text"]["datasets"]["bios"]["label"]["positive"] = "king"
    with pytest.raises(InputError, match="is king"):
        plan.checked(written, with_texts=True)


def test_the_errors_of_a_run_are_sentences_and_defects_too(tmp_path):
    border = "=" * 80
    trace = ["Traceback (most recent call last):", '  File "a.py", line 1', "KeyError: 'x'"]
    log = tmp_path / "run.log"
    user = [f"Logfile logs/read.log:\n{border}", "error: a.csv: is empty.", border]
    defects = [f"Logfile logs/{name}.log:\n{border}\n" + "\n".join(trace) for name in "ab"]
    log.write_text("\n".join([*user, f"{defects[0]}\n{border}", f"{defects[1]}\n{border}", "end"]))
    words = plan.errors_in([str(log), "no.log"]).splitlines()
    assert words == [
        "error: 2 jobs failed by a defect of Evenhand (KeyError: 'x'); report it with the log"
        " logs/a.log.",
        "error: a.csv: is empty.",
    ]
    stopped = f"Logfile c.log:\n{border}\n{trace[0]}\nKeyboardInterrupt\n{border}"
    log.write_text("\n".join([*user, *user, stopped]))
    assert plan.errors_in([str(log)]) == "error: a.csv: is empty."


def test_the_main_findings_and_the_path_of_the_report_are_printed_where_there_is_one(tmp_path):
    config = {"results": str(tmp_path)}
    assert plan.summary(config) == ""
    page = tmp_path / "report" / "index.html"
    page.parent.mkdir()
    page.write_text("<p>no findings</p>", encoding="utf-8")
    assert plan.summary(config) == f"The report: {page.resolve()}"
    page.write_text('<script id="findings">["1 < 2","b"]</script><script></script>')
    assert plan.summary(config) == f"- 1 < 2\n- b\nThe report: {page.resolve()}"
