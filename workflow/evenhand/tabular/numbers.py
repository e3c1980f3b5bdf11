"""Numbers in cells and in messages."""

#: Digits of the longest whole number: all columns that hold such numbers count something.
MOST_DIGITS = 15


def number(text: str) -> float:
    """A number as people write it.

    Python also reads ``1_0`` as 10; in a table that is a code or an error.

    Raises
    ------
    ValueError
        It is none.
    """
    if "_" in text:
        raise ValueError(f"{text!r} is no number")
    return float(text)


def whole(text: str) -> int:
    """A whole number, likewise."""
    if "_" in text or len(text) > MOST_DIGITS:
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def counted(count: int, noun: str) -> str:
    """``1 value``, ``2 values``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
