"""Chinese text without blanks, Latin letters and ornaments (`evenhand.text.sentences`)."""

from evenhand.text.sentences import normalise as normalise

#: Whether blanks stand between words.
BLANKS = False
