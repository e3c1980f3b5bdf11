"""The page of the run, of benchmarks as Snakemake writes them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InputError
from evenhand.report.render import duration
from evenhand.report.sections.run import describe_run, read_jobs
from evenhand.report.write_run_page import write_run_page
from unit.report import checks

HOSTILE = "<script>alert(1)<_script>"


def write(folder: Path, job: str, seconds: float, served: bool | None = None, **extra: Any) -> None:
    line = {"s": seconds, "h:m:s": "0:00:00", "max_rss": 100.0, "cpu_time": seconds / 2} | extra
    path = folder / "benchmarks" / f"{job}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    if served is not None:
        log = folder / "logs" / f"{job}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        words = "served from the run cache (0123456789abcdef)\n" if served else "a warning\n"
        log.write_text(words, encoding="utf-8")


@pytest.fixture
def run(tmp_path) -> Path:
    """Three rules: one with a served job, one that asked for memory, one too quick to be seen."""
    write(tmp_path, "score_pairs/demo/a", 60.0, served=False)
    write(tmp_path, "score_pairs/demo/b", 0.5, served=True)
    asked = {"resources": {"mem_mb": 1000, "tmpdir": "/tmp/x"}, "threads": 2}
    write(tmp_path, "train_table/mlp", 10.0, served=False, max_rss=1000.0, **asked)
    write(tmp_path, "write_card/all", 0.2, served=False, max_rss="NA", cpu_time="NA")
    return tmp_path


def jobs_of(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    jobs = read_jobs(folder / "benchmarks", folder / "logs")
    return {(job["rule"], job["job"]): job for job in jobs}


def page(templates: list[Path], folder: Path, **options: Any) -> Path:
    out = folder / "run.html"
    folders = {"benchmarks": folder / "benchmarks", "logs": folder / "logs"}
    jobs = folder / "run.csv"
    write_run_page(templates=templates, out=out, jobs_out=jobs, **(folders | options))
    return out


def test_each_job_is_read_with_what_is_known_of_it(run):
    jobs = jobs_of(run)
    assert list(jobs) == [
        ("score_pairs", "demo/a"), ("score_pairs", "demo/b"),
        ("train_table", "mlp"), ("write_card", "all"),
    ]  # fmt: skip
    trained = jobs["train_table", "mlp"]
    assert trained["memory"] == pytest.approx(1048.576)  # Snakemake's MB are MiB
    assert (trained["asked"], trained["threads"], trained["cpu_seconds"]) == (1000, 2, 5)
    assert [job["served"] for job in jobs.values()] == [False, True, False, False]
    quick = jobs["write_card", "all"]
    assert (quick["seconds"], quick["memory"], quick["cpu_seconds"]) == (0.2, None, None)
    write(run, "write_card/all", 0.4, max_rss=4.0, cpu_time=0.0)  # only the shell was seen
    quick = jobs_of(run)["write_card", "all"]
    assert (quick["seconds"], quick["memory"], quick["cpu_seconds"]) == (0.4, None, None)
    assert jobs["score_pairs", "demo/a"]["asked"] is None


def test_rules_are_added_up_and_the_slowest_come_first(run):
    described = describe_run(list(jobs_of(run).values()))
    assert [rule["rule"] for rule in described["rules"]] == [
        "score_pairs", "train_table", "write_card",
    ]  # fmt: skip
    pairs = described["rules"][0]
    assert (pairs["jobs"], pairs["served"], pairs["longest"]) == (2, 1, 60)
    assert (pairs["seconds"], pairs["cpu_seconds"], pairs["share"]) == (60.5, 30.25, None)
    totals = described["totals"]
    assert (totals["jobs"], totals["rules"], totals["served"], totals["unknown"]) == (4, 3, 1, 1)
    assert totals["seconds"] == pytest.approx(70.7)
    assert [job["job"] for job in described["slowest"]] == ["demo/a", "mlp", "demo/b", "all"]
    assert [job["job"] for job in described["fullest"]] == ["mlp"]
    assert described["fullest"][0]["share"] == pytest.approx(1.048576)


def test_a_repeated_benchmark_counts_with_all_its_lines(run):
    path = run / "benchmarks/train_table/mlp.jsonl"
    path.write_text(path.read_text() * 2, encoding="utf-8")
    job = jobs_of(run)["train_table", "mlp"]
    assert (job["seconds"], job["cpu_seconds"]) == (20, 10)
    assert job["memory"] == pytest.approx(1048.576)


def test_each_job_is_a_row_of_the_table_beside_the_page(templates, run):
    page(templates, run)
    with (run / "run.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = {row.pop("job"): row for row in csv.DictReader(stream)}
    assert list(rows) == ["demo/a", "demo/b", "mlp", "all"]
    assert rows["demo/b"]["served"] == "true" and rows["demo/a"]["served"] == "false"
    assert (rows["mlp"]["memory_mb"], rows["mlp"]["asked_mb"]) == ("1048.576", "1000.0")
    assert rows["mlp"]["seconds"] == "10.0" and rows["all"]["memory_mb"] == ""


def test_the_page_tells_times_memory_and_versions(templates, run):
    provenance = run / "provenance.json"
    files = [{"packages": {"numpy": "2.4"}}, {"packages": None}, {"packages": {"numpy": "2.5"}}]
    provenance.write_text(json.dumps({"files": files}), encoding="utf-8")
    html = page(templates, run, provenance=provenance, snakemake="9.9.9")
    tree = checks.parse(html)
    checks.check_no_request(tree)
    text = " ".join(tree.body.text().split())
    assert "4 jobs of 3 rules took 1 min 11 s" in text
    assert "(1 of these jobs was)" in text and "1 job was over" in text
    row = tree.css("#rules tbody tr")[1]
    assert [cell.text() for cell in row.css("th, td")] == [
        "train_table", "1", "0", "10.0\u00a0s", "10.0\u00a0s", "5.0\u00a0s",
        "1,049", "1,000", "105\u00a0%",
    ]  # fmt: skip
    assert row.css("td")[2].attributes["data-order"] == "10.0000"
    cells = [cell.text() for cell in tree.css("#versions tbody th, #versions tbody td")]
    assert cells == ["numpy", "2.4, 2.5", "2"]
    assert "9.9.9" in text and "CPython" in text
    [spec] = checks.charts(tree, "#rules")
    assert len(checks.rows(spec, "words")) == 3
    assert "/tmp/x" not in html.read_text(encoding="utf-8")
    assert tree.css_first("#memory td.warning")


def test_without_logs_extended_benchmarks_and_records_it_says_so(templates, tmp_path):
    write(tmp_path, "a/b", 1.0)
    text = checks.parse(page(templates, tmp_path, logs=None)).body.text()
    for words in ("nothing tells which jobs were served", "is not known", "No record tells"):
        assert words in text


def test_names_stay_text(templates, tmp_path):
    write(tmp_path, f"{HOSTILE}/{HOSTILE}", 1.0)
    tree = checks.parse(page(templates, tmp_path))
    checks.check_nothing_injected(tree)
    assert HOSTILE in tree.css_first("#rules").text() and HOSTILE in tree.css_first("#jobs").text()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"s": 1}', '{"s": "x", "max_rss": 1}', "null"])
def test_what_is_no_benchmark_is_named(tmp_path, text):
    path = tmp_path / "benchmarks/rule/job.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"job\.jsonl: is no benchmark"):
        read_jobs(tmp_path / "benchmarks", None)


def test_a_folder_without_benchmarks_is_an_error(tmp_path):
    (tmp_path / "job.jsonl").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="lies in no rule's folder"):
        read_jobs(tmp_path, None)
    (tmp_path / "job.jsonl").unlink()
    with pytest.raises(InputError, match="holds no benchmark"):
        read_jobs(tmp_path, None)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"),
        (0, "0.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (119.6, "2 min"),
        (125, "2 min 5 s"),
        (3599.6, "1 h"),
        (3780, "1 h 3 min"),
        (360_000, "100 h"),
    ],
)
def test_a_duration_is_said_as_people_say_it(seconds, words):
    assert duration(seconds).replace("\u00a0", " ") == words
