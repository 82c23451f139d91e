"""The kernel of kernel PCA and its width, by cross-validation over a grid of widths."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, column_or_1d

from lowdim._core import params
from lowdim._core.kernels import Kernel, make_kernel
from lowdim._core.kernels.preimage import PREIMAGE_METHODS, check_preimage
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.streams import refuse_streams
from lowdim._core.tables import missing
from lowdim._core.tables.brief import brief
from lowdim._core.tables.kinds import naming_text
from lowdim.select import _kernel_criteria
from lowdim.select._kernel_criteria import CRITERIA, Distances, Task

OWNER = "kernel_width"
WIDEST = 1e150  # whose square is in range
GRID = 10.0 ** np.linspace(-2, 2, 17)  # gammas, relative to that of the median rule: two decades on either side
ENDS = {
    "wide": "the wide end, where all rows are nearly equal to the kernel (and kernel PCA with 'rbf' is nearly PCA)",
    "narrow": "the narrow end, where all rows are dissimilar to the kernel and no component stands out",
}


@dataclass(frozen=True, eq=False)
class WidthCurve:
    """One kernel at every width of the grid.

    Attributes
    ----------
    kernels : tuple of Kernel
        The kernel at each width.
    widths, gammas : ndarray of shape (n_widths,)
        Widths, narrow to wide, and the gamma of each; NaN for a kernel without a width.
    scores : ndarray of shape (n_widths, n_folds)
        The criterion in each fold.
    degenerate : tuple of str
        "wide" if all rows are nearly equal to the kernel, "narrow" if all are dissimilar, "" otherwise.
    median : float or None
        The width of the median rule.
    best : int
        Position of the best width among those that are not degenerate (among all, if all are).
    """

    kernels: tuple[Kernel, ...]
    widths: np.ndarray
    gammas: np.ndarray
    scores: np.ndarray
    degenerate: tuple[str, ...]
    median: float | None
    best: int

    __repr__ = brief

    @property
    def mean(self) -> np.ndarray:
        """The criterion at each width, averaged over the folds."""
        return self.scores.mean(axis=1)

    @property
    def sd(self) -> np.ndarray:
        """The standard deviation of the criterion over the folds."""
        return self.scores.std(axis=1, ddof=1)


@dataclass(frozen=True, eq=False, repr=False)
class KernelChoice:
    """The criterion of each kernel and width for kernel PCA.

    Attributes
    ----------
    curves : dict of str to WidthCurve
        For each kernel its scores at every width.
    criterion : str
        The criterion.
    n_components : int
        Number of components of kernel PCA.
    n_rows : int
        Number of rows used.
    name : str
        The best kernel.
    """

    curves: dict[str, WidthCurve]
    criterion: str
    n_components: int
    n_rows: int
    name: str

    @property
    def curve(self) -> WidthCurve:
        """The curve of the best kernel."""
        return self.curves[self.name]

    @property
    def kernel(self) -> Kernel:
        """The best kernel at its best width, for ``KernelPCA(kernel=...)``."""
        return self.curve.kernels[self.curve.best]

    @property
    def width(self) -> float:
        """The width s of the best kernel: exp(-d²/(2 s²)), or exp(-d/s) for the Laplace kernel; NaN if it has none."""
        return float(self.curve.widths[self.curve.best])

    @property
    def gamma(self) -> float:
        """The gamma of the best kernel; NaN if it has no width."""
        return float(self.curve.gammas[self.curve.best])

    @property
    def score(self) -> float:
        """The criterion of the best kernel, averaged over the folds."""
        return float(self.curve.mean[self.curve.best])

    @property
    def table(self) -> list[dict[str, Any]]:
        """One dict for each kernel at its best width, the best kernel first."""
        rows = []
        for name, c in self.curves.items():
            numbers = {
                "width": c.widths[c.best],
                "gamma": c.gammas[c.best],
                "score": c.mean[c.best],
                "sd": c.sd[c.best],
            }
            rows.append(
                {"kernel": name} | {key: float(v) for key, v in numbers.items()} | {"end": c.degenerate[c.best]}
            )
        sign = -1 if self.criterion == "rnx" else 1
        return sorted(rows, key=lambda row: sign * row["score"])

    def plot(self) -> Any:
        """Draw the criterion over the widths, with the median rule, the choice and the degenerate ends.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        import lowdim

        return lowdim.plot.kernel_choice(self)

    def _lines(self) -> list[str]:
        return [
            f"{row['kernel']:<{max(map(len, self.curves))}}  "
            + ("as given       " if np.isnan(row["width"]) else f"width {row['width']:<9.4g}")
            + f"  {row['score']:.4f} ± {row['sd']:.4f}  {row['end']}".rstrip()
            for row in self.table
        ]

    def _title(self) -> str:
        better = "higher" if self.criterion == "rnx" else "lower"
        return f"{self.criterion} of {self.n_components} components on {self.n_rows} rows ({better} is better)"

    def __repr__(self) -> str:
        return "\n".join([f"Kernel: {self.kernel!r}", f"  {self._title()}", *(f"  {line}" for line in self._lines())])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td><code>{escape(line)}</code></td></tr>" for line in self._lines())
        return f"<table><caption>{escape(repr(self.kernel))}: {escape(self._title())}</caption>{rows}</table>"


@params.checked("kernel_width")
def kernel_width(
    X: Any,
    kernel: Any = "rbf",
    *,
    n_components: int = 2,
    criterion: str | None = None,
    y: Any = None,
    widths: Any = None,
    preimage: str = "ridge",
    n_folds: int = 5,
    max_rows: int = 1000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> KernelChoice:
    """Choose the kernel of kernel PCA and its width, by cross-validation.

    * reconstruction: squared reconstruction error of left-out rows, over their squared distance to the mean. For uses
      of the inverse transform, such as denoising; with as many components as columns the linear kernel is hard to beat.
    * feature_error: relative reconstruction error of left-out rows in feature space. Each width has its own feature
      space, and that of a wide kernel has fewer effective dimensions: look at the whole curve, not only at its minimum.
    * rnx: area under R_NX of the embedding with Euclidean distances in X as reference (no rows are left out).
    * labels: nearest-neighbour error of left-out rows; needs `y`.

    Distances are computed once for all widths: by default two decades of gamma on either side of the median rule.
    Both ends are degenerate: to a wide kernel all rows are nearly equal, to a narrow one all are dissimilar. These
    widths are marked and not chosen; a warning is issued if the criterion improves towards one of the ends.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    kernel : str, kernel object, or a list of them
        Kernels with a width given by name ("rbf", "laplacian") are tried at every width; other names and kernel
        objects as they are.
    n_components : int
        Number of components of kernel PCA.
    criterion : {"reconstruction", "feature_error", "rnx", "labels"}, optional
        The criterion. Default: "labels" with `y`, else "reconstruction".
    y : array-like of shape (n,), optional
        Labels.
    widths : sequence of float, optional
        Widths s to try: exp(-d²/(2 s²)) for "rbf", exp(-d/s) for "laplacian".
    preimage : {"ridge", "fixed_point", "distance"}
        The inverse transform for "reconstruction", as in ``KernelPCA``.
    n_folds : int
        Number of folds.
    max_rows : int
        Of more rows a random sample of this size is used: each width takes a few eigenproblems of this size.
    random_state : int, generator or None
        Seed; the same int gives the same result. It determines the sample and the folds.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    KernelChoice
        The choice, and the curve of every kernel.

    References
    ----------
    Alam and Fukumizu (2014), Journal of Computer Science 10. Lee et al. (2015), Neurocomputing 169.

    Examples
    --------
    >>> import lowdim
    >>> shells = lowdim.datasets.concentric_spheres(200, random_state=0)
    >>> found = lowdim.select.kernel_width(shells.X, ["rbf", "linear"], y=shells.labels)
    >>> found.name
    'rbf'
    >>> Z = lowdim.KernelPCA(2, kernel=found.kernel).fit_transform(shells.X)
    """
    criterion = ("reconstruction" if y is None else "labels") if criterion is None else criterion
    params.check(OWNER, locals(), _SETTINGS)
    X, labels = _checked(X, y, criterion)
    rng = generator(random_state)
    some = np.sort(rng.choice(len(X), max_rows, replace=False)) if len(X) > max_rows else np.arange(len(X))
    X, labels = X[some], None if labels is None else labels[some]
    if not n_components <= len(X):
        raise ValueError(f"{OWNER}: n_components must be at most the number of rows, {len(X)}; got {n_components}.")
    if not n_folds <= len(X):
        raise ValueError(f"{OWNER}: n_folds must be at most the number of rows, {len(X)}; got {n_folds}.")
    folds = tuple(np.sort(part) for part in np.array_split(rng.permutation(len(X)), n_folds))
    task = Task(X, labels, n_components, criterion, preimage, folds, n_jobs, OWNER)
    named, distances = _named(kernel, X), Distances(X)
    if criterion == "reconstruction":
        for candidate in named.values():
            check_preimage(preimage, candidate.kernel, OWNER)
    curves = {name: _curve(one, _grid(widths), distances, task) for name, one in named.items()}
    sign = -1 if criterion == "rnx" else 1
    best = min(curves, key=lambda name: sign * curves[name].mean[curves[name].best])
    _warn_at_ends(curves[best], sign, best)
    return KernelChoice(curves, criterion, n_components, len(X), best)


_SETTINGS = {
    "n_components": params.whole(1),
    "criterion": params.one_of(*CRITERIA),
    "preimage": params.one_of(*PREIMAGE_METHODS),
    "n_folds": params.whole(2),
    "max_rows": params.whole(10),
    "random_state": params.seed(),
    "n_jobs": params.jobs(),
}


def _checked(X: Any, y: Any, criterion: str) -> tuple[np.ndarray, np.ndarray | None]:
    refuse_streams(X, f"{OWNER}: X")
    missing.refuse_disguised(X, OWNER)
    with naming_text(X, OWNER):
        X = check_array(X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=4, input_name="X")
    missing.refuse_scale(missing.refuse(X, OWNER), OWNER)
    if not np.ptp(X, axis=0).any():
        raise ValueError(f"{OWNER}: X must have at least two different rows; all {len(X)} are equal.")
    if criterion != "labels":
        return X, None
    if y is None:
        raise ValueError(f"{OWNER}: y must have a label for each row with criterion='labels'; got None.")
    if np.shape(y) not in ((len(X),), (len(X), 1)):
        raise ValueError(f"{OWNER}: y must have a label for each of the {len(X)} rows; got {params.shown(y)}.")
    labels = np.unique(column_or_1d(y), return_inverse=True)[1]
    if not labels.any():
        raise ValueError(
            f"{OWNER}: y must have at least two classes; got one. Without y, the criterion is reconstruction."
        )
    return X, labels


def _grid(widths: Any) -> np.ndarray | None:
    if widths is None:
        return None
    try:
        given = np.atleast_1d(np.asarray(widths, dtype=np.float64))
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim != 1 or not given.size or not ((given > 1 / WIDEST) & (given < WIDEST)).all():
        raise ValueError(f"{OWNER}: widths must be positive numbers from {1 / WIDEST:g} to {WIDEST:g}; got {widths!r}.")
    return np.unique(given)


@dataclass(frozen=True)
class _Candidate:
    """A kernel to try, as it is or at every width."""

    kernel: Kernel
    searched: bool


def _named(kernel: Any, X: np.ndarray) -> dict[str, _Candidate]:
    given = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    if not given:
        raise ValueError(f"{OWNER}: kernel must be a name, a kernel object or a list of them; got {kernel!r}.")
    found: dict[str, _Candidate] = {}
    for one in given:
        candidate = _candidate(one, X)
        if candidate.kernel.pairwise:
            raise ValueError(f"{OWNER}: kernel must be a function of rows; got {one!r}, which needs a matrix.")
        name = one if isinstance(one, str) else repr(candidate.kernel)
        if name in found:
            raise ValueError(f"{OWNER}: every kernel must be listed once; got {name} twice.")
        found[name] = candidate
    return found


def _candidate(one: Any, X: np.ndarray) -> _Candidate:
    if isinstance(one, str) and _kernel_criteria.has_width(unit := make_kernel(one, X, gamma=1.0, owner=OWNER)):
        return _Candidate(unit, True)
    return _Candidate(make_kernel(one, X, owner=OWNER), False)


def _curve(candidate: _Candidate, widths: np.ndarray | None, distances: Distances, task: Task) -> WidthCurve:
    kernel = candidate.kernel
    if candidate.searched:
        power, middle = _kernel_criteria.power_of(kernel), _kernel_criteria.median_gamma(kernel, distances)
        # From narrow to wide; s² = 1 / (2 gamma) where the distance is squared, s = 1 / gamma where it is not.
        gammas = middle * GRID[::-1] if widths is None else 1.0 / (power * widths**power)
        kernels = [_kernel_criteria.with_gamma(kernel, gamma) for gamma in gammas]
        widths, median = (power * gammas) ** (-1 / power), float((power * middle) ** (-1 / power))
    else:
        kernels, gammas, widths, median = [kernel], np.array([np.nan]), np.array([np.nan]), None
    scores, ends = _kernel_criteria.score_each(kernels, distances, task)
    sound = np.array([end == "" for end in ends])
    worth = scores.mean(axis=1) * (-1 if task.criterion == "rnx" else 1)
    best = int(np.argmin(np.where(sound | ~sound.any(), worth, np.inf)))
    return WidthCurve(tuple(kernels), widths, gammas, scores, tuple(ends), median, best)


def _warn_at_ends(curve: WidthCurve, sign: int, name: str) -> None:
    """Warn if a degenerate width has a better score than the chosen one, or if all widths are degenerate."""
    if end := curve.degenerate[curve.best]:
        warn(f"{OWNER}: every width of {name!r} is at {ENDS[end]}; try other widths.")
        return
    worth = sign * curve.mean
    for end, words in ENDS.items():
        there = np.array([found == end for found in curve.degenerate])
        if there.any() and worth[there].min() < worth[curve.best]:
            warn(f"{OWNER}: the criterion of {name!r} improves towards {words}.")
