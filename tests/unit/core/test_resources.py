"""Tables that people edit, with every mistake that they make."""

import pytest

from evenhand.core.resources import read_resource
from evenhand.errors import InputError

COLUMNS = ["word", "rule"]


def read(tmp_path, content, **options):
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_resource(path, COLUMNS, **options)


@pytest.mark.parametrize(
    "content",
    [
        "word,rule\n男人,allow\n女人,deny\n",
        "\ufeffword,rule\r\n男人,allow\r\n女人,deny\r\n",
        "rule,word\nallow, 男人\n deny,女人",
        "word,rule,note\n男人,allow,for people\n女人,deny,\n",
        ' word , rule\n"男人",allow\n\n女人,deny\n\n',
    ],
)
def test_the_forms_in_which_programs_save_a_table(tmp_path, content):
    assert read(tmp_path, content) == [
        {"word": "男人", "rule": "allow"},
        {"word": "女人", "rule": "deny"},
    ]


def test_a_quoted_cell_may_hold_commas_quotes_and_lines(tmp_path):
    rows = read(tmp_path, 'word,rule\n"a,""b""",x\n"two\nlines",y\n"line\u2028separator",z\n')
    assert [row["word"] for row in rows] == ['a,"b"', "two\nlines", "line\u2028separator"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", r"table\.csv:1: lacks the column word"),
        ("word\n", r"table\.csv:1: lacks the column rule"),
        ("word;rule\na;b\n", r":1: lacks the column word"),
        ("word,rule,hint\n", r":1: has an unknown column 'hint'; the columns are word, rule, note"),
        ("word,rule,word\n", r":1: has the column 'word' twice"),
        ("word,rule\na,b\n\nc,\n", r":4: the cell of rule is blank"),
        ("word,rule\n  ,b\n", r":2: the cell of word is blank"),
        ("word,rule\na\n", r":2: does not have 2 cells"),
        ("word,rule\na,b,c\n", r":2: does not have 2 cells"),
        ("word,rule\na,b\nc,d\n a,b \n", r":4: repeats line 2; remove one"),
        ('word,rule\n"two\nlines",b\na,\n', r":4: the cell of rule is blank"),
        ('word,rule\nc,d\na,"b\n\ne,f\n', r":3: is not a CSV file .*begins here; close each quot"),
        ('word,rule\n"a"x,b\n', r":2: is not a CSV file"),
        ("word,rule\n男,x\n".encode("gb18030"), r"is not UTF-8 but seems to be gb18030; save"),
        ("word,rule\n男,x\n".encode("utf-16"), r"is not UTF-8 but seems to be utf-16le; save"),
    ],
)
def test_each_mistake_is_named_with_its_line_and_remedy(tmp_path, content, sentence):
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, content)


def test_a_cell_may_be_blank_where_that_means_something(tmp_path):
    assert read(tmp_path, "word,rule\na,\n", optional=("rule",)) == [{"word": "a", "rule": ""}]


def test_a_cell_is_one_of_the_choices(tmp_path):
    how = {"choices": {"rule": ("allow", "deny")}, "optional": ("rule",)}
    assert len(read(tmp_path, "word,rule\na,allow\nb,\n", **how)) == 2
    with pytest.raises(InputError, match=r":2: the rule is 'may'; write one of allow, deny"):
        read(tmp_path, "word,rule\na,may\n", **how)


def test_the_columns_that_name_a_row_can_be_chosen(tmp_path):
    content = "word,rule\na,x\na,y\n"
    assert len(read(tmp_path, content)) == 2
    with pytest.raises(InputError, match="repeats line 2"):
        read(tmp_path, content, unique=("word",))
