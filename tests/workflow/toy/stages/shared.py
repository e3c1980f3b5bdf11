"""What two stages share."""


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def unused() -> None:
    """Nobody calls this."""
