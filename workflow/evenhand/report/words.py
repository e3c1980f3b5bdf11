"""Readable words for the codes in the tables."""

#: The name and the meaning of why a sentence with a keyword is not accepted, by reason.
Reasons = dict[str, tuple[str, str]]

#: Reasons before any filter; those of the filters are in their modules.
REASONS: Reasons = {
    "duplicate": (
        "Duplicate",
        "The corpus contains the sentence more than once; one copy is kept.",
    ),
    "several_keywords": (
        "More than one keyword",
        "The sentence holds several gender terms, so there is no single slot to mask.",
    ),
    "no_keyword": (
        "No keyword",
        "The sentence contains the characters of the keyword, but as part of other words.",
    ),
    "unfinished": (
        "No whole sentence",
        "It does not end as a sentence does: a headline, a caption.",
    ),
    "length": ("Too short or too long", "Its length lies outside the configured bounds."),
    "deny_listed": (
        "On the deny list",
        "Its word is on a list of exceptions: not a gender word, or one without an opposite.",
    ),
    "not_a_gender_term": (
        "Not a gender term",
        "The characters of the keyword belong to another word, as in 吉他 or 子女.",
    ),
    "agreement_unclear": (
        "Agreement not clear",
        "A word that changes with the keyword could become several words, as her: him or his.",
    ),
}

#: The problems of a row of the published file.
PROBLEMS = {
    "wrong_slice": "The stated position is not the keyword’s.",
    "duplicate": "An earlier row has the same sentence.",
    "unbalanced_quotes": "“ and ” do not match.",
    "ender_inside_quotes": "It ends like 。” where the file otherwise has ”。",
    "cut_again": "Our splitting cuts it once more.",
    "unfinished": "It does not end in 。？ or ！",
    "unexpected_character": "It holds characters that our normalising removes.",
    "not_a_pair": "Keyword and opposite are no pair of the table; the row is left out.",
    "keyword_count": "It contains several words of the table, or none.",
}

#: The problems listed in ``known_errors.csv``, with their ids there.
PROBLEM_ERRORS = {
    "wrong_slice": "slguset-positions",
    "duplicate": "slguset-duplicates",
    "unbalanced_quotes": "slguset-quotes",
}

#: The results of checking a stated position.
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
        "Its accuracy on masked characters is not above the majority-class baseline."
    ),
    "next_token_not_above_baseline": (
        "Its next-character accuracy is not above the majority-class baseline."
    ),
    "few_scored": "It can score too few of the sentences.",
    "broken_model": "It fails on its inputs, so it has no score.",
}


def gate_meaning(word: str) -> str:
    """Return why a model is not trusted, in words; an unknown reason is returned unchanged."""
    return GATES.get(word, word)


def reasons_with(
    names: list[str] | None, titles: list[str] | None, meanings: list[str] | None
) -> Reasons:
    """Return `REASONS` and the reasons of the filters with these names, titles and meanings."""
    words = zip(titles or [], meanings or [], strict=True)
    return REASONS | dict(zip(names or [], words, strict=True))


def reason_name(reason: str, known: Reasons) -> str:
    """Return a reason's title; an unknown reason is only capitalised."""
    return known[reason][0] if reason in known else reason.replace("_", " ").capitalize()


def reason_meaning(reason: str, known: Reasons) -> str | None:
    """Return the meaning of a reason, or None if it is unknown."""
    return known[reason][1] if reason in known else None
