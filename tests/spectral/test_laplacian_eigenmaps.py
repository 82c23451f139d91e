"""Laplacian eigenmaps on graphs whose spectra are known, against loe and scikit-learn, its identities and new rows."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.manifold import spectral_embedding
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from lowdim import LaplacianEigenmaps, datasets, load, save
from tests.linear.pca.test_pca import cloud, numeric, up_to_sign
from tests.oracles import load_expected

CLASSIC = {"one_sided": 1.0, "width": "median"}  # the graph and weights of Belkin and Niyogi
APART = "ignore:LaplacianEigenmaps. the neighbour graph"


def graph(n, edges, length=1.0):
    """A sparse matrix of lengths that stores each edge once."""
    i, j = np.array(edges).T
    return sparse.csr_array((np.full(len(i), length), (i, j)), shape=(n, n))


def ring(n):
    return graph(n, [(i, (i + 1) % n) for i in range(n)])


def of_graph(r, **options):
    return LaplacianEigenmaps(r, metric="precomputed", weights="binary", **options)


def spread(Z):
    return np.abs(Z - Z.mean(axis=0)).max()


def or_graph(X, k):
    """The definition, pair by pair: who is among the k nearest of either."""
    D = squareform(pdist(X))
    order = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :k]
    A = np.zeros(D.shape, dtype=bool)
    A[np.repeat(np.arange(len(X)), k), order.ravel()] = True
    return D, A | A.T


def walk_of(X, k, gamma):
    """W, D and all eigenpairs of L y = l D y, dense."""
    D, joined = or_graph(X, k)
    W = np.where(joined, np.exp(-gamma * D**2), 0.0)
    root = np.sqrt(W.sum(axis=1))
    values, V = np.linalg.eigh(np.eye(len(X)) - W / np.outer(root, root))
    return W, values, V / root[:, None]


# ---- graphs with known spectra ---------------------------------------------------------------------------------


def test_ring():
    """Every node has degree 2, so l = (2 - 2 cos(2 pi j / n)) / 2, each twice; the axes are cosines and sines."""
    n = 24
    model = of_graph(6).fit(ring(n))
    j = np.array([1, 1, 2, 2, 3, 3])
    np.testing.assert_allclose(2 * model.eigenvalues_, 2 - 2 * np.cos(2 * np.pi * j / n), atol=1e-12)
    angles = 2 * np.pi * np.arange(n) / n
    Q = np.column_stack([f(m * angles) for m in (1, 2, 3) for f in (np.cos, np.sin)])
    inside = Q @ np.linalg.lstsq(Q, model.embedding_, rcond=None)[0]
    np.testing.assert_allclose(inside, model.embedding_, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_[:, :2], axis=1), np.sqrt(1 / n), rtol=1e-10)


def test_path():
    """Weights of 1 and degrees 1, 2, ..., 2, 1: l = 1 - cos(pi j / (n - 1)), cosines of the place on the path."""
    n = 30
    model = of_graph(4).fit(graph(n, [(i, i + 1) for i in range(n - 1)]))
    j = np.arange(1, 5)
    np.testing.assert_allclose(model.eigenvalues_, 1 - np.cos(np.pi * j / (n - 1)), atol=1e-12)
    expected = np.cos(np.pi * np.outer(np.arange(n), j) / (n - 1))
    found = up_to_sign(expected, model.embedding_ / np.abs(model.embedding_).max(axis=0))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_torus():
    """A product of rings of a and b nodes: the eigenvalues of L are sums of theirs."""
    a, b = 9, 14
    node = lambda i, j: (i % a) * b + j % b  # noqa: E731
    edges = [(node(i, j), other) for i in range(a) for j in range(b) for other in (node(i + 1, j), node(i, j + 1))]
    model = of_graph(12).fit(graph(a * b, edges))
    waves = [2 - 2 * np.cos(2 * np.pi * np.arange(m) / m) for m in (a, b)]
    expected = np.sort(np.add.outer(*waves).ravel())[1:13]
    np.testing.assert_allclose(4 * model.eigenvalues_, expected, atol=1e-11)


def test_grid_by_a_dense_solver():
    a, b = 7, 11
    places = np.array([(i, j) for i in range(a) for j in range(b)], dtype=float)
    model = LaplacianEigenmaps(5, radius=1.0, weights="binary").fit(places)
    W = (cdist(places, places, "cityblock") == 1).astype(float)
    root = np.sqrt(W.sum(axis=1))
    values, V = np.linalg.eigh(np.eye(a * b) - W / np.outer(root, root))
    np.testing.assert_allclose(model.eigenvalues_, values[1:6], atol=1e-12)
    expected = (V / root[:, None])[:, 1:3]
    np.testing.assert_allclose(up_to_sign(expected, model.embedding_[:, :2]), expected, atol=1e-9)
    np.testing.assert_allclose(model.transform(places), model.embedding_, atol=1e-8 * spread(model.embedding_))


def test_complete_graph_has_eigenvalues_above_one():
    """l = n / (n - 1) > 1: the formula for new rows holds with a negative factor."""
    X = cloud(9, 3)
    model = LaplacianEigenmaps(3, n_neighbors=8, weights="binary").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 9 / 8, rtol=1e-12)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * spread(model.embedding_))


def test_star_has_axes_without_a_formula():
    """l = 1 on the leaves of a star: neighbours say nothing, and new rows get their mean."""
    lengths = graph(6, [(0, i) for i in range(1, 6)])
    model = of_graph(5).fit(lengths)
    np.testing.assert_allclose(model.eigenvalues_, [1, 1, 1, 1, 2], atol=1e-12)
    new = sparse.csr_array(([1.0, 1.0], ([0, 0], [1, 2])), shape=(1, 6))
    expected = model.embedding_[[1, 2]].mean(axis=0)
    np.testing.assert_allclose(model.transform(new)[0, :4], expected[:4], atol=1e-12)


# ---- references ------------------------------------------------------------------------------------------------


def test_loe():
    """loe leaves the vectors of the symmetric problem as they are, which is normalization="symmetric"."""
    A = load_expected("laplacian_spec_emb_scurve_norm", "adjacency.csv")
    points = load_expected("laplacian_spec_emb_scurve_norm", "points.csv")
    values = load_expected("laplacian_spec_emb_scurve_norm", "smallest_eigs.csv")
    given = LaplacianEigenmaps(2, metric="precomputed", weights="given", normalization="symmetric").fit(A)
    rows = LaplacianEigenmaps(2, one_sided=1, weights="binary", normalization="symmetric").fit(numeric("scurve_300"))
    for model in (given, rows):
        np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-6)
        np.testing.assert_allclose(up_to_sign(points[:, ::-1], model.embedding_), points[:, ::-1], atol=1e-6)
        np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-10)


@pytest.mark.parametrize("drop", [False, True])
def test_scikit_learn_on_the_same_weights(drop):
    X = datasets.swiss_roll(150, random_state=0).X
    W = np.exp(-(squareform(pdist(X)) ** 2) / 20)
    np.fill_diagonal(W, 0 if drop else 1)
    theirs = spectral_embedding(W, n_components=3, drop_first=True, eigen_solver="arpack", random_state=0)
    if not drop:  # scikit-learn takes the diagonal out
        np.fill_diagonal(W, 0)
    ours = LaplacianEigenmaps(3, metric="precomputed", weights="given").fit(W).embedding_
    np.testing.assert_allclose(up_to_sign(theirs, ours), theirs, atol=1e-6 * np.abs(theirs).max())


def test_definition():
    X = datasets.swiss_roll(200, random_state=1).X
    model = LaplacianEigenmaps(3, n_neighbors=9, **CLASSIC).fit(X)
    D, joined = or_graph(X, 9)
    assert model.gamma_ == pytest.approx(0.5 / np.median(D[joined] ** 2))
    _, values, Y = walk_of(X, 9, model.gamma_)
    np.testing.assert_allclose(model.eigenvalues_, values[1:4], rtol=1e-8)
    np.testing.assert_allclose(up_to_sign(Y[:, 1:4], model.embedding_), Y[:, 1:4], atol=1e-8 * spread(Y[:, 1:4]))


def test_the_default_weights():
    """exp(-d²/(s_i s_j)), s the distance to the last neighbour but at least its median; half for one-sided pairs."""
    X = datasets.swiss_roll(150, random_state=1).X
    X[0] += 30.0  # outside: its neighbours are far
    D = squareform(pdist(X))
    last = np.sort(D, axis=1)[:, 9]
    scales = np.maximum(last, np.sqrt(np.median(last**2)))
    K = np.exp(-(D**2) / np.outer(scales, scales))
    nearest = (last[:, None] >= D) & ~np.eye(150, dtype=bool)
    for share in (0.5, 1.0, 0.25):
        model = LaplacianEigenmaps(3, n_neighbors=9, one_sided=share).fit(X)
        sides = nearest.astype(int) + nearest.T
        W = K * np.choose(sides, [0.0, share, 1.0])
        np.testing.assert_allclose(model.scales_, scales, rtol=1e-10)
        root = np.sqrt(W.sum(axis=1))
        values, V = np.linalg.eigh(np.eye(150) - W / np.outer(root, root))
        np.testing.assert_allclose(model.eigenvalues_, values[1:4], rtol=1e-8)
        Y = (V / root[:, None])[:, 1:4]
        np.testing.assert_allclose(up_to_sign(Y, model.embedding_), Y, atol=1e-8 * spread(Y))
    assert scales[0] > 2 * np.median(scales)


def test_half_weights_are_those_of_scikit_learn():
    """Binary weights, half for one-sided pairs: what its graph of neighbours becomes when it is made symmetric."""
    X = cloud(120, 3)
    theirs = kneighbors_graph(X, 10, include_self=False)
    W = 0.5 * (theirs + theirs.T)
    expected = spectral_embedding(W, n_components=3, drop_first=True, eigen_solver="arpack", random_state=0)
    ours = LaplacianEigenmaps(3, n_neighbors=10, weights="binary").fit(X).embedding_
    scale = np.abs(expected).max() / np.abs(ours).max()
    np.testing.assert_allclose(up_to_sign(expected, scale * ours), expected, atol=1e-6 * np.abs(expected).max())


def test_mutual_neighbours_alone():
    """one_sided=0: pairs of which only one has the other among its neighbours are no edges."""
    X = cloud(60, 2)
    model = LaplacianEigenmaps(2, n_neighbors=8, one_sided=0, weights="binary", disconnected="separate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    D = squareform(pdist(X))
    nearest = (np.sort(D, axis=1)[:, [8]] >= D) & ~np.eye(60, dtype=bool)
    count, labels = sparse.csgraph.connected_components(sparse.csr_array(nearest & nearest.T))
    assert model.n_components_graph_ == count
    assert len(np.unique(np.column_stack([labels, model.component_labels_]), axis=0)) == count


# ---- identities ------------------------------------------------------------------------------------------------


def test_what_is_minimised_and_what_is_fixed():
    X = datasets.swiss_roll(150, random_state=2).X
    model = LaplacianEigenmaps(4, n_neighbors=8, gamma=0.05, one_sided=1).fit(X)
    W, values, _ = walk_of(X, 8, 0.05)
    Y, d = model.embedding_, W.sum(axis=1)
    np.testing.assert_allclose(Y.T @ (d[:, None] * Y), np.eye(4), atol=1e-10)
    L = np.diag(d) - W
    rough = (W[:, :, None] * (Y[:, None] - Y[None]) ** 2).sum()
    assert rough == pytest.approx(2 * np.trace(Y.T @ L @ Y), rel=1e-10)
    assert rough == pytest.approx(2 * model.eigenvalues_.sum(), rel=1e-8)
    assert (values > -1e-12).all()
    assert (values < 2 + 1e-12).all()
    np.testing.assert_allclose(d @ Y, 0, atol=1e-10)  # at right angles to the constant


def test_both_normalisations_differ_by_the_root_of_the_degree():
    X = cloud(60, 3)
    plain, symmetric = (
        LaplacianEigenmaps(2, n_neighbors=7, normalization=n, **CLASSIC).fit(X) for n in ("random_walk", "symmetric")
    )
    W, _, _ = walk_of(X, 7, plain.gamma_)
    expected = plain.embedding_ * np.sqrt(W.sum(axis=1))[:, None]
    np.testing.assert_allclose(symmetric.embedding_, expected, atol=1e-10)
    new = cloud(9, 3, seed=5)
    assert np.isfinite(symmetric.transform(new)).all()


def test_width_conventions():
    """The two formulas that texts call the heat kernel, and the gamma both mean."""
    X = cloud(60, 3)
    same = [
        {"gamma": 0.125},
        {"width": 2.0},
        {"width": 8**0.5, "convention": "exp(-d2/s2)"},
        {"width": 8.0, "convention": "exp(-d2/s)"},
    ]
    models = [LaplacianEigenmaps(2, n_neighbors=8, **options).fit(X) for options in same]
    assert [model.gamma_ for model in models] == pytest.approx([0.125] * 4)
    for model in models[1:]:
        np.testing.assert_allclose(model.embedding_, models[0].embedding_, atol=1e-10)
    largest = LaplacianEigenmaps(2, n_neighbors=8, width="largest", convention="exp(-d2/s2)").fit(X)
    D, joined = or_graph(X, 8)
    assert largest.gamma_ == pytest.approx(1 / D[joined].max() ** 2)
    median = LaplacianEigenmaps(2, n_neighbors=8, width="median")
    halves = [clone(median).set_params(convention=c).fit(X).gamma_ for c in ("exp(-d2/s2)", "exp(-d2/s)")]
    assert halves == pytest.approx([2 * median.fit(X).gamma_] * 2)


def test_distances_given_in_every_form():
    X = cloud(70, 4)
    D = squareform(pdist(X))
    expected = LaplacianEigenmaps(2, n_neighbors=8, one_sided=1, width="median").fit(X)
    table = LaplacianEigenmaps(2, n_neighbors=8, metric="precomputed", **CLASSIC)
    for distances in (D, pdist(X)):
        np.testing.assert_allclose(table.fit(distances).embedding_, expected.embedding_, atol=1e-8)
    np.testing.assert_allclose(table.transform(D[:5]), expected.embedding_[:5], atol=1e-8)
    stored = sparse.csr_array(np.where(or_graph(X, 8)[1], D, 0))
    model = LaplacianEigenmaps(2, metric="precomputed", width="median").fit(stored)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-8)
    np.testing.assert_allclose(model.transform(stored[:5]), model.embedding_[:5], atol=1e-8)
    with pytest.raises(
        ValueError, match="LaplacianEigenmaps: every row of X must store a distance to a fitted row; row 0"
    ):
        model.transform(sparse.csr_array((1, 70)))
    rows = LaplacianEigenmaps(2, n_neighbors=8, **CLASSIC).fit(sparse.csr_array(X))
    np.testing.assert_allclose(rows.embedding_, expected.embedding_, atol=1e-8)


def test_given_weights():
    X = cloud(40, 3)
    W = np.exp(-squareform(pdist(X)))
    model = LaplacianEigenmaps(2, metric="precomputed", weights="given").fit(W)
    np.testing.assert_allclose(model.transform(W[:6]), model.embedding_[:6], atol=1e-9)
    np.testing.assert_allclose(model.transform(7 * W[:6]), model.embedding_[:6], atol=1e-9)
    stored = LaplacianEigenmaps(2, metric="precomputed", weights="given").fit(sparse.csr_array(W))
    np.testing.assert_allclose(stored.embedding_, model.embedding_, atol=1e-9)
    with pytest.raises(ValueError, match="must have a positive weight to a fitted row; row 0"):
        model.transform(np.zeros((1, 40)))
    with pytest.raises(ValueError, match="must be symmetric"):
        LaplacianEigenmaps(metric="precomputed", weights="given").fit(np.triu(W))
    with pytest.raises(ValueError, match="not negative"):
        LaplacianEigenmaps(metric="precomputed", weights="given").fit(-W)
    with pytest.raises(ValueError, match="weights='given' must go with metric='precomputed'"):
        LaplacianEigenmaps(weights="given").fit(X)


# ---- new rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"weights": "binary"}, {"normalization": "symmetric"}, {"radius": 5.0}])
@pytest.mark.filterwarnings(APART)
def test_fitted_rows_come_out_where_they_are(options):
    X = datasets.swiss_roll(300, random_state=0).X
    model = LaplacianEigenmaps(3, n_neighbors=8, **options).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-10 * spread(model.embedding_))
    moved = model.transform(X + 1e-8)
    assert np.abs(moved - model.embedding_).max() < 1e-3 * spread(model.embedding_)


def test_ties_do_not_matter():
    """Equally spaced rows have neighbours that are equally far: which one was taken is remembered in the edges."""
    X = np.outer(np.arange(40.0), [1.0, 0.1])
    model = LaplacianEigenmaps(2, n_neighbors=5).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9 * spread(model.embedding_))


def test_the_formula_for_a_new_row():
    """y(x) = sum_j w(x, j) y_j / ((1 - l) d(x)), written out, for rows that are next to no fitted one."""
    X, new = cloud(80, 3), cloud(12, 3, seed=9)
    model = LaplacianEigenmaps(2, n_neighbors=6).fit(X)
    D = cdist(new, X)
    gaps = np.sort(squareform(pdist(X)), axis=1)[:, 1]
    free = D.min(axis=1) > gaps[D.argmin(axis=1)] / 2
    assert free.sum() > 3
    own = np.maximum(np.sort(D, axis=1)[:, 5], model.scales_.min())
    W = np.exp(-(D**2) / np.outer(own, model.scales_)) * (np.argsort(np.argsort(D, axis=1), axis=1) < 6)
    expected = W @ model.embedding_ / W.sum(axis=1, keepdims=True) / (1 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform(new)[free], expected[free], atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")  # true ones, and no part of this test
def test_new_rows_of_the_roll_lie_on_the_map():
    """Rows left out of the fit are placed close to where a fit with them puts them."""
    X = datasets.swiss_roll(1200, random_state=0).X
    whole, part = LaplacianEigenmaps(2, n_neighbors=10).fit(X), LaplacianEigenmaps(2, n_neighbors=10).fit(X[:1000])
    A, B = whole.embedding_[1000:], part.transform(X[1000:])
    for axis in range(2):
        assert abs(np.corrcoef(A[:, axis], B[:, axis])[0, 1]) > 0.99


def test_far_rows_do_not_vanish():
    model = LaplacianEigenmaps(2, n_neighbors=6).fit(cloud(60, 3))
    assert np.isfinite(model.transform(np.full((1, 3), 1e6))).all()


# ---- graphs that fall apart ------------------------------------------------------------------------------------


def islands(count=3, n=25):
    return np.vstack([cloud(n, 2, seed=c) * 0.05 + 100.0 * c for c in range(count)])


def test_zeros_are_components():
    X = islands()
    with pytest.warns(UserWarning, match="3 components"):
        model = LaplacianEigenmaps(2, n_neighbors=5, disconnected="largest", **CLASSIC).fit(X)
    _, values, _ = walk_of(X, 5, model.gamma_)
    assert model.n_components_graph_ == 3 == (values < 1e-9).sum()
    np.testing.assert_array_equal(np.bincount(model.component_labels_), [25, 25, 25])


@pytest.mark.filterwarnings(APART)
def test_policies():
    X = islands()
    for weights in ("heat", "binary"):
        model = LaplacianEigenmaps(2, n_neighbors=5, weights=weights).fit(X)
        Z = model.embedding_
        np.testing.assert_allclose(model.transform(X), Z, atol=1e-8 * spread(Z))
        # The bridge is as heavy as the weakest link, so the first axis tells the islands apart.
        groups = [Z[25 * c : 25 * c + 25, 0] for c in range(3)]
        assert max(g.std() for g in groups) < 0.3 * Z[:, 0].std()
    apart = LaplacianEigenmaps(2, n_neighbors=5, disconnected="separate", width="median").fit(X)
    np.testing.assert_allclose(apart.transform(X), apart.embedding_, atol=1e-8 * spread(apart.embedding_))
    alone = LaplacianEigenmaps(2, n_neighbors=5, gamma=apart.gamma_).fit(X[:25])
    moved = apart.embedding_[:25] - apart.embedding_[:25].mean(axis=0)
    np.testing.assert_allclose(moved, alone.embedding_ - alone.embedding_.mean(axis=0), atol=1e-9)
    largest = LaplacianEigenmaps(2, n_neighbors=5, disconnected="largest").fit(X)
    assert np.isfinite(largest.embedding_[:25]).all()
    assert np.isnan(largest.embedding_[25:]).all()
    assert np.isnan(largest.transform(X[30:31])).all()
    with pytest.raises(ValueError, match=r"LaplacianEigenmaps: .*must be connected; got 3 components"):
        LaplacianEigenmaps(2, n_neighbors=5, disconnected="error").fit(X)
    W = np.kron(np.eye(2), np.ones((4, 4)))
    with pytest.raises(ValueError, match="disconnected='bridge' must know distances"):
        LaplacianEigenmaps(2, metric="precomputed", weights="given").fit(W)
    assert LaplacianEigenmaps(2, metric="precomputed", weights="given", disconnected="separate").fit(W)


def test_weights_that_vanish_join_nothing():
    X = cloud(40, 2)
    with pytest.warns(UserWarning, match="components"):
        model = LaplacianEigenmaps(2, n_neighbors=5, gamma=1e6).fit(X)
    assert np.isfinite(model.embedding_).all()


# ---- rows that are equal, missing cells, precision -------------------------------------------------------------


def test_equal_rows_count_once():
    X = cloud(50, 3)
    copies = np.vstack([X, X[:20], X[:5]])
    model, once = (LaplacianEigenmaps(2, n_neighbors=6).fit(rows) for rows in (copies, X))
    np.testing.assert_allclose(model.embedding_, once.embedding_[np.r_[:50, :20, :5]], atol=1e-10)
    np.testing.assert_allclose(model.transform(copies), model.embedding_, atol=1e-9)
    D = squareform(pdist(copies))
    table = LaplacianEigenmaps(2, n_neighbors=6, metric="precomputed").fit(D)
    np.testing.assert_allclose(table.embedding_, model.embedding_, atol=1e-8)
    np.testing.assert_allclose(table.transform(D[60:70]), table.embedding_[60:70], atol=1e-8)
    with pytest.warns(UserWarning, match="3 different rows"):
        LaplacianEigenmaps(1, n_neighbors=5).fit(np.repeat(cloud(3, 2), 4, axis=0))
    with pytest.raises(ValueError, match="LaplacianEigenmaps: X must have at least 2 different rows"):
        LaplacianEigenmaps().fit(np.ones((20, 3)))


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
def test_incomplete_rows(policy):
    X = datasets.swiss_roll(200, random_state=0).X
    X = np.hstack([X, X @ np.random.default_rng(0).standard_normal((3, 3))])
    holes = np.random.default_rng(1).random(X.shape) < 0.05
    complete = LaplacianEigenmaps(2, n_neighbors=8, **CLASSIC).fit(X)
    settings = {"missing": policy, "random_state": 0, **CLASSIC}
    model = LaplacianEigenmaps(2, n_neighbors=8, **settings).fit(np.where(holes, np.nan, X))
    Z = model.embedding_
    assert abs(np.corrcoef(Z[:, 0], complete.embedding_[:, 0])[0, 1]) > 0.8
    whole = ~holes.any(axis=1)
    again = model.transform(np.where(holes, np.nan, X))
    assert np.abs(again[whole] - Z[whole]).max() < 1e-8 * spread(Z)
    assert np.isfinite(again).all()


@pytest.mark.filterwarnings("ignore:LaplacianEigenmaps. the neighbour graph seems to have short circuits")
def test_single_precision_and_files(tmp_path):
    X = datasets.swiss_roll(250, random_state=3).X
    double, single = LaplacianEigenmaps(2).fit(X), LaplacianEigenmaps(2).fit(X.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    np.testing.assert_allclose(single.embedding_, double.embedding_, atol=1e-4 * spread(double.embedding_))
    save(double, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").transform(X[:4] + 0.1), double.transform(X[:4] + 0.1))


def test_the_unnormalised_laplacian():
    """Eigenvectors of D - W; rows that equal fitted ones have their coordinates, and those near them about these."""
    X = datasets.swiss_roll(120, random_state=0).X
    settings = {"n_neighbors": 8, "width": "median", "one_sided": 1, "random_state": 0}
    model = LaplacianEigenmaps(3, normalization="none", **settings).fit(X)
    near = np.argsort(cdist(X, X), axis=1)[:, 1:9]
    joined = np.zeros((120, 120), dtype=bool)
    np.put_along_axis(joined, near, True, axis=1)
    W = np.where(joined | joined.T, np.exp(-model.gamma_ * cdist(X, X) ** 2), 0.0)
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    np.testing.assert_allclose(model.eigenvalues_, values[1:4], rtol=1e-6)
    np.testing.assert_allclose(up_to_sign(model.embedding_, vectors[:, 1:4]), model.embedding_, atol=1e-6)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    new = model.transform(X[:5] + 0.05)
    assert np.abs(new - model.embedding_[:5]).max() < 0.2 * spread(model.embedding_)


def test_weights_by_a_function():
    X = datasets.swiss_roll(80, random_state=0).X
    model = LaplacianEigenmaps(2, weights=lambda A, B: rbf_kernel(A, B, gamma=0.05), random_state=0).fit(X)
    given = LaplacianEigenmaps(2, metric="precomputed", weights="given").fit(rbf_kernel(X, gamma=0.05))
    np.testing.assert_allclose(up_to_sign(model.embedding_, given.embedding_), model.embedding_, atol=1e-8)
    new = X[:4] + 0.3
    theirs = up_to_sign(model.transform(new), given.transform(rbf_kernel(new, X, gamma=0.05)))
    np.testing.assert_allclose(theirs, model.transform(new), atol=1e-8)
    with pytest.raises(ValueError, match=r"weights\(A, B\) must have 80 rows and 80 columns"):
        LaplacianEigenmaps(2, weights=lambda A, B: A).fit(X)
    with pytest.raises(ValueError, match="repair must be None for weights that are given"):
        LaplacianEigenmaps(2, weights=rbf_kernel, repair="flow").fit(X)


def test_more_axes_than_there_are():
    with pytest.warns(UserWarning, match="4 different rows have 3 axes"):
        model = LaplacianEigenmaps(5, n_neighbors=3).fit(cloud(4, 2))
    assert (model.embedding_[:, 3:] == 0).all()


@pytest.mark.deep
def test_many_rows():
    """Where scikit-learn's lobpcg and amg stop unconverged: the first eigenvalues of 70,000 rows, residuals checked."""
    X = datasets.swiss_roll(70_000, random_state=0).X
    model = LaplacianEigenmaps(2, n_neighbors=15, weights="binary", one_sided=1).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, [2.93978660e-05, 1.19962438e-04], rtol=1e-6)


def test_the_weights_of_the_graph_are_kept(tmp_path):
    X = datasets.swiss_roll(80, random_state=0).X
    lengths = kneighbors_graph(X, 6, mode="distance").toarray()
    own = LaplacianEigenmaps(2, n_neighbors=6, gamma=0.01, one_sided=0.5).fit(X)
    near = np.where(lengths > 0, np.exp(-0.01 * lengths**2), 0.0)
    assert sparse.issparse(own.affinity_matrix_)
    np.testing.assert_allclose(own.affinity_matrix_.toarray(), (near + near.T) / 2, atol=1e-12)

    given = LaplacianEigenmaps(2, metric="precomputed", weights="given").fit(own.affinity_matrix_)
    np.testing.assert_allclose(up_to_sign(given.embedding_, own.embedding_), own.embedding_, atol=1e-7)
    save(own, tmp_path / "model.lowdim")
    again = load(tmp_path / "model.lowdim").affinity_matrix_
    np.testing.assert_array_equal(again.toarray(), own.affinity_matrix_.toarray())


def test_weights_of_equal_rows_are_at_the_first_of_them():
    X = datasets.swiss_roll(40, random_state=0).X
    twice = LaplacianEigenmaps(2, n_neighbors=6, gamma=0.01).fit(np.vstack([X[:1], X])).affinity_matrix_.toarray()
    assert twice.shape == (41, 41)
    assert not twice[1].any()
    assert not twice[:, 1].any()
    kept = np.delete(np.arange(41), 1)
    assert twice[np.ix_(kept, kept)].any(axis=1).all()
