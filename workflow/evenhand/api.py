"""The library for notebooks and scripts: ``import evenhand as eh``.

Each function calls the stages of the workflow with the workflow's own defaults, so that equal input
gives equal results, to the last bit. Data are DataFrames or files; ``out`` keeps all files in a
folder that is laid out as the workflow's results.
"""

import inspect
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.config import read_schema
from evenhand.core.places import ROOT, SCHEMA, located
from evenhand.errors import InputError
from evenhand.plan_slguset import completed
from evenhand.text.phrases import listed

if TYPE_CHECKING:
    import pandas as pd

    Data = pd.DataFrame | str | Path

#: The method whose finding comes first, by the family of the model.
MAIN_METHODS = ("aul", "log_likelihood")

#: The columns of a table of verdicts that no verdict depends on; `Result.table` has them.
_COUNTS = (
    *("pairs", "scored", "ties", "unscorable", "correlation", "trusted"),
    *("studentised", "null_seeds", "null_beyond"),
)


@dataclass(frozen=True, eq=False)
class Result:
    """The result of an audit.

    Attributes
    ----------
    folder : Path
        Its files, laid out as the workflow's results.
    findings : list of str
        The findings, the main one first.
    """

    folder: Path
    findings: list[str]
    _tables: Path
    _main: str
    _write_html: Callable[[Path], Any]
    _write_card: Callable[[Path], Any]
    _kept: Any = field(default=None, repr=False)

    @cached_property
    def tables(self) -> "dict[str, pd.DataFrame]":
        """All tables by name, as declared in the workflow."""
        import pandas as pd

        from evenhand.core.tables import read_package, read_table

        return {
            name: pd.DataFrame(read_table(self._tables / f"{name}.csv"), columns=table.header)
            for name, table in read_package(self._tables).items()
        }

    @property
    def table(self) -> "pd.DataFrame":
        """The main table."""
        return self.tables[self._main]

    @property
    def verdicts(self) -> "pd.DataFrame":
        """The verdicts, above, below, equivalent or inconclusive, with what they stand on.

        Of the main rows of the table, where it declares some (`evenhand.core.tables.Table.main`):
        each method that counts, on all pairs. `table` has all rows.
        """
        from evenhand.core.tables import read_package

        name = self._main if "verdict" in self.table else "tests"
        table = self.tables[name]
        chosen = table["verdict"].notna()
        for column, values in (read_package(self._tables)[name].main or {}).items():
            chosen &= table[column].isin(values)
        columns = [column for column in table if column not in _COUNTS]
        return table.loc[chosen, columns].reset_index(drop=True)

    def to_html(self, path: str | Path) -> Path:
        """Write the report, one HTML file that works offline."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write_html(path)
        return path

    def card(self) -> str:
        """Return a card in Markdown, for the page of the model or the data on a hub."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "README.md"
            self._write_card(path)
            return path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        """Return the findings."""
        return "\n".join(self.findings)


def audit_pairs(
    model: Any,
    pairs: "Data",
    *,
    name: str | None = None,
    language: str = "en",
    methods: Sequence[str] | None = None,
    delta: float = 5.0,
    device: str = "cpu",
    threads: int = 1,
    out: str | Path | None = None,
) -> Result:
    """Measure which sentence of each pair a language model prefers.

    Parameters
    ----------
    model : str, Path or (model, tokenizer)
        A folder, a name on the Hugging Face hub, or loaded objects.
    pairs : DataFrame or path
        With CrowS-Pairs' columns: sent_more, sent_less, stereo_antistereo, bias_type.
    name : str, optional
        The model's name in tables and in the report.
    language : str
        The model's language, for its card.
    methods : sequence of str, optional
        Of `evenhand.scoring.methods.METHODS`; by default all for the kind of model.
    delta : float
        The smallest preference that matters, in percentage points.
    device : str
        cpu or cuda.
    threads : int
        The number of threads; it does not affect the result.
    out : path, optional
        A folder for the files; else a temporary one.

    Examples
    --------
    >>> import evenhand as eh
    >>> result = eh.audit_pairs(model, pairs)
    >>> result.table["method"].unique().tolist()
    ['log_likelihood', 'log_likelihood_per_token']
    """
    from evenhand.stereotypes.read_pairs import read_pairs
    from evenhand.stereotypes.score_pairs import score_pairs
    from evenhand.stereotypes.tabulate_pairs import tabulate_pairs

    call = _call(audit_pairs, locals())
    folder, kept = _folder(out)
    config = _config({})
    place = folder / "stereotypes" / "pairs"
    source, title = _model(model, folder)
    name = _file_name(name or title)
    files = {kind: place / kind / f"{name}.{suffix}" for kind, suffix in _STORES}
    for file in files.values():
        file.parent.mkdir(parents=True, exist_ok=True)
    table, described = place / "pairs.parquet", place / "pairs.json"
    file = _csv(pairs, folder / "pairs.csv")
    with _named_as_given(file, pairs):
        read_pairs(name="pairs", format="crows_pairs", file=file, out=table, report=described,
                   title="Pairs")  # fmt: skip
    options = config["stereotypes"]
    score_pairs(
        pairs=table,
        out=files["scores"],
        tokens=files["tokens"],
        gate=files["gates"],
        null=files["null"],
        name=name,
        **source,
        methods=list(methods or options["methods"]),
        shuffle=options["shuffle"],
        null_seeds=options["null_seeds"],
        null_methods=options["null_methods"],
        **{key: config["scoring"][key] for key in ("dtype", "tokens_per_batch", "allow_missing")},
        device=device,
        threads=threads,
    )
    tables = folder / "tables" / "pairs" / "pairs"
    tabulate_pairs(
        pairs=table, scores=[files["scores"]], gates=[files["gates"]], nulls=[files["null"]],
        out=tables, delta=delta,
    )  # fmt: skip

    def write_html(path: Path) -> None:
        _write_page(
            "language_models", folder, path,
            [described, tables, files["gates"], table, files["scores"]],
        )  # fmt: skip

    def write_card(path: Path) -> None:
        from evenhand.report.write_model_cards import write_model_cards

        template = Path(located("workflow/evenhand/report/cards/model_card.md.jinja"))
        write_model_cards(
            template=_here(template), out=[path], models=[name], languages=[language],
            sets=[described], gates=[files["gates"]], tables=[tables],
            call=call,
        )  # fmt: skip

    result = Result(folder, [], tables, "bias_scores", write_html, write_card, kept)
    result.findings.extend(_pair_findings(result.table.to_dict("records"), delta))
    return result


#: The files that scoring writes, with their suffixes.
_STORES = (("scores", "parquet"), ("tokens", "parquet"), ("gates", "json"), ("null", "parquet"))


def audit_predictions(
    data: "Data",
    *,
    label: str,
    groups: Sequence[str] | str,
    prediction: str | None = None,
    probabilities: Mapping[str, str] | None = None,
    positive: str | float | None = None,
    id: str | None = None,
    cluster: str | None = None,
    counterfactual_of: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    gold: "Data | None" = None,
    threshold: float = 0.5,
    delta: float = 5.0,
    title: str = "Predictions",
    out: str | Path | None = None,
) -> Result:
    """Compare predictions between groups, and their gaps with those of random groups.

    Parameters
    ----------
    data : DataFrame or path
        CSV or Parquet.
    label, prediction : str
        Columns. The prediction is a label, or the probability of the positive label.
    groups : list of str
        Columns of protected attributes.
    probabilities : mapping, optional
        The column of the probability of each label, in place of a prediction.
    positive : str or number, optional
        The label whose rates are computed.
    id, cluster, counterfactual_of : str, optional
        Columns: ids; clusters of dependent cases; the id of the factual row of a counterfactual.
    bins : mapping, optional
        The borders between the groups of a numeric column.
    gold : DataFrame or path, optional
        The labels and groups, if the predictions have only ids.
    threshold : float
        The minimum probability of a positive prediction.
    delta : float
        The smallest difference that matters, in percentage points.
    title : str
        The name of the predictions in the report.
    out : path, optional
        A folder for the files; else a temporary one.

    Examples
    --------
    >>> import pandas as pd, evenhand as eh
    >>> data = pd.DataFrame({"y": [1, 0] * 100, "p": [0.9, 0.1, 0.4, 0.2] * 50,
    ...                      "gender": ["woman", "man", "man", "woman"] * 50})
    >>> result = eh.audit_predictions(data, label="y", prediction="p", groups=["gender"])
    >>> result.findings[0]
    'True positive rate differs by gender: 0.0 % for man (50 cases), 100.0 % for all others, a\
 difference of -100.0 points (95 % CI -100.0 to -89.9; adjusted p < 0.001).'
    """
    call = _call(audit_predictions, locals())
    folder, kept = _folder(out)
    groups = [groups] if isinstance(groups, str) else list(groups)
    options = {
        "label": label,
        "prediction": prediction,
        "probabilities": {str(key): column for key, column in (probabilities or {}).items()},
        "positive": positive,
        "groups": groups,
        "bins": {name: list(edges) for name, edges in (bins or {}).items()},
        "id": id,
        "cluster": cluster,
        "counterfactual_of": counterfactual_of,
        "threshold": threshold,
        "title": title,
    }
    file = _parquet(data, folder / "predictions.parquet")
    truth = None if gold is None else _parquet(gold, folder / "gold.parquet")
    with _named_as_given(file, data):
        return _audited([file], options, delta, folder, kept, call, truth)


def audit_logs(
    files: str | Path | Sequence[str | Path],
    *,
    delta: float = 5.0,
    title: str = "Logs of lm-evaluation-harness",
    out: str | Path | None = None,
) -> Result:
    """Compute intervals by cluster and verdicts from per-sample logs of lm-evaluation-harness.

    Parameters
    ----------
    files : path or list of paths
        ``samples_*.jsonl`` of CrowS-Pairs and BBQ (``--log_samples``), or folders of them.
    delta : float
        The smallest preference that matters, in percentage points.
    title, out
        As in `audit_predictions`.

    Examples
    --------
    >>> import evenhand as eh
    >>> eh.audit_logs("lm_eval_output").findings[0]
    'crows_pairs_english: prefers the stereotype in 75 % (95 % CI 59 to 87). Significant.'
    """
    call = _call(audit_logs, locals())
    folder, kept = _folder(out)
    paths = [Path(one) for one in ([files] if isinstance(files, str | Path) else files)]
    options = {"format": "lm_eval", "title": title}
    return _audited(paths, options, delta, folder, kept, call)


def _audited(
    files: list[Path],
    options: dict[str, Any],
    delta: float,
    folder: Path,
    kept: Any,
    call: str,
    gold: Path | None = None,
) -> Result:
    from evenhand import plan_predictions
    from evenhand.core.tables import read_tables
    from evenhand.predictions.audit_predictions import audit_predictions as stage
    from evenhand.predictions.words import findings

    given = {key: value for key, value in options.items() if value not in (None, {}, [])}
    given["files"] = ["predictions"]
    config = _config({"predictions": {"mine": given}})
    tables, place = folder / "tables" / "predictions" / "mine", folder / "predictions" / "mine"
    place.mkdir(parents=True, exist_ok=True)
    cases, meta = place / "cases.parquet", place / "meta.json"
    plan_predictions.check_predictions(config)
    stage(
        files=files,
        out=tables,
        cases=cases,
        meta=meta,
        name="mine",
        gold=gold,
        delta=delta,
        **plan_predictions.options(config, "mine"),
    )

    def write_html(path: Path) -> None:
        _write_page("predictions", folder, path, [meta, tables])

    is_log = options.get("format") == "lm_eval"
    main = "preferences" if is_log else "groups"
    found = findings(read_tables(tables))

    def write_card(path: Path) -> None:
        shown = result.table if is_log else result.tables["gaps"]
        _write_card(path, options["title"], found, shown, call)

    result = Result(folder, found, tables, main, write_html, write_card, kept)
    return result


def audit_table(
    train: "Data",
    test: "Data | None" = None,
    *,
    label: str,
    attribute: str,
    positive: str | float | None = None,
    features: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    methods: Sequence[str] = ("mlp", "iifr"),
    seeds: int = 5,
    delta: float = 5.0,
    title: str = "Table",
    out: str | Path | None = None,
) -> Result:
    """Train classifiers on a table of people, and measure individual and group fairness.

    Parameters
    ----------
    train, test : DataFrame or path
        Without `test` each seed has a different random split.
    label, attribute : str
        Columns: the label with two values, and the protected attribute.
    positive : str or number, optional
        The label that counts as 1; by default 1, true or yes.
    features, categories : sequence of str, optional
        Columns: the features (by default all others), and numeric codes of categories.
    methods : sequence of str
        Of `evenhand.learning.methods`; ``iifr`` is the network with IIFR's loss.
    seeds : int
        The number of networks of each method.
    delta : float
        The smallest difference that matters, in percentage points.
    title, out
        As in `audit_predictions`.

    Examples
    --------
    >>> import evenhand as eh
    >>> result = eh.audit_table(people, label="approved", attribute="gender", methods=["majority"])
    >>> result.findings[0].partition(")")[2]
    ', same decision for the counterfactual (IFR_b) 100.0 % (95 % CI 100.0 to 100.0), gap of\
 selection rates 0.0 points (95 % CI 0.0 to 0.0).'
    """
    from evenhand import plan_individual
    from evenhand.individual.tabulate_individual import tabulate_individual
    from evenhand.learning.train_table import train_table
    from evenhand.tabular.prepare_table import prepare_table

    call = _call(audit_table, locals())
    folder, kept = _folder(out)
    split = None if test is None else "official"
    file = folder / "table.csv"
    if test is None:
        file = _csv(train, file)
    else:
        import pandas as pd

        parts = [_frame(one).assign(evenhand_split=name)
                 for one, name in ((train, "train"), (test, "test"))]  # fmt: skip
        pd.concat(parts).to_csv(file, index=False)
    given = {"format": "table", "files": ["table"], "label": label, "attribute": attribute}
    given |= {"positive": str(positive if positive is not None else _positive(file, label))}
    given |= {"features": list(features or []), "categories": list(categories or [])}
    given |= {"title": title} | ({"split": "evenhand_split"} if split else {})
    chosen = ["mlp" if name == "iifr" else name for name in methods]
    config = _config(
        {
            "individual_fairness": {
                "datasets": {"mine": given},
                "methods": list(dict.fromkeys(chosen)),
                "individual": ["none", *(["iifr_cosine"] if "iifr" in methods else [])],
                "lambdas": [1],
                "seeds": seeds,
            }
        }
    )
    config = plan_individual.expand(config)
    settings, place = config["individual_fairness"], folder / "tabular" / "mine"
    place.mkdir(parents=True, exist_ok=True)
    data, meta = place / "data.parquet", place / "data.json"
    prepare_table(
        files=[file], out=data, meta=meta, name="mine",
        **plan_individual.table_options(config, "mine"),
    )  # fmt: skip
    training, runs = Path(settings["training"]), {}
    for method in settings["methods"]:
        own = {kind: place / kind / (split or "random") / f"{method}.parquet" for kind in _RUNS}
        for path in own.values():
            path.parent.mkdir(parents=True, exist_ok=True)
        how = plan_individual.training_options(config, method)
        train_table(
            data=data, meta=meta, training=training, method=method, split=split or "random",
            out=own["runs"], groups=own["groups"], predictions=own["predictions"], **how,
        )  # fmt: skip
        runs[method] = own
    tables = folder / "tables" / "individual"
    resources = Path(located("resources/iifr/settings.csv")).parent
    tabulate_individual(
        **{kind: [own[kind] for own in runs.values()] for kind in _RUNS},
        data=[data],
        meta=[meta],
        published=[*sorted(resources.glob("published_*.csv")), resources / "inconsistencies.csv"],
        settings=Path(settings["settings"]),
        training=training,
        phrases=_here(Path("workflow/evenhand/individual/phrases.jinja")),
        out=tables,
        delta=delta,
    )

    def write_html(path: Path) -> None:
        _write_page("individual_fairness", folder, path, [tables, meta])

    def write_card(path: Path) -> None:
        _write_card(path, title, result.findings, result.verdicts, call)

    result = Result(folder, [], tables, "grid", write_html, write_card, kept)
    result.findings.extend(_table_findings(result))
    return result


#: The files that a training writes.
_RUNS = ("runs", "groups", "predictions")


def extract_sentences(
    files: "str | Path | Sequence[str | Path]",
    *,
    language: str = "zh",
    attribute: str = "gender",
    pack: str | Path | None = None,
    filters: Sequence[str] | None = None,
    out: str | Path | None = None,
) -> "pd.DataFrame":
    """Find the sentences of a corpus with one gender word, and why each is kept or dropped.

    Parameters
    ----------
    files : path or list of paths
        Text files, JSON lines, CSV, archives, or folders of them.
    language, attribute : str
        They name a pack of ``resources/packs``: ``zh``, ``en``, ``de`` or ``ja`` and ``gender``,
        or ``zh`` and ``age`` or ``region``.
    pack : path, optional
        A folder with a pack of your own, in place of the two.
    filters : sequence of str, optional
        Of `evenhand.slguset.filters`; by default those of the pack.
    out : path, optional
        A folder for the files; else a temporary one.

    Returns
    -------
    DataFrame
        A row per sentence: sentence, keyword, verdict, reasons, evidence, source. Files that
        could not be read are in ``.attrs["quarantine"]``.

    Examples
    --------
    >>> import evenhand as eh
    >>> eh.extract_sentences("news")[["sentence", "verdict"]].values.tolist()
    [['四楼住着一位阿姨，在食堂做了半辈子面点。', 'accepted'], ['这位母亲说。', 'length']]
    """
    import pandas as pd

    from evenhand import plan_slguset
    from evenhand.slguset.apply_filters import apply_filters
    from evenhand.slguset.extract_sentences import extract_sentences as extract
    from evenhand.slguset.merge_candidates import merge_candidates

    folder = Path(pack or located(f"resources/packs/{language}_{attribute}"))
    if pack is None and not folder.is_dir():
        known = sorted(one.name for one in (ROOT / "resources/packs").iterdir())
        raise InputError(
            f"there is no pack {folder.name}", remedy=f"use one of {', '.join(known)}, or your own"
        )
    paths = [str(one) for one in ([files] if isinstance(files, str | Path) else files)]
    chosen = {"filters": list(filters)} if filters else {}
    chosen["pack"] = str(folder)
    config = _config({"slguset": {"corpora": {"mine": {"files": ["corpus"]}}, **chosen}})
    config["slguset"]["corpora"]["mine"]["files"] = paths
    slguset = config["slguset"]
    folder, _kept = _folder(out)
    place = folder / "slguset"
    place.mkdir(parents=True, exist_ok=True)
    shards, skipped = plan_slguset.plan_corpora(config, {})
    options = {key: value for key, value in slguset["corpora"]["mine"].items()
               if key not in ("files", "sources")}  # fmt: skip
    settings = plan_slguset.pack_options(config, *plan_slguset.WORDS).values_by_name
    reading = {name: settings[name] for name in plan_slguset.READING}
    tables, judged, bad = Path(slguset["pack"]), [], []
    for shard, (_, part) in shards.items():
        parts = ("sentences", "quarantine", "inventory", "keywords", "filters")
        made = {name: place / f"{shard}.{name}.parquet" for name in parts}
        extract(
            files=[Path(one) for one in part.files], keywords=tables / "keywords.csv",
            sentences=made["sentences"], quarantine=made["quarantine"],
            counts=place / f"{shard}.counts.json", inventory=made["inventory"],
            first_byte=part.first_byte, end_byte=part.end_byte, **options, **reading,
        )  # fmt: skip
        apply_filters(
            sentences=made["sentences"], keywords=tables / "keywords.csv",
            keyword_words=tables / "keyword_words.csv", found=made["keywords"],
            out=made["filters"], filters=slguset["filters"],
            files=[Path(one) for one in plan_slguset.filter_files(config)],
            agreement=[Path(one) for one in plan_slguset.agreement_files(config)],
            **slguset["find_keywords"], **plan_slguset.filter_options(config).values_by_name,
            **settings,
        )  # fmt: skip
        judged.append(made["filters"])
        bad.append(_frame(made["quarantine"]))
    merge_candidates(
        judged=judged, out=place / "candidates.parquet", near_duplicates=slguset["near_duplicates"]
    )
    found = _frame(place / "candidates.parquet")
    rows = pd.concat(bad, ignore_index=True)
    found.attrs["attribute"] = settings["attribute"]
    found.attrs["quarantine"] = [*rows.to_dict("records"), *plan_slguset.quarantine_rows(skipped)]
    return found


def _config(written: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with the workflow's defaults."""
    return completed(written, read_schema(SCHEMA))


def _here(path: Path) -> Path:
    """Return the path of one of the library's files."""
    from evenhand.core.places import LIBRARY

    return path if path.is_absolute() else LIBRARY / path.relative_to("workflow")


class _Kept:
    """A temporary folder that is removed with the last result that refers to it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="evenhand-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def _folder(out: str | Path | None) -> tuple[Path, Any]:
    """Return the folder of the files, and the object that keeps a temporary folder alive."""
    if out is None:
        kept = _Kept()
        return kept.folder, kept
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder, None


def _frame(data: "Data") -> "pd.DataFrame":
    import pandas as pd

    from evenhand.io.tables import read_columns

    if isinstance(data, pd.DataFrame):
        return data
    path = Path(data)
    if not path.is_file():
        raise InputError("there is no such file", file=path)
    return read_columns(path).to_pandas() if path.suffix == ".parquet" else pd.read_csv(path)


@contextmanager
def _named_as_given(file: Path, data: "Data") -> Iterator[None]:
    """Let an error in a file that was written for a DataFrame speak of the DataFrame."""
    try:
        yield
    except InputError as error:
        if isinstance(data, str | Path) or error.file is None or Path(error.file) != file:
            raise
        row = "" if error.line is None or error.line < 2 else f", row {error.line - 2} from 0"
        place = f"the DataFrame{row}"
        raise InputError(error.problem, file=place, remedy=error.remedy) from None


def _csv(data: "Data", path: Path) -> Path:
    """Return a CSV file of the data: the given file, or a new one."""
    if isinstance(data, str | Path) and Path(data).suffix != ".parquet":
        return _there(Path(data))
    _frame(data).to_csv(path, index=False)
    return path


def _parquet(data: "Data", path: Path) -> Path:
    """Return a file of the data: the given file, or a new Parquet file."""
    if isinstance(data, str | Path):
        return _there(Path(data))
    data.reset_index(drop=True).to_parquet(path)
    return path


def _there(path: Path) -> Path:
    if not path.is_file():
        raise InputError("there is no such file", file=path)
    return path


def _model(model: Any, folder: Path) -> tuple[dict[str, Any], str]:
    """Return the arguments of `score_pairs` that specify a model, and a title."""
    if isinstance(model, tuple):
        network, tokenizer = model
        place = folder / "model"
        network.save_pretrained(place)
        tokenizer.save_pretrained(place)
        return {"model": place}, type(network).__name__
    path = Path(model)
    if path.is_dir():
        from evenhand.scoring.model_files import check_folder

        check_folder(path)
        return {"model": path}, path.resolve().name
    beside = path.parent != Path() and path.parent.is_dir()  # else a name on the hub
    if path.is_absolute() or str(model).startswith(".") or beside:
        there = sorted(one.name for one in path.parent.glob("*/")) if beside else []
        remedy = f"beside it are {listed(there, 4)}" if there else None
        raise InputError("there is no such folder", file=path, remedy=remedy)
    return {"hub_name": str(model)}, str(model).rpartition("/")[2]


def _call(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Return the code of a call: arguments that are not the defaults, files without folders."""
    words = []
    for name, one in inspect.signature(function).parameters.items():
        value = given[name]
        plain = isinstance(value, str | Path | int | float | list | tuple | dict | None)
        if name == "out" or value is one.default or (plain and value == one.default):
            continue
        word = _word(value) if plain and not _is_loaded(value) else name
        words.append(word if one.kind is one.POSITIONAL_OR_KEYWORD else f"{name}={word}")
    return f"import evenhand as eh\n\nresult = eh.{function.__name__}({', '.join(words)})"


def _is_loaded(value: Any) -> bool:
    """Whether a value is (model, tokenizer)."""
    return isinstance(value, tuple) and hasattr(value[0], "save_pretrained")


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_word, value))}]"
    is_file = isinstance(value, Path) or (isinstance(value, str) and Path(value).is_absolute())
    return repr(Path(value).name if is_file else value)


def _file_name(name: str) -> str:
    """Return a valid file name."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in name)


def _positive(file: Path, label: str) -> str:
    from evenhand.predictions.read import POSITIVE, read_table, take

    table = read_table(file)
    take(table, file, label)
    found = [one for one in POSITIVE if one in table[label]]
    if not found:
        raise InputError(
            f"it is not known which value of {label} counts as 1",
            file=file,
            remedy=f"name positive, one of {', '.join(sorted(set(table[label]))[:5])}",
        )
    return found[0]


def _write_page(page: str, folder: Path, out: Path, files: list[Path]) -> None:
    """Write a self-contained page of the report."""
    from evenhand.report.page_list import FOLDER, NOTICE, templates_of
    from evenhand.report.write_page import write_page

    notice = folder / NOTICE
    notice.write_text("", encoding="utf-8")
    templates = [*(FOLDER / name for name in templates_of(page, single_file=True)), notice]
    write_page(page=page, templates=templates, out=out, files=files, pages=[page])


def _pair_findings(rows: list[dict[str, Any]], delta: float) -> list[str]:
    """Return a sentence per method, the main one first."""
    from evenhand.report.sections.stereotypes_words import gate_words
    from evenhand.scoring.methods import METHODS
    from evenhand.text.phrases import conclusion

    whole = [row for row in rows if (row["subset"], row["bias_type"]) == ("all", "all")]
    whole.sort(key=lambda row: (row["method"] not in MAIN_METHODS, rows.index(row)))
    found = []
    for row in whole:
        title = METHODS[row["method"]].title if row["method"] in METHODS else row["model"]
        if row["verdict"] == "not_scored":
            words = " ".join(gate_words(row["reason"])) or row["reason"]
            found.append(f"{title}: no score. {words}")
            continue
        low, high = row["score_low"], row["score_high"]
        interval = f"95 % CI {low:.0f} to {high:.0f}" if low == low and low is not None else "too"
        interval += " few clusters for an interval" * (interval == "too")
        verdict = conclusion(
            row["verdict"],
            difference="preference",
            delta=f"{delta:g} points",
            above="Significant",
            below="Significantly the other way",
            power=row["power"],
            further=None if row["further_clusters"] != row["further_clusters"]
            else row["further_clusters"] and int(row["further_clusters"]),
        )  # fmt: skip
        share = f"{row['score']:.0f} % of {int(row['scored'])} pairs"
        found.append(f"{title}: prefers the stereotype in {share} ({interval}). {verdict}.")
    return found


def _table_findings(result: Result) -> list[str]:
    """Return the means of each setting, and whether its loss changes IFR_b."""
    from evenhand.text.phrases import conclusion

    measures = (
        ("accuracy", "acc", 1, " %"),
        ("same decision for the counterfactual (IFR_b)", "ifr_b", 1, " %"),
        ("gap of selection rates", "ddp", 100, " points"),
    )
    setting = ["method", "individual"]
    tests = result.tables["tests"]
    tests = tests[(tests["metric"] == "ifr_b") & (tests["individual"] != "none")]
    tests = {key: rows.iloc[0] for key, rows in tests.groupby(setting)}
    found = []
    baselines_first = result.table.sort_values(
        "individual", key=lambda column: column != "none", kind="stable"
    )
    for key, own in baselines_first.groupby(setting, sort=False):
        rows = own.drop_duplicates("metric").set_index("metric")
        parts = []
        for words, metric, scale, unit in measures:
            mean, low, high = scale * rows.loc[metric, ["mean", "low", "high"]].astype(float)
            interval = f" (95 % CI {low:.1f} to {high:.1f})" if low == low else ""
            parts.append(f"{words} {mean:.1f}{unit}{interval}")
        title = key[0] if key[1] == "none" else f"{key[0]} with {key[1]}"
        words = f"{title}: {', '.join(parts)}."
        if key in tests:
            test = tests[key]
            verdict = conclusion(
                test["verdict"],
                difference="change of IFR_b by the loss",
                delta=f"{test['delta']:g} points",
                above="The loss raises IFR_b significantly",
                below="The loss lowers IFR_b significantly",
                power=test["power"],
                clusters="seeds",
            )
            words += f" {verdict}."
        found.append(words)
    return found


def _write_card(
    path: Path, title: str, findings: list[str], table: "pd.DataFrame", call: str
) -> None:
    """Write the findings, a table and the call that made them as Markdown."""
    columns = [name for name in table if table[name].notna().any()]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in table[columns].itertuples(index=False):
        cells = (f"{one:.4g}" if isinstance(one, float) else str(one) for one in row)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    items = "\n".join(f"- {words}" for words in findings)
    again = f"## How to run it again\n\n```python\n{call}\n```\n"
    text = f"# {title}\n\nAudited with Evenhand.\n\n{items}\n\n" + "\n".join(lines)
    path.write_text(f"{text}\n\n{again}", encoding="utf-8")
