"""SlguSet's Bias on Chinese sentences, by the dose of the association in the training text."""

import math
from collections.abc import Iterator

from evenhand.certificates.dose_response import dose_row, dose_table, summarise
from evenhand.certificates.planted_text import planted_pairs
from evenhand.certificates.study import TRAINED, Finding, Study
from evenhand.core.tables import Row
from evenhand.slguset.bias_tables import BIAS
from evenhand.slguset.keywords import Keywords, read_keywords
from evenhand.slguset.sentence_bias import score_sentences

TABLE = dose_table("slguset_bias", "SlguSet's Bias by planted dose")

#: The Bias and its variants, for words of several tokens.
METHODS = [name for name in BIAS.names if name.startswith("bias")]


def rows(study: Study) -> Iterator[Row]:
    """Yield a row per trained model, variant of the Bias and kind of frames."""
    keywords = read_keywords(study.resources / "packs/zh_gender/keywords.csv")
    words = study.vocabulary("chinese")
    sets = {new: planted_pairs(words, seed=0, new_frames=new) for new in (False, True)}
    for family in (family for language, family in TRAINED if language == "chinese"):
        for dose, seed in study.trainings():
            model = study.model("chinese", family, dose, seed)
            for new_frames, pairs in sets.items():
                sentences = [_sentence(pair, keywords) for pair in pairs]
                scored = score_sentences(model, sentences, log_base=math.e, tokens_per_batch=4096)
                clusters = [pair["cluster"] for pair in pairs]
                signs = [1 if one["gender"] == "male" else -1 for one in sentences]
                for method in METHODS:
                    values = [result[method] for result, _ in scored]
                    signed = [
                        math.nan if value is None else value * sign
                        for value, sign in zip(values, signs, strict=True)
                    ]
                    yield {
                        **{"language": "chinese", "family": family, "method": method},
                        **{"seed": seed, "new_frames": new_frames},
                        **dose_row(signed, clusters, dose),
                    }


def findings(found: list[Row]) -> Iterator[Finding]:
    """Yield the findings on each method."""
    return summarise(found)


def _sentence(pair: Row, keywords: Keywords) -> Row:
    """Return the stereotypical sentence of a pair in the form of SlguSet."""
    sentence = pair["more"]
    found = keywords.pattern.search(sentence)
    surface = keywords.surfaces[found[0]]
    start = found.start() + surface.offset
    return {
        **{"sentence": sentence, "start": start, "end": start + len(surface.keyword)},
        **{"keyword": surface.keyword, "opposite": surface.opposite, "gender": surface.value},
    }
