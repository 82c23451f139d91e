"""Parameters of single methods in a comparison."""

import numpy as np
import pytest

import lowdim


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 4))


def test_a_method_gets_its_own_and_keeps_the_rest(X):
    c = lowdim.compare(X, methods=["isomap", "lle"], parameters={"Isomap": {"n_neighbors": 17}}, verdict=False)
    assert c.models["isomap"].n_neighbors == 17
    assert c.models["lle"].n_neighbors == lowdim.LLE().n_neighbors
    alone = lowdim.Isomap(2, n_neighbors=17).fit_transform(X)
    assert np.allclose(c.embeddings["isomap"], alone)


def test_what_the_data_asks_for_stays(rng):
    table = {"a": rng.normal(size=40).tolist(), "b": ["u", "v"] * 20, "c": ["p", "q", "r", "s"] * 10}
    c = lowdim.compare(table, methods=["isomap"], parameters={"isomap": {"n_neighbors": 9}}, verdict=False)
    assert c.models["isomap"].metric == "gower"
    assert c.models["isomap"].n_neighbors == 9


def test_pca_with_other_parameters_is_no_baseline(X):
    c = lowdim.compare(X, methods=["pca"], parameters={"pca": {"n_components": 3}}, verdict=False)
    assert {o.name: (o.baseline, o.n_components) for o in c.outcomes if o.name != "random"} == {
        "pca": (False, 3), "pca-2": (True, 3),
    }  # fmt: skip


@pytest.mark.parametrize(("given", "kind", "message"), [
    ({"isomap": {"n_neigbors": 3}}, ValueError, "isomap has no parameter 'n_neigbors'. Did you mean 'n_neighbors'"),
    ({"umap": {"n_neighbors": 3}}, ValueError, "for umap, which is not among the methods that run (isomap)"),
    ({"isomab": {"n_neighbors": 3}}, ValueError, "got 'isomab'. Did you mean 'isomap'"),
    ({"isomap": 3}, TypeError, "parameters must be a dictionary of dictionaries"),
])  # fmt: skip
def test_mistakes_are_said_before_anything_runs(X, given, kind, message):
    with pytest.raises(kind) as caught:
        lowdim.compare(X, methods=["isomap"], parameters=given)
    assert message in str(caught.value)
