"""Drop the words of a table."""

from evenhand.toy.shared import words as split

from evenhand.core.stage import Input, Output


def drop(*, words: Input, table: Input, out: Output) -> dict:
    """Write the words that the table does not name."""
    named = set(split(table.read_text()))
    out.write_text("\n".join(word for word in split(words.read_text()) if word not in named))
    return {}
