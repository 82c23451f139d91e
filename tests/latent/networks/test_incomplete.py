"""Networks on incomplete rows: the loss of observed cells, codes of rows with holes, hidden cells."""

import numpy as np
import pytest
import torch
from scipy.optimize import check_grad

import lowdim
from lowdim.latent.networks import _incomplete as incomplete
from lowdim.latent.networks._bottleneck import Bottleneck
from lowdim.latent.networks._evidence import Evidence
from lowdim.latent.networks._losses import Reconstruction
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._settings import Architecture

LINEAR = {"hidden": (), "activation": "linear"}


def surface(n=200, share=0.15, seed=0):
    """Rows about a curved surface, the same with hidden cells, and which these are."""
    rng = np.random.default_rng(seed)
    T = rng.uniform(-1, 1, (n, 2))
    X = np.column_stack([T, T[:, 0] ** 2, T[:, 0] * T[:, 1], np.sin(2 * T[:, 1]), T.sum(axis=1)])
    X = X + 0.03 * rng.standard_normal(X.shape)
    hidden = rng.random(X.shape) < share
    return X, np.where(hidden, np.nan, X), hidden


NETWORKS = [
    lowdim.NLPCA(2, hidden=8, n_init=1, tol=1e-3, random_state=0),
    lowdim.Autoencoder(2, hidden=8, tol=1e-2, held_out=0, random_state=0),
    lowdim.VAE(2, hidden=8, batch_size=50, learning_rate=0.02, max_iter=80, held_out=0, random_state=0),
]


@pytest.mark.filterwarnings("ignore:VAE. not converged")
@pytest.mark.parametrize("policy", incomplete.POLICIES)
@pytest.mark.parametrize("model", NETWORKS, ids=lambda model: type(model).__name__)
def test_hidden_cells_are_predicted_better_than_by_the_means(model, policy):
    X, holes, hidden = surface()
    model.set_params(missing=policy).fit(holes[:150])
    means = np.nanmean(holes[:150], axis=0)
    seen, new = hidden[:150], hidden[150:]
    by_means = np.square((X - means)[:150][seen]).mean()
    assert np.square((model.completed_ - X[:150])[seen]).mean() < 0.5 * by_means
    np.testing.assert_array_equal(model.completed_[~seen], X[:150][~seen])
    filled = model.inverse_transform(model.transform(holes[150:]))
    assert np.square((filled - X[150:])[new]).mean() < 0.5 * np.square((means - X[150:])[new]).mean()
    alone = np.concatenate([model.transform(holes[i : i + 1]) for i in range(150, 155)])
    np.testing.assert_allclose(alone, model.transform(holes[150:155]), atol=1e-9)


def test_linear_networks_of_incomplete_rows_are_iterative_pca():
    """Both minimise the squared error of the observed cells over planes, and hide the same in the holes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 5)) + 0.02 * rng.standard_normal((80, 5))
    holes = np.zeros(X.shape, dtype=bool)
    holes[np.arange(0, 80, 2), np.arange(40) % 5] = True
    rows = np.where(holes, np.nan, X)
    P = lowdim.PCA(2, missing="em").fit(rows)
    model = lowdim.NLPCA(2, **LINEAR, weight_decay=0, n_init=1, tol=1e-6, random_state=0).fit(rows)
    apart, spread = (model.completed_ - P.completed_)[holes], (X - X.mean(axis=0))[holes]
    assert np.square(apart).mean() < 1e-2 * np.square(spread).mean()


@pytest.mark.parametrize(("circular", "hierarchical"), [(False, False), (True, False), (False, True)])
def test_the_gradient_goes_through_all_passes(circular, hierarchical):
    architecture = Architecture(2, "tanh", hierarchical, None, circular, 0.01)
    problem = Bottleneck.of(surface(6, 0.3)[1], (4,), architecture)
    assert problem.passes == incomplete.PASSES
    x = problem.initial(np.random.default_rng(0))
    assert check_grad(lambda x: problem.loss(x)[0], lambda x: problem.loss(x)[1], x) < 1e-5


@pytest.mark.parametrize("penalty", [None, "sparse", "denoising-mask"])
def test_a_missing_cell_has_no_error(penalty):
    """The loss of a table with holes is that of its observed cells: what a hole hides does not matter."""
    loss = Reconstruction("test", Network.of((6, 2), "tanh"), Network.of((2, 6), "tanh"), penalty, 0.1, 0.05, 0.0)
    holes = Reconstruction(*(getattr(loss, name) for name in loss.__dataclass_fields__ if name != "incomplete"), True)
    flat = loss.initial(np.random.default_rng(0), None)
    x, rows = torch.as_tensor(flat), torch.as_tensor(surface(20)[1])
    found = holes.loss(x, rows, torch.Generator().manual_seed(0))
    assert torch.isfinite(found)
    complete = torch.as_tensor(surface(20)[0])
    torch.testing.assert_close(holes.error(x, complete), loss.error(x, complete))
    cell, (encoder, decoder) = float(rows[0, 0]), holes.split(flat)
    filled = np.array([[cell, 0, 0, 0, 0, 0]])
    for _ in range(incomplete.PASSES):
        output = holes.decoder(decoder, holes.encoder(encoder, filled))
        filled = np.where(np.arange(6) == 0, cell, output)
    only = torch.as_tensor([[cell] + 5 * [np.nan]], dtype=rows.dtype)
    assert float(holes.error(x, only)) == pytest.approx((output[0, 0] - cell) ** 2)


@pytest.mark.parametrize("bernoulli", [False, True])
def test_the_bound_of_incomplete_rows(bernoulli):
    """Its gradient is right, and a row without holes has the bound it always had."""
    networks = Network.of((6, 4, 4), "tanh"), Network.of((2, 4, 6), "tanh")
    X = torch.sigmoid(torch.as_tensor(surface(5)[0]))
    rows = torch.where(torch.as_tensor(surface(5, 0.4)[2]), torch.nan, X)
    plain, loss = (Evidence("test", *networks, bernoulli, 1.0, 0.0, fill) for fill in (None, np.full(6, 0.5)))
    x = torch.as_tensor(loss.initial(np.random.default_rng(0), None))
    torch.testing.assert_close(plain.error(x, X), loss.error(x, X))
    assert torch.autograd.gradcheck(lambda x: loss.error(x, rows), (x.requires_grad_(),))


def test_codes_and_spreads_of_a_linear_model_are_the_posterior():
    """Of a linear decoder the posterior of the code given some cells is Gaussian, in closed form."""
    X, holes, _ = surface(80)
    settings = {"batch_size": 40, "learning_rate": 0.03, "max_iter": 60, "held_out": 0, "random_state": 0}
    with pytest.warns(UserWarning, match="not converged"):
        model = lowdim.VAE(2, **LINEAR, **settings).fit(X)
    row = (holes[np.isnan(holes).any(axis=1)][:1] - model.mean_) / model.scale_
    seen = ~np.isnan(row[0])
    W, b = model.decoder_weights_[0][:, seen], model.decoder_biases_[0][seen]
    precision = np.eye(2) + W @ W.T / model.noise_variance_
    expected = np.linalg.solve(precision, W @ (row[0, seen] - b) / model.noise_variance_)
    raw = row * model.scale_ + model.mean_
    np.testing.assert_allclose(model.transform(raw)[0], expected, atol=1e-6)
    np.testing.assert_allclose(model.posterior_spread(raw)[0] ** 2, np.diag(np.linalg.inv(precision)), rtol=1e-5)
    missing = model.elbo(raw, n_draws=2000)[0]
    S = W.T @ W + model.noise_variance_ * np.eye(seen.sum())
    centred = row[0, seen] - b
    evidence = -0.5 * (centred @ np.linalg.solve(S, centred) + np.linalg.slogdet(2 * np.pi * S)[1])
    evidence -= np.log(model.scale_[seen]).sum()
    assert missing < evidence + 0.05


def test_shares_with_holes():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((120, 2)) > 0.5, 5, axis=1) * 0.96 + 0.02
    hidden = rng.random(X.shape) < 0.2
    settings = {"hidden": 6, "likelihood": "bernoulli", "batch_size": 30, "learning_rate": 0.03, "max_iter": 60}
    with pytest.warns(UserWarning, match="not converged"):
        model = lowdim.VAE(2, random_state=0, **settings).fit(np.where(hidden, np.nan, X))
    assert np.square((model.completed_ - X)[hidden]).mean() < 0.3 * X.var()


def test_holes_are_refused_where_asked_and_models_are_kept(tmp_path):
    X, holes, _ = surface(60)
    with pytest.raises(ValueError, match=r"NLPCA: X has .* missing values .*missing='iterative' or missing='multiple'"):
        lowdim.NLPCA(1, missing="error").fit(holes)
    model = lowdim.NLPCA(1, n_init=1, tol=1e-2, circular=True, random_state=0).fit(X)
    assert model.completed_ is None
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(holes), model.transform(holes))


def test_models_of_earlier_releases_say_that_they_know_no_holes():
    X, holes, _ = surface(60)
    model = lowdim.NLPCA(1, n_init=1, tol=1e-2, random_state=0).fit(X)
    Z = model.transform(X)
    del model._parts
    np.testing.assert_array_equal(model.transform(X), Z)
    with pytest.raises(ValueError, match="fitted by an earlier release"):
        model.transform(holes)
