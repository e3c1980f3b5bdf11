"""A small legal data set with its tokens and a small random encoder, and a training of it."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import BertConfig, BertModel

from evenhand.core import stage
from evenhand.legal.built import load_dataset
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.legal.train_classifier import train_classifier
from unit.legal import made_tokenizers
from unit.legal.made_cases import write_cases


class Made(NamedTuple):
    """Where everything is."""

    folder: Path
    kind: str
    data: Path
    tokens: Path
    meta: Path
    model: Path

    def inputs(self) -> dict[str, Any]:
        """What `train_classifier` reads."""
        return {
            "data": self.data,
            "tokens": self.tokens,
            "tokens_meta": self.meta,
            "model": self.model,
            "kind": self.kind,
        }


ATTRIBUTES = {"ecthr": "applicant_gender", "scotus": "decision_direction"}

GROUPS = {"ecthr": ["male", "female", None], "scotus": ["conservative", "liberal"]}


def cases(kind: str, count: int = 48) -> list[dict[str, Any]]:
    """Cases whose label is the word that they repeat; one without a label, one without a text."""
    generator = np.random.default_rng(3)
    labels, made = load_dataset(kind).labels, []
    for number in range(count):
        label = int(generator.integers(3))
        group = GROUPS[kind][int(generator.integers(len(GROUPS[kind])))]
        noise = " ".join(generator.choice(made_tokenizers.WORDS[:6], 4))
        made.append(
            {
                "split": ["train", "train", "dev", "test"][number % 4],
                "labels": [labels[label]],
                "text": [noise, f"word{label} word{label} {noise}", *[noise] * (number % 3)],
                ATTRIBUTES[kind]: group,
            }
        )
    made[5]["labels"] = None
    made[7]["text"] = []
    return made


def save_model(folder: Path, *, longest: int = 128) -> Path:
    """A random BERT, two layers of 16, with the words' tokenizer."""
    made_tokenizers.save(folder, made_tokenizers.words(extra=4))
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=20,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=longest,
        initializer_range=0.4,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def make(folder: Path, kind: str = "ecthr", rows: list[dict[str, Any]] | None = None) -> Made:
    """Write all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    model = save_model(folder / "model")
    data = write_cases(folder / f"{kind}.parquet", kind, cases(kind) if rows is None else rows)
    tokens, meta = folder / "t.arrow", folder / "t.json"
    tokenise_cases(data=data, out=tokens, meta=meta, kind=kind, name="words", model=model)
    return Made(folder, kind, data, tokens, meta, model)


def outputs(folder: Path) -> dict[str, Path]:
    """What `train_classifier` writes."""
    return {name: folder / name for name in ("out", "history", "weights")}


def options(**given: Any) -> dict[str, Any]:
    """A short training."""
    usual = {"classifier": "tiny", "objective": "erm", "lr": 0.01, "batch": 6, "epochs": 3}
    return {**usual, "patience": 9, **given}


if __name__ == "__main__":  # killed and started again by the tests
    from evenhand.io import checkpoint

    checkpoint.SECONDS, checkpoint.SHARE = 0.0, 0
    where = Path(sys.argv[1])
    given = Made(where, "ecthr", where / "ecthr.parquet", where / "t.arrow", where / "t.json",
                 where / "model")  # fmt: skip
    training = options(objective="group_dro", attribute="applicant_gender")
    stage.execute(train_classifier, {**given.inputs(), **outputs(where / "killed"), **training})
