import pytest

from evenhand.certificates.dose_response import dose_row, dose_table
from evenhand.certificates.study import CERTIFICATE, Finding, judge
from evenhand.core.tables import write_tables
from evenhand.report.write_certificate_page import write_certificate_page
from unit.report import checks
from unit.report.checks import HOSTILE


@pytest.fixture
def page(templates, tmp_path):
    def made(*findings, doses=()):
        rows = [
            dose_row([effect] * 6, list("abcdef"), dose)
            | {"language": "english", "family": "masked", "method": HOSTILE, "seed": 0}
            | {"new_frames": False}
            for dose, effect in doses
        ]
        known = {("pairs", "m", "known"): HOSTILE}
        verdicts = [judge("pairs", one, known) for one in findings]
        tables = [(CERTIFICATE, verdicts), (dose_table("pairs", "Scores"), rows)]
        write_tables(tmp_path / "certificate", tables)
        out = tmp_path / "certificate.html"
        counts = write_certificate_page(
            templates=templates, certificate=tmp_path / "certificate", out=out
        )
        return checks.parse(out), counts

    return made


def test_each_verdict_is_shown_with_its_bounds(page):
    tree, counts = page(
        Finding("m", "held", 0.95, least=0.9),
        Finding("m", "failed", 0.5, least=0.9),
        Finding("m", "known", None, least=0.9),
        Finding(HOSTILE, "shown", 3.0),
        doses=[(0, 0.1), (0.5, 1.0), (1, 2.0)],
    )
    assert {name: counts[name] for name in ("certified", "failed", "known_failure", "shown")} == (
        dict.fromkeys(("certified", "failed", "known_failure", "shown"), 1)
    )
    rows = [[cell.text() for cell in row.css("td")] for row in tree.css("#pairs tbody tr")]
    assert rows[0][:5] == ["held", "0.95", "0.90", "", "certified"]
    assert rows[1][4] == "failed" and rows[2][1] == "–"
    assert rows[3][4] == "no requirement"
    assert len(tree.css("#pairs .chart")) == 1
    checks.check_usable(tree)
    checks.check_no_request(tree)


def test_what_is_delivered_can_be_shown(templates, repository, tmp_path):
    out = tmp_path / "certificate.html"
    counts = write_certificate_page(
        templates=templates, certificate=repository / "resources/certificate", out=out
    )
    assert counts["certified"] and not counts["failed"]
    checks.check_usable(checks.parse(out))
