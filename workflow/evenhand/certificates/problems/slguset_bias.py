"""SlguSet's Bias on Chinese sentences, by the dose of the association in the training text."""

import math
from collections.abc import Iterator

from evenhand.certificates.dose_response import dose_rows, dose_table, summarise
from evenhand.certificates.study import TRAINED, Finding, Study
from evenhand.core.tables import Row
from evenhand.scoring.models import LanguageModel
from evenhand.slguset.bias_tables import BIAS
from evenhand.slguset.keywords import Keywords, read_keywords
from evenhand.slguset.sentence_bias import score_sentences

TABLE = dose_table("slguset_bias", "SlguSet's Bias by planted dose")

#: The Bias and its variants, for words of several tokens.
METHODS = [name for name in BIAS.names if name.startswith("bias")]


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per trained model, variant of the Bias and kind of frames."""
    keywords = read_keywords(study.resources / "packs/zh_gender/keywords.csv")

    def differences(model: LanguageModel, pairs: list[Row], _family: str) -> dict[str, list[float]]:
        sentences = [_sentence(pair, keywords) for pair in pairs]
        scored = score_sentences(model, sentences, log_base=math.e, tokens_per_batch=4096)
        values: dict[str, list[float]] = {method: [] for method in METHODS}
        for sentence, (result, _) in zip(sentences, scored, strict=True):
            sign = 1 if sentence["gender"] == "male" else -1
            for method, some in values.items():
                some.append(math.nan if result[method] is None else result[method] * sign)
        return values

    chinese = (trained for trained in TRAINED if trained[0] == "chinese")
    return dose_rows(study, chinese, differences)


def findings(measured: list[Row]) -> Iterator[Finding]:
    """Yield the findings on each variant of the Bias, which is a difference of log-odds."""
    return summarise(measured, METHODS)


def _sentence(pair: Row, keywords: Keywords) -> Row:
    """Return the stereotypical sentence of a pair in the form of SlguSet."""
    sentence = pair["more"]
    match = keywords.pattern.search(sentence)
    surface = keywords.surfaces[match[0]]
    start = match.start() + surface.offset
    return {
        **{"sentence": sentence, "start": start, "end": start + len(surface.keyword)},
        **{"keyword": surface.keyword, "opposite": surface.opposite, "gender": surface.value},
    }
