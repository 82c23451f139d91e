"""Weights of sparse kernel PCA: the highest likelihood of a Gaussian in feature space."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.kernels import RBF
from lowdim.spectral.kernel._sparse_kernel import fit_weights, weights_of_few


def centred_kernel(n=60, gamma=0.5, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 2)) * [2.0, 1.0]
    H = np.eye(n) - 1 / n
    return H @ RBF(gamma)(X) @ H


def loss(K, w, noise):
    """-2 log likelihood per row of features with covariance s²I + sum w_i phi_i phi_i', up to a constant."""
    values, V = np.linalg.eigh(K)
    F = V * np.sqrt(np.maximum(values, 0))  # features: F F' = K
    C = noise * np.eye(len(K)) + F.T @ (w[:, None] * F)
    return np.linalg.slogdet(C)[1] + np.trace(F @ np.linalg.solve(C, F.T)) / len(K)


@pytest.mark.parametrize("noise", [1e-4, 1e-2, 0.1])
def test_no_weight_alone_can_do_better(noise):
    K = centred_kernel()
    level = noise * np.linalg.eigvalsh(K)[-1] / 60
    found = fit_weights(K, level, owner="t")
    assert found.converged
    least = loss(K, found.weights, level)
    for i in range(60):
        for factor in (0.0, 0.5, 0.9, 1.1, 2.0):
            moved = found.weights.copy()
            moved[i] = factor * moved[i] if moved[i] else factor * 1e-3
            assert loss(K, moved, level) > least - 2e-5


def test_the_update_of_the_paper_keeps_the_weights_where_they_are():
    """w_i = sum mu² / (n (1 - Sigma_ii / w_i)) with Sigma = (W^-1 + K/s²)^-1: the same stationary points."""
    K = centred_kernel()
    level = 0.05 * np.linalg.eigvalsh(K)[-1] / 60
    w = fit_weights(K, level, owner="t").weights
    kept = np.flatnonzero(w)
    assert 3 < len(kept) < 40
    sigma = np.linalg.inv(np.diag(1 / w[kept]) + K[np.ix_(kept, kept)] / level)
    mu = sigma @ K[kept] / level
    again = (mu**2).sum(axis=1) / (60 * (1 - np.diag(sigma) / w[kept]))
    assert np.abs(again - w[kept]).max() < 0.05 * w[kept].max()


def test_few_rows():
    K = centred_kernel(100, 0.2)
    variance = np.linalg.eigvalsh(K)[-1] / 100
    capped = fit_weights(K, 1e-4 * variance, 7, owner="t")
    assert np.count_nonzero(capped.weights) == 7
    assert capped.capped
    natural = weights_of_few(K, variance, 12, owner="t")
    assert 1 <= np.count_nonzero(natural.weights) <= 12
    assert not natural.capped
    assert weights_of_few(K, variance, 1, owner="t").weights.any()


def test_more_noise_than_variance_keeps_one_row():
    K = centred_kernel(30)
    assert np.count_nonzero(fit_weights(K, 10.0, owner="t").weights) == 1


def test_steps_that_do_not_suffice_are_said():
    with pytest.warns(ConvergenceWarning, match="t: the weights of sparse kernel PCA did not converge after 3 steps"):
        found = fit_weights(centred_kernel(30), 1e-3, owner="t", max_iter=3)
    assert not found.converged
    assert found.n_iter == 3
