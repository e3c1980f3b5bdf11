"""All tables of a data set's classifiers: each module of `evenhand.legal.classifier_tables`."""

from typing import Annotated, Any

from evenhand.core.families import load_members
from evenhand.core.stage import Count, Delta, Input, Output, Range, checked
from evenhand.core.tables import tabulate
from evenhand.legal import classifier_tables
from evenhand.legal.built import BuiltCases
from evenhand.legal.classifier_study import ClassifierStudy, read_scored


@checked
def tabulate_classifiers(
    *,
    data: Input,
    predictions: list[Input],
    histories: list[Input],
    cases: Input,
    scores: Input,
    claims: Input,
    out: Output,
    dataset: str,
    linear: list[str] | None = None,
    transformer: list[str] | None = None,
    select: list[str] | None = None,
    compat_objectives: list[str] | None = None,
    rates: bool = False,
    positive: str | None = None,
    splits: list[str] | None = None,
    delta: Delta = 5.0,
    permutations: Annotated[int, Range(least=100)] = 1000,
    swaps: Count = 4999,
) -> dict[str, Any]:
    """Compute the tables of the classifiers that are trained on a data set.

    A training that used the groups of an attribute is scored for that attribute; one that used
    none (such as ERM) for all. Cases of an unknown group count only where all cases do.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    predictions, histories : list of path
        The output of the training stages; each training once.
    cases : path
        The folder that `tabulate_cases` wrote of the data set.
    scores, claims : path
        Published values (published_scores.csv, published_claims.csv).
    out : path
        The folder of the tables; see `evenhand.core.tables`.
    dataset : str
        The name of the data set in the tables.
    linear, transformer : list of str, optional
        The classifiers that reproduce the paper's linear classifier and its hierarchical
        transformer. The claims of its text are about the latter.
    select : list of str, optional
        ``classifier=score``: the development score by which a classifier's epochs are chosen, if
        it is not macro_f1.
    compat_objectives : list of str, optional
        The objectives that ran as in the published code.
    rates, positive : bool, str, optional
        Whether gaps of rates are compared with those of plain training, and the label that they
        are of, as in `evenhand.predictions.audit_classifier`.
    splits : list of str, optional
        The splits that are scored; dev and test by default.
    delta : float
        The smallest difference that matters, in points.
    permutations, swaps : int
        Random groups and random swaps of predictions. All trainings see the
        same draws.

    Raises
    ------
    InputError
        The predictions are not of these cases, or a draw has no samples.
    """
    splits = ["dev", "test"] if splits is None else splits
    built = BuiltCases(data)
    scored, runs = read_scored(built, predictions, splits)
    stands_for = dict.fromkeys(linear or [], "linear")
    study = ClassifierStudy(
        data=built,
        cases=scored,
        runs=runs,
        predictions=predictions,
        histories=histories,
        case_tables=cases,
        scores=scores,
        claims=claims,
        stands_for=stands_for | dict.fromkeys(transformer or [], "transformer"),
        select=dict(choice.split("=", 1) for choice in select or []),
        compat_objectives=tuple(compat_objectives or ()),
        positive=built.dataset.positive_place(positive) if rates else None,
        splits=tuple(splits),
        delta=delta,
        permutations=permutations,
        swaps=swaps,
    )
    return tabulate(out, load_members(classifier_tables), study, {"dataset": dataset})
