"""LLE and its relatives: reference implementations, identities, and the ways they go wrong."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.manifold import LocallyLinearEmbedding

import lowdim
from lowdim._core.graph.local_fits import LLE_METHODS, Patches, alignment
from lowdim._core.neighbors import nearest
from lowdim._core.spectrum.null_axes import null_axes, warn_of_ambiguous_axes
from lowdim._core.tables.align import procrustes
from tests.oracles import load_expected, load_input

each_method = pytest.mark.parametrize("method", LLE_METHODS)


def explained(sheet, Z):
    """R² of each coordinate of the sheet as an affine function of the map."""
    A = np.column_stack([np.ones(len(Z)), Z])
    left = sheet - A @ np.linalg.lstsq(A, sheet, rcond=None)[0]
    return 1 - np.square(left).sum(axis=0) / np.square(sheet - sheet.mean(axis=0)).sum(axis=0)


def up_to_sign(A, B):
    return B * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


def weight_matrix(indices, weights):
    W = np.zeros((len(indices), len(indices)))
    np.put_along_axis(W, indices, weights, axis=1)
    return W


# ---- reference implementations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "data", "k", "ridge"),
    [
        ("lle_swissroll_300_k10", "swissroll_300", 10, 0.01 / 10),
        ("lle_lowrank_60x10_full_k6", "lowrank_60x10_full", 6, 1e-10),  # k <= columns: the reference adds no ridge
    ],
)
def test_the_r_package_lle(case, data, k, ridge):
    X = np.asarray(load_input(data)[0], dtype=np.float64)
    indices = load_expected(case, "neighbors").astype(int) - 1
    np.testing.assert_array_equal(np.sort(nearest(X, k).indices, axis=1), indices)
    A = np.eye(len(X)) - weight_matrix(indices, load_expected(case, "weights_reg2"))
    M = alignment(X, Patches.of(nearest(X, k).indices), "standard", 2, ridge=ridge)
    np.testing.assert_allclose(M.toarray(), A.T @ A, atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lowdim.LLE(n_neighbors=k, ridge=ridge, random_state=0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, load_expected(case, "smallest_eigs")[1:3], rtol=1e-4, atol=1e-10)
    Z = load_expected(case, "coords")[:, ::-1]  # its columns are in reverse order
    np.testing.assert_allclose(up_to_sign(Z, model.embedding_), Z, atol=1e-4 * np.abs(Z).max())


def test_scikit_learns_standard_and_modified():
    X = lowdim.datasets.swiss_roll(400, random_state=0).X
    for method in ("standard", "modified"):
        peer = LocallyLinearEmbedding(n_neighbors=10, method=method, eigen_solver="dense").fit_transform(X)
        model = lowdim.LLE(n_neighbors=10, method=method, ridge=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = model.fit_transform(X)
        expected = peer * np.sqrt(len(X))
        np.testing.assert_allclose(up_to_sign(expected, Z), expected, atol=1e-5 * np.abs(expected).max())


def test_dimreds_hessian_eigenmaps():
    """An independent Hessian estimator: the same two-dimensional space."""
    X = np.asarray(load_input("swissroll_300")[0], dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = lowdim.LLE(n_neighbors=12, method="hessian").fit_transform(X)
        tangents = lowdim.LLE(n_neighbors=12, method="ltsa").fit_transform(X)
    expected = load_expected("dimred_hlle_swiss300", "points")
    assert explained(expected, Z).min() > 1 - 1e-8
    # scikit-learn's "hessian" is its LTSA; ours is not.
    assert explained(expected, tangents).max() < 0.5


# ---- identities ---------------------------------------------------------------------------------------------


@each_method
def test_a_plane_is_recovered_up_to_an_affine_map(method):
    rng = np.random.default_rng(0)
    sheet = rng.random((300, 2)) * [3.0, 1.0]
    X = sheet @ rng.normal(size=(2, 6)) + 4.0
    model = lowdim.LLE(n_neighbors=10, method=method, random_state=0).fit(X)
    assert explained(sheet, model.embedding_).min() > 1 - 1e-8
    assert model.eigenvalues_.max() < 1e-13
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / 300, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_a_grid_is_recovered_up_to_an_affine_map(method):
    """Ties, rows on lines and corners: tangent directions still are what they are."""
    sheet = np.stack(np.meshgrid(np.arange(20.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    X = np.column_stack([sheet, np.zeros(len(sheet))])
    Z = lowdim.LLE(n_neighbors=12, method=method, random_state=0).fit_transform(X)
    assert explained(sheet, Z).min() > 1 - 1e-9


def test_a_sheet_with_a_hole():
    """Rolled up: paths must go around the hole, weights and second derivatives need not. Up to rotation and scale."""
    made = lowdim.datasets.swiss_roll_hole(1500, noise=0.0, random_state=0)
    sheet = made.isometric_coordinates - made.isometric_coordinates.mean(axis=0)
    sheet = sheet @ np.linalg.inv(np.linalg.cholesky(sheet.T @ sheet / len(sheet))).T  # unit covariance, as the maps
    misfit = {
        method: procrustes(sheet, _quiet(lowdim.LLE(n_neighbors=12, method=method, ridge=1e-3), made.X)).disparity
        for method in LLE_METHODS
    }
    paths = _quiet(lowdim.Isomap(n_neighbors=12), made.X)
    assert misfit["modified"] < 0.02 * misfit["standard"]
    assert misfit["hessian"] < 5e-5
    assert explained(made.isometric_coordinates, paths).min() < 0.999


def _quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit_transform(X)


@each_method
@pytest.mark.parametrize("ridge", ["auto", 1e-2])
def test_the_matrix_does_not_depend_on_unit_origin_and_orientation(method, ridge):
    X = lowdim.datasets.swiss_roll(200, random_state=0).X
    patches = Patches.of(nearest(X, 8).indices)
    M = alignment(X, patches, method, 2, ridge=ridge).toarray()
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    for moved in (X @ Q + 7.0, -X, 1e90 * X, 1e-90 * X):
        np.testing.assert_allclose(alignment(moved, patches, method, 2, ridge=ridge).toarray(), M, atol=1e-7)
    np.testing.assert_allclose(M.sum(axis=1), 0, atol=1e-12)
    assert np.linalg.eigvalsh(M)[0] > -1e-13


def test_an_absolute_ridge_would_depend_on_the_unit():
    """The ridge is a share of the trace: the weights of the same rows in other units would differ otherwise."""
    X = lowdim.datasets.swiss_roll(200, random_state=0).X
    patches = Patches.of(nearest(X, 8).indices)
    trace = np.square(X[patches.members.reshape(200, 9)] - X[:, None]).sum(axis=(1, 2)).mean()
    absolute = [alignment(X, patches, "standard", 2, ridge=1e-2 * scale / trace).toarray() for scale in (trace, 100.0)]
    assert np.abs(absolute[0] - absolute[1]).max() > 1e-3


def test_axes_are_eigenvectors_and_the_error_is_theirs():
    X = lowdim.datasets.swiss_roll(500, random_state=0).X
    model = lowdim.LLE(n_neighbors=10, method="ltsa")
    _quiet(model, X)
    M = alignment(X, Patches.of(nearest(X, 10).indices), "ltsa", 2)
    left = M @ model.embedding_ - model.embedding_ * model.eigenvalues_
    assert np.abs(left).max() < 1e-10
    error = np.trace(model.embedding_.T @ (M @ model.embedding_)) / len(X)
    assert model.embedding_error_ == pytest.approx(error, rel=1e-6)
    assert model.reconstruction_error_ == model.embedding_error_  # the name in the literature
    values = np.linalg.eigvalsh(M.toarray())[1:3]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-6, atol=1e-14)


# ---- new rows -----------------------------------------------------------------------------------------------


@each_method
def test_new_rows_land_where_the_sheet_says(method):
    made = lowdim.datasets.swiss_roll(1500, noise=0.0, random_state=0)
    model = lowdim.LLE(n_neighbors=10, method=method, random_state=0)
    Z = _quiet(model, made.X[:1200])
    np.testing.assert_array_equal(model.transform(made.X[:1200]), Z)
    A = np.linalg.lstsq(np.column_stack([made.isometric_coordinates[:1200], np.ones(1200)]), Z, rcond=None)[0]
    expected = np.column_stack([made.isometric_coordinates[1200:], np.ones(300)]) @ A
    fitted = np.abs(np.column_stack([made.isometric_coordinates[:1200], np.ones(1200)]) @ A - Z)
    assert np.median(np.abs(model.transform(made.X[1200:]) - expected)) < 1.5 * np.median(fitted) + 0.01


def test_the_nystrom_formula_puts_new_rows_at_the_same_place():
    """Of the kernel mu I - M, extended by (mu - 1) w(x, x_i) (Bengio et al. 2004): only longer, by about l / mu."""
    k, n = 8, 100
    X = lowdim.datasets.twin_peaks(n + 12, random_state=1).X
    rows, new = X[:n], X[n:]

    def table(given, near, unfitted=False):
        W = np.zeros((len(given), n))
        for x, around, row in zip(given, near, W, strict=True):
            G = (rows[around] - x) @ (rows[around] - x).T
            pull = np.trace(G) * np.ones(k) if not unfitted else k * np.diag(G)  # nothing pulls to an equal row
            w = np.linalg.solve(G + 1e-2 * np.diag(pull), np.ones(k))
            row[around] = w / w.sum()
        return W

    order = np.argsort(np.linalg.norm(X[:, None] - rows, axis=2), axis=1)
    W, W_new = table(rows, order[:n, 1 : k + 1]), table(new, order[n:, :k], unfitted=True)
    M = (np.eye(n) - W).T @ (np.eye(n) - W)
    values, vectors = np.linalg.eigh(M)
    V = vectors[:, 1:3] * np.sqrt(n)

    model = lowdim.LLE(2, n_neighbors=k, ridge=1e-2, random_state=0).fit(rows)
    V *= np.sign((V * model.embedding_).sum(axis=0))
    off = []
    for mu in (2.0, 20.0, 200.0):
        K, K_new = mu * np.eye(n) - M, (mu - 1) * W_new
        np.testing.assert_allclose(K @ V / (mu - values[1:3]), model.embedding_, atol=1e-6)
        placed = K_new @ V / (mu - values[1:3])
        off.append(np.abs(placed - model.transform(new)).max())
    assert off[0] > 5 * off[1] > 25 * off[2]
    assert off[2] < 0.02


def test_new_rows_of_a_plane_are_placed_exactly():
    rng = np.random.default_rng(0)
    sheet = rng.random((250, 2))
    X = sheet @ rng.normal(size=(2, 5))
    model = lowdim.LLE(n_neighbors=9, method="ltsa").fit(X[:200])
    A = np.linalg.lstsq(np.column_stack([sheet[:200], np.ones(200)]), model.embedding_, rcond=None)[0]
    np.testing.assert_allclose(model.transform(X[200:]), np.column_stack([sheet[200:], np.ones(50)]) @ A, atol=1e-6)


# ---- graphs that fall apart, equal rows, holes --------------------------------------------------------------


def two_sheets(n=150, gap=5.0):
    rng = np.random.default_rng(0)
    sheet = rng.random((2 * n, 2))
    sheet[n:, 0] += gap
    return np.column_stack([sheet, np.zeros(2 * n)]) @ np.linalg.qr(rng.normal(size=(3, 3)))[0], sheet


def test_parts_follow_the_policy():
    X, sheet = two_sheets()
    X, sheet = np.delete(X, 0, axis=0), np.delete(sheet, 0, axis=0)
    settings = {"n_neighbors": 8, "method": "ltsa", "random_state": 0}
    with pytest.raises(ValueError, match=r"LLE: the neighbour graph must be connected; got 2 components \(150, 149"):
        lowdim.LLE(disconnected="error", **settings).fit(X)
    with pytest.warns(UserWarning, match="joined by their shortest edges"):
        bridged = lowdim.LLE(disconnected="bridge", **settings).fit(X)
    assert explained(sheet, bridged.embedding_).min() > 1 - 1e-6  # one plane, joined by a bridge
    with pytest.warns(UserWarning, match="each is embedded on its own"):
        apart = lowdim.LLE(disconnected="separate", **settings).fit(X)
    for part in (slice(0, 149), slice(149, None)):
        assert explained(sheet[part], apart.embedding_[part]).min() > 1 - 1e-8
    assert apart.embedding_[149:, 0].max() < apart.embedding_[:149, 0].min()
    with pytest.warns(UserWarning, match="149 rows outside the largest"):
        largest = lowdim.LLE(disconnected="largest", **settings).fit(X)
    assert np.isnan(largest.embedding_[:149]).all()
    assert np.isfinite(largest.embedding_[149:]).all()
    for model in (bridged, apart, largest):
        assert model.n_components_graph_ == 2
        np.testing.assert_array_equal(np.bincount(model.component_labels_), [150, 149])
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)


def test_scikit_learn_collapses_where_the_graph_falls_apart_and_we_say_so():
    X, _ = two_sheets()
    with pytest.warns(UserWarning, match=r"LLE: the neighbour graph has 2 components \(150, 150 rows\)"):
        lowdim.LLE(n_neighbors=6, method="ltsa").fit(X)


def test_equal_rows_are_one_row_with_more_weight():
    X = np.random.default_rng(0).random((300, 2)) * [3.0, 1.0]
    X = np.column_stack([X, 0.1 * X[:, 0] ** 2])
    copies = np.concatenate([X, X[:40], X[:20], X[:1]])
    model = lowdim.LLE(n_neighbors=9, method="ltsa", random_state=0)
    Z = _quiet(model, copies)
    np.testing.assert_array_equal(Z[300:340], Z[:40])
    np.testing.assert_array_equal(model.transform(copies), Z)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.T @ Z / len(copies), np.eye(2), atol=1e-10)
    once = _quiet(lowdim.LLE(n_neighbors=9, method="ltsa", random_state=0), X)
    assert explained(once, Z[:300]).min() > 0.99


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
def test_incomplete_rows(policy):
    rng = np.random.default_rng(0)
    sheet = rng.random((400, 2)) * [2.0, 1.0]
    X = np.column_stack([sheet, np.sin(2 * sheet[:, 0]), sheet.sum(axis=1), sheet @ [1.0, -1.0]])
    holes = rng.random(X.shape) < 0.05
    holes[np.arange(400), rng.integers(0, 5, 400)] = False
    Y = np.where(holes, np.nan, X)
    model = lowdim.LLE(n_neighbors=14, method="ltsa", missing=policy, random_state=0)
    Z = _quiet(model, Y)
    assert explained(sheet, Z).min() > (0.9 if policy == "expected" else 0.5)
    at_home = ~holes.any(axis=1) if policy == "expected" else slice(None)
    np.testing.assert_allclose(model.transform(Y)[at_home], Z[at_home], atol=1e-9)
    whole = lowdim.LLE(n_neighbors=14, method="ltsa", missing=policy, random_state=0).fit(X).embedding_
    without = lowdim.LLE(n_neighbors=14, method="ltsa").fit(X).embedding_
    assert explained(without, whole).min() > 1 - 1e-6


# ---- collapses and refusals ---------------------------------------------------------------------------------


def test_both_collapses_are_reported():
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.2, size=(300, 3))  # heavy tails: a few outlying rows take the axes
    with pytest.warns(UserWarning, match=r"\d+% of the rows lie within 1 % of the map's diameter"):
        lowdim.LLE(n_neighbors=8, ridge=1e-3).fit(X)
    four = sparse.block_diag([np.eye(5) - 0.2] * 4).tocsr()  # more null vectors than axes
    with pytest.warns(UserWarning, match="4 or more eigenvalues are zero to rounding"):
        warn_of_ambiguous_axes(null_axes(sparse.csr_array(four), 2), "LLE")


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")  # true ones, and no part of this test
@pytest.mark.parametrize("settings", [{}, {"n_neighbors": 8, "ridge": 1e-3}, {"method": "hessian"}])
def test_a_sheet_that_shrinks_to_a_line_is_reported(settings):
    """Ten rows off a roll take one of the two axes, in a graph of one part; without them nothing is said."""
    rng = np.random.default_rng(0)
    roll = lowdim.datasets.swiss_roll(800, random_state=0).X
    aside = rng.standard_normal((10, 3))
    aside *= rng.uniform(40, 80, (10, 1)) / np.linalg.norm(aside, axis=1, keepdims=True)
    X = np.vstack([roll, roll.mean(axis=0) + aside])
    model = lowdim.LLE(random_state=0, **settings)
    with pytest.warns(UserWarning, match=r"17 of 810 rows \(80\d, 80\d, .*\) make [89]\d% of the spread"):
        model.fit(X)
    assert model.n_components_graph_ == 1
    model.fit(roll)


def test_a_small_gap_is_reported():
    X = np.random.default_rng(0).normal(size=(300, 6))  # no direction stands out
    with pytest.warns(UserWarning, match=r"LLE: the gap after the last axis is small .*ratio 1\.\d\d"):
        lowdim.LLE(n_neighbors=20).fit(X)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "hessian", "n_neighbors": 5}, "n_neighbors must be at least 6 for method='hessian'"),
        ({"method": "hessian", "n_components": 3, "n_neighbors": 9}, "at least 10"),
        ({"method": "ltsa", "n_neighbors": 2}, "at least 3"),
        ({"method": "modified", "n_neighbors": 1}, "at least 2"),
        ({"n_neighbors": 30}, "n_neighbors must be an integer from 1 to 29 for 30 rows; got 30"),
        ({"metric": "precomputed"}, "metric must compare rows"),
        ({"ridge": 0.0}, "ridge must be"),
        ({"method": "tsne"}, "method must be"),
    ],
)
def test_what_cannot_work_is_refused(settings, said):
    X = np.random.default_rng(0).normal(size=(30, 30))
    with pytest.raises(ValueError, match=said):
        lowdim.LLE(**settings).fit(np.abs(X - X.T) if "metric" in settings else X)


@each_method
def test_a_curve_and_a_line(method):
    """Fewer directions than asked for: axes where there are some, nothing that is not finite."""
    t = np.linspace(0, 3, 80)
    for X in (np.column_stack([np.cos(t), np.sin(t)]), np.outer(t, [1.0, 2.0, 3.0])):
        Z = _quiet(lowdim.LLE(n_neighbors=8, method=method), X)
        assert np.isfinite(Z).all()
        # One second derivative a neighbourhood does not see every wiggle of a curve.
        assert method == "hessian" or explained(t[:, None], Z).min() > 0.9


def test_float32_rows():
    made = lowdim.datasets.swiss_roll(800, random_state=0)
    for method in LLE_METHODS:
        double, single = (
            _quiet(lowdim.LLE(n_neighbors=10, method=method, random_state=0), made.X.astype(kind))
            for kind in (np.float64, np.float32)
        )
        assert single.dtype == np.float32
        assert explained(double, single).min() > 0.999
