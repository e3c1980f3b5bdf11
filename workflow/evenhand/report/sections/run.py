"""Section: what the jobs took, from Snakemake's benchmarks and the stages' logs."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from altair import LayerChart

from evenhand.errors import InputError
from evenhand.report.figures import bars
from evenhand.report.render import duration, percent, plural

#: Snakemake gives memory in MiB, and is asked for MB.
MB_PER_MIB = 1.048576

#: What a stage says first that was served from the run cache (`evenhand.core.stage`).
SERVED = "served from the run cache"

#: So many rules are drawn, and so many jobs listed.
MOST_BARS, MOST_JOBS = 15, 25


def read_jobs(benchmarks: Path, logs: Path | None) -> list[dict[str, Any]]:
    """Each job that has left a benchmark, as it ran the last time.

    Parameters
    ----------
    benchmarks : Path
        The folder with ``{rule}/{job}.jsonl``, Snakemake's benchmarks, with or without
        ``--benchmark-extended``.
    logs : Path, optional
        The folder with ``{rule}/{job}.log``.

    Returns
    -------
    list of dict
        rule, job, seconds (by the clock), cpu_seconds, memory (peak resident set, MB), asked
        (MB), threads, served (from the run cache); in the order of rules and jobs. What is not
        known is None, such as the memory of a job that was over before Snakemake looked at it;
        of a benchmark with several lines it is the sum, or the largest.

    Raises
    ------
    InputError
        There is no benchmark, or one is not what Snakemake writes.
    """
    jobs = []
    for path in sorted(benchmarks.rglob("*.jsonl")):
        steps = path.relative_to(benchmarks).parts
        if len(steps) < 2:
            raise InputError("lies in no rule's folder", file=path)
        try:
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            job = _job(lines)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError("is no benchmark of Snakemake", file=path) from error
        log = logs.joinpath(*steps).with_suffix(".log") if logs else None
        name = "/".join(steps[1:]).removesuffix(".jsonl")
        jobs.append({"rule": steps[0], "job": name, "served": _served(log)} | job)
    if not jobs:
        raise InputError("holds no benchmark", file=benchmarks)
    return sorted(jobs, key=lambda job: (job["rule"], job["job"]))


def _job(lines: list[dict[str, Any]]) -> dict[str, Any]:
    if not lines:
        raise ValueError("it is empty")
    resources = [line.get("resources") or {} for line in lines]
    # of a job that was over before the second look Snakemake has seen the shell only
    seen = [(line["cpu_time"], line["max_rss"]) for line in lines if _number(line["cpu_time"])]
    memory = _most(rss for _, rss in seen)
    return {
        "seconds": sum(float(line["s"]) for line in lines),
        "cpu_seconds": _sum(cpu for cpu, _ in seen),
        "memory": None if memory is None else memory * MB_PER_MIB,
        "asked": _most(one.get("mem_mb") for one in resources),
        "threads": _most(line.get("threads") for line in lines),
    }


def _number(value: Any) -> float | None:
    """A number of Snakemake, which writes ``NA`` for what it could not measure."""
    return None if value in ("NA", "-", None) else float(value)


def _sum(values: Iterable[Any]) -> float | None:
    numbers = [number for value in values if (number := _number(value)) is not None]
    return sum(numbers) if numbers else None


def _most(values: Iterable[Any]) -> float | None:
    return max((number for value in values if (number := _number(value)) is not None), default=None)


def _served(log: Path | None) -> bool | None:
    """Whether a stage's log says that it was served; None if there is no log."""
    if log is None or not log.is_file():
        return None
    with log.open(encoding="utf-8", errors="replace") as stream:
        return any(line.startswith(SERVED) for line in stream)


def table_of(jobs: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """The header and the rows of the jobs (see `read_jobs`) as a table, with units."""
    columns = {
        **{"rule": "rule", "job": "job", "seconds": "seconds", "cpu_seconds": "cpu_seconds"},
        **{"memory_mb": "memory", "asked_mb": "asked", "threads": "threads", "served": "served"},
    }
    rows = [[_cell(job[name]) for name in columns.values()] for job in jobs]
    return list(columns), rows


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return round(value, 3) if isinstance(value, float) else value


def describe_run(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Totals, each rule, the slowest jobs, those near the memory they asked for, and a figure.

    Parameters
    ----------
    jobs : list of dict
        See `read_jobs`.

    Returns
    -------
    dict
        totals and rules: jobs, served, seconds, cpu_seconds, longest, memory, asked, share (of
        `asked` that was used, at most); slowest and fullest: jobs; drawing: markup.
    """
    names = sorted({job["rule"] for job in jobs})
    rules = [
        {"rule": name} | _totals([job for job in jobs if job["rule"] == name]) for name in names
    ]
    rules.sort(key=lambda rule: (-rule["seconds"], rule["rule"]))
    slowest = sorted(jobs, key=lambda job: (-job["seconds"], job["rule"], job["job"]))
    known = [job | {"share": job["memory"] / job["asked"]} for job in jobs if _compared(job)]
    known.sort(key=lambda job: (-job["share"], job["rule"], job["job"]))
    return {
        "totals": _totals(jobs) | {"rules": len(rules), "unknown": _unknown(jobs)},
        "rules": rules,
        "slowest": slowest[:MOST_JOBS],
        "fullest": known[:MOST_JOBS],
        "drawing": _drawing(rules),
        "drawn": min(len(rules), MOST_BARS),
    }


def _compared(job: dict[str, Any]) -> bool:
    return bool(job["asked"]) and job["memory"] is not None


def _unknown(jobs: list[dict[str, Any]]) -> int:
    """How many jobs were over before Snakemake could look at them."""
    return sum(job["memory"] is None for job in jobs)


def _totals(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    served = [job["served"] for job in jobs if job["served"] is not None]
    return {
        "jobs": len(jobs),
        "served": sum(served) if served else None,
        "seconds": sum(job["seconds"] for job in jobs),
        "cpu_seconds": _sum(job["cpu_seconds"] for job in jobs),
        "longest": max(job["seconds"] for job in jobs),
        "memory": _most(job["memory"] for job in jobs),
        "asked": _most(job["asked"] for job in jobs),
        "share": max((j["memory"] / j["asked"] for j in jobs if _compared(j)), default=None),
    }


def _drawing(rules: list[dict[str, Any]]) -> LayerChart:
    whole = sum(rule["seconds"] for rule in rules) or 1
    rows = [
        {
            "name": rule["rule"],
            "amount": rule["seconds"],
            "kind": "quiet",
            "text": duration(rule["seconds"]),
            "words": f"{rule['rule']}: {plural(rule['jobs'], 'job')},"
            f" {duration(rule['seconds'])}, {percent(rule['seconds'] / whole)} of all",
        }
        for rule in rules[:MOST_BARS]
    ]
    label = f"Time of the {plural(len(rows), 'slowest rule')}, all jobs added up"
    return bars(rows, label, unit="Seconds")


def read_versions(provenance: dict[str, Any]) -> list[dict[str, Any]]:
    """Each package that a recorded stage runs on, with its versions and the number of files."""
    found: dict[str, dict[str, int]] = {}
    for entry in provenance["files"]:
        for name, version in (entry["packages"] or {}).items():
            versions = found.setdefault(name, {})
            versions[version] = versions.get(version, 0) + 1
    return [
        {"name": name, "versions": sorted(found[name]), "files": sum(found[name].values())}
        for name in sorted(found)
    ]
