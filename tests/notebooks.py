"""Notebooks, executed in the process of the test: it has imported all that a kernel would."""

import ast
import contextlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat


@dataclass
class Executed:
    """A cell: what it wrote, and the value of its last expression."""

    stdout: str
    stderr: str
    value: Any


def execute(path: Path) -> list[Executed]:
    """Execute the cells of a notebook without outputs, and represent their values as it would."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    done = []
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type != "code":
            continue
        assert cell.outputs == [] and cell.execution_count is None, f"{path} has outputs"
        body = ast.parse(cell.source).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else ast.parse("None").body[0]
        name, out, err = f"{path.name}, cell {number}", io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            exec(compile(ast.Module(body, []), name, "exec"), variables)
            value = eval(compile(ast.Expression(last.value), name, "eval"), variables)
            assert repr(value) and getattr(value, "_repr_html_", lambda: True)()
        done.append(Executed(out.getvalue(), err.getvalue(), value))
    return done
