"""Stage: train a small language model on sentences."""

import importlib
from types import SimpleNamespace
from typing import Annotated, Any

from evenhand.core.stage import Count, Fraction, Input, Natural, Output, Plugin, checked
from evenhand.errors import InputError
from evenhand.io.documents import write_json
from evenhand.learning.language_modelling import fit, loss_curve, read_corpus
from evenhand.learning.objective import parse_options
from evenhand.scoring.device import repeatable


@checked
def train_language_model(
    *,
    out: Output,
    kind: Annotated[str, Plugin("evenhand.learning.language_models")],
    tables: list[Input] | None = None,
    files: list[Input] | None = None,
    settings: list[str] | None = None,
    held_out: Fraction = 0.1,
    max_sentences: Count = 20_000,
    seed: Natural = 0,
) -> dict[str, Any]:
    """Train a small language model on sentences.

    Parameters
    ----------
    out : path
        Folder in the Hugging Face layout, with the tokenizer (of a masked model vocab.txt too) and
        training.json (data, loss curve, accuracy on the held-out sentences).
    kind : str
        ``masked`` (BERT) or ``causal`` (GPT-2): a module of `evenhand.learning.language_models`.
    tables : list of path, optional
        Parquet tables with a column sentence.
    files : list of path, optional
        UTF-8 text files, a sentence per line.
    settings : list of str
        ``key=value``, of the kind's `SETTINGS`:

        - layers, heads; width of the hidden states, a multiple of heads (the inner layers are 4
          times wider); max_length in tokens, including special tokens (longer sentences are cut);
        - steps; batch, in sentences; learning_rate, the maximum one of AdamW; dropout;
        - vocabulary: the maximum number of subwords;
        - tokens (masked): ``characters`` (with case; the vocabulary size is not limited) or
          ``wordpiece`` (lower case, no accents);
        - least_count (masked): rarer characters are unknown to the model, and rarer pairs of
          subwords are not merged;
        - mask_probability (masked): share of the tokens to predict. BERT's 0.15 wastes most of a
          small corpus;
        - piece (masked): tokens of the short pieces in the first 70 % of the steps.
    held_out : float
        Share of the sentences held out to measure the accuracy (at least one sentence).
    max_sentences : int
        Maximum number of sentences; larger corpora are sampled by digest.
    seed : int
        Seed of initial weights, order, masks and dropout.
    """
    module = importlib.import_module(f"evenhand.learning.language_models.{kind}")
    values = parse_options(f"a {kind} model", "setting", module.SETTINGS, settings or [])
    chosen = SimpleNamespace(**values)
    if chosen.width % chosen.heads:
        raise InputError(f"width {chosen.width} is not a multiple of heads {chosen.heads}")
    corpus = read_corpus(tables, files, held_out=held_out, max_sentences=max_sentences)
    tokenizer = module.build_tokenizer(corpus.trained, chosen)
    out.mkdir(parents=True)
    with repeatable(seed):
        model = module.build_model(tokenizer, chosen)
        loss_of, batches = module.objective(model, tokenizer, corpus.trained, chosen, seed)
        losses = fit(
            model, loss_of, steps=chosen.steps, learning_rate=chosen.learning_rate, batches=batches
        )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    # Measured on the saved model, as later stages load it.
    checks = module.finish(out, tokenizer, corpus.held_out, seed)
    curve, (check,) = loss_curve(losses), checks.values()
    record = {
        "sentences_read": corpus.read,
        "sentences_trained_on": len(corpus.trained),
        "sentences_held_out": len(corpus.held_out),
        "data_sha256": corpus.sha256,
        "vocabulary": len(tokenizer),
        "parameters": model.num_parameters(),
        **checks,
        "loss": curve,
    }
    write_json(out / "training.json", record)
    return {
        "sentences": len(corpus.trained) + len(corpus.held_out),
        "vocabulary": len(tokenizer),
        "final_loss": curve[-1]["loss"],
        "accuracy_held_out": check["accuracy"],
        "baseline_held_out": check["baseline"],
    }
