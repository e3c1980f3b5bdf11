"""How long Snakemake plans, as the corpus grows: ``python benchmarks/plan_scale.py``.

The real rules over synthetic newspapers, one shard a file: per shard two jobs (sentences; keywords
and filters), behind them the merge and the rest. For each size the time and the
memory of ``snakemake -n`` are taken twice: with nothing built, and with nothing to do. For the
latter no job is run; empty results are put down with the records that Snakemake itself would
have written. Nothing is read from outside the repository.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]

#: Jobs of a shard, and of all else in the configuration below.
PER_SHARD, BESIDES = 2, 10

CONFIG = """\
offline: true
slguset:
  shard_megabytes: 0.0009
  corpora:
    synthetic: {files: [newspapers]}
  filters: [names_jieba, pair_fit, coreference, biology]
"""

COLUMNS = ["jobs", "shards", "plan, nothing built", "plan, nothing to do"]
COLUMNS += ["memory of the head", "files", "most in a folder"]

#: What a checkout needs to plan.
PARTS = ["Snakefile", "config", "envs", "profiles", "requirements", "resources", "workflow"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--mark", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.mark:
        mark()
        return
    print(f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|", sep="\n")
    for jobs in arguments.jobs:
        with tempfile.TemporaryDirectory(prefix="evenhand-plan-") as folder:
            print(line(Path(folder), jobs), flush=True)


def line(folder: Path, jobs: int) -> str:
    """A row of the table, from a checkout of its own."""
    shards = max(1, round((jobs - BESIDES) / PER_SHARD))
    for name in PARTS:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / "config" / "scale.yaml").write_text(CONFIG)
    for number in range(shards):
        file = folder / "newspapers" / f"{number // 1000:03}" / f"{number:06}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("一" * 300)  # of 900 bytes: as large as a shard
    empty = timed(folder, "-m", "snakemake", "-n", "--quiet", "all", *CONFIGURED)
    marked = timed(folder, __file__, "--mark")
    planned = int(marked.output.split()[-1])
    done = timed(folder, "-m", "snakemake", "-n", "all", *CONFIGURED)
    if "Nothing to be done" not in done.output:
        sys.exit(f"error: there is something to do:\n{done.output[-3000:]}")
    made = [
        Path(place) / name
        for top in ("results", ".snakemake")
        for place, _, names in os.walk(folder / top)
        for name in names
    ]
    fullest, most = Counter(path.parent for path in made).most_common(1)[0]
    return (
        f"| {planned:,} | {shards:,} | {empty.seconds:.1f} s | {done.seconds:.1f} s"
        f" | {max(empty.megabytes, done.megabytes):.0f} MB | {len(made):,}"
        f" | {most:,} in {fullest.relative_to(folder)} |"
    )


CONFIGURED = ("--configfile", "config/scale.yaml")


class timed:  # noqa: N801
    """Run Python on a program: seconds of the processor, most memory, output."""

    def __init__(self, folder: Path, *words: str) -> None:
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONPATH": str(folder / "workflow")},
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            self.output = output.read()
        if process.returncode:
            sys.exit(f"error: {' '.join(words)}:\n{self.output[-3000:]}")
        self.seconds = used.ru_utime + used.ru_stime
        self.megabytes = used.ru_maxrss / 1024


def mark() -> None:
    """Put down empty results, and what Snakemake would have recorded of their jobs."""
    from snakemake import cli, jobs

    from evenhand.core.code import fingerprint

    planned: list[jobs.Job] = []

    def note(job: jobs.Job, *_: object, **__: object) -> None:
        if not job.rule.norun:
            planned.append(job)

    jobs.Job.log_info = note  # as workflow/dry_run.py does
    parser, args = cli.parse_args(["--quiet", "all", "--dry-run", "all", *CONFIGURED])
    if not cli.args_to_api(args, parser):
        sys.exit(1)
    for job in planned:
        for output in job.output:
            path = Path(output)
            path.parent.mkdir(parents=True, exist_ok=True)
            if output.is_directory:
                path.mkdir(exist_ok=True)
            else:
                path.write_text(json.dumps({}) if path.suffix == ".json" else "")
        # the records of their stages, without which a result is not up to date
        record = Path("results/.evenhand/records") / f"{fingerprint(min(job.output))}.json"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text("{}")
        for output in filter(lambda output: output.is_directory, job.output):
            listing = Path("results/.evenhand/folders") / f"{fingerprint(str(output))}.json"
            listing.parent.mkdir(parents=True, exist_ok=True)
            listing.write_text(json.dumps({"folder": str(output), "files": {}}))
    for name in [name for job in planned for name in job.output]:
        os.utime(name, (1.7e9, 1.7e9))
    for path in Path().rglob("*"):
        if not path.is_relative_to("results"):
            os.utime(path, (1.6e9, 1.6e9))

    async def record() -> None:
        for job in planned:
            await job.dag.workflow.persistence.finished(job)

    asyncio.run(record())
    print(len(planned))


if __name__ == "__main__":
    main()
