"""Properties of a data set of texts: its labels, its protected attributes, its limits."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A protected attribute.

    Attributes
    ----------
    name : str
        Its column in the data set.
    module : str
        The module of `evenhand.legal.attributes` that finds it.
    title : str
        Its name in the report.
    groups : tuple of str
        The groups, in FairLex's order, without the unknown one. Empty for a number.
    unknown : str or None
        FairLex's name for the unknown group (index 0 in its files); None if it has none.
    """

    name: str
    module: str
    title: str
    groups: tuple[str, ...] = ()
    unknown: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set of texts: one of FairLex's four (Chalkidis et al. 2022, section 3), or another.

    Attributes
    ----------
    kind, title : str
        Its recipe, or ``declared``; its name in the report.
    languages : tuple of str
        The languages of its texts, as in its column ``language``.
    task : str
        ``multi_label`` or ``multi_class``.
    labels : tuple of str
        In FairLex's order: a label's place is its number. Empty if known by the files only.
    attributes : tuple of Attribute
        In the order of the tables.
    segments, tokens : int
        Paragraphs, and tokens of each, that the published encoder reads.
    published : dict of str to int
        Cases in train, dev and test as released by FairLex.
    years : str
        The period of the published splits.
    licence : str
        Of the released data.
    people : str
        The people in these cases, and a user's duties to them: for the data card.
    """

    title: str
    languages: tuple[str, ...]
    task: str
    labels: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    kind: str = "declared"
    segments: int = 32
    tokens: int = 128
    published: dict[str, int] = field(default_factory=dict)
    years: str = ""
    licence: str = "That of its files; the configuration does not state it"
    people: str = (
        "The attributes are columns of the files. Whoever collected them knows what they mean,"
        " and whether the people in the texts agreed."
    )

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of this name; KeyError if there is none."""
        return {attribute.name: attribute for attribute in self.attributes}[name]
