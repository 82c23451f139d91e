"""Autoencoders: an encoder and a decoder network, trained together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _incomplete as incomplete
from lowdim.latent.networks import _network as network
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks import _torch
from lowdim.latent.networks._checkpoint import Checkpoint, Trained
from lowdim.latent.networks._levels import Levels
from lowdim.latent.networks._losses import NOISY, PENALTIES, Reconstruction
from lowdim.latent.networks._network import ACTIVATIONS, Network
from lowdim.latent.networks._rows import Scaling, rounded_and_sorted
from lowdim.latent.networks._train import SCHEDULES, Training, train
from lowdim.latent.networks.in_blocks.further import TrainsFurther
from lowdim.latent.networks.in_blocks.trainer import TrainsBlocks

BOUNDED = ("sigmoid", "tanh")
FULL_BATCH = 2e7  # rows times weights up to which all rows are taken at once


class Autoencoder(TrainsFurther, TrainsBlocks, Reducer):
    """Autoencoder: an encoder network f maps a row to k codes, a decoder network g maps the codes to a row.

        minimise  mean over cells (x - g(f(x)))² + weight_decay sum w² + penalty

    With linear units the codes span the principal components. A penalty asks for more than a copy of the input: codes
    that are mostly 0 (sparse), rows restored from corrupted ones (denoising), codes that change little with the row
    (contractive). For tables and for images, one row of pixels an image. Fitting needs PyTorch; a fitted model does
    not.

    Parameters
    ----------
    n_components : int
        Number of codes; more than columns is allowed, and makes sense with a penalty.
    hidden : int, tuple of ints or None
        Widths of the encoder's hidden layers; the decoder has them in reverse. None is two layers of 4 and 2 times the
        columns, at most 256 and 64. () has none.
    activation : {"tanh", "sigmoid", "relu", "elu", "softplus", "linear"}
        Activation function of the hidden layers.
    code_activation : same or None
        Activation function of the codes; None is "linear", and "sigmoid" with ``penalty="sparse-kl"``.
    penalty : {"sparse", "sparse-kl", "denoising", "denoising-mask", "contractive"} or None
        "sparse": strength times mean |code|. "sparse-kl": strength times KL(target || mean activity of a unit), for
        sigmoid and tanh codes. "denoising": Gaussian noise with standard deviation `strength` (in scaled units) is
        added to the input; "denoising-mask": a share `strength` of its cells is set to the column means.
        "contractive": strength times the mean squared derivative of a code, exact up to 16 codes or on all rows.
        "sparse" and "contractive" also penalise the decoder's first squared weights: otherwise small codes and large
        weights would avoid the penalty.
    strength : float or None
        See `penalty`; None is 0.01, 0.1, 0.3, 0.2 and 0.01 in that order.
    target : float
        Mean activity for "sparse-kl".
    weight_decay : float
        Penalty on squared weights.
    scale : bool
        Divide each column by its standard deviation; otherwise all by one number. Rows are centred in any case.
    solver : {"auto", "lbfgs", "adam"}
        "lbfgs": all rows at once, in double precision, each step an epoch; accurate, for small tables. "adam":
        mini-batches. "auto" chooses by the size, and "adam" where the input is corrupted.
    batch_size : int
        Rows of a mini-batch.
    learning_rate : float
        Step size of "adam". Where the loss diverges, training goes on from the best weights with a tenth of it, with a
        warning.
    schedule : {"plateau", "cosine", "constant"}
        How the learning rate decreases: to a quarter at a plateau (see `patience`), three times, until training ends at
        the fourth; to 0 along a cosine until `max_iter`, or to the first plateau; or not, to the first plateau.
    pretrain : int
        Epochs of layer-wise pretraining, in which each layer learns to reproduce its input.
    held_out : float
        Share of the rows that is not trained on: training stops when their error stops decreasing, and the weights with
        the lowest error on them are kept. 0 trains on all rows.
    patience : int
        Epochs over which a plateau is seen: their mean loss is compared with that of as many before them. Of small
        tables at least 100 steps. Of "lbfgs", the steps without a lower held-out error after which it stops.
    checkpoint : str, path or None
        File for the state of the training, written every few seconds. An interrupted training is resumed from it and
        ends with the same bits; a finished one goes on where `max_iter` was raised.
    missing : {"iterative", "multiple", "error"}
        Missing cells (NaN), at fit and in new rows: training counts the observed cells only. Until it
        knows better, the encoder sees the column means in their place.
        "iterative": the code of an incomplete row is the one whose decoded row fits its observed cells best, given how
        the codes of the fitted rows are distributed. "multiple": missing cells are drawn 40 times from the decoded row
        and its noise, each time encoded, and the codes averaged. On hidden cells of curved tables and of digits the
        first is better. "error": refuse them.
    n_init : int
        Number of starts; the best result is kept.
    max_iter : int
        Maximum number of iterations (epochs) of a start.
    tol : float
        Convergence tolerance: of "lbfgs", the relative decrease of the loss in ten steps; of "adam", 50 times as much,
        as a share of all that training has gained, in `patience` epochs.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. After every epoch, of all starts in
        turn; `loss` is that of the epoch in scaled units, `state` the codes of all rows so far.
    device : str
        "auto" (a GPU where there is one, for mini-batches), "cpu", "cuda", ... Batches and noise are drawn on the CPU,
        so that results agree within rounding.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it. Above a million cells they agree only
        within the rounding of PyTorch's matrix products.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes.
    completed_ : ndarray or None
        The rows with their missing cells filled in by the decoder, the others as given; None without missing cells.
    encoder_weights_, encoder_biases_, decoder_weights_, decoder_biases_ : list of ndarrays
        Of each layer, in scaled units.
    features_ : ndarray of shape (n_units, n_features)
        Weights of the encoder's first layer in units of X, one row a unit.
    reconstruction_error_ : float
        Mean squared error of a cell over all rows, in units of X.
    training_error_, held_out_error_, gap_ : float
        The same for the rows trained on, for those held out, and the difference; the last two NaN without any.
    loss_curve_, held_out_curve_ : ndarray
        Loss and held-out error after each epoch, in scaled units.
    restart_losses_ : ndarray of shape (n_init,)
        The loss, or held-out error, by which the starts are compared.
    n_weights_ : int
        Number of parameters.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from the columns, and what they are divided by.
    solver_, device_ : str
        The solver and the device that were used.
    n_iter_ : int
        Number of epochs of the start that was kept.
    converged_ : bool
        Whether training ended at a plateau; False, with a warning, where `max_iter` ended it, also under a cosine, and
        where the callback stopped it.

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
        "checkpoint": settings.path() | params.none(),
        "missing": params.one_of(*incomplete.POLICIES, "error"),
        "device": params.text(),
    }
    _block_rows = 16384
    _ways_out = "Fit on a sample of the rows and transform the others."
    _reproduces_rows = True
    _hole_policies = incomplete.POLICIES
    _parts: Any = None  # what incomplete rows are encoded with; None in models of earlier releases

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
        schedule="plateau",
        pretrain=0,
        held_out=0.1,
        patience=50,
        checkpoint=None,
        missing="iterative",
        n_init=1,
        max_iter=3000,
        tol=1e-5,
        callback=None,
        device="auto",
        random_state=None,
        n_jobs=None,
        verbose=0,
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
        self.checkpoint = checkpoint
        self.missing = missing
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> np.ndarray:
        self._n_features_out = self.n_components
        self._check(X.shape[1])
        scaling = self._scaling(X)
        rows, order = rounded_and_sorted(scaling(X))
        self.mean_, self.scale_ = scaling.mean, scaling.scale

        loss = self._loss(X.shape[1])
        self.n_weights_ = loss.n_parameters
        self.solver_ = self._solver(len(X))
        self.device_ = _torch.device(self.device, "Autoencoder", full_batch=self.solver_ == "lbfgs")
        checkpoint = Checkpoint.of(self.checkpoint, "Autoencoder", self.get_params(deep=False), rows)
        rng = generator(self.random_state)
        found = train(loss, rows, order, self._training(), checkpoint, rng, **self._reading(scaling))
        self._keep(loss, found)
        self._keep_prior(rows)
        return self._described(X, found, order)

    def _described(self, X: np.ndarray, found: Trained, order: np.ndarray) -> np.ndarray:
        """The codes of the rows; their errors are kept."""
        Z = np.concatenate([self._extend(X[block]) for block in threads.blocks(len(X), self._block_rows)])
        self._keep_errors(X, Z, found, order)
        return Z

    def partial_fit(self, X: Any, y: Any = None) -> Autoencoder:
        """One more epoch of Adam, over one more batch of rows, from the weights that the model has.

        It goes on from any earlier `partial_fit` or `fit`, also of a model that was loaded from a file. The first batch
        of a new model gives the means and scales of the columns, so it should be like all of them. Give batches in
        mixed order, each as often as wished: the model has no memory of earlier ones but its weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Complete rows.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self : Autoencoder
            Its embedding and errors are those of this batch.
        """
        return self._fit_one_more(X)

    def _check(self, d: int) -> None:
        if self.penalty == "sparse-kl" and self._code_activation() not in BOUNDED:
            raise ValueError(
                f"Autoencoder: code_activation must be 'sigmoid' or 'tanh' for penalty='sparse-kl'; got "
                f"{self.code_activation!r}."
            )
        if self.penalty == "denoising-mask" and not self._strength() < 1:
            raise ValueError(f"Autoencoder: strength must be a share < 1 for 'denoising-mask'; got {self.strength!r}.")
        if self.penalty is None:
            settings.warn_overcomplete("Autoencoder", self.n_components, d)

    def _code_activation(self) -> str:
        return self.code_activation or ("sigmoid" if self.penalty == "sparse-kl" else "linear")

    def _strength(self) -> float:
        default = PENALTIES.get(self.penalty, 0.0)
        return float(default if self.strength is None else self.strength)

    def _networks(self, d: int) -> tuple[Network, Network]:
        widths, k = settings.deep_widths(self.hidden, d), self.n_components
        encoder = Network.of((d, *widths, k), self.activation, self._code_activation())
        return encoder, Network.of((k, *widths[::-1], d), self.activation)

    def _solver(self, n: int) -> str:
        noisy = self.penalty in NOISY
        if self.solver == "lbfgs" and noisy:
            raise ValueError(f"Autoencoder: solver must be 'adam' for penalty={self.penalty!r}; got 'lbfgs'.")
        if self._blocks is not None:
            return "adam"
        if self.solver != "auto":
            return self.solver
        return "lbfgs" if not noisy and n * self.n_weights_ <= FULL_BATCH else "adam"

    def _loss(self, d: int) -> Reconstruction:
        penalty = (self.penalty, self._strength(), self.target)
        return Reconstruction(
            "Autoencoder", *self._networks(d), *penalty, self.weight_decay, self.pretrain, bool(self._incomplete)
        )

    def _training(self) -> Training:
        given = self.get_params(deep=False)
        return settings.training_of("Autoencoder", given, self.device_, full_batch=self.solver_ == "lbfgs")

    def _scaling(self, X: np.ndarray) -> Scaling:
        return self._scaling_of(X, self.scale)

    def _keep(self, loss: Reconstruction, found: Trained) -> None:
        encoder, decoder = loss.split(found.x.astype(np.float64))
        self._encoder = (loss.encoder.sizes, loss.encoder.activations)
        self._decoder = (loss.decoder.sizes, loss.decoder.activations)
        self.encoder_weights_, self.encoder_biases_ = network.weights_and_biases(encoder)
        self.decoder_weights_, self.decoder_biases_ = network.weights_and_biases(decoder)
        self.features_ = self.encoder_weights_[0].T / self.scale_
        self.loss_curve_, self.held_out_curve_, self.restart_losses_ = found.losses, found.held, found.restarts
        self.n_iter_, self.converged_ = len(found.losses), found.converged

    def _keep_errors(self, X: np.ndarray, Z: np.ndarray, found: Trained, order: np.ndarray) -> None:
        errors, cells = network.row_errors(X, Z, self._invert), (~np.isnan(X)).sum(axis=1)
        trained, held = order[found.train_rows], order[found.held_rows]
        self.reconstruction_error_ = float(np.average(errors, weights=cells))
        self.training_error_ = float(np.average(errors[trained], weights=cells[trained]))
        self.held_out_error_ = float(np.average(errors[held], weights=cells[held])) if len(held) else np.nan
        self.gap_ = self.held_out_error_ - self.training_error_
        self.completed_ = incomplete.completed(X, self._invert(Z)) if self._incomplete else None

    def _keep_prior(self, rows: np.ndarray) -> None:
        """What incomplete rows are encoded with, at fit and later."""
        self._parts = {"policy": self.missing, "noise": 1.0}
        codes, noise = incomplete.reference(self._coder(), rows)
        self._parts |= incomplete.prior(codes, noise)

    def _coder(self) -> incomplete.Coder:
        parts, (first, second) = self._parts, (Network(*self._encoder), Network(*self._decoder))
        encoder = list(zip(self.encoder_weights_, self.encoder_biases_, strict=True))
        decoder = list(zip(self.decoder_weights_, self.decoder_biases_, strict=True))
        refine = None
        if "center" in parts and first.activations[-1] == "linear":
            refine = incomplete.refining(second, decoder, Levels.of(second.sizes[0], False, None, False), parts)
        return incomplete.Coder(
            lambda rows: (first(encoder, rows), None),
            lambda codes: second(decoder, codes),
            incomplete.gaussian_cells(parts["noise"]),
            0.0,
            refine,
            parts.get("center", 0.0),
            parts.get("spread", 1.0),
        )

    def _extend(self, X: np.ndarray) -> np.ndarray:
        rows = Scaling(self.mean_, self.scale_)(X.astype(np.float64))
        return incomplete.all_codes(self._coder, self._encoded, rows, self._parts, self.n_jobs)[0]

    def _encoded(self, rows: np.ndarray) -> tuple[np.ndarray, None]:
        net = Network(*self._encoder)
        return network.run(net, self.encoder_weights_, self.encoder_biases_, rows, self.n_jobs), None

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        Z = Z.astype(np.float64)
        rows = network.run(Network(*self._decoder), self.decoder_weights_, self.decoder_biases_, Z, self.n_jobs)
        return Scaling(self.mean_, self.scale_).undo(rows)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        encoder, decoder = self._networks(d)
        weights = encoder.n_parameters + decoder.n_parameters
        batch = n if self.solver == "lbfgs" or n * weights <= FULL_BATCH else min(n, self.batch_size)
        layers = 8 * 4 * batch * (sum(encoder.sizes) + sum(decoder.sizes))
        copies = 8 * 50 * weights if batch == n else settings.optimiser_bytes(n, d, weights)
        return {"scaled rows": 19 * n * d, "codes": 16 * n * self.n_components, "layers": layers, "weights": copies}
