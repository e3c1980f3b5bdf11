"""Write the tables of the models' gender bias on a data set.

A table is a module of `evenhand.slguset.tables` with its columns, ``HEADER``, and a function
``rows`` of the scored models (`evenhand.slguset.bias_tables.Scored`).
"""

from typing import Any

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.slguset.bias_tables import Settings, read_models
from evenhand.slguset.tables import (
    correlations,
    distribution,
    models,
    pairs,
    sentences,
    variants,
    words,
)

#: The table that each output holds.
TABLES = {
    "out": models,
    "by_pair": pairs,
    "variants": variants,
    "correlations": correlations,
    "distribution": distribution,
    "sentences": sentences,
    "words": words,
}


def tabulate_bias(
    *,
    dataset: Input,
    bias: list[Input],
    gates: list[Input],
    stop_words: Input,
    out: Output,
    by_pair: Output,
    variants: Output,
    correlations: Output,
    distribution: Output,
    sentences: Output,
    words: Output,
    published: Input | None = None,
    threshold: float = 0.3,
    compounds: list[str] | None = None,
    top: int = 20,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Any]:
    """Write the tables of the models' gender bias on a data set.

    Parameters
    ----------
    dataset : path
        The dataset that was scored (Parquet).
    bias : list of path
        A bias table per model, as `score_bias` writes it.
    gates : list of path
        The gate of each model, in the same order.
    stop_words : path
        CSV of words that are not ranked (word, note).
    out : path
        CSV, a row per model: `evenhand.slguset.tables.models`.
    by_pair : path
        CSV, per model, group of sentences, gender and direction: `evenhand.slguset.tables.pairs`.
    variants : path
        CSV, per model and way to read a word of several tokens:
        `evenhand.slguset.tables.variants`.
    correlations : path
        CSV, per two models: `evenhand.slguset.tables.correlations`.
    distribution : path
        CSV, the sentences of each model by bias: `evenhand.slguset.tables.distribution`.
    sentences : path
        CSV, the most biased sentences: `evenhand.slguset.tables.sentences`.
    words : path
        CSV, the subject words of obvious bias: `evenhand.slguset.tables.words`.
    published : path, optional
        CSV of published counts (model, sentences, within, above, below), reported where the
        model's name and the number of sentences are the same.
    threshold : float
        |bias| above this is obvious bias, in the log base of the bias tables.
    compounds : list of str, optional
        Words around a keyword, male and female form (``男童/女童``), whose sentences are a group.
    top : int
        Sentences, and words, per list; at least 1.
    resamples : int
        Bootstrap samples per interval.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    dict
        models, trusted, sentences (of the data set), scored (sentences by model), rows (by table).

    Raises
    ------
    InputError
        The files do not belong together, or a setting is malformed.
    """
    if top < 1:
        raise InputError(f"top is {top}", remedy="give at least 1")
    settings = Settings(
        threshold=threshold,
        top=top,
        compounds=compounds,
        stop_words=stop_words,
        published=published,
        draw={"seed": seed, "resamples": resamples},
    )
    scored = read_models(dataset, bias, gates, settings)
    paths = [out, by_pair, variants, correlations, distribution, sentences, words]
    return {
        "models": len(scored.gates),
        "trusted": len(scored.trusted()),
        "sentences": len(scored.sentences),
        "scored": {name: int(one["bias"].notna().sum()) for name, one in scored.scores.items()},
        "rows": {
            name: write_rows(path, table.HEADER, table.rows(scored))
            for (name, table), path in zip(TABLES.items(), paths, strict=True)
        },
    }


if __name__ == "__main__":
    stage.run(tabulate_bias)
