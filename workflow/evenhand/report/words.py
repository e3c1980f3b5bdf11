"""What the page calls things: the fixed words of the tables, in words for people."""

#: Why a sentence with a keyword is not accepted: name, meaning.
REASONS = {
    "duplicate": (
        "Said before",
        "The same sentence stands elsewhere in the corpus; one of them is kept.",
    ),
    "several_keywords": (
        "More than one keyword",
        "The sentence holds several gender terms, so there is no single slot to mask.",
    ),
    "no_keyword": (
        "No keyword",
        "The characters of the keyword stand there, but not as the keyword.",
    ),
    "unfinished": (
        "No whole sentence",
        "It does not end as a sentence does: a headline, a caption.",
    ),
    "length": ("Too short or too long", "Its length lies outside the configured bounds."),
    "deny_listed": (
        "On the deny list",
        "The word that holds the keyword is listed as no gender term, or one without counterpart.",
    ),
    "not_a_gender_term": (
        "Not a gender term",
        "The characters of the keyword belong to another word, as in 吉他 or 子女.",
    ),
    "name": ("A person’s name", "It names a person, whose gender a reader may know."),
    "anonymised_name": ("A surname and 某", "It speaks of a person as 王某 or 李某某."),
    "surname_title": ("A surname and a title", "It names a person with a title: 王阿姨, 陈校长."),
    "familiar_name": ("A familiar name", "It names a person as 小王, 老李 or 阿强."),
    "pair_fit": (
        "The pair does not fit",
        "Criterion (a): in this slot the two words differ in more than gender.",
    ),
    "coreference": (
        "Another gender term",
        "Criterion (b): a second word may tell the gender of the same person, as 兄弟俩.",
    ),
    "biology": (
        "Biological sex",
        "Criterion (c): it speaks of something bound to biological sex, as 孕期.",
    ),
    "near_duplicate": (
        "Almost said before",
        "Another sentence that is kept says nearly the same; the evidence is its id.",
    ),
}

#: What is wrong with a row of the published file.
PROBLEMS = {
    "wrong_slice": "The stated position is not the keyword’s.",
    "duplicate": "The sentence stands in an earlier row.",
    "unbalanced_quotes": "“ and ” do not match.",
    "ender_inside_quotes": "It ends like 。” where the file otherwise has ”。",
    "cut_again": "Our splitting cuts it once more.",
    "unfinished": "It does not end in 。？ or ！",
    "unexpected_character": "It holds characters that our normalising removes.",
    "not_a_pair": "Keyword and opposite are no pair of the table; the row is left out.",
    "keyword_count": "The words of the table stand in it more than once, or none does.",
}

#: Those of them that ``known_errors.csv`` tells of, by its ids.
PROBLEM_ERRORS = {
    "wrong_slice": "slguset-positions",
    "duplicate": "slguset-duplicates",
    "unbalanced_quotes": "slguset-quotes",
}

#: What a stated position marks.
POSITIONS = {
    "right": "Right",
    "wrong": "Wrong",
    "whole_word": "Wrong: marks the whole word",
    "counts_from_1": "Wrong: counts from 1",
    "whole_word_counts_from_1": "Wrong: marks the whole word and counts from 1",
    "shifted": "Wrong: shifted by more",
    "outside": "Wrong: ends behind the sentence",
    "other": "Wrong in another way",
}

#: Why a model's numbers are not to be trusted.
GATES = {
    "missing_weights": "Its checkpoint lacks weights, which were made up at random.",
    "fill_mask_not_above_baseline": (
        "It fills in masked characters no better than one who always says the most frequent one."
    ),
    "next_token_not_above_baseline": (
        "It foretells the next character no better than one who always says the most frequent one."
    ),
    "few_scored": "It can score too few of the sentences.",
}


def gate_meaning(word: str) -> str:
    """Why a model is not trusted, in words; a reason that is new here keeps its own word."""
    return GATES.get(word, word)


def reason_name(reason: str) -> str:
    """A reason's name in words; a reason that is new here keeps its own word."""
    return REASONS[reason][0] if reason in REASONS else reason.replace("_", " ").capitalize()


def filter_name(name: str) -> str:
    """What a filter drops, in words, and its own name; without words, the name alone."""
    reason = "name" if name.startswith("names_") else name
    return f"{REASONS[reason][0]} ({name})" if reason in REASONS else name


def reason_meaning(reason: str) -> str | None:
    """What a reason means, or None if it is new here."""
    return REASONS[reason][1] if reason in REASONS else None
