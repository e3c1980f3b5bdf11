"""Snakemake's plan as data: ``python workflow/dry_run.py PLAN.json [arguments of snakemake]``.

A dry run prints its reasons as prose, names no cause for a job below another one that runs,
and lists files in a way that cannot be taken apart again. This program makes the same dry
run and writes, per job that would run, what Snakemake's own objects say. It stands outside
the library because it imports Snakemake, whose version the lock pins; `evenhand.core.why` reads
the plan.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from snakemake import cli, jobs
from snakemake.dag import DAG

from evenhand.core import leftovers


def is_recorded(job: jobs.Job) -> bool:
    """Whether Snakemake knows the run that made a job's outputs."""
    known = job.dag.workflow.persistence
    return known.has_metadata(job) and not known.has_outdated_metadata(job)


def describe(job: jobs.Job) -> dict[str, Any]:
    """A job that would run, as JSON has it; file names are as the rules say them."""
    dag = job.dag
    known, reason = dag.workflow.persistence, dag.reason(job)
    recorded = is_recorded(job)
    params = known.params_changed(job) if recorded else None
    former = (known.input(file) for file in job.output) if recorded else ()
    return {
        "rule": job.rule.name,
        "wildcards": job.wildcards_dict,
        "inputs": sorted(map(str, job.input)),
        "outputs": list(map(str, job.output)),
        "recorded": recorded,
        "forced": reason.forced,
        "missing": sorted(map(str, reason.missing_output)),
        "incomplete": sorted(map(str, reason.incomplete_output)),
        "updated": sorted(map(str, reason.updated_input)),
        "made_anew": sorted(map(str, reason.updated_input_run)),
        "former_inputs": sorted({str(name) for names in former for name in names or ()}),
        "params_before": sorted(params.only_old) if params else [],
        "params_now": sorted(params.only_new) if params else [],
        "command_changed": recorded and any(known.code_changed(job)),
        "software_changed": recorded and any(known.software_stack_changed(job)),
    }


def history(dag: DAG) -> dict[str, Any]:
    """The configuration as it is written, the wildcards of the jobs that ran, and who runs now."""
    workflow = dag.workflow
    locks = Path(workflow.persistence.path, "locks")
    return {
        "other_run": leftovers.other_run(locks) if workflow.persistence.locked else None,
        "configs": [str(Path(path).resolve()) for path in workflow.configfiles],
        "ran": [job.wildcards_dict for job in dag.jobs if is_recorded(job)],
    }


def main() -> None:
    """Make the dry run and write ``{"state": folder, "jobs": [...], "history": {...}}``."""
    plan, arguments = Path(sys.argv[1]), sys.argv[2:]
    planned: list[dict[str, Any]] = []
    past: dict[str, Any] = {}

    def note(job: jobs.Job, *_: Any, **__: Any) -> None:
        if not job.rule.norun:  # a target rule does nothing by itself
            planned.append(describe(job))
            past.update(past or history(job.dag))

    jobs.Job.log_info = note  # called once for each job of a dry run, with its reason known
    parser, args = cli.parse_args(
        ["--logger", "evenhand", "--quiet", "all", "--dry-run", *arguments]
    )
    succeeded = cli.args_to_api(args, parser)
    document = {"state": os.environ.get("EVENHAND_STATE"), "jobs": planned, "history": past}
    plan.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    sys.exit(0 if succeeded else 1)


if __name__ == "__main__":
    main()
