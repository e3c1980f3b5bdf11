"""Does each objective do what it promises? See `evenhand.legal.certificate`.

    python benchmarks/certify_mitigation.py [--seeds 11 12 13] [--kinds linear frozen]
        [--objectives leace dfr] [--out folder]

Trains each kind of classifier with each objective on planted problems, prints a table, and exits 1
if a promise is not kept. The seeds are yours to choose: those under which the methods were built
are 1 to 3.
"""

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / "workflow")]

from evenhand.core.tables import write_tables  # noqa: E402
from evenhand.legal.certificate import TABLE, TRAINED, rows  # noqa: E402

SHOWN = ("accuracy", "worst", "features_linear", "features_mlp", "logits_linear", "logits_mlp")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--kinds", nargs="+", choices=list(TRAINED), default=list(TRAINED))
    parser.add_argument("--objectives", nargs="+")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    print("| classifier | agreement | objective |", " | ".join(SHOWN), "| met |")
    print("|---" * (len(SHOWN) + 4) + "|")
    found = []
    for row in rows(args.seeds, kinds=args.kinds, objectives=args.objectives):
        found.append(row)
        cells = [f"{row['classifier']} | {row['agreement']} | {row['objective']}"]
        cells += [f"{row[name]:.3f}" for name in SHOWN]
        met = {None: "", True: "yes", False: f"no: {row.get('reason')}"}[row.get("met")]
        print("|", " | ".join(cells), "|", met, "|", flush=True)
    if args.out is not None:
        write_tables(args.out, [(TABLE, found)])
    return int(any(row.get("met") is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
