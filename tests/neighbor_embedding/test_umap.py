"""UMAP against umap-learn, its graph, its two descents, parts, starts, and new rows."""

import threading
import warnings
from _thread import interrupt_main

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from lowdim import UMAP, datasets
from lowdim._core.graph import components, neighbor_graph
from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding import _affinity, _fuzzy
from lowdim.neighbor_embedding._umap_descent import (
    ExpectedDescent,
    Forces,
    SampledDescent,
    Schedule,
    SettledDescent,
    divergence,
)
from lowdim.quality import rnx_auc
from tests._core.runtime.clocks import stopwatch
from tests.neighbor_embedding.promises import check_new_rows_of_a_sparse_graph
from tests.oracles import case, load_expected

DIGITS = load_digits()
ORACLE = "umap_learn_digits60"


def digits(n=800, dtype=np.float64):
    return DIGITS.data[:n].astype(dtype)


def graph(X, k=10, connectivity=1.0, mix=1.0):
    return _fuzzy.union(_fuzzy.memberships(_affinity.as_graph(nearest(X, k), len(X)), connectivity), mix)


def one_nn_error(Z, y):
    near = NearestNeighbors(n_neighbors=2).fit(Z).kneighbors(Z, return_distance=False)[:, 1]
    return np.mean(y[near] != y)


# ---- the graph and the kernel, as umap-learn makes them -------------------------------------------------------


@pytest.mark.parametrize(("name", "mix", "connectivity"), [("graph", 1.0, 1.0), ("graph_mixed", 0.3, 1.5)])
def test_the_graph_is_that_of_umap_learn(name, mix, connectivity):
    i, j, w = load_expected(ORACLE, name).T
    expected = sparse.coo_array((w, (i.astype(int) - 1, j.astype(int) - 1)), shape=(60, 60)).toarray()
    found = graph(digits(60), 10, connectivity, mix).toarray()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(np.triu(found), expected, rtol=case(ORACLE)["rtol"], atol=case(ORACLE)["atol"])


def test_the_kernel_is_that_of_umap_learn():
    for min_dist, spread, a, b in load_expected(ORACLE, "curve"):
        np.testing.assert_allclose(_fuzzy.curve(min_dist, spread, "T"), (a, b), rtol=1e-4)


@pytest.mark.parametrize("mix", [0.0, 0.4, 1.0])
def test_the_mixture_of_union_and_intersection(mix):
    W = np.triu(np.random.default_rng(0).random((6, 6)), 1) + np.tril(np.random.default_rng(1).random((6, 6)), -1)
    either, both = W + W.T - W * W.T, W * W.T
    found = _fuzzy.union(sparse.csr_array(W), mix).toarray()
    np.testing.assert_allclose(found, mix * either + (1 - mix) * both, atol=1e-15)


# ---- the map --------------------------------------------------------------------------------------------------


def test_as_good_as_umap_learn_on_digits():
    """With umap-learn at hand the same is asked of it now; otherwise its scores of another day decide."""
    y, scalars = DIGITS.target, case(ORACLE)["scalars"]
    Z = UMAP(n_neighbors=14, random_state=0).fit_transform(DIGITS.data)
    assert trustworthiness(DIGITS.data, Z, n_neighbors=12) > scalars["trustworthiness_12"] - 0.004
    assert one_nn_error(Z, y) < scalars["one_nn_error"] + 0.006
    assert rnx_auc(DIGITS.data, Z) > scalars["rnx_auc"] - 0.008


def test_both_ends_of_an_edge_are_pulled_together():
    """By equal forces, if the rate is small: edges alone move no centre."""
    X, rng = digits(600), np.random.default_rng(0)
    W, start = graph(X), np.random.default_rng(1).uniform(-5, 5, (600, 2))
    descent = SampledDescent(W, start, Forces(1.6, 0.9, 1.0, 0.0), Schedule(200, 0.01), rng)
    starts, ends, _, clocks = descent.edges
    table = sparse.csr_array((clocks.astype(float) + 1, ends, starts), shape=W.shape).toarray()
    np.testing.assert_array_equal(table, table.T)
    descent.advance(0, 20, 1)
    moved = descent.Z - start
    assert np.abs(moved.mean(axis=0)).max() < 0.01 * np.abs(moved).mean()


@pytest.mark.deep
def test_as_good_as_umap_learn_today():
    umap = pytest.importorskip("umap", reason="umap-learn is no dependency; its frozen scores are tested beside")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = umap.UMAP(n_neighbors=15, random_state=0).fit_transform(DIGITS.data)
    ours = UMAP(n_neighbors=14, random_state=0).fit_transform(DIGITS.data)
    kept, expected = (trustworthiness(DIGITS.data, Z, n_neighbors=12) for Z in (ours, theirs))
    assert kept > expected - 0.004
    assert one_nn_error(ours, DIGITS.target) < one_nn_error(theirs, DIGITS.target) + 0.006


def test_groups_stay_whole():
    rng = np.random.default_rng(0)
    member = np.repeat(np.arange(5), 150)
    X = 8 * rng.standard_normal((5, 10))[member] + rng.standard_normal((750, 10))
    with pytest.warns(UserWarning, match="components"):
        Z = UMAP(random_state=0).fit_transform(X)
    assert one_nn_error(Z, member) == 0


@pytest.mark.parametrize("solver", ["sampled", "exact"])
def test_both_descents_find_good_maps_from_anywhere(solver):
    X = digits(400)
    model = UMAP(solver=solver, init="random", random_state=0).fit(X)
    start = UMAP(solver=solver, init="random", max_iter=1, learning_rate=1e-9, random_state=0).fit(X)
    assert model.kl_divergence_ < 0.6 * start.kl_divergence_
    assert trustworthiness(X, model.embedding_, n_neighbors=12) > 0.965


def islands(Z):
    """Connected components of the map's graph of ten neighbours."""
    return components(neighbor_graph(nearest(Z, 10)))[0]


@pytest.mark.filterwarnings("ignore:UMAP. the neighbour graph has 2 components")
def test_few_rows_are_not_torn_apart():
    """Iris: two or three groups, as umap-learn draws over ten seeds, at a smaller divergence than either solver."""
    X = load_iris().data
    models = [UMAP(random_state=seed).fit(X) for seed in range(3)]
    assert {islands(model.embedding_) for model in models} <= {2, 3}
    assert {model.n_iter_ for model in models} == {800}
    ours = np.mean([model.kl_divergence_ for model in models])
    exact = UMAP(solver="exact", random_state=0).fit(X)
    assert islands(exact.embedding_) == 4
    assert ours < 0.92 * exact.kl_divergence_
    assert ours < 0.99 * UMAP(solver="sampled", random_state=0).fit(X).kl_divergence_


def test_the_two_halves_of_a_descent_meet_within_a_block():
    """Each half runs at a rate of its own; one epoch alone is of expected forces."""
    X = digits(60)
    W, start, forces = graph(X), np.random.default_rng(0).normal(size=(60, 2)), Forces(1.6, 0.9, 1.0, 5.0)
    descent = SettledDescent(W, start, forces, 30, 0.5, np.random.default_rng(0))
    first = SampledDescent(W, start, forces, Schedule(15, 0.5), np.random.default_rng(0))
    first.advance(0, 10, 1)
    first.advance(10, 5, 1)
    second = ExpectedDescent(W, first.Z, forces, Schedule(15, 0.5))
    second.advance(0, 15, 1)
    for done in (0, 10, 20):
        descent.advance(done, 10, 1)
    np.testing.assert_array_equal(descent.Z, second.Z)
    one = SettledDescent(W, start, forces, 1, 0.5, np.random.default_rng(0))
    one.advance(0, 1, 1)
    wanted = ExpectedDescent(W, start, forces, Schedule(1, 0.5))
    wanted.advance(0, 1, 1)
    np.testing.assert_array_equal(one.Z, wanted.Z)


def test_divergence_is_its_definition():
    X, forces = digits(90), Forces(1.6, 0.9, 1.0, 5.0)
    W, Z = graph(X), 2 * np.random.default_rng(0).standard_normal((90, 2))
    q, w, away = 1 / (1 + 1.6 * squareform(pdist(Z)) ** 1.8), W.toarray() / W.max(), ~np.eye(90, dtype=bool)
    r = 5.0 * (w.sum(axis=1) + w.sum(axis=1)[:, None]) / (4 * 90)
    q, w, r = q[away], w[away], r[away]
    v = w / (w + r)
    cost = (w + r) * (np.where(v > 0, v * np.log(np.maximum(v, 1e-300) / q), 0) + (1 - v) * np.log((1 - v) / (1 - q)))
    np.testing.assert_allclose(divergence(W, Z, forces), cost.sum() / (w + r).sum(), rtol=1e-9)


def test_the_same_map_for_any_number_of_threads_and_the_same_seed():
    X = digits(1200, np.float32)
    maps = [UMAP(max_iter=30, random_state=3, n_jobs=n).fit_transform(X) for n in (1, 2, 3)]
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])
    assert np.abs(UMAP(max_iter=30, random_state=4).fit_transform(X) - maps[0]).max() > 0.1


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("solver", ["sampled", "exact"])
def test_any_number_of_dimensions(k, solver):
    X = digits(300)
    model = UMAP(n_components=k, solver=solver, random_state=0).fit(X)
    assert model.embedding_.shape == (300, k)
    assert trustworthiness(X, model.embedding_, n_neighbors=12) > (0.9 if k == 1 else 0.97)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6)


@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
def test_every_start_leads_to_a_good_map(init):
    X = digits(700)
    assert trustworthiness(X, UMAP(init=init, random_state=0).fit_transform(X), n_neighbors=12) > 0.97


def test_a_start_that_is_given():
    X = digits(120)
    start = np.random.default_rng(0).standard_normal((120, 2))
    model = UMAP(init=start, learning_rate=1e-12, max_iter=1).fit(X)
    np.testing.assert_allclose(model.embedding_, start - start.mean(axis=0), atol=1e-9)
    with pytest.raises(ValueError, match=r"init must be 120 rows of 2 finite numbers; got shape \(7, 2\)"):
        UMAP(init=start[:7]).fit(X)


@pytest.mark.parametrize("solver", ["sampled", "exact"])
def test_a_start_far_from_the_origin(solver):
    """Forces are computed in single precision, in which such places would be one."""
    X, start = digits(150), np.random.default_rng(0).standard_normal((150, 2))
    found = UMAP(init=start + 1e9, solver=solver, random_state=0).fit_transform(X)
    assert trustworthiness(X, found, n_neighbors=12) > 0.9


@pytest.mark.parametrize("solver", ["sampled", "exact"])
@pytest.mark.parametrize("factor", [1e5, 1e-20])
def test_a_start_of_any_size(solver, factor):
    """Principal coordinates in the unit of the data, or of the size that t-SNE starts from."""
    X = digits(150)
    start = factor * (X - X.mean(axis=0)) @ np.linalg.svd(X - X.mean(axis=0))[2][:2].T
    with pytest.warns(UserWarning, match="times as wide as the spread.*it was scaled to 20"):
        found = UMAP(init=start, solver=solver, random_state=0).fit_transform(X)
    assert trustworthiness(X, found, n_neighbors=12) > 0.95


@pytest.mark.parametrize("solver", ["sampled", "exact"])
def test_rows_that_start_on_one_place_come_apart(solver):
    """Also leaves of a star, which spectral coordinates do not tell apart."""
    X = digits(120)
    model = UMAP(init=np.ones((120, 2)), solver=solver, random_state=0).fit(X)
    assert trustworthiness(X, model.embedding_, n_neighbors=12) > 0.9
    star = sparse.csr_array((np.ones(20), (np.zeros(20, int), np.arange(1, 21))), shape=(21, 21))
    Z = UMAP(metric="precomputed", solver=solver, random_state=0).fit_transform(star + star.T)
    assert pdist(Z).min() > 0.01


def test_min_dist_and_spread_shape_the_map():
    X = digits(250)

    def gap(**settings):
        Z = UMAP(random_state=0, **settings).fit_transform(X)
        return np.median(nearest(Z, 1).distances)

    assert gap(min_dist=0.8) > 1.5 * gap(min_dist=0.01)
    with pytest.raises(ValueError, match=r"UMAP: min_dist must be at most spread=1; got 1\.5"):
        UMAP(min_dist=1.5).fit(X[:50])


@pytest.mark.parametrize("solver", ["sampled", "exact"])
def test_the_spread_is_the_unit_of_the_map(solver):
    X, settings = digits(120), {"solver": solver, "densities": float(solver == "sampled"), "random_state": 0}
    model = UMAP(min_dist=0.25, **settings).fit(X[:100])
    wide = UMAP(min_dist=256.0, spread=1024.0, **settings).fit(X[:100])
    np.testing.assert_allclose(wide.embedding_ / 1024, model.embedding_, atol=1e-4)
    np.testing.assert_allclose(wide.transform(X[100:]) / 1024, model.transform(X[100:]), atol=1e-4)
    np.testing.assert_allclose(wide.transform(X[:100]), wide.embedding_, atol=1e-6)
    assert wide.kl_divergence_ == pytest.approx(model.kl_divergence_, rel=1e-4)
    if solver == "sampled":
        shift = [0, 2 * np.log(1024)]
        np.testing.assert_allclose(wide.local_radii_, model.local_radii_ + shift, atol=1e-3)


# ---- densities ------------------------------------------------------------------------------------------------


def log_reach(X, k=10):
    return np.log(nearest(X, k).distances.mean(axis=1))


def test_densities_are_kept_when_asked_for():
    """Three groups of one size but 1, 3 and 9 wide, and what each row sees: more is kept, and the groups too."""
    rng = np.random.default_rng(0)
    member = np.repeat(np.arange(3), 200)
    X = 60 * np.eye(3, 10)[member] + 3.0 ** member[:, None] * rng.standard_normal((600, 10))
    found = {}
    for weight in (0.0, 2.0):
        with pytest.warns(UserWarning, match="components"):
            model = UMAP(densities=weight, solver="sampled", random_state=0).fit(X)
        found[weight] = np.corrcoef(log_reach(X), log_reach(model.embedding_))[0, 1]
    assert found[2.0] > max(0.8, found[0.0] + 0.2)
    assert one_nn_error(model.embedding_, member) < 0.01
    assert model.local_radii_.shape == (600, 2)
    assert np.corrcoef(model.local_radii_.T)[0, 1] > 0.8
    assert np.corrcoef(model.local_radii_[:, 0], log_reach(X))[0, 1] > 0.98
    assert UMAP(max_iter=5).fit(X[:50]).local_radii_ is None


def test_densities_at_any_scale_and_with_parts_and_equal_rows():
    X = far_parts()
    X[5] = X[4]
    for factor, policy in ((1e-8, "bridge"), (1e8, "separate"), (1.0, "largest")):
        with pytest.warns(UserWarning, match="components"):
            model = UMAP(n_neighbors=8, densities=1.0, disconnected=policy, random_state=0).fit(factor * X)
        rows = model.component_labels_ == 0 if policy == "largest" else slice(None)
        assert np.isfinite(model.local_radii_[:, 0]).all()
        np.testing.assert_array_equal(np.isfinite(model.local_radii_[:, 1]), np.isfinite(model.embedding_[:, 0]))
        assert np.corrcoef(model.local_radii_[rows].T)[0, 1] > 0.3
        np.testing.assert_array_equal(model.local_radii_[4], model.local_radii_[5])


def test_densities_need_draws():
    with pytest.raises(ValueError, match=r"UMAP: densities must be 0 for solver='exact'; got 2\. Use solver='sampled'"):
        UMAP(densities=2.0, solver="exact").fit(digits(50))


# ---- rows of all kinds ----------------------------------------------------------------------------------------


def test_equal_rows_share_a_place_however_many():
    X = np.vstack([digits(100), np.repeat(digits(1), 60, axis=0)])
    model = UMAP(n_neighbors=10, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_[100:], np.broadcast_to(model.embedding_[0], (60, 2)))
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_fewer_rows_than_neighbours():
    with pytest.warns(UserWarning, match="UMAP: n_neighbors=15 is more than the 7 other rows; all of them were taken"):
        Z = UMAP().fit_transform(digits(8))
    assert np.isfinite(Z).all()


def test_precomputed_distances_give_the_same_map():
    X = digits(150)
    rows, D = UMAP(random_state=0).fit(X), squareform(pdist(X))
    table = UMAP(metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(table.embedding_, rows.embedding_, atol=1e-6)
    new = digits(160)[150:]
    between = np.sqrt(((new[:, None] - X) ** 2).sum(axis=-1))
    np.testing.assert_allclose(table.transform(between), rows.transform(new), atol=1e-6)
    np.testing.assert_allclose(table.transform(D[:9]), table.embedding_[:9], atol=1e-6)


def test_a_graph_of_distances():
    X = digits(150)
    G = _affinity.as_graph(nearest(X, 15), 150)
    found = UMAP(metric="precomputed", random_state=0).fit_transform(G)
    assert trustworthiness(X, found, n_neighbors=12) > 0.95


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_other_metrics(metric):
    X = digits(300) + 1.0
    Z = UMAP(metric=metric, random_state=0).fit_transform(X)
    assert trustworthiness(X, Z, n_neighbors=12, metric=metric) > 0.96


def test_sparse_rows_are_rows():
    X = digits(200)
    dense, kept = (UMAP(random_state=0).fit(table).embedding_ for table in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(kept, dense, atol=1e-5)


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
def test_incomplete_rows(policy):
    roll = datasets.swiss_roll(250, random_state=0).X
    X = np.hstack([roll, roll @ np.random.default_rng(0).standard_normal((3, 5))])
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    holes[:, 0] = X[:, 0]
    model = UMAP(missing=policy, random_state=0).fit(holes)
    assert trustworthiness(X, model.embedding_, n_neighbors=12) > 0.9
    assert np.isfinite(model.transform(holes[:20])).all()


def far_parts():
    X = digits(120)
    X[80:] += 1000.0
    return X


@pytest.mark.parametrize("policy", ["bridge", "separate", "largest"])
def test_parts_by_policy(policy):
    X = far_parts()
    with pytest.warns(UserWarning, match=r"the neighbour graph has 2 components \(80, 40 rows\)"):
        model = UMAP(n_neighbors=8, disconnected=policy, random_state=0).fit(X)
    Z = model.embedding_
    assert model.n_components_graph_ == 2
    np.testing.assert_array_equal(model.component_labels_, np.arange(120) >= 80)
    assert np.isfinite(Z[:80]).all()
    assert np.isfinite(Z[80:]).all() == (policy != "largest")
    if policy != "largest":
        assert one_nn_error(Z, model.component_labels_) == 0
    assert np.isfinite(model.kl_divergence_)
    np.testing.assert_allclose(model.transform(X[:80]), Z[:80], atol=1e-8)
    assert np.isfinite(model.transform(X)).all()


def test_parts_refused():
    with pytest.raises(ValueError, match="must be connected; got 2 components"):
        UMAP(n_neighbors=8, disconnected="error").fit(far_parts())


# ---- new rows -------------------------------------------------------------------------------------------------


def test_new_rows_land_in_their_group():
    X, y = DIGITS.data, DIGITS.target
    model = UMAP(random_state=0).fit(X[:1200])
    Z = model.transform(X[1200:])
    near = nearest(model.embedding_, 1, queries=Z).indices[:, 0]
    assert np.mean(y[:1200][near] != y[1200:]) < 0.07
    np.testing.assert_array_equal(model.transform(X[1300:1303]), Z[100:103])
    size = np.linalg.norm(np.ptp(model.embedding_, axis=0))
    moved = model.transform(X[:200] + 0.3 * np.random.default_rng(0).standard_normal((200, 64)))
    assert np.median(np.linalg.norm(moved - model.embedding_[:200], axis=1)) < 0.05 * size


def test_new_rows_of_a_sparse_graph_have_the_neighbours_they_store():
    check_new_rows_of_a_sparse_graph(UMAP(metric="precomputed", random_state=0), digits(130))


# ---- a run ----------------------------------------------------------------------------------------------------


def test_a_callback_sees_the_map_and_may_end_it():
    seen = []
    model = UMAP(max_iter=60, callback=lambda *step: seen.append(step) or step[0] >= 30).fit(digits(100))
    assert [step for step, _, _ in seen] == [10, 20, 30]
    assert [Z.shape for _, _, Z in seen] == [(100, 2)] * 3
    assert seen[-1][1] == model.kl_divergence_  # the loss is that of the map it comes with
    np.testing.assert_array_equal(seen[-1][2], model.embedding_)
    assert model.n_iter_ == 30
    assert not model.converged_
    assert UMAP(max_iter=25).fit(digits(100)).n_iter_ == 25


def test_a_callback_sees_all_rows():
    """Equal ones too, and those of parts that are mapped apart."""
    X, seen, steps = np.vstack([far_parts(), digits(20)]), [], []
    settings = {"n_neighbors": 8, "max_iter": 10, "disconnected": "separate", "random_state": 0}
    with pytest.warns(UserWarning, match="components"):
        UMAP(callback=lambda step, loss, Z: seen.append(Z) or steps.append(step), **settings).fit(X)
    assert steps == [10, 20]
    assert [Z.shape for Z in seen] == [(140, 2)] * 2
    np.testing.assert_array_equal(np.isfinite(seen[0][:, 0]), np.r_[np.ones(80), np.zeros(40), np.ones(20)])
    np.testing.assert_array_equal(seen[0][120:], seen[0][:20])
    np.testing.assert_array_equal(np.isfinite(seen[1][:, 0]), np.r_[np.zeros(80), np.ones(40), np.zeros(20)])


def test_a_callback_stops_the_maps_of_all_components():
    settings = {"n_neighbors": 8, "max_iter": 30, "disconnected": "separate", "random_state": 0}
    steps = []
    with pytest.warns(UserWarning, match="components"):
        model = UMAP(callback=lambda step, loss, Z: steps.append(step) or True, **settings).fit(far_parts())
    assert steps == [10]
    assert model.n_iter_ == 10
    assert not model.converged_
    assert np.isfinite(model.embedding_).all()


def test_the_loss_that_a_callback_sees_decreases():
    losses = []
    UMAP(solver="sampled", callback=lambda step, loss, Z: losses.append(loss), random_state=0).fit(digits(300))
    assert losses[-1] < 0.95 * losses[0]


@pytest.mark.parametrize(("solver", "rate"), [("exact", 100.0), ("sampled", 1e38)])
def test_a_map_that_leaves_the_range_of_numbers(solver, rate):
    with pytest.raises(ValueError, match="UMAP: the coordinates of the map overflowed"):
        UMAP(solver=solver, learning_rate=rate, random_state=0).fit(np.random.default_rng(0).normal(size=(80, 4)))


def test_the_number_of_epochs_goes_by_the_number_of_rows():
    assert UMAP().fit(digits(60)).n_iter_ == 800
    assert UMAP(solver="sampled").fit(digits(60)).n_iter_ == 500


@pytest.mark.usefixtures("hears_ctrl_c")
def test_interrupted_while_it_runs():
    X = np.random.default_rng(0).standard_normal((3000, 5))
    sent = []
    threading.Timer(0.5, lambda: (sent.append(stopwatch()), interrupt_main())).start()
    with pytest.raises(KeyboardInterrupt):
        UMAP(max_iter=200_000, random_state=0).fit(X)
    assert sent[0]() < 2


def test_what_a_map_does_not_show_is_said():
    assert "does not show how large or dense a group is" in UMAP(max_iter=10).fit(digits(60)).not_shown_


def test_a_and_b_may_be_given():
    X = datasets.swiss_roll(80, random_state=0).X
    plain = UMAP(n_neighbors=8, max_iter=20, random_state=0).fit(X)
    model = UMAP(n_neighbors=8, a=plain.a_, b=plain.b_, min_dist=0.9, max_iter=20, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    np.testing.assert_array_equal(model.transform(X[:3] + 0.1), plain.transform(X[:3] + 0.1))
    with pytest.raises(ValueError, match=r"UMAP: a and b must both be given, or both be None; got a=1.0 and b=None"):
        UMAP(a=1.0).fit(X)
