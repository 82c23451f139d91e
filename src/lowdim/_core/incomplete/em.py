"""Maximum likelihood of linear-Gaussian models by EM: expectations, updates, the accelerated loop, initial values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from lowdim._core.accelerate import History, Point, accelerated
from lowdim._core.incomplete.batched_linalg import SWEEP, unpacked
from lowdim._core.incomplete.gaussian import BLOCK_BYTES, FLOOR, LANES, Gaussian, Posterior
from lowdim._core.iterate import Callback, Run, iterate
from lowdim._core.runtime import threads

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows for the maximisation; v = (z, 1), y in units of the noise about the current mean."""

    log_likelihood: float
    misfit: float  # expected square of y - B z
    vv: Array  # (d, q) E[v v'] packed, over rows in which the column is observed
    vv_all: Array  # (q,) the same over all rows
    yv: Array  # (d, r + 1) sum of y E[v]'
    yy: Array  # (d,) sum of y²

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def moments(self) -> Array:
        """E[v v'] for each column: (d, r + 1, r + 1)."""
        return np.moveaxis(unpacked(self.vv.T, self.yv.shape[1]), -1, 0)

    @property
    def moments_all(self) -> Array:
        """E[v v'] over all rows: (r + 1, r + 1)."""
        return unpacked(self.vv_all[:, None], self.yv.shape[1])[..., 0]

    @property
    def counts(self) -> Array:
        """Observed cells of each column."""
        return self.vv[:, -1]


def expectations(X: Array, model: Gaussian) -> Sums:
    """One pass over the rows: the expectation step of EM, and the log-likelihood of the observed cells."""
    block = model._block()
    lane = block * max(1, -(-len(X) // (block * LANES)))
    order = by_pattern(X) if model.rank > SWEEP else None

    def of_lane(rows: slice) -> Sums:
        own = X[rows if order is None else order[rows]]
        parts = (own[part] for part in threads.blocks(len(own), block))
        return reduce(Sums.__add__, (_block_sums(model._posterior(x, share=order is not None)) for x in parts))

    return reduce(Sums.__add__, threads.map_rows(of_lane, len(X), lane, model.n_jobs))


def by_pattern(X: Array) -> Array | None:
    """An order of the rows in which those that miss the same cells follow each other; None where few do."""
    patterns, which = np.unique(np.packbits(np.isnan(X), axis=1), axis=0, return_inverse=True)
    return np.argsort(which.reshape(-1), kind="stable") if 1 < len(patterns) <= len(X) // 2 else None


def _block_sums(post: Posterior) -> Sums:
    d = post.y.shape[1]
    v = np.vstack([post.z, np.ones(post.z.shape[1])])
    products, mask = _of_rows(v, post) if post.which is None else _of_patterns(v, post)
    total = products.sum(axis=1)
    seen = np.tile(total, (d, 1)) if mask is None else (products @ mask).T
    yy = np.einsum("ij,ij->j", post.y, post.y)
    return Sums(float(post.log_likelihood.sum()), float(post.misfit.sum()), seen, total, post.y.T @ v.T, yy)


def _of_rows(v: Array, post: Posterior) -> tuple[Array, Array | None]:
    """E[v v'] of each row, packed, and what is observed there."""
    r = len(v) - 1
    i, j = np.triu_indices(r + 1)
    products, inner = v[i] * v[j], j < r
    products[inner] += post.C[i[inner], j[inner]]
    return products, post.mask


def _of_patterns(v: Array, post: Posterior) -> tuple[Array, Array | None]:
    """The same summed over the rows of each pattern of missing cells."""
    if post.which is None or post.mask is None:
        return _of_rows(v, post)
    r = len(v) - 1
    i, j = np.triu_indices(r + 1)
    _, first, counts = np.unique(post.which, return_index=True, return_counts=True)
    products, inner = np.empty((len(i), len(first))), j < r
    for p, count in enumerate(counts):
        own = v[:, post.which == p]
        products[:, p] = (own @ own.T)[i, j]
        products[inner, p] += count * post.C[i[inner], j[inner], p]
    return products, post.mask[first]


def maximized(model: Gaussian, sums: Sums, floor: float | Array, penalty: Array | None = None) -> Gaussian:
    """The maximisation step: (w_j, mean_j) of each column jointly, the noise, then the scale of z set free.

    Letting z be N(nu, Gamma) and folding both into mean and W afterwards (parameter-expanded EM, Liu, Rubin and Wu,
    1998) keeps the likelihood monotone and takes far fewer steps. `penalty` is the precision of a normal prior on each
    column of W; it ties the scale of z down, so nothing is set free then.
    """
    sd, r, moments = np.sqrt(model._noise()), model.rank, sums.moments
    precise = moments.copy()
    if penalty is not None:
        precise[:, range(r), range(r)] += model._noise()[:, None] * penalty
    theta = np.linalg.solve(precise, sums.yv[:, :, None])[:, :, 0]
    noise = _noise_step(model, sums, moments, theta)
    W, mean = theta[:, :r] * sd[:, None], model.mean + theta[:, r] * sd
    if penalty is None:
        spread = sums.moments_all / sums.vv_all[-1]
        nu = spread[:r, r]
        mean = mean + W @ nu
        W = W @ np.linalg.cholesky(spread[:r, :r] - np.outer(nu, nu))
    return replace(model, mean=mean, loadings=W, noise=np.maximum(noise, floor))


def _noise_step(model: Gaussian, sums: Sums, moments: Array, theta: Array) -> float | Array:
    """Mean expected square that new (w_j, mean_j) in units of the noise leave.

    One noise for all columns may be tiny beside the signal: it comes from what was left before and the change, not
    from a difference of large sums.
    """
    fitted = np.einsum("jkl,jl->jk", moments, theta)
    if np.ndim(model.noise):
        left = sums.yy + np.einsum("jk,jk->j", theta, fitted - 2 * sums.yv)
        return left * model._noise() / sums.counts
    before = np.zeros_like(theta)
    before[:, :-1] = model.loadings / np.sqrt(model.noise)
    change = theta - before
    gained = np.einsum("jk,jk->", change, 2 * sums.yv - fitted - np.einsum("jkl,jl->jk", moments, before))
    return float((sums.misfit - gained) * model.noise / sums.counts.sum())


def fit_gaussian(
    X: Array,
    r: int,
    *,
    noise: str = "isotropic",
    floor: float = FLOOR,
    tol: float = 1e-9,
    max_iter: int = 1000,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    start: Gaussian | None = None,
    owner: str = "fit_gaussian",
    verbose: int | bool = 0,
    warn: bool = True,
    callback: Callback | None = None,
) -> tuple[Gaussian, Run]:
    """Maximum likelihood for rows with missing cells, by accelerated EM on what is observed.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows; NaN is a missing cell. Every column has an observed one.
    r : int
        Number of latent coordinates.
    noise : {"isotropic", "diagonal"}
        One noise variance for all columns (probabilistic PCA), or one each (factor analysis).
    floor : float
        Least noise variance, relative to the mean variance of the columns (or to each column's own).
    tol : float
        Stop when the log-likelihood per observed cell moves by less.
    max_iter : int
        Most steps.
    rng : Generator
        For the start.
    n_jobs : int, optional
        Threads; the bits do not depend on it.
    start : Gaussian, optional
        Where to start; None takes principal axes of the rows with holes at the column means.
    owner, verbose, warn
        For messages; `warn` False says nothing where `max_iter` was not enough.
    callback : callable, optional
        callback(step, loss, model so far) after each step; returning True stops.

    Returns
    -------
    tuple of Gaussian and Run
        The run's losses are minus the log-likelihood per observed cell; they never rise.
    """
    mean, variance = observed_moments(X, n_jobs)
    check_varies(mean, float(variance.mean()), X.dtype, owner)
    start = initial(X, r, mean, variance, noise, rng, n_jobs) if start is None else start
    varies = np.where(variance > 0, variance, variance.mean()) if noise == "diagonal" else variance.mean()
    least = np.where(variance > 0, max(floor, FLOOR), FLOOR) * varies if noise == "diagonal" else floor * varies
    frame = Frame(start, np.sqrt(np.broadcast_to(varies, mean.shape)), least)

    def evaluate(place: Array) -> Point:
        model = frame.model(place)
        sums = expectations(X, model)
        return Point(place, frame.place(maximized(model, sums, least)), -sums.log_likelihood / sums.counts.sum())

    def collapsed(_: int, history: tuple[Point, ...], __: float) -> bool:
        """Without noise the likelihood has no maximum: it would only be climbed to where digits run out."""
        models = (frame.model(place) for place in (history[-1].place, history[-1].image))
        return noise == "isotropic" and all(model.noise <= 1.0001 * least for model in models)

    first: History = (evaluate(frame.place(start)),)
    run = iterate(
        accelerated(evaluate),
        first,
        max_iter=max_iter,
        tol=tol,
        owner=owner,
        criterion="absolute",
        monotone=True,
        until=collapsed,
        callback=callback,
        show=lambda history: frame.model(history[-1].place),
        verbose=verbose,
        warn=warn,
    )
    return frame.model(run.state[-1].place), run


@dataclass(frozen=True, eq=False)
class Frame:
    """Model <-> vector of numbers of about the same size, in which places can be combined."""

    like: Gaussian
    scale: Array  # of each column
    least: float | Array  # noise

    def place(self, model: Gaussian) -> Array:
        noise = np.log(np.atleast_1d(model.noise))
        return np.concatenate([(model.loadings / self.scale[:, None]).ravel(), model.mean / self.scale, noise])

    def model(self, place: Array) -> Gaussian:
        d, r = self.like.loadings.shape
        W = place[: d * r].reshape(d, r) * self.scale[:, None]
        highest = 2 * np.log(1e3 * self.scale)  # a jump may land anywhere
        noise = np.exp(np.minimum(place[d * (r + 1) :], highest if np.ndim(self.like.noise) else highest.max()))
        noise = np.maximum(noise if np.ndim(self.like.noise) else noise[0], self.least)
        return replace(self.like, loadings=W, mean=place[d * r : d * (r + 1)] * self.scale, noise=noise)


def observed_moments(X: Array, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Mean and variance (divisor: the count) of the observed cells of each column, in two passes."""
    block = max(1, BLOCK_BYTES // (8 * X.shape[1]))
    counts = np.sum(threads.map_rows(lambda rows: (~np.isnan(X[rows])).sum(axis=0), len(X), block, n_jobs), axis=0)

    def mean_of(of: object) -> Array:
        parts = threads.map_rows(
            lambda rows: np.nansum(of(X[rows].astype(np.float64)), axis=0),  # type: ignore[operator]
            len(X),
            block,
            n_jobs,
        )
        return np.sum(parts, axis=0) / counts

    mean = mean_of(lambda x: x)
    mean = mean + mean_of(lambda x: x - mean)
    return mean, mean_of(lambda x: (x - mean) ** 2)


def check_varies(mean: Array, variance: float, dtype: np.dtype, owner: str) -> None:
    """Rows that differ by no more than the rounding of their mean have no distribution."""
    if not variance > (float(np.finfo(dtype).eps) * float(np.abs(mean).max())) ** 2:
        raise ValueError(f"{owner}: the rows of X must vary; all are equal.")


def initial(
    X: Array,
    r: int,
    mean: Array,
    variance: Array,
    noise: str,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Gaussian:
    """Principal axes (subspace iteration) of the rows with their holes at the column means."""
    size = np.sqrt(np.where(variance > 0, variance, variance.mean())) if noise == "diagonal" else np.ones(len(mean))
    block = max(1, BLOCK_BYTES // (8 * X.shape[1]))

    def product(Q: Array) -> Array:
        def of(rows: slice) -> Array:
            y = (X[rows] - mean) / size
            y[np.isnan(y)] = 0.0
            return y.T @ (y @ Q)

        return reduce(np.add, threads.map_rows(of, len(X), block, n_jobs)) / len(X)

    Q = np.linalg.qr(rng.standard_normal((X.shape[1], r)))[0]
    for _ in range(6):
        Q = np.linalg.qr(product(Q))[0]
    values, turn = np.linalg.eigh(Q.T @ product(Q))
    total = (variance / size**2).sum()
    rest = max(total - values.sum(), 0.1 * total) / X.shape[1]
    W = Q @ turn * np.sqrt(np.maximum(values, 0.1 * rest)) * size[:, None]
    return Gaussian(mean, W, rest * size**2 if noise == "diagonal" else rest, n_jobs)
