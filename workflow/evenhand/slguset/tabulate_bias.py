"""All tables of the models' gender bias: each module of `evenhand.slguset.tables` is one."""

from types import SimpleNamespace
from typing import Annotated, Any

from evenhand.core.families import load_members
from evenhand.core.stage import Count, Input, Output, Range, checked
from evenhand.core.tables import tabulate
from evenhand.slguset import tables
from evenhand.slguset.bias_tables import read_models
from evenhand.slguset.keywords import GENDERS


@checked
def tabulate_bias(
    *,
    dataset: Input,
    bias: list[Input],
    gates: list[Input],
    out: Output,
    stop_words: Input | None = None,
    published: Input | None = None,
    scores: list[Input] | None = None,
    score_gates: list[Input] | None = None,
    threshold: Annotated[float, Range(above=0)] = 0.3,
    compounds: list[str] | None = None,
    top: Count = 20,
    values: list[str] | None = None,
) -> dict[str, Any]:
    """Compute the tables of the models' gender bias on a data set.

    Parameters
    ----------
    dataset : path
        The dataset that was scored (Parquet).
    bias : list of path
        A bias table per model, as `score_bias` writes it.
    gates : list of path
        The gate of each model, in the same order.
    stop_words : path, optional
        CSV of words that are not ranked (word, note); without it, no words are.
    out : path
        The folder of the tables; see `evenhand.core.tables`.
    published : path, optional
        CSV of published counts (model, sentences, within, above, below), reported where the
        model's name and the number of sentences are the same.
    scores, score_gates : list of path, optional
        The scores of the pairs made from this dataset (`evenhand.stereotypes.scores`) and their
        gates, a file per model, in the same order.
    threshold : float
        |bias| above this is obvious bias, in the log base of the bias tables. It is also the
        smallest mean bias that matters.
    compounds : list of str, optional
        Words around a keyword, male and female form (``男童/女童``), whose sentences are a group.
    top : int
        Sentences, and words, per list; at least 1.
    values : list of str, optional
        The values of the attribute; male and female by default.

    Returns
    -------
    dict
        models, trusted, sentences (of the data set), scored (sentences by model), rows (by table),
        left_out (tables that do not apply).

    Raises
    ------
    InputError
        The files do not belong together, or a compound is malformed.
    """
    values = tuple(values or GENDERS)
    scored = read_models(SimpleNamespace(**locals()))
    # the table of models compares male and female; that of values replaces it for other values
    genders = values == GENDERS
    members = [m for m in load_members(tables) if not (genders and m.TABLE.name == "values")]
    return {
        "models": len(scored.gates),
        "trusted": len(scored.trusted()),
        "sentences": len(scored.sentences),
        "scored": {name: int(table["bias"].notna().sum()) for name, table in scored.scores.items()},
    } | tabulate(out, members, scored)
