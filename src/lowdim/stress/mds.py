"""Metric and nonmetric (ordinal) multidimensional scaling by stress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import pairwise
from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.stress import needs as device_needs
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import n_threads
from lowdim.stress import _report as report
from lowdim.stress._dissimilarities import Dissimilarities
from lowdim.stress._fit import POWERS, Fitted, Settings, classical_of_pairs, fit_pairs
from lowdim.stress._initial import ALL_UP_TO, LANDMARKS, classical_of_rows, given_configuration
from lowdim.stress._levels import LEVELS
from lowdim.stress._majorize import n_pairs
from lowdim.stress._monotone import TIES
from lowdim.stress._on_device import fit_on_device, place_on_device
from lowdim.stress._placement import StressPlacement
from lowdim.stress._solvers import STRESS_SOLVERS
from lowdim.stress._stochastic import classical_of_landmarks, fit_stochastic
from lowdim.stress._weights import user_weights

KEPT_UP_TO = 3000  # rows of which all pairs are kept for diagrams
STORED_UP_TO = 15_000  # rows of which all pairs are stored while fitting

_array = params.Rule("an array", lambda v: isinstance(v, (np.ndarray, list, tuple)) or hasattr(v, "__array__"))


class MDS(Reducer):
    """Multidimensional scaling: points whose distances match given dissimilarities as closely as possible.

    The loss is the stress sum w (dhat - d)² over pairs i < j, d being distances between the points and dhat the
    dissimilarities, or their transformation (disparities) at another `level`; it is minimised by majorisation (SMACOF),
    one pass over the pairs a step. Unlike `ClassicalMDS` it copes with dissimilarities that are not Euclidean, takes
    unknown ones (NaN in a precomputed table), and does not project far groups onto one another. A new row minimises its
    own stress, the others fixed; a fitted row then comes out within about sqrt(tol) of its coordinates, or with ties at
    the mean of the admissible ones.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    loss : {"raw", "sammon"}
        "raw": w = 1 for all pairs; "sammon": w = 1 / delta, which keeps small distances better (rows at dissimilarity
        0 are merged).
    weights : array of shape (n_samples, n_samples) or (n_pairs,), "elastic" or None
        The weight w of each pair, 0 for pairs that are left out; "elastic" is 1 / delta². In `transform` given weights
        are not used.
    level : {"ratio", "interval", "ordinal", "spline"}
        Level of measurement: dhat is the dissimilarity itself; a linear function of it, which may be negative; any
        values in the order of the dissimilarities (nonmetric MDS); or a smooth monotone function of them. All but
        "ratio" fit dhat to the distances in each step.
    ties : {"primary", "secondary", "tertiary"}
        Equal dissimilarities, at level "ordinal": may become different, stay equal, or are in order on average.
    solver : {"auto", "majorize", "accelerated", "stochastic", "gradient", "conjugate_gradient", "pseudo_newton"}
        "accelerated" is a quasi-Newton method in the metric of "majorize" and needs about a fifth of its steps.
        "stochastic" draws rows and stores no pairs: for very many rows, at level "ratio". "auto" is "accelerated", and
        "stochastic" beyond 15,000 rows.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances. Names are those of `scipy.spatial.distance.cdist`; distances are a square
        table or a condensed vector with NaN for unknown ones.
    metric_params : dict or None
        Parameters of `metric` by name, such as ``{"p": 3}`` of "minkowski", or further arguments of a function.
    missing : {"error", "pairwise", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; distances over the columns that both rows have, scaled
        up; or the expected distance under a Gaussian model of the rows. Euclidean distances only; "pairwise" also
        Gower's. Under "expected", `transform` of an incomplete fitted row is that of another row with the same cells,
        which may be elsewhere.
    init : {"classical", "random"} or array of shape (n_samples, n_components)
        The first initial configuration: classical scaling (of ranks at level "ordinal"; through 1,000 landmarks beyond
        4,000 rows, unless of Euclidean rows), a random one, or a given one.
    n_init : int
        Number of starts; the best result is kept. All but the first start from random configurations.
    max_iter : int
        Maximum number of iterations, for each start.
    tol : float
        Convergence tolerance: stop when a step lowers the squared stress by less than this share of it ("stochastic"
        makes 200 steps, or `max_iter` if that is less).
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. The loss is
        the squared stress over its value with all points at the origin (see `loss_`), the state the embedding so far,
        not yet rotated to its principal axes. Steps are numbered through over all starts.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. A GPU
        is used for the passes over all pairs of dense rows (Euclidean distances) or of a complete square table, and
        for new rows, at level "ratio" with ``loss="raw"`` and without weights; "auto" is "accelerated" there for any
        number of rows.
    random_state : int, generator or None
        Seed; the same int gives the same result. For random starts and drawn rows.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points on their principal axes, in the unit of the dissimilarities; at level "ordinal" disparities have mean
        square 1.
    stress_ : float
        sum w (dhat - d)² over pairs i < j, w being weights that were given.
    stress1_ : float
        Kruskal's sqrt(stress / sum w d²).
    stress_normalized_, stress_scale_optimal_ : float
        sqrt(stress / sum w dhat²), and the same at the best scale of the embedding: the stress that smacof reports.
    loss_ : float
        The loss over its value with all points at the origin; Sammon's error for ``loss="sammon"``.
    stress_per_point_ : ndarray of shape (n_samples,)
        Share of the stress in a row's pairs, at the best scale; adds up to 1 (smacof's, in percent, to 100).
    dissimilarities_, disparities_ : ndarray of shape (n_pairs,) or None
        Pairs i < j as `scipy.spatial.distance.pdist` orders them, NaN where unknown; not kept beyond 3,000 rows.
    stress_history_ : ndarray of shape (n_iter_ + 1,)
        Square root of the loss at the start and after each step (of the drawn pairs, for "stochastic").
    n_iter_ : int
        Steps made from the best start.
    converged_ : bool
        Whether the loss of the best start converged and no callback stopped the fit.
    device_ : str
        Where the passes over the pairs ran.

    References
    ----------
    Kruskal, Nonmetric multidimensional scaling, 1964. Sammon, A nonlinear mapping for data structure analysis, 1969.
    De Leeuw and Mair, Multidimensional scaling using majorization: SMACOF in R, 2009. Zheng, Pawar and Goodman, Graph
    drawing by stochastic gradient descent, 2019.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.helix(100, random_state=0).X
    >>> model = lowdim.MDS(n_components=2).fit(X)
    >>> lowdim.MDS(n_components=2, level="ordinal").fit(X).stress1_ < model.stress1_
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "loss": params.one_of("raw", "sammon"),
        "weights": params.none() | params.one_of("elastic") | _array,
        "level": params.one_of(*LEVELS),
        "ties": params.one_of(*TIES),
        "init": params.one_of("classical", "random") | _array,
        "solver": params.one_of("auto", "stochastic", *STRESS_SOLVERS),
    }
    _sparse_rows = True
    _stays = ("fit", "fit_transform", "transform")
    _unknown_distances = True
    _ways_out = "level='ratio' with solver='stochastic' keeps no table of pairs; or fit on a sample and transform."

    def __init__(
        self,
        n_components=2,
        *,
        loss="raw",
        weights=None,
        level="ratio",
        ties="primary",
        solver="auto",
        metric="euclidean",
        metric_params=None,
        missing="error",
        init="classical",
        n_init=1,
        max_iter=1000,
        tol=1e-6,
        callback=None,
        device="cpu",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.loss = loss
        self.weights = weights
        self.level = level
        self.ties = ties
        self.solver = solver
        self.metric = metric
        self.metric_params = metric_params
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> np.ndarray:
        place, given = self._place(X), self._dissimilarities(X)
        settings = self._settings(X, place)
        self.device_ = "cpu" if place is None else place.title
        if place is not None:
            found = fit_on_device(place, given, settings, KEPT_UP_TO, "Fit on a sample and transform.")
        else:
            fit = fit_stochastic if settings.solver == "stochastic" else fit_pairs
            found = fit(given, settings)
        self._rows = self._own_rows(X)
        return self._keep(found, settings.power)

    def _place(self, X: Any) -> Any:
        """The device of the fit; None: the CPU, also for what a GPU has no passes for."""
        there = isinstance(X, DeviceRows)
        known = there or not (sparse.issparse(X) or self._holes is not None or np.isnan(X).any())
        return self._found_device() if known else None

    def _found_device(self) -> Any:
        place = devices.find(self.device, "MDS")
        plain = self.level == "ratio" and self.loss == "raw" and self.weights is None
        there = self.solver not in ("stochastic", "pseudo_newton") and self._metric() in ("euclidean", "precomputed")
        return place if plain and there else None

    def _dissimilarities(self, X: Any) -> Dissimilarities:
        return Dissimilarities(X, None if self._precomputed() else self._distance(), self.n_jobs)

    def _settings(self, X: Any, place: Any = None) -> Settings:
        elastic, rng = isinstance(self.weights, str), generator(self.random_state)
        power, solver = POWERS["elastic" if elastic else self.loss], self._solver(X.shape[0])
        solver = "accelerated" if place is not None and self.solver == "auto" else solver
        if elastic and self.loss == "sammon":
            raise ValueError("MDS: weights must be None or an array for loss='sammon'; got 'elastic'.")
        if self.level != "ratio" and (power or solver == "stochastic"):
            why = "where weights depend on the dissimilarities" if power else "for solver='stochastic'"
            raise ValueError(f"MDS: level must be 'ratio' {why}; got {self.level!r}.")
        return Settings(
            self.n_components,
            self.level,
            self.ties,
            power,
            None if elastic else self.weights,
            solver,
            self._initial(X, solver, rng, place),
            self.n_init,
            self.max_iter,
            self.tol,
            self.callback,
            rng,
            self.n_jobs,
            self.verbose,
            X.dtype,
        )

    def _solver(self, n: int) -> str:
        if self.solver != "auto":
            return self.solver
        return "accelerated" if n <= STORED_UP_TO or self.level != "ratio" else "stochastic"

    def _initial(self, X: Any, solver: str, rng: np.random.Generator, place: Any) -> Any:
        """The first configuration as a function of the pairs, the different rows and the unit; None: random."""
        r = self.n_components
        if not isinstance(self.init, str):
            Z = given_configuration(self.init, X.shape[0], r, "MDS")
            return lambda pairs, members, unit: Z[members] / unit
        if self.init == "random":
            return None
        if self._classical_of_rows():
            return lambda pairs, members, unit: classical_of_rows(X, r, rng, place)[members] / unit
        if solver == "stochastic":
            given = self._dissimilarities(X)
            return lambda pairs, members, unit: classical_of_landmarks(given, r, rng, unit)
        return lambda pairs, members, unit: classical_of_pairs(pairs, r, rng)

    def _classical_of_rows(self) -> bool:
        """Whether the initialisation is classical scaling of the rows themselves, that is PCA (not of an order)."""
        return self.missing == "error" and self.level != "ordinal" and self._metric() == "euclidean"

    def _keep(self, found: Fitted, power: float) -> np.ndarray:
        """Set the attributes, in the unit of the dissimilarities (level "ordinal" has none)."""
        n, scale = len(found.Z), found.scale
        if flat := int((np.abs(found.Z).max(axis=0) == 0).sum()):
            warn(f"MDS: {self.n_components - flat} of {self.n_components} axes have an extent; the others are zero.")
        if found.n_groups < n:
            warn(
                f"MDS: rows at dissimilarity 0 (to rounding) are merged and share coordinates: {found.n_groups} of {n} "
                "rows are different."
            )
        self.stress_, self.stress1_ = found.forms.raw * scale**2, found.forms.stress1
        self.stress_normalized_, self.stress_scale_optimal_ = found.forms.normalized, found.forms.scale_optimal
        total = found.point_stress.sum()
        self.stress_per_point_ = found.point_stress / total if total > 0 else found.point_stress
        self.loss_, self.stress_history_ = found.loss, found.history
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.dissimilarities_: Any = None
        self.disparities_: Any = None
        if found.delta is not None and found.disparities is not None and n <= KEPT_UP_TO:
            self.dissimilarities_, self.disparities_ = found.delta * found.unit, found.disparities * scale
        self._extension = StressPlacement(found.points, found.unit, scale * found.stretch, found.curve, power)
        return found.Z * found.Z.dtype.type(scale)

    def stress_per_pair(self) -> np.ndarray:
        """The contribution of each pair to the stress, as a symmetric table.

        Returns
        -------
        table : ndarray of shape (n_samples, n_samples)
            w (dhat - d)² for every pair, 0 where it is unknown; adds up to twice `stress_`.
        """
        n, share = len(self.embedding_), np.square(self._distances() - self.disparities_)
        if self.weights is not None and not isinstance(self.weights, str):
            w, unit = user_weights(self.weights, n, np.float64, "MDS")
            share *= w * unit
        return report.square(np.nan_to_num(share, copy=False, nan=0.0), n)

    def shepard(self) -> report.ShepardDiagram:
        """Dissimilarities, distances and disparities of all pairs, for `lowdim.plot.shepard`.

        Returns
        -------
        diagram : ShepardDiagram
            The pairs in order of their dissimilarities.
        """
        return report.shepard(self.dissimilarities_, self._distances(), self.disparities_)

    def _distances(self) -> np.ndarray:
        """Distances of all pairs of the embedding."""
        check_is_fitted(self)
        if self.disparities_ is None:
            raise ValueError(f"MDS: pairs are kept for up to {KEPT_UP_TO} rows; got {len(self.embedding_)}.")
        return report.embedded(self.embedding_, self.n_jobs)

    def stress_by_dimension(self, X: Any, dimensions: Sequence[int] = (1, 2, 3, 4, 5)) -> np.ndarray:
        """Stress against the number of dimensions: where it stops falling steeply, further dimensions fit noise.

        Parameters
        ----------
        X : array-like
            What `fit` takes.
        dimensions : sequence of int
            Values of `n_components`.

        Returns
        -------
        stress : ndarray
            `stress_scale_optimal_` for each.
        """
        return np.array([report.refit(self, X, n_components=int(r)) for r in dimensions])

    def random_stress(self, n_samples: int, n_draws: int = 100, random_state: Any = None) -> np.ndarray:
        """Stress of dissimilarities without structure: uniform random numbers, with the settings of this model.

        Parameters
        ----------
        n_samples : int
            Rows.
        n_draws : int
            Random tables.
        random_state : int, generator or None
            Draws them.

        Returns
        -------
        stress : ndarray of shape (n_draws,)
            `stress_scale_optimal_` of each.
        """
        return report.random_stress(self, n_samples, n_draws, random_state)

    def permutation_test(self, X: Any, n_draws: int = 100, random_state: Any = None) -> report.PermutationTest:
        """Permutation test: is the stress lower than that of the same dissimilarities in random order?

        Parameters
        ----------
        X : array-like
            What `fit` takes.
        n_draws : int
            Random tables.
        random_state : int, generator or None
            Draws them.

        Returns
        -------
        test : PermutationTest
            The stress, that of each random table, and the p value.
        """
        return report.permutation_test(self, X, n_draws, random_state)

    def _takes_tensors(self, step: str) -> bool:
        return super()._takes_tensors(step) and self._found_device() is not None

    @property
    def _block_rows(self) -> int:  # type: ignore[override]
        return 256 if self.device == "cpu" else 2**30  # a GPU has blocks of its own

    def _extend(self, X: Any) -> np.ndarray:
        place = None if sparse.issparse(X) or self._precomputed() or self._holes is not None else self._found_device()
        if place is not None:
            return place_on_device(place, X, self._rows, self._extension)
        if self._precomputed():
            return self._extension(X, self.n_jobs)
        return self._extension(pairwise(X, self._rows, metric=self._distance(), owner="MDS"), self.n_jobs)

    def _device_memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes on a GPU, as `_memory`."""
        return device_needs(n, d, itemsize)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        rows = n * d * itemsize if stored is None else 12 * stored
        parts = {
            "rows": 4 * rows,
            "points": 40 * n * self.n_components * 8,
            "blocks of distances": 2 * n_threads(self.n_jobs) * 256 * n * itemsize,
        }
        start = {}
        if not self._classical_of_rows() and isinstance(self.init, str) and self.init == "classical":
            cells = 3 * n * n if n <= ALL_UP_TO else LANDMARKS * n + 4 * LANDMARKS**2
            start = {"classical start": cells * 8}
        if self._solver(n) == "stochastic":
            given = self.weights is not None and not isinstance(self.weights, str)
            return parts | start | ({"weights": 4 * n * n * 8} if given else {})
        weighted = self.weights is not None or self.loss != "raw"
        per_pair = {"ratio": 0, "interval": 5 * 8, "ordinal": 8 * 8, "spline": 11 * 8}[self.level]
        pairs = {"weights": 2 * itemsize * weighted, "disparities": per_pair}
        kept = {"kept pairs": 2 * itemsize} if n <= KEPT_UP_TO else {}
        later = {name: size * n_pairs(n) for name, size in (pairs | kept).items() if size}
        if self._found_device() is not None:
            return parts | start
        parts["dissimilarities"] = itemsize * n_pairs(n)  # the start is over when the rest begins
        return parts | max(start, later, key=lambda part: sum(part.values()))
