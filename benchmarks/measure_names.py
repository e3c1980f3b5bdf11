"""How well the name filters find sentences with personal names, against tagged text.

    python benchmarks/measure_names.py --tagged pd1998.txt.gz pku --tagged cluener/dev.json \
        cluener --crf crf.crfsuite crf.json

A sentence counts as rejected if the filter gives any reason, with all policies on `drop`, and
as named if people marked a name in it. Of corpora that a CRF was trained on only the sentences
held out are measured (--held-out, --seed: as in training). everyday_words.csv and
name_weights.csv were made from all of the People's Daily and CLUENER: measure them on other text.
The threshold of names_lac was chosen on CLUENER, Boson, MSRA and Weibo.
The rows `single` hold sentences with exactly one gender keyword, which is exempt, as in the data
set.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

from evenhand.io.documents import read_description  # noqa: E402
from evenhand.slguset.filters import names_crf, names_jieba, names_lac, names_spacy  # noqa: E402
from evenhand.slguset.keywords import read_keywords  # noqa: E402
from evenhand.slguset.train_names_crf import hash_position  # noqa: E402
from evenhand.slguset.verdicts import Finding, Judge  # noqa: E402
from evenhand.text.tagged import TaggedText, read_tagged  # noqa: E402

TABLES = REPOSITORY / "resources/packs/zh_gender"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tagged", nargs=2, action="append", required=True, metavar=("FILE", "FORMAT")
    )
    parser.add_argument("--crf", nargs=2, action="append", default=[], metavar=("MODEL", "REPORT"))
    parser.add_argument("--threshold", type=float, action="append", default=[])
    parser.add_argument("--spacy", action="append", default=[], metavar="PIPELINE")
    parser.add_argument("--held-out", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=0, help="show so many errors of each kind")
    arguments = parser.parse_args()
    judges = dict(make_judges(arguments))
    pattern = read_keywords(TABLES / "keywords.csv").pattern
    print("| text | sentences | with a name | filter | precision | recall | clean lost |")
    print("|---|---|---|---|---|---|---|")
    for file, form in arguments.tagged:
        sentences = dict.fromkeys(
            tagged
            for tagged in read_tagged(Path(file), form)
            if hash_position(tagged.text, arguments.seed) < arguments.held_out
        )
        surfaces = {s: list(pattern.finditer(s.text)) for s in sentences}
        single = [s for s in sentences if len(surfaces[s]) == 1]
        for which, chosen in (("single", single), ("all", list(sentences))):
            spans = [surfaces[s][0].span() if which == "single" else (0, 0) for s in chosen]
            for name, judge in judges.items():
                starts, ends = ([span[i] for span in spans] for i in (0, 1))
                found = list(judge([s.text for s in chosen], starts, ends))
                report(f"{Path(file).name} {which}", name, chosen, found, arguments.examples)


def make_judges(arguments: argparse.Namespace) -> Iterator[tuple[str, Judge]]:
    files = {path.name: path for path in TABLES.glob("*.csv")}
    for used in range(len(names_jieba.OPTIONAL) + 1):
        without = names_jieba.OPTIONAL[used:]
        given = {name: path for name, path in files.items() if name not in without}
        label = " + ".join(["jieba", *names_jieba.OPTIONAL[:used]])
        yield label, names_jieba.prepare(given, {})
    yield "LAC", names_lac.prepare(files, {})
    for model, model_report in arguments.crf:
        of_model = files | {"crf.crfsuite": Path(model)}
        chosen = read_description(Path(model_report), {"threshold"}, "train_names_crf")
        for threshold in [*arguments.threshold, chosen["threshold"]]:
            judge = names_crf.prepare(of_model, {"threshold": threshold})
            yield f"{Path(model).name} > {threshold}", judge
    for pipeline in arguments.spacy:
        yield pipeline, names_spacy.prepare(files, {"pipeline": pipeline})


def report(
    text: str, name: str, chosen: list[TaggedText], found: list[Finding | None], examples: int
) -> None:
    true = [bool(s.names) for s in chosen]
    hit = sum(t and f is not None for t, f in zip(true, found, strict=True))
    rejected = sum(f is not None for f in found)
    named = sum(true)
    print(
        f"| {text} | {len(chosen)} | {named} | {name} | {hit / max(1, rejected):.3f} "
        f"| {hit / max(1, named):.3f} | {(rejected - hit) / max(1, len(chosen) - named):.3f} |",
        flush=True,
    )
    if examples:
        pairs = list(zip(chosen, found, strict=True))
        missed = [[s.text[a:b] for a, b in s.names] for s, f in pairs if s.names and f is None]
        false = [f.evidence for s, f in pairs if not s.names and f is not None]
        for kind, cases in (("missed", missed), ("false alarms", false)):
            shown = random.Random(0).sample(cases, min(examples, len(cases)))
            print(f"  {kind}:", " ".join("、".join(case) for case in shown))


if __name__ == "__main__":
    main()
