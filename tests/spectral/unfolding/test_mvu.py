"""Maximum variance unfolding: closed forms, the semidefinite program as oracle, and what an unfolding must keep."""

import sys
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import MVU, PCA
from lowdim.spectral.unfolding import _low_rank
from lowdim.spectral.unfolding._low_rank import DistanceConstraints, unfold
from tests._core.graph.test_repair import bridged_roll
from tests.linear.pca.test_pca import cloud
from tests.spectral.test_isomap import procrustes_error

BOTH = pytest.mark.parametrize("solver", ["low_rank", "exact"])


def graph_of(pairs, lengths, n):
    i, j = np.array(pairs).T
    return sparse.csr_array((lengths, (i, j)), shape=(n, n))


def path(n):
    return graph_of([(i, i + 1) for i in range(n - 1)], np.ones(n - 1), n)


def ring(n):
    return graph_of([(i, (i + 1) % n) for i in range(n)], np.ones(n), n)


def sheet(width, height):
    """A flat grid, and the graph of its sides and both diagonals."""
    P = np.array([(x, y) for x in range(width) for y in range(height)], dtype=float)
    D = np.sqrt(((P[:, None] - P) ** 2).sum(axis=2))
    return P - P.mean(axis=0), sparse.csr_array(np.where(D < 1.5, D, 0.0))


@BOTH
def test_a_chain_becomes_straight(solver):
    n = 15
    model = MVU(n_components=2, metric="precomputed", slack=0.0, solver=solver, tol=1e-6).fit(path(n))
    x = np.arange(n) - (n - 1) / 2
    assert model.objective_ == pytest.approx(x @ x, rel=1e-4)
    np.testing.assert_allclose(np.abs(model.embedding_[:, 0]), np.abs(x), atol=1e-2)
    assert model.eigenvalues_[1] < 1e-3 * model.eigenvalues_[0]


@BOTH
def test_a_ring_becomes_a_regular_polygon(solver):
    n = 16
    model = MVU(n_components=2, metric="precomputed", slack=0.0, solver=solver, tol=1e-6).fit(ring(n))
    radius = 1 / (2 * np.sin(np.pi / n))
    assert model.objective_ == pytest.approx(n * radius**2, rel=1e-4)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), radius, rtol=1e-2)


@BOTH
def test_a_crumpled_grid_is_laid_flat(solver):
    P, G = sheet(6, 5)
    model = MVU(n_components=2, metric="precomputed", slack=0.0, solver=solver, tol=1e-6).fit(G)
    assert model.objective_ == pytest.approx((P**2).sum(), rel=1e-4)
    U, _, Vt = np.linalg.svd(P.T @ model.embedding_)
    np.testing.assert_allclose(model.embedding_ @ (U @ Vt).T, P, atol=2e-2)


@BOTH
def test_the_complete_graph_leaves_no_choice_but_pca(solver):
    X = np.random.default_rng(0).standard_normal((20, 3)) * [3.0, 2.0, 1.0]
    model = MVU(n_components=3, n_neighbors=19, slack=0.0, solver=solver, tol=1e-7).fit(X)
    scores = PCA(n_components=3).fit_transform(X)
    signs = np.sign((scores * model.embedding_).sum(axis=0))
    np.testing.assert_allclose(model.embedding_ * signs, scores, atol=1e-3)
    assert model.objective_ == pytest.approx((scores**2).sum(), rel=1e-5)


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        ("swiss_roll", {"n_neighbors": 5, "slack": 1e-3}),
        ("swiss_roll", {"n_neighbors": 4, "slack": 0.01, "angles": True}),
        ("helix", {"n_neighbors": 4, "slack": 0.0}),
        ("twin_peaks", {"n_neighbors": 6, "slack": 0.1}),
    ],
)
def test_low_rank_reaches_the_variance_of_the_semidefinite_program(data, settings):
    X = getattr(lowdim.datasets, data)(30, random_state=0).X
    exact = MVU(solver="exact", **settings).fit(X)
    found = MVU(random_state=0, **settings).fit(X)
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-3)
    assert found.eigenvalues_[0] == pytest.approx(exact.eigenvalues_[0], rel=0.01)
    assert exact.edge_error_ <= settings["slack"] + 1e-4
    assert found.edge_error_ <= settings["slack"] + 1e-4


def test_balanced_pulls_prove_the_optimum():
    """Weak duality: pulls y with second eigenvalue mu of L_y bound every variance by sum y d² / mu."""
    n, G = 12, ring(12).tocoo()
    constraints = DistanceConstraints.of(G.row, G.col, G.data, 0.0)
    start = np.random.default_rng(0).standard_normal((n, 4))
    found = unfold(constraints, start, np.ones(n), tol=1e-7, max_iter=200, owner="test")
    B = constraints.incidence(n)
    L = (B.T @ sparse.diags_array(found.multipliers) @ B).toarray()
    bound = found.multipliers @ constraints.high / np.linalg.eigvalsh(L)[1]
    assert (found.coordinates**2).sum() <= bound * (1 + 1e-6)
    assert (found.coordinates**2).sum() >= 0.98 * bound


def test_lengths_are_kept_and_more_slack_gives_more_variance():
    X = lowdim.datasets.swiss_roll(60, random_state=0).X
    total = ((X - X.mean(axis=0)) ** 2).sum()
    models = [MVU(slack=slack, random_state=0).fit(X) for slack in (0.001, 0.1)]
    for model in models:
        assert model.converged_
        assert model.edge_error_ <= model.slack + 1e-4
    variances = [total, *(model.objective_ for model in models)]
    assert variances == sorted(variances)
    assert models[0].objective_ == pytest.approx(models[0].gram_eigenvalues_.sum())


@pytest.mark.parametrize("name", ["swiss_roll", pytest.param("twin_peaks", marks=pytest.mark.deep)])
def test_without_slack_the_default_settles(name):
    """The penalty has to grow for longer than with slack, 60 to 90 updates, until the lengths are met."""
    X = getattr(lowdim.datasets, name)(100, random_state=2).X
    model = MVU(slack=0, random_state=0).fit(X)
    assert model.converged_
    assert model.n_iter_ > 40
    assert model.edge_error_ <= 1e-4


def test_angles_are_kept_where_asked_for():
    """A chain of bent elbows can be straightened unless the distances across each elbow count."""
    n = 11
    X = np.column_stack([np.arange(n) * np.sqrt(0.5), (np.arange(n) % 2) * np.sqrt(0.5)])
    free = MVU(radius=1.1, slack=0.0, tol=1e-5).fit(X)
    stiff = MVU(radius=1.1, slack=0.0, tol=1e-5, angles=True).fit(X)
    straight = np.arange(n) - (n - 1) / 2
    assert free.objective_ == pytest.approx(straight @ straight, rel=1e-3)
    assert stiff.objective_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-3)


def test_new_rows_on_a_plane_are_placed_exactly():
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    P = rng.uniform(size=(80, 2))
    # A neighbourhood is not rigid enough to keep the plane unless the rows around it are: join many.
    model = MVU(n_neighbors=20, slack=0.0, tol=1e-6).fit(P @ frame)
    inside = 0.2 + 0.6 * rng.uniform(size=(10, 2))
    Z, ends = model.transform(inside @ frame), model.embedding_
    known = np.linalg.norm(inside[:, None] - P, axis=2)
    np.testing.assert_allclose(np.linalg.norm(Z[:, None] - ends, axis=2), known, atol=0.01)


def test_equal_rows_count_as_often_as_they_come():
    X = lowdim.datasets.helix(40, random_state=0).X
    twice = np.concatenate([X, X[:10], X[:5]])
    model = MVU(n_components=6, rank=6, random_state=0).fit(twice)
    np.testing.assert_array_equal(model.embedding_[40:50], model.embedding_[:10])
    centred = model.embedding_ - model.embedding_.mean(axis=0)
    assert (centred**2).sum() == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_allclose(model.transform(twice), model.embedding_, atol=1e-9)


def test_distances_alone_give_the_same_map():
    X = lowdim.datasets.twin_peaks(60, random_state=0).X
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    rows = MVU(slack=0.05, random_state=0).fit(X)
    known = MVU(slack=0.05, metric="precomputed", random_state=0).fit(D)
    assert known.objective_ == pytest.approx(rows.objective_, rel=1e-4)
    np.testing.assert_allclose(known.transform(D), known.embedding_, atol=1e-9)
    near = known.transform(D[:3] + 1e-9)
    np.testing.assert_allclose(near, known.embedding_[:3], atol=1e-3)


@pytest.mark.parametrize("policy", ["bridge", "separate", "largest"])
def test_parts_follow_the_policy(policy):
    X = lowdim.datasets.helix(50, random_state=0).X
    X = np.concatenate([X, X[:20] + 50.0])
    with pytest.warns(UserWarning, match="MVU: the neighbour graph has 2 components"):
        model = MVU(n_neighbors=4, slack=0.01, disconnected=policy, random_state=0).fit(X)
    np.testing.assert_array_equal(np.bincount(model.component_labels_), [50, 20])
    lost = np.isnan(model.embedding_).any(axis=1)
    np.testing.assert_array_equal(lost, (model.component_labels_ == 1) & (policy == "largest"))
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    with pytest.raises(ValueError, match="must be connected"):
        MVU(n_neighbors=4, disconnected="error").fit(X)


def test_rows_with_holes():
    X = lowdim.datasets.swiss_roll(80, random_state=0).X
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.05] = np.nan
    with pytest.raises(ValueError, match="missing="):
        MVU().fit(X)
    for policy in ("pairwise", "expected"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # rows that share no column; distances of no points
            model = MVU(missing=policy, slack=0.2, random_state=0).fit(X)
        assert np.isfinite(model.embedding_).all()
        assert np.isfinite(model.transform(X[:4])).all()


def test_landmarks_stand_for_the_rows_near_them():
    X = lowdim.datasets.helix(200, random_state=0).X
    some = MVU(n_landmarks=50, n_neighbors=4, slack=0.01, random_state=0).fit(X)
    assert len(some.landmarks_) == 50
    np.testing.assert_array_equal(some.transform(X), some.embedding_)
    every = MVU(n_neighbors=4, slack=0.01, random_state=0).fit(X)
    assert every.estimate_memory(X) > some.estimate_memory(X)
    assert lowdim.quality.trustworthiness(X, some.embedding_) > 0.95
    with pytest.raises(ValueError, match="n_landmarks must be None for a sparse graph"):
        MVU(metric="precomputed", n_landmarks=5).fit(ring(12))


def test_lengths_that_no_points_have_are_said():
    D = np.array([[0, 1, 9.0], [1, 0, 1], [9, 1, 0]])
    with pytest.warns(ConvergenceWarning, match="distances that are not Euclidean need slack"):
        model = MVU(n_neighbors=2, metric="precomputed", max_iter=20).fit(D)
    assert not model.converged_
    assert np.isfinite(model.embedding_).all()


@pytest.mark.deep
@pytest.mark.parametrize("name", ["roll", "cloud"])
def test_hard_constraints_are_met_or_the_reason_is_said(name):
    """slack=0: the penalty would grow until the metric is singular. The lengths are kept as far as is said."""
    rows = {"roll": lowdim.datasets.swiss_roll(60, random_state=0).X, "cloud": cloud(60, 2)}[name]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        hard, soft = (MVU(slack=slack, random_state=0).fit(rows) for slack in (0.0, 5e-4))
    assert hard.edge_error_ <= (1e-4 if hard.converged_ else 4e-4)
    assert hard.converged_ == (not heard)
    reasons = ("slack=0 leaves the problem no room", "but the variance still changes")
    assert all(any(reason in str(w.message) for reason in reasons) for w in heard)
    assert 0.95 * soft.objective_ < hard.objective_ < soft.objective_


def test_a_penalty_that_never_helps_does_not_end_in_a_singular_matrix(monkeypatch):
    """However many updates are allowed: the penalty has a bound. Without it the factors fail after about 55."""
    D = np.array([[0, 1, 9.0], [1, 0, 1], [9, 1, 0]])
    monkeypatch.setattr(_low_rank, "_has_stalled", lambda gaps: False)
    with pytest.warns(ConvergenceWarning, match="after max_iter=150 updates"):
        model = MVU(n_neighbors=2, metric="precomputed", max_iter=150).fit(D)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("slack", [0.0, 5e-4])
def test_distances_of_incomplete_rows_end_with_a_reason(slack):
    rng = np.random.default_rng(0)
    X = lowdim.datasets.swiss_roll(60, random_state=0).X
    X = np.hstack([X, X @ rng.normal(size=(3, 3))]).astype(np.float32)
    X[rng.random(X.shape) < 0.08] = np.nan
    model = MVU(slack=slack, missing="pairwise", random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"more steps do not help.*slack \(here by 0\.\d"):
        model.fit(X)
    assert not model.converged_
    assert np.isfinite(model.embedding_).all()
    assert model.n_iter_ < 60


def test_more_dimensions_where_the_distances_need_them():
    """All distances of rows in ten dimensions need ten: rank=None finds them, a given rank stays."""
    X = np.random.default_rng(0).normal(size=(30, 12))
    kept = MVU(n_neighbors=29, slack=0.0, random_state=0).fit(X)
    assert kept.converged_
    np.testing.assert_allclose(kept.objective_, ((X - X.mean(axis=0)) ** 2).sum(), rtol=1e-3)
    with pytest.warns(ConvergenceWarning, match="not converged"):
        few = MVU(n_neighbors=29, slack=0.0, rank=8, random_state=0).fit(X)
    assert len(few.gram_eigenvalues_) == 8


def test_the_solver_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ImportError, match=r"lowdim\[mvu\].*low_rank' needs nothing"):
        MVU(solver="exact").fit(X)
    assert MVU(slack=0.1).fit_transform(X).shape == (20, 2)


def test_the_exact_program_has_a_largest_size():
    with pytest.raises(ValueError, match="at most 150 different rows"):
        MVU(solver="exact").fit(np.random.default_rng(0).standard_normal((151, 3)))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_rows(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = MVU(n_neighbors=1 if n == 2 else 2, slack=0.01, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert model.edge_error_ < 0.011


@pytest.mark.deep
def test_two_thousand_rows():
    data = lowdim.datasets.swiss_roll(2000, random_state=0)
    start = time.process_time()
    model = MVU(random_state=0).fit(data.X)
    assert time.process_time() - start < 200
    assert model.converged_
    assert model.edge_error_ < 1e-3
    assert model.gram_eigenvalues_[2] < 0.01 * model.eigenvalues_[1]


@pytest.mark.filterwarnings("ignore:.*seems to have short circuits")
def test_short_circuits_hold_a_roll_together_until_they_are_repaired():
    X, flat = bridged_roll(600, 3, 0)
    settings = {"n_neighbors": 6, "slack": 0.05, "tol": 1e-2, "random_state": 0}
    rolled = MVU(2, **settings).fit(X)
    model = MVU(2, repair="linearity", **settings).fit(X)
    assert all((model.suspicious_edges_ == p).any() for p in range(len(flat), len(X)))
    assert rolled.suspicious_edges_ is None
    assert model.objective_ > 2 * rolled.objective_
    assert procrustes_error(flat, model.embedding_[:600]) < 0.15 < procrustes_error(flat, rolled.embedding_[:600])
