"""Memory and time of the merge as the corpus grows: ``python benchmarks/merge_memory.py``.

Runs `merge_candidates` in a process of its own on synthetic keyword tables (200,000 sentences of
about 30 characters a shard, one filter), which hold what a real shard would, at several numbers
of shards.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "workflow"))

from evenhand.slguset.verdicts import FINDINGS  # noqa: E402

ROWS = 200_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4, 16])
    shards = parser.parse_args().shards
    print(
        "| shards | sentences | MB read | seconds of the processor | peak MB |",
        "|---" * 5 + "|",
        sep="\n",
    )
    with tempfile.TemporaryDirectory(prefix="evenhand-merge-") as name:
        folder = Path(name)
        for number in range(max(shards)):
            write_shard(folder, number)
        for count in shards:
            print(measured(folder, count), flush=True)


def write_shard(folder: Path, number: int) -> None:
    """A judged table, in which one filter rejects nothing."""
    generator = np.random.default_rng(number)
    ids = np.sort(generator.integers(0, 2**63, ROWS))
    ids = [f"{one:016x}" for one in ids]
    han = np.array([chr(code) for code in range(0x4E00, 0x4E00 + 3000)])
    sentences = ["".join(row) for row in han[generator.integers(0, 3000, (ROWS, 30))]]
    accepted = generator.random(ROWS) < 0.4
    text = {
        **{"sentence_id": ids, "sentence": sentences},
        "source": [f"newspapers/{number:04}/{row // 500:04}.txt" for row in range(ROWS)],
        "pair": ["男/女"] * ROWS,
        **{"surface": ["男人"] * ROWS, "surface_opposite": ["女人"] * ROWS},
        **{"keyword": ["男"] * ROWS, "opposite": ["女"] * ROWS, "gender": ["male"] * ROWS},
        "word": ["男人"] * ROWS,
        "verdict": ["accepted" if one else "several_keywords" for one in accepted],
    }
    numbers = {name: [1] * ROWS for name in ("source_position", "copies")}
    offsets = {name: pa.array([3] * ROWS, pa.int32()) for name in ("start", "surface_start")}
    offsets |= {name: pa.array([4] * ROWS, pa.int32()) for name in ("end", "surface_end")}
    columns = text | numbers | offsets
    order = [
        *("sentence_id", "sentence", "source", "source_position", "copies", "pair", "surface"),
        *("surface_opposite", "keyword", "opposite", "gender", "start", "end", "surface_start"),
        *("surface_end", "word", "verdict", "findings"),
    ]
    columns["findings"] = pa.array([[]] * ROWS, FINDINGS.type)
    pq.write_table(pa.table({name: columns[name] for name in order}), folder / f"{number}.parquet")


def measured(folder: Path, count: int) -> str:
    tables = [folder / f"{number}.parquet" for number in range(count)]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "evenhand.core.run", "slguset.merge_candidates"),
            *("--judged", *map(str, tables), "--out", str(folder / "out.parquet")),
        ],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")},
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit("error: the merge failed")
    read = sum(path.stat().st_size for path in tables) / 1e6
    return (
        f"| {count} | {count * ROWS:,} | {read:,.0f} | {used.ru_utime + used.ru_stime:.0f}"
        f" | {used.ru_maxrss / 1024:.0f} |"
    )


if __name__ == "__main__":
    main()
