"""The table of methods and the names people type."""

import re
from pathlib import Path

import pytest

import lowdim
from lowdim.study.method_list import class_name
from lowdim.study.methods import GROUPS, by_group, find, has_scale, method_of, methods

ALL = [method for method in methods().values() if ":" not in method.home]
OWN = [method for method in ALL if not method.preset]


def test_every_public_estimator_has_a_name_and_every_name_an_estimator():
    assert {method.home for method in ALL} == set(lowdim._ESTIMATORS)
    assert len({method.home for method in OWN}) == len(OWN)


@pytest.mark.parametrize("name", [method.name for method in ALL if method.preset])
def test_a_preset_is_found_again(name):
    estimator = find(name).estimator(n_components=3)
    assert method_of(estimator) is find(name)
    assert class_name(estimator) == name
    assert estimator.n_components == 3


def test_every_method_is_in_a_group():
    assert {method.group for method in methods().values()} == set(GROUPS)
    assert sum(map(len, by_group().values())) == len(methods())


@pytest.mark.parametrize("name", [m.name for m in methods().values() if m.library])
def test_a_library_that_is_not_there_is_named_with_the_way_to_install_it(name, monkeypatch):
    monkeypatch.setattr("lowdim.study.methods.find_spec", lambda name: None)
    assert not find(name).installed
    with pytest.raises(ImportError, match=f"{name} needs .*pip install {find(name).package}"):
        find(name).estimator()


@pytest.mark.parametrize("name", [method.name for method in OWN])
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
    assert set(told) == {method.home for method in ALL}
    for method in ALL:
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
