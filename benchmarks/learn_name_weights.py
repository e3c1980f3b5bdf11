"""Learn name_weights.csv from text in which people marked the names.

    python benchmarks/learn_name_weights.py --pku pd1998.txt.gz --cluener cluener/train.json \\
        --cluener cluener/dev.json

Logistic regression on the words that jieba tags as names, by whether they overlap a marked one.
CLUENER marks the people of films, books and games as such: words in them do not count.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

from evenhand.slguset.name_weights import NameWeights  # noqa: E402
from evenhand.slguset.names import read_surnames  # noqa: E402
from evenhand.text.posseg import find_names  # noqa: E402
from evenhand.text.segmentation import cut_all  # noqa: E402
from evenhand.text.tagged import read_tagged  # noqa: E402

TABLES = REPOSITORY / "resources/packs/zh_gender"
FICTION = ("game", "movie", "book")
#: The inverse of the penalty; the least words with a feature; the probability that makes a name,
#: chosen on texts that are not learned from (docs/reproduced.md).
C, FEWEST, THRESHOLD = 1, 50, 0.1

Spans = tuple[tuple[int, int], ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pku", action="append", default=[], type=Path)
    parser.add_argument("--cluener", action="append", default=[], type=Path)
    arguments = parser.parse_args()
    texts = [t for path in arguments.pku for t in read_pku(path)]
    texts += [t for path in arguments.cluener for t in read_cluener(path)]
    weights = NameWeights({}, read_surnames(TABLES / "surnames.csv"))
    words = cut_all([text for text, _, _ in texts])
    found = find_names([text for text, _, _ in texts], words)
    features, labels = [], []
    for (_, names, ignored), words_of, tagged in zip(texts, words, found, strict=True):
        for name in tagged:
            marked, unclear = (
                any(start < name.end and end > name.start for start, end in spans)
                for spans in (names, ignored)
            )
            if weights.may_be_name(name.word) and (marked or not unclear):
                features.append(weights.features(words_of, name))
                labels.append(marked)
    counts = Counter(key for each in features for key in each)
    kept = [{k: v for k, v in each.items() if counts[k] >= FEWEST} for each in features]
    vectors = DictVectorizer()
    model = LogisticRegression(C=C, max_iter=4000, fit_intercept=False)
    model.fit(vectors.fit_transform(kept), labels)
    learned = dict(zip(vectors.feature_names_, model.coef_[0], strict=True))
    learned["always"] -= math.log(THRESHOLD / (1 - THRESHOLD))
    with (TABLES / "name_weights.csv").open("w", encoding="utf-8", newline="\n") as file:
        file.write("feature,weight\n")
        file.writelines(f"{key},{weight:.2f}\n" for key, weight in sorted(learned.items()))
    print(f"{len(learned)} weights from {len(labels)} words, {sum(labels)} of them names")


def read_pku(path: Path) -> Iterator[tuple[str, Spans, Spans]]:
    """Yield the distinct sentences with the spans of the names."""
    for tagged in {tagged.text: tagged for tagged in read_tagged(path, "pku")}.values():
        yield tagged.text, tagged.names, ()


def read_cluener(path: Path) -> Iterator[tuple[str, Spans, Spans]]:
    """Yield the texts with the spans of names and of fiction."""
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)

        def spans(*labels: str, marked: dict = record["label"]) -> Spans:
            pairs = (pair for k in labels for each in marked.get(k, {}).values() for pair in each)
            return tuple((start, last + 1) for start, last in pairs)

        yield record["text"], spans("name"), spans(*FICTION)


if __name__ == "__main__":
    main()
