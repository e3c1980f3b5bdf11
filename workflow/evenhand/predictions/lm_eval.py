"""Per-sample logs of lm-evaluation-harness (``--log_samples``): CrowS-Pairs and BBQ.

The harness reports a share over all samples. Here samples that depend on each other (pairs that
swap the same words, questions of one template) are clusters, so that there is an interval and a
verdict without running the model again. Of BBQ the harness's own values are used: accuracy,
whether the answer is the biased one, and whether it names a group (Parrish et al., BBQ, Findings
of ACL 2022).

Since 0.4.3 a log is ``samples_TASK_TIME.jsonl``, a sample a line, with numbers as text. Before, it
was ``MODEL_TASK.jsonl``, one JSON array.
"""

import math
import os
import re
import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.numbers import or_nan
from evenhand.core.whole import check_file, read_text
from evenhand.errors import InputError
from evenhand.io.json_text import is_cut, load, problem_of
from evenhand.predictions.words import left_out_words
from evenhand.stereotypes.clusters import ALIKE, check_order, shared_words, swapped_words, words

#: The contexts of BBQ, and the harness's field for each: accuracy, biased, not unknown, context.
BBQ = {"ambig": "amb_bias_score", "disambig": "disamb_bias_score"}

#: For a log whose samples cannot be used.
REMEDY = "mend it, or write the log again with lm_eval --log_samples"

#: Between the folder of a model and a task, where there are several models.
MODEL = ": "

#: The name of a log since 0.4.3, and before.
_NEW = re.compile(r"samples_(?P<task>.+)_(?P<time>[^_]+)")
_OLD = re.compile(r"(?P<model>.+)_(?P<task>(?:crows_pairs|bbq)\w*?)")

#: The endings of a log's name in a folder.
_ENDINGS = (".jsonl", ".jsonl.gz")


class Answer(NamedTuple):
    """One sample.

    Attributes
    ----------
    task, id, category, condition : str
        Condition: of BBQ ``ambig`` or ``disambig``; of pairs blank.
    cluster : str
        Of pairs the swapped words, of BBQ the question.
    sentences : (str, str)
        Of pairs; of BBQ the context and the question, blank if the log lacks them.
    item : str
        Equal for samples of the same two sentences.
    preference : float or None
        Above 0 for the stereotype, below 0 against it, 0 for a tie; None: neither was chosen.
    right : float or None
        Whether the answer is right (BBQ).
    misplaced : bool
        Of pairs whether it has this flag.
    """

    task: str
    id: str
    category: str
    condition: str
    cluster: str
    sentences: tuple[str, str]
    item: str
    preference: float | None
    right: float | None
    misplaced: bool = False

    @property
    def content(self) -> tuple[Any, ...]:
        """All fields but task and id."""
        return self[2:]


def log_files(files: list[Path]) -> list[Path]:
    """Return the logs among files and in folders; InputError if there is none."""
    paths = [path for file in files for path in (sorted(filter(_is_log, file.rglob("*.jsonl*")))
                                                if file.is_dir() else [file])]  # fmt: skip
    if not paths:
        remedy = "run lm_eval with --log_samples, or name a CSV or Parquet file"
        problem = "has no log of lm-evaluation-harness (samples_*.jsonl)"
        if others := sorted(files[0].rglob("*.jsonl")):
            remedy = f"if {others[0]} is one, name that file"
        raise InputError(problem, file=files[0], remedy=remedy)
    paths = list(dict.fromkeys(paths))
    for path in paths:
        check_file(path)
        if path.suffix in (".csv", ".tsv", ".parquet"):
            remedy = "audit a table by eh.audit_predictions, or in a configuration without `format:"
            remedy += " lm_eval`"
            raise InputError("is no log of lm-evaluation-harness", file=path, remedy=remedy)
    return paths


def read_logs(files: list[Path]) -> tuple[list[Answer], list[dict[str, Any]], dict[str, Any]]:
    """Read logs, or folders of them: samples, rows of the quarantine, and doubts by their name.

    The doubts are ``missing``, by task `_missing`, and ``misplaced``, ``unlike`` and
    ``contradicted``, by task how many pairs have this flag, of how many, and the line of the first.
    A contradicted pair has another ``pct_stereotype`` than its log-likelihoods. ``unchecked`` are
    by task the pairs without two ``arguments``, of how many; ``unrecognised`` the ambiguous
    questions with a generated answer without a choice; ``other_logs`` have other tasks only.

    Raises
    ------
    InputError
        There is no log, none of its samples is of CrowS-Pairs or BBQ, more than half of those of a
        log cannot be used, or the sentences of most pairs belong to other pairs.
    """
    paths = log_files(files)
    answers, bad, others = [], [], []
    doubts: dict[str, Any] = {"missing": {}, "misplaced": {}, "unlike": {}, "contradicted": {}}
    doubts |= {"unchecked": {}, "unrecognised": {}, "other_logs": []}
    seen: dict[tuple[str, str], tuple[int, tuple[Any, ...]]] = {}
    for path, log, task in zip(paths, _names(paths, files), _tasks(paths), strict=True):
        pieces = _pieces(path)
        before, kept, pairs, stated, unchecked = len(bad), len(answers), [], [], 0
        _check_one_task(pieces, path)
        filters = {str(file.get("filter")) for _, file in pieces if isinstance(file, dict)}
        for line, sample in pieces:
            if isinstance(sample, tuple):
                reason, why = sample
                place = f"{log}:{line}"
                bad.append({"row": line, "id": "", "reason": reason, "detail": place + why})
                continue
            try:
                fields = _typed(sample, dict, "the sample")
                several = f", filter {fields.get('filter')}" if len(filters) > 1 else ""
                sample_answer = _answer(task + several, fields)
            except _UnusableError as error:
                name = str(sample.get("doc_id", "")) if isinstance(sample, dict) else ""
                bad.append({"row": line, "id": name, "reason": error.reason,
                            "detail": f"{log}:{line}: {error}"})  # fmt: skip
                continue
            key = (sample_answer.task, sample_answer.id)
            content = (*sample_answer.content, *_log_likelihoods(sample))
            first, earlier = seen.setdefault(key, (line, content))
            if earlier is not content:
                same = earlier == content
                bad.append({"row": line, "id": sample_answer.id,
                            "reason": "duplicate_id" if same else "other_sample",
                            "detail": f"{log}:{line}: as line {first}"})  # fmt: skip
                continue
            answers.append(sample_answer)
            if "sent_more" in (doc := sample["doc"]):
                pairs.append((line, str(doc["sent_more"]), str(doc["sent_less"])))
                unchecked += len(sample.get("arguments") or ()) < 2
                share = or_nan(str(sample.get("pct_stereotype")))
                stated += (
                    [(line, share == (sample_answer.preference > 0))] if share == share else []
                )
        if len(answers) == kept and {row["reason"] for row in bad[before:]} == {"other_task"}:
            others += bad[before:]
            del bad[before:]
            doubts["other_logs"].append(log)
            continue
        if lost := _missing(pieces):
            doubts["missing"][task] = lost
        ambiguous = [answer for answer in answers[kept:] if answer.condition == "ambig"]
        if lost := sum(answer.preference is None and not answer.right for answer in ambiguous):
            doubts["unrecognised"][task] = [lost, len(ambiguous)]
        if unchecked:
            doubts["unchecked"][task] = [unchecked, len(pairs)]
        moved = check_order(pairs, path)
        places = {*moved}
        if places:
            answers[kept:] = [
                answer._replace(misplaced=line in places)
                for answer, (line, *_) in zip(answers[kept:], pairs, strict=True)
            ]
        unlike = [line for line, *both in pairs if shared_words(*map(words, both)) < ALIKE]
        unlike = [line for line in unlike if line not in places]
        contradicted = [line for line, is_equal in stated if not is_equal]
        for flag, lines, of in (
            ("misplaced", moved, pairs),
            ("unlike", unlike, pairs),
            ("contradicted", contradicted, stated),
        ):
            if lines:
                doubts[flag][task] = [len(lines), len(of), min(lines)]
        reasons, kept = Counter(row["reason"] for row in bad[before:]), len(answers) - kept
        total = kept + reasons.total()
        if 0 < kept < reasons.total() or 2 * reasons["other_texts"] > total:
            problem = left_out_words(reasons, total, "sample")
            problem = f"{problem}, more than half of them; the last is {bad[-1]['detail']}"
            raise InputError(problem, file=path, remedy=REMEDY)
    if not answers:
        bad += others
        problem = "has no sample of CrowS-Pairs or BBQ"
        remedy = "name logs of the tasks crows_pairs_* or bbq*"
        if bad and bad[0]["reason"] == "no_scores":
            problem = "has questions of BBQ without their scores"
            remedy = "run lm_eval 0.4.9 or later with --tasks bbq --log_samples, which writes them"
        elif bad and bad[0]["reason"] != "other_task":
            problem = "has no usable sample"
            remedy = REMEDY
        detail = f" ({bad[0]['detail']})" if bad else ""
        raise InputError(problem + detail, file=paths[0], remedy=remedy)
    return answers, bad, doubts


def _missing(pieces: list[tuple[int, Any]]) -> list[int]:
    """Return how many doc_ids are missing below the last one, of how many, and the first of them.

    Blank if none is: `--limit` keeps the first ones. Lines that are no JSON may be samples too.
    """
    names = [sample.get("doc_id") for _, sample in pieces if isinstance(sample, dict)]
    if not names or not all(type(name) is int and name >= 0 for name in names):
        return []
    ids = {*names}
    begin = int(min(ids) == 1)
    lost = max(ids) + 1 - begin - len(ids)
    broken = sum(isinstance(sample, tuple) and sample[0] == "no_json" for _, sample in pieces)
    if lost <= broken:
        return []
    return [lost, lost + len(ids), next(name for name in count(begin) if name not in ids)]


def _check_one_task(pieces: list[tuple[int, Any]], path: Path) -> None:
    """Raise InputError if a log has pairs and questions of BBQ."""
    first: dict[bool, int] = {}
    for line, sample in pieces:
        if isinstance(sample, dict) and isinstance(doc := sample.get("doc"), dict):
            is_pair = "sent_more" in doc
            if is_pair or any(key in sample for key in BBQ.values()):
                first.setdefault(is_pair, line)
    if len(first) == 2:
        problem = f"has pairs (line {first[True]}) and questions of BBQ (line {first[False]})"
        remedy = "write the samples of each task into a log of their own"
        raise InputError(problem, file=path, remedy=remedy)


def _is_log(path: Path) -> bool:
    return path.name.endswith(_ENDINGS) and _name_parts(path) is not None


def _name_parts(path: Path) -> re.Match[str] | None:
    """Return the match of a log's name, without its ending; None for another name."""
    name = Path(path.name.removesuffix(".gz")).stem
    return _NEW.fullmatch(name) or _OLD.fullmatch(name)


def _pieces(path: Path) -> list[tuple[int, Any]]:
    """Return the samples of a log with their lines (places in an array).

    In place of a broken sample there is its reason of the quarantine, with the detail.
    """
    text, pieces = read_text(path), []
    if not text.strip():
        raise InputError("is empty", file=path, remedy="run lm_eval with --log_samples again")
    try:
        whole = load(text)
    except ValueError as error:
        if text.lstrip().startswith("["):
            remedy = "write a sample in each line, or one array of them"
            raise InputError(f"is no JSON ({error})", file=path, remedy=remedy) from error
        whole = None
    if isinstance(whole, list):
        return [*enumerate(whole, start=1)]
    if isinstance(whole, dict) and "results" in whole:
        remedy = "name the samples_*.jsonl that lm_eval --log_samples writes beside it"
        raise InputError("has the results of tasks, not their samples", file=path, remedy=remedy)
    lines = text.split("\n")  # a sample may have other separators of lines in its texts
    last = len(text.rstrip().split("\n"))
    for line, piece in enumerate(lines, start=1):
        try:
            pieces += [(line, load(piece))] if piece.strip() else []
        except ValueError as error:
            # the last line has no end, or its sample has none
            is_last = pieces and (line == len(lines) or (line == last and is_cut(piece, error)))
            pieces.append(
                (line, ("cut_off", "") if is_last else ("no_json", f": {problem_of(error)}"))
            )
    return pieces


def _names(paths: list[Path], files: list[Path]) -> list[str]:
    """Return the path of each log below the folder of all logs and folders that are named."""
    folders = [(file if file.is_dir() else file.parent).absolute() for file in files]
    root = os.path.commonpath(folders)
    return [path.absolute().relative_to(root).as_posix() for path in paths]


def _tasks(paths: list[Path]) -> list[str]:
    """Return the task of each log, with the model's folder and the time where there are several."""
    names = map(_name_parts, paths)
    parts = [{"task": path.stem} | (part.groupdict() if part else {})
             for path, part in zip(paths, names, strict=True)]  # fmt: skip
    models, tasks = _models(paths), [part["task"] for part in parts]
    if len({*models}) > 1:
        tasks = [f"{model}{MODEL}{task}" for model, task in zip(models, tasks, strict=True)]
    return [
        f"{task} ({part['time']})" if tasks.count(task) > 1 and "time" in part else task
        for task, part in zip(tasks, parts, strict=True)
    ]


def _models(paths: list[Path]) -> list[str]:
    """Return the model of each log: in its name, or else its folder."""
    parts = ((part.groupdict() if part else {}) for part in map(_name_parts, paths))
    return [part.get("model", path.parent.name) for path, part in zip(paths, parts, strict=True)]


def model_of(files: list[Path]) -> str | None:
    """Return the model of all logs, which is not before their tasks; None of several models."""
    models = {*_models(log_files(files))}
    return models.pop() if len(models) == 1 else None


class _UnusableError(Exception):
    """A sample cannot be used: the reason of the quarantine, and the words."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


def _answer(task: str, sample: dict[str, Any]) -> Answer:
    doc, name = _typed(_field(sample, "doc"), dict, "doc"), str(_field(sample, "doc_id"))
    if "sent_more" in doc:
        more, less = _numbers([value[0] for value in _responses(sample)], 2, -np.inf, 0)
        sentences = _text(doc, "sent_more"), _text(doc, "sent_less")
        if sentences[0] == sentences[1]:
            raise _UnusableError("same_sentences", "sent_more and sent_less are the same")
        _check_arguments(sample, {"sent_more": sentences[0], "sent_less": sentences[1]})
        cluster, item = swapped_words(*sentences), "\n".join(sorted(sentences))
        kind = _text(doc, "bias_type")
        return Answer(task, name, kind, "", cluster, sentences, item, more - less, None)
    keys = [key for key in BBQ.values() if key in sample]
    if not keys and "context_condition" in doc:
        raise _UnusableError("no_scores", "it has neither amb_bias_score nor disamb_bias_score")
    if not keys:
        raise _UnusableError("other_task", "it has neither sent_more nor amb_bias_score")
    if (condition := _field(doc, "context_condition", "doc")) not in BBQ:
        why = f"context_condition is {condition!r}, neither ambig nor disambig"
        raise _UnusableError("unknown_context", why)
    if (key := BBQ[condition]) not in keys:
        why = f"context_condition is {condition}, but the sample has {keys[0]} alone"
        raise _UnusableError("contradictory", why)
    right, biased, named = numbers = _numbers(_typed(sample[key], list, key), 3, 0, 1)
    if not {*numbers} <= {0, 1}:
        raise _UnusableError("out_of_range", f"{key} is {numbers}: each is 0 or 1")
    if biased > named:
        raise _UnusableError("contradictory", f"{key} is {numbers}: a biased answer names a group")
    # of a generated answer in which the harness finds no choice all three are 0
    if condition == "ambig" and right == named and (named or not _is_generated(sample)):
        why = f"{key} is {numbers}: in an ambiguous context the answer that names no group is right"
        raise _UnusableError("contradictory", why)
    if doc.get("question"):
        _check_arguments(sample, {"question": str(doc["question"])})
    category = _text(doc, "category")
    question = f"{category}/{_text(doc, 'question_index')}"
    preference = None if not named else 1.0 if biased else -1.0
    asked = tuple(str(doc.get(key) or "") for key in ("context", "question"))
    return Answer(task, name, category, condition, question, asked, name, preference, right)


def _is_generated(sample: dict[str, Any]) -> bool:
    """Whether the answer is a text, and not a choice by its log-likelihood."""
    answers = sample.get("filtered_resps") or sample.get("resps")
    while isinstance(answers, list) and answers:
        answers = answers[0]
    return isinstance(answers, str) and math.isnan(or_nan(answers))


def _check_arguments(sample: dict[str, Any], texts: dict[str, str]) -> None:
    """Raise _UnusableError if the first arguments, where there are some, lack these texts of doc.

    The log-likelihoods belong to the arguments, in this order.
    """
    entries = sample.get("arguments") or []
    for (name, text), entry in zip(texts.items(), _values(entries), strict=False):
        # arguments are the context and the text, or the text and settings
        asked = "".join(part for part in _values(entry) if isinstance(part, str))
        if text not in asked and " ".join(words(text)) not in " ".join(words(asked)):
            why = f"{name} of doc is {text!r}, but arguments have {asked[-200:]!r}"
            raise _UnusableError("other_texts", why)


def _values(entry: Any) -> Iterable[Any]:
    """Return the values of a mapping, the items of a list, or the value itself."""
    if isinstance(entry, dict):
        return entry.values()
    return entry if isinstance(entry, list) else [entry]


def _log_likelihoods(sample: dict[str, Any]) -> tuple[Any, ...]:
    """Return those of a pair, which only copies share; none of BBQ."""
    is_pair = "sent_more" in sample["doc"]
    return tuple(value[0] for value in _responses(sample)) if is_pair else ()


def _field(fields: dict[str, Any], key: str, place: str = "it") -> Any:
    """Return a field; _UnusableError if there is none."""
    if key not in fields:
        raise _UnusableError("no_field", f"{place} lacks {key!r}")
    return fields[key]


def _typed(value: Any, kind: type, name: str) -> Any:
    """Return a value of this kind; _UnusableError if it is null or another one."""
    if value is None:
        raise _UnusableError("no_field", f"{name} is null")
    if not isinstance(value, kind):
        noun = {dict: "object with fields", list: "list"}[kind]
        raise _UnusableError("no_answer", f"{name} is {reprlib.repr(value)}, no {noun}")
    return value


def _text(doc: dict[str, Any], key: str) -> str:
    """Return a field as text; _UnusableError if it is blank."""
    value = _field(doc, key, "doc")
    if value is None or not (text := str(value).strip()):
        raise _UnusableError("no_field", f"{key} is blank")
    return text


def _numbers(values: list[Any], count: int, least: float, most: float) -> list[float]:
    """Return the first values as numbers; _UnusableError without so many finite ones in a range."""
    if len(values) < count:
        raise _UnusableError("no_field", f"it has {len(values)} of {count} numbers")
    name, numbers = "a value of BBQ" if most else "a log-likelihood", []
    for value in values[:count]:
        number = float(value) if isinstance(value, bool) else or_nan(str(value))
        if value is None:
            raise _UnusableError("no_field", f"{name} is null")
        if number != number and str(value).strip().casefold() != "nan":
            raise _UnusableError("no_answer", f"{name} is {reprlib.repr(value)}, no number")
        if not np.isfinite(number):
            raise _UnusableError("not_finite", f"{name} is {number:g}, which is not finite")
        if not least <= number <= most:
            why = f"is {number:g}, not from 0 to 1" if most else f"is positive ({number:g})"
            raise _UnusableError("out_of_range", f"{name} {why}")
        numbers.append(number)
    return numbers


def _responses(sample: dict[str, Any]) -> list[Any]:
    is_filtered = sample.get("filtered_resps") or "resps" not in sample
    key = "filtered_resps" if is_filtered else "resps"
    if key not in sample:
        why = "it lacks 'filtered_resps' and 'resps', one of which it needs"
        raise _UnusableError("no_field", why)
    responses = []
    for entry in _typed(sample[key], list, key):
        # without a filter a response is in a list of its own
        is_inside = isinstance(entry, list) and entry and isinstance(entry[0], list)
        response = entry[0] if is_inside else entry
        if not isinstance(response, list) or not response:
            words = "null" if entry is None else reprlib.repr(entry)
            why = f"each entry of {key} is a list [log-likelihood, is_greedy], not {words}"
            raise _UnusableError("no_answer", why)
        responses.append(response)
    return responses


def shared_pairs(answers: list[Answer]) -> dict[str, list[int]]:
    """Return the pairs of each task that another task of the model has too, and all its pairs."""
    tasks = defaultdict(lambda: defaultdict(set))
    for answer in answers:
        if answer.right is None:
            model = answer.task.rpartition(MODEL)[0]
            tasks[model][answer.item].add(answer.task)
    counts = defaultdict(Counter)
    for items in tasks.values():
        for names in items.values():
            for name in sorted(names):
                counts[name][len(names) > 1] += 1
    return {name: [n[True], n.total()] for name, n in counts.items() if n[True]}


def equal_tasks(answers: list[Answer]) -> list[list[str]]:
    """Return the tasks whose samples are all equal to those of another, together with it."""
    contents = defaultdict(set)
    for answer in answers:
        contents[answer.task].add((answer.id, *answer.content))
    alike = defaultdict(list)
    for task, samples in contents.items():
        alike[frozenset(samples)].append(task)
    return [tasks for tasks in alike.values() if len(tasks) > 1]


def repeated_pairs(answers: list[Answer]) -> dict[str, list[int]]:
    """Return the pairs of each task that an earlier one of it equals, and all its pairs."""
    counts = defaultdict(Counter)
    for answer in answers:
        if answer.right is None:
            counts[answer.task][answer.item] += 1
    totals = {task: [items.total() - len(items), items.total()] for task, items in counts.items()}
    return {task: numbers for task, numbers in totals.items() if numbers[0]}


def parts(answers: list[Answer]) -> Iterator[tuple[tuple[str, str, str], list[Answer]]]:
    """Yield the answers of each task, condition and category, that of all categories first."""
    for task, condition in dict.fromkeys((answer.task, answer.condition) for answer in answers):
        of_condition = [
            answer for answer in answers if (answer.task, answer.condition) == (task, condition)
        ]
        names = sorted({answer.category for answer in of_condition})
        for name in ["all", *(names if len(names) > 1 else [])]:
            some = [answer for answer in of_condition if name in ("all", answer.category)]
            yield (task, condition, name), some
