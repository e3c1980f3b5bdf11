"""The cases behind the metrics of groups, of predictions made elsewhere and of classifiers."""

from functools import cached_property

import numpy as np

from evenhand.comparison.items.common import Items, audit_folder, cases_of_audit
from evenhand.comparison.results import Results
from evenhand.io.documents import read_description
from evenhand.legal.classifier_study import SETTING_KEY
from evenhand.predictions.read import CASE_COLUMNS, Predictions, one_hot
from evenhand.predictions.study import Metric, PredictionStudy
from evenhand.predictions.words import ALL


class Store:
    """The cases of an audit: of ``tables/predictions/{name}/groups.csv``."""

    def __init__(self, results: Results, table: str) -> None:
        self.results = results
        self.folder = audit_folder(results, table)

    @cached_property
    def study(self) -> PredictionStudy | None:
        """The audited predictions; None where the folder does not have all of them."""
        meta = self.folder / "meta.json"
        if not meta.is_file():
            return None
        description = read_description(meta, {"name"}, "the audit")
        if trained := description.get("trained"):
            return self._trained(trained, description.get("positive"))
        columns = [*CASE_COLUMNS, *description["groups"]]
        if (cases := cases_of_audit(self.folder, columns)) is None:
            return None
        table = cases.to_pandas()
        classes, positive = description["classes"], description.get("positive")
        places = {name: place for place, name in enumerate(classes)}
        true, predicted = (
            one_hot(table[name].map(places).to_numpy(), classes) for name in ("label", "prediction")
        )
        return PredictionStudy(
            Predictions(
                id=table["id"].to_numpy(dtype=str),
                classes=classes,
                true=true,
                predicted=predicted[None],
                positive=places.get(positive),
                probabilities=None,
                groups={name: table[name].to_numpy(dtype=str) for name in description["groups"]},
                clusters=table["cluster"].to_numpy(dtype=str),
            )
        )

    def _trained(self, setting: dict[str, str], positive: str | None) -> PredictionStudy | None:
        """Read the predictions of all seeds of a classifier, as its audit does."""
        from evenhand.predictions.audit_classifier import read_classifier

        data, files = self.results.training(*(setting[name] for name in SETTING_KEY))
        if not files or not data.is_file():
            return None
        return PredictionStudy(read_classifier(data, files, positive).predictions)

    def items(self, key: dict[str, str], column: str) -> Items | None:
        """Return the cases of a metric of a group, or of its difference from the others.

        Of a difference, and of macro-F1, the values are its influences added to the number. None of
        a calibration error.
        """
        if (study := self.study) is None:
            return None
        metric = Metric(key["metric"], key["label"] or None)
        codes, code = np.zeros(len(study.predictions.id), dtype=int), 0
        if key["attribute"] != ALL:
            named = [each for each in study.attributes if each.name == key["attribute"]]
            if not named or key["group"] not in named[0].values:
                return None
            codes, code = named[0].codes, named[0].values.index(key["group"])
        if metric not in study.metrics or metric.metric == "ece":
            return None
        if column == "value":
            chosen = codes == code
            values = study.pseudo_values(metric, [chosen])
            runs, counted, parts = study.of_runs(metric, chosen), np.isfinite(values), []
        else:
            sides = study.sides(metric, codes, code)
            if sides is None or sides.reason:
                return None
            runs, counted = sides.runs, np.logical_or(*sides.counted)
            means = [part.mean() for part in sides.values]
            values = np.full(len(counted), means[0] - means[1])
            for sign, part, mean, of_part in zip(
                (1, -1), sides.values, means, sides.counted, strict=True
            ):
                values[of_part] += sign * counted.sum() / len(part) * (part - mean)
            parts = [sides.counted[0][counted].astype(str), np.ones(counted.sum())]
        clusters = np.char.replace(study.predictions.clusters, "\0", "\1")
        names = study.predictions.id[counted]
        return Items(names, clusters[counted], values[counted], runs, *parts)
