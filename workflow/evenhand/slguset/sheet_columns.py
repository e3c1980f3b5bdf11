"""What stands in an annotator's sheet: its columns, its table's name, and the answers."""

from evenhand.io.sheets import Column

#: What annotators can say about a sentence.
ANSWERS = ("accept", "reject", "unsure")

#: Why they do not accept it: a criterion, a personal name, something else.
CRITERIA = ("a", "b", "c", "name", "other")

#: The sheet of a workbook that holds the table, and the one with the instructions.
TABLE = "sentences 句子"
NOTES = "instructions 说明"

COLUMNS = (
    Column("rank", "序号", 7),
    Column("sentence", "句子", 56),
    Column("swapped_sentence", "换词后", 56),
    Column("answer", "判断", 12, choices=ANSWERS, fill_in=True),
    Column("criterion", "原因", 12, choices=CRITERIA, fill_in=True),
    Column("comment", "说明", 32, fill_in=True),
    Column("annotator", "标注员", 16),
    Column("round", "轮次", 10),
    Column("sentence_id", "编号", 20),
)

#: The columns by which a filled sheet is read.
NEEDED = ("sentence", "answer", "criterion", "comment", "annotator", "round", "sentence_id")
