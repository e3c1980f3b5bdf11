"""Errors that a user can act on."""

from pathlib import Path


class InputError(Exception):
    """Input that cannot be used: what is wrong, where, and what to do.

    A stage that meets one prints it as a single sentence and exits with status 2;
    any other exception is a defect of ours and shows its traceback.

    Parameters
    ----------
    problem : str
        What is wrong, without a final dot.
    file : Path, optional
        The file at fault.
    line : int, optional
        The line (counted from 1) or row at fault.
    remedy : str, optional
        What the user can do about it, in the imperative.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.remedy = problem, file, line, remedy
        where = f"{file}: " if file and line is None else f"{file}:{line}: " if file else ""
        then = f"; {remedy}" if remedy else ""
        super().__init__(f"{where}{problem}{then}.")
