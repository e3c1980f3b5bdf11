"""A small legal data set as each family of classifiers reads it, and a training of it."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import BertConfig, BertModel

from evenhand.legal.embed_paragraphs import embed_paragraphs
from evenhand.legal.find_neighbours import find_neighbours
from evenhand.legal.fit_tfidf import fit_tfidf
from evenhand.legal.make_counterfactuals import make_counterfactuals
from evenhand.legal.tokenise_cases import tokenise_cases
from evenhand.legal.transform_tfidf import transform_tfidf
from unit.legal import made_tokenizers
from unit.legal.made_cases import court, write_cases

FAMILIES = ("linear", "frozen", "hierarchical")


class Made(NamedTuple):
    """Where everything is."""

    folder: Path
    kind: str
    data: Path
    model: Path

    @property
    def tokens(self) -> Path:
        """The cases as tokens; beside them is the description."""
        return self.folder / "tokens.arrow"

    def inputs(self, family: str = "hierarchical", *, pairs: bool = False) -> dict[str, Any]:
        """What `train_classifier` reads for a family; with counterfactuals and neighbours."""
        name = {"linear": "words", "frozen": "vectors", "hierarchical": "tokens"}[family]
        given = {"data": self.data, "family": family}
        for role, stem in [("features", name), *([("counterfactuals", f"cf_{name}")] * pairs)]:
            given[role] = self.folder / f"{stem}.arrow"
            if family != "linear" and role == "features":
                given[f"{role}_meta"] = self.folder / f"{stem}.json"
        if pairs:
            space = "words" if family == "linear" else "vectors"
            given["neighbours"] = self.folder / f"near_{space}.parquet"
        return given | ({"model": self.model} if family == "hierarchical" else {})


ATTRIBUTES = {"ecthr": "applicant_gender", "scotus": "decision_direction"}

GROUPS = {"ecthr": ["male", "female", None], "scotus": ["conservative", "liberal"]}


def cases(kind: str, count: int = 48) -> list[dict[str, Any]]:
    """Cases whose label is the word that they repeat; one without a label, one without a text."""
    generator = np.random.default_rng(3)
    labels, made = court(kind).labels, []
    for number in range(count):
        label = int(generator.integers(3))
        group = GROUPS[kind][int(generator.integers(len(GROUPS[kind])))]
        noise = " ".join(generator.choice(made_tokenizers.WORDS[:6], 4))
        row = {
            "split": ["train", "train", "dev", "test"][number % 4],
            "labels": [labels[label]],
            "text": [noise, f"word{label} word{label} {noise}", *[noise] * (number % 3)],
            ATTRIBUTES[kind]: group,
        }
        made.append(row)
    made[5]["labels"] = None
    made[7]["text"] = []
    return made


def save_model(folder: Path, *, longest: int = 128, width: int = 16) -> Path:
    """A random BERT of two layers, with the words' tokenizer."""
    made_tokenizers.save(folder, made_tokenizers.words(extra=4))
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=20,
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=longest,
        initializer_range=0.4,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def make(folder: Path, kind: str = "ecthr", rows: list[dict[str, Any]] | None = None) -> Made:
    """Write all of it; the counterfactuals have "born" for "facts"."""
    folder.mkdir(parents=True, exist_ok=True)
    model = save_model(folder / "model")
    rows = cases(kind) if rows is None else rows
    made = Made(folder, kind, write_cases(folder / f"{kind}.parquet", kind, rows), model)
    table, swapped = folder / "swap_en.csv", folder / "counterfactuals.parquet"
    table.write_text("word,opposite,opposite_alone\nfacts,born,\nborn,facts,\n")
    make_counterfactuals(data=made.data, tables=[table], out=swapped)
    words = {"vocabulary": folder / "words.csv"}
    fit_tfidf(data=made.data, out=folder / "words.arrow", min_df=1, **words)
    transform_tfidf(counterfactuals=swapped, out=folder / "cf_words.arrow", **words)
    known = {}
    for stem, data in (("", made.data), ("cf_", swapped)):
        tokens, vectors = (
            {"out": folder / f"{stem}{name}.arrow", "meta": folder / f"{stem}{name}.json"}
            for name in ("tokens", "vectors")
        )
        tokenise_cases(data=data, name="words", model=model, **tokens)
        reads = {"tokens": tokens["out"], "tokens_meta": tokens["meta"], "model": model}
        embed_paragraphs(**reads, **vectors, **known)
        known = {"same_tokens": tokens["out"], "same": vectors["out"]}
    for name in ("words", "vectors"):
        given = {"features": folder / f"{name}.arrow", "out": folder / f"near_{name}.parquet"}
        find_neighbours(data=made.data, **given)
    return made


def outputs(folder: Path, family: str = "hierarchical") -> dict[str, Path]:
    """What `train_classifier` writes."""
    names = ("out", "history", *(["weights"] if family == "hierarchical" else []))
    return {name: folder / name for name in names}


#: The arguments that are no settings.
OWN = {
    *("objective", "objective_options", "attribute", "seeds", "classifier", "device", "hub_name"),
    *("threads", "weights"),
}


def options(**given: Any) -> dict[str, Any]:
    """A short training; what is no argument of the stage is a setting."""
    values = {"learning_rate": 0.01, "batch": 6, "epochs": 3, "patience": 9} | given
    settings = [f"{key}={value}" for key, value in values.items() if key not in OWN]
    usual = {"classifier": "tiny", "objective": "erm", "seeds": [1], "settings": settings}
    return usual | {key: value for key, value in given.items() if key in OWN}


def arguments(
    made: Made, family: str, folder: Path, *, pairs: bool = False, **given: Any
) -> dict[str, Any]:
    """All arguments of `train_classifier`; some may take the place of the usual files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = made.inputs(family, pairs=pairs) | outputs(folder, family)
    replaced = {key: given.pop(key) for key in [*given] if key in {*files, "counterfactuals"}}
    return files | replaced | options(**given)
