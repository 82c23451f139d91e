"""Metric and ordinal multidimensional scaling by stress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric, pairwise
from lowdim._core.incomplete import METRICS, POLICIES
from lowdim._core.majorize import Pairs, n_pairs
from lowdim._core.monotone import TIES
from lowdim._core.notices import warn
from lowdim._core.placing import Among
from lowdim._core.rng import generator
from lowdim.stress import _report as report
from lowdim.stress._fit import POWERS, Fitted, classical, fit_pairs, in_units
from lowdim.stress._levels import LEVELS
from lowdim.stress._solvers import SOLVERS
from lowdim.stress._start import classical_of_rows
from lowdim.stress._table import Table, split_unknown
from lowdim.stress._weights import user_weights

KEPT_UP_TO = 3000  # rows of which all pairs are kept for diagrams
STORED_UP_TO = 15_000  # rows of which all pairs are stored while fitting

_array = params.Rule("an array", lambda v: isinstance(v, (np.ndarray, list, tuple)) or hasattr(v, "__array__"))


class MDS(Reducer):
    """DOC"""

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "metric": params.text() | params.function(),
        "loss": params.one_of("raw", "sammon"),
        "weights": params.none() | params.one_of("elastic") | _array,
        "level": params.one_of(*LEVELS),
        "ties": params.one_of(*TIES),
        "init": params.one_of("classical", "random") | _array,
        "n_init": params.whole(1),
        "solver": params.one_of("auto", *SOLVERS),
        "max_iter": params.whole(1),
        "tol": params.real(0),
        "missing": params.one_of(*POLICIES),
        "random_state": params.seed(),
        "n_jobs": params.jobs(),
        "verbose": params.whole(0) | params.flag(),
    }
    _sparse_rows = True
    _block_rows = 256
    _hole_policies = tuple(METRICS)
    _ways_out = "level='ratio' with solver='stochastic' keeps no table of pairs; or fit on a sample and transform."

    def __init__(
        self,
        n_components=2,
        *,
        metric="euclidean",
        loss="raw",
        weights=None,
        level="ratio",
        ties="primary",
        init="classical",
        n_init=1,
        solver="auto",
        max_iter=1000,
        tol=1e-6,
        missing="error",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.metric = metric
        self.loss = loss
        self.weights = weights
        self.level = level
        self.ties = ties
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _takes_nan(self) -> bool:
        return self.missing != "error"

    def _check_rows(self, X: Any, *, fitting: bool) -> tuple[Any, np.dtype]:
        """Among precomputed dissimilarities NaN is an unknown one: it has no say."""
        filled, holes = split_unknown(X, fitting) if self._precomputed() else (X, None)
        rows, dtype = super()._check_rows(filled, fitting=fitting)
        if holes is not None:
            rows = np.where(holes, rows.dtype.type(np.nan), rows)
        return rows, dtype

    def _embed(self, X: Any) -> np.ndarray:
        check_metric(self.metric, "MDS")
        power = self._power()
        table = Table(X, None if self._precomputed() else self._distance(), self.n_jobs)
        pairs = table.pairs()
        if self.weights is not None and not isinstance(self.weights, str):
            pairs = Pairs(pairs.n, pairs.delta, user_weights(self.weights, pairs.n, pairs.delta.dtype, "MDS"))
        pairs, unit = in_units(pairs, "MDS")
        self._rows = self._own_rows(X)
        if unit == 0:
            return self._all_in_one(pairs)

        found = fit_pairs(
            pairs,
            unit,
            self.n_components,
            level=self.level,
            ties=self.ties,
            power=power,
            first=self._first(X, unit, rng := generator(self.random_state)),
            n_init=self.n_init,
            rng=rng,
            solver="accelerated" if self.solver == "auto" else self.solver,
            n_jobs=self.n_jobs,
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=self.verbose,
            owner="MDS",
        )
        return self._keep(found, power, X.dtype)

    def _power(self) -> float:
        """Weights are delta to this power, with a minus."""
        power = POWERS["elastic" if isinstance(self.weights, str) else self.loss]
        if power and self.level != "ratio":
            raise ValueError(f"MDS: level must be 'ratio' where weights follow from dissimilarities; got {self.level!r}.")
        if self.loss == "sammon" and isinstance(self.weights, str):
            raise ValueError("MDS: weights must be None or an array for loss='sammon', which has its own; got 'elastic'.")
        return power

    def _first(self, X: Any, unit: float, rng: np.random.Generator) -> Any:
        """The first start, as a function of the pairs and of the rows that are different."""
        if isinstance(self.init, str) and self.init == "random":
            return None
        if not isinstance(self.init, str):
            return lambda pairs, members: self._given(X.shape[0])[members] / unit
        if self.missing == "error" and check_metric(self.metric, "MDS") == "euclidean":
            return lambda pairs, members: classical_of_rows(X, self.n_components, rng)[members] / unit
        return lambda pairs, members: classical(pairs, self.n_components, rng)

    def _given(self, n: int) -> np.ndarray:
        Z = np.array(self.init, dtype=np.float64)
        if Z.shape != (n, self.n_components) or not np.isfinite(Z).all():
            raise ValueError(
                f"MDS: init must be 'classical', 'random' or a finite array of shape ({n}, {self.n_components}); got "
                f"shape {Z.shape}."
            )
        return Z

    def _keep(self, found: Fitted, power: float, dtype: Any) -> np.ndarray:
        """What was found, in the unit of the dissimilarities (order alone has none)."""
        scale = 1.0 if self.level == "ordinal" else found.unit
        flat = int((np.abs(found.Z).max(axis=0) == 0).sum())
        if flat:
            warn(f"MDS: {self.n_components - flat} of {self.n_components} axes have an extent; the others are zero.")
        if found.n_groups < len(found.Z):
            warn(f"MDS: rows at dissimilarity 0 are placed as one: {found.n_groups} of {len(found.Z)} rows differ.")
        self._extension = Among(found.Z, found.unit, scale * found.stretch, found.curve, power)
        Z = (found.Z * (scale * found.stretch)).astype(dtype)
        exact = np.ascontiguousarray(Z, dtype=np.float64) / scale
        for name, value in report.measures(found.pairs, found.disparities, exact, self.n_jobs).items():
            setattr(self, name, value * scale**2 if name == "stress_" else value)
        share = found.pairs.detail(exact, found.disparities, self.n_jobs)[0]
        self.stress_per_point_ = share / share.sum() if share.sum() > 0 else share
        self.loss_, self.stress_history_ = found.loss, found.history
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.dissimilarities_ = self.disparities_ = None
        if len(Z) <= KEPT_UP_TO:
            self.dissimilarities_ = found.pairs.delta * found.unit
            self.disparities_ = found.disparities * scale
        return Z

    def _all_in_one(self, pairs: Pairs) -> np.ndarray:
        """Nothing differs: every row is at the origin."""
        Z = np.zeros((pairs.n, self.n_components))
        same = Fitted(Z, pairs, pairs.delta, None, 1.0, 1.0, 0.0, np.zeros(1), 1, True, pairs.n)
        return self._keep(same, 0.0, np.float64)

    def _extend(self, X: Any) -> np.ndarray:
        D = X if self._precomputed() else pairwise(X, self._rows, metric=self._distance())
        lost = np.isnan(D).all(axis=1)
        if lost.any():
            raise ValueError(f"MDS: row {int(lost.argmax())} of X has no known dissimilarity, so it has no place.")
        return self._extension(D, self.n_jobs)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        rows = n * d * itemsize if stored is None else 12 * stored
        parts = {"rows": 2 * rows, "dissimilarities": n_pairs(n) * itemsize, "points": 64 * n * self.n_components * 8}
        weighted = self.weights is not None or self.loss != "raw"
        parts |= {"weights": n_pairs(n) * itemsize} if weighted else {}
        per_pair = {"ratio": 0, "interval": 40, "ordinal": 48, "spline": 112}[self.level]
        return parts | ({"disparities": n_pairs(n) * per_pair} if per_pair else {})
