from evenhand.report.write_certificate_page import write_certificate_page
from unit.report import checks


def test_what_is_delivered_can_be_shown(templates, repository, tmp_path):
    out = tmp_path / "certificate.html"
    counts = write_certificate_page(
        templates=templates, certificate=repository / "resources/certificate", out=out
    )
    assert counts["certified"] and not counts["failed"]
    checks.check_usable(checks.parse(out))
