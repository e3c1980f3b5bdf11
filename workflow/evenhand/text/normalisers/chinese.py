"""Chinese text without blanks, Latin letters and ornaments (`evenhand.text.sentences`)."""

from evenhand.text.sentences import normalise_all

#: Whether blanks stand between words.
BLANKS = False

normalise = normalise_all
