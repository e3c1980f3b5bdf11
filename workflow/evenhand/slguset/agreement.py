"""Agreement of the annotators, and how often each is right."""

from collections import Counter
from collections.abc import Iterator, Sequence

from evenhand.core.tables import Row, Table, integer, number, share, text
from evenhand.slguset.annotation import ANSWERS, Judged
from evenhand.slguset.keywords import GENDERS
from evenhand.slguset.surface_pairs import surface_pair

AGREEMENT = Table(
    "agreement",
    title="Agreement between annotators, per pair and overall",
    key=("pair",),
    columns=(
        text("pair", "Surface pair, or all"),
        integer("n", "Sentences with all their answers"),
        integer("unanimous", "Sentences that all annotators answered alike"),
        share("percent_agreement", "Pairs of annotators that agree"),
        number("fleiss_kappa"),
        number("krippendorff_alpha", "For nominal data"),
        share("estimated_accept", "Sentences to accept, estimated by Dawid and Skene (1979)"),
        integer("adjudicated", "Sentences that the adjudicator decided"),
        integer("waiting", "Sentences that lack answers"),
        text("note", "Why a measure is not defined"),
    ),
    form="",
)

ANNOTATORS = Table(
    "annotators",
    title="How often each annotator gave each answer",
    key=("annotator",),
    columns=(
        text("annotator"),
        *map(integer, ("answers", *ANSWERS)),
        integer("waiting", "Sentences handed out to them that lack their answer and others"),
        share("accuracy", "Answers that are right, estimated by Dawid and Skene (1979)"),
    ),
)

#: Why a row has no kappa and no alpha.
ONE_ANSWER = "all answers are the same: kappa and alpha are not defined"
UNEQUAL = "sentences have different numbers of answers: kappa is not defined"

#: The least numbers for estimates of who is right, and the least Krippendorff's alpha: two
#: annotators, few sentences or agreement near chance do not identify it.
LEAST_ANNOTATORS, LEAST_SENTENCES, LEAST_ALPHA = 3, 30, 0.2


class Agreement:
    """Agreement on judged sentences, and the estimates of Dawid and Skene (1979)."""

    def __init__(self, judged: Sequence[Judged], values: Sequence[str] = GENDERS):
        import numpy as np

        from evenhand.metrics.agreement import MISSING, dawid_skene, krippendorff_alpha

        self.judged, self.values = judged, values
        self.complete = [one for one in judged if one.complete()]
        self.names = sorted({answer["annotator"] for one in judged for answer in one.answers})
        place = {name: number for number, name in enumerate(self.names)}
        self.codes = np.full((len(self.complete), len(self.names)), MISSING)
        for codes, one in zip(self.codes, self.complete, strict=True):
            for answer in one.answers:
                codes[place[answer["annotator"]]] = ANSWERS.index(answer["answer"])
        self.truths = None
        if len(self.names) >= LEAST_ANNOTATORS and len(self.complete) >= LEAST_SENTENCES:
            alpha = krippendorff_alpha(self.codes)
            truths = len(ANSWERS) - 1  # a sentence is to accept or to reject; `unsure` is no truth
            if alpha is None or alpha >= LEAST_ALPHA:
                self.truths = dawid_skene(self.codes, len(ANSWERS), truths=truths)

    def rows(self, pairs: Sequence[str]) -> Iterator[Row]:
        """Yield a row of AGREEMENT per pair with a sentence, in the order of `pairs`, and all."""
        groups: dict[str, list[Judged]] = {pair: [] for pair in pairs}
        for one in self.judged:
            groups.setdefault(surface_pair(one.row, self.values), []).append(one)
        for pair, group in groups.items():
            if group:
                yield self._row(pair, group)
        yield self._row("all", self.judged)

    def _row(self, pair: str, group: Sequence[Judged]) -> Row:
        from evenhand.metrics import agreement

        ids = {id(one) for one in group}
        chosen = [number for number, one in enumerate(self.complete) if id(one) in ids]
        codes = self.codes[chosen]
        row = {
            "pair": pair,
            "n": len(chosen),
            "unanimous": sum(one.unanimous() for one in group),
            "adjudicated": sum(one.ruling is not None for one in group),
            "waiting": sum(not one.complete() for one in group),
        }
        if not chosen:
            return row | {"note": "there is no sentence with all its answers"}
        if self.truths is not None:
            row["estimated_accept"] = self.truths.shares[chosen, ANSWERS.index("accept")].mean()
        if len(self.names) < 2:
            return row | {"note": "there is one annotator"}
        row["percent_agreement"] = agreement.percent_agreement(codes)
        row["fleiss_kappa"] = agreement.fleiss_kappa(codes)
        row["krippendorff_alpha"] = agreement.krippendorff_alpha(codes)
        if row["krippendorff_alpha"] is None:
            row["note"] = ONE_ANSWER
        elif row["fleiss_kappa"] is None:
            row["note"] = UNEQUAL
        return {key: round(one, 6) if isinstance(one, float) else one for key, one in row.items()}

    def annotator_rows(self) -> Iterator[Row]:
        """Yield a row of ANNOTATORS per annotator who has an answer or should have, sorted."""
        given = Counter(
            (one["annotator"], one["answer"]) for each in self.judged for one in each.answers
        )
        missing = Counter(
            name
            for one in self.judged
            if not one.complete()
            for name in one.row["assigned"]
            if name not in {answer["annotator"] for answer in one.answers}
        )
        for name in sorted({*self.names, *missing}):
            counts = {answer: given[name, answer] for answer in ANSWERS}
            row = {"annotator": name, "answers": sum(counts.values())} | counts
            row["waiting"] = missing[name]
            if self.truths is not None and name in self.names:
                row["accuracy"] = round(float(self.truths.accuracy[self.names.index(name)]), 6)
            yield row
