"""Stage: the page of the run: how long its jobs took, and how much memory.

Times are not the same twice, so this page is by its nature not the same bytes from run to run;
every other result is. The folders that it reads are inputs whose contents count, so that the run
cache serves it only for the very same benchmarks.
"""

import platform
from typing import Any

from evenhand.core import stage
from evenhand.core.stage import Input, Output
from evenhand.io.sheets import write_csv
from evenhand.report.read import read_json
from evenhand.report.render import write_page
from evenhand.report.sections.run import describe_run, read_jobs, read_versions, table_of

#: The sections in the order of the page: id and short name.
SECTIONS = (("rules", "Rules"), ("jobs", "Jobs"), ("memory", "Memory"), ("versions", "Versions"))


def write_run_page(
    *,
    templates: list[Input],
    out: Output,
    jobs_out: Output,
    benchmarks: Input,
    logs: Input | None = None,
    provenance: Input | None = None,
    snakemake: str = "",
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Write the page of the run: times, memory and versions, and nothing of the machine's name.

    Parameters
    ----------
    templates : list of path
        The files of ``evenhand/report/templates``.
    out : path
        The page, HTML.
    jobs_out : path
        ``run.csv`` beside it: each job (`read_jobs`) with its seconds and megabytes.
    benchmarks : path
        The folder of Snakemake's benchmarks, ``{rule}/{job}.jsonl``. Those of
        ``--benchmark-extended`` also tell the memory that was asked for.
    logs : path, optional
        The folder of the logs, ``{rule}/{job}.log``, which tell what the run cache served.
    provenance : path, optional
        ``provenance.json``, for the versions of packages.
    snakemake : str
        The version of Snakemake that runs this; blank: it is not told.
    pages : list of str, optional
        The pages that this run makes, of `evenhand.report.pages.PAGES`; all if it is not said.

    Raises
    ------
    InputError
        There are no benchmarks, or one is not what Snakemake writes.
    """
    jobs = read_jobs(benchmarks, logs)
    write_csv(jobs_out, *table_of(jobs))
    written = write_page(
        out,
        "run",
        templates,
        pages,
        describe_run(jobs),
        sections=[(id, name, "") for id, name in SECTIONS],
        packages=read_versions(read_json(provenance)) if provenance else [],
        programs=[
            ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
            ("Snakemake", snakemake or None),
            ("Platform", f"{platform.system()}, {platform.machine()}"),
        ],
    )
    return {"jobs": len(jobs), "bytes": written}


if __name__ == "__main__":
    stage.run(write_run_page)
