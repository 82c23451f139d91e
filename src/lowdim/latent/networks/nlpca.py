"""Nonlinear PCA by a network with a bottleneck."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _fitted as fitted
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks._bottleneck import Bottleneck
from lowdim.latent.networks._levels import angles_of, on_circles
from lowdim.latent.networks._network import ACTIVATIONS
from lowdim.latent.networks._restarts import keep_run, train
from lowdim.latent.networks._rows import Scaling, settled


class NLPCA(Reducer):
    """Nonlinear PCA: a network that leads every row through a bottleneck of k numbers and back.

    With encoder f and decoder g, each one hidden layer and its mirror (columns-hidden-k-hidden-columns):

        minimise  mean over cells (x - g(f(x)))² + weight_decay sum w²

    With linear units the codes span the principal components; hidden tanh units bend the lines into curves and
    surfaces. For small and medium tables: training is by L-BFGS on all rows, from several starts. Rows with missing
    cells have no code here; use `InverseNLPCA`.

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
        What each of these errors counts; None is all alike.
    circular : bool
        A component is an angle, the direction of a pair of units on the unit circle: for closed curves and cycles.
        Codes are in radians, from -pi to pi, and the ends are one.
    activation : {"tanh", "sigmoid", "relu", "elu", "softplus", "linear"}
        Of the hidden layers; codes and output are linear.
    weight_decay : float
        Holds the weights back, in units of the mean squared error of a scaled cell.
    scale : bool
        Divide each column by its standard deviation; otherwise all by one number. Rows are centred in any case.
    n_init : int
        Starts; the one with the lowest loss is kept.
    max_iter : int
        Most steps of the last descent of the best start.
    tol : float
        Relative decrease of the loss in ten steps at which it stops.
    random_state : int, generator or None
        Of the starts.
    verbose : bool
        Show progress on stderr.
    n_jobs : int or None
        Starts worked on side by side; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes.
    reconstruction_error_ : float
        Mean squared error of a cell, in units of X.
    level_errors_ : ndarray
        The same with the first component, the first two, ...; one number unless hierarchical.
    loss_ : float
        The final loss, in scaled units.
    loss_curve_ : ndarray
        The loss after each step of the start that was kept.
    restart_losses_ : ndarray of shape (n_init,)
        The loss each start reached in its first rounds.
    encoder_weights_, encoder_biases_, decoder_weights_, decoder_biases_ : list of ndarrays
        Of each layer, in scaled units.
    n_weights_ : int
        Number of parameters.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted and divided by.
    n_iter_ : int
        Steps of the start that was kept.
    converged_ : bool
        Whether the last descent reached `tol`.

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
    >>> bool(model.reconstruction_error_ < 0.1 * linear.reconstruction_error_ / X.size)
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "hidden": settings.sizes() | params.none(),
        "hierarchical": params.flag(),
        "level_weights": settings.shares() | params.none(),
        "circular": params.flag(),
        "activation": params.one_of(*ACTIVATIONS),
        "weight_decay": params.real(0),
        "scale": params.flag(),
    }
    _ways_out = "Use Autoencoder, which trains on mini-batches."

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
        n_init=5,
        max_iter=3000,
        tol=1e-4,
        random_state=None,
        verbose=False,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.hidden = hidden
        self.hierarchical = hierarchical
        self.level_weights = level_weights
        self.circular = circular
        self.activation = activation
        self.weight_decay = weight_decay
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _embed(self, X: np.ndarray) -> np.ndarray:
        k = self._n_features_out = self.n_components
        settings.check_levels("NLPCA", self.level_weights, self.hierarchical, k)
        settings.warn_overcomplete("NLPCA", k, X.shape[1], held=False)
        scaling, rng = Scaling.of(X, self.scale), generator(self.random_state)
        rows, _ = settled(scaling(X))
        self.mean_, self.scale_ = scaling.mean, scaling.scale

        problem = Bottleneck.of(self, rows, self._widths())
        found = train(problem, self, rng)
        encoder, decoder = problem.halves(found.x)
        fitted.keep_layers(self, "encoder", problem.encoder, problem.encoder.layers(encoder))
        fitted.keep_layers(self, "decoder", problem.decoder, problem.decoder.layers(decoder))
        self._circular = self.circular
        self.n_weights_ = len(found.x)
        keep_run(self, found)

        codes = np.concatenate([self._codes(X[part]) for part in threads.blocks(len(X), self._block_rows)])
        decoded = (self._decode(codes * mask) for mask in problem.levels.masks)
        self.level_errors_ = np.array([np.square(rows - X).mean() for rows in decoded])
        self.reconstruction_error_ = float(self.level_errors_[-1])
        return angles_of(codes) if self.circular else codes

    def _widths(self) -> tuple[int, ...]:
        return (2 + 2 * self.n_components,) if self.hidden is None else settings.widths(self.hidden)

    def _codes(self, X: np.ndarray) -> np.ndarray:
        """What the encoder says; pairs of numbers where circular."""
        codes = fitted.run_half(self, "encoder", Scaling(self.mean_, self.scale_)(X.astype(np.float64)))
        return on_circles(angles_of(codes)) if self._circular else codes

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        return Scaling(self.mean_, self.scale_).undo(fitted.run_half(self, "decoder", codes))

    def _extend(self, X: np.ndarray) -> np.ndarray:
        codes = self._codes(X)
        return angles_of(codes) if self._circular else codes

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        Z = Z.astype(np.float64)
        return self._decode(on_circles(Z) if self._circular else Z)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        layers = 8 * n * (6 * d + 4 * sum(self._widths()) + 4 * self.n_components)
        return {"rows and layers": layers * min(self.n_init, threads.n_threads(self.n_jobs))}
