"""VAE: the bound against closed forms, draws, collapse."""

import numpy as np
import pytest
import torch

import lowdim
from lowdim.latent.networks._evidence import Evidence, divergence
from lowdim.latent.networks._network import Network

# Many trainings here are short on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*not converged after max_iter")


def plane(n=300, seed=0):
    rng = np.random.default_rng(seed)
    W = np.array([[3, 1, 0, 2, 0.5], [0, 1, 2, -1, 1]])
    return rng.standard_normal((n, 2)) @ W + 0.5 * rng.standard_normal((n, 5)) + 2


def pixels(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(rng.random((n, 2)) > 0.5, 6, axis=1) * 0.96 + 0.02


@pytest.fixture(scope="module")
def linear():
    settings = {"hidden": (), "activation": "linear", "held_out": 0, "batch_size": 60, "learning_rate": 0.03}
    return lowdim.VAE(2, schedule="cosine", max_iter=120, random_state=0, **settings).fit(plane())


def test_the_bound_of_a_linear_model_is_the_likelihood_of_probabilistic_pca(linear):
    X = plane()
    p = lowdim.ProbabilisticPCA(2).fit(X)
    best = p.log_likelihood_ / len(X)
    assert best - 0.05 < linear.elbo_ < best + 0.01
    assert linear.noise_variance_ * linear.scale_[0] ** 2 == pytest.approx(p.noise_variance_, rel=0.1)


def test_the_bound_increases(linear):
    assert linear.loss_curve_[-1] < linear.loss_curve_[20] < linear.loss_curve_[0]
    smooth = np.convolve(linear.loss_curve_, np.ones(20) / 20, "valid")
    assert np.all(np.diff(smooth) < 0.05)


def test_divergence():
    assert divergence(np.zeros(3), np.zeros(3)) == pytest.approx(0)
    rng = np.random.default_rng(0)
    m, v = rng.standard_normal(500), rng.standard_normal(500)
    assert (divergence(m, v) > 0).all()
    z = m[0] + np.exp(v[0] / 2) * rng.standard_normal(200_000)
    drawn = (-0.5 * (v[0] + (z - m[0]) ** 2 / np.exp(v[0])) + 0.5 * z**2).mean()
    assert drawn == pytest.approx(divergence(m[0], v[0:1])[0], abs=0.02)


@pytest.mark.parametrize("bernoulli", [False, True])
def test_the_gradient_goes_through_the_draws(bernoulli):
    loss = Evidence("test", Network.of((3, 4, 4), "tanh"), Network.of((2, 4, 3), "tanh"), bernoulli, 2.0, 0.01)
    rng = np.random.default_rng(0)
    x, X = torch.as_tensor(loss.initial(rng, None)), torch.as_tensor(rng.random((5, 3)))

    def value(x):
        return loss.loss(x, X, torch.Generator().manual_seed(3))

    assert torch.autograd.gradcheck(value, (x.requires_grad_(),))


def test_spread_and_draws(linear):
    X = plane()
    spread = linear.posterior_spread(X[:5])
    assert spread.shape == (5, 2)
    assert ((spread > 0) & (spread < 1)).all()
    drawn = linear.sample(4000, random_state=0, noise=True)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.4)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=2.0)
    np.testing.assert_array_equal(linear.sample(3, random_state=1), linear.sample(3, random_state=1))
    assert linear.sample(3, random_state=1).shape == (3, 5)


def test_coins():
    X = pixels()
    settings = {"hidden": 8, "likelihood": "bernoulli", "batch_size": 50, "learning_rate": 0.03, "max_iter": 40}
    model = lowdim.VAE(2, random_state=0, **settings).fit(X)
    assert model.noise_variance_ is None
    assert model.reconstruction_error_ < 0.3 * X.var()
    back = model.inverse_transform(model.embedding_)
    assert back.min() >= 0
    assert back.max() <= 1
    assert set(np.unique(model.sample(10, noise=True, random_state=0))) <= {0.0, 1.0}
    with pytest.raises(ValueError, match=r"X must be from 0 to 1 .*; got values from 0\.04 to 1\.96"):
        lowdim.VAE(1, likelihood="bernoulli").fit(2 * X)


def test_collapsed_units_are_found():
    """A plane needs two units: of four, two say nothing; with a large beta none does."""
    settings = {"hidden": (), "activation": "linear", "batch_size": 60, "learning_rate": 0.03, "max_iter": 100}
    with pytest.warns(UserWarning, match="2 of 4 units collapsed"):
        model = lowdim.VAE(4, random_state=0, **settings).fit(plane())
    np.testing.assert_array_equal(np.sort(model.collapsed_), [False, False, True, True])
    with pytest.warns(UserWarning, match="2 of 2 units collapsed"):
        model = lowdim.VAE(2, beta=100.0, random_state=0, **settings).fit(plane())
    assert model.kl_.max() < 0.01


def test_what_makes_no_sense_is_refused(linear):
    for value in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="VAE: n_samples must be a whole number >= 1"):
            linear.sample(value)
        with pytest.raises(ValueError, match="VAE: n_draws must be a whole number >= 1"):
            linear.elbo(plane(), n_draws=value)
    coins = lowdim.VAE(1, likelihood="bernoulli", hidden=4, max_iter=2, random_state=0).fit(pixels())
    with pytest.raises(ValueError, match="X must be from 0 to 1"):
        coins.elbo(2 * pixels())
    single = lowdim.VAE(1, likelihood="bernoulli", hidden=4, max_iter=2, random_state=0).fit(pixels().astype("float32"))
    assert {single.sample(2, random_state=0, noise=noise).dtype.name for noise in (True, False)} == {"float32"}


@pytest.mark.filterwarnings("ignore:VAE. . of . units collapsed")
def test_a_larger_beta_buys_a_smaller_divergence_with_a_larger_error():
    settings = {"hidden": 8, "batch_size": 60, "learning_rate": 0.02, "max_iter": 60, "random_state": 0}
    models = [lowdim.VAE(2, beta=beta, **settings).fit(plane()) for beta in (0.1, 1.0, 10.0)]
    assert models[0].kl_.sum() > models[1].kl_.sum() > models[2].kl_.sum()
    errors = [model.reconstruction_error_ for model in models]
    assert errors[0] <= 1.02 * errors[1] < errors[2]


@pytest.mark.deep
def test_defaults_train_to_the_plateau():
    """Few rows: an epoch is one step, and a schedule of 300 epochs would stop at half of the bound."""
    X = plane(60)
    model = lowdim.VAE(1, hidden=4, random_state=0).fit(X)
    assert model.converged_
    assert model.n_iter_ < 3000
    longer = lowdim.VAE(1, hidden=4, patience=400, max_iter=3000, tol=0.0, random_state=0).fit(X)
    start = model.held_out_curve_[0]
    assert start - model.held_out_curve_.min() > 0.9 * (start - longer.held_out_curve_.min())
