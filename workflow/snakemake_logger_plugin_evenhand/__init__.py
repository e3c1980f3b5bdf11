"""Snakemake's console for people: ``snakemake --logger evenhand``.

The number of jobs and the place of the report (`EVENHAND_REPORT`, set by who prints the findings at
the end), a progress bar, a line for each rule whose jobs are done with the time that they took
together, warnings, and errors: the log of a stage that states its error, or has a traceback, which
the end of the run has in one sentence, or else the whole log. Without a terminal there is no bar,
but a line of all jobs when one is done a minute or more after the last line.
A dry run prints the number of jobs of each rule; with ``--verbose`` the files of each job, too.
Else ``--verbose`` prints everything, as without this plugin. Details are in the logs.
"""

import logging
import os
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from evenhand.core.places import ROOT
from evenhand.errors import nearest

#: What Snakemake says of a failed job beside the record of the job itself.
REPEATED = (
    *("RuleException:\nCalledProcessError", "Exiting because a job execution failed"),
    *("WorkflowError:\nAt least one job did not complete successfully", "Exception in run_job"),
)

#: How a job ended, in Snakemake's words on its command.
ENDED = re.compile(
    r"Command .* (?:died with <Signals\.(\w+)|returned non-zero exit status (\d+))", re.S
)

#: Why a job was not submitted: what `sbatch` printed, or an exception, in an executor's message.
REFUSED = re.compile(
    r"(?:SLURM sbatch failed\. The error message was '(?P<sbatch>.*?)'\.\n"
    r"|.*job submission failed with exception: (?P<exception>.*?)(?:For further error |$))",
    re.S | re.I,
)

#: Seconds without a line after which the next job that is done has one, without a terminal.
SILENCE = 60

#: Names among the counts of jobs that are no rules with work to do.
TARGETS = ("all", "total")


class LogHandler(LogHandlerBase):
    """Counts the jobs of each rule, from Snakemake's own events."""

    writes_to_stream, writes_to_file = True, False
    has_filter, has_formatter, needs_rulegraph = False, False, False  # Snakemake's own ones

    def __post_init__(self) -> None:
        self.bar = None
        self.rules: dict[int, str] = {}  # by job
        self.jobs: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.begun: dict[int, float] = {}  # of the jobs that run
        self.took: Counter[str] = Counter()  # seconds of all jobs
        # the signal or the status of a job's end, by the thread that waits for it
        self.endings: dict[int | None, tuple[str, str]] = {}
        self.causes: set[str] = set()
        self.now = self.started = self.printed = 0.0  # of this record, the run, the last line

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record, or count it."""
        event = getattr(record, "event", None)
        self.now = time.monotonic()
        if event == LogEvent.JOB_ERROR:
            self.begun.pop(getattr(record, "jobid", None), None)
        if ended := ENDED.search(str(record.msg)):
            self.endings[record.thread] = signal_of(*ended.groups()), ended[2]
        is_dry, is_verbose = self.common_settings.dryrun, self.common_settings.verbose
        if is_verbose and not is_dry:
            self.write(self.format(record))
        elif event == LogEvent.RUN_INFO:
            is_first = not self.jobs  # of two records of a dry run
            # the target does nothing itself
            self.jobs = Counter({k: v for k, v in record.stats.items() if k not in TARGETS})
            if not is_dry:
                self.start(self.jobs.total())
            elif is_first and self.jobs:
                self.write(f"{jobs_of(self.jobs.total())} would run; --verbose shows their files")
                for rule, count in self.jobs.items():
                    self.write(f"{rule:<28} {jobs_of(count):>9}")
        elif event == LogEvent.JOB_INFO:
            self.rules[record.jobid] = record.rule_name
            self.begun[record.jobid] = self.now
            if is_dry and is_verbose and record.output:
                self.write(f"{record.rule_name}: {', '.join(record.output)}")
        elif event == LogEvent.JOB_FINISHED:
            self.finish(record.job_id)
        elif getattr(record, "exception", "") == "MissingRuleException":
            target = str(record.msg).rpartition("No rule to produce ")[2].partition(" (if ")[0]
            rules = (ROOT / "workflow" / "rules").glob("*.smk")
            names = re.findall(r"^rule (\w+):", "".join(map(Path.read_text, rules)), re.M)
            near = nearest(target, names)
            remedy = f"did you mean {near}?" if near else "leave it out for all results."
            self.write(f"error: {target} is no rule and no result of this configuration; {remedy}")
        elif event == LogEvent.JOB_ERROR and (refused := REFUSED.match(record.rule_msg or "")):
            cause = " ".join(refused[refused.lastgroup].split())
            if cause not in self.causes:  # once for all jobs and attempts
                problem = f"{record.rule_name} could not be submitted as a job: {cause.rstrip('.')}"
                remedy = f"mend this, or run without the profile; see {log_of_run()}"
                self.write(f"error: {problem}; {remedy}.")
            self.causes.add(cause)
        elif event == LogEvent.JOB_ERROR and (
            problem := problem_of(record, *self.endings.pop(record.thread, ("", None)))
        ):
            self.write(problem)
        elif record.levelno >= logging.WARNING or event in (LogEvent.JOB_ERROR, LogEvent.ERROR):
            if not str(record.msg).startswith(REPEATED):
                self.write(self.format(record))
        elif str(record.msg).startswith("Nothing to be done"):
            self.write("Nothing to be done: all results are up to date.")

    def start(self, total: int) -> None:
        """Print what will be done, and show the bar, where there is a terminal."""
        from tqdm import tqdm

        if self.bar is None and total:
            report = os.environ.get("EVENHAND_REPORT") if "write_page" in self.jobs else None
            self.write(
                f"{jobs_of(total)} to run" + (f"; the report will be {report}" if report else "")
            )
            form = "{n_fmt} of {total_fmt} jobs |{bar}| {elapsed}"
            self.started = self.now
            self.bar = tqdm(total=total, bar_format=form, leave=False, disable=None)

    def finish(self, job: int) -> None:
        """Count a job, and print the line of a rule that has no more, or of all jobs."""
        rule = self.rules.get(job, "all")
        if rule in TARGETS:
            return
        self.done[rule] += 1
        self.took[rule] += self.now - self.begun.pop(job, self.now)
        if self.bar is not None:
            self.bar.update()
        if self.done[rule] >= self.jobs[rule]:
            jobs = jobs_of(self.done[rule])
            self.write(f"{rule:<28} {jobs:>9} {self.took[rule]:>6.0f} s")
        elif self.bar is not None and self.bar.disable and self.now - self.printed >= SILENCE:
            all_jobs, minutes = jobs_of(self.jobs.total()), (self.now - self.started) / 60
            running = dict.fromkeys(self.rules[number] for number in self.begun)
            rules = [f"{each} {self.done[each]} of {self.jobs[each]}" for each in running]
            text = f"{self.done.total()} of {all_jobs} done after {minutes:.0f} min"
            self.write("; ".join([text, ", ".join(rules)]) if rules else text)

    def write(self, text: str | None) -> None:
        """Print above the bar."""
        if text and text != "None":
            self.printed = self.now
            if self.bar is not None:
                self.bar.clear()
            print(text, file=sys.stderr, flush=True)
            if self.bar is not None:
                self.bar.refresh()

    def close(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.close()
        super().close()


def jobs_of(count: int) -> str:
    """Return a number of jobs in words."""
    return "1 job" if count == 1 else f"{count} jobs"


def signal_of(name: str | None, status: str | None) -> str:
    """Return the name of the signal that ended a command; blank if it ended by itself.

    A shell whose command was ended by a signal returns 128 and its number.
    """
    numbers = {each + 128: each.name for each in signal.Signals}
    return name or numbers.get(int(status or 0), "")


def log_of_run() -> Path:
    """Return Snakemake's log of this run."""
    return max(Path(".snakemake/log").glob("*.log"), default=Path(".snakemake/log"))


def problem_of(record: logging.LogRecord, signal_name: str, status: str | None) -> str:
    """Return where the error of a stage is, which is printed at the end of the run, in words."""
    rule = record.rule_name
    if signal_name:
        reason = ", as by too little memory" if signal_name == "SIGKILL" else ""
        remedy = (
            "run fewer jobs at once (`--cores 1`)" if reason else "the same command runs it again"
        )
        return f"error: {rule} was stopped by the signal {signal_name}{reason}; {remedy}."
    for log in filter(Path.is_file, map(Path, record.log)):
        lines = log.read_text("utf-8", "replace").splitlines()
        if not any(map(str.strip, lines)):
            cause = (record.rule_msg or "").partition("For further error details")[0].strip(" .")
            cause = cause or (f"exit status {status}" if status else "no exit status")
            problem = f"error: {rule} ended without a message ({cause}): its log {log} is empty"
            return f"{problem}; see {log_of_run()}, or run it again by the same command."
        if any(line.startswith(("error: ", "Traceback ")) for line in lines):
            return f"{rule} failed; its log is {log}"
    return ""
