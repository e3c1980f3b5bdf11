"""Stage: the files shared by all pages: the scripts that draw figures, and the notice."""

from pathlib import Path

from evenhand.core.stage import Input, Output


def write_shared(
    *, scripts: list[Input], licences: list[Input], out: Output, notice_out: Output, notice: str
) -> dict[str, int]:
    """Join scripts into one file beside the pages that load it, and write the notice.

    Parameters
    ----------
    scripts
        JavaScript files, in the order in which they run.
    licences
        The licence of each.
    out
        The file, JavaScript.
    notice_out
        The notice, text; a template of the pages.
    notice
        A notice to readers; blank: none.

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
    Path(notice_out).write_text(notice, encoding="utf-8")
    return {"bytes": len(text.encode())}
