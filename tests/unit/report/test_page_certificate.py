from unit.report import checks


def test_the_delivered_certificate_can_be_shown(write, repository):
    tree = write("certificate", [repository / "resources/certificate"])
    lead = tree.css_first(".lead").text()
    assert "measures are within their required bounds" in lead and lead.endswith(
        "and 0 fail otherwise."
    )
    checks.check_usable(tree)
