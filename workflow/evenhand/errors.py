"""Errors that a user can act on."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

#: Characters of a problem that are shown.
LONGEST = 1000

#: Control characters (line ends too), and marks that change the direction of the text.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")

#: The remedy for a damaged result.
AGAIN = "copy it again, or remove it and run the workflow or the audit again"

#: An option in a problem or a remedy, `bins` or `bins.age`.
_OPTION = re.compile(r"`([\w.]+)`")


@contextmanager
def errors_of_disk() -> Iterator[None]:
    """Let an error of the system about a path be an InputError."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        problem = f"cannot be read or written ({error.strerror})"
        raise InputError(problem, file=error.filename, remedy="name another path") from error


class InputError(Exception):
    """Input that cannot be used, with the problem, its place and a remedy.

    A stage that meets one prints it as a single sentence and exits with status 2;
    any other exception is a defect of ours and shows its traceback.

    Parameters
    ----------
    problem : str or sequence of str
        The problem, without a final dot; several problems get a line each.
    file : Path, optional
        The file at fault.
    line : int, optional
        The line (counted from 1) or row at fault.
    remedy : str, optional
        The fix, in the imperative.
    """

    def __init__(
        self,
        problem: str | Sequence[str],
        *,
        file: Path | str | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        problems = [problem] if isinstance(problem, str) else problem
        self.problem = "\n".join(map(one_line, problems))
        self.file, self.line, self.remedy = file, line, remedy
        place = one_line(str(file)) if file else ""
        where = f"{place}: " if file and line is None else f"{place}:{line}: " if file else ""
        then = f"; {one_line(remedy)}" if remedy else ""
        sentence = f"{where}{self.problem}{then}"
        super().__init__(sentence if sentence.endswith("?") else f"{sentence}.")

    def with_names(self, known: Callable[[str], str]) -> "InputError":
        """Return the error with the names by which the user knows the options in backticks.

        Parameters
        ----------
        known : callable
            Returns the flag or the key of the configuration of an argument.
        """
        problem, remedy = (with_names(text, known) for text in (self.problem, self.remedy or ""))
        place = {"file": self.file, "line": self.line, "remedy": remedy or None}
        return InputError(problem.splitlines(), **place)


class MissingPathError(InputError):
    """A key of the configuration names a path or a pattern without a file or folder."""

    def __init__(self, key: str, path: str, remedy: str) -> None:
        self.key, self.path = key, path
        problem = f"config: {key} is {path}, and there is no such file or folder"
        super().__init__(problem, remedy=remedy)


def with_names(text: str, known: Callable[[str], str]) -> str:
    """Return a text with the user's names of the options in backticks; see `InputError`."""
    return _OPTION.sub(lambda match: f"`{known(match[1])}`", text)


@contextmanager
def placed(file: Path | str, line: int | None = None) -> Iterator[None]:
    """Let an error of the block that names no file name this place."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        problems = error.problem.splitlines()
        raise InputError(problems, file=file, line=line, remedy=error.remedy) from error.__cause__


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the known name most like a name, by letters of any case and accent; else blank."""
    folded = {_folded(each): each for each in known}
    near = difflib.get_close_matches(_folded(str(name).strip()), folded, n=1, cutoff=0.75)
    return folded[near[0]] if near else ""


def _folded(name: str) -> str:
    """Return a name in lower case without accents."""
    parts = unicodedata.normalize("NFD", name.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))


def one_line(text: str, longest: int = LONGEST) -> str:
    """A text of any origin on one line of bounded length, without controls."""
    if len(text) > longest:
        text = f"{text[: longest * 2 // 3]} ... {text[-longest // 3 :]}"
    return _UNSEEN.sub(" ", text)
