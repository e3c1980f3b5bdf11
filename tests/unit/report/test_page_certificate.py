from unit.report import checks


def test_the_delivered_certificate_can_be_shown(write, repository):
    tree = write("certificate", [repository / "resources/certificate"])
    lead = tree.css_first(".lead").text()
    assert "Not all: 143 of 166 measures with a requirement meet it. The 23 others: " in lead
    assert "none of them without a known reason. 214 further measures" in lead
    assert len(tree.css("main > details tbody tr")) == 23
    assert "but 42\u00a0% with iifr_text, cosine pairs" in tree.css_first("#mitigation p").text()
    checks.check_usable(tree)
