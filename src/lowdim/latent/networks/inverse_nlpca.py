"""Inverse nonlinear PCA: a curved surface fitted to rows with holes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _inverse as inverse
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks._decoder_placement import Decoder, expected, place
from lowdim.latent.networks._levels import Levels
from lowdim.latent.networks._network import ACTIVATIONS, Network
from lowdim.latent.networks._restarts import keep_run, train
from lowdim.latent.networks._rows import Scaling, settled


class InverseNLPCA(Reducer):
    """Inverse nonlinear PCA: codes and a decoder, fitted together to the cells that are there.

    A network g leads k numbers to a row, and the k numbers z of every row are parameters like the weights w:

        minimise  mean over observed cells (x_ij - g_j(z_i; w))² + weight_decay (sum w² + mean |z|²)

    A missing cell has no error, so incomplete rows need no filling in, and the fitted surface fills them afterwards.
    There is no encoder: a new row, complete or not, is placed by the best z for its observed cells. Descents from
    random starts stop in folds of the surface; here each one starts from a self-organising map of the rows, and rows
    that find a better place elsewhere on the surface jump there between rounds.

    Parameters
    ----------
    n_components : int
        Number of components.
    hidden : int, tuple of ints, "auto" or None
        Widths of the decoder's hidden layers, from the codes to the rows. None is one layer of 10 + 2 n_components.
        "auto" hides a tenth of the observed cells and takes the width that predicts them best; rows held out would
        not do, since a surface that overfits passes close to them too.
    hierarchical : bool
        Order the components: the error of the first alone counts too, and of the first two, and so on, so that the
        first k of them are the best k. With linear units these are the principal components.
    level_weights : tuple of floats or None
        What each of these errors counts; None is all alike.
    circular : bool
        Components are angles: for closed curves and cycles. Codes are in radians, from -pi to pi.
    activation : {"tanh", "sigmoid", "relu", "elu", "softplus", "linear"}
        Of the hidden layers.
    weight_decay : float
        Holds weights and codes back, in units of the mean squared error of a scaled cell.
    scale : bool
        Divide each column by its standard deviation; otherwise all by one number. Rows are centred in any case.
    n_init : int
        Starts; the one with the lowest loss is kept. On a helical loop with a cell missing in every row two starts of
        five find it.
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
    completed_ : ndarray or None
        The rows with their missing cells filled in by the decoder, the others as given; None without missing cells.
        Where distant codes fit the cells of a row about equally well, the mean of what they say, each weighted by how
        well it fits and how many rows are near it.
    reconstruction_error_ : float
        Mean squared error of the observed cells, in units of X.
    loss_ : float
        The final loss, in scaled units.
    loss_curve_ : ndarray
        The loss after each step of the start that was kept.
    restart_losses_ : ndarray of shape (n_init,)
        The loss each start reached in its first rounds.
    hidden_ : tuple of ints
        The widths used.
    size_errors_ : dict or None
        With ``hidden="auto"``: the squared error of hidden cells for each width, in scaled units.
    weights_, biases_ : list of ndarrays
        Of the decoder's layers, in scaled units.
    n_weights_ : int
        Number of parameters of the decoder.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted and divided by.
    missing_share_ : float
        Share of the cells that are missing.
    n_iter_ : int
        Steps of the start that was kept.
    converged_ : bool
        Whether the last descent reached `tol`.

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
        "level_weights": settings.shares() | params.none(),
        "circular": params.flag(),
        "activation": params.one_of(*ACTIVATIONS),
        "weight_decay": params.real(0),
        "scale": params.flag(),
    }
    _takes_nan = True
    _ways_out = "Fit on fewer rows and place the others with transform."

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
        settings.check_levels("InverseNLPCA", self.level_weights, self.hierarchical, self.n_components)
        settings.warn_overcomplete("InverseNLPCA", self.n_components, X.shape[1], held=False)
        scaling, rng = Scaling.of(X, self.scale), generator(self.random_state)
        rows, _ = settled(scaling(X))
        self.mean_, self.scale_ = scaling.mean, scaling.scale

        self.hidden_, self.size_errors_ = inverse.chosen_widths(self, rows, rng)
        problem = inverse.Problem.of(self, rows, self.hidden_)
        found = train(problem, self, rng)
        self._keep(problem, found)

        self._n_features_out = self.n_components
        Z = np.concatenate([self._extend(X[part]) for part in threads.blocks(len(X), self._block_rows)])
        self._complete(X, Z, problem.noise(found.x))
        return Z

    def _keep(self, problem: Any, found: Any) -> None:
        layers = problem.net.layers(found.x[: problem.net.n_parameters])
        self.weights_, self.biases_ = [W.copy() for W, _ in layers], [b.copy() for _, b in layers]
        self.n_weights_ = problem.net.n_parameters
        held = {"weights": problem.levels.weights, "masks": problem.levels.masks, "circular": problem.circular}
        anchors = problem.decoder(found.x).anchors
        self._parts = {
            "net": (problem.net.sizes, problem.net.activations),
            **held,
            "ridge": problem.ridge,
            "anchors": anchors,
        }
        keep_run(self, found)

    def _complete(self, X: np.ndarray, Z: np.ndarray, noise: float) -> None:
        fitted, seen = self._invert(Z), ~np.isnan(X)
        self.missing_share_ = float(1 - seen.mean())
        self.reconstruction_error_ = float(np.square((fitted - X)[seen]).mean())
        completed, holed = X.copy(), np.flatnonzero(~seen.all(axis=1))
        for part in threads.blocks(len(holed), self._block_rows):
            rows = holed[part]
            completed[rows] = np.where(seen[rows], X[rows], self._expected(X[rows], noise))
        self.completed_ = completed if len(holed) else None

    def _decoder(self) -> Decoder:
        parts, layers = self._parts, list(zip(self.weights_, self.biases_, strict=True))
        levels = Levels(parts["weights"], parts["masks"])
        return Decoder(Network(*parts["net"]), layers, levels, parts["circular"], parts["ridge"], parts["anchors"])

    def _extend(self, X: np.ndarray) -> np.ndarray:
        with threads.single_blas():
            rows, seen = inverse.split(Scaling(self.mean_, self.scale_)(X))
            return place(self._decoder(), rows, seen)

    def _expected(self, X: np.ndarray, noise: float) -> np.ndarray:
        scaling = Scaling(self.mean_, self.scale_)
        with threads.single_blas():
            return scaling.undo(expected(self._decoder(), *inverse.split(scaling(X)), noise))

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return Scaling(self.mean_, self.scale_).undo(self._decoder().rows(Z.astype(np.float64)))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        widest = sum(inverse.widths_of(self.hidden, self.n_components, final=True))
        layers = 8 * n * (4 * d + 3 * widest + 4 * self.n_components)
        return {"rows and layers": layers * min(self.n_init, threads.n_threads(self.n_jobs)), "steps": 8 * 45 * n * 2}
