"""Stress, Sammon's error, Shepard correlations and residual variance."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from scipy.stats import pearsonr, spearmanr

from lowdim import quality
from lowdim.quality import pair_sums
from tests.oracles import case, load_input


def data(n=60, d=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, 1.7 * X[:, :2]


def definitions(delta, d):
    gap = np.sum((delta - d) ** 2)
    scale = delta @ d / (d @ d)
    return {
        "raw": gap,
        "normalized": np.sqrt(gap / (delta @ delta)),
        "stress1": np.sqrt(gap / (d @ d)),
        "scale_optimal": np.sqrt(np.sum((delta - scale * d) ** 2) / (delta @ delta)),
    }


@pytest.mark.parametrize("n", [2, 3, 60, 300])
def test_exact_values_equal_their_definitions(n):
    X, Z = data(n)
    delta, d = pdist(X), pdist(Z)
    for kind, expected in definitions(delta, d).items():
        found = quality.stress(X, Z, kind)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert (found.reference, found.interval) == ("ambient", None)
    assert quality.sammon(X, Z) == pytest.approx(np.sum((delta - d) ** 2 / delta) / delta.sum(), rel=1e-12)
    if n > 2:
        ambient = quality.residual_variance(X, Z, reference="ambient")
        assert ambient == pytest.approx(1 - pearsonr(delta, d)[0] ** 2, abs=1e-12)


@pytest.mark.parametrize("name", ["lowrank_pca2", "swiss300_pca2"])
def test_pearson_equals_dimred(name):
    stored = case(f"dimred_quality_{name}")
    (X, _), (Z, _) = (load_input(file) for file in stored["inputs"])
    found = quality.shepard(X, Z)
    assert found.pearson == pytest.approx(stored["scalars"]["cophenetic_correlation"], rel=1e-9)
    assert found.spearman == pytest.approx(spearmanr(pdist(X), pdist(Z))[0], abs=1e-12)
    assert len(found.distances) == len(X) * (len(X) - 1) // 2
    np.testing.assert_allclose(found.distances, pdist(X), atol=1e-12)
    np.testing.assert_allclose(found.embedded, pdist(Z), atol=1e-12)


def test_scale_optimal_stress_is_precise_near_zero_and_knows_no_scale():
    X, Z = data()
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))
    assert quality.stress(X, 1e6 * X @ turn, "scale_optimal") < 1e-13  # the closed form alone stops at 1e-8
    one, many = (quality.stress(X, factor * Z, "scale_optimal") for factor in (1, 1e5))
    assert one == pytest.approx(many, rel=1e-12)
    assert quality.stress(X, X @ turn) < 1e-13
    assert quality.stress(X + 1e7, (X + 1e7) @ turn) < 1e-7
    assert quality.shepard(X, 5 * X @ turn).pearson == pytest.approx(1, abs=1e-14)


def test_collapsed_embedding():
    X, _ = data(20)
    Z = np.zeros((20, 2))
    assert quality.stress(X, Z) == 1
    assert quality.stress(X, Z, "scale_optimal") == 1
    assert quality.stress(X, Z, "stress1") == np.inf
    with pytest.warns(UserWarning, match="undefined"):
        assert np.isnan(quality.shepard(X, Z).spearman)


def test_duplicates_have_no_sammon_term():
    X, Z = data(20)
    X[1], delta, d = X[0], None, None
    delta, d = pdist(X), pdist(Z)
    some = delta > 0
    expected = np.sum((delta - d)[some] ** 2 / delta[some]) / delta.sum()
    assert quality.sammon(X, Z) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="two different rows"):
        quality.sammon(np.ones((5, 2)), Z[:5])


def test_threads_and_blocks_change_no_bit():
    X, Z = data(700)
    values = [quality.stress(X, Z, pairs=None, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert values[0] == values[1] == values[2]


@pytest.mark.parametrize("kind", ["raw", "normalized", "scale_optimal", "stress1"])
def test_sampled_values_lie_near_with_an_interval(kind):
    X, Z = data(400)
    exact = quality.stress(X, Z, kind)
    found = quality.stress(X, Z, kind, pairs=5000, random_state=0)
    low, high = found.interval
    assert low < found < high
    assert found == pytest.approx(exact, rel=0.05)
    assert quality.stress(X, Z, kind, pairs=5000, random_state=0) == found
    assert (high - low) / exact < 0.1


def test_interval_covers_the_truth():
    X, Z = data(150)
    exact = quality.stress(X, Z)
    found = [quality.stress(X, Z, pairs=400, random_state=seed).interval for seed in range(100)]
    assert 88 <= sum(low <= exact <= high for low, high in found) <= 99


def test_many_rows_are_sampled_by_themselves(monkeypatch):
    monkeypatch.setattr(pair_sums, "EXACT_UP_TO", 50)
    monkeypatch.setattr(pair_sums, "SAMPLE", 3000)
    monkeypatch.setattr("lowdim.quality.distance_measures.SPEARMAN_UP_TO", 50)
    X, Z = data(100)
    assert quality.stress(X, Z, random_state=0).interval is not None
    assert quality.stress(X, Z, pairs=None).interval is None
    found = quality.shepard(X, Z, random_state=0)
    assert len(found.distances) == 3000
    low, high = found.spearman.interval
    assert low < spearmanr(pdist(X), pdist(Z))[0] < high


def test_sampling_where_distances_come_row_by_row():
    X, Z = data(600)
    exact = quality.stress(X, Z, metric="manhattan")
    assert exact == pytest.approx(definitions(pdist(X, "cityblock"), pdist(Z))["normalized"], rel=1e-12)
    found = quality.stress(X, Z, metric="manhattan", pairs=20_000, random_state=0)
    low, high = found.interval
    assert low - 0.01 < exact < high + 0.01
    assert high - low < 0.1


def test_given_distances_and_geodesics():
    X, Z = data(50)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    assert quality.stress(D, Z, reference="precomputed") == pytest.approx(quality.stress(X, Z), rel=1e-12)
    assert quality.stress(D, Z, pairs=2000, reference="precomputed").reference == "precomputed"
    line = np.linspace(0, 1, 40)[:, None]
    bent = np.c_[np.cos(4 * line), np.sin(4 * line)]
    assert quality.residual_variance(bent, line, graph_neighbors=3) < 1e-4
    assert quality.residual_variance(bent, line, graph_neighbors=3).reference == "geodesic"
    assert quality.residual_variance(bent, line, reference="ambient") > 0.05


def test_float32_is_summed_in_double():
    X, Z = data(300)
    single = quality.stress(X.astype(np.float32), Z.astype(np.float32))
    assert single == pytest.approx(quality.stress(X, Z), rel=1e-6)


def test_wrong_calls_are_explained():
    X, Z = data()
    with pytest.raises(ValueError, match="kind must be"):
        quality.stress(X, Z, "kruskal")
    for bad in (0, 1, 2.5, "all", True):
        with pytest.raises(ValueError, match="pairs must be"):
            quality.stress(X, Z, pairs=bad)
    with pytest.raises(ValueError, match="at least 2 rows; got 1"):
        quality.stress(X[:1], Z[:1])
    with pytest.raises(ValueError, match="the 60 rows of X; got 10"):
        quality.shepard(X, Z[:10])


SCALES = [(np.float64, 2.0**700), (np.float64, 2.0**-700), (np.float32, 2.0**100), (np.float32, 2.0**-100)]


def everything(X, Z, **options):
    """Every measure that knows no unit."""
    found = {kind: quality.stress(X, Z, kind, **options) for kind in ("normalized", "scale_optimal", "stress1")}
    diagram = quality.shepard(X, Z, **options)
    variance = quality.residual_variance(X, Z, reference="ambient", **options)
    found |= {"sammon": quality.sammon(X, Z, **options), "variance": variance}
    return found | {"pearson": diagram.pearson, "spearman": diagram.spearman}


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
@pytest.mark.parametrize("options", [{}, {"pairs": 300, "random_state": 0}, {"metric": "manhattan"}])
def test_scores_know_no_scale(dtype, scale, options):
    X, Z = (A.astype(dtype) for A in data(40))
    plain, found = (everything(X * dtype(s), Z * dtype(s), **options) for s in (1.0, scale))
    for name, value in plain.items():
        assert found[name] == pytest.approx(value, rel=1e-5 if dtype == np.float32 else 1e-12, abs=1e-12), name
        if value.interval:
            assert found[name].interval == pytest.approx(value.interval, rel=1e-5)
    scaled = quality.scores(X * dtype(scale), Z * dtype(scale), np.arange(40) % 2)
    for name, value in quality.scores(X, Z, np.arange(40) % 2).items():
        if isinstance(value, float):
            assert scaled[name] == pytest.approx(value, rel=1e-5), name


@pytest.mark.parametrize(("high", "low"), [(2.0**700, 1.0), (1.0, 2.0**700), (2.0**-700, 2.0**600), (2.0**-700, 1.0)])
def test_spaces_of_very_different_scales(high, low):
    X, Z = data(40)
    for options in ({}, {"pairs": 300, "random_state": 0}):
        plain, found = everything(X, Z, **options), everything(X * high, Z * low, **options)
        for name in ("scale_optimal", "variance", "pearson", "spearman"):
            assert found[name] == pytest.approx(plain[name], rel=1e-12), name
        if high > low:
            assert found["normalized"] == pytest.approx(1) == found["sammon"]
    np.testing.assert_allclose(
        quality.per_row(X * high, Z * low)["stress_share"], quality.per_row(X, Z)["stress_share"], rtol=1e-12
    )


def test_given_distances_and_paths_know_no_scale():
    X, Z = data(40)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    for scale in (2.0**700, 2.0**-700):
        given = quality.stress(D * scale, Z * scale, reference="precomputed")
        assert given == pytest.approx(quality.stress(X, Z), rel=1e-12)
        paths = [quality.stress(X * s, Z * s, reference="geodesic", graph_neighbors=8) for s in (1.0, scale)]
        assert paths[0] == pytest.approx(paths[1], rel=1e-12)


def test_raw_stress_has_a_unit():
    X, Z = data(40)
    raw = quality.stress(X, Z, "raw")
    assert quality.stress(X * 2.0**300, Z * 2.0**300, "raw") == pytest.approx(raw * 2.0**600, rel=1e-12)
    assert quality.stress(X * 2.0**700, Z * 2.0**700, "raw") == np.inf


def test_distances_beyond_the_range_ask_to_rescale():
    X, Z = data(40)
    X *= 1.7e308 / np.abs(X).max()
    for measure, pairs in product((quality.stress, quality.shepard), (None, 300)):
        with pytest.raises(ValueError, match=f"{measure.__name__}: X has values of .*Multiply it by a constant"):
            measure(X, Z, pairs=pairs)


def test_undefined_distances_are_not_called_zero():
    X, Z = data(20)
    X[7] = 3.0  # a constant row has no correlation
    for measure in (quality.stress, quality.shepard, quality.rnx_auc, quality.per_row):
        with pytest.raises(
            ValueError, match=r"metric='correlation' must get rows that are not constant; .* row 7 of X"
        ):
            measure(X, Z, metric="correlation")


@pytest.mark.parametrize("place", [0.0, 0.1, 1e200])
def test_undefined_correlations_warn(place):
    X, _ = data(20)
    for Z in (np.full((20, 2), place), place * np.eye(20)):
        with pytest.warns(UserWarning, match="residual_variance: .*undefined"):
            assert np.isnan(quality.residual_variance(X, Z, reference="ambient"))
        with pytest.warns(UserWarning, match="shepard: .*undefined"):
            assert np.isnan(quality.shepard(X, Z).pearson)


@pytest.mark.parametrize(
    "measure",
    ["stress", "sammon", "shepard", "residual_variance", "rnx_auc", "mrre", "per_row", "truncated_auc", "scores"],
)
def test_tables_are_checked_by_every_measure(measure):
    X, Z = data(30)
    call = getattr(quality, measure)
    options = {"k_up": 5} if measure == "truncated_auc" else {}
    with pytest.raises(TypeError, match="must be a dense array; got a sparse matrix"):
        call(X, sparse.csr_array(Z), **options)
    with pytest.raises(ValueError, match=r"(Z|embeddings) must have the 30 rows of X; got 60"):
        call(X, np.vstack([Z, Z]), **options)
    for bad, message in [
        (lambda A: np.ma.masked_greater(A, 1.0), "masked cells are missing values; fill or drop them"),
        (lambda A: A + 1j, "must hold real numbers; got complex128"),
        (lambda A: A.astype("timedelta64[s]"), "must hold real numbers; got timedelta64"),
        (lambda A: A.astype("datetime64[s]"), "must hold real numbers; got datetime64"),
    ]:
        for given in ((bad(X), Z), (X, bad(Z))):
            with pytest.raises(ValueError, match=message):
                call(*given, **options)
