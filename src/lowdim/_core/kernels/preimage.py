"""Pre-images: the row z whose image phi(z) is nearest to a point m + sum_j y_j v_j of feature space.

Such a point is seldom the image of any row, so that only a nearest one can be found. `fixed_point` iterates to it (Mika
et al., 1998), `by_distances` computes a row from its distances to its neighbours in one step (Kwok and Tsang, 2003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot

from lowdim._core import kernels
from lowdim._core.distances import squared_norms
from lowdim._core.kernels import Kernel
from lowdim._core.kernels.gradients import Arguments, OwnArguments, is_smooth, slopes
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn

Array = np.ndarray

PREIMAGE_METHODS = ("ridge", "fixed_point", "distance")
TOL = 1e-7  # length of the last step, in units of the spread of the fitted rows
MAX_ITER = 1000
FLAT = 1e-5  # singular values of a neighbourhood below this share of the largest are noise
_NOTHING = 1e-10  # kernel values below this share of k(x, x) give no distance, by rounding
_CELLS = 2**21  # kernel values in memory at once


@dataclass(frozen=True, eq=False)
class Span:
    """Points m + sum_j y_j v_j of feature space, the mean and the axes being sums of images of known rows.

    With phi_i the image of row i: m = sum_i mean_i phi_i and v_j = sum_i axes_ij phi_i, the v_j orthonormal.
    """

    kernel: Kernel
    rows: Any  # (n, d), dense or sparse
    axes: Array  # (n, r)
    mean: Array  # (n,)
    offset: Array  # (n,): m'phi_i
    scores: Array  # (n, r): (phi_i - m)'v_j
    size: float  # m'm

    @cached_property
    def shift(self) -> Array:
        """m'v_j."""
        return self.offset @ self.axes

    def weights(self, Y: Array) -> Array:
        """The point as a sum of images: its weights, one row for each row of Y. They add up to 1.

        The weights of the mean are the "centring correction" that some programs leave out.
        """
        return Y @ self.axes.T + self.mean

    def products(self, Y: Array) -> Array:
        """Inner products of the points with the images of the rows."""
        return Y @ (self.scores + self.shift).T + self.offset

    def norms(self, Y: Array) -> Array:
        """Squared lengths of the points."""
        return self.size + 2 * Y @ self.shift + (Y**2).sum(axis=1)


def is_linear(kernel: Kernel) -> bool:
    """Whether the kernel is x'y, a multiple of it or that and a constant: then points of feature space are rows."""
    if isinstance(kernel, kernels.Polynomial):
        return kernel.degree == 1
    return isinstance(kernel, kernels.Linear) or (isinstance(kernel, kernels.Scaled) and is_linear(kernel.kernel))


def shift_of(kernel: Kernel, rows: Any) -> Array | None:
    """The mean of the rows where the kernel is linear, else None.

    The centred kernel is the same without it, with more digits: for rows at 1e6 from the origin, x'y would lose twelve
    digits before centring.
    """
    if not is_linear(kernel) or kernel.pairwise or sparse.issparse(rows):
        return None
    return np.asarray(rows.mean(axis=0, dtype=np.float64))


def shifted(rows: Any, shift: Array | None) -> Any:
    """Rows less the shift, if there is one."""
    return rows if shift is None else (rows - shift).astype(rows.dtype, copy=False)


def check_preimage(method: str, kernel: Kernel, owner: str) -> None:
    """ValueError for a method that the kernel does not support, before anything is computed."""
    if method == "ridge" or (is_linear(kernel) and not kernel.pairwise):
        return
    if kernel.pairwise:
        raise ValueError(
            f"{owner}: preimage must be 'ridge' for a precomputed kernel, which has no rows; got {method!r}."
        )
    if holes := getattr(kernel, "holes", None):
        raise ValueError(
            f"{owner}: preimage must be 'ridge' with missing={holes.policy!r}, whose rows are distributions; got "
            f"{method!r}. Or complete the rows first, with lowdim.PCA().fit(X).completed_, and leave `missing` out."
        )
    if method == "fixed_point" and not is_smooth(kernel):
        also = " or preimage='distance'" if has_distances(kernel) else ""
        raise ValueError(
            f"{owner}: preimage='fixed_point' must go with a kernel whose gradient is known (RBF, Polynomial, Linear "
            f"and their combinations); got {kernel!r}. Use preimage='ridge'{also}."
        )
    if method == "distance" and not has_distances(kernel):
        also = " or preimage='fixed_point'" if is_smooth(kernel) else ""
        raise ValueError(
            f"{owner}: preimage='distance' must go with a kernel from which Euclidean distances follow (RBF, Laplace "
            f"with norm='l2', Polynomial of odd degree); got {kernel!r}. Use preimage='ridge'{also}."
        )


def find_preimages(
    span: Span, Y: Array, method: str, *, n_neighbors: int = 10, n_jobs: int | None, owner: str
) -> Array:
    """Rows for the points Y, by "fixed_point" or "distance"; with a linear kernel the points are rows."""
    if is_linear(span.kernel):
        return np.asarray(safe_sparse_dot(span.weights(Y), span.rows, dense_output=True))
    if method == "distance":
        return by_distances(span, Y, n_neighbors, n_jobs)
    return fixed_point(span, Y, [], n_jobs=n_jobs, owner=owner).rows


# ---- fixed point -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Found:
    """Rows, the squared distances of their images to the points, and which iterations converged."""

    rows: Array
    error: Array
    converged: Array


@dataclass(frozen=True, eq=False)
class _State:
    """States of iterations: rows z, loss k(z,z) - 2 sum_i w_i k(z,x_i), its rounding error, and the next step."""

    z: Array
    loss: Array
    slack: Array
    step: Array

    def where(self, better: Array, other: _State) -> _State:
        return _State(
            np.where(better[:, None], other.z, self.z),
            np.where(better, other.loss, self.loss),
            np.where(better, other.slack, self.slack),
            np.where(better[:, None], other.step, self.step),
        )

    def __getitem__(self, some: Array) -> _State:
        return _State(self.z[some], self.loss[some], self.slack[some], self.step[some])


def fixed_point(
    span: Span, Y: Array, starts: list[Array], *, max_iter: int = MAX_ITER, n_jobs: int | None = None, owner: str
) -> Found:
    """The row with the nearest image, by the fixed-point form of its zero gradient: for a Gaussian kernel

        z <- sum_i w_i k(z, x_i) x_i / sum_i w_i k(z, x_i),

    w being the weights of the point. A step that raises the distance is halved, and after a successful step the next
    one is longer, so that the distance never rises. All points are iterated together, each from the best of `starts`;
    where an iteration does not converge, the next start is tried, and the best row found is kept.

    Parameters
    ----------
    span : Span
        The feature space and its axes.
    Y : ndarray of shape (q, r)
        Coordinates of the points.
    starts : list of ndarray of shape (q, d)
        Initial rows; the nearest rows and the mean of the rows by the weights of the point are added.
    max_iter : int
        Steps of each iteration.
    n_jobs : int or None
        Threads; no result depends on them.
    owner : str
        For the warning that counts the iterations that did not converge.
    """

    def part(some: slice) -> Found:
        return _iterated(span, Y[some], [start[some] for start in starts], max_iter)

    found = threads.map_rows(part, len(Y), max(8, min(256, _CELLS // span.rows.shape[0])), n_jobs)
    result = Found(*(np.concatenate([getattr(f, name) for f in found]) for name in ("rows", "error", "converged")))
    if not result.converged.all():
        warn(
            f"{owner}: the fixed-point iteration for pre-images did not converge within {max_iter} steps for "
            f"{int((~result.converged).sum())} of {len(Y)} points; the best rows found are returned.",
            ConvergenceWarning,
        )
    return result


def _iterated(span: Span, Y: Array, starts: list[Array], max_iter: int) -> Found:
    W, scale = span.weights(Y), spread(span.rows)
    begun = [_look(span, W, z) for z in [*starts, *_usual_starts(span, Y, W)]]
    order = np.argsort([state.loss for state in begun], axis=0, kind="stable")
    best, converged = _chosen(begun, order[0]), np.zeros(len(Y), dtype=bool)
    for turn in order:
        left = np.flatnonzero(~converged)
        if not left.size:
            break
        reached, ended = _from_start(span, W[left], _chosen(begun, turn)[left], max_iter, TOL * scale)
        best_there = best[left]
        better = ended | (reached.loss < best_there.loss)  # a later start that converges to a worse row is not kept
        better &= reached.loss <= best_there.loss + best_there.slack
        merged = best_there.where(better, reached)
        best = _put(best, left, merged)
        converged[left] = ended & better
    error = np.maximum(best.loss + span.norms(Y), 0.0)
    return Found(best.z, error, converged)


def _from_start(span: Span, W: Array, state: _State, max_iter: int, tol: float) -> tuple[_State, Array]:
    """Iterate until the steps are short, and which converged; these leave the batch."""
    result, ended = state, np.zeros(len(W), dtype=bool)
    here, length = np.arange(len(W)), np.ones(len(W))
    for _ in range(max_iter):
        tried = _look(span, W[here], state.z + length[:, None] * state.step)
        gain = state.loss - tried.loss
        better, sure = gain >= -state.slack, gain > state.slack
        state = state.where(better, tried)
        # Longer steps halve their number; where the gain is within rounding, only the plain step surely contracts.
        length = np.where(sure, np.minimum(1.5 * length, 16.0), np.where(better | (length > 1), 1.0, 0.5 * length))
        moving = np.sqrt((state.step**2).sum(axis=1))
        ended[here] = moving <= tol
        result = _put(result, here, state)
        stay = (moving > tol) & (length > 1e-12)
        here, state, length = here[stay], state[stay], length[stay]
        if not here.size:
            break
    return result, ended


def _look(span: Span, W: Array, z: Array) -> _State:
    """The loss at z and the step that its fixed point proposes.

    Half the negative gradient is sum_i w_i (a_i + b_i) x_i - t z with t = b(z) + sum_i w_i a_i; the fixed point divides
    it by t. Where t is not clearly positive, as with weights of both signs, it is divided by the sum of the absolute
    values instead: a shorter step that still lowers the loss.
    """
    value, a, b = slopes(span.kernel, Arguments(z, span.rows))
    own, _, growth = slopes(span.kernel, OwnArguments(z, None))
    pull = W * (a + b)
    total = growth + (W * a).sum(axis=1) if np.ndim(a) else growth * np.ones(len(z))
    size = np.abs(growth) + np.abs(W * a).sum(axis=1) if np.ndim(a) else np.abs(total)
    downhill = np.asarray(safe_sparse_dot(pull, span.rows, dense_output=True)) - total[:, None] * z
    divisor = np.where(total > 0.1 * size, total, size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = downhill / divisor[:, None]  # NaN where all kernel values vanish: another start is tried
    loss = own - 2 * (W * value).sum(axis=1)
    slack = 4 * np.finfo(np.float64).eps * (np.abs(own) + 2 * np.abs(W * value).sum(axis=1))
    return _State(z, np.where(np.isfinite(loss), loss, np.inf), slack, step)


def _usual_starts(span: Span, Y: Array, W: Array) -> list[Array]:
    """The fitted row with the nearest image, and the mean of all rows by the weights of the point.

    On rings, half moons and digits, with wide and narrow kernels, starts from the learned inverse, from the row of
    `by_distances` or from the noisy row itself ended no nearer.
    """
    far = span.kernel.diag(span.rows) - 2 * span.products(Y)
    return [_dense(span.rows[np.argmin(far, axis=1)]), np.asarray(safe_sparse_dot(W, span.rows, dense_output=True))]


def _chosen(states: list[_State], which: Array) -> _State:
    rows = np.arange(len(which))
    return _State(*(np.stack([getattr(s, f) for s in states])[which, rows] for f in ("z", "loss", "slack", "step")))


def _put(states: _State, at: Array, new: _State) -> _State:
    found = []
    for name in ("z", "loss", "slack", "step"):
        values = getattr(states, name).copy()
        values[at] = getattr(new, name)
        found.append(values)
    return _State(*found)


def spread(rows: Any) -> float:
    """Root mean squared distance of the rows to their mean."""
    mean = np.asarray(rows.mean(axis=0)).ravel()
    square = float(squared_norms(rows).mean() - mean @ mean) if sparse.issparse(rows) else float(rows.var(axis=0).sum())
    return float(np.sqrt(max(square, 0.0))) or 1.0


def _dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


# ---- by distances --------------------------------------------------------------------------------------------


def by_distances(span: Span, Y: Array, n_neighbors: int, n_jobs: int | None = None) -> Array:
    """The row whose distances to the nearest fitted rows follow from the point's distances in feature space.

    For a Gaussian kernel a distance e in feature space is the squared distance -ln(1 - e²/2) / gamma between rows. With
    the singular value decomposition of the neighbours about their mean, the row that has these distances to them is the
    mean plus one matrix product.

    Parameters
    ----------
    span : Span
        The feature space and its axes; `has_distances` must hold for its kernel.
    Y : ndarray of shape (q, r)
        Coordinates of the points.
    n_neighbors : int
        Number of rows whose distances are used.
    n_jobs : int or None
        Threads; no result depends on them.
    """
    n, d = span.rows.shape
    k = min(n_neighbors, n)

    def part(some: slice) -> Array:
        far, squares = _squares(span, Y[some])
        near = np.argsort(far, axis=1, kind="stable")[:, :k]
        rows = _dense(span.rows[near.ravel()]).reshape(len(near), k, d)
        return _located(rows, np.take_along_axis(squares, near, axis=1))

    return np.concatenate(threads.map_rows(part, len(Y), max(8, min(256, _CELLS // max(n, k * d))), n_jobs))


def has_distances(kernel: Kernel) -> bool:
    """Whether distances between rows follow from values of the kernel, as `by_distances` needs."""
    return _is_odd(kernel) or _from_value(kernel) is not None


def _is_odd(kernel: Kernel) -> bool:
    return isinstance(kernel, kernels.Polynomial) and kernel.degree % 2 == 1


def _from_value(kernel: Kernel) -> Callable[[Array], Array] | None:
    """k(x, y) / k(x, x) -> |x - y|², for kernels that are decreasing functions of the Euclidean distance."""
    if isinstance(kernel, kernels.RBF):
        return lambda v: -np.log(v) / kernel.gamma
    if isinstance(kernel, kernels.Laplace) and kernel.norm == "l2":
        return lambda v: (np.log(v) / kernel.gamma) ** 2
    if type(kernel).__name__ == "RationalQuadratic":
        gamma, alpha = kernel.gamma, kernel.alpha  # type: ignore[attr-defined]
        return lambda v: alpha * (v ** (-1 / alpha) - 1) / gamma
    if isinstance(kernel, kernels.Scaled):
        return _from_value(kernel.kernel)
    if isinstance(kernel, kernels.Power) and kernel.exponent > 0:
        inner = _from_value(kernel.kernel)
        return None if inner is None else lambda v: inner(v ** (1 / kernel.exponent))
    return None


def _squares(span: Span, Y: Array) -> tuple[Array, Array]:
    """Values that sort the rows by distance, and the squared distances, up to a constant for each point."""
    products, kernel = span.products(Y), span.kernel
    invert = _from_value(kernel)
    if invert is None:  # a polynomial: inner products of rows by an odd root
        assert isinstance(kernel, kernels.Polynomial)
        root = np.sign(products) * np.abs(products) ** (1 / kernel.degree)
        squares = squared_norms(span.rows) - 2 * (root - kernel.coef0) / kernel.gamma
        return squares, squares
    own = float(kernel.diag(span.rows[:1])[0])
    # e² = 2 k(x,x) - 2 k, as if the point had the length of images of rows.
    value = (products + 0.5 * (own - span.norms(Y))[:, None]) / own
    return -value, np.where(value > _NOTHING, invert(np.clip(value, _NOTHING, 1.0)), np.inf)


def _located(rows: Array, squares: Array) -> Array:
    """The points with given squared distances (q, k) to rows (q, k, d), in the flat through them.

    Distances are infinite where the kernel is 0 to rounding: such rows are left out, and the nearest row is the result
    where all are.
    """
    known = np.isfinite(squares)
    known[:, 0] = True
    mean = (rows * known[:, :, None]).sum(axis=1) / known.sum(axis=1)[:, None]
    flat = np.where(known[:, :, None], rows - mean[:, None], 0.0)
    U, s, Vt = np.linalg.svd(flat, full_matrices=False)
    rounding = 1e-13 * np.sqrt((rows**2).sum(axis=(1, 2)))
    keep = s > np.maximum(FLAT * s[:, 0], rounding)[:, None]
    inverse = np.where(keep, 1 / np.where(keep, s, 1.0), 0.0)
    gaps = np.where(np.isfinite(squares), (flat**2).sum(axis=2) - squares, 0.0)
    along = 0.5 * np.einsum("qkj,qk->qj", U, gaps) * inverse
    return mean + np.einsum("qj,qjd->qd", along, Vt)
