"""Measures of rows of Dask: the same numbers as in memory from the same anchors, and intervals that hold."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lowdim
from lowdim import quality
from lowdim._core.ranks import TALLIES, Ranks, in_blocks

RNG = np.random.default_rng(0)
# Rounded: many equal distances, and some rows that are equal.
ROWS = np.round(RNG.normal(size=(300, 4)), 1)
PLACES = np.round(ROWS[:, :2] + 0.3 * RNG.normal(size=(300, 2)), 1)
PARTS = (*TALLIES, "zeros_high", "zeros_low", "row_auc", "row_kept", "row_intrusion", "row_extrusion", "rows")
CUTS = [((300, 4), (300, 2)), ((70, 2), (41, 1)), (((0, 100, 0, 200), 4), ((150, 150), 2))]


def few():
    """As if 50 rows were as many as one memory holds."""
    return lowdim.config(sample_rows=50)


@pytest.mark.parametrize("anchors", [None, 40, [3, 5, 100]], ids=str)
@pytest.mark.parametrize("chunks", CUTS, ids=str)
def test_ranks_of_blocks_are_those_of_memory(chunks, anchors):
    settings = {"anchors": anchors, "random_state": 1, "ks": (5, 12, 200)}
    wanted = Ranks.of(ROWS, PLACES, **settings)
    with few():
        found = Ranks.of(
            *(da.from_array(T, chunks=cut) for T, cut in zip((ROWS, PLACES), chunks, strict=True)), **settings
        )
    for name in PARTS:
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_metrics_and_precisions(metric, dtype):
    X = ROWS.astype(dtype) + 3
    wanted = Ranks.of(X, PLACES, metric=metric)
    with few():
        found = Ranks.of(da.from_array(X, chunks=(80, 4)), PLACES, metric=metric, anchors=None)
    np.testing.assert_allclose(found.rnx, wanted.rnx, atol=2e-3)  # distances that differ by rounding alone


def test_sparse_blocks_and_data_frames():
    S = sparse.random(200, 30, 0.3, format="csr", random_state=0)
    Z = S.toarray()[:, :2]
    frame = dd.from_pandas(pd.DataFrame(ROWS), npartitions=4)
    with few():
        found = quality.rnx_auc(
            da.from_array(S.toarray(), chunks=(30, 30)).map_blocks(sparse.csr_matrix), Z, anchors=None
        )
        framed = quality.rnx_auc(frame, dd.from_pandas(pd.DataFrame(PLACES), npartitions=4), anchors=None)
    assert found == pytest.approx(quality.rnx_auc(S, Z), abs=1e-9)
    assert framed == pytest.approx(quality.rnx_auc(ROWS, PLACES), abs=1e-12)


def test_few_rows_are_measured_one_and_all():
    X, Z = da.from_array(ROWS, chunks=(70, 4)), da.from_array(PLACES, chunks=(70, 2))
    for name in ("rnx_auc", "trustworthiness", "continuity", "stress", "sammon", "q_local"):
        measure = getattr(quality, name)
        assert measure(X, Z) == measure(ROWS, PLACES)
        assert measure(X, Z).interval is None
    found, wanted = (quality.scores(*tables, np.arange(300) % 3) for tables in ((X, Z), (ROWS, PLACES)))
    assert set(found) == set(wanted)
    assert found["auc"] == wanted["auc"]
    assert found["knn_error"] == wanted["knn_error"]


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr(in_blocks, "SAMPLED", 600)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 6)) * np.arange(6, 0, -1)
    X[:500, 0] += 20
    y = np.where((np.arange(1500) < 500) ^ (rng.random(1500) < 0.1), "a", "b")
    lazy = [da.from_array(T, chunks=400) for T in (X, X[:, :2], y)]
    return (X, X[:, :2], y), lazy


MEASURES = {
    "rnx_auc": lambda X, Z, y, **seed: quality.rnx_auc(X, Z, **seed),
    "trustworthiness": lambda X, Z, y, **seed: quality.trustworthiness(X, Z, **seed),
    "continuity": lambda X, Z, y, **seed: quality.continuity(X, Z, **seed),
    "stress": lambda X, Z, y, **seed: quality.stress(X, Z, **seed),
    "scale_optimal": lambda X, Z, y, **seed: quality.stress(X, Z, "scale_optimal", **seed),
    "sammon": lambda X, Z, y, **seed: quality.sammon(X, Z, **seed),
    "residual": lambda X, Z, y, **seed: quality.residual_variance(X, Z, reference="ambient", **seed),
    "knn_error": lambda X, Z, y, **seed: quality.knn_error(Z, y, 3),
}


@pytest.mark.parametrize("name", MEASURES)
def test_intervals_hold_what_memory_finds(many, name):
    whole, lazy = many
    with lowdim.config(sample_rows=500):
        found = MEASURES[name](*lazy, **({} if name == "knn_error" else {"random_state": 3}))
    low, high = found.interval
    wanted = MEASURES[name](*whole)
    middle, half = (low + high) / 2, (high - low) / 2
    assert abs(wanted - middle) < 1.5 * half  # three standard errors
    assert 0 < half < 0.2 * max(wanted, 0.2)


@pytest.mark.deep
def test_intervals_of_the_area_cover_as_often_as_they_say(many):
    (X, Z, _), (lazy_X, lazy_Z, _) = many
    wanted, inside = quality.rnx_auc(X, Z), 0
    for seed in range(60):
        with lowdim.config(sample_rows=500):
            low, high = quality.rnx_auc(lazy_X, lazy_Z, random_state=seed).interval
        inside += low <= wanted <= high
    assert inside >= 51  # 57 are expected; fewer than 51 have a chance of 0.2 %


def test_scores_of_blocks_have_all_parts(many):
    (X, Z, y), lazy = many
    with lowdim.config(sample_rows=500):
        found = quality.scores(*lazy, pairs=20_000)
    wanted = quality.scores(X, Z, y)
    assert set(found) == set(wanted)
    assert found["n_anchors"] == 500
    assert found["auc"] == pytest.approx(wanted["auc"], abs=0.03)
    assert found["pearson"] == pytest.approx(wanted["pearson"], abs=0.01)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda X, Z: quality.rnx_auc(X, Z, reference="geodesic"), "reference must be 'ambient'"),
        (lambda X, Z: quality.rnx_auc(X, Z, metric="gower"), "metric must measure rows"),
        (lambda X, Z: quality.stress(X, Z, pairs=None), "pairs must be a number"),
        (lambda X, Z: quality.residual_variance(X, Z), "reference must be 'ambient'"),
        (lambda X, Z: quality.trustworthiness(X, Z, 299), "n_neighbors must be"),
        (lambda X, Z: quality.rnx_auc(X, Z[:200]), "as many rows"),
        (lambda X, Z: quality.rnx_auc(da.where(X > 2, np.nan, X), Z), "finite"),
        (lambda X, Z: quality.scores(X, Z, every_row=True), "every_row must be False"),
        (lambda X, Z: quality.knn_error(Z, np.arange(7)), "as many rows"),
    ],
)
def test_what_blocks_cannot_do_is_said(call, says):
    with few(), pytest.raises((TypeError, ValueError), match=says):
        call(da.from_array(ROWS, chunks=(70, 4)), da.from_array(PLACES, chunks=(70, 2)))
