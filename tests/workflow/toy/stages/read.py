"""Read the words of a text."""

from evenhand.toy.shared import words

from evenhand.core.stage import Input, Output


def read(*, text: Input, out: Output, min_length: int = 1, upper: bool = False) -> dict:
    """Write one word a line."""
    kept = [word for word in words(text.read_text()) if len(word) >= min_length]
    out.write_text("\n".join(word.upper() if upper else word for word in kept))
    return {"words": len(kept)}
