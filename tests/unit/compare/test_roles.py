import importlib

import pytest

from evenhand.compare.roles import ROLES, read_roles, role_of
from evenhand.errors import InputError
from evenhand.individual import (
    check_paper,
    compare_methods,
    find_fronts,
    sweep_lambdas,
    tabulate_results,
)
from evenhand.legal import (
    check_leakage,
    compare_objectives,
    count_rules,
    cross_attributes,
    explain_groups,
    measure_calibration,
    measure_lengths,
    measure_shift,
    read_audit,
    tabulate_classifiers,
    tabulate_curves,
)
from evenhand.slguset import correlate_methods
from evenhand.slguset.tables import correlations, models, pairs, variants
from evenhand.stereotypes import (
    check_released,
    compare_compat,
    compare_models,
    measure_accuracy,
    measure_all_masked,
    measure_length,
    measure_stereoset,
    meta_evaluate,
    summarise_scores,
)
from evenhand.tabular import describe_table

FAMILIES = read_roles(ROLES)

HEADERS = {
    "tables/slguset_bias.csv": models.HEADER,
    "tables/slguset_published_bias_by_pair.csv": pairs.HEADER,
    "tables/slguset_bias_variants.csv": variants.HEADER,
    "tables/slguset_bias_correlations.csv": correlations.HEADER,
    "tables/slguset_bias_methods.csv": correlate_methods.HEADER,
    "tables/a_bias_scores.csv": summarise_scores.HEADER,
    "tables/a_models.csv": summarise_scores.MODELS_HEADER,
    "tables/a_model_comparisons.csv": compare_models.HEADER,
    "tables/a_token_accuracy.csv": measure_accuracy.HEADER,
    "tables/a_all_masked.csv": measure_all_masked.HEADER,
    "tables/a_length.csv": measure_length.HEADER,
    "tables/a_stereoset.csv": measure_stereoset.HEADER,
    "tables/a_meta_evaluation.csv": meta_evaluate.HEADER,
    "tables/a_compat.csv": compare_compat.HEADER,
    "tables/a_auc_tests.csv": meta_evaluate.TESTS_HEADER,
    "tables/stereoset_released.csv": check_released.HEADER,
    "tables/iifr_sweeps.csv": sweep_lambdas.HEADER,
    "tables/iifr_tests.csv": compare_methods.HEADER,
    "tables/iifr_fronts.csv": find_fronts.HEADER,
    "tables/iifr_table_4.csv": tabulate_results.HEADER,
    "tables/iifr_inconsistencies.csv": check_paper.HEADER,
    "tables/a_groups.csv": describe_table.HEADER,
    "tables/legal_a_audit.csv": read_audit.HEADER,
    "tables/legal_a_calibration.csv": measure_calibration.HEADER,
    "tables/legal_a_calibration_bins.csv": measure_calibration.BINS_HEADER,
    "tables/legal_a_curves.csv": tabulate_curves.HEADER,
    "tables/legal_a_cross.csv": cross_attributes.HEADER,
    "tables/legal_a_leakage.csv": check_leakage.HEADER,
    "tables/legal_a_lengths.csv": measure_lengths.HEADER,
    "tables/legal_a_rules.csv": count_rules.HEADER,
    "tables/legal_a_shift.csv": measure_shift.HEADER,
    "tables/legal_a_table_2.csv": explain_groups.HEADER,
    "tables/legal_a_table_4.csv": tabulate_classifiers.HEADER,
    "tables/legal_a_tests.csv": compare_objectives.HEADER,
}


@pytest.mark.parametrize("name", HEADERS)
def test_the_columns_are_those_that_the_stages_write(name):
    role = role_of(name, FAMILIES)
    columns = {*role.keys}
    for number in role.numbers:
        columns |= {
            number.value,
            number.low,
            number.high,
            *filter(None, [number.count, number.clusters]),
        }
    assert columns and columns <= {*HEADERS[name]}


def test_whatever_has_an_interval_in_a_table_is_compared():
    for name, header in HEADERS.items():
        values = {number.value for number in role_of(name, FAMILIES).numbers}
        with_borders = {one for one in header if {f"{one}_low", f"{one}_high"} <= {*header}}
        # seeds is a count there, and its borders are the difference's over seeds
        assert with_borders - {"seeds"} <= values, name


def test_the_modules_that_find_items_exist():
    named = {number.items for one in FAMILIES for number in one.numbers if number.items}
    assert named == {"slguset_bias", "pair_scores"}
    for name in named:
        assert importlib.import_module(f"evenhand.compare.items.{name}").Store


def test_the_first_family_that_fits_counts():
    assert role_of("tables/legal_a_group_scores.csv", FAMILIES).numbers[0].value == "score"
    assert [n.value for n in role_of("tables/legal_a_scores.csv", FAMILIES).numbers] == [
        "overall",
        "mean",
        "gd",
        "worst",
    ]
    assert role_of("tables/nothing.csv", FAMILIES) is None


HEADER = "table,keys,value,low,high,count,clusters,neutral,items\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("t,a,v,,,,,,", "no interval or no keys"),
        ("t,,v,l,h,,,,", "no interval or no keys"),
        ("t,a,v,l,h,,,x,", "is no number"),
        ("t,a,v,l,h,,,,\nt,b,w,l,h,,,,", "other keys"),
        ("t,a,,,,,,0,", "not which"),
        ("t,a,v,l,h,,,,\nt,a,v,l,h,,,,", "says the same"),
    ],
)
def test_mistakes_in_the_table_are_told(tmp_path, rows, message):
    path = tmp_path / "compare.csv"
    path.write_text(f"{HEADER}{rows}\n")
    with pytest.raises(InputError, match=message):
        read_roles(path)
