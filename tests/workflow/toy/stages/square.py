"""Another objective."""


def value(text: str) -> int:
    """The square."""
    return len(text) ** 2
