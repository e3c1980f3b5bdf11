"""Find the keyword of each sentence of a shard, and apply all configured filters.

A filter is a module of `evenhand.slguset.filters` that declares

- ``FILES``: names of the files that it reads (``OPTIONAL``: those that it can do without);
- ``SETTINGS`` (optional): the sections of the configuration under ``slguset`` that it reads;
- ``COLUMNS``: the columns of the keywords table that it judges by (``value``: the attribute's);
- ``REASONS``: for each of its reasons a title and a meaning, for the report, with ``{attribute}``
  for the attribute of the pack;
- ``prepare(files, settings)``, which reads the files, given by name, and returns the filter: a
  function of one list per column that returns a `Finding`, or None, for each row.
"""

import importlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.core.stage import Count, Input, Output, Plugin, Share, checked
from evenhand.errors import InputError, placed
from evenhand.io.tables import read_batches, write_batches
from evenhand.slguset.find_keywords import add_columns, sentence_judge
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.names import Policy
from evenhand.slguset.surface_pairs import SENTENCES, attribute_of, schema
from evenhand.slguset.verdicts import ACCEPTED, FINDINGS, Judge
from evenhand.text.traditional import matching_form


@checked
def apply_filters(
    *,
    sentences: Input,
    keywords: Input,
    keyword_words: Input,
    out: Output,
    filters: Annotated[list[str], Plugin("evenhand.slguset.filters")],
    files: list[Input] | None = None,
    min_length: Count = 9,
    max_length: Count = 119,
    whole_sentences: bool = True,
    anonymised: Policy = "drop",
    surname_title: Policy = "drop",
    familiar: Policy = "drop",
    threshold: Share | None = None,
    pipeline: str = "zh_core_web_sm",
    attribute: str = "gender",
    values: list[str] | None = None,
    language: str = "zh",
    normaliser: Annotated[str, Plugin("evenhand.text.normalisers")] = "chinese",
    splitter: Annotated[str, Plugin("evenhand.text.splitters")] = "chinese",
    segmenter: Annotated[str, Plugin("evenhand.text.segmenters")] = "jieba",
    several: bool = False,
    pronouns: str | None = None,
    pronouns_open: bool = False,
    agreement: list[Input] | None = None,
) -> dict[str, Any]:
    """Find the keyword of each sentence of a shard, and apply all configured filters.

    Parameters
    ----------
    sentences, keywords, keyword_words : Path
        The sentences and two tables; see `evenhand.slguset.find_keywords`.
    out : Path
        The sentences with the columns of their keywords, and of findings: for each one that
        `find_keywords` accepts, the filters that reject it, with reason and evidence.
    filters : list of str
        The filters, in the order in which their reasons count.
    files : list of Path
        The files that the filters need, recognised by their names.
    min_length, max_length, whole_sentences : int, int, bool
        Which sentences `find_keywords` accepts.
    anonymised : str
        Whether the names_ filters `drop` or `keep` sentences with 王某.
    surname_title : str
        The same for 李先生 and 王阿姨.
    familiar : str
        The same for 小王, 老李 and 阿强.
    threshold : float, optional
        P(name) above which a word is a name for names_crf; by default the threshold that
        `train_names_crf` chose. A lower one finds more names and rejects more clean sentences.
    pipeline : str
        The installed spaCy pipeline of names_spacy.
    attribute, values, language, normaliser, splitter, segmenter, several, pronouns, pronouns_open
        Of the pack (``workflow/schemas/pack.schema.yaml``); of zh_gender by default.
    agreement : list of Path
        agreement.csv and cues.csv of a pack that has them.

    Returns
    -------
    dict
        read (sentences), verdicts (of `find_keywords`), sentences (judged), passed (rejected by
        no filter), reasons (sentences by filter and reason).

    Raises
    ------
    InputError
        A file that a filter needs is missing or malformed.
    """
    with placed(keywords.with_name("pack.yaml")):
        cut = importlib.import_module(f"evenhand.text.segmenters.{segmenter}").segmenter(language)
    settings = dict(locals()) | {
        "values": tuple(values or GENDERS),
        "blanks": importlib.import_module(f"evenhand.text.normalisers.{normaliser}").BLANKS,
    }
    if min_length > max_length:
        problem = f"no length is at least {min_length} and at most {max_length} characters"
        raise InputError(problem, remedy="mend min_length or max_length")
    limits = {"min_length": min_length, "max_length": max_length}
    limits["whole_sentences"] = whole_sentences
    judge = sentence_judge(keywords, keyword_words, settings, agreement or (), **limits)
    columns = schema(attribute, settings["values"], several)
    batches = (
        add_columns(batch, map(judge, batch["sentence"].to_pylist()), attribute, columns)
        for batch in read_batches(sentences, SENTENCES.names)
    )
    return filter_keywords(batches, columns, out, filters, files or [], settings)


def filter_keywords(
    batches: Iterable[pa.RecordBatch],
    columns: pa.Schema,
    out: Path,
    filters: Sequence[str],
    files: Sequence[Path],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Apply filters to a keywords table; see `apply_filters`."""
    by_name = {path.name: path for path in files}
    counts: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in filters}
    plain = matching_form(settings.get("language", "zh"))
    prepared = {name: prepare_filter(name, by_name, settings) for name in filters}
    judged = columns.append(FINDINGS)

    def with_findings() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            verdicts.update(batch["verdict"].to_pylist())
            accepted = pc.equal(batch["verdict"], ACCEPTED)
            places = accepted.to_numpy(zero_copy_only=False).nonzero()[0].tolist()
            rows = batch.filter(accepted)
            cells = {name: rows[name].to_pylist() for name in columns.names}
            cells["value"], written = cells[attribute_of(columns.names)], cells["sentence"]
            cells["sentence"] = list(map(plain, written))
            findings: list[list[dict[str, Any]]] = [[] for _ in range(batch.num_rows)]
            for name, (needed, judge) in prepared.items():
                results = judge(*[cells[column] for column in needed])
                for place, finding, *texts in zip(
                    places, results, cells["sentence"], written, strict=True
                ):
                    if finding:
                        words = finding.in_text(*texts).words()
                        row = {"filter": name, "reason": finding.reason, "evidence": words}
                        findings[place].append(row)
                        reasons[name][finding.reason] += 1
            counts["sentences"] += len(places)
            counts["passed"] += sum(not findings[place] for place in places)
            column = pa.array(findings, FINDINGS.type)
            yield pa.record_batch([*batch.columns, column], schema=judged)

    read = write_batches(out, judged, with_findings())
    return {
        "read": read,
        "verdicts": dict(sorted(verdicts.items())),
        **{name: counts[name] for name in ("sentences", "passed")},
        "reasons": {name: dict(sorted(counter.items())) for name, counter in reasons.items()},
    }


def prepare_filter(
    name: str, files: Mapping[str, Path], settings: Mapping[str, Any]
) -> tuple[tuple[str, ...], Judge]:
    """Return a filter's columns, and the filter; files are given by their names."""
    module = importlib.import_module(f"evenhand.slguset.filters.{name}")
    needed = set(module.FILES) - set(getattr(module, "OPTIONAL", ()))
    if missing := sorted(needed - set(files)):
        problem = f"the filter {name} needs {missing[0]}"
        raise InputError(problem, remedy="give it among the filters' files")
    return module.COLUMNS, module.prepare(files, settings)
