"""The scoring methods by name, with their model family and published form."""

from dataclasses import dataclass


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
    """

    name: str
    family: str
    title: str
    meaning: str
    compat_of: str | None = None


METHODS = {
    method.name: method
    for method in (
        Method(
            "aul",
            "masked",
            "AUL",
            "mean log-probability of the tokens, read from the whole sentence without masks",
        ),
        Method(
            "aula",
            "masked",
            "AULA",
            "as AUL, each token weighted by the attention it receives; the weights do not add"
            " up to one, so it prefers longer sentences",
            compat_of="aula_norm",
        ),
        Method(
            "aula_norm",
            "masked",
            "AULA, normalised",
            "as AULA, divided by the sum of the weights",
        ),
        Method(
            "cps",
            "masked",
            "CPS",
            "sum of the log-probabilities of the tokens that both sentences share, each masked"
            " by itself",
        ),
        Method(
            "sss",
            "masked",
            "SSS",
            "mean log-probability of the tokens that differ, all masked at once",
        ),
        Method(
            "sss_compat",
            "masked",
            "SSS as coded",
            "as SSS, but averaged over every differing token at every differing place",
            compat_of="sss",
        ),
        Method(
            "all_masked",
            "masked",
            "All tokens masked",
            "mean log-probability of the tokens when every token is masked: a control, since the"
            " model sees the length only",
        ),
        Method(
            "log_likelihood",
            "causal",
            "Log-likelihood",
            "sum of the log-probabilities of the tokens, each given those before it",
        ),
        Method(
            "log_likelihood_per_token",
            "causal",
            "Log-likelihood per token",
            "mean of the log-probabilities of the tokens, each given those before it",
        ),
    )
}

#: Neither published forms with their quirks, nor the control.
COUNTING = tuple(
    name for name, method in METHODS.items() if not method.compat_of and name != "all_masked"
)
