"""What people call the objectives that classifiers are trained with, and the attributes."""

from evenhand.errors import InputError


class Titles(dict[str, str]):
    """Titles by names; one that is not there has its own name, without underscores."""

    def __missing__(self, name: str) -> str:
        return name.replace("_", " ")

    def heading(self, name: str) -> str:
        """The same as it stands alone."""
        return self[name][:1].upper() + self[name][1:]


def titles_of(names: list[str] | None, titles: list[str] | None, what: str = "objective") -> Titles:
    """What objectives (or what it is) are called, as a stage is told.

    Raises
    ------
    InputError
        There is not one title for each name.
    """
    names, titles = names or [], titles or []
    if len(names) != len(titles):
        raise InputError(f"there is not one title for each {what}")
    return Titles(zip(names, titles, strict=True))
