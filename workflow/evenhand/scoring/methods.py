"""The scoring methods, by name: which models they are for, and what they were published as."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """One way to give a sentence a number; more is likelier.

    Attributes
    ----------
    name : str
        Its column in the scores.
    family : str
        ``masked`` or ``causal``: the models that it is for.
    title : str
        What the page calls it.
    meaning : str
        What the number is, in one sentence.
    compat_of : str or None
        The method that this one is the published form of, quirks included.
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
            "All masked",
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
