"""Options for reading a corpus."""

from dataclasses import dataclass
from typing import Literal

from evenhand.core.limits import CHARACTERS
from evenhand.errors import InputError
from evenhand.io.decoding import Encoding

Format = Literal["auto", "txt", "md", "html", "json", "jsonl", "csv", "tsv", "pku"]
Paragraphs = Literal["line", "blank_line"]
Markup = Literal["auto", "none", "html", "markdown"]


@dataclass(frozen=True)
class Options:
    """Options for the files of a corpus; see the stage `extract_sentences`."""

    format: Format = "auto"
    text_field: str = "text"
    header: bool = True
    delimiter: str | None = None
    encoding: Encoding = "auto"
    paragraphs: Paragraphs = "line"
    markup: Markup = "auto"
    max_characters: int = CHARACTERS

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter) != 1:
            problem = f"the delimiter {self.delimiter!r} is not one character"
            raise InputError(problem, remedy='write a tab as "\\t" in double quotes')
        field = self.text_field
        if not field or (field.isdecimal() and int(field) == 0):
            problem = f"the text field {self.text_field!r} is no name and no column number"
            raise InputError(problem, remedy="give the field's name, or the column's number from 1")
        if not self.header and not self.text_field.isdecimal():
            problem = f"there is no header, and the text field {self.text_field!r} is no number"
            raise InputError(problem, remedy="give the column's number, from 1")
