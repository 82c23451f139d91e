"""Scores of all embeddings of a comparison: estimates for every row, and warnings about degenerate maps."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lowdim
from lowdim import quality
from lowdim._core.ranks import reference as distances
from lowdim.study.data import Data
from lowdim.study.reference_choice import choose_reference
from lowdim.study.scoring import score_each


class Fixed(BaseEstimator):
    def __init__(self, Z=None):
        self.Z = Z

    def fit_transform(self, X, y=None):
        return self.Z


def table(n=400, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(3, 1, d)


def test_every_row_has_a_quality_where_rows_were_sampled():
    X = table()
    c = lowdim.compare(X, methods=["pca"], anchors=50)
    exact = quality.per_row(X, c.embeddings["pca"])["auc"]
    assert np.isfinite(c.per_row["pca"]).all()
    assert np.corrcoef(c.per_row["pca"], exact)[0, 1] > 0.95
    assert c.scored["pca"].estimated_from == "its 90 nearest neighbours and 400 sampled rows"
    assert f"The quality of each row is estimated from {c.scored['pca'].estimated_from}." in c.notes
    assert "row_estimate" not in c.scores["pca"]


def test_exact_rows_are_not_called_estimates():
    c = lowdim.compare(table(), methods=["pca"])
    assert c.scored["pca"].estimated_from is None
    assert not any("estimated" in note for note in c.notes)


def test_rows_that_some_method_left_out_have_no_quality():
    X = table()
    Z = X[:, :2].copy()
    Z[:30] = np.nan
    c = lowdim.compare(X, methods=["pca", ("some", Fixed(Z))], anchors=50)
    for values in c.per_row.values():
        assert np.isnan(values[:30]).all()
        assert np.isfinite(values[30:]).all()


def test_rows_of_a_geodesic_reference_stay_exact_and_sampled():
    c = lowdim.compare(table(), methods=["pca"], anchors=50, reference="geodesic")
    assert np.isfinite(c.per_row["pca"]).sum() == 50
    assert c.scored["pca"].estimated_from is None


def test_degenerate_maps_are_warnings_of_their_method():
    X = table()
    spike = 1e-4 * X[:, :2]
    spike[:4] = X[:4, :2] * 100
    maps = {"spike": spike, "line": X[:, :2] * [1, 1e-4], "point": np.zeros((400, 2)), "fine": X[:, :2]}
    c = lowdim.compare(X, methods=["pca", *((name, Fixed(Z)) for name, Z in maps.items())])
    assert set(c.warnings) == {"spike", "line", "point"}
    assert "396 of 400 rows" in c.warnings["spike"][0]
    assert "The map is a line" in c.warnings["line"][0]
    assert c.warnings["point"] == ("All 400 rows are at one place.",)
    counts = {row["method"]: row["warnings"] for row in c.table}
    assert counts == {"pca": 0, "spike": 1, "line": 1, "point": 1, "fine": 0, "random": 0}
    written = {row["method"]: row["warnings"] for row in c.to_dict()["methods"]}
    assert written["line"] == list(c.warnings["line"])
    assert "line warned: The map is a line" in repr(c)


def test_equal_rows_of_the_data_are_no_collapse_of_the_map():
    X = table(5)[np.arange(300) % 5]
    assert "pca" not in lowdim.compare(X, methods=["pca"]).warnings


@pytest.mark.parametrize("options", [{}, {"pairs": 500}])
def test_distances_of_the_data_are_found_once_for_all_maps(monkeypatch, options):
    asked = []
    made = distances.euclidean

    def counted(X, name):
        space = made(X, name)

        def block(rows, order):
            asked.append((name, order, len(rows)))
            return space.block(rows, order)

        def pairs(i, j):
            asked.append((name, "pairs", len(i)))
            return space.pairs(i, j)

        return distances.Reference(space.n, space.name, space.metric, block, pairs, space.columns)

    monkeypatch.setattr(distances, "euclidean", counted)
    X = table(200)
    work = {}
    for count in (1, 4):
        asked.clear()
        quality.scores_each(X, {str(i): X[:, i : i + 2] for i in range(count)}, random_state=0, **options)
        work[count] = sorted((call for call in asked if call[0] == "ambient"), key=str)
    assert work[1] == work[4]
    assert work[1]


def test_scores_of_several_maps_are_those_of_each_alone():
    X = table(300)
    maps = {"a": X[:, :2], "b": X[:, 2:4] ** 3}
    against = choose_reference("ambient", Data(X))
    together, _ = score_each(maps, against, scale={}, seed=3, anchors=60)
    for name, Z in maps.items():
        alone, _ = score_each({name: Z}, against, scale={}, seed=3, anchors=60)
        np.testing.assert_equal(together[name].scores, alone[name].scores)
        np.testing.assert_array_equal(together[name].per_row, alone[name].per_row)
