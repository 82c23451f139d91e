"""t-SNE against Rtsne and scikit-learn, its gradient, its engines, its starts, and new rows."""

import threading
from _thread import interrupt_main

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE as SklearnTSNE
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from lowdim import TSNE, compare, datasets
from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding import _affinity, _new_rows
from lowdim.neighbor_embedding._gradient_descent import Edges, Engine, Phase, State
from lowdim.neighbor_embedding._grid import GridField
from tests._core.runtime.clocks import stopwatch
from tests.neighbor_embedding.promises import check_new_rows_of_a_sparse_graph
from tests.oracles import case, load_expected, load_input

DIGITS = load_digits()
BRIEF = pytest.mark.filterwarnings("ignore:TSNE. not converged")  # tests that make few steps on purpose


def digits(n=600, dtype=np.float64):
    return DIGITS.data[:n].astype(dtype)


def affinities(X, perplexity=10, k=None):
    k = len(X) - 1 if k is None else k
    return _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, k), len(X)), perplexity=perplexity))


def engine(solver, n=100, k=2, theta=0.5, dof=1.0):
    return Engine.of(solver, n, k, theta, dof, 1, "T")


def divergence(P, Z, dof=1.0):
    """From the definition."""
    w = (1 + squareform(pdist(Z, "sqeuclidean")) / dof) ** (-(dof + 1) / 2)
    np.fill_diagonal(w, 0)
    P, Q = P.toarray(), w / w.sum()
    kept = P > 0
    return (P[kept] * np.log(P[kept] / Q[kept])).sum()


def gradient(P, Z, solver, dof=1.0, **settings):
    made = engine(solver, *Z.shape, dof=dof, **settings)
    Z = np.ascontiguousarray(Z, dtype=made.dtype(np.float64, len(Z)))
    pulled, pushed, total = made.forces(Edges.of(P, Z.dtype), Z)
    return 2 * (dof + 1) / dof * (pulled - pushed / total)


# ---- the objective -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dof", [1.0, 0.6, 4.0])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_gradient_is_that_of_the_divergence(k, dof):
    rng = np.random.default_rng(0)
    P, Z, direction = affinities(rng.standard_normal((40, 5)), 6), *rng.standard_normal((2, 40, k))
    slope = (divergence(P, Z + 1e-5 * direction, dof) - divergence(P, Z - 1e-5 * direction, dof)) / 2e-5
    assert (gradient(P, Z, "exact", dof) * direction).sum() == pytest.approx(slope, rel=1e-6)


@BRIEF
def test_the_divergence_is_that_of_the_returned_map():
    X = digits(200)
    for settings in ({}, {"dof": 0.7}, {"solver": "barnes_hut"}, {"solver": "fft"}):
        model = TSNE(perplexity=15, max_iter=80, early_iter=20, n_neighbors=199, **settings).fit(X)
        P = affinities(X, 15)
        expected = divergence(P, model.embedding_, settings.get("dof", 1.0))
        assert model.kl_divergence_ == pytest.approx(expected, rel=1e-3)
        assert model.kl_divergence_ > 0


def test_rigid_motions_of_the_map_change_nothing():
    rng = np.random.default_rng(1)
    P, Z = affinities(rng.standard_normal((60, 4))), rng.standard_normal((60, 2)) * 5
    Q = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    edges = Edges.of(P, np.float64)
    for solver in ("exact", "barnes_hut"):
        made, moved = engine(solver), Z @ Q + 7.0
        total, other = (made.forces(edges, np.ascontiguousarray(Y))[2] for Y in (Z, moved))
        assert other == pytest.approx(total, rel=2e-3 if solver == "barnes_hut" else 1e-12)
        assert made.divergence(edges, moved) == pytest.approx(made.divergence(edges, Z), rel=1e-12)
    np.testing.assert_allclose(gradient(P, Z @ Q + 7.0, "exact"), gradient(P, Z, "exact") @ Q, atol=1e-14)


# ---- the engines ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course():
    """A map just after the early steps, when it unfolds, and at the end, when it is wide."""
    X, maps = digits(1500), {}
    TSNE(perplexity=20, max_iter=750, callback=lambda n, _, Z: maps.update({n: Z})).fit(X)
    return affinities(X, 20, 60), maps


@pytest.mark.parametrize("at", [300, 750])
@pytest.mark.parametrize("solver", ["barnes_hut", "fft"])
def test_fast_gradients_are_near_the_exact_one(course, solver, at):
    """Of the whole gradient, which at the end is a hundredth of each of the two forces it is made of."""
    P, Z = course[0], course[1][at]
    exact, fast = gradient(P, Z, "exact"), gradient(P, Z, solver)
    assert np.linalg.norm(fast - exact) < (0.01 if at == 300 else 0.05) * np.linalg.norm(exact)


def test_lists_some_steps_old_serve_as_well(course):
    """Who pushes whom is listed every ten steps: the gradient of the ninth step after that, from what it moved."""
    P, Z = course[0], course[1][750]
    made, state = engine("barnes_hut"), State.at(Z, np.float32)
    made.advance(Edges.of(P, np.float32), state, Phase(9, 1.0, 1500.0, 0.0, 1.0), 9)
    before = state.Z.astype(np.float64) - state.velocity
    used, exact = -4.0 * state.velocity / (1500.0 * state.gains), gradient(P, before, "exact")
    assert np.linalg.norm(used - exact) < 0.05 * np.linalg.norm(exact)


@pytest.mark.parametrize("solver", ["barnes_hut", "fft"])
def test_forces_in_a_finished_map(course, solver):
    Z, none = course[1][750], sparse.csr_array((1500, 1500))
    _, pushed, total = engine(solver).forces(Edges.of(none, np.float32), Z.astype(np.float32))
    _, exact, sum_of_all = engine("exact").forces(Edges.of(none, np.float64), Z)
    assert np.linalg.norm(pushed / total - exact / sum_of_all) < 1e-3 * np.linalg.norm(exact / sum_of_all)


def test_a_map_too_wide_for_a_grid_is_left_to_the_tree():
    X, start = digits(200), 1e6 * np.random.default_rng(0).standard_normal((200, 2))
    settings = {"perplexity": 10, "init": start, "early_iter": 0, "max_iter": 3, "theta": 0.0}
    with pytest.warns(UserWarning, match="init is .* wide"):
        by_grid, exact = (TSNE(solver=s, **settings).fit(X).embedding_ for s in ("fft", "exact"))
    np.testing.assert_allclose(by_grid, exact, rtol=1e-4)


def test_the_engine_is_chosen_by_the_number_of_rows():
    def chosen(n, k, dof=1.0):
        return engine("auto", n, k, dof=dof).solver

    assert [chosen(n, 2) for n in (500, 501, 99_999, 100_000)] == ["exact", "barnes_hut", "barnes_hut", "fft"]
    assert [chosen(n, 2, 0.8) for n in (19_999, 20_000)] == ["barnes_hut", "fft"]
    assert [chosen(n, 1) for n in (500, 501)] == ["exact", "fft"]
    assert [chosen(200_000, k) for k in (3, 4)] == ["barnes_hut", "exact"]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("scale", [1e-5, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("dof", [1.0, 0.5])
def test_the_grid_is_near_all_pairs(k, scale, dof):
    Z = (scale * np.random.default_rng(0).standard_normal((1200, k))).astype(np.float32)
    pushed, total = GridField(dof, 2)(Z)
    made = engine("exact", 1200, k, dof=dof)
    empty = sparse.csr_array((1200, 1200))
    _, expected, exact = made.forces(Edges.of(empty, np.float64), Z.astype(np.float64))
    assert np.linalg.norm(pushed - expected) < 1e-3 * np.linalg.norm(expected)
    assert total == pytest.approx(exact, rel=2e-4)


def test_theta_zero_is_exact():
    X = digits(700)
    P = affinities(X, 10, 30)
    Z = np.random.default_rng(2).standard_normal((700, 2)) * 4
    exact = gradient(P, Z, "exact")
    np.testing.assert_allclose(gradient(P, Z, "barnes_hut", theta=0.0), exact, atol=1e-5 * np.abs(exact).max())


@BRIEF
def test_every_engine_finds_a_map_as_good():
    X, settings = digits(400), {"perplexity": 20, "n_neighbors": 60, "early_iter": 50, "max_iter": 250}
    found = {s: TSNE(solver=s, **settings).fit(X).kl_divergence_ for s in ("exact", "barnes_hut", "fft")}
    assert max(found.values()) < 1.05 * min(found.values())


def test_engines_say_what_they_cannot_do():
    X = digits(50)
    with pytest.raises(ValueError, match=r"TSNE: n_components must be at most 3 with solver='barnes_hut'; got 4"):
        TSNE(4, perplexity=5, solver="barnes_hut").fit(X)
    with pytest.raises(ValueError, match=r"TSNE: n_components must be at most 2 with solver='fft'; got 3"):
        TSNE(3, perplexity=5, solver="fft").fit(X)
    assert TSNE(5, perplexity=5, max_iter=50).fit(X).transform(X[:3]).shape == (3, 5)


@BRIEF
@pytest.mark.parametrize("solver", ["barnes_hut", "fft"])
def test_same_bits_for_any_number_of_threads(solver):
    X = digits(800)
    maps = [TSNE(perplexity=10, max_iter=60, early_iter=30, solver=solver, n_jobs=jobs).fit(X) for jobs in (1, 2, 3)]
    for model in maps[1:]:
        np.testing.assert_array_equal(model.embedding_, maps[0].embedding_)
        assert model.kl_divergence_ == maps[0].kl_divergence_


# ---- other implementations -----------------------------------------------------------------------------------


def test_as_good_as_rtsne():
    """Best of ten seeds there. Their P has 90 neighbours for 149 rows unless theta = 0, where it has all, as ours."""
    X = load_input("iris_unique")[0].astype(float)
    best = load_expected("rtsne_iris_unique", "kl_by_seed").min()
    assert best == pytest.approx(case("rtsne_iris_unique")["scalars"]["kl_best"])
    P, theirs = affinities(X, 30), load_expected("rtsne_iris_unique", "Y_best")
    assert divergence(P, theirs) == pytest.approx(best, rel=1e-3)  # the same P, the same divergence
    settings = {"perplexity": 30, "init": "random", "max_iter": 1000}  # as many steps as theirs
    assert min(TSNE(random_state=seed, **settings).fit(X).kl_divergence_ for seed in range(10)) <= best
    assert TSNE(perplexity=30).fit(X).kl_divergence_ <= best


@pytest.mark.parametrize(("rows", "perplexity"), [(150, 10), (250, 30)])
def test_as_good_as_scikit_learn(rows, perplexity):
    """On one and the same P, and after as many steps."""
    X = digits(rows)
    theirs = SklearnTSNE(perplexity=perplexity, random_state=0).fit(X)
    P = affinities(X, perplexity)
    ours = TSNE(perplexity=perplexity, max_iter=1000).fit(X)
    assert divergence(P, ours.embedding_) < 1.005 * divergence(P, theirs.embedding_)


def test_a_result_says_what_must_not_be_read_from_it():
    X = digits(60)
    sentence = TSNE(perplexity=10, max_iter=50, early_iter=20).fit(X).not_shown_
    assert "how large or dense a group is" in sentence
    assert "how far it is from other groups" in sentence
    found = compare(X, methods=[TSNE(perplexity=10)], random_state=0)
    assert any(sentence in note for note in found.notes)
    assert sentence in repr(found)


def test_digits_fall_into_their_groups():
    Z = TSNE().fit(DIGITS.data).embedding_
    near = NearestNeighbors(n_neighbors=1).fit(Z).kneighbors()[1][:, 0]
    assert (DIGITS.target[near] == DIGITS.target).mean() > 0.98
    assert trustworthiness(DIGITS.data[::3], Z[::3], n_neighbors=12) > 0.97


# ---- settings ------------------------------------------------------------------------------------------------


@BRIEF
def test_starts():
    X = digits(200)
    for init in ("pca", "spectral"):
        a, b = (TSNE(perplexity=10, init=init, random_state=seed, max_iter=60).fit(X).embedding_ for seed in (0, 1))
        np.testing.assert_allclose(a, b, atol=1e-6 * np.abs(a).max())
    a, b = (TSNE(perplexity=10, init="random", random_state=seed, max_iter=60).fit(X).embedding_ for seed in (0, 1))
    assert np.abs(a - b).max() > 0.1 * np.abs(a).max()
    start = np.random.default_rng(0).standard_normal((200, 2))
    still = TSNE(perplexity=10, init=start, max_iter=1, early_iter=0, learning_rate=1e-12).fit(X).embedding_
    np.testing.assert_allclose(still, start - start.mean(axis=0), atol=1e-9)
    with pytest.raises(ValueError, match=r"TSNE: init must not have all points at the same coordinates"):
        TSNE(perplexity=10, init=np.ones((200, 2))).fit(X)
    with pytest.raises(ValueError, match=r"TSNE: init must be 200 rows of 2 finite numbers; got shape \(200, 3\)"):
        TSNE(perplexity=10, init=np.zeros((200, 3))).fit(X)


@BRIEF
def test_a_start_that_is_too_wide_is_told():
    X = digits(200)
    start = 1e4 * X[:, 20:22]
    with pytest.warns(UserWarning, match=r"TSNE: init is 1.6e\+05 wide, far more than maps of 200 rows are"):
        lost = TSNE(perplexity=10, init=start, max_iter=60).fit(X).kl_divergence_
    assert TSNE(perplexity=10, init=start * (1e-4 / start[:, 0].std()), max_iter=60).fit(X).kl_divergence_ < 0.5 * lost


@BRIEF
def test_a_start_in_more_dimensions_than_the_rows_fill():
    X = np.linspace(0, 1, 60)[:, None] ** 2
    with pytest.warns(UserWarning, match=r"TSNE: n_components=2 is more than the rank 1 of the rows"):
        Z = TSNE(perplexity=5).fit_transform(X)
    assert np.linalg.matrix_rank(Z, tol=0.1) == 2
    parts = np.vstack([digits(40), digits(80)[40:] + 1e4])  # a graph in two parts
    assert np.isfinite(TSNE(perplexity=5, init="spectral", n_neighbors=10, max_iter=100).fit_transform(parts)).all()


@pytest.mark.parametrize(("n", "perplexity"), [(60, 15), (100, 10), (250, 30), (400, 100)])
def test_early_exaggeration_draws_no_map_into_a_line(n, perplexity):
    widths = {}

    def look(n_iter, _, Z):
        widths[n_iter] = np.linalg.svd(Z, compute_uv=False)

    TSNE(perplexity=perplexity, callback=look, max_iter=300).fit(digits(n))
    assert widths[250][1] > 0.01 * widths[250][0]


def test_exaggeration_that_draws_all_rows_together_is_given_up():
    """250 rows at perplexity 30: twelvefold attraction shrinks the map to 1e-8, and rounding would decide the rest."""
    X = digits(250)
    with pytest.warns(UserWarning, match=r"TSNE: early_exaggeration=12 collapsed the map to a point or a line"):
        strong = TSNE(early_exaggeration=12.0).fit(X)
    without = TSNE(early_iter=0, max_iter=500).fit(X)
    np.testing.assert_array_equal(strong.embedding_, without.embedding_)
    assert TSNE().fit(X).kl_divergence_ < strong.kl_divergence_


@BRIEF
def test_rates_and_momenta_of_the_two_phases():
    """Rate "auto" is n over the exaggeration, at least 50; the first momentum of a pair is that of the first phase."""
    X = digits(100)

    def found(early, **settings):
        return TSNE(perplexity=10, early_iter=60 * early, max_iter=60, **settings).fit(X).embedding_

    np.testing.assert_array_equal(found(True), found(True, learning_rate=50))
    few = (TSNE(perplexity=5, early_iter=60, max_iter=60, learning_rate=rate).fit(X[:40]) for rate in ("auto", 20))
    np.testing.assert_array_equal(*(model.embedding_ for model in few))
    by = {"early_exaggeration": 1.6}
    np.testing.assert_array_equal(found(True, **by), found(True, learning_rate=62.5, **by))
    np.testing.assert_array_equal(found(False), found(False, learning_rate=100))
    np.testing.assert_array_equal(found(True, momentum=(0.5, 0.8)), found(True, momentum=0.5))
    np.testing.assert_array_equal(found(False, momentum=[0.5, 0.8]), found(False, momentum=0.8))
    with pytest.raises(ValueError, match=r"TSNE: momentum must be .* or a pair of such; got \(0.5, 1.0\)"):
        found(True, momentum=(0.5, 1.0))


def test_exaggeration_tightens_groups():
    X = digits(500)
    spreads = []
    for factor in (1.0, 4.0):
        Z = TSNE(perplexity=15, exaggeration=factor, random_state=0).fit_transform(X)
        within = np.mean([Z[DIGITS.target[:500] == c].std(axis=0).mean() for c in range(10)])
        spreads.append(within / Z.std(axis=0).mean())
    assert spreads[1] < 0.9 * spreads[0]


def test_heavier_tails_are_a_different_map():
    X = digits(200)
    P = affinities(X, 10)
    for dof in (0.5, 3.0):
        model = TSNE(perplexity=10, dof=dof).fit(X)
        assert model.kl_divergence_ == pytest.approx(divergence(P, model.embedding_, dof), rel=1e-6)
        assert model.kl_divergence_ < divergence(P, TSNE(perplexity=10).fit(X).embedding_, dof)


@BRIEF
def test_uniform_and_fixed_width_affinities():
    X = digits(150)
    model = TSNE(affinity="uniform", n_neighbors=12, max_iter=300).fit(X)
    P = _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, 12), 150), kind="uniform"))
    assert model.kl_divergence_ == pytest.approx(divergence(P, model.embedding_), rel=1e-6)
    model = TSNE(sigma=8.0, max_iter=300).fit(X)
    P = _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, 149), 150), sigma=8.0))
    assert model.kl_divergence_ == pytest.approx(divergence(P, model.embedding_), rel=1e-6)


def test_too_large_perplexities():
    X = digits(30)
    with pytest.raises(ValueError, match=r"TSNE: perplexity must be less than the number of rows; got 31 for 30 rows"):
        TSNE(perplexity=31).fit(X)
    with pytest.warns(UserWarning, match="more than a third of the 29 other rows"):
        assert TSNE(perplexity=15).fit(X).kl_divergence_ >= 0
    with pytest.raises(ValueError, match=r"TSNE: perplexity must be .*a list of such; got \[\]"):
        TSNE(perplexity=[]).fit(X)


@BRIEF
@pytest.mark.parametrize("n", [4, 5, 7, 10])
@pytest.mark.parametrize("solver", ["exact", "barnes_hut", "fft"])
def test_few_rows(n, solver):
    """One neighbour each: pairs that are each other's may fall together."""
    Z = TSNE(perplexity=1, solver=solver, max_iter=150, early_iter=50).fit_transform(digits(n))
    assert np.isfinite(Z).all()
    assert len(np.unique(Z.round(6), axis=0)) >= n // 2


@pytest.mark.filterwarnings("ignore:.*the map puts all .* rows in one place")
@BRIEF
@pytest.mark.parametrize("solver", ["exact", "barnes_hut", "fft"])
def test_equal_rows(solver):
    X = np.repeat(digits(30), 10, axis=0)
    settings = {"solver": solver, "max_iter": 150, "early_iter": 50}
    Z = TSNE(perplexity=12, **settings).fit_transform(X)
    assert np.isfinite(Z).all()
    groups = Z.reshape(30, 10, 2)
    assert groups.std(axis=1).max() < 0.2 * Z.std()
    assert np.abs(TSNE(perplexity=5, **settings).fit_transform(np.ones((40, 3)))).max() < 1e-6


# ---- the descent ---------------------------------------------------------------------------------------------


def test_callbacks_see_the_descent_and_can_end_it():
    seen = []

    def look(n_iter, kl, Z):
        seen.append((n_iter, kl, Z.copy()))
        return n_iter >= 200

    X = digits(200)
    model = TSNE(perplexity=10, callback=look).fit(X)
    assert [n for n, _, _ in seen] == [50, 100, 150, 200]
    assert model.n_iter_ == 200
    assert not model.converged_  # a map that exaggeration draws together
    np.testing.assert_array_equal(model.embedding_, seen[-1][2])
    assert all(kl == pytest.approx(divergence(affinities(X), Z), rel=1e-9) for _, kl, Z in seen)
    whole = TSNE(perplexity=10, callback=lambda *_: None).fit(X)
    assert whole.n_iter_ == 750
    assert whole.converged_
    assert not TSNE(perplexity=10, callback=lambda step, *_: step == 700).fit(X).converged_  # though it moves little


@BRIEF
@pytest.mark.parametrize(("solver", "parts"), [("exact", (50, 50)), ("exact", (15, 85)), ("barnes_hut", (50, 50))])
def test_a_warm_start_goes_on_as_if_it_had_not_stopped(solver, parts):
    """Also in the middle of early exaggeration, and with momentum and gains as they were."""
    X, settings = digits(120), {"perplexity": 10, "solver": solver, "early_iter": 50, "n_neighbors": 30}
    whole = TSNE(max_iter=100, **settings).fit(X)
    model = TSNE(warm_start=True, **settings)
    for steps in parts:
        model.set_params(max_iter=steps).fit(X)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    assert model.n_iter_ == whole.n_iter_ == 100
    with pytest.raises(ValueError, match=r"TSNE: the earlier embedding \(warm_start=True\) must be 80 rows"):
        model.fit(X[:80])
    assert model.embedding_.shape == (120, 2)


@BRIEF
def test_a_map_without_its_velocity_is_continued_too():
    X = digits(120)
    model = TSNE(perplexity=10, max_iter=400).fit(X)
    first = model.kl_divergence_
    assert model.set_params(warm_start=True, max_iter=100).fit(X).kl_divergence_ < first
    assert model.n_iter_ == 500


@BRIEF
def test_given_affinities_are_the_p_of_the_method():
    X, settings = digits(100), {"max_iter": 60, "init": np.random.default_rng(0).standard_normal((100, 2))}
    P = affinities(X, 10)
    by_rows = TSNE(perplexity=10, **settings).fit(X)
    for given in (P, 3.0 * P.toarray() + np.eye(100)):
        model = TSNE(affinity="precomputed", **settings).fit(given)
        np.testing.assert_allclose(model.embedding_, by_rows.embedding_, atol=1e-9)
    assert TSNE(affinity="precomputed", max_iter=30).fit(P).embedding_.shape == (100, 2)  # "pca" needs rows: spectral
    with pytest.raises(ValueError, match=r"TSNE: transform needs the rows of X, or distances"):
        model.transform(P)
    with pytest.raises(ValueError, match=r"TSNE: affinities must be a square table"):
        TSNE(affinity="precomputed").fit(P[:, :50])
    with pytest.raises(ValueError, match=r"TSNE: affinities must be finite and not negative; got -"):
        TSNE(affinity="precomputed").fit(-P.toarray())


@BRIEF
def test_callbacks_come_every_so_many_steps():
    seen = []
    TSNE(perplexity=10, max_iter=50, callback_every=20, callback=lambda step, *_: seen.append(step)).fit(digits(60))
    assert seen == [20, 40, 50]


@BRIEF
def test_new_rows_take_a_perplexity():
    X = digits(200)
    model = TSNE(perplexity=10, max_iter=300).fit(X[:150])
    Z = model.transform(X[150:])
    np.testing.assert_array_equal(model.transform(X[150:], perplexity=7), Z)
    assert np.abs(model.transform(X[150:], perplexity=40) - Z).max() > 0.1
    for wrong in (0.5, 150, "many"):
        with pytest.raises(
            ValueError, match=r"TSNE: perplexity must be None, a number from 1 to .*149, or a list of such; got"
        ):
            model.transform(X[150:], perplexity=wrong)


@BRIEF
def test_new_rows_start_from_the_weighted_median_of_their_neighbours():
    points = np.array([[[0.0, 3.0], [1.0, 2.0], [9.0, 1.0]]])
    np.testing.assert_array_equal(_new_rows._weighted_median(points, np.array([[0.3, 0.3, 0.4]])), [[1.0, 2.0]])
    np.testing.assert_array_equal(_new_rows._weighted_median(points, np.array([[0.1, 0.2, 0.7]])), [[9.0, 1.0]])


@BRIEF
def test_the_default_perplexity_fits_few_rows():
    with pytest.warns(UserWarning, match=r"TSNE: the default perplexity 30 is too large for 10 rows; 3 was used"):
        model = TSNE(max_iter=60).fit(digits(10))
    asked = TSNE(perplexity=3.0, max_iter=60).fit(digits(10))
    np.testing.assert_array_equal(model.embedding_, asked.embedding_)
    with pytest.raises(ValueError, match=r"TSNE: perplexity must be less than the number of rows; got 29 for 10 rows"):
        TSNE(perplexity=29.0).fit(digits(10))


def test_a_settled_map_ends_the_descent_for_any_number_of_rows():
    model = TSNE(perplexity=10, max_iter=20_000, tol=1e-3).fit(digits(150))
    assert model.converged_
    assert model.n_iter_ < 20_000
    with pytest.warns(ConvergenceWarning, match=r"TSNE: not converged after max_iter=350 steps"):
        assert not TSNE(max_iter=350, tol=0.0).fit(digits(800)).converged_


@BRIEF
def test_progress_is_shown(capsys, monkeypatch):
    monkeypatch.setattr("lowdim._core.iterate.QUIET_SECONDS", 0.0)
    TSNE(perplexity=10, max_iter=100, early_iter=50, verbose=1).fit(digits(100))
    assert "TSNE: 50/100, gradient" in capsys.readouterr().err


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_is_heard_inside_the_compiled_steps():
    X = digits(1700)
    model = TSNE(perplexity=30, solver="exact", n_neighbors=60, max_iter=100_000, tol=0.0)
    sent = []
    threading.Timer(0.5, lambda: (sent.append(stopwatch()), interrupt_main())).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert sent[0]() < 2
    assert not hasattr(model, "embedding_")


# ---- what X may be -------------------------------------------------------------------------------------------


def test_distances_instead_of_rows():
    X = digits(200)
    D = squareform(pdist(X))
    rows = TSNE(perplexity=10, init="spectral").fit(X)
    for given in (D, pdist(X)):
        known = TSNE(perplexity=10, init="spectral", metric="precomputed").fit(given)
        np.testing.assert_allclose(known.embedding_, rows.embedding_, atol=1e-4 * np.abs(rows.embedding_).max())
    np.testing.assert_allclose(known.transform(D[:5]), known.embedding_[:5], atol=1e-9)
    assert TSNE(perplexity=10, metric="precomputed").fit(D).kl_divergence_ < 1.1 * rows.kl_divergence_


@BRIEF
def test_spectral_starts_go_without_a_seed():
    """Also where the eigenvectors come from a solver that draws."""
    G = _affinity.as_graph(nearest(np.random.default_rng(0).standard_normal((2600, 10)), 15), 2600)
    settings = {"perplexity": 5, "metric": "precomputed", "max_iter": 10, "early_iter": 0}
    a, b = (TSNE(random_state=seed, **settings).fit_transform(G) for seed in (0, 1))
    np.testing.assert_array_equal(a, b)


def test_a_sparse_graph_of_distances():
    X = digits(200)
    G = NearestNeighbors(n_neighbors=30).fit(X).kneighbors_graph(mode="distance")
    model = TSNE(perplexity=10, metric="precomputed").fit(G)
    P = _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, 30), 200), perplexity=10))
    assert divergence(P, model.embedding_) < 1.1 * TSNE(perplexity=10, n_neighbors=30).fit(X).kl_divergence_


@BRIEF
def test_sparse_rows_and_other_metrics():
    X = digits(150)
    dense, thin = (TSNE(perplexity=10, max_iter=300).fit(A).kl_divergence_ for A in (X, sparse.csr_array(X)))
    assert thin == pytest.approx(dense, rel=1e-3)
    for metric in ("cosine", "manhattan"):
        assert TSNE(perplexity=10, max_iter=300, metric=metric).fit(X).kl_divergence_ > 0


@pytest.mark.parametrize("missing", ["pairwise", "expected"])
def test_rows_with_holes(missing):
    X = datasets.swiss_roll(300, random_state=0).X
    X = np.hstack([X, X @ np.random.default_rng(1).standard_normal((3, 5))])
    holes = np.random.default_rng(0).random(X.shape) < 0.1
    Y = np.where(holes, np.nan, X)
    Y[np.isnan(Y).all(axis=1), 0] = 0.0
    model = TSNE(perplexity=15, missing=missing, random_state=0).fit(Y)
    assert trustworthiness(X, model.embedding_, n_neighbors=10) > 0.93
    assert np.isfinite(model.transform(Y[:7])).all()


def test_single_precision():
    for n in (300, 1200):
        X = digits(n, np.float32)
        single, double = (TSNE(perplexity=15).fit(A) for A in (X, X.astype(np.float64)))
        assert single.embedding_.dtype == np.float32
        assert single.kl_divergence_ == pytest.approx(double.kl_divergence_, rel=0.02)


# ---- new rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [400, 1500])
def test_held_out_rows_land_among_their_class(n):
    model = TSNE(perplexity=20).fit(digits(n))
    new, labels = DIGITS.data[n : n + 290], DIGITS.target[n : n + 290]
    Z = model.transform(new)
    near = NearestNeighbors(n_neighbors=5).fit(model.embedding_).kneighbors(Z)[1]
    votes = np.array([np.bincount(DIGITS.target[row], minlength=10).argmax() for row in near])
    found = NearestNeighbors(n_neighbors=5).fit(digits(n)).kneighbors(new)[1]
    possible = np.array([np.bincount(DIGITS.target[row], minlength=10).argmax() for row in found])
    assert (votes == labels).mean() > (possible == labels).mean() - 0.03
    alone = np.vstack([model.transform(new[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(alone, Z[:20])
    np.testing.assert_array_equal(model.transform(new), Z)


def test_rows_near_fitted_ones_land_near_them():
    """Far enough off not to count as the same row; the places come from the descent, not from interpolation."""
    X = digits(1000)
    model = TSNE(perplexity=20).fit(X)
    noise = np.random.default_rng(0).standard_normal(X.shape) * 1.5
    off = np.linalg.norm(model.transform(X + noise) - model.embedding_, axis=1)
    diameter = np.linalg.norm(np.ptp(model.embedding_, axis=0))
    assert np.median(off) < 0.05 * diameter
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9 * diameter)


def test_new_rows_in_more_dimensions_than_a_tree_has():
    """On a line, the plain loop stops where the compiled one does; in four, rows come near their neighbours."""
    X = digits(200)
    model = TSNE(1, perplexity=10).fit(X)
    found, fitted = nearest(X, 15, queries=DIGITS.data[200:220]), np.ascontiguousarray(model.embedding_)
    p = _affinity.weights(_affinity.as_graph(found, 200), perplexity=7.0).data.reshape(20, 15)
    places = fitted[found.indices]
    start = _new_rows._weighted_median(places, p)
    plain = [_new_rows._minimised(*row, fitted, 1.0) for row in zip(start, p, places, strict=True)]
    np.testing.assert_allclose(plain, model.transform(DIGITS.data[200:220]), atol=1e-6 * np.ptp(fitted))
    model = TSNE(4, perplexity=10).fit(X)
    Z = model.transform(DIGITS.data[200:220])
    assert (np.linalg.norm(Z[:, None] - model.embedding_, axis=2).min(axis=1) < 0.1 * np.ptp(model.embedding_)).all()
    np.testing.assert_array_equal(model.transform(DIGITS.data[203:204]), Z[3:4])


def test_equal_rows_are_placed_at_the_mean_of_their_places():
    """No function of a row could lead to several places; how near they are to each other is part of the promise."""
    X = np.repeat(digits(300), 3, axis=0)
    model = TSNE(perplexity=10).fit(X)
    groups = model.embedding_.reshape(300, 3, 2)
    assert np.abs(groups - groups.mean(axis=1, keepdims=True)).max() < 0.01 * np.ptp(groups)
    np.testing.assert_allclose(model.transform(X[::3]), groups.mean(axis=1), atol=1e-9 * np.ptp(groups))


def test_new_rows_of_a_sparse_graph_have_the_neighbours_they_store():
    check_new_rows_of_a_sparse_graph(TSNE(metric="precomputed", perplexity=5), digits(130))


def test_places_are_continuous_where_interpolation_ends():
    X = digits(300)
    model = TSNE(perplexity=15).fit(X)
    direction = np.random.default_rng(1).standard_normal(64)
    direction /= np.linalg.norm(direction)
    path = model.transform(X[5] + np.linspace(0, 6, 2001)[:, None] * direction)
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert steps.max() < 0.02 * np.abs(model.embedding_).max()
    np.testing.assert_allclose(path[0], model.embedding_[5], atol=1e-9)


def test_a_graph_of_all_distances_gives_the_map_of_the_table(rng):
    X = rng.standard_normal((60, 2))
    D = squareform(pdist(X))
    settings = {"metric": "precomputed", "perplexity": 10, "max_iter": 300, "random_state": 0, "init": "random"}
    np.testing.assert_array_equal(
        TSNE(**settings).fit_transform(sparse.csr_array(D)), TSNE(**settings).fit_transform(D)
    )
