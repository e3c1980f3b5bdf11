import pytest

from evenhand.errors import InputError
from evenhand.stereotypes.passes import choose_methods, passes_for


def test_only_the_passes_that_are_needed():
    assert passes_for("masked", ["aula"]) == ["unmasked"]
    assert passes_for("masked", ["sss", "cps"]) == ["cps", "sss"]
    assert passes_for("masked", ["cps"], accuracy=True) == ["unmasked", "cps"]
    assert passes_for("causal", ["log_likelihood"]) == ["causal"]
    assert passes_for("masked", []) == []


def test_methods_are_those_of_the_family():
    assert choose_methods(["log_likelihood", "sss", "aul"], "masked") == ["aul", "sss"]
    assert choose_methods(None, "causal") == ["log_likelihood", "log_likelihood_per_token"]
    with pytest.raises(InputError, match="no method 'AUL'"):
        choose_methods(["AUL"], "masked")
