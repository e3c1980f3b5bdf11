"""The library for notebooks and scripts: ``import evenhand as eh``.

Each function calls the stages of the workflow with the workflow's own defaults, so that equal input
gives equal results, to the last bit. Data are DataFrames or files; ``out`` keeps all files in a
folder that is laid out as the workflow's results.
"""

import hashlib
import inspect
import json
import re
import shutil
import sys
import tempfile
import typing
import warnings
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.config import EXPLAINED, read_schema
from evenhand.core.decimals import as_cell
from evenhand.core.files import content_digest
from evenhand.core.places import ROOT, SCHEMA, located
from evenhand.core.resources import check_unique
from evenhand.core.whole import check_file, near_names, near_path
from evenhand.errors import InputError, errors_of_disk
from evenhand.plan_slguset import completed
from evenhand.text.catalogue import doubt_of, other_data, read_catalogue
from evenhand.text.languages import is_language
from evenhand.text.phrases import choice, listed, plural

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.comparison.gates import Gate
    from evenhand.comparison.summary import Comparison

    Data = pd.DataFrame | str | Path

#: A key of the configuration that a function makes of an argument.
_KEY = re.compile(
    r"(?:config: )?\b(?:\w+(?:\.datasets|\.corpora)?\.mine|inference|individual_fairness|slguset)"
    r"\.([\w.]+)"
)

#: A number in place of a text, such as the name of a column: Python needs other words than YAML.
_NUMBER = re.compile(r"is (-?[\d.]+)(; it must be [^\n]*; )put it into quotes")

#: The method whose finding comes first, by the family of the model.
MAIN_METHODS = ("aul", "log_likelihood")

#: Two verdicts that contradict each other.
OPPOSITE = {"above", "below"}

#: The share of sentences with unknown words from which on a note has them.
MUCH_UNKNOWN = 0.1

#: So many sentences without an end are no headlines in between.
MANY_UNFINISHED = 3

_say = read_catalogue(__file__, other_data=other_data)

#: The arguments of `audit_table` that are keys of a data set.
_TABLE_KEYS = ("label", "attribute", "positive", "bins", "missing", "features", "categories")

#: The column that `audit_table` adds: whether a row is of train or of test.
SPLIT = "evenhand_split"

#: The method of `audit_table` that is the network with IIFR's loss.
IIFR = "iifr"

#: The file in `out` that records the audit whose result the folder holds.
RECORD = ".evenhand.json"

#: The arguments that are data or models.
_INPUTS = {"model", "pairs", "data", "gold", "files", "train", "test"}

#: The digest of an input.
_DIGEST = re.compile("[0-9a-f]{64}")

#: The columns of a table of verdicts that no verdict depends on; `Result.table` has them.
_COUNTS = (
    *("ties", "unscorable", "correlation", "trusted"),
    *("studentised", "null_seeds", "null_beyond"),
)


@dataclass(frozen=True, eq=False)
class Result:
    """The result of an audit, which the functions ``audit_...`` return.

    Print it for the findings and notes; ``result.to_html("audit.html")`` writes the report. The
    functions have examples.

    Attributes
    ----------
    findings : list of str
        The findings as sentences, the main one first.
    notes : list of str
        What was left out of the data, what may be a mistake in them, and what is not known.
    table : DataFrame
        The main table, with all numbers.
    verdicts : DataFrame
        The tests behind the findings: above, below, equivalent or inconclusive.
    tables : dict of str to DataFrame
        All tables by name.
    folder : Path
        The files, laid out as the workflow's results: `out`, or a temporary folder that is removed
        with the result.
    """

    folder: Path
    findings: list[str]
    _tables: Path
    _main: str
    _page: str
    _page_files: list[Path]
    _card: Callable[["Result"], str]
    _temporary: Any = None
    notes: list[str] = field(default_factory=list)
    _delta: float = 5.0

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
        """The verdicts: above, below, equivalent or inconclusive, with their numbers.

        Of the main rows of the table, where it declares some (`evenhand.core.tables.Table.main`):
        each method that counts, on all pairs. Of logs, all rows: each task and each bias type. Of
        predictions, a row is a test of a group, and the findings name the significant gaps only.
        Of tables of people, `delta` and all differences are in the `unit` of their row: 5 percent,
        or 0.05 as a share.
        `table` has all rows.
        """
        from evenhand.core.tables import read_package

        name = self._main if "verdict" in self.table else "tests"
        table = self.tables[name]
        is_main = table["verdict"].notna()
        main = None if name == "preferences" else read_package(self._tables)[name].main
        for column, values in (main or {}).items():
            is_main &= table[column].isin(values) | table[column].isna()
        columns = [column for column in table if column not in _COUNTS]
        return table.loc[is_main, columns].reset_index(drop=True)

    def to_html(self, path: str | Path) -> Path:
        """Write the report, one HTML file that works offline; return its path, with .html."""
        from evenhand.report.page_list import FOLDER, templates_of
        from evenhand.report.write_page import write_page

        path = Path(path)
        if path.is_dir():
            raise InputError("is a folder", file=path, remedy="name an HTML file in it")
        path = path if path.suffix else path.with_suffix(".html")
        templates = [FOLDER / name for name in templates_of(self._page, single_file=True)]
        pages = [self._page]
        with errors_of_disk():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_page(
                page=self._page,
                templates=templates,
                files=self._page_files,
                out=path,
                pages=pages,
                delta=self._delta,
            )
        return path

    def card(self) -> str:
        """Return a card in Markdown, for the page of the model or the data on a hub."""
        return self._card(self)

    def __repr__(self) -> str:
        """Return the findings and the notes, and where the tests behind them are."""
        return "\n".join(
            [*self.findings, *self.notes, _say("where", self._main, len(self.verdicts))]
        )


#: Types that arguments are checked for.
_PLAIN = {str, int, Path, Result, type(None)}


def _checks_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function refuse arguments of a wrong type, and remove a new `out` if it fails.

    An audit refuses an `out` with the result of another one, which a `Result` may still read.
    """
    signature = inspect.signature(function)
    known, is_audit = signature.parameters, signature.return_annotation is Result

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        for name, value in (dict(zip(known, arguments, strict=False)) | options).items():
            if name in known:  # else Python's own error follows
                _check_type(name, value, known[name].annotation)
        out = options.get("out")
        was_there = out is None or Path(out).exists()
        earlier = out is not None and _visible(Path(out))
        record = Path(out, RECORD) if is_audit and out is not None else None
        audit = ""
        if record and record.exists():
            audit = _audit_record(function.__name__, signature.bind(*arguments, **options))
            if (earlier_audit := record.read_text(encoding="utf-8")) != audit:
                problem = _say("other_audit", **_first_difference(earlier_audit, audit))
                raise InputError(problem, file=out, remedy="name a new or an empty folder")
        try:
            result = function(*arguments, **options)
        except (InputError, KeyboardInterrupt, SystemExit):
            if not was_there:
                shutil.rmtree(out, ignore_errors=True)
            raise
        if earlier:
            print(_say("replaced", out), file=sys.stderr)
        if record:
            bound = signature.bind(*arguments, **options)
            record.write_text(audit or _audit_record(function.__name__, bound), encoding="utf-8")
        return result

    return call


def _audit_record(name: str, bound: inspect.BoundArguments) -> str:
    """Return the function and the arguments of an audit as JSON, inputs by their content."""
    bound.apply_defaults()
    out = Path(bound.arguments["out"]).resolve()
    values = {
        argument: _content(value, out) if argument in _INPUTS else repr(_plain(value))
        for argument, value in bound.arguments.items()
        if argument not in ("out", "threads")
    }
    return json.dumps({"function": name, **values}, indent=1)


def _first_difference(earlier: str, audit: str) -> dict[str, Any]:
    """Return the name of the first argument that differs, and its value in both records.

    Of an input these are its files, or blank for an object.
    """
    try:
        before, after = (json.loads(text) for text in (earlier, audit))
    except json.JSONDecodeError:  # its writing was stopped
        return {"name": "", "values": []}
    differing = [key for key in [*after, *before] if before.get(key) != after.get(key)]
    if not differing:  # an earlier version wrote it in another form
        return {"name": "", "values": []}
    name = differing[0]
    values = [_value_words(record.get(name)) for record in (before, after)]
    return {"name": name if name in _INPUTS else f"`{name}`", "values": values}


def _value_words(value: Any) -> str:
    """Return a value of `_audit_record`, of an input its files; blank for a digest."""
    if isinstance(value, list):
        is_named = len(value) > 1 and isinstance(value[0], str)
        return value[0] if is_named else ", ".join(map(_value_words, value))
    return "" if value is None or _DIGEST.fullmatch(value) else value


def _content(value: Any, out: Path) -> Any:
    """Return digests of the files of an input, of a table or of a loaded model.

    Hidden files of a folder and those in `out` do not count.
    """
    if isinstance(value, tuple) and all(hasattr(part, "save_pretrained") for part in value):
        with tempfile.TemporaryDirectory() as folder:
            for part in value:
                part.save_pretrained(folder)
            return content_digest(Path(folder))
    if isinstance(value, list | tuple):
        return [_content(part, out) for part in value]
    if hasattr(value, "to_pandas") or hasattr(value, "to_csv"):
        table = _frame(value).to_csv().encode(errors="surrogatepass")
        return hashlib.sha256(table).hexdigest()
    if not isinstance(value, str | Path) or not Path(value).exists():
        return repr(_plain(value))
    path = Path(value)
    if not path.is_dir():
        return [path.name, content_digest(path)]
    files = {file.relative_to(path): file for file in sorted(path.rglob("*")) if file.is_file()}
    return [path.resolve().name] + [
        [name.as_posix(), content_digest(file)]
        for name, file in files.items()
        if out not in file.resolve().parents and not any(part[0] == "." for part in name.parts)
    ]


def _check_type(name: str, value: Any, annotation: Any) -> None:
    """Raise InputError if an argument is no text, path, whole number or result, as annotated.

    The configuration's schema, or the function itself, checks the others.
    """
    kinds = typing.get_args(annotation) or (annotation,)
    if isinstance(value, str) and not value and name not in ("label", "title"):
        raise InputError(f"`{name}` is blank", remedy="give it a value, or leave it out")
    if not {*kinds} <= _PLAIN or isinstance(value if value is True else _plain(value), kinds):
        return
    names = [kind.__name__ for kind in kinds if kind is not type(None)]
    what = "None" if value is None else f"of the type {type(value).__name__}"
    remedy = "name one, and call it again for others" if isinstance(value, list) else None
    remedy = f'write "{value}"' if kinds[0] is str and isinstance(value, int | float) else remedy
    raise InputError(f"`{name}` is {what}, and must be {' or '.join(names)}", remedy=remedy)


@_checks_arguments
def audit_pairs(
    model: Any,
    pairs: "Data",
    *,
    name: str | None = None,
    language: str = "en",
    methods: Sequence[str] | str | None = None,
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
        With CrowS-Pairs' columns: sent_more (the stereotype), sent_less,
        stereo_antistereo, bias_type. Swapped columns reverse every verdict.
    name : str, optional
        The model's name in tables and in the report.
    language : str
        The model's language, for its card: a code of ISO 639, such as ``en``.
    methods : sequence of str, optional
        Of `evenhand.scoring.methods.METHODS`; by default all for the kind of model.
    delta : float
        The smallest preference that matters, in percentage points.
    device : str
        cpu or cuda.
    threads : int
        The number of threads; it does not affect the result.
    out : path, optional
        A folder for the tables, without the result of another audit; else a temporary one.
        `Result.to_html` writes the report.

    Examples
    --------
    >>> import evenhand as eh
    >>> result = eh.audit_pairs(model, pairs)
    >>> result.table["method"].unique().tolist()
    ['log_likelihood', 'log_likelihood_per_token']
    """
    from evenhand.core.tables import read_table
    from evenhand.report.write_model_cards import write_model_cards
    from evenhand.scoring.model_files import check_reachable
    from evenhand.stereotypes.read_pairs import read_pairs
    from evenhand.stereotypes.score_pairs import score_pairs
    from evenhand.stereotypes.sets.crows_pairs import unused_columns
    from evenhand.stereotypes.tabulate_pairs import tabulate_pairs

    call = _call(audit_pairs, locals())
    if not is_language(language):
        raise InputError(f"`language` is {language!r}", remedy="give a code of ISO 639, such as en")
    methods = _names("methods", methods)
    folder, place, temporary = _folder(out, "stereotypes/pairs")
    config = _completed({}, delta)
    source, title = _model(model, folder)
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", name or title)
    files = {kind: place / kind / f"{name}.{suffix}" for kind, suffix in _STORES}
    for file in files.values():
        file.parent.mkdir(parents=True, exist_ok=True)
    table, described = place / "pairs.parquet", place / "pairs.json"
    file = _file(pairs, folder / "pairs.csv")
    with _errors_of_frame(file, pairs, unit="pair"):
        read_pairs(name="pairs", format="crows_pairs", file=file, out=table, report=described,
                   title="Pairs")  # fmt: skip
    if "hub_name" in source:
        check_reachable(source["hub_name"])
    options, scoring = config["stereotypes"], config["scoring"]
    scoring = {key: scoring[key] for key in ("dtype", "tokens_per_batch", "allow_missing")}
    with _errors_of_frame(folder / "model", model, "the (model, tokenizer)"):
        if isinstance(model, tuple):
            _check_saved(model[1], folder / "model", table)
        score_pairs(
            pairs=table,
            out=files["scores"],
            tokens=files["tokens"],
            gate=files["gates"],
            null=files["null"],
            name=name,
            **source,
            methods=methods or options["methods"],
            shuffle=options["shuffle"],
            null_seeds=options["null_seeds"],
            null_methods=options["null_methods"],
            **scoring,
            device=device,
            threads=threads,
        )
    gate = json.loads(files["gates"].read_text(encoding="utf-8"))
    if "weights_not_finite" in (gate["reason"] or ""):
        problem = "the weights contain NaN or infinite values"
        raise InputError(f"{title}: {problem}", remedy="use another checkpoint")
    tables = folder / "tables" / "pairs" / "pairs"
    tabulate_pairs(
        pairs=table, scores=[files["scores"]], gates=[files["gates"]], nulls=[files["null"]],
        out=tables, delta=delta,
    )  # fmt: skip

    described_files = {"sets": [described], "tables": [tables], "gates": [files["gates"]]}
    page_files = [described, tables, files["gates"], table, files["scores"]]

    def card(_: Result) -> str:
        template = Path(located("workflow/evenhand/report/cards/model_card.md.jinja"))
        with tempfile.TemporaryDirectory() as cards:
            path = Path(cards) / "README.md"
            write_model_cards(
                template=template, out=[path], models=[name], languages=[language],
                **described_files, call=call,
            )  # fmt: skip
            return path.read_text(encoding="utf-8")

    page = "language_models"
    scores, [checked] = (read_table(tables / f"{name}.csv") for name in ("bias_scores", "models"))
    description = json.loads(described.read_text(encoding="utf-8"))
    unused = unused_columns(file)
    notes = _pair_notes(description, scores, gate, checked["unscored"], unused)
    facts = gate["check"], checked["unscored"], description["same_word"]
    return Result(
        folder, _pair_findings(scores, delta, *facts), tables, "bias_scores", page,
        page_files, card, temporary, notes,
    )  # fmt: skip


#: The files that scoring writes, with their suffixes.
_STORES = (("scores", "parquet"), ("tokens", "parquet"), ("gates", "json"), ("null", "parquet"))


@_checks_arguments
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
    """Compare the rates and errors of predictions between groups.

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
        A folder for the tables, without the result of another audit; else a temporary one.
        `Result.to_html` writes the report.

    Examples
    --------
    >>> import pandas as pd, evenhand as eh
    >>> data = pd.DataFrame({"y": [1, 0] * 100, "p": [0.9, 0.1, 0.4, 0.2] * 50,
    ...                      "gender": ["woman", "man", "man", "woman"] * 50})
    >>> result = eh.audit_predictions(data, label="y", prediction="p", groups=["gender"])
    >>> result.findings[0]
    'True positive rate differs by gender: 100.0 % for woman (50 positive cases), 0.0 % for man\
 (50 positive cases), a difference of 100.0 points (95 % CI 89.9 to 100.0; adjusted p < 0.001\
 for this difference).'
    """
    arguments = dict(locals())
    call = _call(audit_predictions, arguments)
    folder, place, temporary = _folder(out, "predictions/mine")
    others = ("data", "gold", "delta", "out")
    options = {name: value for name, value in arguments.items() if name not in others}
    options["groups"] = [groups] if isinstance(groups, str) else groups
    file = _file(data, folder / "predictions.csv")
    truth = None if gold is None else _file(gold, folder / "gold.csv")
    with _errors_of_frame(file, data), _errors_of_frame(truth, gold, "the DataFrame of gold"):
        return _audited([file], options, delta, (folder, place, temporary), call, truth)


@_checks_arguments
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
    'crows_pairs_english: for the stereotype in 75 % of 40 pairs (95 % CI 59 to 87),\
 25 points above 50 (9 to 37). Significant (p = 0.0022).'
    """
    call = _call(audit_logs, locals())
    options = {"format": "lm_eval", "title": title}
    return _audited(_paths(files), options, delta, _folder(out, "predictions/mine"), call)


def _audited(
    files: list[Path],
    options: dict[str, Any],
    delta: float,
    places: "_Places",
    call: str,
    gold: Path | None = None,
) -> Result:
    from evenhand import plan_predictions
    from evenhand.core.tables import read_package, read_tables
    from evenhand.predictions.audit_predictions import audit_predictions as stage
    from evenhand.predictions.words import findings, model_words, notes

    folder, place, temporary = places
    entry = {key: _plain(value) for key, value in options.items() if value is not None}
    config = _completed({"predictions": {"mine": entry | {"files": ["predictions"]}}}, delta)
    delta = config["inference"]["delta"]
    tables = folder / "tables" / "predictions" / "mine"
    cases, meta = place / "cases.parquet", place / "meta.json"
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
    is_log = options.get("format") == "lm_eval"
    main, table = ("preferences", "preferences") if is_log else ("groups", "gaps")

    def card(result: Result) -> str:
        sentences = [*result.findings, *named, *notes(description, rows, "")]
        note = "" if is_log else _say("gap_tests")
        units = read_package(tables)[table].units
        return _card(options["title"], sentences, result.tables[table], units, call, note)

    page_files = [meta, tables]
    rows = read_tables(tables)
    description = json.loads(meta.read_text(encoding="utf-8"))
    named = model_words(description)
    left_out = "result.tables['left_out']" if temporary else str(tables / "left_out.csv")
    return Result(
        folder, findings(rows, delta, description), tables, main, "predictions", page_files, card,
        temporary, [*named, *notes(description, rows, left_out)],
    )  # fmt: skip


@_checks_arguments
def audit_table(
    train: "Data",
    test: "Data | None" = None,
    *,
    label: str,
    attribute: str,
    positive: str | float | Sequence[str | float] | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "drop",
    features: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    methods: Sequence[str] | str = ("mlp", "iifr"),
    seeds: int = 5,
    delta: float = 5.0,
    title: str = "Table",
    out: str | Path | None = None,
) -> Result:
    """Train classifiers on a table of people, and measure individual and group fairness.

    Intervals over seeds are for other networks on these test people, those over people for other
    people with these networks. Methods are compared over seeds. A network that sees an attribute
    gives it some weight, also where it has no effect: see docs/recipe_individual.md.

    Parameters
    ----------
    train, test : DataFrame or path
        Without `test` each seed has a different random split.
    label, attribute : str
        Columns: the label with two values, and one protected attribute. For several, call it for
        each, or list them in a configuration (``individual_fairness.datasets.NAME.attribute``),
        which adds each two of them together.
    positive : str or number, or several, optional
        The label that counts as 1, by default 1, true or yes; of a label with more than two values
        a list of all that do. All others count as 0.
    bins : mapping, optional
        The borders between the groups of a numeric attribute, by its name.
    missing : str
        Rows with a blank cell: ``drop`` them, make blank a ``category``, or ``impute`` features.
    features, categories : sequence of str, optional
        Columns: the features (by default, or of an empty list, all others), and numeric codes of
        categories.
    methods : sequence of str
        Of ``mlp``, ``mlp_without_attribute``, ``alfr``, ``laftr_dp``, ``laftr_eo``, ``cfair``,
        ``cfair_eo``, ``logistic_regression`` and ``majority``; ``iifr`` is ``mlp`` with IIFR's
        loss, as in its paper, which may harm (docs/certified.md).
    seeds : int
        The number of networks of each method.
    delta : float
        The smallest difference that matters, in percentage points.
    title, out
        As in `audit_predictions`. In tables the name of the data set is ``mine``, not the title.

    Examples
    --------
    >>> import evenhand as eh
    >>> result = eh.audit_table(people, label="approved", attribute="gender", methods=["majority"])
    >>> result.findings[-1].partition(")")[2]
    ', same decision for the counterfactual (IFR_b) 100.0 % (95 % CI over people 95.6 to 100.0),\
 gap of selection rates 0.0 points (95 % CI over people −8.8 to 8.6).'
    """
    from evenhand import plan_individual
    from evenhand.core.families import member_names
    from evenhand.core.tables import read_package
    from evenhand.individual.tabulate_individual import tabulate_individual
    from evenhand.learning.train_table import train_table
    from evenhand.tabular.delimited import check_columns, is_open, read_cells
    from evenhand.tabular.prepare_table import prepare_table
    from evenhand.tabular.words import open_words

    arguments = dict(locals())
    call = _call(audit_table, arguments)
    folder, place, temporary = _folder(out, "tabular/mine")
    split, train_rows, unread = "random" if test is None else "official", None, []
    file = folder / "table.csv"
    if test is None:
        file = _file(train, file, keep_index=False)
    else:
        import pandas as pd

        parts = {"train": _frame(train), "test": _frame(test)}
        if lacking := sorted({*parts["train"]} - {*parts["test"]}):
            problem = f"`test` has no column {lacking[0]!r}, which `train` has"
            raise InputError(problem, remedy="add it to `test`, or remove it from `train`")
        unread = sorted({*map(str, parts["test"])} - {*map(str, parts["train"])})
        if SPLIT in parts["train"]:
            problem = f"`train` has a column {SPLIT}, which is made here"
            raise InputError(problem, remedy="rename it")
        if empty := [name for name, frame in parts.items() if not len(frame)]:
            raise InputError(f"`{empty[0]}` has no rows")
        columns, train_rows = [*parts["train"]], len(parts["train"])
        frames = [frame[columns].assign(**{SPLIT: name}) for name, frame in parts.items()]
        pd.concat(frames).to_csv(file, index=False)
    entry = {name: arguments[name] for name in _TABLE_KEYS if arguments[name] is not None}
    entry |= {"format": "table", "files": ["table"], "title": title}
    entry |= {} if test is None else {"split": SPLIT}
    methods = _names("methods", methods)
    members = (name.rpartition(".")[2] for name in member_names("evenhand.learning.methods"))
    known = sorted([*members, IIFR])
    if unknown := [name for name in methods if name not in known]:
        remedy = choice(unknown[0], known, most=None)
        raise InputError(f"`methods` has {unknown[0]!r}", remedy=remedy)
    if repeated := [name for name in methods if methods.count(name) > 1]:
        raise InputError(f"`methods` has {repeated[0]!r} twice", remedy="keep one of the two")
    networks = ["mlp" if name == IIFR else name for name in methods]
    settings = {
        "datasets": {"mine": _plain(entry)},
        "methods": list(dict.fromkeys(networks)),
        "individual": ["none", *(["iifr_cosine"] if IIFR in methods else [])],
        "lambdas": [1],
        "seeds": seeds,
    }
    # before `bins` of an attribute that is misspelt
    with _errors_of_frame(file, train, train_rows=train_rows):
        check_columns(read_cells(file)[0], file, label=label, attribute=attribute)
    config = _completed({"individual_fairness": settings}, delta)
    settings = config["individual_fairness"]
    data, meta = place / "data.parquet", place / "data.json"
    with _errors_of_frame(file, train, train_rows=train_rows):
        prepare_table(
            files=[file], out=data, meta=meta, name="mine",
            **plan_individual.table_options(config, "mine"),
        )  # fmt: skip
    training = Path(settings["training"])
    runs: dict[str, list[Path]] = {kind: [] for kind in ("runs", "groups", "predictions")}
    for method in settings["methods"]:
        options = plan_individual.training_options(config, method)
        if method != "mlp":  # the grid of a configuration has the loss with all methods
            options["individual"] = ["none"]
        for kind, paths in runs.items():
            paths.append(place / kind / split / f"{method}.parquet")
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
        train_table(
            data=data, meta=meta, training=training, method=method, split=split,
            out=runs["runs"][-1], groups=runs["groups"][-1], predictions=runs["predictions"][-1],
            **options,
        )  # fmt: skip
    tables = folder / "tables" / "individual"
    resources = Path(located("resources/iifr/settings.csv")).parent
    published = [*sorted(resources.glob("published_*.csv")), resources / "inconsistencies.csv"]
    tabulate_individual(
        **runs,
        data=[data],
        meta=[meta],
        published=published,
        out=tables,
        delta=delta,
        settings=Path(settings["settings"]),
        training=training,
    )

    def card(result: Result) -> str:
        units = read_package(tables)["tests"].units
        table = result.verdicts.assign(dataset=title)
        return _card(title, [*result.findings, *result.notes], table, units, call)

    page_files = [tables, meta]
    page = "individual_fairness"
    result = Result(folder, [], tables, "grid", page, page_files, card, temporary, _delta=delta)
    result.findings.extend(_table_findings(result, json.loads(meta.read_bytes())))
    result.notes.extend([*_doubts(result), *([_say("unread", unread)] if unread else [])])
    if test is not None and any(
        isinstance(part, str | Path) and is_open(Path(part)) for part in (train, test)
    ):
        result.notes.append(open_words())
    return result


@_checks_arguments
def extract_sentences(
    files: "str | Path | Sequence[str | Path]",
    *,
    language: str | None = None,
    attribute: str = "gender",
    pack: str | Path | None = None,
    filters: Sequence[str] | None = None,
    text_field: str = "text",
    paragraphs: str = "line",
    out: str | Path | None = None,
) -> "pd.DataFrame":
    """Find the sentences of a corpus with one gender word, and why each is kept or dropped.

    Parameters
    ----------
    files : path or list of paths
        Text files, JSON lines, CSV, archives, or folders of them.
    language, attribute : str
        They name a pack of ``resources/packs``: ``zh``, ``en``, ``de`` or ``ja`` and ``gender``,
        or ``zh`` and ``age`` or ``region``. The language has no default. ``ja`` needs
        ``pip install 'evenhand[ja]'``.
    pack : path, optional
        A folder with a pack of your own, in place of the two.
    filters : sequence of str, optional
        Of `evenhand.slguset.filters`; by default those of the pack.
    text_field : str
        The field of JSON lines, or the column of tables, that holds the text.
    paragraphs : str
        ``blank_line`` joins lines up to a blank one (hard-wrapped text); ``line`` joins none.
    out : path, optional
        A folder for the records of files, names and problems; else a temporary one.

    Returns
    -------
    DataFrame
        A row per sentence with one word of the attribute (the pack's ``keywords.csv``): sentence,
        swapped_sentence (with the opposite word), keyword, verdict, why (the meaning of a verdict
        other than accepted), reasons (all codes, joined by semicolons), evidence, source, copies.
        ``.attrs["sentences"]`` is the number of sentences that were read, with copies,
        ``.attrs["without_keyword"]`` the files without a word of the attribute, as
        those in another language are. Problems with files, such as empty ones, are a warning, and
        are in ``.attrs["quarantine"]``.

    Examples
    --------
    >>> import evenhand as eh
    >>> eh.extract_sentences("news", language="zh")[["sentence", "verdict"]].values.tolist()
    [['四楼住着一位阿姨，在食堂做了半辈子面点。', 'accepted'], ['这位母亲说。', 'length']]
    """
    import pandas as pd

    from evenhand import plan_slguset
    from evenhand.io.tables import read_columns, read_rows
    from evenhand.report.sentences import EVIDENCE_SEPARATOR
    from evenhand.report.words import WORDS
    from evenhand.slguset.apply_filters import apply_filters
    from evenhand.slguset.dataset import spans_of, swap
    from evenhand.slguset.extract_sentences import extract_sentences as extract
    from evenhand.slguset.merge_candidates import merge_candidates

    paths = _paths(files)
    if pack is not None and language is not None:
        raise InputError("`language` has no effect beside `pack`", remedy="leave one of them out")
    folder = Path(pack or located(f"resources/packs/{language}_{attribute}"))
    if pack is None and not folder.is_dir():
        known = sorted(path.name.replace("_", " ") for path in (ROOT / "resources/packs").iterdir())
        problem = f"there is no pack for {language} and {attribute}"
        remedy = f"give `language` and `attribute` of one of {', '.join(known)}, or your own `pack`"
        raise InputError("`language` is missing" if language is None else problem, remedy=remedy)
    keys = {"pack": str(folder)} | ({} if filters is None else {"filters": _plain(filters)})
    corpus = {"files": ["corpus"], "text_field": text_field, "paragraphs": paragraphs}
    keys["corpora"] = {"mine": corpus}
    config = _completed({"slguset": keys})
    slguset = config["slguset"]
    slguset["corpora"]["mine"]["files"] = list(map(str, paths))
    # the paper's filter rejects many good sentences: use all tables against wrong names
    slguset["names_jieba"] = {
        key: Path(plan_slguset.pack_file(config, table)).is_file()
        for key, table in plan_slguset.NAME_TABLES.items()
    }
    _folder_of_all, place, _temporary = _folder(out, "slguset")
    try:
        shards, skipped = plan_slguset.plan_corpora(config, {})
    except InputError as error:
        problem = error.problem.replace("corpus mine", "the corpus")
        raise InputError(problem, file=error.file, remedy=error.remedy) from None
    options = {key: value for key, value in slguset["corpora"]["mine"].items()
               if key not in ("files", "sources")}  # fmt: skip
    settings = plan_slguset.pack_options(config, *plan_slguset.WORDS).values_by_name
    reading = {name: settings[name] for name in plan_slguset.READING}
    of_filters = [*map(Path, plan_slguset.filter_files(config))]
    tables, judged, unread, read = Path(slguset["pack"]), [], [], 0
    per_file: Counter[str] = Counter()
    encodings: dict[str, str | None] = {}
    for shard, (_, part) in shards.items():
        stores = ("sentences", "quarantine", "inventory", "filters")
        out_files = {name: place / f"{shard}.{name}.parquet" for name in stores}
        counts = place / f"{shard}.counts.json"
        extract(
            files=list(map(Path, part.files)), keywords=tables / "keywords.csv",
            sentences=out_files["sentences"], quarantine=out_files["quarantine"],
            counts=counts, inventory=out_files["inventory"],
            first_byte=part.first_byte, end_byte=part.end_byte, **options, **reading,
        )  # fmt: skip
        apply_filters(
            sentences=out_files["sentences"], keywords=tables / "keywords.csv",
            keyword_words=tables / "keyword_words.csv",
            out=out_files["filters"], filters=slguset["filters"],
            files=of_filters,
            agreement=list(map(Path, plan_slguset.agreement_files(config))),
            **slguset["find_keywords"], **plan_slguset.filter_options(config).values_by_name,
            **settings,
        )  # fmt: skip
        judged.append(out_files["filters"])
        unread.append(read_columns(out_files["quarantine"]).to_pandas())
        read += json.loads(counts.read_text(encoding="utf-8"))["sentences"]
        for row in read_rows(out_files["inventory"], ["file", "encoding", "keyword_sentences"]):
            per_file[row["file"]] += row["keyword_sentences"]
            encodings[row["file"]] = row["encoding"]
    merge_candidates(
        judged=judged, out=place / "candidates.parquet", near_duplicates=slguset["near_duplicates"]
    )
    rows = pd.concat(unread, ignore_index=True).to_dict("records")
    stored = read_columns(place / "candidates.parquet")
    candidates = stored.to_pandas()
    swapped = [
        None if row["start"] is None else swap(row["sentence"], spans_of(row))
        for row in stored.to_pylist()
    ]
    candidates.insert(candidates.columns.get_loc("sentence") + 1, "swapped_sentence", swapped)
    meanings = WORDS["reasons"] | plan_slguset.reasons(config)
    why = [meanings[verdict][1] if verdict in meanings else "" for verdict in candidates["verdict"]]
    candidates.insert(candidates.columns.get_loc("verdict") + 1, "why", why)
    candidates["reasons"] = candidates["reasons"].map("; ".join)
    candidates.attrs |= {"attribute": settings["attribute"], "sentences": read}
    if settings["language"] not in ("zh", "ja"):
        candidates["evidence"] = candidates["evidence"].str.replace(EVIDENCE_SEPARATOR, ", ")
    empty = {row["file"] for row in rows}
    candidates.attrs |= {
        "files": len(per_file),
        "without_keyword": [file for file, n in per_file.items() if not n and file not in empty],
    }
    rows += map(json.loads, plan_slguset.quarantine_rows(skipped))
    rows += encoding_notes(encodings)
    candidates.attrs["quarantine"] = rows
    problem = "" if len(candidates) else f"no sentence has a word of {settings['attribute']}"
    problems = [problem, problem_of_lines(candidates)]
    problems.append(problems_with_files(rows, ".attrs['quarantine']"))
    if pack is None and not problems[1] and is_other_language(candidates):
        problems.append(_say("other_language", language, attribute))
    if problems := [*filter(None, problems)]:
        warnings.warn("; ".join(problems), stacklevel=3)
    return candidates


@_checks_arguments
def compare(
    base: Result | str | Path,
    head: Result | str | Path,
    gates: Sequence[str | Mapping[str, Any]] | str | Path | None = None,
) -> "Comparison":
    """Compare two results or audits, number by number: which moved beyond noise, and why.

    Parameters
    ----------
    base, head : Result or path
        Before and after: results of this library, or their folders, or those of the workflow.
    gates : path, or list of str or dict, optional
        Changes to refuse: a YAML file, its entries, or texts ``TABLE:COLUMN:KEY=VALUE:DIRECTION``,
        as of ``evenhand compare`` (docs/howto_compare.md). ``.outcomes`` has their outcomes.

    Returns
    -------
    Comparison
        ``.findings`` are sentences, the main one first, then those on other cases, choices and
        models; ``.table`` is a DataFrame of all numbers. Print it for the summary of the command.

    Examples
    --------
    >>> import pandas as pd, evenhand as eh
    >>> data = pd.DataFrame({"y": [1, 0] * 100, "sex": ["f", "m", "m", "f"] * 50})
    >>> options = {"label": "y", "prediction": "p", "groups": ["sex"]}
    >>> base = eh.audit_predictions(data.assign(p=data["y"]), **options)
    >>> head = eh.audit_predictions(data.assign(p=data["y"] * (data["sex"] == "f")), **options)
    >>> comparison = eh.compare(base, head)
    >>> comparison.findings[0].partition(" Clearest")[0]
    '3 of 4 group differences moved beyond noise, more bias in 3 of them.'
    """
    from evenhand.comparison.compare_results import compare_results
    from evenhand.comparison.gates import read_gates

    has_names = not any(isinstance(run, Result) for run in (base, head))
    base, head = (getattr(run, "folder", run) for run in (base, head))
    if isinstance(gates, str) and gates.count(":") > 1 and not Path(gates).exists():
        gates = [gates]
    is_file = isinstance(gates, str | Path)
    conditions = read_gates(Path(gates)) if is_file else _parsed(gates)
    comparison = compare_results(base=Path(base), head=Path(head), gates=conditions)
    return comparison if has_names else comparison._replace(folders=("", ""))  # random names


def _parsed(gates: Any) -> "list[Gate]":
    """Return gates of texts and mappings; InputError for other values than a list."""
    from evenhand.comparison.gates import parse_gate

    if not isinstance(gates, list | tuple | None):
        remedy = "give a list of gates, or the path of a file of them"
        raise InputError(f"`gates` is of the type {type(gates).__name__}", remedy=remedy)
    return [parse_gate(gate, number) for number, gate in enumerate(gates or [], 1)]


def encoding_notes(encodings: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """Return a row of the quarantine for each file that is not UTF-8, by its detected encoding."""
    from evenhand.io.decoding import UNKNOWN

    usual = (None, "ascii", "utf-8", "utf-8-sig", UNKNOWN)  # of the last the reader has a row
    place = {"position": None, "unit": "file", "reason": "other_encoding", "parts": 1}
    return [
        {"file": file, **place, "detail": f"read as {encoding}"}
        for file, encoding in encodings.items()
        if encoding not in usual
    ]


def problems_with_files(quarantine: Sequence[Mapping[str, Any]], place: Path | str) -> str:
    """Return the problems of `extract_sentences` with files in words; blank if there is none.

    `place` has all of them.
    """
    from evenhand.slguset.extract_sentences import SET_FIELD

    if not quarantine:
        return ""
    by_file: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in quarantine:
        by_file.setdefault(row["file"], {}).setdefault(row["reason"], []).append(row)
    names = []
    for file, reasons in by_file.items():
        firsts = [rows[0] | {"number": sum(row["parts"] for row in rows)}
                  for rows in reasons.values()]  # fmt: skip
        names.append(_say("of_file", file, firsts))
    has_no_field = any(row["reason"] == "missing_field" for row in quarantine)
    return _say("with_files", names, place, remedy=SET_FIELD if has_no_field else "")


def is_other_language(sentences: "pd.DataFrame") -> bool:
    """Return whether no sentence is kept and few have a keyword, as of a pack of another language.

    `sentences` are the result of `extract_sentences`.
    """
    is_kept = (sentences["verdict"] == "accepted").any()
    return not is_kept and 10 * len(sentences) <= sentences.attrs["sentences"]


def problem_of_lines(sentences: "pd.DataFrame") -> str:
    """Return a hint at hard-wrapped lines if most sentences lack an end; blank if they do not."""
    count = int(sentences["reasons"].str.contains("unfinished").sum())
    if count < max(MANY_UNFINISHED, len(sentences) / 2):
        return ""
    problem = f"{count} of {len(sentences)} do not end as a sentence: if lines are wrapped, read"
    return f"{problem} them with `paragraphs` blank_line"


class _TemporaryFolder:
    """A temporary folder that is removed with the last result that refers to it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="evenhand-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


#: The folder of the files, a folder in it, and the object that keeps a temporary one alive.
_Places = tuple[Path, Path, _TemporaryFolder | None]


def _folder(out: str | Path | None, part: str) -> _Places:
    """Return and make the folder of the files; an earlier result has a folder `part` in it."""
    temporary = _TemporaryFolder() if out is None else None
    folder = Path(out) if temporary is None else temporary.path
    if folder.exists() and not folder.is_dir():
        raise InputError("`out` is a file", file=folder, remedy="name a new or an empty folder")
    others = _visible(folder)
    if others and not (folder / part).is_dir():
        problem = f"`out` has other files, such as {others[0]}"
        raise InputError(problem, file=folder, remedy="name a new or an empty folder")
    with errors_of_disk():
        (folder / part).mkdir(parents=True, exist_ok=True)
    return folder, folder / part, temporary


def _visible(folder: Path) -> list[str]:
    """Return the names in a folder, if there is one, without hidden files."""
    return sorted(path.name for path in folder.glob("[!.]*"))


def _completed(config: dict[str, Any], delta: float = 5.0) -> dict[str, Any]:
    """Return a configuration with all defaults; errors name the argument of a wrong value."""
    from evenhand import plan_individual, plan_predictions

    try:
        config = completed(config | {"inference": {"delta": _plain(delta)}}, read_schema(SCHEMA))
        plan_predictions.check_predictions(config)
        return plan_individual.expand(config)
    except InputError as error:
        remedy = None if (error.remedy or "").startswith(EXPLAINED) else error.remedy
        problem = _NUMBER.sub(r'is \1\2write "\1"', _KEY.sub(r"`\1`", error.problem))
        raise InputError(problem.splitlines(), file=error.file, remedy=remedy) from None


def _plain(value: Any) -> Any:
    """Return an argument as a value of a configuration, without types of numpy and pandas.

    True is the text that a column of truth values has in a CSV.
    """
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    value = value.tolist() if hasattr(value, "tolist") else value
    value = str(value) if isinstance(value, bool) else value
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


def _names(argument: str, names: Any) -> list[Any]:
    """Return one name or several as a list; InputError for other values."""
    names = _plain(names)
    if names == []:
        raise InputError(f"`{argument}` is empty", remedy="name one, or leave it out")
    if not isinstance(names, str | list | None):
        raise InputError(f"`{argument}` is neither a name nor a list of names")
    return [names] if isinstance(names, str) else names or []


def _frame(data: "Data") -> "pd.DataFrame":
    import pandas as pd

    from evenhand.predictions.read import read_table

    if isinstance(data, Mapping):
        try:
            data = pd.DataFrame(data)
        except ValueError as error:
            raise InputError(f"the data are no table ({error})", remedy=_say("readable")) from error
    elif hasattr(data, "to_pandas"):  # of polars, pyarrow and datasets
        data = data.to_pandas()
    if isinstance(data, pd.DataFrame):
        check_unique(list(map(str, data.columns)), "the DataFrame", line=None)
        return data
    if not isinstance(data, str | Path):
        raise InputError(f"the data are of the type {type(data).__name__}", remedy=_say("readable"))
    return read_table(_there(Path(data)))


@contextmanager
def _errors_of_frame(
    file: Path | None,
    data: "Data | None",
    name: str = "the DataFrame",
    train_rows: int | None = None,
    unit: str = "row",
) -> Iterator[None]:
    """Let an error in a file that was written for a DataFrame or a model speak of its argument.

    With `train_rows` the file has the rows of `train`, then those of `test`. Pairs are counted from
    1, as in their tables and all other errors.
    """
    from evenhand.tabular.delimited import SEPARATE

    try:
        yield
    except InputError as error:
        is_path = isinstance(data, str | Path) and train_rows is None
        if is_path or error.file is None or Path(error.file) != file:
            raise
        row, place = "", (error.line or 0) - 2
        if train_rows is not None:
            name = "`train` with `test`"
        if place >= 0:
            if train_rows is not None:
                is_train = place < train_rows
                name, place = ("`train`", place) if is_train else ("`test`", place - train_rows)
            first = int(unit == "pair")
            row = f", {unit} {place + first} (counted from {first})"
        remedy = error.remedy
        if remedy and remedy.endswith(SEPARATE):
            remedy = f"{remedy.removesuffix(SEPARATE)}; {_say('readable')}, with a column for each"
        for level in getattr(getattr(data, "index", None), "names", ()):
            if level is not None and error.problem.startswith(f"has no column {str(level)!r},"):
                remedy = "it is in the index; make it a column by data.reset_index()"
        raise InputError(error.problem, file=f"{name}{row}", remedy=remedy) from None


def _file(data: "Data", path: Path, *, keep_index: bool = True) -> Path:
    """Return a file of the data: the given one, or a new CSV file, also of a named index."""
    if isinstance(data, str | Path):
        return _there(Path(data))
    from evenhand.tabular.delimited import as_text

    frame = _frame(data)
    names = [name for name in frame.index.names if name is not None and name not in frame]
    frame = frame.reset_index(names) if names and keep_index else frame.copy(deep=False)
    for name, dtype in frame.dtypes.items():
        if dtype.kind == "O":
            frame[name] = frame[name].map(as_text)
    frame.to_csv(path, index=False)
    return path


def _paths(files: Any) -> list[Path]:
    """Return files and folders, one or several; InputError if there is none, or no such."""
    files = [files] if isinstance(files, str | Path) else files
    if not isinstance(files, list | tuple) or not all(isinstance(p, str | Path) for p in files):
        raise InputError("`files` is neither a path nor a list of paths")
    if not files or "" in files:
        problem = "`files` has a blank name" if files else "`files` is empty"
        raise InputError(problem, remedy="name a file or a folder")
    for path in map(Path, files):
        if not path.exists():
            raise InputError("there is no such file or folder", file=path, remedy=near_names(path))
    return list(map(Path, files))


def _there(path: Path) -> Path:
    check_file(path)
    return path


def _model(model: Any, folder: Path) -> tuple[dict[str, Any], str]:
    """Return the arguments of `score_pairs` that specify a model, and a title."""
    if isinstance(model, tuple):
        is_pair = len(model) == 2 and all(hasattr(part, "save_pretrained") for part in model)
        if not is_pair or not hasattr(model[0], "config"):
            remedy = "give (model, tokenizer), in this order"
            raise InputError("`model` is no pair of model and tokenizer", remedy=remedy)
        network, tokenizer = model
        place = folder / "model"
        network.save_pretrained(place)
        tokenizer.save_pretrained(place)
        return {"model": place}, type(network).__name__
    if not isinstance(model, str | Path):
        remedy = "give (model, tokenizer), a folder, or a name on the hub"
        raise InputError(f"`model` is of the type {type(model).__name__}", remedy=remedy)
    from evenhand.scoring.model_files import check_folder, check_hub_name, is_cached

    path = Path(model)
    if path.is_file():
        raise InputError("is a file, and a model is a folder", file=path)
    if path.is_dir():
        check_folder(path)
        return {"model": path}, path.resolve().name
    beside, near = path.parent != Path() and path.parent.is_dir(), near_path(path)
    problem, advice = "there is no such folder", f"did you mean {near}"
    if path.is_absolute() or str(model).startswith(".") or beside:  # else a name on the hub
        folders = sorted(folder.name for folder in path.parent.glob("[!.]*/")) if beside else []
        remedy = f"beside it are {listed(folders, 4)}" if folders else None
        raise InputError(problem, file=path, remedy=f"{advice}?" if near else remedy)
    if near and (near / "config.json").is_file() and not is_cached(str(model)):
        remedy = f"{advice}, or a model of the hub (then `hf download {model}` first)?"
        raise InputError(problem, file=path, remedy=remedy)
    check_hub_name(str(model))
    print(f"{model} is no folder here; the Hugging Face hub is asked for it", file=sys.stderr)
    return {"hub_name": str(model)}, str(model).rpartition("/")[2]


def _check_saved(tokenizer: Any, folder: Path, pairs: Path) -> None:
    """Raise InputError unless the tokenizer of a saved model gives the tokens of the given one.

    Transformers chooses the class by the kind of the model.
    """
    from evenhand.io.tables import read_columns
    from evenhand.scoring.models import load_tokenizer

    loaded, texts = load_tokenizer(folder), read_columns(pairs, ["more"])["more"].to_pylist()
    if loaded(texts).input_ids != tokenizer(texts).input_ids:
        problem = f"the tokenizer, saved and loaded again, is a {type(loaded).__name__}, and gives"
        problem = f"{problem} other tokens than the one that was given"
        raise InputError(problem, file=folder, remedy="give one of the kind of the model")


def _call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Return the code of a call: arguments that are not the defaults, no absolute paths."""
    words = []
    for name, parameter in inspect.signature(function).parameters.items():
        value, default = arguments[name], parameter.default
        value = value.item() if getattr(value, "shape", None) == () else value  # of numpy
        plain = isinstance(value, str | Path | int | float | list | tuple | dict | None)
        if name == "out" or value is default or (plain and value in (default, {}, [])):
            continue
        is_model = isinstance(value, tuple) and hasattr(value[0], "save_pretrained")
        word = _word(value) if plain and not is_model else name
        is_named = parameter.kind is not parameter.POSITIONAL_OR_KEYWORD
        words.append(f"{name}={word}" if is_named else word)
    return f"import evenhand as eh\n\nresult = eh.{function.__name__}({', '.join(words)})"


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_word, value))}]"
    if isinstance(value, str | Path) and Path(value).is_absolute():
        return repr(Path(value).name)
    return repr(str(value) if isinstance(value, Path) else value)


def _pair_findings(
    rows: list[dict[str, Any]],
    delta: float,
    check: dict[str, Any] | None,
    unscored: str | None = None,
    same_word: int | None = None,
) -> list[str]:
    """Return a sentence per method, the main one first; `check` is of the model's accuracy.

    `unscored` has the pairs without a score for a reason of the model, `same_word` is that of
    ``pairs.json``.
    """
    from evenhand.core.decimals import ALPHA
    from evenhand.predictions.words import UNADJUSTED, preference
    from evenhand.report.headline import plain
    from evenhand.report.sections.stereotypes_words import (
        contradicted_types,
        gate_words,
        lacking,
        opposed_types,
        significant_types,
        with_control,
    )
    from evenhand.scoring.methods import COUNTING, METHODS

    whole = [row for row in rows if (row["subset"], row["bias_type"]) == ("all", "all")]
    controls = {row["method"]: row["control"] for row in with_control(whole)}
    whole = [
        row | {"verdict": UNADJUSTED}
        if row["verdict"] in OPPOSITE and row["p_adjusted"] >= ALPHA
        else row
        for row in whole
    ]

    def place(row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Significant scores come first, the clearest before the main ones.

        Those that are significant before adjustment only follow.
        """
        is_significant = row["verdict"] in OPPOSITE
        is_undecided = not is_significant and row["verdict"] != UNADJUSTED
        distance = 0 if is_undecided else abs(row["score"] - 50)
        counts, is_main = row["method"] in COUNTING, row["method"] in MAIN_METHODS
        return not counts, not is_significant, is_undecided, -distance, not is_main

    whole.sort(key=place)
    of_all = [row for row in rows if row["subset"] == "all"]
    counted, contradicted = significant_types(of_all), contradicted_types(of_all)
    total = len({row["bias_type"] for row in of_all} - {"all"})
    sentences = []
    for row in whole:
        is_first = row is whole[0]
        title = METHODS[row["method"]].title if row["method"] in METHODS else row["model"]
        if row["verdict"] == "not_scored":
            failed = check and not check["passed"] and check["accuracy"] is not None
            why = gate_words(row["reason"]) or [row["reason"]]
            why += [unscored] if unscored and "few_scored" in row["reason"] else []
            words = _say("no_score", why=why, check=check if failed else None)
        else:
            has_types = is_first and counted  # more pairs would not show them
            facts = row | ({"further_clusters": 0} if has_types else {})
            words = preference(facts, plural(row["scored"], "pair"), delta)
            words = _say("briefly", words, [*sentences])
        others: dict[str, dict[str, float]] = {}
        for other in whole:
            if other["method"] in COUNTING and other["verdict"] not in (
                "not_scored",
                row["verdict"],
            ):
                scores = others.setdefault(other["verdict"], {})
                scores[METHODS[other["method"]].title] = other["score"]
        if others and is_first:
            words = words.removesuffix(".") + _say("others", others)
        if (doubt := doubt_of(row)) and (is_first or row["verdict"] in OPPOSITE):
            words = f"{words} {doubt}."
        control = controls.get(row["method"], "") if row["verdict"] in OPPOSITE else ""
        if control and not any(control in sentence for sentence in sentences):
            words = f"{words} {_say('control', control)}"
        is_causal = row["method"] in METHODS and METHODS[row["method"]].family == "causal"
        if is_causal and is_first and row["verdict"] in OPPOSITE:
            words = f"{words} {plain('lm_no_control', row=row, same_word=same_word)}"
        if counted and is_first:
            scores = plain("lm_by_type", rows=counted, is_markup=False)
            facts = {"types": counted, "opposed": opposed_types(counted), "total": total}
            words = f"{words} {_say('types', scores=scores, row=row, **facts)}"
        if total > 1 and is_first:
            for why, names in lacking(of_all, "bias_type", "p_adjusted").items():
                words = f"{words} {_say('untested', names, why, total)}"
        if contradicted and is_first:
            facts = {"sides": ("the stereotype", "the anti-stereotype"), "is_markup": False}
            words = f"{words} {plain('lm_contradicted', types=contradicted, **facts)}"
        counts = row["method"] in (*COUNTING, None)
        sentences.append(_say("method", title, counts, words))
    return sentences


def _pair_notes(
    description: dict[str, Any],
    rows: list[dict[str, Any]],
    gate: dict[str, Any],
    unscored: str | None = None,
    unused: Sequence[str] = (),
) -> list[str]:
    """Return sentences on pairs without a score, doubtful pairs, and words unknown to the model.

    `unscored` has the pairs without a score for a reason of the model, `unused` the columns that
    are not read.
    """
    from evenhand.report.sections.stereotypes_measures import left_out_pairs, templates_of
    from evenhand.report.sections.stereotypes_scores import are_alike
    from evenhand.stereotypes.pairs import flag_notes
    from evenhand.stereotypes.sets.crows_pairs import NOT_GIVEN
    from evenhand.tabular.words import spelt_words

    left_out = left_out_pairs(description, rows)
    words = filter(None, (left_out, gate.get("error") or unscored))
    notes = [f"{sentence[0].upper()}{sentence[1:].rstrip('.')}." for sentence in words]
    notes += spelt_words("bias_type", description["bias_types"])
    types = description["bias_types"]
    if {*types} == {NOT_GIVEN}:
        notes.append(_say("no_types", unused))
    elif len(types) > 1 and (untyped := types.get(NOT_GIVEN)):
        notes.append(_say("untyped", count=untyped, of=description["pairs"]))
    notes += filter(None, [templates_of(description, rows)])
    if any(row["reason"] == "one_word" and row["bias_type"] == "all" for row in rows):
        notes.append(_say("one_word"))
    if are_alike(rows):
        notes.append(_say("alike"))
    notes += flag_notes(description)
    if gate["sentences_with_unknown"] >= max(1, MUCH_UNKNOWN * gate["sentences"]):
        notes.append(_say("unknown", gate=gate))
    return notes


def _table_findings(result: Result, data: dict[str, Any]) -> list[str]:
    """Return the verdict on the plain network, its groups, and the means of each reported setting.

    Means have their interval over seeds, and over people, and tests against the plain network.
    """
    from markupsafe import Markup

    from evenhand.core.decimals import ALPHA
    from evenhand.core.tables import read_tables
    from evenhand.individual.results import setting_of
    from evenhand.individual.tables.tests import BY_CONSTRUCTION
    from evenhand.report.headlines.individual_fairness import conclude

    tables = read_tables(result._tables)
    means, tests = defaultdict(dict), defaultdict(dict)
    for row in tables["grid"]:
        means[setting_of(row)][row["metric"]] = row
    for row in tables["tests"]:
        is_effect = (row["method"], row["metric"]) not in BY_CONSTRUCTION
        if row["against"] == "mlp" and row["difference"] is not None and is_effect:
            p = row["p_resampled_adjusted"]
            elsewhere = None if p is None else p < ALPHA
            tests[setting_of(row)][row["metric"]] = row | {"elsewhere": elsewhere}
    people = {
        setting_of(row): row
        for row in tables["individuals"]
        if row["group"] is None and row["label"] is None
    }
    count = sum(row["p_value"] is not None for row in tables["tests"])
    reported = {setting_of(row): row for row in tables["table_4"]}
    baselines_first = sorted(reported.items(), key=lambda item: item[1]["individual"] != "none")
    decisions_and_groups = conclude(tables, [data], result._delta)[1][:2]
    sentences = [Markup(words).striptags() for words in decisions_and_groups]
    for setting, row in baselines_first:
        facts = {"means": means[setting], "tests": tests[setting], "count": count}
        sentences.append(_say("setting", row, people=people.get(setting, {}), **facts))
    return sentences


def _doubts(result: Result) -> list[str]:
    """Return notes on rows left out, blank cells, copies, and features that give the label."""
    from evenhand.individual.tables.findings import DOUBTS

    tables = result.tables
    sentences = tables["findings"].set_index("finding")["sentence"]
    notes = [sentence for finding, sentence in sentences.items() if finding in DOUBTS]
    accuracies = tables["grid"].query("metric == 'acc'")["mean"]
    if (accuracies == 100).any() and not {*sentences.index}.intersection(DOUBTS[1:]):
        notes.append(_say("perfect"))
    return notes


def _card(
    title: str,
    findings: list[str],
    table: "pd.DataFrame",
    units: Mapping[str, str],
    call: str,
    note: str = "",
) -> str:
    """Return the findings, a table with a note, and the call that made them as Markdown.

    `units` are those of the columns of the table.
    """
    from evenhand.io.markdown import render
    from evenhand.predictions.words import TITLES
    from evenhand.text.catalogue import verdict_words

    def in_words(name: str, cell: Any) -> str:
        code = str(cell)
        if name == "verdict":
            return verdict_words(code) or code
        return TITLES.get(code, code.replace("_", " ")) if name == "metric" else code

    columns = [name for name in table if table[name].notna().any()]
    rows = []
    for row in table[columns].itertuples(index=False):
        known = ("" if cell is None or cell != cell else cell for cell in row)
        cells = (
            as_cell(cell, units[name]) if isinstance(cell, float) else in_words(name, cell)
            for name, cell in zip(columns, known, strict=True)
        )
        rows.append([cell.replace("|", "\\|") for cell in cells])
    facts = {"title": title, "findings": findings, "rows": rows, "call": call}
    facts["columns"] = [name.replace("_", " ") for name in columns]
    facts |= {"note": note}
    return render(Path(located("workflow/evenhand/report/cards/audit_card.md.jinja")), facts)
