"""`Ranks` against the definitions, R's coRanking, and the identities the measures must obey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim import _native
from lowdim._core.ranks import Ranks, choose_rows, sizes, tally_ranks
from tests.oracles import case, load_expected, load_input

CURVES = ("qnx", "lcmc", "rnx", "bnx", "trustworthiness", "continuity")


def data(n=60, d=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, X[:, :2] + 0.3 * X[:, 2:4] ** 2


def brute_ranks(X):
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    i, j, k = np.ogrid[: len(X), : len(X), : len(X)]
    closer = (D[:, None, :] < D[:, :, None]) | ((D[:, None, :] == D[:, :, None]) & (k < j))
    return ((closer & (k != i)).sum(-1) + 1) * (i != j)[..., 0]


def brute_curves(X, Z):
    """Every measure straight from its definition, with the sets of neighbours written out."""
    rho, r = brute_ranks(X), brute_ranks(Z)
    n, other = len(X), ~np.eye(len(X), dtype=bool)
    found = {name: [] for name in ("qnx", "bnx", "trustworthiness", "continuity", "w_n", "w_nu")}
    for K in range(1, n - 1):
        high, low = (rho <= K) & other, (r <= K) & other
        norm = n * K * (2 * n - 3 * K - 1) if 2 * K - n < 0 else n * (n - K) * (n - K - 1)
        errors = n * sum(abs(n - 2 * k) / k for k in range(1, K + 1))
        found["qnx"].append((high & low).sum() / (K * n))
        found["bnx"].append(((high & low & (rho < r)).sum() - (high & low & (rho > r)).sum()) / (K * n))
        found["trustworthiness"].append(1 - 2 / norm * (rho - K)[low & ~high].sum())
        found["continuity"].append(1 - 2 / norm * (r - K)[high & ~low].sum())
        found["w_n"].append((abs(rho - r)[low] / r[low]).sum() / errors)
        found["w_nu"].append((abs(rho - r)[high] / rho[high]).sum() / errors)
    return {name: np.array(curve) for name, curve in found.items()}


@pytest.mark.parametrize("n", [3, 4, 5, 20, 41])
@pytest.mark.parametrize("tied", [False, True])
def test_curves_equal_their_definitions(n, tied):
    X, Z = data(n)
    if tied:
        X, Z = np.round(X), np.round(Z)
    ranks, expected = Ranks.of(X, Z), brute_curves(X, Z)
    for name in ("bnx", "trustworthiness", "continuity"):
        np.testing.assert_allclose(getattr(ranks, name), expected[name], atol=1e-14)
    np.testing.assert_allclose(ranks.qnx[:-1], expected["qnx"], atol=1e-14)
    np.testing.assert_allclose(ranks.mrre[0][:-1], expected["w_n"], atol=1e-14)
    np.testing.assert_allclose(ranks.mrre[1][:-1], expected["w_nu"], atol=1e-14)


@pytest.mark.parametrize("name", ["lowrank_pca2", "scurve_rand", "swiss300_pca2"])
def test_curves_equal_r_coranking(name):
    stored = case(f"coranking_{name}")
    (X, _), (Z, _) = (load_input(file) for file in stored["inputs"])
    ranks = Ranks.of(X, Z)
    files = {
        "Q_NX": ranks.qnx,
        "R_NX": ranks.rnx,
        "LCMC": ranks.lcmc,
        "B_NX": ranks.bnx,
        "trustworthiness": ranks.trustworthiness,
        "continuity": ranks.continuity,
        "mrre_W_n": ranks.mrre[0][:-1],
    }
    for file, curve in files.items():
        expected = load_expected(f"coranking_{name}", file)
        np.testing.assert_allclose(curve, expected, rtol=stored["rtol"], atol=stored["atol"], err_msg=file)
    assert ranks.auc == pytest.approx(stored["scalars"]["AUC_ln_K"], rel=1e-12, abs=1e-12)
    assert ranks.k_max == stored["scalars"]["K_max"]


def test_w_nu_divides_by_the_rank_in_the_data():
    """coRanking's W_nu divides by the rank in the embedding in both errors, which breaks this symmetry."""
    X, Z = data()
    W_n, W_nu = Ranks.of(X, Z).mrre
    swapped = Ranks.of(Z, X).mrre
    np.testing.assert_array_equal(W_n, swapped[1])
    np.testing.assert_array_equal(W_nu, swapped[0])
    rho, r = brute_ranks(X), brute_ranks(Z)
    near = (rho > 0) & (rho <= 12)
    defect = (abs(rho - r)[near] / r[near]).sum() / (60 * sum(abs(60 - 2 * k) / k for k in range(1, 13)))
    assert abs(W_nu[11] - defect) > 0.01


@pytest.mark.parametrize("name", ["lowrank_pca2", "swiss300_pca2"])
def test_local_and_global_quality_equal_dimred(name):
    stored = case(f"dimred_quality_{name}")
    (X, _), (Z, _) = (load_input(file) for file in stored["inputs"])
    ranks, expected = Ranks.of(X, Z), stored["scalars"]
    assert ranks.q_local == pytest.approx(expected["Q_local"], rel=1e-9)
    assert ranks.rnx.mean() == pytest.approx(expected["mean_R_NX"], rel=1e-9)
    assert ranks.auc == pytest.approx(expected["AUC_lnK_R_NX"], rel=1e-9)
    # dimRed divides the sum of its n-1-k_max values by n-k_max: the true mean is larger.
    n, K = ranks.n, ranks.k_max
    assert ranks.q_global == pytest.approx(expected["Q_global"] * (n - K) / (n - 1 - K), rel=1e-9)
    assert ranks.q_global > expected["Q_global"]


def test_isometry_is_perfect():
    X, _ = data()
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))
    ranks = Ranks.of(X, 3 * X @ turn + 7)
    assert ranks.auc == pytest.approx(1, abs=1e-14)
    for name in ("qnx", "rnx", "trustworthiness", "continuity"):
        np.testing.assert_allclose(getattr(ranks, name), 1, atol=1e-13)
    assert not np.any(ranks.mrre)
    assert not np.any(ranks.bnx)
    assert ranks.row_auc == pytest.approx(np.ones(60), abs=1e-13)


def test_only_the_order_of_distances_matters():
    X, Z = data()
    plain = Ranks.of(X, Z)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    bent = Ranks.of(np.expm1(D) ** 3, Z, reference="precomputed")
    assert plain.auc == bent.auc
    for name in CURVES:
        np.testing.assert_array_equal(getattr(plain, name), getattr(bent, name))


def test_swapping_the_spaces():
    X, Z = data()
    there, back = Ranks.of(X, Z), Ranks.of(Z, X)
    for name in ("qnx", "rnx", "lcmc", "auc"):
        np.testing.assert_array_equal(getattr(there, name), getattr(back, name))
    np.testing.assert_array_equal(there.trustworthiness, back.continuity)
    np.testing.assert_array_equal(there.bnx, -back.bnx)
    np.testing.assert_array_equal(there.row_intrusion, back.row_extrusion)


def test_regions_add_up():
    ranks = Ranks.of(*data())
    parts = ranks.regions
    np.testing.assert_allclose(sum(parts), ranks.qnx[:-1], atol=1e-14)
    np.testing.assert_allclose(parts[1] - parts[2], ranks.bnx, atol=1e-14)
    assert ranks.qnx[-1] == 1
    np.testing.assert_allclose(ranks.rnx, (ranks.lcmc * 59)[:-1] / (59 - sizes(58)), atol=1e-14)


def test_projection_is_intrusive_and_tearing_is_not():
    t = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    circle, line = np.c_[np.cos(t), np.sin(t)], t[:, None]
    assert Ranks.of(circle, circle[:, :1]).bnx[9] > 0.02
    assert Ranks.of(circle, circle[:, :1]).trustworthiness[9] < 0.9
    assert Ranks.of(circle, line).continuity[9] < Ranks.of(circle, line).trustworthiness[9]


def test_random_embedding_is_worth_nothing():
    rng = np.random.default_rng(0)
    assert abs(Ranks.of(rng.normal(size=(1000, 5)), rng.normal(size=(1000, 2))).auc) < 0.05


def test_reversed_order_has_relative_error_one():
    n = 31
    high = np.tile(np.arange(n, dtype=np.int32), (n, 1))
    low = np.where(high == 0, 0, n - high).astype(np.int32)
    total, _, _ = tally_ranks(high, low, np.zeros(n), (1,))
    ranks = replace(Ranks.of(*data(n)), error_high=total[3, 1:], error_low=total[6, 1:])
    for curve in ranks.mrre:
        np.testing.assert_allclose(curve, 1, rtol=1e-14)


def test_mean_of_the_rows_is_the_whole():
    X, Z = data(200)
    ranks = Ranks.of(X, Z, ks=(5, 12, 150))
    assert ranks.row_auc.mean() == pytest.approx(ranks.auc, abs=2e-15)
    for place, k in enumerate(ranks.ks):
        assert ranks.row_kept[:, place].mean() / k == pytest.approx(ranks.qnx[k - 1], abs=1e-14)
        norm = k * (2 * 200 - 3 * k - 1) if k < 100 else (200 - k) * (199 - k)
        assert 1 - 2 * ranks.row_intrusion[:, place].mean() / norm == pytest.approx(ranks.trustworthiness[k - 1])
        assert 1 - 2 * ranks.row_extrusion[:, place].mean() / norm == pytest.approx(ranks.continuity[k - 1])


def test_duplicates_do_not_take_the_place_of_the_row_itself():
    """A copy with a smaller index sorts before the row itself when self is recognised by position."""
    X, _ = data(30)
    X = np.repeat(X, 2, axis=0)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))
    ranks = Ranks.of(X, X @ turn)
    assert ranks.auc == pytest.approx(1, abs=1e-12)
    assert (ranks.zeros_high, ranks.zeros_low) == (60, 60)
    assert Ranks.of(X, np.zeros((60, 2))).zeros_low == 60 * 59
    np.testing.assert_allclose(ranks.qnx[:-1], brute_curves(X, X @ turn)["qnx"], atol=1e-14)


def test_equal_distances_go_by_index_in_both_spaces():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), -1).reshape(-1, 2)
    assert Ranks.of(grid, grid[:, ::-1]).auc == pytest.approx(1, abs=1e-14)
    assert Ranks.of(grid + 1e5, grid.astype(np.float32)).auc == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_scales_keep_their_ranks(scale):
    X, Z = data(40)
    assert Ranks.of(X * scale, Z / scale).auc == Ranks.of(X, Z).auc


def test_float32_is_ranked_as_float32():
    X, Z = data(100)
    single = Ranks.of(X.astype(np.float32), Z.astype(np.float32))
    assert single.auc == pytest.approx(Ranks.of(X, Z).auc, abs=1e-3)


def test_all_rows_as_anchors_are_exact():
    X, Z = data()
    exact = Ranks.of(X, Z)
    for anchors in (None, 60, 1000, np.arange(60)[::-1]):
        same = Ranks.of(X, Z, anchors=anchors, random_state=0)
        assert same.auc == exact.auc
        assert not same.sampled
        assert same.auc_interval() == pytest.approx((exact.auc, exact.auc), abs=1e-14)
        np.testing.assert_array_equal(same.trustworthiness, exact.trustworthiness)


def test_anchors_rank_all_points():
    X, Z = data(200)
    exact, part = Ranks.of(X, Z), Ranks.of(X, Z, anchors=[3, 50, 199])
    assert part.sampled
    assert part.qnx.shape == exact.qnx.shape
    np.testing.assert_array_equal(part.row_auc, exact.row_auc[[3, 50, 199]])
    np.testing.assert_array_equal(part.row_kept, exact.row_kept[[3, 50, 199]])
    assert part.auc == pytest.approx(exact.row_auc[[3, 50, 199]].mean(), abs=1e-14)


def test_anchors_average_to_the_exact_curve():
    X, Z = data(90)
    exact = Ranks.of(X, Z)
    parts = [Ranks.of(X, Z, anchors=np.arange(start, 90, 3)) for start in range(3)]
    for name in CURVES:
        mean = np.mean([getattr(part, name) for part in parts], axis=0)
        np.testing.assert_allclose(mean, getattr(exact, name), atol=1e-14)


def test_interval_shrinks_with_the_share_of_rows_seen():
    X, Z = data(300)
    widths = [np.ptp(Ranks.of(X, Z, anchors=m, random_state=0).auc_interval()) for m in (20, 100, 290)]
    assert widths[0] > widths[1] > 3 * widths[2] > 0


def test_interval_covers_the_truth():
    X, Z = data(2000, seed=3)
    exact = Ranks.of(X, Z)
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        rows = np.sort(rng.choice(2000, 200, replace=False))
        part = replace(exact, rows=rows)
        low, high = part.interval(exact.row_auc[rows])
        hits += low <= exact.auc <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_subsampling_both_spaces_is_another_number():
    """It rescales K: the reason anchors rank all points."""
    rng = np.random.default_rng(0)
    t = 1.5 * np.pi * (1 + 2 * rng.random(1500))
    roll = np.c_[t * np.cos(t), 21 * rng.random(1500), t * np.sin(t)]
    Z = roll[:, [0, 2]]
    true = Ranks.of(roll, Z).auc
    some = np.arange(0, 1500, 10)
    assert Ranks.of(roll[some], Z[some]).auc > true + 0.02
    assert abs(Ranks.of(roll, Z, anchors=some).auc - true) < 0.02


def test_each_equals_one_by_one():
    X, Z = data()
    both = Ranks.of_each(X, {"a": Z, "b": X[:, :1]}, ks=(3,))
    assert list(both) == ["a", "b"]
    assert both["a"].auc == Ranks.of(X, Z).auc
    np.testing.assert_array_equal(both["b"].row_kept, Ranks.of(X, X[:, 0], ks=(3,)).row_kept)


def test_threads_widths_and_blocks_change_no_bit(monkeypatch):
    X, Z = data(300)
    first = Ranks.of(X, Z, n_jobs=1)
    others = [Ranks.of(X, Z, n_jobs=3)]
    _native.force_baseline(True)
    try:
        others.append(Ranks.of(X, Z, n_jobs=1))
    finally:
        _native.force_baseline(False)
    monkeypatch.setattr("lowdim._core.ranks.MOST_ENTRIES", 2000)
    others.append(Ranks.of(X, Z, n_jobs=2))
    for other in others:
        for name in (*CURVES, "row_auc", "row_kept", "auc"):
            np.testing.assert_array_equal(getattr(first, name), getattr(other, name))


def test_progress_counts_the_blocks(monkeypatch):
    class Bar:
        steps = 0

        def advance(self):
            self.steps += 1

    monkeypatch.setattr("lowdim._core.ranks.MOST_ENTRIES", 600)
    bar = Bar()
    Ranks.of(*data(60), progress=bar)
    assert bar.steps == 6


def test_rows_chosen_under_auto():
    assert len(choose_rows(20_000, "auto")) == 20_000
    assert len(choose_rows(20_001, "auto", 0)) == 500
    np.testing.assert_array_equal(choose_rows(30_000, "auto", 0), choose_rows(30_000, "auto", 0))
    chosen = choose_rows(1000, 30, 0)
    assert len(np.unique(chosen)) == 30


@pytest.mark.parametrize("anchors", [1, 0, -3, 2.5, "all", [[1, 2]], [1, 1], [5, 60], [-1, 4], [7]])
def test_bad_anchors_are_refused(anchors):
    with pytest.raises(ValueError, match="anchors must be"):
        Ranks.of(*data(), anchors=anchors)


def test_bad_input_is_refused():
    X, Z = data()
    holes = Z.copy()
    holes[3] = np.nan
    with pytest.raises(ValueError, match=r"the embedding Z must be finite; got 2 NaN.*every embedding"):
        Ranks.of(X, holes)
    with pytest.raises(ValueError, match="X must be finite"):
        Ranks.of(np.where(X > 2, np.nan, X), Z)
    with pytest.raises(ValueError, match="the 60 rows of X; got 59"):
        Ranks.of(X, Z[:-1])
    with pytest.raises(ValueError, match="at least 3 rows; got 2"):
        Ranks.of(X[:2], Z[:2])
    with pytest.raises(ValueError, match="reference must be"):
        Ranks.of(X, Z, reference="far")
    for ks in ((0,), (5, 2.5), ("a",), 0, (True,)):
        with pytest.raises(ValueError, match=r"Ranks\.of: every entry of ks must be a whole number >= 1; got"):
            Ranks.of(X, Z, ks=ks)
    with pytest.raises(ValueError, match="at least one column"):
        Ranks.of(X, Z[:, :0])


def test_inputs_stay_as_they_were():
    X, Z = data()
    before = X.copy(), Z.copy()
    Ranks.of(X, Z)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Z, before[1])


def test_lists_integers_and_vectors():
    X, Z = [[0, 0], [1, 0], [0, 3], [5, 5]], [0, 1, 3, 7]
    ranks = Ranks.of(X, Z)
    assert ranks.ks == (2,)
    assert ranks.auc == pytest.approx(Ranks.of(np.array(X, float), np.array(Z, float)[:, None]).auc)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(3, 30), levels=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_ranges_hold_with_any_ties(n, levels, seed):
    rng = np.random.default_rng(seed)
    ranks = Ranks.of(rng.integers(0, levels, (n, 2)), rng.integers(0, levels, (n, 1)))
    for curve in (ranks.qnx, ranks.trustworthiness, ranks.continuity, *ranks.mrre):
        assert np.all((curve >= -1e-12) & (curve <= 1 + 1e-12))
    assert -1 <= ranks.auc <= 1 + 1e-12
    total = ranks.equal + ranks.nearer + ranks.farther
    assert total.sum() == n * (n - 1)
