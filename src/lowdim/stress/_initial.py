"""Initialisation: classical scaling, a random configuration, or a given one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowdim._core.distances import real_array
from lowdim._core.extend import Nystrom
from lowdim._core.gpu.device_rows import DeviceRows, on_host
from lowdim._core.gpu.devices import Device
from lowdim._core.runtime import threads
from lowdim._core.scaling.centring import inner_products
from lowdim._core.scaling.classical import scale_rows
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.eigenvalues import positive_part
from lowdim._core.spectrum.principal_on_device import principal_places

Array = np.ndarray
Rows = Callable[[Array], Array]  # some rows -> their dissimilarities to all, in float64 and without unknown ones

ALL_UP_TO = 4000  # rows whose dissimilarities are all used; beyond, landmarks
LANDMARKS = 1000


def classical_of_rows(X: Any, r: int, rng: np.random.Generator, device: Device | None = None) -> Array:
    """Classical scaling of Euclidean distances: principal coordinates; of rows on a device, found there."""
    if isinstance(X, DeviceRows) and device is not None:
        there = principal_places(device, X, r)
        if there is not None:
            return there
    X = on_host(X)
    return np.asarray(scale_rows(X, r, rng=rng, owner="MDS", quiet=True).place(X), dtype=np.float64)


def classical_of_table(rows: Rows, n: int, r: int, rng: np.random.Generator) -> Array:
    """Classical scaling of any dissimilarities; of many rows, through landmarks spread over the table."""
    chosen = np.arange(n) if n <= ALL_UP_TO else np.linspace(0, n - 1, LANDMARKS).astype(np.intp)
    D = np.empty((len(chosen), n))
    for part in threads.blocks(len(chosen), 256):
        D[part] = rows(chosen[part])
    B, means = inner_products(np.ascontiguousarray(D[:, chosen]))
    pairs = positive_part(eigenpairs(B, min(r, len(B)), rng=rng, owner="MDS"), r, owner="MDS", quiet=True)
    if len(chosen) == n:
        return pairs.vectors * np.sqrt(pairs.values)
    S = np.multiply(np.square(D, out=D), -0.5, out=D).T
    return Nystrom.of(pairs.values, pairs.vectors, -0.5 * means)(S, overwrite=True)


def given_configuration(init: Any, n: int, r: int, owner: str) -> Array:
    """The configuration that the user gave as `init`, checked."""
    Z = real_array(init, f"{owner}: init").astype(np.float64)
    if Z.shape != (n, r) or not np.isfinite(Z).all():
        raise ValueError(
            f"{owner}: init must be 'classical', 'random' or a finite array of shape ({n}, {r}); got shape {Z.shape}."
        )
    return Z


def random_configuration(n: int, r: int, rng: np.random.Generator) -> Array:
    """Standard normal points, scaled to distances of about 1."""
    Z = rng.standard_normal((n, r)) / np.sqrt(2 * r)
    return Z - Z.mean(axis=0)


def out_of_flat(Z: Array, rng: np.random.Generator) -> Array:
    """A little noise on axes without extent: forces lie within a flat configuration and never leave it."""
    spread = np.sqrt(np.square(Z).mean(axis=0))
    flat = spread <= 1e-9 * spread.max(initial=0.0)
    noise = 0.01 * max(spread.max(initial=0.0), 1e-3) * rng.standard_normal(Z.shape)
    return np.where(flat, noise - noise.mean(axis=0), Z)


def principal_axes(Z: Array) -> Array:
    """Centred and rotated to the principal axes; on each the entry of largest magnitude is positive.

    As many axes as before: n points have an extent along n - 1 of them at most.
    """
    Z = Z - Z.mean(axis=0)
    turn = np.linalg.svd(Z, full_matrices=False)[2]
    Z = np.pad(Z @ turn.T, ((0, 0), (0, Z.shape[1] - len(turn))))
    Z[:, np.abs(Z).max(axis=0) <= 1e-12 * np.abs(Z).max(initial=0.0)] = 0.0
    top = np.take_along_axis(Z, np.abs(Z).argmax(axis=0)[None], axis=0)
    return np.asarray(Z * np.where(top < 0, -1.0, 1.0))
