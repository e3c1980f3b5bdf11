"""Results folders for the comparison, made small: tables, the items behind them, provenance."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.comparison.numbers import ComparedTable, compare_tables
from evenhand.comparison.results import open_results
from evenhand.core.files import content_digest
from evenhand.core.tables import write_tables
from evenhand.individual.tables import grid
from evenhand.slguset.bias_tables import BIAS, VARIANTS
from evenhand.slguset.tabulate_bias import tabulate_bias
from evenhand.stereotypes.tabulate_pairs import tabulate_pairs
from unit.stereotypes import made_scores

#: Twenty pairs of words, five sentences each.
WORDS = ["男人/女人", "男孩/女孩", "他/她", "爸爸/妈妈"]
WORDS += ["哥哥/姐姐", "爷爷/奶奶", "儿子/女儿", "叔叔/阿姨"]
WORDS += [f"男{sign}/女{sign}" for sign in "生性士方子神星兵工友装声"]
SENTENCES = 100

#: Files that are no results.
OTHERS = ("provenance.json", "datapackage.json")

BASE = np.random.default_rng(0).normal(-0.2, 0.3, SENTENCES)

#: A table that has intervals and no items.
SWEEPS = "tables/individual/grid.csv"
SWEEP = [name for name in grid.TABLE.header if name not in ("diverged", "empty", "reasons")]


def compare(folders: tuple[Path, Path], write=None, *contents: Any) -> dict[str, ComparedTable]:
    """Write the contents of both folders, if any, and compare their tables."""
    for folder, content in zip(folders, contents, strict=False):
        write(folder, content)
    for folder in folders:
        write_provenance(folder)
    return {table.table: table for table in compare_tables(*open_results(*folders))}


def write_table(folder: Path, name: str, rows: list[dict[str, Any]], header=None) -> Path:
    """A table; the header is that of the first row."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == SWEEPS:
        write_tables(path.parent, [(grid.TABLE, [])])
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header or list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    record_new(folder)
    return path


def write_provenance(folder: Path, start: str = "results/", **added: dict[str, Any]) -> Path:
    """Records of all files; `added` changes the entries of files by their stem."""
    entries = []
    for path in results_in(folder):
        entry = {
            "file": start + path.relative_to(folder).as_posix(),
            "sha256": content_digest(path),
            "stage": f"evenhand.made.{path.stem}",
            "code": "c0de",
            "parameters": {"seed": 0},
            "packages": {"numpy": "2.4.6"},
            "counts": {},
            "inputs": {"corpus": [{"file": "corpora/one.txt", "sha256": "aa"}]},
        }
        entries.append(entry | added.get(path.stem, {}))
    path = folder / "provenance.json"
    path.write_text(json.dumps({"files": entries}), encoding="utf-8")
    return path


def results_in(folder: Path) -> list[Path]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if path.name not in OTHERS and ".evenhand" not in path.parts]


def record_new(folder: Path, start: str = "results/") -> None:
    """Add the files that a provenance, if there is one, does not name; keep its other records."""
    path = folder / "provenance.json"
    if not path.is_file() or not (entries := json.loads(path.read_text())["files"]):
        return
    names = {entry["file"] for entry in entries}
    found = [start + one.relative_to(folder).as_posix() for one in results_in(folder)]
    entries += [entries[0] | {"file": name} for name in found if name not in names]
    path.write_text(json.dumps({"files": entries}), encoding="utf-8")


def write_bias(folder: Path, bias: np.ndarray, model: str = "mine", sentences=None) -> None:
    """An edition with one model's bias per sentence, and the tables that follow from it."""
    numbers = list(range(len(bias))) if sentences is None else sentences
    rows = []
    for number in numbers:
        male, female = WORDS[number % len(WORDS)].split("/")
        own, other = (male, female) if number % 3 else (female, male)
        rows.append(
            {"sentence_id": f"s{number}", "sentence": f"见{own}了。", "start": 1, "pair": "男/女",
             "surface": own, "surface_opposite": other, "opposite": other,
             "gender": "male" if number % 3 else "female", "end": 1 + len(own),
             "surface_start": 1, "surface_end": 1 + len(own), "source": "a", "source_position": 1}
        )  # fmt: skip
    place = folder / "slguset"
    (place / "bias").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), place / "slguset.parquet")
    scores = [
        dict.fromkeys(BIAS.names)
        | {"sentence_id": row["sentence_id"], "n_masks": 1 + place % 2, "n_masks_opposite": 1}
        | {column: float(value) for column in VARIANTS}
        for place, (row, value) in enumerate(zip(rows, bias, strict=True))
    ]
    store = place / "bias" / f"{model}.parquet"
    pq.write_table(pa.Table.from_pylist(scores, BIAS), store)
    gate = place / "bias" / f"{model}.gate.json"
    gate.write_text(
        json.dumps({"model": model, "family": "masked", "log_base": 10.0, "trusted": True,
                    "reason": None, "check": {"accuracy": 0.5, "baseline": 0.04}})
    )  # fmt: skip
    stop_words = folder / "stop_words.csv"
    stop_words.write_text("word,note\n没有,\n", encoding="utf-8")
    tabulate_bias(
        dataset=place / "slguset.parquet", bias=[store], gates=[gate], stop_words=stop_words,
        out=folder / "tables/bias/slguset", top=1,
    )  # fmt: skip
    stop_words.unlink()
    record_new(folder)


def write_pairs(
    folder: Path,
    differences: np.ndarray | dict[str, np.ndarray],
    model: str = "tiny",
    texts: Any = None,
    templates: int | None = None,
) -> None:
    """A set of pairs with one model's AUL, two pairs a cluster, and the table of its scores.

    Or with the scores of several methods.

    Each pair has a sentence of its own, or the set has so many templates.
    """
    place = folder / "stereotypes" / "mine"
    place.mkdir(parents=True, exist_ok=True)
    by_method = differences if isinstance(differences, dict) else {"aul": differences}
    differences = next(iter(by_method.values()))
    rows = [
        {"cluster": f"c{n // 2}", "bias_type": "age" if n % 4 else "gender"}
        | {"more": f"a{n} {n % (templates or 10**6)}", "less": f"b{n} {n % (templates or 10**6)}"}
        for n in texts or range(len(differences))
    ]
    pairs = made_scores.write_pairs(place / "pairs.parquet", rows)
    (place / "pairs.json").write_text(json.dumps({"title": "My pairs"}), encoding="utf-8")
    values = {name: [(float(one), 0.0) for one in some] for name, some in by_method.items()}
    rows = made_scores.score_rows(values)
    own = made_scores.write_model(place, model, rows, methods=[*by_method])
    tabulate_pairs(pairs=pairs, out=folder / "tables/pairs/mine", **own)
    record_new(folder)


def write_texts(folder: Path, texts: str) -> None:
    """Write the cases of a classifier's audit, numbered from 0, with the text of each, a letter."""
    for place in ("predictions/mine", "legal/d"):
        (folder / place).mkdir(parents=True)
    ids = [str(number) for number in range(len(texts))]
    cases = {"id": ids, "sex": ["f"] * len(ids)}
    pq.write_table(pa.table(cases), folder / "predictions/mine/cases.parquet")
    described = {"name": "mine", "trained": {"dataset": "d"}}
    (folder / "predictions/mine/meta.json").write_text(json.dumps(described))
    stored = {"case_id": ["train", *ids], "text": [[text] for text in f"?{texts}"]}
    pq.write_table(pa.table(stored), folder / "legal/d/d.parquet")


def sweep_row(mean: float | str, reach: float = 1.0, **more: Any) -> dict[str, Any]:
    """A row of a table that has intervals and no items: the mean of five seeds."""
    blank = dict.fromkeys(SWEEP, "") | {"dataset": "loans", "method": "mlp", "metric": "acc"}
    numbers = {"mean": mean, "seeds": 5}
    if mean != "":
        numbers |= {"low": mean - reach, "high": mean + reach}
    return blank | numbers | more
