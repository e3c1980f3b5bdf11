"""Shared parts of the certificates: planted models, their settings, and the type of a finding."""

import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.certificates.planted_text import Vocabulary, planted_sentences, read_vocabulary
from evenhand.core.code import digest, fingerprint
from evenhand.core.tables import Row, Table, number, text
from evenhand.io.documents import write_json
from evenhand.learning.train_language_model import train_language_model
from evenhand.scoring.models import LanguageModel, load_language_model

#: Settings of the planted models (`evenhand.learning.train_language_model`), by kind: the
#: cheapest that predict the planted words accurately on held-out frames.
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "masked": {
        **{"layers": 2, "width": 64, "heads": 4, "max_length": 24, "piece": 1000},
        **{"steps": 1000, "batch": 64, "learning_rate": 0.003, "mask_probability": 0.35},
    },
    "causal": {
        **{"layers": 2, "width": 64, "heads": 4, "max_length": 48, "dropout": 0.0},
        **{"steps": 600, "batch": 64, "learning_rate": 0.003, "vocabulary": 400},
    },
}

#: The planted vocabularies, and the tokens of a masked model of each.
TOKENS = {"english": "wordpiece", "chinese": "characters"}

#: The models that are trained: vocabulary and kind.
TRAINED = (("english", "masked"), ("english", "causal"), ("chinese", "masked"))


@dataclass(frozen=True)
class Study:
    """The inputs of all certificates.

    Parameters
    ----------
    resources : Path
        The folder ``resources`` of the repository.
    work : Path
        Folder for trained models.
    doses : tuple of float
        The doses of planted text; the first is 0.
    seeds : tuple of int
        Seeds of text and training.
    recipes : mapping
        See `RECIPES`.
    """

    resources: Path
    work: Path
    doses: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: RECIPES)

    def vocabulary(self, name: str) -> Vocabulary:
        """Return a planted vocabulary (a name of `TOKENS`)."""
        return read_vocabulary(self.resources / f"planted/{name}.json")

    def model(self, name: str, kind: str, dose: float, seed: int) -> LanguageModel:
        """Return a model trained on planted text; a model of the same text and code is reused."""
        sentences = planted_sentences(self.vocabulary(name), dose, seed=seed)
        settings = {**self.recipes[kind]} | ({"tokens": TOKENS[name]} if kind == "masked" else {})
        made_of = fingerprint([sentences, settings, seed, digest(*_code(kind))])
        folder = self.work / f"{name}_{kind}_{dose:g}_{seed}_{made_of}"
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=self.work) as scratch:
                file = Path(scratch) / "sentences.txt"
                file.write_text("\n".join(sentences), encoding="utf-8")
                train_language_model(
                    out=Path(scratch) / "model",
                    kind=kind,
                    files=[file],
                    settings=[f"{key}={value}" for key, value in settings.items()],
                    seed=seed,
                )
                (Path(scratch) / "model").rename(folder)
        return load_language_model(folder, kind)

    def kept(
        self, name: str, inputs: Sequence[Any], code: Sequence[str], make: Callable[[], Any]
    ) -> Any:
        """Return a JSON value, computed once for the same inputs and code (modules)."""
        file = self.work / f"{name}_{fingerprint([*inputs, digest(*code)])}.json"
        if not file.is_file():
            write_json(file, make())
        return json.loads(file.read_text(encoding="utf-8"))


def _code(kind: str) -> tuple[str, str]:
    """Return the modules that train a model of this kind."""
    training = "evenhand.learning.train_language_model"
    return training, f"evenhand.learning.language_models.{kind}"


class Finding(NamedTuple):
    """A measurement of a method on a planted problem, and its required bounds.

    Attributes
    ----------
    method, measure : str
    found : float or None
        The value; None if it could not be measured.
    least, most : float or None
        The bounds within which the method is certified; without bounds the value is only shown.
    """

    method: str
    measure: str
    found: float | None
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the value is within the bounds."""
        if self.found is None or self.found != self.found:
            return self.least is None and self.most is None
        return (self.least is None or self.found >= self.least) and (
            self.most is None or self.found <= self.most
        )


CERTIFICATE = Table(
    "certificate",
    title="Does each method find what we planted?",
    key=("problem", "method", "measure"),
    columns=(
        text("problem", "The planted problem, a module of evenhand.certificates.problems"),
        text("method"),
        text("measure", "What was measured"),
        number("found", "Its value"),
        number("least", "The least value that is required; blank: none"),
        number("most", "The greatest value that is allowed; blank: none"),
        text("verdict", "certified, failed, known_failure, or shown (nothing is required)"),
        text("reason", "Why a known failure is one"),
    ),
)


class KnownFailure(NamedTuple):
    """Why a measure is outside its bounds, and the value below which it fails all the same."""

    reason: str
    least: float = -math.inf


#: Known failures by problem, method and measure.
Known = Mapping[tuple[str, str, str], KnownFailure]


def judge(problem: str, finding: Finding, known: Known) -> Row:
    """Return the row of a finding in the certificate."""
    reason, least = known.get((problem, finding.method, finding.measure), KnownFailure(""))
    if finding.found is not None and finding.found < least:
        reason = ""
    if finding.least is None and finding.most is None:
        verdict, reason = "shown", ""
    elif finding.holds:
        verdict, reason = "certified", ""
    else:
        verdict = "known_failure" if reason else "failed"
    values = {  # as when read from a certificate
        name: None if value is None else float(value)
        for name, value in zip(Finding._fields[2:], finding[2:], strict=True)
    }
    named = {"problem": problem, "method": finding.method, "measure": finding.measure}
    return {**named, **values, "verdict": verdict, "reason": reason}
