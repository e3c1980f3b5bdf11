"""The sentences that each model leans most about, in either direction."""

from typing import Any

from evenhand.core import stage
from evenhand.core.csv_tables import write_rows
from evenhand.core.stage import Input, Output
from evenhand.errors import InputError
from evenhand.slguset.bias_tables import by_bias, read_models

#: What is read of a dataset beside sentence_id.
DATASET = [
    "sentence",
    "pair",
    "surface",
    "surface_opposite",
    "gender",
    "start",
    "end",
    "surface_start",
    "surface_end",
    "source",
    "source_position",
]

HEADER = [
    "model",
    "direction",
    "rank",
    "bias",
    "sentence_id",
    "sentence",
    "pair",
    "surface_pair",
    *DATASET[2:],
]


def describe_sentences(
    *, dataset: Input, bias: list[Input], gates: list[Input], out: Output, top: int = 20
) -> dict[str, Any]:
    """List the most male and the most female sentences of each model.

    Parameters
    ----------
    dataset : path
        The dataset that was scored (Parquet).
    bias, gates : list of path
        A bias table per model, as `evenhand.slguset.score_bias` writes it, and its gate, in the
        same order. A model that is not trusted is left out.
    out : path
        CSV, per model and direction (male: bias > 0, female: < 0) up to `top` sentences by
        |bias|, ties by sentence_id: rank from 1, bias, the sentence with its keyword, and where
        it comes from.
    top : int
        Sentences per model and direction, at least 1.
    """
    if top < 1:
        raise InputError(f"top is {top}", remedy="give at least 1")
    sentences, read, scores = read_models(dataset, DATASET, bias, gates)
    trusted = [name for name, gate in read.items() if gate["trusted"]]
    ids = sentences["sentence_id"].tolist()
    records = sentences.to_dict("records")

    def rows():
        for name in trusted:
            values = scores[name]["bias"].to_numpy(dtype=float)
            for direction in ("male", "female"):
                for rank, row in enumerate(by_bias(values, ids, direction)[:top], start=1):
                    yield {
                        "model": name,
                        "direction": direction,
                        "rank": rank,
                        "bias": float(values[row]),
                        **records[row],
                    }

    written = write_rows(out, HEADER, rows())
    return {"models": len(trusted), "not_trusted": len(read) - len(trusted), "sentences": written}


if __name__ == "__main__":
    stage.run(describe_sentences)
