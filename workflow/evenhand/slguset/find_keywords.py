"""Find the one keyword of each sentence, and judge whether it is a term of the attribute there.

Verdicts, the first that holds: `several_keywords`, `no_keyword`, `unfinished`, `length`
(these need no words), then `deny_listed` and `not_a_gender_term` by the word that contains the
keyword, `agreement_unclear` if a word that goes with it could become several, else `accepted`.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenhand.core.resources import read_resource
from evenhand.errors import InputError
from evenhand.slguset.inflection import Inflection, Span, Word, exchange, read_inflection
from evenhand.slguset.keywords import Keywords, Surface, read_keywords
from evenhand.slguset.verdicts import ACCEPTED, Finding
from evenhand.text.posseg import dictionary_tags, is_alone
from evenhand.text.segmentation import Token, token_at
from evenhand.text.splitters.chinese import WHOLE
from evenhand.text.traditional import matching_form

SEVERAL = "several_keywords"
NONE = "no_keyword"
UNFINISHED = "unfinished"
LENGTH = "length"
DENIED = "deny_listed"
NO_TERM = "not_a_gender_term"
UNCLEAR = "agreement_unclear"

RULES = (
    "allow", "deny", "not_before", "before", "opens_before", "not_after", "only_after",
    "only_after_pattern", "alone",
)  # fmt: skip

#: Behind these a clause begins.
_CLAUSE_MARKS = "，,；;：:、“‘「『（(《—…"


class Hit(NamedTuple):
    """A sentence's verdict and keyword; `surface` is None where there is none.

    `word` contains the keyword; without one keyword, or with words that cannot be exchanged, it is
    a list of these. `spans` are the words to exchange where there can be several.
    """

    verdict: str
    surface: Surface | None = None
    surface_start: int | None = None
    word: str | None = None
    spans: Sequence[Span] | None = None


#: The table of words: for each rule, the words by keyword; for only_after, a pattern of these.
#:
#: - allow, deny: an entry applies to itself and to every longer word that contains it around the
#:   keyword, unless a longer entry decides otherwise.
#: - not_before, not_after: the keyword is no term right before, right after the characters: 他人.
#: - before, opens_before: exceptions. It is a term before these, whatever the segmentation, if they
#:   are longer than those of `not_before`: 他人生. `opens_before` applies where the keyword begins
#:   a clause: 他人在北京, but not 伙同他人在北京.
#: - only_after, only_after_pattern: the keyword is a term only right after one of these words, or
#:   after text that one of these regular expressions matches: 是东北人, 一位老人.
#: - alone: the keyword must be a word by itself, not part of a longer one.
WordRules = Mapping[str, Mapping[str, Any]]


class Language(NamedTuple):
    """The segmentation of a pack's language, and the words that change with a keyword.

    Attributes
    ----------
    cut : callable, optional
        Cuts a sentence into words. None: Chinese, by the rules of `judge_word`.
    whole : pattern
        How a whole sentence ends.
    inflection : Inflection, optional
        The words that change together, where a sentence may have several. None: only one.
    pronouns : str, optional
        The pair of the pronouns, which may occur beside a noun of the same value.
    pronouns_open : bool
        Whether a sentence with pronouns alone must begin with one (and go on as a cue has it).
    """

    cut: Callable[[str], list[str]] | None = None
    whole: re.Pattern[str] = WHOLE
    inflection: Inflection | None = None
    pronouns: str | None = None
    pronouns_open: bool = False


CHINESE = Language()


def sentence_judge(
    keywords: Path,
    keyword_words: Path,
    pack: Mapping[str, Any],
    agreement: Sequence[Path] = (),
    **limits: Any,
) -> Callable[[str], Hit]:
    """Return a function that finds the keyword of a sentence, by a pack's tables and settings.

    Parameters
    ----------
    keywords, keyword_words : Path
        The pack's tables of surface pairs (keywords.csv), and of words that are gender terms or are
        not (keyword_words.csv).
    pack : mapping
        The settings of the pack (``workflow/schemas/pack.schema.yaml``).
    agreement : list of Path
        agreement.csv and cues.csv; see `evenhand.slguset.inflection`.
    **limits
        As for `judge_sentence`.
    """
    values, language = pack["values"], pack["language"]
    normaliser = importlib.import_module(f"evenhand.text.normalisers.{pack['normaliser']}")
    splitter = importlib.import_module(f"evenhand.text.splitters.{pack['splitter']}")
    segmenter = importlib.import_module(f"evenhand.text.segmenters.{pack['segmenter']}")
    table = read_keywords(keywords, values, blanks=normaliser.BLANKS)
    rules = read_word_rules(keyword_words, table)
    settings = Language(
        None if pack["segmenter"] == "jieba" else segmenter.segmenter(language),
        splitter.WHOLE,
        read_inflection(agreement, values) if pack["several"] else None,
        pack["pronouns"],
        pack["pronouns_open"],
    )
    plain = matching_form(language)

    def judge(sentence: str) -> Hit:
        matched = plain(sentence)
        hit = judge_sentence(matched, table, rules, settings, **limits)
        if hit.surface is None:
            return hit
        return hit._replace(surface=hit.surface.written_in(sentence, hit.surface_start))

    return judge


def judge_sentence(
    sentence: str,
    keywords: Keywords,
    rules: WordRules,
    language: Language = CHINESE,
    *,
    min_length: int = 0,
    max_length: int = 1 << 30,
    whole_sentences: bool = False,
) -> Hit:
    """Find the keyword of a sentence and judge it.

    Parameters
    ----------
    sentence : str
        The sentence, in the form that is matched.
    keywords, rules, language
        Of the pack.
    min_length, max_length : int
        The limits of accepted sentences, in characters. The authors' have 9 to 119.
    whole_sentences : bool
        Reject text that does not end in 。？！ or …, such as headlines (`unfinished`).
        All but one of the authors' 20,000 sentences end so.
    """
    match = keywords.pattern.search(sentence)
    if match is None:
        return Hit(NONE)
    start, end = match.span()
    if language.inflection is None and keywords.pattern.search(sentence, end):
        return Hit(SEVERAL, word=_words(keywords.pattern.findall(sentence)))
    surface = _choose(keywords.alternatives[match.group()], sentence)
    if whole_sentences and not language.whole.search(sentence):
        return Hit(UNFINISHED, surface, start)
    if not min_length <= len(sentence) <= max_length:
        return Hit(LENGTH, surface, start)
    if language.cut is not None:
        return _judge_words(sentence, keywords, rules, language)
    if len(surface.surface) == 1 and is_alone(sentence, start):
        token = Token(surface.surface, start, "")
    else:
        token = token_at(sentence, start + surface.offset)
    if not _within(surface, start, token):
        shorter = keywords.shorter(surface, start, sentence, token.end)
        if shorter is None or start < token.start:
            return Hit(NO_TERM, surface, start, token.word)
        surface = shorter
    return Hit(judge_word(surface, start, token, sentence, rules), surface, start, token.word)


def _choose(rows: list[Surface], sentence: str) -> Surface:
    """Return the row of a surface that a sentence is compared by: any one, but always the same.

    Of an attribute with more than two values each sentence has one counterpart, chosen by a digest,
    so that all pairs of values have about equally many.
    """
    if len(rows) == 1:
        return rows[0]
    return rows[int(blake2b(sentence.encode(), digest_size=4).hexdigest(), 16) % len(rows)]


def _judge_words(sentence: str, keywords: Keywords, rules: WordRules, language: Language) -> Hit:
    """Judge a sentence by its keywords that begin and end where words do."""
    words, position = [], 0
    for part in language.cut(sentence):
        if not part.isspace():
            words.append(Word(part, position))
        position += len(part)
    starts = {word.start: place for place, word in enumerate(words)}
    ends = {word.end for word in words}
    hits: list[tuple[Word, Surface]] = []
    no_terms: list[tuple[Word, Surface]] = []
    verdict = NO_TERM
    for match in keywords.pattern.finditer(sentence):
        word, rows = Word(match.group(), match.start()), keywords.alternatives[match.group()]
        surface = _choose(rows, sentence)
        if word.start not in starts or word.end not in ends:
            continue
        if (judged := judge_whole(surface, word.start, sentence, rules)) == ACCEPTED:
            hits.append((word, surface))
        else:
            verdict = judged
            no_terms.append((word, surface))
    if not hits:
        return Hit(verdict, surface, match.start(), match.group())
    with_determiners = language.inflection is not None and language.inflection.has_determiners
    # a keyword that is no term here would stay beside the same one exchanged
    taken = {word.text for word, _ in hits}
    if any(
        with_determiners or row.value != hits[0][1].value or word.text in taken
        for word, row in no_terms
    ):
        return Hit(SEVERAL, word=_words(word.text for word, _ in sorted(hits + no_terms)))
    texts = [word.text for word, _ in hits]
    nouns = [hit for hit in hits if hit[1].pair != language.pronouns]
    word, surface = (nouns or hits)[0]
    if len(hits) > 1 and (
        language.inflection is None
        or len({row.value for _, row in hits}) > 1
        or len({row.pair for _, row in nouns}) > 1
        or (len(nouns) > 1 and with_determiners)
        or (nouns and hits[0] is not nouns[0])  # a pronoun before a noun denotes another person
    ):
        return Hit(SEVERAL, word=_words(texts))
    if language.inflection is None:
        return Hit(ACCEPTED, surface, word.start, word.text)
    if language.pronouns_open and not nouns:
        opens = word.start == words[0].start and len(words) > 1
        if not opens or language.inflection.may_be_thing(word.text, words[1].text):
            return Hit(UNCLEAR, surface, word.start, _words(texts))
    if with_determiners and (other := _another(words, hits, keywords, language.inflection)):
        return Hit(UNCLEAR, surface, word.start, _words([*texts, other]))
    for keyword, _ in hits:  # a surface of several words is one word here
        first = starts[keyword.start]
        last = next(i for i in range(first, len(words)) if words[i].end == keyword.end)
        words[first : last + 1] = [keyword]
        starts = {each.start: place for place, each in enumerate(words)}
    rows = [(starts[keyword.start], keywords.alternatives[keyword.text]) for keyword, _ in hits]
    rows = [
        (place, [row for row in some if row.value_opposite == surface.value_opposite])
        for place, some in rows
    ]
    spans = exchange(words, rows, language.inflection, language.pronouns)
    if spans is None:
        return Hit(UNCLEAR, surface, word.start, _words(texts))
    opposite = next(span.text for span in spans if span.start == word.start)
    base = keywords.base(surface)
    surface = base._replace(keyword=word.text, opposite=opposite, offset=0)
    return Hit(ACCEPTED, surface, word.start, word.text, spans)


def _words(words: Iterable[str]) -> str | None:
    return Finding("", [*words]).words()


def _another(
    words: Sequence[Word],
    hits: Sequence[tuple[Word, Surface]],
    keywords: Keywords,
    inflection: Inflection,
) -> str:
    """Return a noun that may be the same person: Mörder, or a compound as Staatspräsident."""
    nouns = tuple(text.lower() for text in keywords.alternatives if len(text) > 3)
    taken = {word.start for word, _ in hits}
    others = (
        word.text
        for place, word in enumerate(words)
        if word.text[0].isupper()
        and word.start not in taken
        and word.text not in keywords.alternatives
        and (word.text.lower().endswith(nouns) or inflection.is_person(words, place))
    )
    return next(others, "")


def judge_whole(surface: Surface, start: int, sentence: str, rules: WordRules) -> str:
    """Whether a keyword that is a word of its own is a term: `accepted` or `not_a_gender_term`."""
    keyword, position = surface.keyword, start + surface.offset
    if _is_ruled_out(keyword, sentence[:position].removesuffix(" "), rules):
        return NO_TERM
    return _by_what_follows(keyword, position, sentence, rules) or ACCEPTED


def judge_word(surface: Surface, start: int, token: Token, sentence: str, rules: WordRules) -> str:
    """Decide whether a keyword is a gender term, by the word that contains it.

    It is one if the word is the surface. In a longer word it is one if the table allows the word;
    if the word contains a surface of several characters (女性朋友, 老父亲); or, for 男 or 女, if
    the exchange makes another word of the dictionary (男装), or the keyword precedes a word of
    the dictionary (女教师). A word that the table denies is none. 他 and 她 must be whole words.

    Parameters
    ----------
    surface : Surface
        The surface found in the sentence.
    start : int
        Where it begins in the sentence.
    token : Token
        The word that holds it.
    sentence : str
        The sentence.
    rules : WordRules
        The table of words.

    Returns
    -------
    str
        `accepted`, `deny_listed` or `not_a_gender_term`.
    """
    keyword = surface.keyword
    position = start + surface.offset - token.start
    listed = token.word != keyword and _listed(keyword, token.word, position, rules)
    if listed:
        return listed
    if _is_ruled_out(keyword, sentence[: start + surface.offset], rules):
        return NO_TERM
    if follows := _by_what_follows(keyword, start + surface.offset, sentence, rules):
        return follows
    if token.word == keyword or token.word == surface.surface or len(surface.surface) > 1:
        return ACCEPTED
    before, after = token.word[:position], token.word[position + 1 :]
    if len(keyword) == 1 and keyword not in rules["alone"]:
        words = dictionary_tags()
        if before + surface.opposite + after in words or (not before and after in words):
            return ACCEPTED
    return NO_TERM


def read_word_rules(path: Path, keywords: Keywords) -> WordRules:
    """Read the table of words (word, rule, keyword; the last may be several with blanks between).

    Raises
    ------
    InputError
        The table is not well formed, a rule or keyword is unknown, a pattern is no regular
        expression, or an allowed or denied word does not hold its keyword.
    """
    rules: dict[str, dict[str, Any]] = {rule: {} for rule in RULES}
    known = {row.keyword for row in keywords.surfaces.values()}
    singled_out: dict[str, list[str]] = {}

    def add(row: dict[str, str]) -> None:
        word, rule, cell = row.values()
        for keyword in [cell] if cell in known else cell.split():
            if keyword not in known:
                remedy = f"write one of {', '.join(sorted(known))}"
                raise InputError(f"the keyword is {keyword!r}", remedy=remedy)
            if rule in ("allow", "deny") and keyword not in word:
                raise InputError(f"{word} does not contain {keyword}")
            rules[rule].setdefault(keyword, set()).add(word)
            if rule in ("only_after", "only_after_pattern"):
                pattern = re.escape(word) if rule == "only_after" else _checked(word)
                singled_out.setdefault(keyword, []).append(pattern)

    read_resource(path, ["word", "rule", "keyword"], choices={"rule": RULES}, make=add)
    rules["only_after"] = {
        keyword: re.compile(f"(?:{'|'.join(patterns)})$")
        for keyword, patterns in singled_out.items()
    }
    for rule in ("not_before", "before", "opens_before", "not_after"):
        rules[rule] = {keyword: tuple(sorted(words)) for keyword, words in rules[rule].items()}
    return rules


def _checked(pattern: str) -> str:
    """Return a regular expression; InputError if it is none."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(f"{pattern} is no regular expression ({error})") from error
    return pattern


def _is_ruled_out(keyword: str, before: str, rules: WordRules) -> bool:
    """Return whether a keyword is no term after the text before it."""
    needed = rules["only_after"].get(keyword)
    if needed and not needed.search(before):
        return True
    return before.endswith(rules["not_after"].get(keyword, ()))


def _by_what_follows(keyword: str, position: int, sentence: str, rules: WordRules) -> str | None:
    """Return the verdict by the text after a keyword (longest entry wins), None without entry."""
    denied = rules["not_before"].get(keyword, ())
    behind = position + len(keyword)
    behind += sentence.startswith(" ", behind)
    if not sentence.startswith(denied, behind):
        return None
    allowed = rules["before"].get(keyword, ())
    if position == 0 or sentence[position - 1] in _CLAUSE_MARKS:
        allowed += rules["opens_before"].get(keyword, ())
    if not sentence.startswith(allowed, behind):
        return NO_TERM

    def longest(words: tuple[str, ...]) -> int:
        return max((len(word) for word in words if sentence.startswith(word, behind)), default=0)

    return ACCEPTED if longest(allowed) > longest(denied) else NO_TERM


def _listed(keyword: str, word: str, position: int, rules: WordRules) -> str | None:
    """Return the verdict of the longest entry in the word around the keyword; a denial wins."""
    allowed, denied = rules["allow"].get(keyword, ()), rules["deny"].get(keyword, ())
    end = position + len(keyword)
    for length in range(len(word), len(keyword), -1):
        for start in range(max(0, end - length), min(position, len(word) - length) + 1):
            part = word[start : start + length]
            if part in denied:
                return DENIED
            if part in allowed:
                return ACCEPTED
    return None


def _within(surface: Surface, start: int, token: Token) -> bool:
    """Whether a word holds the surface; 女|人们 counts as 女人, in the plural."""
    end = start + len(surface.surface)
    if token.start <= start and end <= token.end:
        return True
    rest = surface.surface[token.end - start :]
    return token.word == surface.keyword and token.following == rest + "们"


def add_columns(
    batch: pa.RecordBatch, hits: Iterable[Hit], attribute: str, columns: pa.Schema
) -> pa.RecordBatch:
    """Return a batch of sentences with the columns of the keywords table."""
    rows = []
    for hit in hits:
        verdict = f"not_a_{attribute}_term" if hit.verdict == NO_TERM else hit.verdict
        row: dict[str, Any] = {"word": hit.word, "verdict": verdict}
        if surface := hit.surface:
            row |= surface._asdict() | {"surface_start": hit.surface_start}
            row |= {attribute: surface.value, f"{attribute}_opposite": surface.value_opposite}
            row["start"] = hit.surface_start + surface.offset
            row["end"] = row["start"] + len(surface.keyword)
            row["surface_end"] = hit.surface_start + len(surface.surface)
        if hit.spans:
            row |= {"surface_end": row["end"], "spans": [span._asdict() for span in hit.spans]}
        rows.append(row)
    width = len(batch.schema)
    made = pa.RecordBatch.from_pylist(rows, pa.schema([*columns][width:]))
    arrays = [*batch.cast(pa.schema([*columns][:width])).columns, *made.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=columns)
