"""Stage: the scripts that draw figures, once for all pages, with their licences."""

from pathlib import Path

from evenhand.core import stage
from evenhand.core.stage import Input, Output


def write_scripts(*, scripts: list[Input], licences: list[Input], out: Output) -> dict[str, int]:
    """Join scripts into one file that pages load from beside them.

    Parameters
    ----------
    scripts
        JavaScript files, in the order in which they run.
    licences
        The licence of each.
    out
        The file, JavaScript.

    Returns
    -------
    dict
        bytes.
    """
    parts = []
    for script, licence in zip(scripts, licences, strict=True):
        lines = licence.read_text(encoding="utf-8").splitlines()
        parts += [*(f"// {line}".rstrip() for line in lines), script.read_text(encoding="utf-8")]
    text = "\n".join(parts) + "\n"
    Path(out).write_text(text, encoding="utf-8")
    return {"bytes": len(text.encode())}


if __name__ == "__main__":
    stage.run(write_scripts)
