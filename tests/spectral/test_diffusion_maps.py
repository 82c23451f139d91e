"""Diffusion maps against R's diffusionMap, the walk written out, closed forms, and new rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform

from lowdim import DiffusionMaps, config, datasets
from lowdim._core.manifold.crowding import crowding
from tests.linear.pca.test_pca import cloud, numeric, up_to_sign
from tests.oracles import case, load_expected

APART = "ignore:DiffusionMaps. the neighbour graph"
NARROW = pytest.mark.filterwarnings("ignore:DiffusionMaps. [0-9]+.* of .*rows")  # widths that leave single rows apart


def spread(Z):
    return np.abs(Z - Z.mean(axis=0)).max()


def walk(X, gamma, alpha):
    """P and pi by their definitions."""
    K = np.exp(-gamma * squareform(pdist(X)) ** 2)
    q = K.sum(axis=1)
    K = K / np.outer(q, q) ** alpha
    d = K.sum(axis=1)
    return K / d[:, None], d / d.sum()


def circle(n=64):
    angles = 2 * np.pi * np.arange(n) / n
    return angles, np.column_stack([np.cos(angles), np.sin(angles)])


# ---- R's diffusionMap ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["annulus_150", "swissroll_300"])
@pytest.mark.parametrize(("time", "file"), [("multiscale", "X_t0"), (1, "X_t1"), (3, "X_t3")])
def test_diffusion_map_of_r(name, time, file):
    """exp(-d²/eps) without density correction; its t = 0 is what is called "multiscale" here."""
    case_id = f"diffusionmap_{name}"
    eps = case(case_id)["params"]["eps"]
    model = DiffusionMaps(5, alpha=0, time=time, width=eps).fit(numeric(name))
    np.testing.assert_allclose(model.eigenvalues_, load_expected(case_id, "eigenvals.csv"), rtol=1e-6)
    expected = load_expected(case_id, f"{file}.csv")
    np.testing.assert_allclose(
        up_to_sign(expected, model.embedding_), expected, rtol=1e-6, atol=1e-6 * spread(expected)
    )
    # phi0 is the stationary distribution
    np.testing.assert_allclose(model.stationary_, load_expected(case_id, "phi0.csv"), rtol=1e-6)


def test_small_entries_are_kept():
    """The package drops entries below 1e-5 by default, which moves its eigenvalues by 1e-5; here all pairs count."""
    model = DiffusionMaps(5, alpha=0, width=0.1).fit(numeric("annulus_150"))
    dropped = load_expected("diffusionmap_annulus_150", "eig_default_delta.csv")
    assert np.abs(model.eigenvalues_ - dropped).max() > 1e-6


# ---- the walk written out --------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("time", [1, 3])
def test_distances_in_all_axes_are_diffusion_distances(alpha, time):
    """|Z_i - Z_j|² = sum_m (p_t(i, m) - p_t(j, m))² / pi(m), exactly."""
    X = datasets.swiss_roll(60, random_state=0).X
    model = DiffusionMaps(59, alpha=alpha, time=time, width=20.0).fit(X)
    P, pi = walk(X, 1 / 20.0, alpha)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.stationary_, pi, rtol=1e-10)
    steps = np.linalg.matrix_power(P, time) / np.sqrt(pi)
    expected = squareform(pdist(steps))
    np.testing.assert_allclose(model.diffusion_distances(), expected, atol=1e-8 * expected.max())
    np.testing.assert_allclose(model.diffusion_distances(X[:4]), expected[:4], atol=1e-6 * expected.max())
    few = DiffusionMaps(8, alpha=alpha, time=time, width=20.0).fit(X)
    left_out = np.abs(model.eigenvalues_[8]) ** (2 * time) * np.add.outer(1 / pi, 1 / pi)
    gap = expected**2 - few.diffusion_distances() ** 2
    assert (gap > -1e-9 * expected.max() ** 2).all()
    assert (gap < left_out).all()


def test_eigenvectors_of_the_walk():
    X = datasets.swiss_roll(100, random_state=1).X
    model = DiffusionMaps(4, time=0, alpha=1, width="median").fit(X)
    P, pi = walk(X, model.gamma_, 1)
    psi = model.embedding_
    np.testing.assert_allclose(P @ psi, psi * model.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(psi.T @ (pi[:, None] * psi), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(pi @ psi, 0, atol=1e-9)
    assert ((model.eigenvalues_ > 0) & (model.eigenvalues_ < 1)).all()
    later = DiffusionMaps(4, time=2.5, alpha=1, width="median").fit(X)
    np.testing.assert_allclose(later.embedding_, psi * model.eigenvalues_**2.5, atol=1e-9)


@NARROW
def test_time_is_not_alpha():
    """drtoolbox's parameter t is the density exponent, and nothing there is scaled by lambda^t."""
    X = datasets.swiss_roll(120, random_state=0).X * np.linspace(1, 2, 120)[:, None]
    base = DiffusionMaps(2, alpha=1, time=1, width=30.0).fit(X)
    longer = DiffusionMaps(2, alpha=1, time=2, width=30.0).fit(X)
    denser = DiffusionMaps(2, alpha=0, time=1, width=30.0).fit(X)
    np.testing.assert_allclose(longer.embedding_, base.embedding_ * base.eigenvalues_, atol=1e-10)
    np.testing.assert_array_equal(longer.eigenvalues_, base.eigenvalues_)
    assert np.abs(denser.eigenvalues_ / base.eigenvalues_ - 1).max() > 1e-3


def test_circle():
    """On equally spaced points of a circle the kernel is circulant: lambda by a Fourier sum, psi sines and cosines."""
    angles, X = circle()
    model = DiffusionMaps(4, time=0, width=0.2).fit(X)
    kernel = np.exp(-np.square(2 * np.sin(angles / 2)) / 0.2)
    expected = np.fft.fft(kernel / kernel.sum()).real[[1, 1, 2, 2]]
    np.testing.assert_allclose(model.eigenvalues_, expected, rtol=1e-10)
    waves = np.sqrt(2) * np.column_stack([f(m * angles) for m in (1, 2) for f in (np.cos, np.sin)])
    for first in (0, 2):  # two axes share an eigenvalue: compare what they span
        Z, Q = model.embedding_[:, first : first + 2], waves[:, first : first + 2]
        np.testing.assert_allclose(Z @ Z.T, Q @ Q.T, atol=1e-9)


def test_alpha_removes_the_density():
    """Points crowded on one side of a circle: with alpha = 1 the map is round again."""
    angles = np.sort(2 * np.pi * np.random.default_rng(0).beta(1.5, 3.0, 1500))
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    radii = {}
    for alpha in (0, 1):
        Z = DiffusionMaps(2, alpha=alpha, time=0, width=0.02).fit_transform(X)
        around = Z / np.abs(Z).max(axis=0)
        found = np.unwrap(np.arctan2(around[:, 1], around[:, 0]))
        radii[alpha] = abs(np.corrcoef(found, angles)[0, 1])
    assert radii[1] > 0.99
    assert radii[1] > radii[0]


# ---- widths ----------------------------------------------------------------------------------------------------


@NARROW
def test_width_rules():
    X = datasets.swiss_roll(200, random_state=0).X
    D = squareform(pdist(X))
    tenth = np.sort(D, axis=1)[:, 10]
    assert DiffusionMaps(width="median").fit(X).gamma_ == pytest.approx(1 / np.median(tenth**2))
    adaptive = DiffusionMaps(alpha=0).fit(X)
    scales = np.maximum(tenth / 1.5, np.sqrt(np.median(tenth**2)))
    np.testing.assert_allclose(adaptive.scales_, scales, rtol=1e-10)
    K = np.exp(-((D / scales) ** 2))
    K = K + K.T
    np.testing.assert_allclose(adaptive.stationary_, K.sum(axis=1) / K.sum(), rtol=1e-9)
    conventions = {"exp(-d2/s)": 1 / 3, "exp(-d2/s2)": 1 / 9, "exp(-d2/(2*s2))": 1 / 18}
    for convention, gamma in conventions.items():
        assert DiffusionMaps(width=3.0, convention=convention).fit(X).gamma_ == pytest.approx(gamma)
    own = DiffusionMaps(59, width="self-tuning", alpha=0).fit(X[:60])
    seventh = np.sort(D[:60, :60], axis=1)[:, 7]
    np.testing.assert_allclose(own.scales_, seventh, rtol=1e-10)
    K = np.exp(-(D[:60, :60] ** 2) / np.outer(seventh, seventh))
    np.testing.assert_allclose(own.stationary_, K.sum(axis=1) / K.sum(), rtol=1e-9)


def test_outlying_rows_do_not_take_the_axes():
    """A roll and five rows far from it: with one width they are the map, with scales of their own they are not."""
    rng = np.random.default_rng(0)
    roll = datasets.swiss_roll(200, random_state=0).X
    aside = rng.standard_normal((5, 3))
    X = np.vstack([roll, roll.mean(axis=0) + 30 * aside / np.linalg.norm(aside, axis=1, keepdims=True)])
    with pytest.warns(UserWarning, match=r"DiffusionMaps: 9\d% of the rows lie within 1 % .* width='adaptive'"):
        DiffusionMaps(2, width=20.0).fit(X)
    model = DiffusionMaps(2).fit(X)  # no warning
    assert crowding(model.embedding_) < 0.1


def test_kernel_sum_finds_the_dimension():
    """Where the kernel's sum grows fastest it grows like eps^(d/2): a flat square has d = 2."""
    X = np.random.default_rng(0).random((2000, 2)) * 10
    gamma = DiffusionMaps(2, width="kernel-sum", n_neighbors=20).fit(X).gamma_
    e = gamma * np.square(cdist(X[:300], X))
    kernel = np.exp(-e)
    assert (e * kernel).sum() / kernel.sum() == pytest.approx(1.0, abs=0.15)
    assert 0.01 < 1 / gamma < 10


# ---- graphs ----------------------------------------------------------------------------------------------------


@NARROW
def test_all_neighbours_are_all_pairs():
    X = cloud(80, 3)
    for options in ({"width": 4.0}, {"width": "self-tuning"}, {"width": 4.0, "alpha": 0.5, "time": "multiscale"}):
        dense, graph = (DiffusionMaps(3, n_neighbors=k, **options).fit(X) for k in (None, 79))
        np.testing.assert_allclose(graph.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
        np.testing.assert_allclose(graph.embedding_, dense.embedding_, atol=1e-7 * spread(dense.embedding_))
        np.testing.assert_allclose(graph.stationary_, dense.stationary_, rtol=1e-9)
    new = cloud(15, 3, seed=3)
    gaps = np.sort(squareform(pdist(X)), axis=1)[:, 1]
    D = cdist(new, X)
    free = D.min(axis=1) > gaps[D.argmin(axis=1)] / 2
    dense, graph = (DiffusionMaps(3, n_neighbors=k, width=4.0).fit(X) for k in (None, 79))
    # one neighbour less: a new row has 80, of which a graph of 79 takes the nearest
    np.testing.assert_allclose(graph.transform(new)[free], dense.transform(new)[free], atol=1e-2)


@NARROW
def test_equal_rows_are_density():
    """Copies are more of the same place: on a graph too, where they count with their number."""
    X = cloud(50, 2)
    copies = np.vstack([X, X[:15], X[:15]])
    dense, graph = (DiffusionMaps(3, n_neighbors=k, width=2.0).fit(copies) for k in (None, 49))
    np.testing.assert_allclose(graph.embedding_, dense.embedding_, atol=1e-7 * spread(dense.embedding_))
    np.testing.assert_allclose(graph.stationary_, dense.stationary_, rtol=1e-8)
    np.testing.assert_allclose(dense.embedding_[50:65], dense.embedding_[:15], atol=1e-9)
    np.testing.assert_allclose(graph.transform(copies), graph.embedding_, atol=1e-9)


def test_distances_given_in_every_form():
    X = cloud(60, 3)
    D = squareform(pdist(X))
    expected = DiffusionMaps(2).fit(X)
    for given in (D, pdist(X)):
        model = DiffusionMaps(2, metric="precomputed").fit(given)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.transform(D[:5]), expected.embedding_[:5], atol=1e-9)
    near = np.argsort(np.argsort(D, axis=1), axis=1) <= 12
    stored = sparse.csr_array(np.where(near | near.T, D, 0))
    graph = DiffusionMaps(2, metric="precomputed", width=4.0).fit(stored)
    rows = DiffusionMaps(2, n_neighbors=12, width=4.0).fit(X)
    np.testing.assert_allclose(graph.embedding_, rows.embedding_, atol=1e-8)
    for rule in ("adaptive", "median", "self-tuning", "kernel-sum"):
        assert np.isfinite(DiffusionMaps(2, metric="precomputed", width=rule).fit_transform(stored)).all()


# ---- new rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"width": "median"},
        {"width": "self-tuning"},
        {"n_neighbors": 8},
        {"n_neighbors": 8, "width": "self-tuning"},
        {"radius": 6.0},
    ],
)
@pytest.mark.filterwarnings(APART)
def test_fitted_rows_come_out_where_they_are(options):
    X = datasets.swiss_roll(200, random_state=0).X
    model = DiffusionMaps(3, **options).fit(X)
    Z = model.embedding_
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-10 * spread(Z))
    assert np.abs(model.transform(X + 1e-8) - Z).max() < 1e-4 * spread(Z)


def test_the_formula_for_a_new_row():
    """psi(x) = sum_i p(x, i) psi(i) / lambda with the densities of the fitted rows."""
    X, new = cloud(70, 3), cloud(9, 3, seed=4)
    model = DiffusionMaps(2, alpha=1, time=2, width=3.0).fit(X)
    q = np.exp(-(squareform(pdist(X)) ** 2) / 3).sum(axis=1)
    k = np.exp(-(cdist(new, X) ** 2) / 3)
    p = k / q / (k / q).sum(axis=1, keepdims=True)  # the new row's own density cancels
    psi = model.embedding_ / model.eigenvalues_**2
    np.testing.assert_allclose(model.transform(new), (p @ psi / model.eigenvalues_) * model.eigenvalues_**2, atol=1e-9)
    assert np.isfinite(model.transform(np.full((1, 3), 1e5))).all()


# ---- parts -----------------------------------------------------------------------------------------------------


def islands(count=3, n=25):
    return np.vstack([cloud(n, 2, seed=c) * 0.05 + 100.0 * c for c in range(count)])


@pytest.mark.parametrize("n_neighbors", [None, 6])
def test_ones_are_components(n_neighbors):
    X = islands()
    with pytest.warns(UserWarning, match="DiffusionMaps: .* 3 components"):
        model = DiffusionMaps(2, n_neighbors=n_neighbors).fit(X)
    assert model.n_components_graph_ == 3
    Z = model.embedding_
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-8 * spread(Z))
    assert (model.eigenvalues_ < 1).all()
    for policy in ("separate", "largest"):
        with pytest.warns(UserWarning, match="3 components"):
            model = DiffusionMaps(2, n_neighbors=n_neighbors, disconnected=policy, width=1.0).fit(X)
        alone = DiffusionMaps(2, n_neighbors=n_neighbors, width=1.0).fit(X[:25])
        np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, rtol=1e-8)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-7)
        moved = model.embedding_[:25] - model.embedding_[:25].mean(axis=0)
        np.testing.assert_allclose(moved, alone.embedding_ - alone.embedding_.mean(axis=0), atol=1e-7)
        assert np.isnan(model.embedding_).any() == (policy == "largest")
    with pytest.raises(ValueError, match=r"DiffusionMaps: .*must be connected; got 3 components"):
        DiffusionMaps(2, n_neighbors=n_neighbors, disconnected="error").fit(X)
    P, _ = walk(X, 1.0, 0)
    assert (np.linalg.eigvals(P).real > 1 - 1e-9).sum() == 3


# ---- the rest --------------------------------------------------------------------------------------------------


def test_memory_names_the_way_out():
    model = DiffusionMaps(n_landmarks=None)
    assert model.estimate_memory((100_000, 3)) > 8e10
    assert DiffusionMaps().estimate_memory((100_000, 3)) < 1e9  # goes by landmarks
    assert DiffusionMaps(n_neighbors=15).estimate_memory((100_000, 3)) < 1e9
    with config(memory_limit="10MB"), pytest.raises(MemoryError, match=r"DiffusionMaps: .*kernel matrix.*n_neighbors"):
        model.fit(np.zeros((5000, 2)))


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
def test_incomplete_rows(policy):
    X = datasets.swiss_roll(150, random_state=0).X
    X = np.hstack([X, X @ np.random.default_rng(0).standard_normal((3, 3))])
    holes = np.random.default_rng(1).random(X.shape) < 0.05
    Y = np.where(holes, np.nan, X)
    complete = DiffusionMaps(2).fit(X)
    for n_neighbors in (None, 10):
        model = DiffusionMaps(2, missing=policy, n_neighbors=n_neighbors, random_state=0).fit(Y)
        assert abs(np.corrcoef(model.embedding_[:, 0], complete.embedding_[:, 0])[0, 1]) > 0.7
        whole = ~holes.any(axis=1)
        again = model.transform(Y)
        assert np.isfinite(again).all()
        np.testing.assert_allclose(again[whole], model.embedding_[whole], atol=1e-6 * spread(model.embedding_))


def test_single_precision():
    X = datasets.swiss_roll(150, random_state=0).X
    for n_neighbors in (None, 12):
        double, single = (DiffusionMaps(2, n_neighbors=n_neighbors).fit(X.astype(t)) for t in (np.float64, np.float32))
        assert single.embedding_.dtype == np.float32
        np.testing.assert_allclose(single.embedding_, double.embedding_, atol=1e-4 * spread(double.embedding_))


def test_a_kernel_that_sees_no_difference():
    """Rows that are copies of three places have two axes, whatever is asked for."""
    X = np.repeat(cloud(3, 2), 8, axis=0)
    with pytest.warns(UserWarning, match="2 of 4 axes"):
        model = DiffusionMaps(4, width=4.0, time=0).fit(X)
    assert (model.embedding_[:, 2:] == 0).all()
    with pytest.raises(ValueError, match="DiffusionMaps: X must have different rows"):
        DiffusionMaps().fit(np.ones((20, 2)))
