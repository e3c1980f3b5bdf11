"""An objective."""


def value(text: str) -> int:
    """The sum."""
    return len(text)
