"""Isomap against vegan and dimRed, its identities, and what happens when the graph falls apart."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import Isomap as SklearnIsomap
from sklearn.neighbors import kneighbors_graph

import lowdim
from lowdim import PCA, ClassicalMDS, Isomap, datasets
from lowdim.quality import knn_error
from tests._core.graph.test_repair import bridged_roll
from tests.linear.pca.test_pca import cloud, numeric, up_to_sign
from tests.oracles import HERE, load_expected

APART = "ignore:Isomap. the neighbour graph"


def compare(case_id, model):
    points = load_expected(case_id, "points.csv")[:, : model.n_components]
    Z = model.embedding_
    np.testing.assert_allclose(up_to_sign(points, Z), points, atol=1e-6 * np.abs(points).max())
    np.testing.assert_allclose(model.eigenvalues_, load_expected(case_id, "eig.csv")[: model.n_components], rtol=1e-7)


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
def test_vegan_k6():
    X = numeric("swissroll_300")
    model = Isomap(3, n_neighbors=6).fit(X)
    compare("isomap_vegan_swiss300_k6", model)
    geodesic = np.loadtxt(HERE / "isomap_vegan_swiss300_k6" / "geodesic.csv.gz", delimiter=",", skiprows=1)
    np.testing.assert_allclose(model.geodesics_, geodesic, rtol=1e-9)


def test_vegan_other_graphs():
    compare("isomap_vegan_scurve_k10", Isomap(3, n_neighbors=10).fit(numeric("scurve_300")))
    # vegan takes edges shorter than epsilon - 1e-5
    compare("isomap_vegan_swiss300_eps5p9", Isomap(3, radius=5.9 - 1e-5).fit(numeric("swissroll_300")))


def test_vegan_largest_fragment():
    X = numeric("swissroll_300")
    with pytest.warns(UserWarning, match="2 components"):
        model = Isomap(3, n_neighbors=4, disconnected="largest").fit(X)
    kept = load_expected("isomap_vegan_swiss300_k4_fragmented", "take.csv").astype(bool)
    np.testing.assert_array_equal(np.isfinite(model.embedding_).all(axis=1), kept)
    points = load_expected("isomap_vegan_swiss300_k4_fragmented", "points.csv")
    np.testing.assert_allclose(up_to_sign(points, model.embedding_[kept]), points, atol=1e-6 * np.abs(points).max())


def test_vegan_refuses_fragments():
    with pytest.raises(ValueError, match=r"Isomap: .*components"):
        Isomap(2, n_neighbors=4, disconnected="error").fit(numeric("fragmented_50"))


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
def test_dimred():
    Z = Isomap(2, n_neighbors=8).fit_transform(numeric("swissroll_300"))
    points = load_expected("dimred_isomap_swiss300", "points.csv")
    np.testing.assert_allclose(up_to_sign(points, Z), points, atol=1e-4 * np.abs(points).max())


def test_every_row_a_neighbour_is_classical_scaling():
    X = cloud(40, 4)
    Z = PCA(3).fit_transform(X)
    np.testing.assert_allclose(up_to_sign(Z, Isomap(3, n_neighbors=39).fit_transform(X)), Z, atol=1e-8)
    np.testing.assert_allclose(up_to_sign(Z, Isomap(3, radius=1e9).fit_transform(X)), Z, atol=1e-8)
    with pytest.warns(UserWarning, match="not Euclidean"):
        expected = ClassicalMDS(2, metric="manhattan").fit_transform(X)
    Z = Isomap(2, n_neighbors=39, metric="manhattan").fit_transform(X)
    np.testing.assert_allclose(up_to_sign(expected, Z), expected, atol=1e-8)


def test_path_lengths_are_shortest_paths():
    X = datasets.swiss_roll(150, random_state=0).X
    model = Isomap(2, n_neighbors=7).fit(X)
    G = kneighbors_graph(X, 7, mode="distance")
    np.testing.assert_allclose(model.geodesics_, dijkstra(G.maximum(G.T)), rtol=1e-10)
    assert (model.geodesics_ >= squareform(pdist(X)) - 1e-9).all()


def test_scikit_learn_agrees():
    X, new = datasets.swiss_roll(150, random_state=0).X, datasets.swiss_roll(20, random_state=1).X
    theirs = SklearnIsomap(n_neighbors=8, n_components=2, eigen_solver="dense").fit(X)
    ours = Isomap(2, n_neighbors=8).fit(X)
    np.testing.assert_allclose(up_to_sign(theirs.embedding_, ours.embedding_), theirs.embedding_, atol=1e-6)
    np.testing.assert_allclose(up_to_sign(theirs.transform(new), ours.transform(new)), theirs.transform(new), atol=1e-6)


def test_the_roll_is_unrolled():
    data = datasets.swiss_roll(800, noise=0.0, random_state=0)
    Z = Isomap(2, n_neighbors=8).fit_transform(data.X)
    flat = data.isometric_coordinates - data.isometric_coordinates.mean(axis=0)
    U, _, Vt = np.linalg.svd(Z.T @ flat)
    assert np.sqrt(((Z @ U @ Vt - flat) ** 2).sum() / (flat**2).sum()) < 0.1


def test_landmarks():
    X = datasets.swiss_roll(800, random_state=0).X
    exact = Isomap(2, n_neighbors=8).fit(X)
    every = Isomap(2, n_neighbors=8, n_landmarks=800).fit(X)
    np.testing.assert_allclose(up_to_sign(exact.embedding_, every.embedding_), exact.embedding_, atol=1e-9)
    few = Isomap(2, n_neighbors=8, n_landmarks=60, random_state=0).fit(X)
    assert len(np.unique(few.landmarks_)) == 60
    Z = up_to_sign(exact.embedding_, few.embedding_)
    assert np.corrcoef(Z[:, 0], exact.embedding_[:, 0])[0, 1] > 0.999
    assert np.corrcoef(Z[:, 1], exact.embedding_[:, 1])[0, 1] > 0.99
    np.testing.assert_allclose(few.transform(X), few.embedding_, atol=1e-9 * np.abs(Z).max())
    assert Isomap(n_landmarks=100).estimate_memory((100_000, 3)) < 1e9
    assert Isomap(n_landmarks=None).estimate_memory((100_000, 3)) > 1e11
    assert Isomap().estimate_memory((100_000, 3)) < 2e9  # goes by landmarks


def test_large_negative_eigenvalues_are_not_kept():
    """The references take roots of B'B and so keep them as if they were positive."""
    D = numeric("noneuclid_dissim")
    values = np.linalg.eigvalsh(-0.5 * (H := np.eye(12) - 1 / 12) @ D**2 @ H)[::-1]
    model = Isomap(2, metric="precomputed", n_neighbors=11, n_landmarks=12).fit(
        squareform(pdist(cloud(12, 3), "sqeuclidean"))
    )
    assert (model.eigenvalues_ > 0).all()
    with pytest.warns(UserWarning, match="positive eigenvalue"):
        model = Isomap(12, metric="precomputed", n_neighbors=11).fit(D)
    assert (model.eigenvalues_ > 0).sum() <= (values > 0).sum() + 2  # shortcuts change D a little


def two_blobs(seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack(
        [rng.standard_normal((30, 3)), rng.standard_normal((20, 3)) + np.array([50, 0, 0]), [[0, 200, 0.0]]]
    )


def test_bridge_joins_by_the_shortest_edges():
    X = two_blobs()
    with pytest.warns(UserWarning, match="3 components"):
        model = Isomap(2, n_neighbors=5, disconnected="bridge").fit(
            np.vstack([X, X[-1] + np.eye(3)[[0, 1, 2, 0, 1]] * 0.1])
        )
    assert model.n_components_graph_ == 3
    D, labels = model.geodesics_, model.component_labels_
    assert np.isfinite(D).all()
    assert (D[labels == 0][:, labels == 1] > 40).all()  # infinite once became 0 elsewhere
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_allclose(
        model.transform(X[:50]), model.embedding_[:50], atol=1e-8 * np.abs(model.embedding_).max()
    )


def test_separate_embeds_each_and_tiles():
    X = two_blobs()[:50]
    with pytest.warns(UserWarning, match="2 components"):
        model = Isomap(2, n_neighbors=5, disconnected="separate").fit(X)
    a, b = model.embedding_[:30], model.embedding_[30:]
    assert a[:, 0].max() < b[:, 0].min()
    np.testing.assert_allclose(pdist(a), pdist(Isomap(2, n_neighbors=5).fit_transform(X[:30])), rtol=1e-7)
    assert np.isinf(model.geodesics_[0, 40])
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max())


def test_largest_leaves_the_others_out_openly():
    X = two_blobs()[:50]
    with pytest.warns(UserWarning, match="20 rows outside"):
        model = Isomap(2, n_neighbors=5, disconnected="largest").fit(X)
    assert np.isnan(model.embedding_[30:]).all()
    Z = model.transform(X)
    np.testing.assert_allclose(Z[:30], model.embedding_[:30], atol=1e-8 * np.nanmax(np.abs(Z)))
    assert np.isnan(Z[30:]).all()
    assert len(model.component_labels_) == 50


def test_precomputed_distances_and_sparse_graphs():
    X, new = datasets.swiss_roll(120, random_state=0).X, datasets.swiss_roll(9, random_state=1).X
    D = squareform(pdist(X))
    expected = Isomap(2, n_neighbors=7).fit(X)
    to_fitted = np.linalg.norm(new[:, None] - X, axis=2)
    for given in (D, pdist(X)):
        model = Isomap(2, n_neighbors=7, metric="precomputed").fit(given)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-7)
        np.testing.assert_allclose(model.transform(to_fitted), expected.transform(new), atol=1e-7)
    graph = kneighbors_graph(X, 7, mode="distance")
    model = Isomap(2, n_neighbors=7, metric="precomputed").fit(graph)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-7)
    # Stored entries are the edges, whatever n_neighbors says; new rows store their edges too.
    model = Isomap(2, n_neighbors=50, metric="precomputed").fit(graph)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-7)
    order = np.argsort(to_fitted, axis=1)[:, :7]
    kept = np.zeros_like(to_fitted)
    np.put_along_axis(kept, order, np.take_along_axis(to_fitted, order, axis=1), axis=1)
    np.testing.assert_allclose(model.transform(sparse.csr_array(kept)), expected.transform(new), atol=1e-7)
    with pytest.raises(ValueError, match="must store a distance"):
        model.transform(sparse.csr_array((1, 120)))


def test_a_disconnected_sparse_graph_cannot_be_bridged():
    graph = kneighbors_graph(two_blobs()[:50], 5, mode="distance")
    with pytest.raises(ValueError, match="separate"):
        Isomap(2, n_neighbors=5, metric="precomputed").fit(graph)
    with pytest.warns(UserWarning, match="2 components"):
        Z = Isomap(2, n_neighbors=5, metric="precomputed", disconnected="separate").fit_transform(graph)
    assert np.isfinite(Z).all()


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
def test_duplicated_rows_keep_their_zero_edges():
    X = np.repeat(datasets.swiss_roll(80, random_state=0).X, 2, axis=0)
    model = Isomap(2, n_neighbors=9).fit(X)
    assert np.isfinite(model.geodesics_).all()
    np.testing.assert_allclose(model.embedding_[::2], model.embedding_[1::2], atol=1e-7)


def test_residual_variance_falls_and_new_axes_help():
    X = datasets.swiss_roll(800, random_state=0).X
    model = Isomap(3, n_neighbors=8).fit(X)
    curve = model.residual_variance_
    for r in (1, 2, 3):
        corr = np.corrcoef(squareform(model.geodesics_, checks=False), pdist(model.embedding_[:, :r]))[0, 1]
        assert curve[r - 1] == pytest.approx(1 - corr**2, abs=0.01)
    assert curve[1] < 0.02 < curve[0]


def test_sparse_rows():
    S = sparse.random_array((60, 8), density=0.5, random_state=np.random.default_rng(0), format="csr")
    expected = Isomap(2, n_neighbors=10).fit_transform(S.toarray())
    np.testing.assert_allclose(Isomap(2, n_neighbors=10).fit_transform(S), expected, atol=1e-6)


def test_too_many_neighbours():
    with pytest.raises(ValueError, match="Isomap: n_neighbors must be an integer from 1 to 19 for 20 rows"):
        Isomap(2, n_neighbors=50).fit(cloud(20, 3))


def test_radius_from_precomputed_tables_and_graphs():
    X, new = datasets.swiss_roll(120, random_state=0).X, datasets.swiss_roll(9, random_state=1).X
    expected = Isomap(2, radius=8.0).fit(X)
    D, to_fitted = squareform(pdist(X)), np.linalg.norm(new[:, None] - X, axis=2)
    model = Isomap(2, radius=8.0, metric="precomputed").fit(D)
    np.testing.assert_allclose(model.transform(to_fitted), expected.transform(new), atol=1e-7)
    graph = Isomap(2, radius=8.0, metric="precomputed").fit(sparse.csr_array(D))
    np.testing.assert_allclose(graph.transform(sparse.csr_array(to_fitted)), expected.transform(new), atol=1e-7)


def test_a_radius_that_reaches_too_far_is_refused_before_the_search():
    from lowdim import config

    X = datasets.swiss_roll(3000, random_state=0).X
    with config(memory_limit="100MB"), pytest.raises(MemoryError, match="smaller radius"):
        Isomap(2, radius=50.0, n_landmarks=20).fit(X)


def test_many_parts_are_one_warning():
    X = np.repeat(np.arange(40.0)[:, None] * 100, 3, axis=0) + np.tile([[0.0], [1.0], [2.5]], (40, 1))
    with pytest.warns(UserWarning, match="40 components") as caught:
        Isomap(2, n_neighbors=2, disconnected="separate").fit(X)
    assert len(caught) == 1


def procrustes_error(flat, Z):
    """At the best size: paths along a graph are a few percent longer than the sheet."""
    flat, Z = flat - flat.mean(axis=0), Z - Z.mean(axis=0)
    U, values, Vt = np.linalg.svd(Z.T @ flat)
    return np.sqrt(((values.sum() / (Z**2).sum() * Z @ U @ Vt - flat) ** 2).sum() / (flat**2).sum())


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
@pytest.mark.parametrize("repair", ["flow", "linearity", "stability"])
@pytest.mark.parametrize("n_landmarks", [None, 100])
def test_repair_before_and_after(repair, n_landmarks):
    X, flat = bridged_roll(1000)
    settings = {"n_neighbors": 8, "n_landmarks": n_landmarks, "random_state": 0}
    assert procrustes_error(flat, Isomap(2, **settings).fit_transform(X)[:1000]) > 0.5
    model = Isomap(2, repair=repair, **settings).fit(X)
    assert procrustes_error(flat, model.embedding_[:1000]) < 0.15
    assert len(model.suspicious_edges_) == len(model.suspicious_scores_) == len(model.suspicious_removed_) > 0
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max())
    # a new row between two turns does not join them again: it lands in the sheet
    between = bridged_roll(1000, 5, 7)[0][1000:]
    Z = model.transform(between)
    assert np.abs(Z).max() < 1.2 * np.abs(model.embedding_[:1000]).max()


def test_repair_of_graphs_without_rows():
    X, flat = bridged_roll(1000)
    D = squareform(pdist(X))
    with pytest.raises(ValueError, match="repair='linearity' needs the rows"):
        Isomap(2, metric="precomputed", repair="linearity").fit(D)
    rows = Isomap(2, n_neighbors=8, repair="stability").fit(X)
    table = Isomap(2, n_neighbors=8, repair="stability", metric="precomputed").fit(D)
    assert np.array_equal(rows.suspicious_edges_, table.suspicious_edges_)
    graph = Isomap(2, repair="flow", metric="precomputed").fit(kneighbors_graph(X, 8, mode="distance"))
    assert procrustes_error(flat, graph.embedding_[:1000]) < 0.15


def test_repair_takes_sparse_and_incomplete_rows():
    X, _ = bridged_roll(800)
    dense = Isomap(2, n_neighbors=8, repair="linearity").fit(X)
    thin = Isomap(2, n_neighbors=8, repair="linearity").fit(sparse.csr_array(X))
    assert np.array_equal(dense.suspicious_edges_, thin.suspicious_edges_)
    X = X.copy()
    X[::40, 0] = np.nan
    model = Isomap(2, n_neighbors=8, repair="linearity", missing="expected", random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
def test_tearing_opens_the_helix():
    """Closed, a loop of 5,000 rows laid on a line puts far rows together: 1-NN error up to 31 %."""
    helix = datasets.helix(2000, random_state=0)
    settings = {"n_neighbors": 8, "n_landmarks": 200, "random_state": 0}
    closed = Isomap(1, **settings).fit(helix.X)
    model = Isomap(1, tear=True, **settings).fit(helix.X)
    assert knn_error(closed.embedding_, helix.labels) > 0.1
    assert knn_error(model.embedding_, helix.labels) < 0.03
    assert len(model.torn_edges_) > 0
    np.testing.assert_allclose(model.transform(helix.X), model.embedding_, atol=1e-9 * np.abs(model.embedding_).max())


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")  # a loop has a narrow place here and there
@pytest.mark.parametrize("seed", range(3))
def test_tearing_opens_the_helix_of_the_studies(seed):
    helix = datasets.helix(5000, random_state=seed)
    Z = Isomap(1, n_neighbors=8, tear=True, random_state=0).fit_transform(helix.X)
    assert knn_error(Z, helix.labels) <= 0.015


def test_a_whole_roll_is_not_torn():
    X = datasets.swiss_roll(1000, random_state=0).X
    plain, model = (Isomap(2, n_neighbors=9, tear=tear, random_state=0).fit(X) for tear in (False, True))
    assert len(model.torn_edges_) == 0
    assert np.array_equal(plain.embedding_, model.embedding_)


def test_kernel_isomap_is_classical_scaling_of_lengths_and_a_constant():
    X, new = datasets.swiss_roll(150, random_state=0).X, datasets.swiss_roll(20, random_state=1).X
    model = Isomap(3, n_neighbors=7, kernelize=True).fit(X)
    D = (model.geodesics_ + model.geodesics_.T) / 2
    expected = ClassicalMDS(3, metric="precomputed", correction="cailliez").fit(D)
    np.testing.assert_allclose(
        up_to_sign(expected.embedding_, model.embedding_), expected.embedding_, atol=1e-7 * np.abs(D).max()
    )
    # K~ = K(D²) + 2c K(D) + c²/2 H has no negative eigenvalue (Choi and Choi)
    H, c = np.eye(150) - 1 / 150, model.constant_
    K = -0.5 * H @ (D**2 + 2 * c * D) @ H + 0.5 * c**2 * H
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-10 * values[-1]
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:3], rtol=1e-7)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-7 * np.abs(D).max())
    assert np.isfinite(model.transform(new)).all()


def test_kernel_isomap_of_euclidean_lengths_is_isomap():
    X = cloud(40, 4)
    plain, model = Isomap(3, n_neighbors=39).fit(X), Isomap(3, n_neighbors=39, kernelize=True).fit(X)
    assert model.constant_ == 0.0
    np.testing.assert_allclose(plain.embedding_, model.embedding_, atol=1e-9)


def test_flat_grids_are_recovered():
    """On a square grid with straight and diagonal edges, rows of a thin strip are as far as along their lines."""
    line = np.column_stack([np.arange(60.0), np.zeros(60)])
    Z = Isomap(1, n_neighbors=2).fit_transform(line)
    np.testing.assert_allclose(np.abs(np.diff(Z[:, 0])), 1.0, atol=1e-9)
    rng = np.random.default_rng(0)
    sheet = rng.uniform([0, 0], [2, 1], (1500, 2))
    assert procrustes_error(sheet, Isomap(2, n_neighbors=12).fit_transform(sheet)) < 0.03


def test_the_residual_variance_curve_has_its_elbow_at_the_dimension():
    sheet, settings = datasets.swiss_roll(1000, random_state=2).X, {"n_neighbors": 8, "random_state": 0}
    for n_landmarks in (None, 80):
        curve = Isomap(5, n_landmarks=n_landmarks, **settings).fit(sheet).residual_variance_
        assert curve[0] > 0.03 > 10 * curve[1]
        assert np.abs(np.diff(curve[1:])).max() < 0.003  # after two axes, another gains nothing


def test_the_reconstruction_error_is_that_of_scikit_learn():
    X = datasets.swiss_roll(150, random_state=0).X
    theirs = SklearnIsomap(n_neighbors=8, n_components=2).fit(X)
    ours = Isomap(2, n_neighbors=8).fit(X)
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-6)
    some = Isomap(2, n_neighbors=8, n_landmarks=50, random_state=0).fit(X)
    assert 0 < some.reconstruction_error() < 2 * ours.reconstruction_error()


@pytest.mark.parametrize("name", ["Isomap", "LLE", "LaplacianEigenmaps", "MVU", "TCIE"])
def test_the_default_number_of_neighbours_fits_few_rows(name):
    X = np.random.default_rng(0).standard_normal((6, 3))
    model = getattr(lowdim, name)(random_state=0)
    with pytest.warns(UserWarning, match=rf"{name}: the default n_neighbors=\d+ is too large for 6 rows; 5 were used"):
        assert model.fit(X).transform(X).shape == (6, 2)
    if name != "MVU":  # which takes as many as there are
        with pytest.raises(ValueError, match="n_neighbors"):
            getattr(lowdim, name)(n_neighbors=7, random_state=0).fit(X)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["Isomap", "LaplacianEigenmaps", "MVU", "TCIE"])
def test_a_default_that_is_not_used_is_not_told_of(name):
    """Of a sparse graph the edges count, and within a radius all rows."""
    X = np.random.default_rng(0).standard_normal((6, 3))
    cls, graph = getattr(lowdim, name), sparse.csr_array(squareform(pdist(X)))
    cls(1, metric="precomputed", random_state=0).fit(graph)
    cls(1, radius=100.0, random_state=0).fit(X)
