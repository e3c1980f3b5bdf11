"""Does each objective, and each method for tables, do what it promises?

    python benchmarks/certify_mitigation.py [--seeds 11 12 13] [--kinds linear frozen tables]
        [--objectives leace dfr] [--out folder]

Trains each kind of classifier with each objective, and each method on tables, on planted problems
(`evenhand.legal.certificate`, `evenhand.certificates.problems.tables`), prints tables, and exits 1
if a promise is not kept that is no known failure (resources/planted/known_failures.csv). The seeds
are yours to choose: those under which the methods were built are 1 to 3.
"""

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow")]

from evenhand.certificates.certify import read_known  # noqa: E402
from evenhand.certificates.problems import mitigation, tables  # noqa: E402
from evenhand.certificates.study import judge  # noqa: E402
from evenhand.core.tables import write_tables  # noqa: E402
from evenhand.legal.certificate import COMPARED, TABLE, rows  # noqa: E402
from evenhand.legal.planted_training import TRAINED  # noqa: E402

SHOWN = ("accuracy", "worst", *COMPARED)
SHOWN += ("features_linear", "features_mlp", "logits_linear", "logits_mlp")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    kinds = [*TRAINED, "tables"]
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--objectives", nargs="+")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    written = []
    if kinds := [kind for kind in args.kinds if kind != "tables"]:
        found = rows(args.seeds, kinds=kinds, objectives=args.objectives)
        names = ("classifier", "problem", "objective")
        written.append((TABLE, shown(found, names, SHOWN)))
    if "tables" in args.kinds:
        names = ("effect", "method", "individual", "mu", "lambda")
        found = tables.measured_rows(args.seeds)
        written.append((tables.TABLE, shown(found, names, tuple(tables.MEASURES))))
    if args.out is not None:
        write_tables(args.out, written)
    known = read_known(REPOSITORY / "resources/planted/known_failures.csv")
    failed = 0
    for table, found in written:
        problem = mitigation if table is TABLE else tables
        name = problem.__name__.rpartition(".")[2]
        for one in problem.findings(found):
            failed += judge(name, one, known)["verdict"] == "failed"
    return int(failed > 0)


def shown(found, names, numbers):
    """Print rows as they come, and return them."""
    print("|", " | ".join([*names, *numbers]), "| met |")
    print("|---" * (len(names) + len(numbers) + 1) + "|")
    every = []
    for row in found:
        every.append(row)
        cells = ["" if row[name] is None else str(row[name]) for name in names]
        cells += [number(row, name) for name in numbers]
        words = {None: "", True: "yes", False: f"no: {row['aim']} {row.get('reason', '')}"}
        print("|", " | ".join(cells), "|", words[row.get("met")], "|", flush=True)
    return every


def number(row, name):
    """Return a number of a row, with its interval if it has one; blank if there is none."""
    if row.get(name) is None:
        return ""
    low, high = (row.get(f"{name}_{end}") for end in ("low", "high"))
    return f"{row[name]:.3f}" + ("" if low is None else f" ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    sys.exit(main())
