"""The linear-Gaussian model of incomplete rows against dense linear algebra, row by row."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from lowdim._core.incomplete import batched_linalg, em, gaussian
from lowdim._core.incomplete.em import expectations, fit_gaussian, maximized, observed_moments
from lowdim._core.incomplete.gaussian import Gaussian


def problem(n=40, d=7, r=3, noise="diagonal", seed=0, missing=0.3):
    rng = np.random.default_rng(seed)
    psi = rng.uniform(0.1, 0.6, d) if noise == "diagonal" else 0.4
    model = Gaussian(rng.standard_normal(d), rng.standard_normal((d, r)), psi)
    X = model.sample(n, rng)
    X[rng.random(X.shape) < missing] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.5
    return model, X


kinds = pytest.mark.parametrize("noise", ["isotropic", "diagonal"])


@kinds
@pytest.mark.parametrize("r", [1, 3, 30])
def test_everything_about_a_row_equals_the_dense_computation(noise, r):
    model, X = problem(d=7 if r < 7 else 40, r=r, noise=noise, n=25)
    S, W, mean = model.covariance, model.loadings, model.mean
    filled, variance = model.conditional(X)
    scores, spread, likelihood = model.scores(X), model.score_covariance(X), model.log_likelihood(X)
    for i, x in enumerate(X):
        o = ~np.isnan(x)
        inverse, gap = np.linalg.inv(S[np.ix_(o, o)]), x[o] - mean[o]
        np.testing.assert_allclose(scores[i], W[o].T @ inverse @ gap, atol=1e-10)
        np.testing.assert_allclose(spread[i], np.eye(r) - W[o].T @ inverse @ W[o], atol=1e-10)
        assert likelihood[i] == pytest.approx(multivariate_normal(mean[o], S[np.ix_(o, o)]).logpdf(x[o]), abs=1e-9)
        K = S[np.ix_(~o, o)] @ inverse
        np.testing.assert_array_equal(filled[i, o], x[o])
        np.testing.assert_allclose(filled[i, ~o], mean[~o] + K @ gap, atol=1e-10)
        np.testing.assert_array_equal(variance[i, o], 0.0)
        expected = np.diag(S[np.ix_(~o, ~o)] - K @ S[np.ix_(o, ~o)])
        np.testing.assert_allclose(variance[i, ~o], expected, atol=1e-10)


def test_less_seen_is_less_known():
    model, _ = problem()
    x = np.arange(7.0)
    wide = []
    for k in range(7, 0, -1):
        x[k:] = np.nan
        wide.append(np.trace(model.score_covariance(x[None])[0]))
    assert (np.diff(wide) > 0).all()


def test_inverses_by_sweeping_equal_those_of_lapack():
    rng = np.random.default_rng(0)
    for r in (1, 2, 5, batched_linalg.SWEEP, batched_linalg.SWEEP + 1):
        A = rng.standard_normal((6, r, r + 3))
        M = A @ A.transpose(0, 2, 1) + 0.1 * np.eye(r)
        C, logdet = batched_linalg.inverses(np.moveaxis(M, 0, -1))
        np.testing.assert_allclose(np.moveaxis(C, -1, 0), np.linalg.inv(M), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(logdet, np.linalg.slogdet(M)[1], rtol=1e-10)


@kinds
def test_the_maximisation_step_is_a_loop_over_columns(noise):
    """Its twin: for each column, least squares of its cells on (z, 1) with the spread of z added."""
    model, X = problem(noise=noise)
    found = maximized(model, expectations(X, model), 1e-12)
    Z, C = model.scores(X), model.score_covariance(X)
    V = np.column_stack([Z, np.ones(len(X))])
    pad = np.zeros((len(X), 4, 4))
    pad[:, :3, :3] = C
    W, mean, left = np.zeros((7, 3)), np.zeros(7), np.zeros(7)
    for j in range(7):
        o = ~np.isnan(X[:, j])
        A = V[o].T @ V[o] + pad[o].sum(axis=0)
        theta = np.linalg.solve(A, V[o].T @ X[o, j])
        W[j], mean[j] = theta[:3], theta[3]
        left[j] = ((X[o, j] - V[o] @ theta) ** 2).sum() + theta @ pad[o].sum(axis=0) @ theta
    counts = (~np.isnan(X)).sum(axis=0)
    expected = left / counts if noise == "diagonal" else left.sum() / counts.sum()
    np.testing.assert_allclose(found.noise, expected, rtol=1e-10)
    nu, total = Z.mean(axis=0), (Z.T @ Z + C.sum(axis=0)) / len(X)
    np.testing.assert_allclose(found.mean, mean + W @ nu, atol=1e-10)
    np.testing.assert_allclose(found.loadings @ found.loadings.T, W @ (total - np.outer(nu, nu)) @ W.T, atol=1e-10)


@kinds
def test_the_likelihood_never_falls(noise):
    _, X = problem(noise=noise, n=60)
    mean, variance = observed_moments(X)
    model = em.initial(X, 3, mean, variance, noise, np.random.default_rng(1))
    plain = []
    for _ in range(60):
        sums = expectations(X, model)
        plain.append(sums.log_likelihood)
        model = maximized(model, sums, 1e-12)
    assert (np.diff(plain) > -1e-9).all()
    _, run = fit_gaussian(X, 3, noise=noise, rng=np.random.default_rng(1))
    assert (np.diff(run.losses) <= 0).all()
    assert run.converged
    cells = (~np.isnan(X)).sum()
    assert -run.losses[-1] * cells >= plain[-1] - 1e-6


@kinds
def test_acceleration_takes_far_fewer_steps_to_the_same_place(noise):
    _, X = problem(noise=noise, n=60, missing=0.25)
    model, run = fit_gaussian(X, 3, noise=noise, rng=np.random.default_rng(1), tol=1e-13)
    mean, variance = observed_moments(X)
    slow = em.initial(X, 3, mean, variance, noise, np.random.default_rng(1))
    for _ in range(4 * run.n_iter):
        sums = expectations(X, slow)
        slow = maximized(slow, sums, 1e-12)
    assert model.log_likelihood(X).sum() >= slow.log_likelihood(X).sum() - 1e-8


def test_the_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(gaussian, "BLOCK_BYTES", 2**13)
    _, X = problem(n=300)
    results = []
    for n_jobs in (1, 2, 3):
        model, _ = fit_gaussian(X, 2, rng=np.random.default_rng(0), n_jobs=n_jobs)
        results.append((model.loadings, model.mean, model.noise, *model.conditional(X)))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_blocks_of_rows_are_put_together_right(monkeypatch):
    model, X = problem(n=300)
    whole = expectations(X, model)
    monkeypatch.setattr(gaussian, "BLOCK_BYTES", 2**13)
    parts = expectations(X, model)
    for name in ("log_likelihood", "misfit", "vv", "vv_all", "yv", "yy"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("r", [3, 30])
def test_rows_that_miss_the_same_cells_share_their_matrices(r, monkeypatch):
    """Five patterns in mixed order, one of them complete: the sums are those of each row by itself."""
    model, X = problem(n=300, d=40, r=r, missing=0.0)
    rng = np.random.default_rng(1)
    patterns = rng.random((5, 40)) < 0.3
    patterns[0] = False
    X[patterns[rng.integers(5, size=300)]] = np.nan
    inverted = []
    plain = batched_linalg.inverses
    monkeypatch.setattr(gaussian, "inverses", lambda M: (inverted.append(M.shape[-1]), plain(M))[1])
    shared = expectations(X, model)
    assert (sum(inverted) <= 20) == (r > batched_linalg.SWEEP)  # five, and what borders of blocks divide
    single = [expectations(X[i : i + 1], model) for i in range(300)]
    for name in ("log_likelihood", "misfit", "vv", "vv_all", "yv", "yy"):
        alone = sum(getattr(sums, name) for sums in single)
        np.testing.assert_allclose(getattr(shared, name), alone, rtol=1e-9, atol=1e-8, err_msg=name)


def test_little_noise_costs_no_digits():
    """Signal 1e7 times the noise: likelihood and scores as a dense computation in the observed cells has them."""
    rng = np.random.default_rng(3)
    model = Gaussian(np.zeros(8), rng.standard_normal((8, 2)), 1e-7)
    X = model.sample(30, rng)
    X[rng.random(X.shape) < 0.2] = np.nan
    likelihood = model.log_likelihood(X)
    for x, found in zip(X, likelihood, strict=True):
        o = ~np.isnan(x)
        assert found == pytest.approx(
            multivariate_normal(np.zeros(o.sum()), model.covariance[np.ix_(o, o)]).logpdf(x[o]), abs=1e-5
        )


def test_moments_of_observed_cells():
    rng = np.random.default_rng(0)
    X = 1e6 + rng.standard_normal((100, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    mean, variance = observed_moments(X)
    np.testing.assert_allclose(mean, np.nanmean(X, axis=0), rtol=1e-14)
    np.testing.assert_allclose(variance, np.nanvar(X, axis=0), rtol=1e-8)


def test_draws_have_the_moments_of_the_model():
    model, _ = problem()
    X = model.sample(60_000, np.random.default_rng(5))
    np.testing.assert_allclose(X.mean(axis=0), model.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(X.T), model.covariance, atol=0.15)
