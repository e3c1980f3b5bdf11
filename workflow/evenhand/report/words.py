"""What the page calls things: the fixed words of the tables, in words for people."""

#: Why a sentence with a keyword is not accepted: name, meaning.
REASONS = {
    "several_keywords": (
        "More than one keyword",
        "The sentence names several gender terms, so no single slot can be masked.",
    ),
    "not_a_gender_term": (
        "Not a gender term",
        "The characters of the keyword belong to another word, as in 吉他 or 子女.",
    ),
    "deny_listed": (
        "On the deny list",
        "The word that holds the keyword is listed as one that has no counterpart.",
    ),
    "length": ("Too short or too long", "The sentence lies outside the configured length."),
    "name": ("A person’s name", "The sentence names a person, whose gender a reader may know."),
    "pair_fit": (
        "The pair does not fit",
        "Criterion (a): put in the same slot, the two words differ in more than gender.",
    ),
    "coreference": (
        "Another gender term for the same person",
        "Criterion (b): a second word tells the gender of the person meant.",
    ),
    "biology": (
        "Biological sex",
        "Criterion (c): the sentence speaks of something bound to biological sex, as 孕期.",
    ),
    "near_duplicate": (
        "Almost the same as another",
        "Another sentence that is kept says nearly the same; the evidence is its id.",
    ),
}

#: Why a part of a file was set aside: meaning.
QUARANTINE = {
    "undecodable_bytes": "Bytes that are no text in the file’s encoding.",
    "nul_bytes": "NUL bytes, which no text holds.",
    "truncated_archive": "The archive ends too early; what came before the cut is used.",
    "broken_json": "A line or file that is not valid JSON.",
    "missing_field": "A record without the configured text field.",
    "empty_file": "A file without content.",
    "unsafe_member": "A member of an archive whose path leaves the archive.",
    "oversized_line": "A line longer than the configured limit.",
}


#: Why a model's numbers are not to be trusted.
GATES = {
    "missing_weights": "Its checkpoint lacks weights, which were made up at random.",
    "fill_mask_not_above_baseline": (
        "It fills in masked characters no better than one who always says the most frequent one."
    ),
    "few_scored": "It can score too few of the sentences.",
}


def gate_meaning(word: str) -> str:
    """Why a model is not trusted, in words; a reason that is new here keeps its own word."""
    return GATES.get(word, word)


def reason_name(reason: str) -> str:
    """A reason's name in words; a reason that is new here keeps its own word."""
    return REASONS[reason][0] if reason in REASONS else reason.replace("_", " ").capitalize()


def reason_meaning(reason: str) -> str | None:
    """What a reason means, or None if it is new here."""
    return REASONS[reason][1] if reason in REASONS else None
