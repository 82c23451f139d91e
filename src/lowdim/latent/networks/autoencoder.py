"""Autoencoders: networks that lead a row through a code and back."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _fitted as fitted
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks._losses import NOISY, PENALTIES, Reconstruction
from lowdim.latent.networks._network import ACTIVATIONS, Network
from lowdim.latent.networks._rows import Scaling, settled

SCHEDULES = ("cosine", "plateau", "constant")
BOUNDED = ("sigmoid", "tanh")
FULL_BATCH = 2e7  # rows times weights up to which all rows are taken at once


class Autoencoder(Reducer):
    """Autoencoder: an encoder f leads a row to k numbers, a decoder g leads them back, both networks of any depth.

        minimise  mean over cells (x - g(f(x)))² + weight_decay sum w² + penalty

    With linear units the codes span the principal components. A penalty asks for more than copying: codes that are
    mostly 0 (sparse), rows restored from spoiled ones (denoising), codes that hardly move with the row (contractive).
    For tables and for images, one row of pixels an image. Needs PyTorch to fit; a fitted model runs without.

    Parameters
    ----------
    n_components : int
        Number of codes; more than columns is allowed, and makes sense with a penalty.
    hidden : int, tuple of ints or None
        Widths of the encoder's hidden layers; the decoder has them in reverse. None is two layers of 4 and 2 times the
        columns, at most 256 and 64. () has none.
    activation : {"tanh", "sigmoid", "relu", "elu", "softplus", "linear"}
        Of the hidden layers.
    code_activation : same or None
        Of the codes; None is "linear", and "sigmoid" with ``penalty="sparse-kl"``.
    penalty : {"sparse", "sparse-kl", "denoising", "denoising-mask", "contractive"} or None
        "sparse": strength times mean |code|. "sparse-kl": strength times KL(target || mean activity of a unit), for
        sigmoid and tanh codes. "denoising": Gaussian noise of deviation `strength` (in scaled units) is added to the
        input; "denoising-mask": a share `strength` of its cells is set to the column means. "contractive": strength
        times the mean squared derivative of a code, exact up to 16 codes or on all rows. "sparse" and "contractive"
        also count the squared weights that lead a code into the decoder: without them, small codes and large weights
        undo the penalty.
    strength : float or None
        See `penalty`; None is 0.01, 0.1, 0.3, 0.2 and 0.01 in that order.
    target : float
        Mean activity that "sparse-kl" asks for.
    weight_decay : float
        Holds the weights back.
    scale : bool
        Divide each column by its standard deviation; otherwise all by one number. Rows are centred in any case.
    solver : {"auto", "lbfgs", "adam"}
        "lbfgs": all rows at once, in double precision, each step an epoch; accurate, for small tables. "adam":
        mini-batches. "auto" chooses by the size, and "adam" where the input is spoiled.
    batch_size : int
        Rows of a mini-batch.
    learning_rate : float
        Of "adam". Where the loss runs away, training goes on from the best weights with a tenth of it, and says so.
    schedule : {"cosine", "plateau", "constant"}
        How it falls: to 0 along a cosine until `max_iter`, by half where the loss stalls, or not.
    pretrain : int
        Epochs in which each layer first learns by itself to reproduce the one before.
    held_out : float
        Share of the rows that is not trained on: training stops when their error does not fall any more, and the
        weights that were best for them are kept. 0 trains on all rows.
    patience : int
        Epochs without progress after which it stops.
    n_init : int
        Starts; the best one is kept.
    max_iter : int
        Most epochs.
    tol : float
        Relative decrease that counts as progress.
    checkpoint : str, path or None
        File for the state of the training, written every few seconds. A training that was killed goes on from it and
        ends with the same bits; one that ended goes on where `max_iter` was raised.
    device : str
        "auto" (a GPU where there is one, for mini-batches), "cpu", "cuda", ... Batches and noise are drawn on the CPU,
        so that results agree within rounding.
    random_state : int, generator or None
        Of weights, batches and noise.
    verbose : bool
        Show progress on stderr.
    n_jobs : int or None
        Threads of large trainings; None means all cores. Up to a million cells one thread is used and the bits do not
        depend on it; beyond they agree as far as PyTorch's products do.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes.
    encoder_weights_, encoder_biases_, decoder_weights_, decoder_biases_ : list of ndarrays
        Of each layer, in scaled units: the features that were learned.
    features_ : ndarray of shape (n_units, n_features)
        The first layer in units of X: what each of its units looks for, one row a unit.
    reconstruction_error_ : float
        Mean squared error of a cell over all rows, in units of X.
    training_error_, held_out_error_, gap_ : float
        The same for the rows trained on, for those held out, and the difference; the last two NaN without any.
    loss_curve_, held_out_curve_ : ndarray
        Loss and held-out error after each epoch, in scaled units.
    restart_losses_ : ndarray of shape (n_init,)
        What each start was judged by.
    n_weights_ : int
        Number of parameters.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted and divided by.
    solver_, device_ : str
        How and where it was trained.
    n_iter_ : int
        Epochs.
    converged_ : bool
        Whether it stopped by itself, or at the end of its schedule.

    References
    ----------
    Hinton and Salakhutdinov, Reducing the dimensionality of data with neural networks, 2006. Vincent and others,
    Stacked denoising autoencoders, 2010. Rifai and others, Contractive auto-encoders, 2011.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.Autoencoder(2, hidden=16, random_state=0).fit(X)
    >>> model.transform(X[:5]).shape, model.inverse_transform(model.embedding_).shape
    ((5, 2), (300, 3))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "hidden": settings.sizes() | params.none(),
        "activation": params.one_of(*ACTIVATIONS),
        "code_activation": params.one_of(*ACTIVATIONS) | params.none(),
        "penalty": params.one_of(*PENALTIES) | params.none(),
        "strength": params.real(0) | params.none(),
        "target": params.share(),
        "weight_decay": params.real(0),
        "scale": params.flag(),
        "solver": params.one_of("auto", "lbfgs", "adam"),
        "batch_size": params.whole(1),
        "learning_rate": params.real(0, open_low=True),
        "schedule": params.one_of(*SCHEDULES),
        "pretrain": params.whole(0),
        "held_out": params.real(0, 1, open_high=True),
        "patience": params.whole(1),
        "checkpoint": params.text() | params.Rule("a path", lambda v: isinstance(v, os.PathLike)) | params.none(),
        "device": params.text(),
    }
    _block_rows = 16384
    _ways_out = "Train on a part of the rows and place the others with transform."

    def __init__(
        self,
        n_components=2,
        *,
        hidden=None,
        activation="tanh",
        code_activation=None,
        penalty=None,
        strength=None,
        target=0.05,
        weight_decay=1e-5,
        scale=False,
        solver="auto",
        batch_size=256,
        learning_rate=2e-3,
        schedule="cosine",
        pretrain=0,
        held_out=0.1,
        patience=50,
        n_init=1,
        max_iter=1000,
        tol=1e-5,
        checkpoint=None,
        device="auto",
        random_state=None,
        verbose=False,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.hidden = hidden
        self.activation = activation
        self.code_activation = code_activation
        self.penalty = penalty
        self.strength = strength
        self.target = target
        self.weight_decay = weight_decay
        self.scale = scale
        self.solver = solver
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.pretrain = pretrain
        self.held_out = held_out
        self.patience = patience
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _embed(self, X: np.ndarray) -> np.ndarray:
        from lowdim.latent.networks._train import train

        self._n_features_out = self.n_components
        self._check(X.shape[1])
        scaling = Scaling.of(X, self.scale)
        rows, order = settled(scaling(X))
        self.mean_, self.scale_ = scaling.mean, scaling.scale

        encoder, decoder = self._networks(X.shape[1])
        self.n_weights_ = encoder.n_parameters + decoder.n_parameters
        self.solver_ = self._solver(len(X))
        self.device_ = settings.where(self)
        found = train(self, rows, self._loss, generator(self.random_state))
        self._keep(found)

        Z = np.concatenate([self._extend(X[part]) for part in threads.blocks(len(X), self._block_rows)])
        self._report(X, Z, found, order)
        return Z

    def _check(self, d: int) -> None:
        if self.penalty == "sparse-kl" and self._code_activation() not in BOUNDED:
            raise ValueError(
                f"Autoencoder: code_activation must be 'sigmoid' or 'tanh' for penalty='sparse-kl'; got "
                f"{self.code_activation!r}."
            )
        if self.penalty == "denoising-mask" and not self._strength() < 1:
            raise ValueError(f"Autoencoder: strength must be a share < 1 for 'denoising-mask'; got {self.strength!r}.")
        settings.warn_overcomplete("Autoencoder", self.n_components, d, held=self.penalty is not None)

    def _code_activation(self) -> str:
        return self.code_activation or ("sigmoid" if self.penalty == "sparse-kl" else "linear")

    def _strength(self) -> float:
        default = PENALTIES.get(self.penalty, 0.0)
        return float(default if self.strength is None else self.strength)

    def _widths(self, d: int) -> tuple[int, ...]:
        return (min(4 * d, 256), min(2 * d, 64)) if self.hidden is None else settings.widths(self.hidden)

    def _networks(self, d: int) -> tuple[Network, Network]:
        widths, k = self._widths(d), self.n_components
        encoder = Network.of((d, *widths, k), self.activation, self._code_activation())
        return encoder, Network.of((k, *widths[::-1], d), self.activation)

    def _solver(self, n: int) -> str:
        noisy = self.penalty in NOISY
        if self.solver == "lbfgs" and noisy:
            raise ValueError(f"Autoencoder: solver must be 'adam' for penalty={self.penalty!r}; got 'lbfgs'.")
        if self.solver != "auto":
            return self.solver
        return "lbfgs" if not noisy and n * self.n_weights_ <= FULL_BATCH else "adam"

    def _loss(self) -> Reconstruction:
        encoder, decoder = self._networks(self.n_features_in_)
        penalty = (self.penalty, self._strength(), self.target)
        return Reconstruction("Autoencoder", encoder, decoder, *penalty, self.weight_decay, self.pretrain)

    def _keep(self, found: Any) -> None:
        loss = self._loss()
        encoder, decoder = loss.halves(found.x.astype(np.float64))
        fitted.keep_layers(self, "encoder", loss.encoder, encoder)
        fitted.keep_layers(self, "decoder", loss.decoder, decoder)
        fitted.keep_run(self, found)
        self.features_ = self.encoder_weights_[0].T / self.scale_

    def _report(self, X: np.ndarray, Z: np.ndarray, found: Any, order: np.ndarray) -> None:
        errors = fitted.row_errors(X, Z, self._invert)
        self.reconstruction_error_ = float(errors.mean())
        self.training_error_ = float(errors[order[found.train_rows]].mean())
        self.held_out_error_ = float(errors[order[found.held_rows]].mean()) if len(found.held_rows) else np.nan
        self.gap_ = self.held_out_error_ - self.training_error_

    def _extend(self, X: np.ndarray) -> np.ndarray:
        rows = Scaling(self.mean_, self.scale_)(X.astype(np.float64))
        return fitted.run_half(self, "encoder", rows)

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        rows = fitted.run_half(self, "decoder", Z.astype(np.float64))
        return Scaling(self.mean_, self.scale_).undo(rows)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        encoder, decoder = self._networks(d)
        weights = encoder.n_parameters + decoder.n_parameters
        batch = n if self.solver == "lbfgs" or n * weights <= FULL_BATCH else min(n, self.batch_size)
        layers = 8 * 4 * batch * (sum(encoder.sizes) + sum(decoder.sizes))
        return {"scaled rows": 3 * 8 * n * d, "codes": 16 * n * self.n_components, "layers": layers + 8 * 50 * weights}
