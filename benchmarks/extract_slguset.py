"""How fast names are filtered out, against jieba.posseg on every sentence.

Both sides run in one process, on one core, on the same paragraphs of real text, and end with
a decision for every sentence; the decisions are compared one by one. Tables are loaded before.

    python benchmarks/extract_slguset.py --corpus news/*.txt --megabytes 4
    python benchmarks/extract_slguset.py --corpus news/*.txt --model crf.crfsuite \
        --model-report crf.json
    python benchmarks/extract_slguset.py --corpus news/*.txt --grow 2048

The reference: normalise and split, `jieba.posseg` on every sentence, then the rules for
keywords and names. Ours: normalise and split, drop what holds no keyword, the rules for
keywords, then names in what is left, by the same tags from `evenhand.text.posseg` or by a
CRF. With `--grow` the stages themselves run, shard by shard, each in a process of its own,
on the text repeated up to so many MB, and time and peak memory are shown.
"""

import argparse
import gc
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

from evenhand.io.decoding import TextReader  # noqa: E402
from evenhand.io.formats import kind_of  # noqa: E402
from evenhand.io.members import open_members  # noqa: E402
from evenhand.io.quarantine import Quarantine  # noqa: E402
from evenhand.io.readers.options import Options  # noqa: E402
from evenhand.io.readers.records import paragraph_splitter, read_records  # noqa: E402
from evenhand.slguset.extract_sentences import batches, keyword_finder, keyword_sentences  # noqa: E402
from evenhand.slguset.filters import names_crf, names_jieba  # noqa: E402
from evenhand.slguset.find_keywords import judge_sentence, read_word_rules  # noqa: E402
from evenhand.slguset.keywords import read_keywords  # noqa: E402
from evenhand.slguset.names import name_filter, read_rules  # noqa: E402
from evenhand.slguset.verdicts import ACCEPTED, Finding, Judge  # noqa: E402
from evenhand.text import posseg  # noqa: E402
from evenhand.text.sentences import normalise_all, split_all  # noqa: E402

TABLES = REPOSITORY / "resources/packs/zh_gender"
#: The two sides take turns: after each part of the reference our side decides on all of the text,
#: with nothing remembered, and the median of its seconds counts.
TURNS = 9
LIMITS = {"min_length": 9, "max_length": 119, "whole_sentences": True}

KEYWORDS = read_keywords(TABLES / "keywords.csv")
WORD_RULES = read_word_rules(TABLES / "keyword_words.csv", KEYWORDS)
FIND = keyword_finder(TABLES / "keywords.csv")

#: A sentence and what became of it: a verdict of the keyword rules, or a finding about names.
Decision = tuple[str, str, str]


def main() -> None:
    arguments = parse_arguments()
    paragraphs = list(read_paragraphs(arguments.corpus, arguments.format, arguments.text_field))
    total = sum(len(p.encode()) for p in paragraphs) / 1e6
    if arguments.grow:
        result = grow(paragraphs, arguments)
    else:
        result = compare(thinned(paragraphs, total, arguments.megabytes), arguments)
    result = {"machine": machine(), "corpus_mb": round(total, 2)} | result
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", nargs="+", type=Path, required=True, help="files of real text")
    parser.add_argument("--format", default="auto", help="as in extract_sentences")
    parser.add_argument("--text-field", default="text", help="as in extract_sentences")
    parser.add_argument("--megabytes", type=float, default=4, help="text to compare on, in MB")
    parser.add_argument("--model", type=Path, help="measure the CRF of this file, too")
    parser.add_argument("--model-report", type=Path, help="its crf.json")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--grow", type=float, help="run the stages on text of so many MB")
    parser.add_argument("--shard", type=float, default=256, help="MB per shard, with --grow")
    parser.add_argument(
        "--same",
        action="store_true",
        help="with --grow: repeat the text as it is (otherwise each copy's sentences differ)",
    )
    arguments = parser.parse_args()
    if bool(arguments.model) != bool(arguments.model_report):
        parser.error("--model and --model-report belong together")
    return arguments


def read_paragraphs(files: list[Path], form: str, text_field: str) -> Iterator[str]:
    """The paragraphs of the corpus, read as the workflow reads it."""
    problems = Quarantine()
    for path in files:
        for member in open_members(path, problems):
            kind = kind_of(member.file_name).format if form == "auto" else form
            if kind is None:
                continue
            header = not text_field.isdecimal()
            options = Options(format=form, text_field=text_field, header=header)
            text = TextReader(member.chunks, file=member.name, quarantine=problems)
            for _, record in read_records(text, kind, options):
                yield from paragraph_splitter(options)(record)


def thinned(paragraphs: list[str], total: float, megabytes: float) -> list[str]:
    """Every n-th paragraph, so that about so many MB from all over the corpus are left."""
    return paragraphs[:: max(1, round(total / megabytes))]


# --- the comparison ------------------------------------------------------------------------


def compare(paragraphs: list[str], arguments: argparse.Namespace) -> dict[str, Any]:
    size = sum(len(p.encode()) for p in paragraphs) / 1e6
    files = {name: TABLES / name for name in ("surnames.csv", "titles.csv", "roles.csv")}
    rules = read_rules(files)
    posseg.find_names(["王小丫来了"])  # loads the tables
    tagger = load_jieba()

    def jieba_names(sentence: str) -> list[tuple[int, int]]:
        names = []
        at = 0
        for token in tagger.cut(sentence):
            end = at + len(token.word)
            if token.flag in posseg.NAME_TAGS:
                names.append((at, end))
            at = end
        return names

    print(f"{size:.2f} MB, {len(paragraphs)} paragraphs", flush=True)
    judges: dict[str, Judge] = {"names_jieba": names_jieba.prepare(files, {})}
    if arguments.model:
        files |= {"crf.crfsuite": arguments.model, "crf.json": arguments.model_report}
        judges["names_crf"] = names_crf.prepare(files, {"threshold": None})
    reference: list[Decision] = []
    seconds = 0.0
    decided: dict[str, list[Decision]] = {}
    spent: dict[str, list[float]] = {name: [] for name in judges}
    step = -(-len(paragraphs) // TURNS)
    for at in range(0, len(paragraphs), step):
        part = paragraphs[at : at + step]
        made, lasted = timed(lambda part=part: decide_naively(part, jieba_names, rules))
        reference += made
        seconds += lasted
        for name, judge in judges.items():
            posseg.forget_runs()
            decided[name], lasted = timed(lambda judge=judge: decide(paragraphs, judge))
            spent[name].append(lasted)
    figures = {
        "megabytes": round(size, 3),
        "sentences": len(reference),
        "decisions": dict(Counter(reason for _, reason, _ in reference).most_common()),
        "reference_s": round(seconds, 3),
    }
    print(f"  sentences {len(reference)}: {figures['decisions']}")
    print(f"  jieba.posseg on every sentence: {seconds:.2f} s, {size / seconds:.3f} MB/s")
    for name, ours in decided.items():
        lasted = statistics.median(spent[name])
        expected = [d for d in reference if d[1] != "no_keyword"]
        if [d[0] for d in ours] != [d[0] for d in expected]:
            raise SystemExit("the two sides did not see the same keyword sentences")
        different = [(a, b) for a, b in zip(expected, ours, strict=True) if a != b]
        flipped = sum((a[1] == ACCEPTED) != (b[1] == ACCEPTED) for a, b in different)
        figures[name] = {
            "seconds": round(lasted, 3),
            "mb_per_s": round(size / lasted, 2),
            "ratio": round(seconds / lasted, 1),
            "different_decisions": len(different),
            "accepted_by_one_side_only": flipped,
        }
        print(
            f"  {name}: {lasted:.3f} s, {size / lasted:.1f} MB/s, {seconds / lasted:.0f}x; "
            f"of {len(expected)} keyword sentences {len(different)} decided differently "
            f"({flipped} accepted by one side only)",
            flush=True,
        )
    return figures


def decide_naively(
    paragraphs: list[str], names_of: Callable[[str], list[tuple[int, int]]], rules: Any
) -> list[Decision]:
    """Tag every sentence, then apply the rules."""
    sentences = split_all(normalise_all(paragraphs)).strings()
    names = [names_of(sentence) for sentence in sentences]

    def accepted_names(accepted: list[str], _: object) -> Iterator[list[tuple[int, int]]]:
        known = dict(zip(sentences, names, strict=True))
        return (known[sentence] for sentence in accepted)

    return judge_all(sentences, name_filter(accepted_names, rules))


def decide(paragraphs: list[str], judge: Judge) -> list[Decision]:
    """As the stages do it, without their files."""
    sentences: list[str] = []
    tally = {"records": 0}
    for _, batch in batches(enumerate(paragraphs), lambda paragraph: [paragraph], tally):
        found = keyword_sentences(split_all(normalise_all(batch)), FIND)
        sentences += (sentence for _, sentence in found)
    return judge_all(sentences, judge)


def judge_all(sentences: list[str], judge: Judge) -> list[Decision]:
    """Apply the rules for keywords, and then a filter by names."""
    hits = [judge_sentence(sentence, KEYWORDS, WORD_RULES, **LIMITS) for sentence in sentences]
    decisions = [(sentence, hit.verdict, "") for sentence, hit in zip(sentences, hits, strict=True)]
    accepted = [place for place, hit in enumerate(hits) if hit.verdict == ACCEPTED]
    starts = [hits[place].surface_start for place in accepted]
    ends = [
        start + len(hits[place].surface.surface)
        for start, place in zip(starts, accepted, strict=True)
    ]
    findings = judge([sentences[place] for place in accepted], starts, ends)
    for place, finding in zip(accepted, findings, strict=True):
        decisions[place] = as_decision(sentences[place], finding)
    return decisions


def as_decision(sentence: str, finding: Finding | None) -> Decision:
    if finding is None:
        return sentence, ACCEPTED, ""
    return sentence, finding.reason, "、".join(finding.evidence)


def timed(work: Callable[[], list[Decision]]) -> tuple[list[Decision], float]:
    """The result and the seconds of processor time."""
    gc.collect()
    gc.freeze()  # neither side goes through what the other has left
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def load_jieba() -> Any:
    """The module jieba.posseg, initialised, without its cache in the temporary folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
        import jieba.posseg
    tokenizer = jieba.dt
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return jieba.posseg


# --- growing ---------------------------------------------------------------------------------


def grow(paragraphs: list[str], arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the stages shard by shard, and show what each took."""
    folder = Path(tempfile.mkdtemp(prefix="evenhand-grow-"))
    rows: list[dict[str, Any]] = []
    try:
        done = spent = 0.0
        peaks: Counter[str] = Counter()
        copies = copies_of(paragraphs, arguments.same)
        print("     MB   shard s  s per MB  all s per MB   peak MB: " + ", ".join(STAGES))
        while done < arguments.grow:
            shard = folder / "shard"
            shard.mkdir()
            size = write_shard(shard, copies, min(arguments.shard, arguments.grow - done))
            costs = run_stages(shard, folder, len(rows), arguments)
            seconds = sum(second for second, _ in costs.values())
            done, spent = done + size, spent + seconds
            for name, (_, peak) in costs.items():
                peaks[name] = max(peaks[name], round(peak))
            rows.append(
                {"mb": round(done, 1), "s_per_mb": round(seconds / size, 4)}
                | {name: {"s": round(s, 2), "peak_mb": round(p)} for name, (s, p) in costs.items()}
            )
            shown = ", ".join(f"{costs[name][1]:.0f}" for name in STAGES)
            print(
                f"{done:7.0f} {seconds:9.1f} {seconds / size:9.4f} {spent / done:13.4f}   {shown}",
                flush=True,
            )
            shutil.rmtree(shard)
        seconds, peak = merge(folder, len(rows))
        print(f"merge_candidates: {seconds:.1f} s, {seconds / done:.4f} s per MB, {peak:.0f} MB")
        peaks["merge_candidates"] = round(peak)
    finally:
        shutil.rmtree(folder)
    return {
        "grown_mb": round(done, 1),
        "s_per_mb": round(spent / done, 4),
        "merge_s": round(seconds, 2),
        "peak_mb": dict(peaks),
        "shards": rows,
    }


STAGES = ["extract_sentences", "apply_filters"]


def copies_of(paragraphs: list[str], same: bool) -> Iterator[str]:
    """The paragraphs over and over; in later copies each sentence bears the copy's number."""
    copy = 0
    while True:
        for paragraph in paragraphs:
            yield paragraph if same or not copy else paragraph.replace("。", f"（{copy}）。")
        copy += 1


def write_shard(folder: Path, paragraphs: Iterator[str], megabytes: float) -> float:
    """Write files of up to 64 MB; return the size of all in MB."""
    size = 0
    while size < megabytes * 1e6:
        written = 0
        with (folder / f"{size // 1000:09d}.txt").open("w", encoding="utf-8") as file:
            while written < 64e6 and size + written < megabytes * 1e6:
                line = next(paragraphs) + "\n"
                file.write(line)
                written += len(line.encode())
        size += written
    return size / 1e6


def run_stages(
    shard: Path, folder: Path, number: int, arguments: argparse.Namespace
) -> dict[str, tuple[float, float]]:
    """Seconds and peak MB of each stage on a shard."""
    sentences = folder / "sentences.parquet"
    names = "names_crf" if arguments.model else "names_jieba"
    model = [arguments.model, arguments.model_report] if arguments.model else []
    files = [*(TABLES / f"{name}.csv" for name in ("surnames", "titles", "roles")), *model]
    table = ["--keywords", TABLES / "keywords.csv"]
    commands = {
        "extract_sentences": [
            *["evenhand.slguset.extract_sentences", "--files", *sorted(shard.iterdir()), *table],
            *["--sentences", sentences, "--quarantine", folder / "quarantine.parquet"],
            *["--counts", folder / "counts.json", "--inventory", folder / "files.parquet"],
        ],
        "apply_filters": [
            *["evenhand.slguset.apply_filters", "--sentences", sentences, *table],
            *["--keyword-words", TABLES / "keyword_words.csv"],
            *["--filters", names, "--files", *files],
            *["--out", folder / f"names-{number}.parquet"],
        ],
    }
    return {stage: run(command) for stage, command in commands.items()}


def merge(folder: Path, shards: int) -> tuple[float, float]:
    """Seconds and peak MB of the merge of all shards."""
    numbers = range(shards)
    return run(
        [
            *["evenhand.slguset.merge_candidates", "--judged"],
            *[folder / f"names-{n}.parquet" for n in numbers],
            *["--out", folder / "candidates.parquet"],
        ]
    )


def run(command: list[Any]) -> tuple[float, float]:
    """Run a stage by its command line; its seconds (processor) and peak memory in MB."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EVENHAND_")}
    environment |= {"PYTHONPATH": str(REPOSITORY / "workflow"), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, command)], env=environment, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} failed; its command line: {' '.join(map(str, command))}")
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return usage.ru_utime + usage.ru_stime, kilobytes * 1024 / 1e6


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
