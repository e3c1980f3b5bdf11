"""Packs: a folder with the words, criteria and rules of a language and a protected attribute."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.core.config import complete, read_config, read_schema
from evenhand.core.places import SCHEMA, located
from evenhand.core.resources import read_strict_csv
from evenhand.core.whole import near_names
from evenhand.errors import InputError
from evenhand.text.traditional import matching_form

Pack = dict[str, Any]


@cache
def read_pack(folder: Path) -> Pack:
    """Read the settings of a pack, with all defaults (``workflow/schemas/pack.schema.yaml``).

    Raises
    ------
    InputError
        The folder has no pack.yaml, or it is not well formed.
    """
    path = folder / "pack.yaml"
    if not path.is_file():
        remedy = "its keys are in workflow/schemas/pack.schema.yaml"
        raise InputError("is no pack: it has no pack.yaml", file=folder, remedy=remedy)
    try:
        pack = complete(read_config(path), read_schema(SCHEMA.with_name("pack.schema.yaml")))
    except InputError as error:
        text = str(error).replace("config:", f"{path}:").removesuffix(".")
        raise InputError(text.replace("docs/config.md", "docs/howto_pack.md")) from error
    least, most = (pack["find_keywords"].get(f"{end}_length") for end in ("min", "max"))
    if least and most and least > most:
        problem = f"find_keywords: no length is at least {least} and at most {most} characters"
        raise InputError(problem, file=path, remedy="mend min_length or max_length")
    if pack["based_on"] and not (base := Path(base_folder(folder, pack["based_on"]))).is_dir():
        problem = f"based_on is {pack['based_on']}, and no pack beside this one, or that comes"
        problem = f"{problem} with Evenhand, is called so"
        raise InputError(problem, file=path, remedy=near_names(base))
    _check_script(folder, matching_form(pack["language"]))
    return pack


def base_folder(folder: Path, name: str) -> str:
    """Return the folder of the pack that a pack is based on: beside it, or else one shipped."""
    beside = folder.parent / name
    return beside.as_posix() if beside.is_dir() else located(f"resources/packs/{name}")


def _check_script(folder: Path, plain: Callable[[str], str]) -> None:
    """Raise InputError where a table has a word in a form that is never matched."""
    for path in sorted(folder.glob("*.csv")):
        header, rows = read_strict_csv(path)
        for line, row in rows:
            words = (word for name, word in zip(header, row, strict=True) if name != "note")
            if wrong := next((word for word in words if plain(word) != word), None):
                problem = f"{wrong!r} is not in Simplified characters, in which texts are matched"
                remedy = f"write {plain(wrong)}; it is found in either script"
                raise InputError(problem, file=path, line=line, remedy=remedy)


def with_pack(config: dict[str, Any], default: str) -> dict[str, Any]:
    """Return a configuration as written, with the filters and limits of its pack added.

    Parameters
    ----------
    config : dict
        The user's configuration; its own settings take precedence.
    default : str
        The folder of the pack of a configuration that names none.
    """
    written = config.get("slguset") or {}
    if not isinstance(written, dict) or not isinstance(written.get("pack", ""), str):
        return config  # validation by the schema reports the error
    pack = read_pack(Path(located(written.get("pack", default))))
    limits = written.get("find_keywords") or {}
    if isinstance(limits, dict):
        limits = pack["find_keywords"] | limits
    added = {"filters": pack["filters"]} if pack["filters"] else {}
    made = {**config, "slguset": {**added, **written, "find_keywords": limits}}
    if isinstance(bias := config.get("bias") or {}, dict):
        made["bias"] = {"compounds": pack["compounds"], **bias}
    return made
