"""The headline of predictions that were made elsewhere, and the page that begins with it."""

import pytest

from evenhand.predictions.audit_predictions import audit_predictions
from evenhand.report.headlines.predictions import conclude, describe
from unit.predictions.test_audit_predictions import people


@pytest.fixture
def audited(tmp_path):
    """The description and the folder of tables of an audit, by their places below the results."""

    def made(name, shift):
        file = tmp_path / f"{name}.csv"
        people(shift=shift).to_csv(file, index=False)
        meta = tmp_path / "predictions" / name / "meta.json"
        tables = tmp_path / "tables/predictions" / name
        meta.parent.mkdir(parents=True)
        tables.parent.mkdir(parents=True, exist_ok=True)
        audit_predictions(
            files=[file], label="y", prediction="p", groups=["group"], name=name,
            title=f"<{name}>", out=tables, cases=meta.with_name("cases"), meta=meta,
        )  # fmt: skip
        return [meta, tables]

    return made


def test_the_set_with_the_clearest_gap_comes_first(audited):
    found = describe([*audited("fair", 0.0), *audited("unfair", 0.2)], {})
    assert found.strength > 1
    assert found.sentence.startswith("<bdi>&lt;unfair&gt;</bdi>: ")
    assert "differs by group" in found.sentence and "95 % CI" in found.sentence
    assert found.figure_files == [
        f"tables/predictions/unfair/{one}.csv" for one in ("gaps", "groups")
    ]
    fair = describe(audited("other", 0.0), {})
    assert fair.strength == 0
    assert "is significantly larger than between random groups" in fair.sentence
    assert conclude([]).sentence == "There are no predictions."
