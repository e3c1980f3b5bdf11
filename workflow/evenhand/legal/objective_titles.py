"""The titles of the objectives that classifiers are trained with, and of the attributes."""

from evenhand.errors import InputError


class Titles(dict[str, str]):
    """Titles by name; a name without one is its own title, without underscores."""

    def __missing__(self, name: str) -> str:
        return name.replace("_", " ")

    def heading(self, name: str) -> str:
        """Return the title with a capital."""
        return self[name][:1].upper() + self[name][1:]


def titles_of(objectives: list[str] | None, titles: list[str] | None) -> Titles:
    """Return the titles of objectives, from the arguments of a stage.

    Raises
    ------
    InputError
        There is not one title for each objective.
    """
    objectives, titles = objectives or [], titles or []
    if len(objectives) != len(titles):
        raise InputError("there is not one title for each objective")
    return Titles(zip(objectives, titles, strict=True))
