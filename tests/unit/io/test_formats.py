import pytest

from evenhand.io.formats import Kind, is_hidden, kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", Kind(None, None, "txt")),
        ("A.TXT.GZ", Kind(None, "gz", "txt")),
        ("a.jsonl.zst", Kind(None, "zst", "jsonl")),
        ("a.tar.xz", Kind("tar", "xz", None)),
        ("a.tgz", Kind("tar", "gz", None)),
        ("a.zip", Kind("zip", None, None)),
        ("folder.d/a.2020.htm", Kind(None, None, "html")),
        ("LICENSE", Kind(None, None, None)),
        ("a.pdf.xz", Kind(None, "xz", None)),
    ],
)
def test_suffixes_say_archive_compression_and_format(name: str, kind: Kind) -> None:
    assert kind_of(name) == kind


def test_hidden_is_a_dot_or_macosx_anywhere_in_the_path() -> None:
    hidden = [".a.txt", "x/._a.txt", ".git/a.txt", "__MACOSX/a.txt"]
    assert all(map(is_hidden, hidden))
    assert not any(map(is_hidden, ["a.txt", "./a.txt", "../a.txt", "a.b/c"]))
