"""Limits of readers. Input beyond a limit gives a quarantine row or an error.

The limits count characters, bytes, depth and cells, not seconds, so that a result does not depend
on the machine. Within them each reader takes linear time, or time bounded by the limit.
"""

#: Characters of the longest line, record or document of a corpus (`max_characters` of the stage).
CHARACTERS = 4_000_000

#: Characters of the longest case; the longest judgment of the Strasbourg court has 4 million.
CASE_CHARACTERS = 16_000_000

#: Lines of the longest record of a CSV file.
RECORD_LINES = 100_000

#: Bytes of the longest file or member of an archive, decompressed.
MEMBER_BYTES = 64 << 30

#: All that a compressed file or archive holds has so many times its bytes, and some more. Text
#: that people write is compressed to a fifth, endless zeros to a thirty-thousandth.
GROWTH = 1000
GROWN = 256 << 20

#: Bytes of the longest file that is read as a whole: a table, a set of pairs, a sheet.
WHOLE_BYTES = 256 << 20

#: Levels of nested lists and mappings, of JSON and of YAML. JSON that people write has ten.
DEPTH = 100

#: Values of a configuration with expanded aliases.
VALUES = 100_000

#: Levels of nested elements, and attributes of one element, of HTML; browsers stop at 512 levels.
HTML_DEPTH = 1000
HTML_ATTRIBUTES = 1000

#: Bytes before a member of a tar archive: its long name, its extended header.
TAR_HEADER = 1 << 16

#: Memory for the decompression of xz; ``xz -9`` needs 65 MB.
XZ_MEMORY = 256 << 20

#: Cells of the longest sheet of a workbook.
SHEET_CELLS = 5_000_000

#: Characters of the detail of a quarantine row.
DETAIL = 500


class LimitError(ValueError):
    """A record exceeds a limit; has the quarantine's reason and the limit in words."""

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason
