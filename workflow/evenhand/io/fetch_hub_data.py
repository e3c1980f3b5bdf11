"""Stage: the tables of a data set on the Hugging Face hub."""

import shutil
from pathlib import Path
from typing import Any

from evenhand.core.stage import Output
from evenhand.errors import InputError

#: The files that are fetched.
TABLES = ("*.parquet", "*.jsonl", "*.json", "*.csv", "*.tsv", "*.arrow")

#: Descriptions of the data, and no rows of it.
NO_TABLES = ("dataset_infos.json", "dataset_info.json", "state.json", "dataset_dict.json")

#: The branch to which the hub converts data sets that have no tables of their own.
CONVERTED = "refs/convert/parquet"


def fetch_hub_data(
    *, hub: str, out: Output, revision: str | None = None, files: list[str] | None = None
) -> dict[str, Any]:
    """Fetch the tables of a data set, or take them from the hub's local cache.

    Parameters
    ----------
    hub : str
        The name of the data set, such as LabHC/bias_in_bios.
    out : path
        A folder of the tables, in the folders that they have on the hub.
    revision : str, optional
        A branch, tag or commit. By default the main branch, or the hub's own conversion to Parquet
        if that has no tables.
    files : list of str, optional
        Patterns of the files, such as en/*.parquet; by default all tables.

    Returns
    -------
    dict
        The commit, and the number of files.

    Raises
    ------
    InputError
        The data set is neither on the hub nor in its local cache, or it has no tables.
    """
    for branch in [revision] if revision else [None, CONVERTED]:
        try:
            folder = _snapshot(hub, branch, files or list(TABLES))
        except InputError:
            if branch != CONVERTED:
                raise
            break
        paths = {path for pattern in files or TABLES for path in folder.rglob(pattern)}
        if tables := [path for path in paths if path.name not in NO_TABLES]:
            for path in tables:
                copy = out / path.relative_to(folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
            return {"commit": folder.name, "files": len(tables)}
    problem = f"the data set {hub} has no {' or '.join(files or ['tables'])} on the hub"
    remedy = "save it with save_to_disk, and name that folder under `files`, without `hub`"
    raise InputError(problem, remedy=remedy)


def _snapshot(name: str, revision: str | None, patterns: list[str]) -> Path:
    """Return the folder of a data set in the hub's local cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(
            snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=patterns)
        )
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise InputError(
            f"the data set {name} is not in the hub's local cache and cannot be fetched"
            f" ({str(error).strip().partition(chr(10))[0][:200]})",
            remedy="check its name and the connection, or give its files",
        ) from error
