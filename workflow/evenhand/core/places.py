"""The folders of the library and of the workflow's own files: a checkout, or an installed wheel."""

from pathlib import Path
from typing import Any

#: The folder that holds the package `evenhand`.
LIBRARY = Path(__file__).resolve().parents[2]

#: The folder of the Snakefile, the rules, `config` and `resources`.
ROOT = LIBRARY / "evenhand_workflow"  # of a wheel
if not ROOT.is_dir():
    ROOT = LIBRARY.parent

SNAKEFILE = ROOT / "Snakefile"
#: How paths of the workflow's own files begin.
_PARTS = ("config/", "docs/", "profiles/", "resources/", "workflow/")
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


def located(value: Any) -> Any:
    """Return a value with the paths of the workflow's own files that are not in this folder.

    Parameters
    ----------
    value : object
        A path, or a list or mapping that may contain paths. In a folder of the user's own,
        ``resources/sources.csv`` becomes the path of the installed file; a file or folder of
        this name in the working folder is preferred.
    """
    if isinstance(value, dict):
        return {key: located(item) for key, item in value.items()}
    if isinstance(value, list):
        return [located(item) for item in value]
    if isinstance(value, str) and value.startswith(_PARTS) and not Path(value).exists():
        inside = value.startswith("workflow/evenhand/")
        path = LIBRARY / value.removeprefix("workflow/") if inside else ROOT / value
        return str(path) if path.exists() else value
    return value
