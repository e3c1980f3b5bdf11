"""Extract the sentences that contain a keyword from files of any supported kind."""

import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import compress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from evenhand.core.encodings import DAMAGE, REMAINS
from evenhand.core.limits import CHARACTERS, MEMBER_BYTES
from evenhand.core.stage import Count, Input, Natural, Output, Plugin, Source, checked
from evenhand.errors import InputError, placed
from evenhand.io.decoding import Encoding, TextReader
from evenhand.io.documents import write_json
from evenhand.io.formats import kind_of
from evenhand.io.members import Member, open_members
from evenhand.io.quarantine import Quarantine
from evenhand.io.readers.options import Format, Markup, Options, Paragraphs
from evenhand.io.readers.records import paragraph_splitter, read_records
from evenhand.io.tables import write_batches, write_table
from evenhand.slguset.distinct_sentences import distinct
from evenhand.slguset.keywords import GENDERS, read_keywords
from evenhand.slguset.surface_pairs import SENTENCES
from evenhand.text.character_pairs import CharacterPairs
from evenhand.text.sentences import Sentences
from evenhand.text.traditional import matching_form

#: Characters of text that are cut into sentences at once.
BATCH_CHARACTERS = 1 << 18

#: What to do about records without the field of the text.
SET_FIELD = "set `text_field` to the field or column that holds the text"

#: The columns of the inventory.
INVENTORY = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("format", pa.string(), nullable=False),
        pa.field("encoding", pa.string()),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("keyword_sentences", pa.int64(), nullable=False),
    ]
)


@checked
def extract_sentences(
    *,
    files: list[Source],
    keywords: Input,
    sentences: Output,
    quarantine: Output,
    counts: Output,
    inventory: Output,
    first_byte: Natural | None = None,
    end_byte: Count | None = None,
    format: Format = "auto",
    text_field: str = "text",
    header: bool = True,
    delimiter: str | None = None,
    encoding: Encoding = "auto",
    paragraphs: Paragraphs = "line",
    markup: Markup = "auto",
    max_characters: Count = CHARACTERS,
    max_member_bytes: Count = MEMBER_BYTES,
    language: str = "zh",
    values: list[str] | None = None,
    normaliser: Annotated[str, Plugin("evenhand.text.normalisers")] = "chinese",
    splitter: Annotated[str, Plugin("evenhand.text.splitters")] = "chinese",
) -> dict[str, Any]:
    """Read a shard of a corpus, cut it into sentences, and keep those that hold a keyword.

    Exact duplicates within the shard become one row, with the least of their sources (by
    name, then position) and the number of copies.

    Parameters
    ----------
    files
        Text files, compressed files and archives, in any order.
    keywords
        The table of keywords; a sentence is kept if it contains one of its surfaces.
    sentences
        The sentences kept, sorted by id.
    quarantine
        Unreadable data, with file, position and reason.
    counts
        Counts of the data read and kept, as JSON.
    inventory
        A row per file or member in the order read: file, format, encoding (as it was stated or
        detected; null for an empty file), bytes (of the text, decompressed), keyword_sentences
        (those with a keyword: a file in another language has none).
    first_byte
        Together with end_byte, and one uncompressed file: only the lines that begin at this
        byte of the file or later.
    end_byte
        Only the lines that begin before this byte.
    format
        The files' format; auto: by each file's suffix. pku: words with tags, as in the People's
        Daily 1998.
    text_field
        The place of the text: in JSON a field's name, or a path of names joined by dots; in CSV
        and TSV a column's name in the header, or its number from 1.
    header
        Whether the first row of CSV and TSV files names the columns.
    delimiter
        The character between columns; a comma in CSV and a tab in TSV if not given.
    encoding
        The files' encoding; auto detects it in each.
    paragraphs
        line: each line is a paragraph. blank_line: blank lines separate paragraphs, and the lines
        of a paragraph are joined (hard-wrapped text).
    markup
        The markup to remove from the text; auto: only in Markdown and HTML files.
    max_characters
        Lines, records and documents with more characters are left out.
    max_member_bytes
        A file or member of an archive is read up to this number of bytes, decompressed.
    language, values, normaliser, splitter
        Of the pack (``workflow/schemas/pack.schema.yaml``); of zh_gender by default.
    """
    arguments = dict(locals())
    options = Options(**{each.name: arguments[each.name] for each in fields(Options)})
    problems = Quarantine()
    counted = ("files", "bytes", "characters", "records", "paragraphs", "sentences")
    tally = dict.fromkeys((*counted, "keyword_sentences"), 0)
    encodings: Counter[str] = Counter()
    inventoried: list[dict[str, Any]] = []
    cleaning = importlib.import_module(f"evenhand.text.normalisers.{normaliser}")
    with placed(keywords.with_name("pack.yaml")):
        split = importlib.import_module(f"evenhand.text.splitters.{splitter}").splitter(language)
    find = keyword_finder(keywords, values or GENDERS, blanks=cleaning.BLANKS)
    plain = matching_form(language)

    def cut_file(
        member: Member, text: TextReader, text_format: str
    ) -> Iterator[tuple[str, str, int]]:
        """Cut a file into sentences, count them, and yield those with a keyword."""
        unit = "record" if text_format in ("json", "html") else "line"
        records = read_records(text, text_format, options)
        for positions, paragraphs in batches(records, paragraph_splitter(options), tally):
            sentences = split(cleaning.normalise(paragraphs))
            filled = np.diff(sentences.counts, prepend=0) > 0
            tally["paragraphs"] += int(filled.sum())
            tally["characters"] += sum(map(len, compress(paragraphs, filled)))
            tally["sentences"] += len(sentences.ends)
            for number, sentence in keyword_sentences(sentences, find, plain):
                if mark := REMAINS.search(sentence):
                    what = f"{mark[0]}, which is of HTML or of a wrong encoding"
                    what = "U+FFFD, the mark of undecodable bytes" if mark[0] == DAMAGE else what
                    detail = f"a keyword sentence that holds {what}"
                    problems.add(member.name, positions[number], unit, "damaged_sentence", detail)
                else:
                    tally["keyword_sentences"] += 1
                    yield sentence, member.name, positions[number]

    def cut_files() -> Iterator[tuple[str, str, int]]:
        with _progress(files) as bar:
            members = (
                member
                for path in files
                for member in open_members(
                    path, problems, limit=max_member_bytes, on_read=bar.update
                )
            )
            for member in members:
                text_format = _format_of(member, format, problems)
                if text_format is None:
                    continue
                text = TextReader(
                    member.chunks,
                    file=member.name,
                    quarantine=problems,
                    encoding=encoding,
                    max_characters=max_characters,
                    first_byte=first_byte or 0,
                    end_byte=end_byte,
                )
                before = tally["keyword_sentences"]
                yield from cut_file(member, text, text_format)
                tally["bytes"] += text.bytes
                kept = tally["keyword_sentences"] - before
                row = (member.name, text_format, text.encoding, text.bytes, kept)
                inventoried.append(dict(zip(INVENTORY.names, row, strict=True)))
                if not first_byte:  # a file that is cut is counted once
                    tally["files"] += 1
                    encodings.update([text.encoding] if text.encoding else [])
        _check_field(files, tally, problems, text_field)

    rows = write_batches(sentences, SENTENCES, distinct(cut_files()))
    problems.write(quarantine)
    write_table(inventory, INVENTORY, inventoried)
    result = tally | {
        "duplicates": tally["keyword_sentences"] - rows,
        "quarantined": dict(sorted(problems.counts.items())),
        "encodings": dict(sorted(encodings.items())),
    }
    write_json(counts, result)
    return result


def keyword_finder(
    keywords: Path, values: Sequence[str] = GENDERS, *, blanks: bool = False
) -> Callable[[str], np.ndarray]:
    """Return a function that finds where surfaces of the table of keywords begin in a text.

    Between blanks, whole words. Else a surface that contains another one is left to that one, and
    is sought by its first two characters.
    """
    table = read_keywords(keywords, values, blanks=blanks)
    surfaces = table.surfaces
    least = [s for s in surfaces if not any(o != s and o in s for o in surfaces)]
    pairs = CharacterPairs([[(surface[0], surface[1:2]) for surface in least]])

    def places(text: str) -> np.ndarray:
        if blanks:
            return np.array([match.start() for match in table.pattern.finditer(text)], np.intp)
        begins = pairs.places(text)
        if max(map(len, least)) > 2:
            begins = begins[[bool(table.pattern.match(text, place)) for place in begins.tolist()]]
        return begins

    return places


def keyword_sentences(
    sentences: Sentences,
    find: Callable[[str], np.ndarray],
    plain: Callable[[str], str] | None = None,
) -> Iterator[tuple[int, str]]:
    """Yield the sentences that hold a keyword, with the numbers of their paragraphs.

    All are searched at once. `plain` makes the form of a text that is searched, of the same length.
    """
    text = sentences.text
    if plain:
        text = "\n".join(map(plain, text.split("\n")))
    places = np.unique(sentences.ends.searchsorted(find(text), "right"))
    numbers = sentences.counts.searchsorted(places, "right").tolist()
    yield from zip(numbers, sentences.strings(places), strict=True)


def batches(
    records: Iterable[tuple[int, str]],
    paragraphs_of: Callable[[str], list[str]],
    tally: dict[str, int],
) -> Iterator[tuple[list[int], list[str]]]:
    """Yield paragraphs that are not blank, many at once, with the positions of their records."""
    positions: list[int] = []
    paragraphs: list[str] = []
    characters = n_records = 0
    for position, record in records:
        n_records += 1
        for paragraph in paragraphs_of(record):
            if not paragraph or paragraph.isspace():
                continue
            positions.append(position)
            paragraphs.append(paragraph)
            characters += len(paragraph)
        if characters > BATCH_CHARACTERS or DAMAGE in record:  # listed where it was read
            yield positions, paragraphs
            positions, paragraphs, characters = [], [], 0
    if paragraphs:
        yield positions, paragraphs
    tally["records"] += n_records


def _format_of(member: Member, stated: Format, problems: Quarantine) -> str | None:
    if stated != "auto":
        return stated
    text_format = kind_of(member.file_name).format
    if text_format is None:
        problems.add(member.name, None, "file", "unknown_format", "its suffix names no format")
    return text_format


def _check_field(
    files: list[Path], tally: dict[str, int], problems: Quarantine, text_field: str
) -> None:
    """Raise InputError if no record has a text in the field, which is an error in the config."""
    details = map(problems.first_detail, ("missing_field", "text_is_number", "no_text"))
    detail = next(filter(None, details), None)
    if detail and not tally["records"]:
        problem = f"no record has a text in the field {text_field!r}: {detail}"
        raise InputError(problem, file=files[0], remedy=SET_FIELD)


def _progress(files: list[Path]) -> tqdm:
    """Return a progress bar over the bytes on disk; in a log, a line every ten seconds."""
    return tqdm(
        total=sum(path.stat().st_size for path in files if path.exists()),
        unit="B",
        unit_scale=True,
        mininterval=0.5 if sys.stderr.isatty() else 10,
        desc="reading",
    )
