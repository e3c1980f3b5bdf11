"""Code digests change when, and only when, the code that a stage runs does."""

import ast
import importlib.metadata
import shutil
import sys
from pathlib import Path

import pytest

from evenhand.core import code
from evenhand.errors import InputError

LOCK = """\
jieba==0.42.1 \\
    --hash=sha256:00
numpy==2.4.6
python-crfsuite==0.9.11
smart-open[http]==7.3.0
"""

#: What the made project finds installed: `jieba` requires `numpy`, which requires a package that
#: the lock does not hold and one that is absent.
INSTALLED = {
    "jieba": ("0.42.1", ["numpy"]),
    "numpy": ("2.4.6", ["blas", "absent"]),
    "blas": ("3.1", []),
    "torch": ("2.13.0+cpu", []),
}

FILES = {
    "evenhand/__init__.py": "",
    "evenhand/text/__init__.py": "",
    "evenhand/text/split.py": '''\
"""Cuts text."""
import re

END = "。"

def split(text):
    """Cut."""
    return text.split(END)  # a comment

def join(parts):
    return END.join(parts)
''',
    "evenhand/text/names.py": "import jieba\n\ndef names(text):\n    return jieba.lcut(text)\n",
    "evenhand/a.py": "from evenhand.text.split import split\n\ndef a(x):\n    return split(x)\n",
    "evenhand/b.py": "from evenhand.text.names import names\n\ndef b(x):\n    return names(x)\n",
    "evenhand/c.py": "def c(x):\n    return x\n",
}


class Tree:
    """A project of made modules that `evenhand.core.code` takes for its own."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str) -> None:
        path = self.root / "workflow" / name if name.startswith("evenhand") else self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        forget()

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / "workflow" / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def digests(self) -> dict[str, str]:
        return {module: code.digest(f"evenhand.{module}") for module in "abc"}

    def changed(self, before: dict[str, str]) -> set[str]:
        return {module for module, digest in self.digests().items() if digest != before[module]}


def forget() -> None:
    kept = (code.digest, code.locked_versions, code.installed_packages, code._path, code._read)
    for function in kept:
        function.cache_clear()


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(code, "LIBRARY", tmp_path / "workflow")
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.setattr(code, "_read_packages", lambda _: INSTALLED)
    made = Tree(tmp_path)
    for name, text in FILES.items():
        made.write(name, text)
    made.write("requirements/requirements.lock", LOCK)
    made.write("requirements/torch.txt", "torch==2.13.0\n")
    yield made
    forget()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Cuts text."""\n', ""),
        ('    """Cut."""\n', '    """Cut where a sentence ends."""\n'),
        ("  # a comment", ""),
        ('END = "。"', "END = (\n    '。'\n)"),
        ("def split(text):", "\n\n\ndef split(\n    text,\n):"),
        ("import re\n", "import re\n# a line\n"),
    ],
)
def test_docstrings_comments_and_format_change_nothing(tree, old, new):
    before = tree.digests()
    tree.edit("evenhand/text/split.py", old, new)
    assert tree.changed(before) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return text.split(END)", "return text.split(END, 1)"),
        ("END.join(parts)", "END.join(reversed(parts))"),  # not imported by name, but may be called
        ('"。"', '"！"'),
        ("def split(text):", "def split(text, more=None):"),
        ("import re", "import os"),
        ("def join", "@staticmethod\ndef join"),
    ],
)
def test_an_edit_changes_the_closures_that_hold_it_and_no_others(tree, old, new):
    before = tree.digests()
    tree.edit("evenhand/text/split.py", old, new)
    assert tree.changed(before) == {"a"}
    tree.edit("evenhand/text/split.py", new, old)
    assert tree.changed(before) == set()


def test_moving_a_function_changes_nothing_but_moving_statements_does(tree):
    tree.write("evenhand/c.py", "def f():\n    pass\n\ndef g():\n    pass\n\ncall(1)\ncall(2)\n")
    before = tree.digests()
    tree.write("evenhand/c.py", "def g():\n    pass\n\ndef f():\n    pass\n\ncall(1)\ncall(2)\n")
    assert tree.changed(before) == set()
    tree.write("evenhand/c.py", "def g():\n    pass\n\ndef f():\n    pass\n\ncall(2)\ncall(1)\n")
    assert tree.changed(before) == {"c"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A = 1\nB = A + 1\nA = 5\n", "A = 1\nA = 5\nB = A + 1\n"),
        ("from re import f\ndef f(): ...\n", "def f(): ...\nfrom re import f\n"),
        ("from re import *\ndef f(): ...\n", "def f(): ...\nfrom re import *\n"),
        ("L = []\nM = list(L)\nL.append(1)\n", "L = []\nL.append(1)\nM = list(L)\n"),
        ("A = 1\ndef f(x=A): ...\nA = 2\n", "A = 1\nA = 2\ndef f(x=A): ...\n"),
        ("A = 1\n@d\ndef f(): ...\nA = 2\n", "A = 1\nA = 2\n@d\ndef f(): ...\n"),
        ("A = 1\nclass C:\n    x = A\nA = 2\n", "A = 1\nA = 2\nclass C:\n    x = A\n"),
        ("def f(): ...\nif x:\n    def f(): ...\n", "if x:\n    def f(): ...\ndef f(): ...\n"),
    ],
)
def test_the_order_counts_where_it_can_matter(tree, before, after):
    tree.write("evenhand/c.py", before)
    digests = tree.digests()
    tree.write("evenhand/c.py", after)
    assert tree.changed(digests) == {"c"}


@pytest.mark.parametrize(
    "statement",
    [
        "import evenhand.text.split",
        "import evenhand.text.split as cut",
        "from evenhand.text import split",
        "from evenhand.text.split import split",
        "from evenhand.text.split import *",
        "from .text import split",
        "from .text.split import join as j",
        "def f():\n    from evenhand.text.split import split",
        "class F:\n    def f(self):\n        import evenhand.text.split",
        "try:\n    import evenhand.text.split\nexcept ImportError:\n    pass",
        "try:\n    pass\nexcept ValueError:\n    import evenhand.text.split",
        "if x:\n    pass\nelse:\n    import evenhand.text.split",
        "for x in y:\n    pass\nelse:\n    import evenhand.text.split",
        "with x:\n    import evenhand.text.split",
        "match x:\n    case 1:\n        import evenhand.text.split",
        "try:\n    pass\nfinally:\n    import evenhand.text.split",
    ],
)
def test_every_form_of_import_is_seen(tree, statement):
    tree.write("evenhand/c.py", statement + "\n")
    assert {"evenhand", "evenhand.text", "evenhand.text.split"} <= code.manifest("evenhand.c")[
        "modules"
    ].keys()


def test_relative_imports_climb_and_start_at_the_package_itself(tree):
    tree.write("evenhand/text/deep/__init__.py", "from . import leaf\n")
    tree.write("evenhand/text/deep/leaf.py", "from .. import split\nfrom ...a import a\n")
    modules = code.manifest("evenhand.text.deep")["modules"].keys()
    assert modules == {
        "evenhand",
        "evenhand.a",
        "evenhand.text",
        "evenhand.text.deep",
        "evenhand.text.deep.leaf",
        "evenhand.text.split",
    }


def test_the_init_of_a_parent_package_counts(tree):
    before = tree.digests()
    tree.write("evenhand/text/__init__.py", "X = 1\n")
    assert tree.changed(before) == {"a", "b"}
    tree.write("evenhand/__init__.py", "X = 1\n")
    assert tree.changed(before) == {"a", "b", "c"}


def test_all_members_of_a_package_that_is_imported_by_its_name_count(tree):
    tree.write("evenhand/c.py", "from evenhand import text\n")
    before = tree.digests()
    tree.write("evenhand/text/new.py", "from evenhand import a\n")
    assert tree.changed(before) == {"c"}
    modules = code.manifest("evenhand.c")["modules"].keys()
    assert modules >= {"evenhand.text.new", "evenhand.text.split", "evenhand.a"}


@pytest.mark.parametrize("form", [".jinja", ".toml"])
def test_the_sentences_of_a_module_count(tree, form):
    before = tree.digests()
    tree.write(f"evenhand/sentences/text{form}.jinja", "{# of no module #}")
    assert not tree.changed(before)
    for text in ("first", "second"):
        tree.write(f"evenhand/sentences/text.split{form}", text)
        assert tree.changed(before) == {"a"}
        before = tree.digests()


def test_a_cycle_of_imports_ends(tree):
    tree.edit("evenhand/text/split.py", "import re", "import re\nfrom evenhand import a")
    before = tree.digests()
    tree.edit("evenhand/a.py", "split(x)", "split(x + x)")
    assert tree.changed(before) == {"a"}
    assert code.digest("evenhand.text.split") != code.digest("evenhand.a", "evenhand.c")


def test_another_locked_version_changes_the_importers_and_no_others(tree):
    before = tree.digests()
    tree.write("requirements/requirements.lock", LOCK.replace("0.42.1", "0.43"))
    assert tree.changed(before) == {"b"}
    tree.write("requirements/requirements.lock", LOCK.replace("0.9.11", "0.9.12"))
    assert tree.changed(before) == set()


def test_what_a_package_requires_counts_as_it_does(tree):
    before = tree.digests()
    packages = code.manifest("evenhand.b")["packages"]
    assert packages.items() >= {"jieba": "0.42.1", "numpy": "2.4.6", "blas": "3.1"}.items()
    assert "absent" not in packages
    tree.write("requirements/requirements.lock", LOCK.replace("2.4.6", "2.5"))
    assert tree.changed(before) == {"b"}


def test_an_installed_version_that_differs_from_the_lock_counts_and_is_reported(tree, monkeypatch):
    assert code.unlike_the_lock() == []  # a build tag is no other version
    before = tree.digests()
    monkeypatch.setitem(INSTALLED, "numpy", ("2.4.7", ["blas"]))
    shutil.rmtree(code.LIBRARY / "evenhand" / "__pycache__")
    forget()
    assert tree.changed(before) == {"b"}
    assert code.unlike_the_lock() == ["numpy 2.4.7 (locked: 2.4.6)"]


def test_installed_packages_are_read_as_their_own_metadata_says(monkeypatch):
    code.installed_packages.cache_clear()
    read = code._read_packages(sys.path)
    assert read == {name: tuple(found) for name, found in code.installed_packages().items()}
    assert "tokenizers" in read["transformers"][1] and "python-dateutil" in read["pandas"][1]
    assert read["pandas"][0] == importlib.metadata.version("pandas")
    assert not any("pytest" in required for required in read["fairlearn"][1])  # an extra


def test_the_lock_s_hashes_extras_and_torch_s_own_file_are_read(tree):
    assert code.locked_versions() == {
        "jieba": "0.42.1",
        "numpy": "2.4.6",
        "python-crfsuite": "0.9.11",
        "smart-open": "7.3.0",
        "torch": "2.13.0",
    }


def test_an_import_name_may_differ_from_the_distribution_s(tree):
    tree.write("evenhand/c.py", "import pycrfsuite\nimport smart_open.http\nimport json\n")
    assert code.manifest("evenhand.c")["packages"] == {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "python-crfsuite": "0.9.11",
        "smart-open": "7.3.0",
    }


def test_a_package_that_is_not_locked_is_the_user_s_to_lock(tree):
    tree.write("evenhand/text/split.py", "import unknown_package.part\n")
    with pytest.raises(InputError, match=r"imports unknown_package, which the lock does not hold"):
        code.digest("evenhand.a")


def test_a_missing_module_is_named(tree):
    with pytest.raises(InputError, match=r"there is no module evenhand\.nowhere"):
        code.digest("evenhand.nowhere")


def test_a_module_that_does_not_parse_is_named_with_its_line(tree):
    tree.write("evenhand/text/split.py", "x = 1\ndef f(:\n")
    with pytest.raises(InputError, match=r"split\.py:2: does not parse"):
        code.digest("evenhand.a")


@pytest.fixture
def parsed(monkeypatch) -> list[ast.Module]:
    """What was parsed."""
    found = []
    read = code._definitions
    monkeypatch.setattr(code, "_definitions", lambda tree: found.append(tree) or read(tree))
    return found


@pytest.fixture
def kept(tree, monkeypatch) -> Path:
    """The folder of what is kept of the modules, also by a Python that writes no bytecode."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return code.LIBRARY / "evenhand" / "__pycache__"


def test_a_later_process_parses_only_what_changed(tree, kept, parsed):
    before = tree.digests()
    forget()
    parsed.clear()
    assert tree.digests() == before and not parsed
    tree.write("evenhand/c.py", "import evenhand.a\n")
    forget()
    assert tree.changed(before) == {"c"}
    assert [ast.unparse(module) for module in parsed] == ["import evenhand.a"]
    assert {path.suffix for path in kept.iterdir()} == {".digest"}


@pytest.mark.parametrize("text", ["", '{"key": "', "{}"])
def test_what_was_kept_badly_is_read_anew(tree, kept, parsed, text):
    before = tree.digests()
    for path in code.LIBRARY.rglob("*.digest"):
        path.write_text(text)
    forget()
    parsed.clear()
    assert tree.digests() == before and len(parsed) == len(FILES)


def test_a_new_submodule_counts_although_its_importer_is_kept(tree, kept):
    tree.write("evenhand/c.py", "from evenhand.d import e\n")
    tree.write("evenhand/d/__init__.py", "")
    before = tree.digests()
    tree.write("evenhand/d/e.py", "WORD = 1\n")
    forget()
    assert tree.changed(before) == {"c"}


def test_a_library_that_cannot_be_written_to_has_digests(tree, kept):
    before = tree.digests()
    shutil.rmtree(kept)
    kept.write_text("a file stands in the place of the folder")
    forget()
    assert tree.digests() == before


def project_modules() -> list[str]:
    names = []
    for path in sorted((code.LIBRARY / "evenhand").rglob("*.py")):
        names.append(".".join(path.relative_to(code.LIBRARY).with_suffix("").parts))
    return [name.removesuffix(".__init__") for name in names]


def test_the_package_inits_are_empty():
    """All but the first, which imports nothing that a digest can see."""
    first = code.LIBRARY / "evenhand" / "__init__.py"
    assert code._read("evenhand")[1:] == ([], [])
    for path in {*(code.LIBRARY / "evenhand").rglob("__init__.py")} - {first}:
        assert path.read_text(encoding="utf-8") == "", path


def test_distributions_agree_with_what_is_installed():
    """Each import of the library leads to the distribution that brings it."""
    installed = importlib.metadata.packages_distributions()
    modules = {*project_modules()} - {"evenhand.cli"}  # no stage reads it, and it runs Snakemake
    foreign = {name for module in modules for name in code._read(module)[2]}
    assert foreign and "snakemake" not in foreign
    for name in foreign | code.DISTRIBUTIONS.keys():
        bringers = {d.lower().replace("_", "-") for d in installed[name]}
        assert code.DISTRIBUTIONS.get(name, name.lower().replace("_", "-")) in bringers


def test_what_another_python_kept_is_not_used(monkeypatch):
    code._this_file.cache_clear()
    here = code._this_file()
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    code._this_file.cache_clear()
    try:
        assert code._this_file() != here
    finally:
        code._this_file.cache_clear()
