"""The order of the rooms: who may import whom."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import evenhand

LIBRARY = Path(next(iter(evenhand.__path__)))

#: A room imports only rooms to its left; the planner's modules, in the folder itself, all rooms.
ROOMS = ["errors", "core", "io", "sheets", "text", "metrics", "tabular", "scoring", "stereotypes"]
ROOMS += ["slguset", "learning", "legal", "individual", "predictions", "certificates", "comparison"]
ROOMS += ["report", "plan", "api", "cli", "__main__"]

#: No system imports another.
SYSTEMS = {"stereotypes", "slguset", "legal", "individual"}


@pytest.fixture(scope="module")
def imports():
    """The modules that each module of the library imports, wherever in it the import is."""
    paths = {path: path.relative_to(LIBRARY).with_suffix("") for path in LIBRARY.rglob("*.py")}
    names = {".".join(("evenhand", *path.parts)) for path in paths.values()}
    found = {}
    for path, place in paths.items():
        imported = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path}: a relative import"
                imported |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        found[".".join(("evenhand", *place.parts))] = imported & names
        packages = {name.rpartition(".")[0] for name in names}
        unknown = {one for one in imported if one.startswith("evenhand.")} - names - packages
        assert {one.rpartition(".")[0] for one in unknown} <= names | packages, path
    return found


def room_of(module):
    name = module.split(".")[1]
    return "plan" if name.startswith("plan") else name


def test_a_room_imports_only_rooms_to_its_left(imports):
    wrong = [
        f"{importer} imports {imported}"
        for importer, modules in imports.items()
        for imported in modules
        for here, there in [(room_of(importer), room_of(imported))]
        if ROOMS.index(there) > ROOMS.index(here) or (here != there and {here, there} <= SYSTEMS)
    ]
    assert not wrong


def test_no_module_imports_itself_through_others(imports):
    TopologicalSorter(imports).prepare()
