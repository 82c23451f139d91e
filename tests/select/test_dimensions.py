"""The number of dimensions of dissimilarities: eigenvalues, fit and stress of each solution, rules."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

import lowdim
from lowdim import ClassicalMDS
from lowdim.select import n_dimensions
from tests.linear.pca.test_pca import cloud, numeric
from tests.oracles import load_expected


def planted(r, noise, n=60):
    rng = np.random.default_rng(r)
    X = rng.normal(size=(n, r)) * np.linspace(3, 2, r)
    E = rng.normal(size=(n, n)) * noise
    return np.maximum(squareform(pdist(X)) + np.triu(E, 1) + np.triu(E, 1).T, 0)


@pytest.mark.parametrize("name", ["eurodist", "ekman_dissim", "morse_dissim"])
@pytest.mark.filterwarnings("ignore:ClassicalMDS. the distances are not Euclidean")
def test_the_table_is_that_of_the_solutions(name):
    D = numeric(name)
    D = D[:, -len(D) :]
    found = n_dimensions(D, n_components=5)
    np.testing.assert_allclose(
        found.eigenvalues, load_expected(f"mds_classical_{name}", "eig.csv"), atol=1e-6 * D.max() ** 2
    )
    np.testing.assert_allclose(found.goodness_of_fit[1], load_expected(f"mds_classical_{name}", "GOF.csv"), rtol=1e-8)
    for r in (1, 2, 5):
        model = ClassicalMDS(r, metric="precomputed").fit(D)
        assert found.negative_share == pytest.approx(model.negative_share_)
        assert found.stress[r - 1] == pytest.approx(
            float(lowdim.quality.stress(D, model.embedding_, "stress1", reference="precomputed"))
        )


@pytest.mark.parametrize("r", [1, 2, 4])
def test_planted_dimensions_are_found(r):
    assert n_dimensions(planted(r, 0.0)).choices["negative"] == r
    assert n_dimensions(planted(r, 0.0)).choices["drop"] == r
    noisy = n_dimensions(planted(r, 0.2)).choices
    assert r <= noisy["negative"] <= r + 1  # noise is as large on both sides, give or take one


def test_rows_frames_and_condensed_vectors():
    X = cloud(30, 4)
    found = n_dimensions(X, metric="euclidean")
    for given in (
        pdist(X),
        squareform(pdist(X)),
        pd.DataFrame(squareform(pdist(X)), columns=[f"c{i}" for i in range(30)]),
    ):
        np.testing.assert_allclose(n_dimensions(given).eigenvalues, found.eigenvalues, atol=1e-9 * found.eigenvalues[0])
    assert found.choices["drop"] == 4
    assert found.stress[3] < 1e-7
    assert len(found.stress) == 4
    assert "dimensions" in repr(found)
    assert "<table>" in found._repr_html_()


def test_bad_input():
    with pytest.raises(ValueError, match="n_dimensions: D must have dissimilarities above 0"):
        n_dimensions(np.zeros((4, 4)))
    with pytest.raises(ValueError, match="n_components must be a whole number >= 1"):
        n_dimensions(np.ones((4, 4)) - np.eye(4), n_components=0)


def test_no_negative_eigenvalue_is_said_without_a_sign():
    assert n_dimensions(1 - np.eye(6)).verdicts["negative"].note.startswith("eigenvalues above 0,")
