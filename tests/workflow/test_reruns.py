"""What reruns after a change, and what does not, on the real workflow with a part of the demo.

Most tests look at a dry run of a copy that is up to date. What should run is said as "these
rules, and all that depends on them": `below` reads what depends from Snakemake's own plan of
a forced run.
"""

import json
import os
import shutil
from collections import defaultdict

import pytest

from harness import Checkout, Job

FILTERS = ("names_jieba", "pair_fit", "coreference", "biology")
LIBRARY = "workflow/evenhand"


class Graph:
    """All jobs of the workflow, and which need which."""

    def __init__(self, jobs: list[dict]) -> None:
        self.jobs = {self.name(job): job for job in jobs}
        self.makers = {file: name for name, job in self.jobs.items() for file in job["outputs"]}
        self.users = defaultdict(set)
        for name, job in self.jobs.items():
            for file in job["inputs"]:
                if file in self.makers:
                    self.users[self.makers[file]].add(name)

    @staticmethod
    def name(job: dict) -> Job:
        return Job(job["rule"], tuple(sorted(job["wildcards"].items())))

    def below(self, first: set[Job]) -> list[Job]:
        """These jobs and all that depend on them."""
        found, waiting = set(), list(first)
        while waiting:
            job = waiting.pop()
            if job not in found:
                found.add(job)
                waiting += self.users[job]
        return sorted(found)

    def page(self, name: str) -> set[Job]:
        found = {job for job in self.jobs if ("page", name) in job.wildcards}
        assert len(found) == 1
        return found

    def of_rules(self, *rules: str) -> set[Job]:
        found = {job for job in self.jobs if job.rule in rules}
        assert {job.rule for job in found} == set(rules)
        return found

    def readers(self, file: str) -> set[Job]:
        return {name for name, job in self.jobs.items() if file in job["inputs"]}


@pytest.fixture(scope="session")
def graph(demo_template) -> Graph:
    return Graph(demo_template.planned("--forceall"))


def test_a_finished_run_leaves_nothing_to_do(demo_template):
    assert demo_template.plan() == []
    assert demo_template.why() == ["Nothing would run."]


# code


def using(checkout: Checkout, graph: Graph, part: str, name: str) -> set[Job]:
    """The jobs whose code holds this module or package, as they themselves recorded it."""
    found = set()
    for path in paths(checkout, "results/.evenhand/records"):
        record = json.loads(checkout.read(path))
        manifest = json.loads(checkout.read(f"results/.evenhand/code/{record['code']}.json"))
        if name in manifest[part]:
            found |= {graph.makers[one["file"]] for one in record["outputs"].values()}
    return found


def paths(checkout: Checkout, folder: str) -> list[str]:
    found = sorted((checkout.root / folder).glob("*.json"))
    assert found
    return [path.relative_to(checkout.root).as_posix() for path in found]


def changed_jobs(checkout: Checkout) -> tuple[list[Job], set[Job]]:
    """The jobs of the plan, and those among them whose own parameters changed.

    The second set tells the effects of several edits apart, of which one plan is made.
    """
    planned = checkout.planned()
    changed = {
        Graph.name(job)
        for job in planned
        if job["params_before"] or job["params_now"] or not job["recorded"]
    }
    return sorted(map(Graph.name, planned)), changed


def union(sets: list[set[Job]]) -> set[Job]:
    """All jobs of the sets, each of which has a job that no other has."""
    for place, one in enumerate(sets):
        assert one - set().union(*sets[:place], *sets[place + 1 :])
    return set().union(*sets)


def rewrite(demo: Checkout, name: str, content: bytes) -> None:
    """Other content under the same name, with the time stamps of the former."""
    path = demo.root / name
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


MODULES = {
    **{f"slguset/filters/{name}": {"apply_filters"} for name in FILTERS},
    "stereotypes/sets/crows_pairs": {"read_pairs"},
    "stereotypes/sets/stereoset": set(),  # no set of this form is named
    "stereotypes/tables/length": {"tabulate_pairs"},
    "metrics/roc": {"tabulate_pairs"},
    "slguset/score_bias": {"score_bias"},
    "legal/formats/swiss_judgment": {"read_cases"},
    "legal/formats/hudoc_text": set(),
    "legal/attributes/legal_area": {"find_attributes"},
    "legal/attributes/applicant_age": set(),
    "legal/case_tables/shift": {"tabulate_cases"},
    "individual/tables/pareto_fronts": {"tabulate_individual"},
}


def test_each_module_is_in_the_code_of_the_jobs_that_run_it(demo_template, graph):
    """What is in the code of a job reruns it: the next tests, and that the digests agree."""
    for module, rules in MODULES.items():
        users = using(demo_template, graph, "modules", f"evenhand.{module.replace('/', '.')}")
        assert graph.below(users) == graph.below(graph.of_rules(*rules)), module
    importers = using(demo_template, graph, "modules", "evenhand.slguset.verdicts")
    rules = {job.rule for job in importers}
    assert "apply_filters" in rules and "extract_sentences" not in rules


def test_editing_modules_and_user_files_reruns_the_jobs_that_use_them(demo, graph):
    modules = [name for name, rules in MODULES.items() if rules]
    modules = [name for name in modules if "filters" not in name and name != "metrics/roc"]
    modules += ["learning/methods/majority", "slguset/verdicts"]
    users = []
    for module in modules:
        demo.append(f"{LIBRARY}/{module}.py", "\n\ndef added():\n    return 1\n")
        users.append(using(demo, graph, "modules", f"evenhand.{module.replace('/', '.')}"))
    trainings = graph.of_rules("train_table")
    first = {job for job in trainings if dict(job.wildcards)["method"] == "majority"}
    assert 0 < len(first) < len(trainings) and users[-2] == first
    # a template
    demo.append(f"{LIBRARY}/report/templates/slguset_funnel.html", "<!-- edited -->")
    users.append(graph.page("slguset"))
    # one of several weights of a model
    name = "mine/tiny-en/model.safetensors"
    content = bytearray((demo.root / name).read_bytes())
    content[-1] ^= 1
    rewrite(demo, name, bytes(content))
    users.append(graph.readers("mine/tiny-en"))
    assert {job.rule for job in users[-1]} == {"score_pairs"}
    # a file of other content and an older time
    lines = demo.read("mine/loans.csv").splitlines(keepends=True)
    demo.write("mine/loans_v2.csv", "".join(lines[:-1]))
    os.utime(demo.root / "mine/loans_v2.csv", (1e9, 1e9))
    (demo.root / "mine/loans_v2.csv").replace(demo.root / "mine/loans.csv")
    users.append(graph.of_rules("prepare_table"))
    # the roles of results
    for old, new in (("people", "swapped"), ("meta", "people"), ("swapped", "meta")):
        demo.edit(f"{LIBRARY}/plan_individual.py", f'"{old}": [', f'"{new}": [')
    users.append({job for job in graph.jobs if ("explorer", "people") in job.wildcards})
    expected = union(users)
    plan, changed = changed_jobs(demo)
    assert changed == expected
    assert plan == graph.below(expected)
    assert any("the content of mine/tiny-en changed" in line for line in demo.why())


def test_what_the_code_does_not_notice_reruns_nothing(demo):
    for path in sorted((demo.root / LIBRARY).rglob("*.py")):
        name = path.relative_to(demo.root).as_posix()
        if text := demo.read(name):
            assert text.removeprefix("r").startswith('"""'), name
            demo.write(name, '"""Another docstring."""\n# a comment\n' + text.split('"""', 2)[2])
    assert demo.plan() == []


def test_what_no_job_uses_reruns_nothing(demo):
    for module in (name for name, rules in MODULES.items() if not rules):
        demo.append(f"{LIBRARY}/{module}.py", "\n\ndef added():\n    return 1\n")
    demo.write(f"{LIBRARY}/slguset/filters/unused.py", "import torch\n\n\ndef unused(): ...\n")
    demo.write(f"{LIBRARY}/report/templates/unused.html", "<p>unused</p>")
    demo.edit("requirements/requirements.lock", "\npulp==", "\npulp==99.")
    off = "offline: false\ncache: {enabled: false}\nscoring: {device: cuda:7}"
    demo.edit("config/small.yaml", "offline: true", off)
    # a folder of results that holds other work is not replaced
    sheets = demo.root / "results/slguset/annotation/first/sheets"
    first, second = sorted(sheets.glob("*.csv"))[:2]
    first.unlink()
    second.write_text("filled in")
    # a time stamp alone
    for folder in ("mine", "resources", "config", "workflow"):
        for path in [demo.root / folder, *(demo.root / folder).rglob("*")]:
            os.utime(path)
    assert demo.plan() == []


@pytest.mark.parametrize(  # the last is imported by another name
    "packages", [("rjieba", "torch"), ("openpyxl", "tokenizers"), ("python-dateutil",)]
)
def test_another_locked_version_reruns_the_stages_that_use_it(demo, graph, packages):
    users = []
    for package in packages:
        users.append(using(demo, graph, "packages", package))
        lock = "requirements/torch.txt" if package == "torch" else "requirements/requirements.lock"
        demo.edit(lock, f"{package}==", f"{package}==99.")
    expected = union(users)
    assert len(expected) < len(graph.jobs)
    plan, changed = changed_jobs(demo)
    assert changed == expected
    assert plan == graph.below(expected)


def test_jobs_and_the_main_process_agree_on_the_digest(demo_template):
    """The stage computes it in its own process; Snakemake recorded the main process's."""
    of_jobs = defaultdict(set)  # a stage has a digest for each plugin that it runs with
    for path in paths(demo_template, "results/.evenhand/records"):
        record = json.loads(demo_template.read(path))
        of_jobs[record["stage"]].add(record["code"])
    of_main = defaultdict(set)
    for path in (demo_template.root / ".snakemake" / "metadata").rglob("*"):
        if path.is_file():
            for param in json.loads(path.read_text(encoding="utf-8"))["params"]:
                if "@" in param and param.startswith("'evenhand."):
                    stage, digest = param.strip("'").split("@")
                    of_main[stage.split("+")[0]].add(digest)
    assert len(of_jobs) > 15
    assert of_jobs == of_main


# tables, configuration, corpora


def test_editing_tables_reruns_their_readers(demo, graph):
    for name in ("biology", "coreference", "keyword_words", "surnames"):
        readers = graph.readers(f"resources/packs/zh_gender/{name}.csv")
        assert readers and {job.rule for job in readers} == {"apply_filters"}
    cantons = "resources/legal/swiss_canton_names.csv"
    assert {job.rule for job in graph.readers(cantons)} == {"find_attributes"}
    demo.append("resources/packs/zh_gender/surnames.csv", "\n")
    demo.append(cantons, "Neuland,ZH,\n")
    part = "mine/more/second.jsonl"  # in a folder
    rewrite(demo, part, (demo.root / part).read_bytes().replace(b" de ", b" du ", 1))
    expected = union([readers, graph.readers(cantons), graph.of_rules("read_cases")])
    plan, changed = changed_jobs(demo)
    assert changed == expected
    assert plan == graph.below(expected)


@pytest.mark.parametrize(
    "edits",
    [
        [
            ("slguset:\n", "slguset:\n  find_keywords: {max_length: 80}\n", {"apply_filters"}),
            ("delta: 4", "delta: 3", {"tabulate_pairs", "tabulate_individual"}),
            ("slguset:\n", "bias: {log_base: 2}\nslguset:\n", {"score_bias"}),
            ("steps: 3", "steps: 4", {"train_language_model"}),
            ("null_seeds: 3", "null_seeds: 4", {"score_pairs"}),
            ("sentences_per_pair: 4", "sentences_per_pair: 2", {"draw_annotation"}),
            # a card names the files in their order, too
            (
                "mine/cases.jsonl, mine/more",
                "mine/more, mine/cases.jsonl",
                {"read_cases", "write_legal_cards"},
            ),
        ],
        [
            ("slguset:\n", "slguset:\n  names: {familiar: keep}\n", {"apply_filters"}),
            ("null_seeds: 3", "null_seeds: 3\n  shuffle: false", {"score_pairs"}),
        ],
    ],
    ids=["first", "second"],
)
def test_editing_keys_reruns_their_readers(demo, graph, edits):
    for old, new, _ in edits:
        demo.edit("config/small.yaml", old, new)
    expected = union([graph.of_rules(*rules) for *_, rules in edits])
    if any(old.startswith("delta") for old, *_ in edits):
        judging = {"index", "individual_fairness", "reproduction"}  # a share of decisions
        pages = graph.of_rules("write_page")
        expected |= {job for job in pages if dict(job.wildcards)["page"] in judging}
    plan, changed = changed_jobs(demo)
    assert changed == expected
    assert plan == graph.below(expected)


def test_files_that_come_into_folders_run_their_shard_and_their_part(demo, graph):
    (demo.root / "mine/more/second.jsonl").rename(demo.root / "mine/more/third.jsonl")
    text = demo.read("resources/demo/newspapers/chenhe/2024-01.txt")
    demo.write("resources/demo/newspapers/chenhe/2024-05.txt", text)
    plan = demo.plan()
    extracted = {job for job in plan if job.rule == "extract_sentences"}
    assert len(extracted) == 1
    (shard,) = {dict(job.wildcards)["shard"] for job in extracted}
    of_shards = {job for job in plan if "shard" in dict(job.wildcards)}
    assert {dict(job.wildcards)["shard"] for job in of_shards} == {shard}
    assert {job.rule for job in of_shards} == {"extract_sentences", "apply_filters"}
    assert set(plan) - of_shards == set(graph.below(graph.of_rules("merge_candidates"))) | set(
        graph.below(graph.of_rules("train_language_model", "count_funnel", "read_cases"))
    )


def test_a_file_that_is_not_read_is_told_in_the_quarantine_and_on_the_page(demo, graph):
    demo.write("resources/demo/newspapers/chenhe/scan.pdf", "%PDF")
    demo.write("resources/demo/newspapers/chenhe/.notes.txt", "妈妈说好。")
    assert demo.plan() == graph.below(graph.of_rules("count_funnel"))
    targets = ("results/tables/corpus", "results/report/slguset.html")
    done = demo.run(*targets)
    assert "not read: resources/demo/newspapers/chenhe/scan.pdf (its suffix" in done.output
    table = demo.read("results/tables/corpus/quarantine.csv")
    for reason, name in (("unknown_format", "scan.pdf"), ("hidden_file", ".notes.txt")):
        assert f"\n{reason},resources/demo/newspapers/chenhe/{name},,file," in table
        assert name in demo.read("results/report/slguset.html")
    assert demo.plan(*targets) == []


def test_a_wrong_key_stops_the_run_before_any_job(demo):
    demo.edit("config/small.yaml", "delta", "delt")
    run = demo.run(check=False)
    assert run.returncode == 1 and run.jobs == []
    assert "there is no key inference.delt, did you mean delta?" in run.output
    assert "Traceback" not in run.output


# deliverables

DELIVERABLES = [
    "provenance.json",
    "provenance.csv",
    "tables/corpus/quarantine.csv",
    "slguset_published/slguset.parquet",
    "slguset_published/problems.csv",
    "slguset_published/README.md",
    "tables/pairs/pairs/bias_scores.csv",
    "tables/pairs/pairs/datapackage.json",
    "stereotypes/pairs/tokens/tiny-en.parquet",
    "tabular/loans/predictions/random/mlp.parquet",
    "legal/swiss/swiss.parquet",
    "legal/swiss/splits.parquet",
    "legal/swiss/README.md",
    "report/tables/corpus_funnel.tex",
    "models/tiny/config.json",
]


#: Folders that are outputs: some are deleted, the others emptied.
DELETED, EMPTIED = ["report/sentences", "tables/pairs/pairs"], ["report/tables", "tables/corpus"]


def test_each_deliverable_that_is_deleted_comes_back(demo):
    before = demo.results()
    deleted = [name for name in DELIVERABLES if name in before]
    assert len(deleted) > 10
    for name in deleted:
        (demo.root / "results" / name).unlink()
    for name in DELETED + EMPTIED:
        shutil.rmtree(demo.root / "results" / name)
    for name in EMPTIED:
        (demo.root / "results" / name).mkdir()
    run = demo.run()
    assert demo.results() == before
    assert all(job.served for job in run.jobs)


def test_a_source_is_fetched_once(demo):
    pairs, source = "resources/demo/stereotypes/pairs.csv", "results/sources/mine/pairs.csv"
    demo.write("../mirror/pairs.csv", demo.read(pairs))
    demo.write("sources.csv", "name,file,sha256,url,licence\nmine,pairs.csv,,,CC0\n")
    keys = "offline: true\nsources: sources.csv\nmirror: ../mirror"
    demo.edit("config/small.yaml", "offline: true", keys)
    demo.edit("config/small.yaml", f"file: {pairs}", "source: mine")
    assert demo.run(source).rules == ["fetch_source"]
    assert demo.plan(source) == []


def test_results_without_the_records_of_their_runs_are_made_again(demo, graph):
    records = demo.root / "results/.evenhand/records"
    records.rename(demo.root / "records")  # the stages' own: provenance is made of them
    assert len(demo.plan()) == len(graph.jobs)
    (demo.root / "records").rename(records)
    # a folder that lost a file together with the list of its files
    shutil.rmtree(records.parent / "folders")
    assert demo.plan()
    (demo.root / "results").rename(demo.root / "moved")  # away from those of Snakemake
    demo.edit("config/small.yaml", "results: results", "results: moved")
    assert len(demo.plan()) == len(graph.jobs)


def test_an_edited_result_is_listed_and_restored(demo):
    page = demo.root / "results/report/index.html"
    before = page.read_text(encoding="utf-8")
    page.write_text(before + "<!-- by hand -->", encoding="utf-8")
    checked = demo.shell("python -m evenhand.core.verify || echo exit $?").stdout.splitlines()
    assert checked[0] == "results/report/index.html: differs from its record"
    assert checked[-1] == "exit 1"
    restored = demo.shell("python -m evenhand.core.verify --restore").stdout.splitlines()
    assert restored[0] == "results/report/index.html: restored"
    assert page.read_text(encoding="utf-8") == before
    assert "0 differ, 0 missing" in demo.shell("python -m evenhand.core.verify").stdout


# the run cache


def test_a_changed_stage_with_the_same_output_lets_the_later_ones_be_served(demo, graph):
    before = demo.results()
    changed = {"merge_candidates", "import_published"}
    for rule in changed:
        demo.append(f"{LIBRARY}/slguset/{rule}.py", "\n\ndef added():\n    return 1\n")
    run = demo.run()
    assert run.jobs == graph.below(graph.of_rules(*changed))
    later = {
        dict(job.wildcards).get("page", job.rule): job.served
        for job in run.jobs
        if job.rule not in changed
    }
    traced = {
        "collect_provenance",
        "export_tables",
        *("index", "provenance", "slguset", "language_models"),
    }  # they have the code that made the results
    assert {rule for rule, served in later.items() if not served} <= traced
    assert {"draw_annotation", "apply_filters", "score_bias"} <= later.keys()
    assert not any(job.served for job in run.jobs if job.rule in changed)
    after = demo.results()
    assert {name for name in before if before[name] != after[name]} <= {
        *("provenance.json", "provenance.csv", "report/provenance.html"),
        *(f"report/tables/provenance.{form}" for form in ("csv", "tex", "md")),
    }


@pytest.mark.parametrize("beside", ["results", "cache"])
def test_a_fresh_clone_recomputes_nothing(demo_template, tmp_path, beside):
    """Beside copied results, and beside a cache alone that clones share."""
    clone = demo_template.clone(tmp_path / "clone", "mine", *["results"] * (beside == "results"))
    if beside == "cache":
        shared = tmp_path / "shared"
        shutil.copytree(demo_template.root / "results/.evenhand/cache", shared)
        keys = f"offline: true\ncache: {{folder: {shared}}}"
        clone.edit("config/small.yaml", "offline: true", keys)
    tables = ("tables/pairs/pairs", "tables/individual", "tables/cases/swiss")
    run = clone.run("results/slguset/candidates.parquet", *(f"results/{one}" for one in tables))
    assert len(run.jobs) > 15
    assert all(job.served for job in run.jobs)
    found, before = clone.results(), demo_template.results()
    assert found.items() <= before.items() and (beside == "cache" or len(found) == len(before))


# the same bytes


def test_one_core_gives_the_same_bytes_as_four(demo_template, tmp_path):
    clone = demo_template.clone(tmp_path / "clone", "mine")
    clone.edit("config/small.yaml", "offline: true", "offline: true\ncache: {enabled: false}")
    clone.server = (1,)  # with other hashes, of which the order of sets depends
    run = clone.run(cores=1)
    assert not any(job.served for job in run.jobs)
    assert not (clone.root / "results" / ".evenhand" / "cache").exists()
    assert clone.results() == demo_template.results()


def test_any_shard_size_gives_the_same_bytes(demo, demo_template):
    demo.edit("config/small.yaml", "shard_megabytes: 0.02", "shard_megabytes: 100")
    run = demo.run("results/slguset/candidates.parquet", "results/tables/corpus")
    assert run.rules.count("extract_sentences") == 1  # files are read together
    made = {job.rule for job in run.jobs if not job.served}
    assert {"extract_sentences", "apply_filters", "merge_candidates", "count_funnel"} <= made
    jobs = demo_template.planned("--forceall")
    cuts = [job for job in jobs if job["rule"] == "extract_sentences"]
    files = [file for job in cuts for file in job["inputs"]]
    assert len(cuts) > 1 and any(files.count(file) > 1 for file in files)  # a file is cut
    found = {
        name: digest
        for name, digest in demo.results().items()
        if name.startswith(("slguset/candidates", "tables/corpus"))
    }
    tables = ("candidates.parquet", "datapackage.json", "funnel.csv", "quarantine.csv")
    assert {name.rpartition("/")[2] for name in found} == {*tables, ".snakemake_timestamp"}
    assert found.items() <= demo_template.results().items()
