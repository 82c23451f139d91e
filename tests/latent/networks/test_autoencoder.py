"""Autoencoder: identity with PCA, penalties, the training loop, checkpoints."""

import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim.latent.networks import _checkpoint, _plateau, _train
from lowdim.latent.networks._losses import PENALTIES, Reconstruction, activity, divergence
from lowdim.latent.networks._network import ACTIVATIONS, Network
from lowdim.latent.networks._torch import contraction, forward

# Many trainings here are short on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*not converged after max_iter")


def correlated(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 6)) @ np.diag([3, 2, 1.5, 1, 0.5, 0.3]) @ rng.standard_normal((6, 6)) - 4


def curve(n=200, noise=0.02, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n)
    return np.column_stack([t, t**2, np.sin(3 * t)]) + noise * rng.standard_normal((n, 3))


def test_a_linear_autoencoder_is_pca():
    X = correlated()
    P = lowdim.PCA(2).fit(X)
    settings = {"hidden": (), "activation": "linear", "weight_decay": 0, "held_out": 0}
    model = lowdim.Autoencoder(2, tol=1e-12, random_state=0, **settings).fit(X)
    assert subspace_angles(model.decoder_weights_[0].T, P.components_.T).max() < 1e-6
    assert model.reconstruction_error_ == pytest.approx(P.reconstruction_error_, rel=1e-8)
    batches = lowdim.Autoencoder(
        2, solver="adam", batch_size=50, learning_rate=0.02, max_iter=150, random_state=0, **settings
    ).fit(X)
    assert subspace_angles(batches.decoder_weights_[0].T, P.components_.T).max() < 1e-2
    deep = lowdim.Autoencoder(2, tol=1e-6, random_state=0, **settings | {"hidden": 4}).fit(X)
    assert deep.reconstruction_error_ == pytest.approx(model.reconstruction_error_, rel=1e-3)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_both_libraries_run_the_same_network(name):
    net, rng = Network.of((3, 5, 2), name, name), np.random.default_rng(0)
    x, X = net.initial(rng), rng.standard_normal((7, 3))
    tensors = forward(torch, net, net.layers(torch.as_tensor(x)), torch.as_tensor(X))
    np.testing.assert_allclose(tensors[-1].numpy(), net(net.layers(x), X), atol=1e-12)


@pytest.mark.parametrize("sizes", [(4, 3), (4, 5, 3), (4, 6, 5, 2)])
@pytest.mark.parametrize("last", ["linear", "sigmoid"])
def test_contraction_is_the_squared_norm_of_the_jacobian(sizes, last):
    net, rng = Network.of(sizes, "tanh", last), np.random.default_rng(1)
    layers = net.layers(torch.as_tensor(net.initial(rng)))
    X = torch.as_tensor(rng.standard_normal((6, 4)))
    values = forward(torch, net, layers, X)
    J = torch.func.vmap(torch.func.jacrev(lambda x: forward(torch, net, layers, x[None])[-1][0]))(X)
    expected = float(J.square().sum() / 6)
    assert float(contraction(net, layers, values)) == pytest.approx(expected, rel=1e-10)
    if len(sizes) == 2:
        if last == "sigmoid":  # sum_j (h_j (1 - h_j))² |W_j|²
            h, norms = values[-1].numpy(), np.square(layers[0][0].numpy()).sum(axis=0)
            assert (np.square(h * (1 - h)) @ norms).mean() == pytest.approx(expected)
        return
    signs = torch.as_tensor(rng.choice([-1.0, 1.0], (1000, 6, sizes[-1])))
    drawn = np.mean([float(contraction(net, layers, values, probe)) for probe in signs])
    assert drawn == pytest.approx(expected, rel=0.1)


def test_divergence_is_zero_where_units_are_as_active_as_asked():
    assert float(divergence(torch, torch.full((3,), 0.2), 0.2)) == pytest.approx(0, abs=1e-7)
    assert float(divergence(torch, torch.full((3,), 0.5), 0.2)) > 0.1
    np.testing.assert_allclose(activity(torch.zeros(4, 2), "tanh"), 0.5)


def test_zero_corruption_is_a_plain_autoencoder():
    settings = {"hidden": 6, "solver": "adam", "max_iter": 5, "random_state": 0}
    plain = lowdim.Autoencoder(2, **settings).fit(curve())
    none = lowdim.Autoencoder(2, penalty="denoising", strength=0, **settings).fit(curve())
    np.testing.assert_array_equal(plain.embedding_, none.embedding_)


def jacobian_norm(model, X):
    net = model._networks(X.shape[1])[0]
    layers = [
        tuple(map(torch.as_tensor, pair)) for pair in zip(model.encoder_weights_, model.encoder_biases_, strict=True)
    ]
    return float(
        contraction(net, layers, forward(torch, net, layers, torch.as_tensor((X - model.mean_) / model.scale_)))
    )


def test_a_contractive_encoder_moves_less():
    X = curve()
    settings = {"hidden": 8, "tol": 1e-3, "random_state": 0, "weight_decay": 1e-4}
    norms = [
        jacobian_norm(lowdim.Autoencoder(2, penalty="contractive", strength=strength, **settings).fit(X), X)
        for strength in (0.0, 0.01, 0.1)
    ]
    assert norms[0] > 1.5 * norms[1] > 1.5 * norms[2]


def test_mean_activity_moves_to_the_target():
    X = curve()
    settings = {"hidden": 8, "tol": 1e-3, "random_state": 0, "penalty": "sparse-kl", "target": 0.2}
    off = [
        np.abs(lowdim.Autoencoder(4, strength=strength, **settings).fit(X).embedding_.mean(axis=0) - 0.2).mean()
        for strength in (1e-4, 1.0)
    ]
    assert off[1] < 0.05 < off[0]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_penalty_prevents_plain_copying(penalty):
    """More codes than columns: without a penalty anything is copied, rows far from the curve too."""
    X, far = curve(), np.random.default_rng(9).standard_normal((200, 3))
    strength = {"sparse": 0.5, "sparse-kl": 1.0, "denoising": 0.7, "denoising-mask": 0.5, "contractive": 0.1}[penalty]
    settings = {"hidden": (), "code_activation": "sigmoid", "random_state": 0, "weight_decay": 1e-4, "tol": 1e-3}
    settings |= {"batch_size": 50, "learning_rate": 0.02, "max_iter": 400}
    with pytest.warns(UserWarning, match=r"n_components=12 is more than the 3 columns of X, so that the network can"):
        plain = lowdim.Autoencoder(12, **settings).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = lowdim.Autoencoder(12, penalty=penalty, strength=strength, **settings).fit(X)
    copied, kept = (np.square(m.inverse_transform(m.transform(far)) - far).mean() for m in (plain, held))
    assert kept > 1.5 * copied


def test_denoising_beats_a_plain_autoencoder_on_noisy_digits():
    X = load_digits().data[:900] / 16
    rng = np.random.default_rng(0)
    new = X[700:] + 0.3 * rng.standard_normal((200, 64))
    settings = {"hidden": (), "code_activation": "tanh", "max_iter": 40, "batch_size": 64, "random_state": 0}
    settings |= {"learning_rate": 5e-3, "solver": "adam"}
    errors = []
    for penalty in (None, "denoising"):
        model = lowdim.Autoencoder(48, penalty=penalty, strength=1.0, **settings).fit(X[:700])
        errors.append(np.square(model.inverse_transform(model.transform(new)) - X[700:]).mean())
    assert errors[1] < 0.8 * errors[0]


def test_the_gap_between_training_and_held_out_rows_is_reported():
    X = correlated(60)
    model = lowdim.Autoencoder(2, hidden=20, held_out=0.3, weight_decay=0, patience=15, random_state=0).fit(X)
    assert model.gap_ == model.held_out_error_ - model.training_error_ > 0
    assert model.reconstruction_error_ == pytest.approx(0.7 * model.training_error_ + 0.3 * model.held_out_error_)
    # What is kept is what was best for the rows held out.
    assert model.held_out_curve_.min() == model.restart_losses_[0] <= model.held_out_curve_[-1]
    assert np.isnan(lowdim.Autoencoder(2, hidden=4, held_out=0, tol=0.1, random_state=0).fit(X).gap_)


def test_learned_features_are_exposed():
    X = correlated(60)
    model = lowdim.Autoencoder(2, hidden=(5, 3), scale=True, tol=1e-2, random_state=0).fit(X)
    assert [W.shape for W in model.encoder_weights_] == [(6, 5), (5, 3), (3, 2)]
    assert [W.shape for W in model.decoder_weights_] == [(2, 3), (3, 5), (5, 6)]
    assert model.features_.shape == (5, 6)
    hidden = np.tanh((X - model.mean_) @ model.features_.T + model.encoder_biases_[0])
    hidden = np.tanh(hidden @ model.encoder_weights_[1] + model.encoder_biases_[1])
    np.testing.assert_allclose(hidden @ model.encoder_weights_[2] + model.encoder_biases_[2], model.embedding_)


def test_layers_may_learn_by_themselves_first():
    X = curve(150)
    settings = {"hidden": (8, 4), "solver": "adam", "batch_size": 32, "learning_rate": 0.01, "random_state": 0}
    first = [lowdim.Autoencoder(2, pretrain=n, max_iter=1, **settings).fit(X).reconstruction_error_ for n in (0, 30)]
    assert first[1] < 0.5 * first[0]


def test_the_best_of_several_starts_is_kept():
    X = curve()
    model = lowdim.Autoencoder(1, hidden=4, n_init=3, tol=1e-3, random_state=0).fit(X)
    assert len(model.restart_losses_) == 3
    assert model.held_out_curve_.min() == model.restart_losses_.min() < model.restart_losses_.max()


@pytest.mark.parametrize("schedule", ["cosine", "plateau", "constant"])
def test_schedules(schedule):
    settings = {"hidden": 4, "solver": "adam", "schedule": schedule, "max_iter": 300, "patience": 4, "tol": 0.05}
    model = lowdim.Autoencoder(1, batch_size=20, random_state=0, **settings).fit(curve())
    assert model.converged_
    assert model.loss_curve_[-1] < model.loss_curve_[0]


class Killed(BaseException):
    pass


def killed_after(monkeypatch, saves):
    """Train as if the process died after so many states were written."""
    monkeypatch.setattr(_checkpoint, "EVERY", 0.0)
    save, done = _train.Trainer._save, []

    def save_and_die(self, *args, **options):
        save(self, *args, **options)
        done.append(1)
        if len(done) == saves:
            raise Killed

    monkeypatch.setattr(_train.Trainer, "_save", save_and_die)


@pytest.mark.parametrize(
    ("saves", "settings"),
    [
        (13, {"solver": "adam", "max_iter": 10, "n_init": 2, "penalty": "denoising", "batch_size": 64}),
        (2, {"solver": "lbfgs", "max_iter": 450, "tol": 0.0, "patience": 10_000}),
    ],
)
def test_a_killed_training_goes_on_and_ends_with_the_same_bits(tmp_path, monkeypatch, saves, settings):
    X, path = curve(), tmp_path / "state"
    model = lowdim.Autoencoder(1, hidden=4, random_state=None, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = model.set_params(random_state=0).fit(X)
        bits, epochs = whole.embedding_, whole.n_iter_
        model.set_params(checkpoint=path)
        with monkeypatch.context() as patched:
            killed_after(patched, saves)
            with pytest.raises(Killed):
                model.fit(X)
        np.testing.assert_array_equal(model.embedding_, bits)  # the earlier fit is still there
        np.testing.assert_array_equal(model.fit(X).embedding_, bits)
        assert model.n_iter_ == epochs
        np.testing.assert_array_equal(model.fit(X).embedding_, bits)  # nothing is left to do
        with pytest.raises(ValueError, match="it belongs to another training"):
            model.fit(X + [0, 0, 1e-3] * np.arange(len(X))[:, None])
        with pytest.raises(ValueError, match="it belongs to another training"):
            lowdim.Autoencoder(1, hidden=5, random_state=0, checkpoint=path, **settings).fit(X)
        more = model.set_params(max_iter=settings["max_iter"] + 3).fit(X)
        assert more.n_iter_ > epochs
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ValueError, match="is damaged or no checkpoint"):
        model.fit(X)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_a_callback_stops_all_starts_and_a_checkpoint_goes_on(tmp_path, solver):
    X, seen = curve(60), []

    def watch(step, loss, codes):
        seen.append((step, codes))
        return step == 5

    settings = {"hidden": 4, "solver": solver, "max_iter": 12, "tol": 0.0, "n_init": 2, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = lowdim.Autoencoder(1, **settings).fit(X)
    model = lowdim.Autoencoder(1, checkpoint=tmp_path / "state", callback=watch, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(X)
    assert not model.converged_
    assert [step for step, _ in seen] == [1, 2, 3, 4, 5]
    assert all(codes.shape == (60, 1) for _, codes in seen)
    assert (model.n_iter_, len(model.restart_losses_)) == (5, 1)
    assert model.held_out_curve_.argmin() == 4  # the weights kept are those of the last epoch
    np.testing.assert_allclose(seen[-1][1], model.embedding_, atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        resumed = model.set_params(callback=None).fit(X)
    assert resumed.n_iter_ == 12
    if solver == "adam":  # L-BFGS begins its history of steps again
        np.testing.assert_array_equal(resumed.embedding_, whole.embedding_)


@pytest.mark.deep
def test_a_process_that_is_killed_loses_seconds_only(tmp_path):
    code = f"""
        import numpy as np, lowdim, sys
        from lowdim.latent.networks import _checkpoint
        _checkpoint.EVERY = 0.0
        X = np.random.default_rng(0).standard_normal((500, 8))
        model = lowdim.Autoencoder(2, hidden=16, solver="adam", max_iter=600, patience=600, batch_size=32,
                                   random_state=0, checkpoint=sys.argv[1] or None).fit(X)
        np.save({str(tmp_path / "bits.npy")!r}, model.embedding_)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    state = tmp_path / "state"
    process = subprocess.Popen([*command, str(state)])
    while not state.exists():
        time.sleep(0.05)
    time.sleep(0.5)
    process.kill()
    process.wait()
    assert not (tmp_path / "bits.npy").exists()
    subprocess.run([*command, str(state)], check=True)
    resumed = np.load(tmp_path / "bits.npy")
    subprocess.run([*command, ""], check=True)
    np.testing.assert_array_equal(resumed, np.load(tmp_path / "bits.npy"))


def test_a_learning_rate_that_runs_away_is_lowered_and_named():
    settings = {"hidden": 4, "solver": "adam", "max_iter": 20, "batch_size": 32, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match=r"the loss diverged with learning_rate=1e\+06"):
        model = lowdim.Autoencoder(1, learning_rate=1e6, **settings).fit(curve())
    assert np.isfinite(model.embedding_).all()
    with pytest.raises(ValueError, match="and with one 100,000 times smaller too"):
        lowdim.Autoencoder(1, learning_rate=1e40, **settings).fit(curve())


def test_what_makes_no_sense_is_refused():
    X = curve(30)
    for message, settings in (
        ("code_activation must be 'sigmoid' or 'tanh'", {"penalty": "sparse-kl", "code_activation": "linear"}),
        ("strength must be a share < 1", {"penalty": "denoising-mask", "strength": 2.0}),
        ("solver must be 'adam' for penalty='denoising'", {"penalty": "denoising", "solver": "lbfgs"}),
        ("device must be 'auto', 'cpu' or a GPU", {"device": "nothing"}),
        ("device must be 'auto', 'cpu' or a GPU", {"device": "meta"}),
        ("penalty must be one of", {"penalty": "heavy"}),
        ("path must be in a folder that exists", {"checkpoint": "/no/such/folder/x", "solver": "adam"}),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            lowdim.Autoencoder(1, max_iter=2, **settings).fit(X)
    with pytest.raises(ValueError, match="Autoencoder: X has 1 missing values"):
        lowdim.Autoencoder(1, missing="error").fit(np.where(np.arange(90).reshape(30, 3) == 7, np.nan, X))


def test_without_the_library_fitting_says_what_to_install_and_running_works(monkeypatch):
    model = lowdim.Autoencoder(1, hidden=4, tol=0.1, random_state=0).fit(curve())
    monkeypatch.setitem(sys.modules, "torch", None)
    assert model.transform(curve()[:3]).shape == (3, 1)
    assert model.inverse_transform([[0.0]]).shape == (1, 3)
    for estimator in (lowdim.Autoencoder(1), lowdim.VAE(1)):
        with pytest.raises(ImportError, match=r"pip install 'lowdim\[latent\]'"):
            estimator.fit(curve())


def test_reconstruction_is_what_the_trainer_minimises():
    encoder, decoder = Network.of((3, 2), "tanh"), Network.of((2, 3), "tanh")
    loss, rng = Reconstruction("test", encoder, decoder, "sparse", 0.5, 0.05, 0.1), np.random.default_rng(0)
    x, X = loss.initial(rng, None), rng.standard_normal((9, 3))
    (first,), (second,) = loss.split(x)
    codes = X @ first[0] + first[1]
    error = np.square(codes @ second[0] + second[1] - X).mean()
    expected = (
        error
        + 0.5 * (np.abs(codes).mean() + np.square(second[0]).sum() / 2)
        + 0.1 * (np.square(first[0]).sum() + np.square(second[0]).sum())
    )
    assert float(loss.loss(torch.as_tensor(x), torch.as_tensor(X), None)) == pytest.approx(expected)
    assert float(loss.error(torch.as_tensor(x), torch.as_tensor(X))) == pytest.approx(error)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore:Autoencoder. not converged")  # further on, rounding would have grown
@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_a_gpu_gives_the_same_within_rounding(solver):
    X = curve()
    settings = {"hidden": 8, "solver": solver, "max_iter": 30, "tol": 1e-3, "random_state": 0}
    here, there = (lowdim.Autoencoder(1, device=device, **settings).fit(X) for device in ("cpu", "cuda"))
    assert there.device_ == "cuda"
    np.testing.assert_allclose(here.embedding_, there.embedding_, atol=1e-5 * np.ptp(here.embedding_))


def test_a_generator_as_seed_does_not_make_a_checkpoint_useless(tmp_path):
    """It has no name to be known by; the seed that was drawn from it is in the file."""
    settings = {"hidden": 4, "solver": "adam", "checkpoint": tmp_path / "state"}
    first, again = (
        lowdim.Autoencoder(1, max_iter=epochs, random_state=np.random.default_rng(0), **settings).fit(curve())
        for epochs in (3, 6)
    )
    assert (first.n_iter_, again.n_iter_) == (3, 6)
    np.testing.assert_array_equal(again.loss_curve_[:3], first.loss_curve_)


@pytest.mark.filterwarnings("ignore:.*not converged")
@pytest.mark.parametrize(
    ("model", "other"),
    [
        (lowdim.Autoencoder(1, hidden=4, max_iter=3), {"hidden": 7, "activation": "relu", "n_components": 2}),
        (lowdim.VAE(1, hidden=4, max_iter=3), {"activation": "relu", "likelihood": "bernoulli"}),
        (lowdim.NLPCA(1, n_init=1, max_iter=5), {"activation": "relu", "circular": True, "hidden": 9}),
        (lowdim.InverseNLPCA(1, n_init=1, max_iter=5), {"activation": "relu", "circular": True, "hierarchical": True}),
        (lowdim.GPLVM(1, max_iter=5), {"kernel": "linear", "solver": "variational"}),
    ],
)
def test_parameters_of_the_next_fit_do_not_change_the_last_one(model, other):
    X = curve(40)
    model.set_params(random_state=0).fit(X)
    Z, back = model.transform(X), model.inverse_transform(model.embedding_)
    model.set_params(**other)
    np.testing.assert_array_equal(model.transform(X), Z)
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), back)


def test_a_plateau_ends_training_and_two_epochs_do_not():
    settings = {"hidden": 4, "solver": "adam", "batch_size": 40, "learning_rate": 0.02, "random_state": 0}
    X = curve(120)
    for schedule in ("plateau", "cosine", "constant"):
        short = lowdim.Autoencoder(1, schedule=schedule, max_iter=2, **settings).fit(X)
        assert (short.n_iter_, short.converged_) == (2, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = lowdim.Autoencoder(1, patience=10, tol=1e-4, **settings).fit(X)
    assert model.converged_
    assert model.n_iter_ == len(model.loss_curve_) < 3000
    # More steps would gain little, and no setting of the schedule more.
    longer = lowdim.Autoencoder(1, patience=100, tol=1e-6, max_iter=600, **settings).fit(X)
    first = model.held_out_curve_[0]
    assert first - model.held_out_curve_.min() > 0.95 * (first - longer.held_out_curve_.min())


def test_plateaus():
    flat = [5.0] * 10 + [1.0 + 0.1 * (-1) ** i for i in range(40)]
    assert _plateau.reached(flat, 10, 1e-5, 4.0)
    assert not _plateau.reached(flat[:30], 20, 1e-5, 4.0), "too few epochs"
    falling = [5.0 - 0.05 * i for i in range(40)]
    assert not _plateau.reached(falling, 10, 1e-5, 2.0)
    assert _plateau.reached(falling[::-1], 10, 1e-5, 2.0), "a rising loss of held-out rows is a plateau"
    assert [_plateau.window(50, batches, 0) for batches in (1, 2, 10)] == [100, 50, 50]
