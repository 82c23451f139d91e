"""Inverse nonlinear PCA: a curved surface fitted to incomplete rows."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _decoder_codes as decoder_codes
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks._decoder_codes import DecoderWithCodes
from lowdim.latent.networks._decoder_placement import Decoder, expected, place
from lowdim.latent.networks._incomplete import split_rows
from lowdim.latent.networks._levels import Levels
from lowdim.latent.networks._network import ACTIVATIONS, Network, weights_and_biases
from lowdim.latent.networks._restarts import Found, Restarts, train, warn_unconverged
from lowdim.latent.networks._rows import Scaling, rounded_and_sorted


class InverseNLPCA(Reducer):
    """Inverse nonlinear PCA: codes and a decoder, fitted together to the observed cells.

    A network g maps k codes to a row, and the codes z of every row are parameters like the weights w:

        minimise  mean over observed cells (x_ij - g_j(z_i; w))² + weight_decay (sum w² + mean |z|²)

    A missing cell has no error, so incomplete rows need no imputation before, and the fitted surface completes them.
    There is no encoder: the codes of a new row, complete or not, are those that fit its observed cells best. Training
    from random codes stops in local minima with folds; here each start begins with a self-organising map of the rows,
    and between rounds a row moves to another code where that fits it better.

    Parameters
    ----------
    n_components : int
        Number of components.
    hidden : int, tuple of ints, "auto" or None
        Widths of the decoder's hidden layers, from the codes to the rows. None is one layer of 10 + 2 n_components.
        "auto" removes a tenth of the observed cells and takes the width that predicts them best; held-out rows would
        not do, since a surface that overfits passes close to them too.
    hierarchical : bool
        Order the components: the error of the first alone counts too, and of the first two, and so on, so that the
        first k of them are the best k. With linear units these are the principal components.
    level_weights : tuple of floats or None
        Weight of each of these errors; None weights them equally.
    circular : bool
        Components are angles: for closed curves and cycles. Codes are in radians, from -pi to pi.
    activation : {"tanh", "sigmoid", "relu", "elu", "softplus", "linear"}
        Activation function of the hidden layers.
    weight_decay : float
        Penalty on squared weights and codes, in units of the mean squared error of a scaled cell.
    scale : bool
        Divide each column by its standard deviation; otherwise all by one number. Rows are centred in any case.
    n_init : int
        Number of starts; the best result is kept. On a helical loop with a cell missing in every row two starts of
        five find it.
    max_iter : int
        Maximum number of iterations of the final run, from the best start.
    tol : float
        Convergence tolerance: relative decrease of the loss in ten steps.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. After every step of every start, which
        then run one after the other; `state` are the codes of all rows so far. Not called while ``hidden="auto"``
        compares widths.
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
        Where distant codes fit the cells of a row about equally well, the mean of their predictions, each weighted by
        how well it fits and how many rows are near it.
    reconstruction_error_ : float
        Mean squared error of the observed cells, in units of X.
    loss_ : float
        The final loss, in scaled units.
    loss_curve_ : ndarray
        The loss after each step of the start that was kept.
    restart_losses_ : ndarray of shape (n_init,)
        The loss of each start after its first rounds.
    hidden_ : tuple of ints
        The widths used.
    size_errors_ : dict or None
        With ``hidden="auto"``: the squared error of removed cells for each width, in scaled units.
    weights_, biases_ : list of ndarrays
        Of the decoder's layers, in scaled units.
    n_weights_ : int
        Number of parameters of the decoder.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from the columns, and what they are divided by.
    missing_share_ : float
        Share of the cells that are missing.
    n_iter_ : int
        Number of steps of the start that was kept.
    converged_ : bool
        Whether the final run reached `tol`; False where the callback stopped it.

    References
    ----------
    Scholz, Kaplan, Guy, Kopka and Selbig, Non-linear PCA: a missing data approach, 2005. Scholz, Validation of
    nonlinear PCA, 2012.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> loop = lowdim.datasets.helical_loop(200, noise=0, random_state=0)
    >>> X = lowdim.datasets.remove_cells(loop.X, random_state=0)
    >>> model = lowdim.InverseNLPCA(1, random_state=0).fit(X)
    >>> gone = np.isnan(X)
    >>> bool(np.mean((model.completed_ - loop.X)[gone] ** 2) < 0.02)  # column means: 0.44
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "hidden": settings.sizes() | params.one_of("auto") | params.none(),
        "hierarchical": params.flag(),
        "level_weights": settings.positive_numbers() | params.none(),
        "circular": params.flag(),
        "activation": params.one_of(*ACTIVATIONS),
        "weight_decay": params.real(0),
        "scale": params.flag(),
    }
    _takes_nan = True
    _ways_out = "Fit on a sample of the rows and transform the others."
    _reproduces_rows = True

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
        n_init=10,
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
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> np.ndarray:
        architecture, training = self._architecture(), self._training()
        architecture.check("InverseNLPCA", X.shape[1])
        scaling, rng = Scaling.of(X, self.scale), generator(self.random_state)
        rows, order = rounded_and_sorted(scaling(X))
        self.mean_, self.scale_ = scaling.mean, scaling.scale

        if self.hidden == "auto":
            self.hidden_, self.size_errors_ = decoder_codes.best_width(rows, architecture, training, rng)
        else:
            self.hidden_, self.size_errors_ = decoder_codes.largest_widths(self.hidden, self.n_components), None
        problem = DecoderWithCodes.of(rows, self.hidden_, architecture)
        found = train(problem, training, rng, order)
        warn_unconverged(found, training)
        self._keep(problem, found)

        self._n_features_out = self.n_components
        Z = np.concatenate([self._extend(X[block]) for block in threads.blocks(len(X), self._block_rows)])
        self._complete(X, Z, problem.noise(found.x))
        return Z

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
            "InverseNLPCA",
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self.callback,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _keep(self, problem: DecoderWithCodes, found: Found) -> None:
        decoder = problem.decoder(found.x)
        self.weights_, self.biases_ = weights_and_biases(decoder.layers)
        self.n_weights_ = problem.net.n_parameters
        self._parts: dict[str, Any] = {
            "net": (problem.net.sizes, problem.net.activations),
            "weights": problem.levels.weights,
            "masks": problem.levels.masks,
            "circular": problem.circular,
            "ridge": problem.ridge,
            "anchors": decoder.anchors,
        }
        self.loss_, self.loss_curve_, self.restart_losses_ = found.loss, found.losses, found.restarts
        self.n_iter_, self.converged_ = len(found.losses), found.converged

    def _complete(self, X: np.ndarray, Z: np.ndarray, noise: float) -> None:
        fitted, observed = self._invert(Z), ~np.isnan(X)
        self.missing_share_ = float(1 - observed.mean())
        self.reconstruction_error_ = float(np.square((fitted - X)[observed]).mean())
        completed, incomplete = X.copy(), np.flatnonzero(~observed.all(axis=1))
        for block in threads.blocks(len(incomplete), self._block_rows):
            rows = incomplete[block]
            completed[rows] = np.where(observed[rows], X[rows], self._expected(X[rows], noise))
        self.completed_ = completed if len(incomplete) else None

    def _decoder(self) -> Decoder:
        parts, layers = self._parts, list(zip(self.weights_, self.biases_, strict=True))
        levels = Levels(parts["weights"], parts["masks"])
        return Decoder(Network(*parts["net"]), layers, levels, parts["circular"], parts["ridge"], parts["anchors"])

    def _extend(self, X: np.ndarray) -> np.ndarray:
        with threads.single_blas():
            rows, observed = split_rows(Scaling(self.mean_, self.scale_)(X))
            return place(self._decoder(), rows, observed)

    def _expected(self, X: np.ndarray, noise: float) -> np.ndarray:
        scaling = Scaling(self.mean_, self.scale_)
        with threads.single_blas():
            return scaling.undo(expected(self._decoder(), *split_rows(scaling(X)), noise))

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return Scaling(self.mean_, self.scale_).undo(self._decoder().rows(Z.astype(np.float64)))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        widest = decoder_codes.largest_widths(self.hidden, self.n_components)
        layers = 8 * n * (4 * d + 3 * sum(widest) + 4 * self.n_components)
        weights = sum(a * b for a, b in itertools.pairwise([self.n_components, *widest, d]))
        runs = min(self.n_init, threads.n_threads(self.n_jobs))
        # L-BFGS remembers twenty pairs of steps and gradients, of the weights and of the codes.
        steps = 48 * 8 * (weights + n * self.n_components)
        sorted_rows = 2 * 8 * n * d
        return {"sorted rows": sorted_rows, "layers": layers * runs, "weights, codes and steps": steps * runs}
