"""The scoring methods by name, with their model family and published form."""

from dataclasses import dataclass

from evenhand.core.phrases import phrases_of


@dataclass(frozen=True)
class Method:
    """A score of sentences; higher is likelier.

    Attributes
    ----------
    name : str
        The method's column in the scores.
    family : str
        The models to which it applies: ``masked`` or ``causal``.
    title : str
        The method's name in the report.
    meaning : str
        A definition of the score.
    compat_of : str or None
        The method of which this one is the published form, including its quirks.
    log_odds : bool
        Whether the scores of a pair differ by the log-odds of its words, given the others.
    """

    name: str
    family: str
    title: str
    meaning: str
    compat_of: str | None = None
    log_odds: bool = False


#: By name, in their order.
METHODS = {name: Method(name, **facts) for name, facts in phrases_of(__file__)["methods"].items()}
#: Neither published forms with their quirks, nor the control.
COUNTING = tuple(
    name for name, method in METHODS.items() if not method.compat_of and name != "all_masked"
)
