"""Which share of small defects the unit tests notice: ``python benchmarks/mutation_sample.py``.

A seeded sample of mutants over the rooms of the library, in proportion to their code lines. Each
is put into a copy of the repository, and four groups of tests run until one fails: those of its
own name, those of the mirrored folder, others that import the module, and those that compare whole
outputs. A mutant is killed if a test fails or the time is up.
"""

import argparse
import ast
import copy
import difflib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
LIBRARY = REPOSITORY / "workflow" / "evenhand"

PAIRS = "Lt LtE, Gt GtE, Eq NotEq, In NotIn, Is IsNot, And Or, Add Sub, Mult Div, BitAnd BitOr"
SWAPS = {one: two for pair in PAIRS.split(", ") for one, two in [pair.split(), pair.split()[::-1]]}
SWAPS |= {"FloorDiv": "Mult", "Mod": "Mult", "Pow": "Mult"}

#: What no test reads of a checkout.
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".snakemake", "__pycache__", "results")

#: What has no effect, or stands in an f-string, whose places are not known.
SKIPPED = re.compile(r"if (__name__ ==|TYPE_CHECKING)|f['\"]")


class Mutant(NamedTuple):
    path: Path
    line: int
    operator: str
    text: str  # of the whole file

    @property
    def room(self) -> str:
        steps = self.path.relative_to(LIBRARY).parts
        return steps[0] if len(steps) > 1 else "(root)"

    def diff(self) -> str:
        texts = (self.path.read_text(encoding="utf-8").splitlines(), self.text.splitlines())
        lines = [*difflib.unified_diff(*texts, n=0, lineterm="")][2:]
        return "\n".join(line for line in lines if not line.startswith("@@"))


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:
    """Operator, the node that is replaced, and its new text."""
    if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp):
        new = copy.deepcopy(node)
        old, *more = node.ops if isinstance(node, ast.Compare) else [node.op]
        texts = (ast.Constant, ast.JoinedStr)  # joined texts and paths: any change would raise
        parts = [getattr(node, side, None) for side in ("left", "right")]
        joined = any(
            isinstance(p, texts) and isinstance(getattr(p, "value", ""), str) for p in parts
        )
        if type(old).__name__ in SWAPS and not (isinstance(node, ast.BinOp) and joined):
            new.op = getattr(ast, SWAPS[type(old).__name__])()
            new.ops = [new.op, *more]
            yield type(node).__name__, node, f"({ast.unparse(new)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield "Constant", node, repr(value)
    elif isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None":
        yield "Return", node, "return None"
    elif isinstance(node, ast.AugAssign | ast.Raise) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "Dropped", node, "pass"
    for test in [*getattr(node, "ifs", []), getattr(node, "test", None)]:
        if test is not None:
            yield "Negated", test, f"(not ({ast.unparse(test)}))"


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may be changed."""
    for name, value in ast.iter_fields(tree):
        if name not in ("returns", "annotation", "decorator_list"):
            for node in value if isinstance(value, list) else [value]:
                if isinstance(node, ast.AST) and not SKIPPED.match(ast.unparse(node)):
                    yield node
                    yield from nodes(node)


def mutants_of(path: Path, tree: ast.AST) -> Iterator[Mutant]:
    source, starts = path.read_bytes(), [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for operator, old, text in (change for node in nodes(tree) for change in changes(node)):
        start = starts[old.lineno - 1] + old.col_offset
        end = starts[old.end_lineno - 1] + old.end_col_offset
        new = source[:start] + text.encode() + source[end:]
        yield Mutant(path, old.lineno, operator, new.decode())


def sample(count: int, seed: int, rooms: set[str]) -> tuple[list[Mutant], Counter[str]]:
    """So many mutants of these rooms (none: of all), and the code lines by room."""
    lines: Counter[str] = Counter()
    found: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted(LIBRARY.rglob("*.py")):
        tree, room = ast.parse(path.read_bytes()), Mutant(path, 0, "", "").room
        if rooms and room not in rooms:
            continue
        lines[room] += len({n.lineno for n in ast.walk(tree) if hasattr(n, "lineno")})
        found[room] += mutants_of(path, tree)
    exact = {room: count * n / lines.total() for room, n in lines.items()}
    shares = {room: int(share) for room, share in exact.items()}
    for room in sorted(exact, key=lambda room: shares[room] - exact[room]):
        shares[room] += sum(shares.values()) < count
    draw = random.Random(seed)
    return [one for room in sorted(shares) for one in draw.sample(found[room], shares[room])], lines


def tests_of(path: Path) -> list[list[str]]:
    """The tests of a module, in four groups."""
    unit = REPOSITORY / "tests" / "unit"
    *package, name = path.relative_to(LIBRARY.parent).with_suffix("").parts
    folder = unit.joinpath(*package[1:])
    while not folder.is_dir():
        folder = folder.parent
    every = sorted(unit.rglob("test_*.py"))
    near = [file for file in every if folder != unit and folder in file.parents]
    own = [file for file in near or every if re.fullmatch(rf"test_(\w+_)?{name}s?", file.stem)]
    dotted = re.escape(".".join(package))
    words = re.compile(
        rf"{dotted}\.{name}\b|from {dotted} import (\([^)]*|[^\n]*)\b{name}\b"
    )
    far = [file for file in every if words.search(file.read_text(encoding="utf-8"))]
    tests = sorted(unit.parent.rglob("test_*.py"))
    whole = [file for file in tests if "from expected" in file.read_text(encoding="utf-8")]
    groups, seen = [], set()
    for group in (own, near, far, whole):
        groups.append([file for file in group if file not in seen])
        seen |= {*group}
    return [[str(f.relative_to(REPOSITORY)) for f in group] for group in groups if group]


def run_tests(folder: Path, words: list[str], seconds: float) -> tuple[str, str]:
    """``passed``, ``failed`` or ``timed out``; and what pytest printed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EVENHAND_")}
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder, env=environment | {"PYTHONPATH": str(folder / "workflow")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            printed, _ = process.communicate(timeout=seconds)
            return "failed" if process.returncode else "passed", printed
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "timed out", ""


def broken(folder: Path, files: list[str], workers: int) -> list[str]:
    """The tests that fail without a mutant, as pytest's options that leave them out."""
    outcome, printed = run_tests(folder, ["-n", str(workers), "--tb=no", *files], 7200)
    names = sorted({*re.findall(r"^FAILED (.+?)(?: - .*)?$", printed, re.M)})
    if outcome == "timed out" or bool(names) != (outcome == "failed") or "\nERROR " in printed:
        sys.exit(f"error: the tests do not run without a mutant:\n{printed[-2000:]}")
    print(f"fail without a mutant: {', '.join(names) or 'none'}", file=sys.stderr)
    return [f"--deselect={name}" for name in names]


def judge(mutant: Mutant, copies: SimpleQueue, seconds: float, left_out: list[str]) -> str:
    folder, outcome = copies.get(), "passed"
    place = folder / mutant.path.relative_to(REPOSITORY)
    place.write_text(mutant.text, encoding="utf-8")
    for files in tests_of(mutant.path):
        if outcome == "passed":
            outcome, _ = run_tests(folder, ["-x", *left_out, *files], seconds)
    shutil.copy2(mutant.path, place)
    copies.put(folder)
    print(f"{outcome}: {place.relative_to(folder)}:{mutant.line}", file=sys.stderr)
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=[], help="of these alone, as legal report")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=600, help="for each group of tests")
    options = parser.parse_args()
    mutants, lines = sample(options.mutants, options.seed, {*options.rooms})
    with tempfile.TemporaryDirectory() as scratch:
        copies: SimpleQueue = SimpleQueue()
        for number in range(options.workers):
            first = shutil.copytree(REPOSITORY, Path(scratch) / str(number), True, ignore=LEFT_OUT)
            copies.put(first)
        tests = sorted({f for one in mutants for group in tests_of(one.path) for f in group})
        left_out = broken(first, tests, options.workers)
        with ThreadPoolExecutor(options.workers) as pool:
            found = [*pool.map(lambda one: judge(one, copies, options.seconds, left_out), mutants)]
    print("| room | code lines | mutants | killed | survived | score |\n|---|---|---|---|---|---|")
    for room in [*sorted({one.room for one in mutants}), "all"]:
        own = [out for one, out in zip(mutants, found, strict=True) if room in (one.room, "all")]
        n, alive = lines[room] or lines.total(), own.count("passed")
        score = f"{1 - alive / len(own):.0%}"
        print(f"| {room} | {n} | {len(own)} | {len(own) - alive} | {alive} | {score} |")
    for one, outcome in zip(mutants, found, strict=True):
        if outcome == "passed":
            print(f"\n{one.path.relative_to(REPOSITORY)}:{one.line} {one.operator}\n{one.diff()}")


if __name__ == "__main__":
    main()
