"""The titles of the objectives that classifiers are trained with, and of the attributes."""


class Titles(dict[str, str]):
    """Titles by name; a name without one is its own title, without underscores."""

    def __missing__(self, name: str) -> str:
        return name.replace("_", " ")

    def heading(self, name: str) -> str:
        """Return the title with a capital."""
        return self[name][:1].upper() + self[name][1:]
