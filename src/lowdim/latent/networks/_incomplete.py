"""Codes of incomplete rows, for networks with an encoder.

An encoder needs every cell. Training shows it the column means in the place of missing cells, then what the code
decodes to, `PASSES` times. Afterwards an incomplete row is encoded in one of two ways:

"iterative": after these passes, the code is moved to where its decoded row fits the observed cells best, under the
Gaussian prior that the fitted codes have: Newton steps on the decoder alone.

"multiple": the missing cells are drawn again and again from the decoded row and its noise, each time encoded, and the
codes averaged (a Markov chain; Rezende, Mohamed and Wierstra, 2014).

Random numbers are the same for every row, so that no row depends on those beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks._decoder_placement import Decoder, place
from lowdim.latent.networks._levels import Levels, angles_of, on_circles
from lowdim.latent.networks._network import Layers, Network

Array = np.ndarray
POLICIES = ("iterative", "multiple")
PASSES = 3  # of filling and encoding again, in training and before the Newton steps
MOST_PASSES, STILL = 100, 1e-8  # where there are no Newton steps; relative to the spread of a scaled cell
BURN_IN, DRAWS = 20, 40  # of missing cells
ANCHORS = 256  # fitted codes that the Newton steps may start from
REFERENCE = 4096  # fitted rows that the prior of codes is taken from
BLOCK = 256  # rows at a time


@dataclass(frozen=True, eq=False)
class Coder:
    """A fitted network on scaled rows."""

    encode: Callable[[Array], tuple[Array, Array | None]]  # complete rows -> codes and their log variances, if any
    decode: Callable[[Array], Array]  # codes -> means of cells
    draw: Callable[[Array, Any], Array]  # means of cells, generator -> cells with noise
    fill: Any  # what a missing cell is at first
    refine: Decoder | None = None  # of standardised codes; None where the code has bounds, or cells are not Gaussian
    center: Any = 0.0
    spread: Any = 1.0
    circular: bool = False


def split_rows(rows: Array) -> tuple[Array, Array]:
    """Rows with 0 for missing cells, and 1 where a cell is observed."""
    observed = ~np.isnan(rows)
    return np.where(observed, rows, 0.0).astype(np.float64), observed.astype(np.float64)


def encoded(coder: Coder, rows: Array, policy: str, n_jobs: int | None) -> tuple[Array, Array | None]:
    """Codes of incomplete scaled rows, as the decoder takes them, with their log variances where the model has them."""
    way = _multiple if policy == "multiple" else _iterative
    with threads.single_blas():
        parts = threads.map_rows(lambda block: way(coder, rows[block]), len(rows), BLOCK, n_jobs)
    codes, spreads = zip(*parts, strict=True)
    return np.concatenate(codes), None if spreads[0] is None else np.concatenate(spreads)


def prior(codes: Array, noise: float, *, centred: bool = True, circular: bool = False) -> dict[str, Any]:
    """What a model keeps of its codes for incomplete rows: mean, deviation, some of them, and the variance of a cell.

    Where components have an order, a code of 0 means that the component is not used: then codes are not centred.
    """
    center, spread = np.zeros(codes.shape[1]), np.ones(codes.shape[1])
    if not circular:
        center = codes.mean(axis=0) if centred else center
        spread = np.maximum(np.sqrt(np.square(codes - center).mean(axis=0)), 1e-12)
    return {"center": center, "spread": spread, "anchors": codes[some(len(codes), ANCHORS)], "noise": max(noise, 1e-9)}


def some(n: int, most: int) -> Array:
    """Numbers of at most so many of n rows, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))


def refining(net: Network, layers: Layers, levels: Levels, kept: dict[str, Any], *, circular: bool = False) -> Decoder:
    """The decoder of standardised codes, to find codes by Newton steps.

    Of codes with mean 0 and variance 1 the variance of a cell is also the weight of the squared code in the cost, which
    is minus the logarithm of the posterior then.
    """
    center, spread, anchors = kept["center"], kept["spread"], kept["anchors"]
    (W, b), *rest = layers
    places = angles_of(anchors) if circular else (anchors - center) / spread
    changed = [(spread[:, None] * W, b + center @ W), *rest]
    return Decoder(net, changed, levels, circular, 0.0 if circular else kept["noise"], places)


def reference(coder: Coder, rows: Array) -> tuple[Array, float]:
    """The codes of some of the fitted rows (sorted and scaled), and the variance of an observed cell about them."""
    rows = rows[some(len(rows), REFERENCE)]
    codes, _ = _passes(coder, rows, PASSES if np.isnan(rows).any() else 1)
    return codes, float(np.nanmean(np.square(coder.decode(codes) - rows)))


def all_codes(
    coder: Callable[[], Coder], complete: Any, rows: Array, kept: dict[str, Any] | None, n_jobs: int | None
) -> tuple[Array, Any]:
    """Codes and log variances of scaled rows; `complete` gives those of rows without missing cells."""
    holes = np.isnan(rows).any(axis=1)
    if not holes.any():
        found: tuple[Array, Any] = complete(rows)
        return found
    if kept is None:
        raise ValueError(
            "This model was fitted by an earlier release, which kept nothing to encode rows with missing cells by. Fit "
            "it again."
        )
    if holes.all():
        return encoded(coder(), rows, kept["policy"], n_jobs)
    parts = encoded(coder(), rows[holes], kept["policy"], n_jobs), complete(rows[~holes])
    merged = [None if part is None else np.empty((len(rows), part.shape[1])) for part in parts[0]]
    for target, first, second in zip(merged, *parts, strict=True):
        if target is not None:
            target[holes], target[~holes] = first, second
    return np.asarray(merged[0]), merged[1]


def gaussian_cells(variance: float) -> Callable[[Array, Any], Array]:
    """Cells drawn about their means."""
    return lambda means, rng: means + np.sqrt(variance) * rng.standard_normal(means.shape[1])


def bernoulli_cells(means: Array, rng: Any) -> Array:
    """Cells of 0 and 1 drawn with these probabilities."""
    return (rng.random(means.shape[1]) < means).astype(np.float64)


def completed(X: Array, decoded: Array) -> Array | None:
    """The rows with their missing cells filled in, the others as given; None where no cell is missing."""
    holes = np.isnan(X)
    return np.where(holes, decoded, X).astype(X.dtype) if holes.any() else None


def _passes(coder: Coder, rows: Array, most: int) -> tuple[Array, Array | None]:
    """Encode, fill in what the codes decode to, encode again."""
    observed = ~np.isnan(rows)
    filled = np.where(observed, rows, coder.fill)
    codes, spreads = coder.encode(filled)
    for _ in range(most - 1):
        again = np.where(observed, rows, coder.decode(codes))
        change = float(np.abs(again - filled).max(initial=0.0))
        filled = again
        codes, spreads = coder.encode(filled)
        if change < STILL:
            break
    return codes, spreads


def _iterative(coder: Coder, rows: Array) -> tuple[Array, Array | None]:
    if coder.refine is None:
        return _each(lambda row: _passes(coder, row, MOST_PASSES), rows)
    codes, spreads = _passes(coder, rows, PASSES)
    start = angles_of(codes) if coder.circular else (codes - coder.center) / coder.spread
    Z = place(coder.refine, *split_rows(rows), start=start)
    codes = on_circles(Z) if coder.circular else Z * coder.spread + coder.center
    return codes, None if spreads is None else _laplace(coder.refine, Z, rows)


def _each(encode: Callable[[Array], tuple[Array, Array | None]], rows: Array) -> tuple[Array, Array | None]:
    """Row by row: how many passes a row needs must not depend on the others."""
    codes, spreads = zip(*(encode(rows[i : i + 1]) for i in range(len(rows))), strict=True)
    return np.concatenate(codes), None if spreads[0] is None else np.concatenate(spreads)


def _laplace(decoder: Decoder, Z: Array, rows: Array) -> Array:
    """Log variances of codes about their maximum, under a standard Gaussian prior: at most 0."""
    H = decoder.slopes(Z, *split_rows(rows))[1]
    curvatures, axes = np.linalg.eigh(H)
    return np.log(np.einsum("nij,nj->ni", np.square(axes), decoder.ridge / np.maximum(curvatures, decoder.ridge)))


def _multiple(coder: Coder, rows: Array) -> tuple[Array, Array | None]:
    observed, rng = ~np.isnan(rows), generator(0)
    filled = np.where(observed, rows, coder.fill)
    found: list[Any] = []
    within: list[Any] = []
    for i in range(BURN_IN + DRAWS):
        codes, spreads = coder.encode(filled)
        drawn = codes if spreads is None else codes + np.exp(0.5 * spreads) * rng.standard_normal(codes.shape[1])
        filled = np.where(observed, rows, coder.draw(coder.decode(drawn), rng))
        if i >= BURN_IN:
            found.append(codes)
            within.append(spreads)
    mean = np.mean(found, axis=0)
    if coder.circular:
        return on_circles(angles_of(mean)), None
    if within[0] is None:
        return mean, None
    return mean, np.log(np.mean(np.exp(within), axis=0) + np.var(found, axis=0))
