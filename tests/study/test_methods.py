"""The table of methods and the names people type."""

import re
from pathlib import Path

import pytest

import lowdim
from lowdim.study.method_list import class_name
from lowdim.study.methods import find, has_scale, method_of, methods

# They need labels or a second table, or keep every column: no picture of a table alone.
# A principal curve has one coordinate. Of a table of numbers FAMD draws what PCA draws of scaled columns; MCA takes
# categories, CA counts. Columns as they are, scaled columns and random directions are no map of a table.
NO_PICTURE = {
    *("LDA", "CCA", "KernelCCA", "Whitening", "FAMD", "MCA", "CA", "PrincipalCurve"),
    *("TruncatedSVD", "RandomProjection", "ColumnSelection", "MinMax"),
}


def test_every_public_estimator_has_a_line_and_every_line_an_estimator():
    assert {method.home for method in methods().values()} == set(lowdim._ESTIMATORS) - NO_PICTURE


@pytest.mark.parametrize("name", list(methods()))
def test_a_name_is_the_class_name_in_lower_case_with_dashes(name):
    estimator = find(name).estimator()
    assert type(estimator) is getattr(lowdim, methods()[name].home)
    assert class_name(estimator) == name
    assert method_of(estimator) is methods()[name]


@pytest.mark.parametrize("typed", ["kernel-pca", "Kernel-PCA", "kernel_pca", "KernelPCA", " kernel-pca "])
def test_names_are_found_however_they_are_written(typed):
    assert find(typed).name == "kernel-pca"


def test_unknown_name_lists_the_known_ones_and_the_nearest():
    with pytest.raises(ValueError, match=r"one of pca, .*isomap, .*; got 'isomapp'\. Did you mean 'isomap'\?"):
        find("isomapp")
    with pytest.raises(ValueError, match=r"fit: method must be one of .*; got 'zzz'\.$"):
        find("zzz", "fit")


def test_parameters_a_class_does_not_have_are_left_out():
    made = find("pca").estimator(n_components=3, n_neighbors=5)
    assert made.n_components == 3
    assert not hasattr(made, "n_neighbors")


def test_the_table_of_the_documentation_says_the_same():
    text = (Path(__file__).resolve().parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \|(.*)\|$", text, flags=re.M)
    told = {name: [cell.strip() for cell in rest.split("|")] for name, rest in lines}
    assert set(told) == {method.home for method in methods().values()} | NO_PICTURE
    for method in methods().values():
        linear, keeps, kind, new_rows, inverse = told[method.home][:5]
        assert linear.startswith("yes") == method.linear
        assert keeps.split(",")[0] == method.view
        assert kind == method.idea
        assert hasattr(method.estimator(), "transform") == (new_rows != "no")
        assert hasattr(method.estimator(), "inverse_transform") == (inverse != "no")


def test_a_stranger_has_no_scale():
    from sklearn.decomposition import PCA

    assert has_scale(lowdim.PCA())
    assert not has_scale(lowdim.KernelPCA())
    assert not has_scale(PCA())
