"""All result tables of a data set of cases: each module of `evenhand.legal.case_tables` is one."""

from typing import Annotated, Any

from evenhand.core.families import load_members
from evenhand.core.stage import Input, Output, Range, checked
from evenhand.core.tables import tabulate
from evenhand.legal import case_tables
from evenhand.legal.built import CaseStudy
from evenhand.legal.findings import findings_files


@checked
def tabulate_cases(
    *,
    data: Input,
    claims: Input,
    words: Input,
    out: Output,
    dataset: str,
    published: bool = False,
    findings: Input | None = None,
    tokens: list[Input] | None = None,
    metas: list[Input] | None = None,
    permutations: Annotated[int, Range(least=100)] = 1000,
) -> dict[str, Any]:
    """Compute the tables of a data set of legal cases.

    Parameters
    ----------
    data : path
        {dataset}.parquet.
    claims : path
        Shares that FairLex's text states (published_cross.csv).
    words : path
        Words of outcomes (outcome_words.csv).
    out : path
        The folder of the tables; see `evenhand.core.tables`.
    dataset : str
        The name of the data set in the tables.
    published : bool
        Whether the cases are FairLex's own. If not, verdicts on published values are not_run.
    findings : path, optional
        The folder of `find_attributes`.
    tokens, metas : list of path, optional
        The output of `tokenise_cases` on this data set, one pair per tokenizer.
    permutations : int
        Random parts and random groups of cases.

    Raises
    ------
    InputError
        The inputs do not belong together, or one of them is damaged.
    """
    study = CaseStudy(
        data,
        published=published,
        claims=claims,
        words=words,
        findings=findings_files(findings)[1] if findings else {},
        tokens=list(zip(tokens or [], metas or [], strict=True)),
        permutations=permutations,
    )
    return tabulate(out, load_members(case_tables), study, {"dataset": dataset})
