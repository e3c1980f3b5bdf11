"""What `make demo` prints: a line for each rule, warnings and errors, and nothing else."""

import logging
from types import SimpleNamespace

import pytest
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_evenhand import LogHandler


@pytest.fixture
def printed(capsys):
    """Give some records to the console, and return the lines that it printed."""

    def printed(*events, **settings):
        common = SimpleNamespace(**{"verbose": False, "dryrun": False} | settings)
        console = LogHandler(common, None)
        console.setFormatter(DefaultFormatter())
        for level, message, about in events:
            record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
            record.__dict__.update(about)
            console.handle(record)
        console.close()
        return capsys.readouterr().err.splitlines()

    return printed


def job(number, rule):
    about = {"jobid": number, "rule_name": rule, "msg": None, "name": rule, "local": False}
    lists = {"input": [], "output": ["a.csv", "b.csv"], "log": [], "benchmark": [], "wildcards": {}}
    about |= {"event": LogEvent.JOB_INFO, "priority": 0, "threads": 1, "reason": "", **lists}
    return (logging.INFO, "", about | {"resources": {}, "indent": False, "is_checkpoint": False})


STATS = {"event": LogEvent.RUN_INFO, "stats": {"score": 2, "page": 1, "all": 1, "total": 4}}
FINISHED = [(logging.INFO, "", {"event": LogEvent.JOB_FINISHED, "job_id": i}) for i in range(3)]
RUN = [(logging.INFO, "", STATS), job(0, "score"), job(1, "score"), job(2, "page"), *FINISHED]


def test_a_line_for_each_rule_when_its_last_job_is_done(printed):
    lines = printed(*RUN[:-2])
    assert lines == ["3 jobs to run"]
    lines = printed(*RUN)[1:]
    assert [line.split()[:3] for line in lines] == [["score", "2", "jobs"], ["page", "1", "job"]]


@pytest.fixture
def at(monkeypatch):
    """Set the seconds at which the records come."""

    def at(*seconds):
        clock = iter(seconds)
        monkeypatch.setattr("snakemake_logger_plugin_evenhand.time.monotonic", lambda: next(clock))

    return at


def test_the_time_of_a_rule_is_that_of_its_jobs_together(printed, at):
    at(0.0, 0.0, 1.0, 2.0, 10.0, 21.0, 25.0)  # the run and three jobs begin, three end
    assert [line.split()[-2] for line in printed(*RUN)[1:]] == ["30", "23"]


def test_a_long_run_without_a_terminal_says_each_minute_which_jobs_are_done(printed, at):
    stats = {"event": LogEvent.RUN_INFO, "stats": {"score": 6, "page": 2, "total": 8}}
    done = [(logging.INFO, "", {"event": LogEvent.JOB_FINISHED, "job_id": i}) for i in range(5)]
    failed = (logging.ERROR, "RuleException:\nCalledProcessError", {})
    failed[2].update(event=LogEvent.JOB_ERROR, jobid=5, rule_name="page", log=[], rule_msg=None)
    jobs = [job(i, "score") for i in range(4)] + [job(4, "page"), job(5, "page")]
    # all begin; four end, the third shortly after a line; a page fails, and the other one ends
    at(*[0.0] * 7, 59.0, 61.0, 100.0, 300.0, 310.0, 400.0)
    assert printed((logging.INFO, "", stats), *jobs, *done[:4], failed, done[4]) == [
        "8 jobs to run",
        "2 of 8 jobs done after 1 min; score 2 of 6, page 0 of 2",
        "4 of 8 jobs done after 5 min; page 0 of 2",
        "5 of 8 jobs done after 7 min",
    ]


def test_a_terminal_has_the_bar_alone(printed, at, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    at(*[0.0] * 4, 70.0)
    assert not any("done after" in line for line in printed(*RUN[:5]))


@pytest.mark.parametrize(("rule", "has_report"), [("write_page", True), ("score", False)])
def test_a_run_begins_with_its_jobs_and_the_place_of_its_report(
    printed, monkeypatch, rule, has_report
):
    monkeypatch.setenv("EVENHAND_REPORT", "r/report/index.html")
    stats = {"event": LogEvent.RUN_INFO, "stats": {rule: 1, "total": 1}}
    end = "; the report will be r/report/index.html" if has_report else ""
    assert printed((logging.INFO, "", stats)) == [f"1 job to run{end}"]


def test_an_unknown_target_is_one_sentence(printed):
    words = "MissingRuleException:\nNo rule to produce a b.csv (if you use input functions)"
    error = {"event": LogEvent.ERROR, "exception": "MissingRuleException"}
    (line,) = printed((logging.ERROR, words, error))
    assert line.startswith(
        "error: a b.csv is no rule and no result of this configuration; leave it"
    )
    (line,) = printed((logging.ERROR, words.replace("a b.csv", "write_pge"), error))
    assert line.endswith(
        "write_pge is no rule and no result of this configuration; did you mean write_page?"
    )


def test_warnings_and_errors_are_printed_and_other_words_are_not(printed):
    said = [
        (logging.INFO, "Select jobs to execute...", {}),
        (logging.WARNING, "scan.pdf is not read", {}),
        (logging.ERROR, "a job failed", {"event": LogEvent.ERROR}),
        (logging.INFO, "Nothing to be done (all requested files are present).", {}),
    ]
    assert printed(*said) == [
        "scan.pdf is not read",
        "a job failed",
        "Nothing to be done: all results are up to date.",
    ]


def test_a_stage_with_an_error_is_named_with_its_log_alone(printed, tmp_path):
    log = tmp_path / "read.log"
    failed = {"event": LogEvent.JOB_ERROR, "rule_name": "read", "log": [str(log)], "jobid": 1}
    failed |= {"rule_msg": None, "input": [], "output": [], "conda_env": None, "aux": {}}
    failed |= {"container_img": None, "indent": False, "shellcmd": "python -m read"}
    said = [
        (logging.ERROR, "RuleException:\nCalledProcessError in line 3", {}),
        (logging.ERROR, "Error in rule read", failed),
        (logging.ERROR, "Exiting because a job execution failed. Look above", {}),
        (logging.ERROR, "WorkflowError:\nAt least one job did not complete successfully.", {}),
    ]
    log.write_text("Killed", encoding="utf-8")
    assert "python -m read" in "\n".join(printed(*said))
    log.write_text("\n", encoding="utf-8")
    for cause, words in (
        ("exit status 3", {}),
        (
            "SLURM-job '7' failed",
            {"rule_msg": "SLURM-job '7' failed. For further error details se"},
        ),
    ):
        said[0] = (
            logging.ERROR,
            f"{said[0][1]}:\nCommand 'x' returned non-zero exit status 3.",
            {},
        )
        said[1] = (logging.ERROR, "Error in rule read", failed | words)
        (line,) = printed(*said)
        problem = f"error: read ended without a message ({cause}): its log {log} is empty; see .sn"
        assert line.startswith(problem)
    trace = 'Traceback (most recent call last):\n  File "a.py"\nKeyError: 1'
    for words in ("reading\nerror: a.csv: is empty.", f"reading\n{trace}"):
        log.write_text(words, encoding="utf-8")
        assert printed(*said) == [f"read failed; its log is {log}"]


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (
            "SLURM sbatch failed. The error message was 'sbatch: error: Unable to contact slurm"
            " controller (connect failure)'.\n    sbatch call:\n        sbatch 'a'.\n",
            "sbatch: error: Unable to contact slurm controller (connect failure)",
        ),
        ("Job submission failed with exception: No such file: 'sacct'", "No such file: 'sacct'"),
    ],
)
def test_jobs_that_cannot_be_submitted_have_the_cause_once(
    printed, tmp_path, monkeypatch, message, cause
):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / ".snakemake/log/2026.snakemake.log"
    log.parent.mkdir(parents=True)
    log.touch()
    message += "For further error details see the cluster/cloud log"
    failed = {"event": LogEvent.JOB_ERROR, "rule_name": "read", "rule_msg": message, "log": ["no"]}
    (line,) = printed(
        (logging.ERROR, "Exception in run_job for rule read: No such file", {}),
        *[(logging.ERROR, "Error in rule read", failed)] * 2,
    )
    assert line == (
        f"error: read could not be submitted as a job: {cause}; mend this, or run without the"
        " profile; see .snakemake/log/2026.snakemake.log."
    )


@pytest.mark.parametrize(
    ("ending", "problem"),
    [
        (
            "returned non-zero exit status 143.",
            "the signal SIGTERM; the same command runs it again",
        ),
        ("returned non-zero exit status 130.", "the signal SIGINT; the same command runs it again"),
        ("died with <Signals.SIGTERM: 15>.", "the signal SIGTERM; the same command runs it again"),
        (
            "returned non-zero exit status 137.",
            "the signal SIGKILL, as by too little memory; run f",
        ),
        (
            "died with <Signals.SIGKILL: 9>.",
            "the signal SIGKILL, as by too little memory; run fewe",
        ),
    ],
)
def test_a_job_that_a_signal_ended_names_it(printed, tmp_path, ending, problem):
    failed = {"event": LogEvent.JOB_ERROR, "rule_name": "read", "log": [str(tmp_path / "no.log")]}
    failed |= {"rule_msg": None}
    words = f"RuleException:\nCalledProcessError in file a.smk, line 3:\nCommand 'set\n-e' {ending}"
    (line,) = printed(
        (logging.ERROR, words, {"thread": 1}),
        (logging.ERROR, "Error in rule read", failed | {"thread": 1}),
    )
    assert line.startswith(f"error: read was stopped by {problem}")
    words = words.replace(ending, "returned non-zero exit status 2.")
    (tmp_path / "no.log").write_text("error: a.csv: is empty.")
    assert printed(
        (logging.ERROR, words, {"thread": 1}),
        (logging.ERROR, words.replace("status 2.", "status 143."), {"thread": 2}),
        (logging.ERROR, "Error in rule read", failed | {"thread": 1}),
    ) == [f"read failed; its log is {tmp_path / 'no.log'}"]


def test_a_dry_run_lists_the_jobs_of_each_rule_once(printed):
    lines = printed(*RUN[:-3], RUN[0], dryrun=True)
    assert [line.split()[:3] for line in lines[1:]] == [
        ["score", "2", "jobs"],
        ["page", "1", "job"],
    ]
    assert lines[0] == "3 jobs would run; --verbose shows their files"
    jobs = printed((logging.INFO, "Building", {}), *RUN[:-3], dryrun=True, verbose=True)[3:]
    assert jobs == ["score: a.csv, b.csv", "score: a.csv, b.csv", "page: a.csv, b.csv"]


def test_everything_is_printed_where_it_is_asked_for(printed):
    lines = printed((logging.INFO, "Select jobs to execute...", {}), verbose=True)
    assert lines == ["Select jobs to execute..."]
