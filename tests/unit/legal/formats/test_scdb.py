import pytest

from evenhand.legal.formats import scdb
from unit.legal.made_records import table


@pytest.mark.parametrize(*table("citations"))
def test_keys_of_citations(text, key):
    assert scdb.citation_key(text) == (key or "")


@pytest.mark.parametrize(*table("dockets"))
def test_keys_of_dockets(text, key):
    assert scdb.docket_key(text) == (key or "")


def test_names_that_say_nothing_do_not_decide():
    assert not scdb.party_words("UNITED STATES v. STATE et al.")
    assert scdb.party_words("V.L. v. E.L.") == scdb.party_words("VL v. EL") == {"vl", "el"}
