"""TCIE: sheets with holes, the boundary, and what it becomes when every pair counts."""

import re

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

from lowdim import MDS, TCIE, Isomap, datasets
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.neighbors import nearest
from lowdim.stress._boundary import one_sidedness, trusted_pairs
from tests._core.graph.test_repair import bridged_roll
from tests.linear.pca.test_pca import up_to_sign
from tests.spectral.test_isomap import procrustes_error

HOLE = 0.8  # half its side


def holed(n=700, seed=0):
    """A flat square without its middle, and the same bent into half a tube."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(0, 3, (3 * n, 2))
    flat = flat[(np.abs(flat - 1.5).max(axis=1) > HOLE)][:n]
    return flat, np.column_stack([np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]])


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")  # which a frame around a hole resembles
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_sheet_with_a_hole_is_recovered_better_than_by_isomap(seed):
    flat, X = holed(seed=seed)
    isomap = procrustes_error(flat, Isomap(2, n_neighbors=12).fit_transform(X))
    model = TCIE(2, n_neighbors=12).fit(X)
    assert procrustes_error(flat, model.embedding_) < 0.65 * isomap
    assert 0.1 < model.kept_share_ < 0.5


@pytest.mark.parametrize("seed", [0, 1])
def test_the_swiss_roll_with_a_hole(seed):
    roll = datasets.swiss_roll_hole(1000, noise=0.02, random_state=seed)
    flat = roll.isometric_coordinates
    settings = {"n_neighbors": 8, "repair": "linearity"}
    isomap = procrustes_error(flat, Isomap(2, **settings).fit_transform(roll.X))
    assert procrustes_error(flat, TCIE(2, **settings).fit_transform(roll.X)) < 0.7 * isomap


def test_a_convex_sheet_is_no_worse_than_isomap():
    roll = datasets.swiss_roll(700, random_state=0)
    flat = roll.isometric_coordinates
    settings = {"n_neighbors": 9, "repair": "linearity"}
    isomap = procrustes_error(flat, Isomap(2, **settings).fit_transform(roll.X))
    assert procrustes_error(flat, TCIE(2, **settings).fit_transform(roll.X)) < 1.1 * isomap


def test_every_pair_counting_is_isomap_and_majorisation():
    X = datasets.swiss_roll(300, random_state=0).X
    model = TCIE(2, n_neighbors=8, boundary=2.0, tol=1e-13, max_iter=3000).fit(X)
    assert not model.boundary_.any()
    assert model.kept_share_ == 1.0
    start = Isomap(2, n_neighbors=8).fit(X)
    D = (start.geodesics_ + start.geodesics_.T) / 2
    expected = MDS(2, metric="precomputed", init=start.embedding_, tol=1e-13, max_iter=3000).fit(D)
    np.testing.assert_allclose(
        up_to_sign(expected.embedding_, model.embedding_), expected.embedding_, atol=1e-4 * np.abs(D).max()
    )
    assert model.objective_ == pytest.approx(expected.stress_, rel=1e-9)


def test_the_boundary_is_where_it_is():
    flat, X = holed(800)
    model = TCIE(2, n_neighbors=9).fit(X)
    outer = np.minimum(flat, 3 - flat).min(axis=1)
    hole = np.abs(np.abs(flat - 1.5).max(axis=1) - HOLE)
    depth = np.minimum(outer, hole)
    assert model.boundary_[depth < 0.02].mean() > 0.8
    assert model.boundary_[depth > 0.25].mean() < 0.15


def test_a_segment_has_two_ends():
    n = 200
    D = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
    sides = one_sidedness(D, 1)
    assert sides[[0, -1]] == pytest.approx(1.0)
    assert np.abs(sides[20:-20]).max() < 0.1


def test_pairs_that_count():
    flat, _ = holed(500)
    G = neighbor_graph(nearest(flat, 9))
    D = geodesics(G)
    kept = trusted_pairs(G, D, one_sidedness(D, 2) > 0.7, 9)
    assert np.array_equal(kept, kept.T)
    true = squareform(pdist(flat))
    far = true > 0.5
    longer = D / np.where(far, true, np.inf)
    assert np.quantile(longer[~kept & far], 0.99) > 1.1 * np.quantile(longer[kept & far], 0.99)
    assert kept[np.repeat(np.arange(500), np.diff(G.indptr)), G.indices].mean() > 0.9  # neighbours count
    assert trusted_pairs(G, D, np.zeros(500, dtype=bool), 9).all()


def test_new_rows():
    flat, X = holed(800)
    model = TCIE(2, n_neighbors=9).fit(X[:650])
    np.testing.assert_allclose(model.transform(X[:650]), model.embedding_, atol=1e-8)
    design = np.column_stack([model.embedding_, np.ones(650)])
    turn = np.linalg.lstsq(design, flat[:650], rcond=None)[0]
    off = np.linalg.norm(np.column_stack([model.transform(X[650:]), np.ones(150)]) @ turn - flat[650:], axis=1)
    assert np.median(off) < 0.05


def test_precomputed_tables_and_graphs():
    _, X = holed(300)
    D = squareform(pdist(X))
    rows = TCIE(2, n_neighbors=9).fit(X)
    for given in (D, kneighbors_graph(X, 9, mode="distance")):
        model = TCIE(2, n_neighbors=9, metric="precomputed").fit(given)
        np.testing.assert_allclose(up_to_sign(rows.embedding_, model.embedding_), rows.embedding_, atol=1e-4)
        np.testing.assert_allclose(model.transform(D[:7]), model.embedding_[:7], atol=1e-6)
    stored = sparse.csr_array(np.where(D[:3] < np.sort(D[:3])[:, [6]], np.maximum(D[:3], 1e-9), 0.0))
    np.testing.assert_allclose(model.transform(stored), model.embedding_[:3], atol=1e-4)


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")  # which a frame around a hole resembles
def test_parts():
    X = np.vstack([holed(200)[1], holed(150, 1)[1] + 20])
    with pytest.warns(UserWarning, match="2 components"):
        model = TCIE(2, n_neighbors=8, disconnected="separate").fit(X)
    assert model.embedding_[:200, 0].max() < model.embedding_[200:, 0].min()
    with pytest.warns(UserWarning, match="150 rows outside"):
        model = TCIE(2, n_neighbors=8, disconnected="largest").fit(X)
    assert np.isnan(model.embedding_[200:]).all()
    assert np.isnan(model.transform(X[200:205])).all()


def test_repair_and_no_convergence():
    X, flat = bridged_roll(700)
    model = TCIE(2, n_neighbors=8, repair="linearity").fit(X)
    assert procrustes_error(flat, model.embedding_[:700]) < 0.2
    assert len(model.suspicious_edges_) > 0
    with pytest.warns(ConvergenceWarning, match="TCIE: not converged after max_iter=1"):
        assert not TCIE(2, n_neighbors=8, max_iter=1).fit(X[:200]).converged_


def test_rows_that_are_no_surface_are_told():
    """Groups: each is no surface, and paths between them lead through rows at their boundaries."""
    rng = np.random.default_rng(0)
    X = np.repeat(10 * rng.standard_normal((10, 5)), 20, axis=0) + rng.standard_normal((200, 5))
    with pytest.warns(UserWarning, match=r"TCIE: (\d+ % of the rows have their nearest|the neighbour graph)") as said:
        TCIE(2, tol=0.1).fit(X)
    assert any("of the rows have their nearest rows on one side" in str(warning.message) for warning in said)
    TCIE(2, tol=0.1).fit(datasets.swiss_roll(300, random_state=0).X)


def test_neighbours_that_isomap_shows_and_this_map_does_not_are_told():
    """Rows in six dimensions: not enough of them look as if they were at a boundary, and no plane holds the others."""
    X = np.random.default_rng(0).standard_normal((200, 6))
    with pytest.warns(UserWarning, match=r"TCIE: \d+ % of the pairs count: the rows do not lie on a surface") as said:
        model = TCIE(2, tol=1e-4).fit(X)
    text = " ".join(str(warning.message) for warning in said)
    shares = re.search(r"in the map (\d+) % are neighbours, in Isomap's map (\d+) %", text).groups()
    graph = kneighbors_graph(X, 10).toarray() > 0
    maps = model.embedding_, Isomap(2, n_neighbors=10).fit_transform(X)
    seen = [(graph | graph.T)[kneighbors_graph(Z, 10).toarray() > 0].mean() for Z in maps]
    np.testing.assert_allclose([int(share) for share in shares], 100 * np.array(seen), atol=0.6)
    assert seen[0] < 0.9 * seen[1]


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
def test_surfaces_are_not_said_to_be_none():
    TCIE(2, n_neighbors=12, tol=1e-4).fit(holed(250)[1])
    TCIE(2, tol=1e-4).fit(np.random.default_rng(0).uniform(size=(200, 3)) * [1, 1, 0.2])
