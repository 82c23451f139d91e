"""Kernel canonical correlation analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.extend import KernelMap, Nystrom
from lowdim._core.incomplete.kernels import KernelHoles
from lowdim._core.kernels import Kernel, make_kernel
from lowdim._core.kernels.preimage import shift_of, shifted
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import fix_signs
from lowdim._core.tables import missing
from lowdim._core.views import Views, permutation, second_table
from lowdim.spectral.kernel import _held_out
from lowdim.spectral.kernel._feature_space import FeatureSpace, views_of

_KERNEL = params.text() | params.function() | params.Rule("a kernel", lambda v: isinstance(v, Kernel))
_POSITIVE = params.real(0, open_low=True)


def _two(rule: params.Rule) -> params.Rule:
    return params.Rule(
        "one for each table", lambda v: isinstance(v, (tuple, list)) and len(v) == 2 and all(map(rule.accepts, v))
    )


class KernelCCA(Reducer):
    """Kernel CCA: correlated components of two tables of the same rows, also for nonlinear relations.

    CCA of the rows in the feature spaces of two kernels. With the centred kernel matrices Kx and Ky it maximises
    a'Kx Ky b subject to a'(Kx² + (n - 1) ridge Kx) a = 1, and the same for b. The ridge is needed: with as many
    dimensions as rows, correlations are perfect for any data. With Kx = U L U' the correlations are the singular values
    of Fx Ux'Uy Fy, F² = L / (L + (n - 1) ridge): no matrix is inverted. With linear kernels this is
    ``CCA(ridge=ridge)``, its scores scaled to unit variance.

    Use it where a nonlinear relation between the tables is expected, and compute `score` on held-out rows: on the
    fitted rows correlations are high by construction. For linear relations CCA is faster and its weights can be
    interpreted.

    Parameters
    ----------
    n_components : int or None
        Number of pairs of components. None: all, the smaller of the two ranks.
    kernel : str, kernel object or callable, or a pair of them
        For both tables, or one for each: "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", an object of
        `lowdim.kernels`, or a function of two rows.
    width : str or float
        Width of "rbf" and "laplacian" where `gamma` is None: a rule, such as "median" of the distances between the rows
        of each table; or a number, the standard deviation s of exp(-d²/(2 s²)) (for "laplacian" the s of exp(-d/s)).
    gamma : float or None
        The factor in exp(-gamma d²), (gamma x'y + coef0)^degree and tanh(gamma x'y + coef0).
    degree, coef0 : number
        Of the polynomial and sigmoid kernels.
    ridge : float, pair of floats or "cv"
        Added to the variance in every direction of feature space, in the units of the kernel (the variances of "rbf"
        add up to less than 1). kernlab's (K + gamma I) K is ridge = gamma / (n - 1); Bach and Jordan's
        (K + n kappa/2 I)² is ridge = kappa n / (n - 1) up to a term in kappa². "cv" takes the one whose pairs
        correlate most in held-out rows (5 folds).
    ridges : sequence of floats or None
        The values that "cv" tries. None: nine values from 1e-5 to 1 times the variance of each table in feature space.
    n_landmarks : int or None
        Number of landmarks, rows drawn at random in whose span the axes lie (Nystrom), so that no n x n matrix is
        formed; None: all rows.
    missing : {"error", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; or in either table features averaged over the
        distribution of the row under a Gaussian model of that table, so that k(x, y) is an expected value. What the
        other table says about a missing cell is not used, as it would count as correlation.
    random_state : int, generator or None
        Seed; the same int gives the same result. Draws landmarks and folds.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components_)
        Scores of the fitted rows of X, of unit variance (divisor n - 1); the largest of each column is positive.
    correlations_ : ndarray of shape (n_components_,)
        Regularised canonical correlations, decreasing: the maximum of the criterion above.
    score_correlations_ : ndarray of shape (n_components_,)
        Correlations of the scores of the fitted rows; larger, and nearer 1 the smaller the ridge.
    x_weights_, y_weights_ : ndarray of shape (n_samples or n_landmarks, n_components_)
        Dual weights: the score of a row is (k(x, rows) - mean over the fitted rows) @ x_weights_.
    ridge_ : tuple of float
        The ridge of each table.
    ridges_, ridge_curve_ : ndarray of shape (n_tried, 2) and (n_tried,), or None
        With "cv", the values tried and their held-out correlations: the mean over the pairs kept (the first alone,
        where n_components is None).
    kernel_ : tuple of Kernel
        The kernels with their parameters.
    landmarks_ : ndarray of int or None
        Row numbers of the landmarks; None where all rows are used.
    n_components_ : int
        Number of pairs kept.

    References
    ----------
    Akaho, A kernel method for canonical correlation analysis, 2001. Bach and Jordan, Kernel independent component
    analysis, 2002. Hardoon, Szedmak and Shawe-Taylor, Canonical correlation analysis: an overview with application to
    learning methods, 2004.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> t = np.random.default_rng(0).uniform(0, 6.28, 200)
    >>> X, Y = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([t, t**2])
    >>> model = lowdim.KernelCCA(n_components=1).fit(X[:150], Y[:150])
    >>> model.score(X[150:], Y[150:]) > 0.95
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "kernel": _KERNEL | _two(_KERNEL),
        "width": params.text() | _POSITIVE,
        "gamma": params.none() | _POSITIVE,
        "degree": params.whole(1),
        "coef0": params.real(-np.inf),
        "ridge": params.Rule("a number > 0 (at 0 every correlation is 1, whatever the data)", _POSITIVE.accepts)
        | _two(_POSITIVE)
        | params.one_of("cv"),
        "ridges": params.none()
        | params.Rule("numbers > 0", lambda v: np.ndim(v) == 1 and len(v) > 0 and all(map(_POSITIVE.accepts, v))),
        "n_landmarks": params.none() | params.whole(2),
        "missing": params.one_of("error", "expected"),
    }
    _hole_policies = ("expected",)
    _reads_holes = KernelHoles
    _sparse_rows = True
    _parts: Any = None  # how missing cells of Y are seen
    _ways_out = "Set n_landmarks=1000 or so: memory then grows with n_samples x n_landmarks."

    def __init__(
        self,
        n_components=2,
        *,
        kernel="rbf",
        width="median",
        gamma=None,
        degree=3,
        coef0=1.0,
        ridge=0.001,
        ridges=None,
        n_landmarks=None,
        missing="error",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.width = width
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.ridges = ridges
        self.n_landmarks = n_landmarks
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    # ---- fit ------------------------------------------------------------------------------------------------

    def fit(self, X: Any, Y: Any = None) -> KernelCCA:
        """Fit to the rows of two tables.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table, or its kernel matrix where that is precomputed.
        Y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The second table, row by row with the first.

        Returns
        -------
        self : KernelCCA
            The fitted model.
        """
        self.fit_transform(X, Y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit to the rows of two tables and return the scores of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table.
        y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The second table.

        Returns
        -------
        Zx : ndarray of shape (n_samples, n_components_)
            The scores of X alone, as pipelines need; `transform(X, Y)` gives those of both.
        """
        self._refuse_stream(X)
        if y is None:
            raise ValueError(
                "KernelCCA: Y must be the second table; got None. KernelCCA requires y to be passed, but the target y "
                "is None; for one table use KernelPCA."
            )
        return self._fit_rows(X, Y=y)

    def _embed(self, X: Any, Y: Any = None) -> np.ndarray:
        Y, rng = self._second(Y, X.shape[0]), generator(self.random_state)
        if self._takes_nan and not sparse.issparse(Y):
            missing.admit(Y, "KernelCCA", name="Y")
            self._parts = {"y": KernelHoles.of(Y, self.missing, rng, self.n_jobs, "KernelCCA")}
            Y = self._parts["y"].table(Y)
        x, y = self._spaces(X, Y, rng)
        self.ridge_, self.ridges_, self.ridge_curve_ = self._choose_ridge(x, y, rng)
        both = views_of(x, y, self.ridge_, "KernelCCA")
        _warn_of_spurious(both, X.shape[0])

        k = both.kept(self.n_components)
        P, self.correlations_, Q = both.solve(k, solver="auto")
        A, B = both.x.weights(P) / both.x.deviations(P), both.y.weights(Q) / both.y.deviations(Q)
        Zx, Zy = x.F @ A, y.F @ B
        self.score_correlations_ = np.clip((Zx * Zy).sum(axis=0) / (X.shape[0] - 1), -1.0, 1.0)

        signs = np.where((fix_signs(Zx) * Zx).sum(axis=0) < 0, -1.0, 1.0)
        self.x_weights_, self.y_weights_ = x.projection @ (A * signs), y.projection @ (B * signs)
        self.n_components_ = k
        self._rows = self._own_rows(X)
        self._extension = (self._map(0, X, x.offset, self.x_weights_), self._map(1, Y, y.offset, self.y_weights_))
        return Zx * signs

    def _second(self, Y: Any, n: int) -> Any:
        settings: dict[str, Any] = {"nan": self._takes_nan, "policies": self._hole_policies}
        return second_table(Y, n, "KernelCCA", sparse_ok=True, **settings)[0]

    def _kernels(self, X: Any, Y: Any) -> tuple[Kernel, Kernel]:
        names = ("width", "gamma", "degree", "coef0")
        settings = {name: getattr(self, name) for name in names}
        kx, ky = self.kernel if isinstance(self.kernel, (tuple, list)) else (self.kernel, self.kernel)
        holes = (self._holes, None if self._parts is None else self._parts["y"])
        for name, table, reads in zip(("X", "Y"), (X, Y), holes, strict=True):
            table = table if reads is None else reads.rows(table)
            spread = table.max(axis=0) - table.min(axis=0)
            if not (spread.nnz if sparse.issparse(spread) else spread.any()):
                raise ValueError(f"KernelCCA: {name} must vary; all its rows are equal.")
        x = make_kernel(kx, X, holes=holes[0], owner="KernelCCA", **settings)
        return x, make_kernel(ky, Y, holes=holes[1], owner="KernelCCA", **settings)

    def _landmarks(self, n: int, rng: np.random.Generator) -> np.ndarray | None:
        if self.n_landmarks is None or self.n_landmarks >= n:
            return None
        return np.sort(rng.permutation(n)[: self.n_landmarks])

    def _spaces(self, X: Any, Y: Any, rng: np.random.Generator) -> tuple[FeatureSpace, FeatureSpace]:
        """The rows of both tables in the feature spaces of their kernels."""
        self.kernel_, self.landmarks_ = self._kernels(X, Y), self._landmarks(X.shape[0], rng)
        self._shifts = tuple(shift_of(kernel, table) for kernel, table in zip(self.kernel_, (X, Y), strict=True))
        x, y = (
            FeatureSpace.of(kernel, shifted(table, shift), self.landmarks_, self.n_jobs, "KernelCCA")
            for kernel, table, shift in zip(self.kernel_, (X, Y), self._shifts, strict=True)
        )
        for name, space in (("X", x), ("Y", y)):
            if not space.F.shape[1]:
                raise ValueError(f"KernelCCA: {name} must vary; all its rows are equal to its kernel.")
        return x, y

    def _choose_ridge(self, x: FeatureSpace, y: FeatureSpace, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        """The ridge of each table; the values tried and their correlations, where it is chosen by cross-validation."""
        if self.ridge != "cv":
            rx, ry = self.ridge if isinstance(self.ridge, (tuple, list)) else (self.ridge, self.ridge)
            return (float(rx), float(ry)), None, None
        if len(x.F) < _held_out.LEAST_ROWS:
            raise ValueError(
                f"KernelCCA: ridge='cv' must have at least {_held_out.LEAST_ROWS} rows; got {len(x.F)}. Use a number."
            )
        ridges = _held_out.grid(x, y, self.ridges)
        k = min(self.n_components or 1, x.F.shape[1], y.F.shape[1])
        curve = _held_out.curve(x.F, y.F, ridges, k, rng, self.n_jobs, "KernelCCA")
        rx, ry = ridges[np.argmax(curve)]
        return (float(rx), float(ry)), ridges, curve

    # ---- new rows -------------------------------------------------------------------------------------------

    def _map(self, side: int, table: Any, offset: np.ndarray, weights: np.ndarray) -> KernelMap:
        kernel, formula, shift = self.kernel_[side], Nystrom(offset, weights), self._shifts[side]
        if kernel.pairwise:
            return KernelMap(kernel, None, self.landmarks_, table.shape[1], formula)
        if shift is not None:
            rows = shifted(table if self.landmarks_ is None else table[self.landmarks_], shift)
            return KernelMap(kernel, rows, None, table.shape[1], formula, shift)
        if self.landmarks_ is None:
            return KernelMap(kernel, self._rows if side == 0 else table.copy(), None, table.shape[1], formula)
        return KernelMap(kernel, table[self.landmarks_], None, table.shape[1], formula)

    def transform(self, X: Any, Y: Any = None) -> Any:
        """Scores of new rows, each on its own, centred by the means of the fitted rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table; where its kernel is precomputed, their values to the fitted rows.
        Y : array-like of shape (n_samples, n_targets) or (n_samples,), or None
            The same rows of the second table.

        Returns
        -------
        Zx : ndarray of shape (n_samples, n_components_)
            Scores of X.
        Zy : ndarray of shape (n_samples, n_components_)
            Scores of Y; only where Y is given.
        """
        Zx = super().transform(X)
        if Y is None:
            return Zx
        Y, place = self._second(Y, len(Zx)), self._extension[1]
        holes = None if self._parts is None else self._parts["y"]
        width = place.width if holes is None else len(holes.center)
        if Y.shape[1] != width:
            raise ValueError(f"KernelCCA: Y must have {width} columns, as at fit; got {Y.shape[1]}.")
        if holes is not None:
            missing.admit(Y, "KernelCCA", columns=False, name="Y")
            Y = holes.table(Y)
        parts = [place(Y[rows]) for rows in threads.blocks(Y.shape[0], self._block_rows)]
        return Zx, np.concatenate(parts).astype(Y.dtype, copy=False)

    def score(self, X: Any, y: Any) -> float:
        """Correlation of the scores of the two tables in these rows, the mean over the pairs of components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table, preferably rows that were not fitted.
        y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The same rows of the second table.

        Returns
        -------
        correlation : float
            From -1 to 1; a score that does not vary counts as 0.
        """
        Zx, Zy = (np.asarray(Z, dtype=np.float64) for Z in self.transform(X, y))
        Zx, Zy = Zx - Zx.mean(axis=0), Zy - Zy.mean(axis=0)
        spread = np.linalg.norm(Zx, axis=0) * np.linalg.norm(Zy, axis=0)
        found = np.divide((Zx * Zy).sum(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
        return float(np.clip(found.mean(), -1.0, 1.0))

    def _extend(self, X: Any) -> np.ndarray:
        return self._extension[0](X)

    def _precomputed(self) -> bool:
        kernel = self.kernel[0] if isinstance(self.kernel, (tuple, list)) else self.kernel
        return kernel == "precomputed" if isinstance(kernel, str) else bool(getattr(kernel, "pairwise", False))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """As for a second table as wide as the first."""
        m = min(n, self.n_landmarks or n)
        common = {
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
            "axes": 3 * m * m * 8,
            "folds": 12 * (2 * m) ** 2 * 8 if self.ridge == "cv" else 0,
        }
        if m < n:  # the values of one table at a time; the first one's coordinates are there
            values = n * m * (itemsize if itemsize == 8 else itemsize + 8)
            return common | {"kernel values": values, "feature spaces": 2 * n * m * 8}
        # Coordinates: 3 to 6 such matrices, by the rank of the kernel matrices.
        return common | {"kernel matrices": 2 * n * n * itemsize, "feature spaces": 9 * n * n * itemsize // 2}

    # ---- significance ---------------------------------------------------------------------------------------

    def permutation_test(self, X: Any, Y: Any, n_permutations: int = 199, random_state: Any = None) -> np.ndarray:
        """Permutation test: probability of correlations as large as those found if the tables were independent.

        As in `CCA.permutation_test`: the statistic for pair k is -sum of log(1 - rho²) over the pairs from k on, of
        the regularised correlations, with the rows of one table permuted in the space that the earlier pairs leave.
        The ridge has to be a number. Does not need a fit and leaves the model as it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table.
        Y : array-like of shape (n_samples, n_targets) or (n_samples,)
            The second table.
        n_permutations : int
            Random permutations; the smallest p-value is 1 / (n_permutations + 1). Each costs about as much as a fit.
        random_state : int, generator or None
            Source of the permutations.

        Returns
        -------
        p_values : ndarray of shape (n_components,)
            One for each pair.
        """
        values = {"n_permutations": n_permutations, "random_state": random_state, **self.get_params(deep=False)}
        rules = {"n_permutations": params.whole(1), "random_state": params.seed(), **self._rules}
        params.check("KernelCCA", values, rules)
        if self.ridge == "cv":
            raise ValueError(
                "KernelCCA: ridge must be a number for a permutation test; got 'cv'. A ridge chosen on the same rows "
                "makes p-values too small: choose it on other rows."
            )
        model = type(self)(**{**self.get_params(deep=False), "missing": "error"})
        X, _ = model._check_rows(X, fitting=True)
        Y, _ = second_table(Y, X.shape[0], "KernelCCA", sparse_ok=True)
        rng = generator(self.random_state)
        x, y = model._spaces(X, Y, rng)
        both = views_of(x, y, model._choose_ridge(x, y, rng)[0], "KernelCCA")
        P, rho, Q = both.solve()
        Gx, Gy = permutation.scores(both.x, x.F, P), permutation.scores(both.y, y.F, Q)
        pairs = both.pairs if self.n_components is None else min(int(self.n_components), both.pairs)
        return permutation.p_values(Gx, Gy, rho, pairs, n_permutations, random_state, self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _warn_of_spurious(both: Views, n: int) -> None:
    """Two spaces with more effective dimensions than rows intersect, whatever the data: correlations are spurious."""
    dx, dy = (float((view.filter**2).sum()) for view in (both.x, both.y))
    if dx + dy > n - 1:
        warn(
            f"KernelCCA: with this ridge there are {dx:.0f} + {dy:.0f} effective dimensions for {n} rows: correlations "
            "are near 1 whatever the data. Use a larger ridge or ridge='cv', and compute the score of held-out rows."
        )
