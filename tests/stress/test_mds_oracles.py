"""MDS against smacof, MASS::sammon, MASS::isoMDS and MASS::Shepard: their stress or less, by their definitions."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import lowdim
from lowdim._core.tables.align import procrustes
from lowdim.stress._monotone import Order
from tests.linear.pca.test_pca import numeric
from tests.oracles import case, load_expected

SETTINGS = {
    "smacof_interval_morse_dissim": {"level": "interval"},
    "smacof_mspline_eurodist": {"level": "spline"},
    "smacof_mspline_morse_dissim": {"level": "spline"},
    "smacof_ordinal_primary_eurodist": {"level": "ordinal"},
    "smacof_ordinal_primary_morse_dissim": {"level": "ordinal"},
    "smacof_ordinal_secondary_ekman_dissim": {"level": "ordinal", "ties": "secondary"},
    "smacof_ordinal_secondary_eurodist": {"level": "ordinal", "ties": "secondary"},
    "smacof_ordinal_secondary_morse_dissim": {"level": "ordinal", "ties": "secondary"},
    "smacof_ordinal_tertiary_eurodist": {"level": "ordinal", "ties": "tertiary"},
    "smacof_ratio_ekman_dissim": {},
    "smacof_ratio_eurodist": {},
    "smacof_ratio_morse_dissim": {},
}


def table(case_id):
    D = numeric(case(case_id)["inputs"][0].removesuffix(".csv"))
    return D[:, -len(D) :]  # a column of numeric names may come first


def scaling(**settings):
    return lowdim.MDS(2, metric="precomputed", tol=1e-11, max_iter=5000, **settings)


@pytest.mark.parametrize("solver", ["accelerated", "majorize"])
@pytest.mark.parametrize("name", SETTINGS)
def test_smacof(name, solver):
    """Its stress is ours at the best size. From the same start both end in the same configuration."""
    D, expected = table(name), case(name)["scalars"]["stress"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dissimilarities that no points can have
        start = lowdim.ClassicalMDS(2, metric="precomputed").fit_transform(D)
    model = scaling(solver=solver, init=start, **SETTINGS[name]).fit(D)
    assert model.stress_scale_optimal_ == pytest.approx(expected, rel=1e-4)
    assert np.sqrt(model.loss_) == pytest.approx(model.stress_scale_optimal_, rel=1e-6)
    fit = procrustes(load_expected(name, "conf.csv"), model.embedding_)
    assert fit.disparity < 1e-4
    np.testing.assert_allclose(100 * model.stress_per_point_, load_expected(name, "spp.csv"), atol=0.05)


def test_negative_disparities_of_an_interval_scale_are_those_of_smacof():
    name = "smacof_interval_morse_dissim"
    model, expected = scaling(level="interval").fit(table(name)), squareform(load_expected(name, "dhat.csv"))
    assert expected.min() < 0
    scale = np.sqrt((model.disparities_**2).sum() / (expected**2).sum())
    np.testing.assert_allclose(model.disparities_ / scale, expected, atol=1e-3)


def test_disparities_of_smacof():
    name = "smacof_ordinal_secondary_ekman_dissim"
    expected = load_expected(name, "dhat.csv")
    model = scaling(level="ordinal", ties="secondary").fit(table(name))
    np.testing.assert_allclose(squareform(model.disparities_), expected, atol=1e-3)
    assert (model.disparities_**2).mean() == pytest.approx(1.0)


def test_tertiary_ties_of_few_different_values_fit_almost_anything():
    """Smacof ends at 0.0013, ours at 0; unlike smacof's, our disparities are not negative."""
    name = "smacof_ordinal_tertiary_morse_dissim"
    model = scaling(level="ordinal", ties="tertiary").fit(table(name))
    assert model.stress1_ < case(name)["scalars"]["stress"]


def test_weights_of_smacof():
    name = "smacof_ratio_weighted_eurodist"
    W, D = load_expected(name, "weights.csv"), table(name)
    model = scaling(weights=W).fit(D)
    assert model.stress_normalized_ == pytest.approx(case(name)["scalars"]["stress"], rel=1e-4)
    assert procrustes(load_expected(name, "conf.csv"), model.embedding_).disparity < 1e-4
    unknown = np.where((W == 0) & ~np.eye(len(W), dtype=bool), np.nan, D)
    assert np.isnan(unknown).any()
    again = scaling(weights=np.where(W == 0, 1.0, W)).fit(unknown)
    np.testing.assert_allclose(again.embedding_, model.embedding_, atol=1e-4 * np.abs(model.embedding_).max())


def test_stress_against_dimensions():
    """Lower is better: local minima."""
    name = "smacof_scree_ordinal_morse"
    found = scaling(level="ordinal").stress_by_dimension(table(name), range(1, 6))
    assert (found <= load_expected(name, "stress.csv") * (1 + 5e-3)).all()
    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize("solver", ["accelerated", "majorize", "pseudo_newton"])
@pytest.mark.parametrize("name", ["ekman_dissim", "eurodist", "noneuclid_dissim"])
def test_sammon(name, solver):
    name = f"mds_sammon_{name}"
    D = table(name)
    model = scaling(loss="sammon", solver=solver).fit(D)
    assert model.loss_ == pytest.approx(case(name)["scalars"]["stress"], rel=1e-4)
    assert procrustes(load_expected(name, "points.csv"), model.embedding_).disparity < 1e-4


@pytest.mark.parametrize("name", ["eurodist", "morse_dissim", "noneuclid_dissim"])
def test_isomds(name):
    """Kruskal's stress in percent; the reference breaks ties by position, ours by distance: no higher."""
    name = f"mds_isomds_{name}"
    model = scaling(level="ordinal").fit(table(name))
    assert 100 * model.stress1_ <= case(name)["scalars"]["stress_percent"] * (1 + 1e-6)


@pytest.mark.parametrize("name", ["eurodist", "morse_dissim", "noneuclid_dissim"])
def test_monotone_regression_of_shepard(name):
    """It breaks ties by position, so only regressions of data without ties are the same."""
    shepard = load_expected(f"mds_shepard_{name}", "shepard.csv")
    delta, d, expected = shepard.T
    positions = np.arange(len(delta), dtype=float)  # the file is in the order it used
    np.testing.assert_allclose(Order.of(positions).regress(np.ascontiguousarray(d)), expected, rtol=1e-9)
    if len(np.unique(delta)) == len(delta):
        np.testing.assert_allclose(Order.of(delta).regress(np.ascontiguousarray(d)), expected, rtol=1e-9)


def test_a_fitted_diagram_is_the_regression_of_its_distances():
    D = table("mds_isomds_morse_dissim")
    model = scaling(level="ordinal").fit(D)
    diagram = model.shepard()
    np.testing.assert_array_equal(np.sort(squareform(D, checks=False)), diagram.dissimilarities)
    np.testing.assert_allclose(np.sort(pdist(model.embedding_)), np.sort(diagram.distances))
    order = np.lexsort((diagram.distances, diagram.dissimilarities))
    fit = Order.of(np.arange(len(order), dtype=float)).regress(diagram.distances[order])
    np.testing.assert_allclose(np.sort(fit), np.sort(diagram.disparities), rtol=1e-6)
    stress = ((diagram.distances - diagram.disparities) ** 2).sum()
    assert model.stress1_ == pytest.approx(np.sqrt(stress / (diagram.distances**2).sum()))
