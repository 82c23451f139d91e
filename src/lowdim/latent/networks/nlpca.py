"""Nonlinear PCA by a network with a bottleneck."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _incomplete as incomplete
from lowdim.latent.networks import _network as network
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks._bottleneck import Bottleneck
from lowdim.latent.networks._levels import Levels, angles_of, on_circles
from lowdim.latent.networks._network import ACTIVATIONS, Network
from lowdim.latent.networks._restarts import Found, Restarts, train, warn_unconverged
from lowdim.latent.networks._rows import Scaling, rounded_and_sorted


class NLPCA(Reducer):
    """Nonlinear PCA: a network that reproduces every row through a bottleneck of k codes.

    With encoder f and decoder g, each with one hidden layer (columns-hidden-k-hidden-columns):

        minimise  mean over cells (x - g(f(x)))² + weight_decay sum w²

    With linear units the codes span the principal components; with hidden tanh units the components are curved. For
    small and medium tables: training is by L-BFGS on all rows, from several random starts. Where a large
    share of the cells is missing, `InverseNLPCA`, which has no encoder, is the better model.

    Parameters
    ----------
    n_components : int
        Number of components: the width of the bottleneck.
    hidden : int, tuple of ints or None
        Widths of the encoder's hidden layers; the decoder has them in reverse. None is one layer of
        2 + 2 n_components.
    hierarchical : bool
        Order the components: minimise E_1 + E_1,2 + ... + E_1..k, the errors with the first component alone, with the
        first two, and so on, so that the first ones are the best of their number. With linear units these are the
        principal components.
    level_weights : tuple of floats or None
        Weight of each of these errors; None weights them equally.
    circular : bool
        A component is an angle, the direction of a pair of units on the unit circle: for closed curves and cycles.
        Codes are in radians, from -pi to pi.
    activation : {"tanh", "sigmoid", "relu", "elu", "softplus", "linear"}
        Activation function of the hidden layers; codes and output are linear.
    weight_decay : float
        Penalty on squared weights, in units of the mean squared error of a scaled cell.
    scale : bool
        Divide each column by its standard deviation; otherwise all by one number. Rows are centred in any case.
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
        Maximum number of iterations of the final run, from the best start.
    tol : float
        Convergence tolerance: relative decrease of the loss in ten steps.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. After every step of every start, which
        then run one after the other; `state` are the codes of all rows so far.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it. Each start runs on one.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes.
    completed_ : ndarray or None
        The rows with their missing cells filled in by the decoder, the others as given; None without missing cells.
    reconstruction_error_ : float
        Mean squared error of a cell, in units of X.
    level_errors_ : ndarray
        The same with the first component, the first two, ...; one number unless hierarchical.
    loss_ : float
        The final loss, in scaled units.
    loss_curve_ : ndarray
        The loss after each step of the start that was kept.
    restart_losses_ : ndarray of shape (n_init,)
        The loss of each start after its first rounds.
    encoder_weights_, encoder_biases_, decoder_weights_, decoder_biases_ : list of ndarrays
        Of each layer, in scaled units.
    n_weights_ : int
        Number of parameters.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from the columns, and what they are divided by.
    n_iter_ : int
        Number of steps of the start that was kept.
    converged_ : bool
        Whether the final run reached `tol`; False where the callback stopped it.

    References
    ----------
    Kramer, Nonlinear principal component analysis using autoassociative neural networks, 1991. Scholz, Fraunholz and
    Selbig, Nonlinear principal component analysis: neural network models and applications, 2008. Kirby and Miranda,
    Circular nodes in neural networks, 1996.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> t = np.random.default_rng(0).uniform(0, np.pi / 2, 100)
    >>> X = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = lowdim.NLPCA(1, weight_decay=1e-6, random_state=0).fit(X)
    >>> linear = lowdim.PCA(1).fit(X)
    >>> error = np.square(X - linear.inverse_transform(linear.transform(X))).mean()
    >>> bool(model.reconstruction_error_ < 0.1 * error)
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "hidden": settings.sizes() | params.none(),
        "hierarchical": params.flag(),
        "level_weights": settings.positive_numbers() | params.none(),
        "circular": params.flag(),
        "activation": params.one_of(*ACTIVATIONS),
        "weight_decay": params.real(0),
        "scale": params.flag(),
        "missing": params.one_of(*incomplete.POLICIES, "error"),
    }
    _ways_out = "Use Autoencoder, which trains on mini-batches."
    _reproduces_rows = True
    _hole_policies = incomplete.POLICIES
    _parts: Any = None  # what incomplete rows are encoded with; None in models of earlier releases

    def __init__(
        self,
        n_components=2,
        *,
        hidden=None,
        hierarchical=False,
        level_weights=None,
        circular=False,
        activation="tanh",
        weight_decay=1e-4,
        scale=False,
        missing="iterative",
        n_init=5,
        max_iter=3000,
        tol=1e-4,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.hidden = hidden
        self.hierarchical = hierarchical
        self.level_weights = level_weights
        self.circular = circular
        self.activation = activation
        self.weight_decay = weight_decay
        self.scale = scale
        self.missing = missing
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> np.ndarray:
        self._n_features_out = self.n_components
        architecture = self._architecture()
        architecture.check("NLPCA", X.shape[1])
        scaling, rng = Scaling.of(X, self.scale), generator(self.random_state)
        rows, order = rounded_and_sorted(scaling(X))
        self.mean_, self.scale_ = scaling.mean, scaling.scale

        problem, training = Bottleneck.of(rows, self._widths(), architecture), self._training()
        found = train(problem, training, rng, order)
        warn_unconverged(found, training)
        self._keep(problem, found)
        self._keep_prior(problem, rows)

        codes = np.concatenate([self._codes(X[block]) for block in threads.blocks(len(X), self._block_rows)])
        decoded = (self._decode(codes * mask) for mask in problem.levels.masks)
        self.level_errors_ = np.array([np.nanmean(np.square(rows - X)) for rows in decoded])
        self.reconstruction_error_ = float(self.level_errors_[-1])
        self.completed_ = incomplete.completed(X, self._decode(codes)) if self._incomplete else None
        return angles_of(codes) if self.circular else codes

    def _architecture(self) -> settings.Architecture:
        return settings.Architecture(
            self.n_components,
            activation=self.activation,
            hierarchical=self.hierarchical,
            level_weights=self.level_weights,
            circular=self.circular,
            weight_decay=self.weight_decay,
        )

    def _training(self) -> Restarts:
        return Restarts(
            "NLPCA",
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self.callback,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _keep(self, problem: Bottleneck, found: Found) -> None:
        encoder, decoder = problem.split(found.x)
        self._encoder = (problem.encoder.sizes, problem.encoder.activations)
        self._decoder = (problem.decoder.sizes, problem.decoder.activations)
        self.encoder_weights_, self.encoder_biases_ = network.weights_and_biases(problem.encoder.layers(encoder))
        self.decoder_weights_, self.decoder_biases_ = network.weights_and_biases(problem.decoder.layers(decoder))
        self._circular = self.circular
        self.n_weights_ = len(found.x)
        self.loss_, self.loss_curve_, self.restart_losses_ = found.loss, found.losses, found.restarts
        self.n_iter_, self.converged_ = len(found.losses), found.converged

    def _widths(self) -> tuple[int, ...]:
        return (2 + 2 * self.n_components,) if self.hidden is None else settings.widths(self.hidden)

    def _keep_prior(self, problem: Bottleneck, rows: np.ndarray) -> None:
        """What incomplete rows are encoded with, at fit and later."""
        levels = {"weights": problem.levels.weights, "masks": problem.levels.masks}
        self._parts = {"policy": self.missing, "noise": 1.0, **levels}
        codes, noise = incomplete.reference(self._coder(), rows)
        self._parts |= incomplete.prior(codes, noise, centred=len(problem.levels.weights) == 1, circular=self._circular)

    def _coder(self) -> incomplete.Coder:
        parts, circular = self._parts, self._circular
        first, second = Network(*self._encoder), Network(*self._decoder)
        encoder = list(zip(self.encoder_weights_, self.encoder_biases_, strict=True))
        decoder = list(zip(self.decoder_weights_, self.decoder_biases_, strict=True))
        levels, refine = Levels(parts["weights"], parts["masks"]), None
        if "center" in parts:
            refine = incomplete.refining(second, decoder, levels, parts, circular=circular)

        def encode(rows: np.ndarray) -> tuple[np.ndarray, None]:
            codes = first(encoder, rows)
            return on_circles(angles_of(codes)) if circular else codes, None

        return incomplete.Coder(
            encode,
            lambda codes: second(decoder, codes),
            incomplete.gaussian_cells(parts["noise"]),
            0.0,
            refine,
            parts.get("center", 0.0),
            parts.get("spread", 1.0),
            circular,
        )

    def _codes(self, X: np.ndarray) -> np.ndarray:
        """The codes as inputs of the decoder: points (cos, sin) on unit circles where circular."""
        rows = Scaling(self.mean_, self.scale_)(X.astype(np.float64))
        return incomplete.all_codes(self._coder, self._encoded, rows, self._parts, self.n_jobs)[0]

    def _encoded(self, rows: np.ndarray) -> tuple[np.ndarray, None]:
        net = Network(*self._encoder)
        codes = network.run(net, self.encoder_weights_, self.encoder_biases_, rows, self.n_jobs)
        return on_circles(angles_of(codes)) if self._circular else codes, None

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        net = Network(*self._decoder)
        rows = network.run(net, self.decoder_weights_, self.decoder_biases_, codes, self.n_jobs)
        return Scaling(self.mean_, self.scale_).undo(rows)

    def _extend(self, X: np.ndarray) -> np.ndarray:
        codes = self._codes(X)
        return angles_of(codes) if self._circular else codes

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        Z = Z.astype(np.float64)
        return self._decode(on_circles(Z) if self._circular else Z)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        layers = 8 * n * (6 * d + 4 * sum(self._widths()) + 4 * self.n_components)
        sizes = [d, *self._widths(), self.n_components, *self._widths(), d]
        weights = 8 * sum(a * b for a, b in itertools.pairwise(sizes))
        runs = min(self.n_init, threads.n_threads(self.n_jobs))
        # L-BFGS remembers twenty pairs of steps and gradients.
        return {"rows and layers": layers * runs, "weights and steps": 48 * weights * runs}
