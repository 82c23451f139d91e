"""Repulsion on a grid: points become charges on regular nodes, and sums over pairs become convolutions.

As in FIt-SNE (Linderman et al., 2019), with three differences. Charges are interpolated by B-splines of degree five,
deconvolved in Fourier space, which for the same error need far fewer nodes than polynomials on intervals. The force
itself, d h(d²), is the kernel that is convolved: one transform of the charges and one inverse transform for each
coordinate, without cancellation. And the sum of the kernel over pairs is a sum over frequencies, without a transform of
its own. Nodes keep their distance while the map grows, so that the transforms of the kernels are reused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft

from lowdim import _native

# Of the nodes, in widths of the kernel. Late in a descent the gradient is a hundredth of the forces: these are within
# 0.02 % (with a spacing of a third: 0.2 %), so that the gradient is accurate to a few percent at its smallest.
SPACING = 1 / 4
CELLS = 50  # at least so many across the map, which starts very small
REACH = 3  # nodes on each side that the spline of a point reaches
MOST_NODES = 2**25  # points far from the others would need more memory than there is


class GridField:
    """The repulsive forces on the points of a map in one or two dimensions, step after step."""

    def __init__(self, dof: float, n_threads: int) -> None:
        self.dof, self.n_threads = dof, n_threads
        self._key: Any = None
        self._kernels: tuple[np.ndarray, list[np.ndarray]]

    def fits(self, Z: np.ndarray) -> bool:
        """Whether the map is small enough for a grid."""
        spans = np.ptp(Z.astype(np.float64), axis=0)
        return bool(np.prod(2 * (spans / self._spacing(float(spans.max())) + 2 * REACH)) < MOST_NODES)

    def __call__(self, Z: np.ndarray) -> tuple[np.ndarray, float]:
        """The forces (not yet divided by the sum of the kernel) and that sum, over pairs of different points."""
        low, high = Z.min(axis=0).astype(np.float64), Z.max(axis=0).astype(np.float64)
        spacing = self._spacing(float((high - low).max()))
        used = [int(span / spacing) + 2 * REACH + 2 for span in high - low]
        sizes = tuple(fft.next_fast_len(int(2 * cells * 1.05), real=True) for cells in used)
        if (
            self._key is None
            or self._key[0] != spacing
            or any(size < 2 * cells for size, cells in zip(self._key[1], used, strict=True))
        ):
            self._key, self._kernels = (spacing, sizes), self._transforms(spacing, sizes)
        return self._forces(Z, low - REACH * spacing, 1 / spacing, used, self._key[1])

    def _spacing(self, span: float) -> float:
        """One of a geometric series, so that a map that grows a little keeps its grid."""
        widest = SPACING * np.sqrt(self.dof)
        wanted = min(max(span, 1e-30) / CELLS, widest)
        return float(widest * 2.0 ** (0.5 * np.floor(2.0 * np.log2(wanted / widest) + 1e-9)))

    def _transforms(self, spacing: float, sizes: tuple[int, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
        """Of the kernel and of the force along each axis, with the splines deconvolved on both sides."""
        steps = [spacing * np.fft.fftfreq(size, 1 / size) for size in sizes]
        offsets = np.meshgrid(*steps, indexing="ij")
        base = 1 / (1 + sum(d * d for d in offsets) / self.dof)
        w = base ** ((self.dof + 1) / 2)
        undo = np.ones([1] * len(sizes))
        for axis, size in enumerate(sizes):
            frequency = (np.fft.rfftfreq if axis == len(sizes) - 1 else np.fft.fftfreq)(size)
            angle = 2 * np.pi * frequency
            spline = (33 + 26 * np.cos(angle) + np.cos(2 * angle)) / 60
            undo = undo * np.expand_dims(1 / spline**2, [a for a in range(len(sizes)) if a != axis])
        transform = [
            fft.rfftn(kernel, workers=self.n_threads) * undo for kernel in (w, *(d * w * base for d in offsets))
        ]
        # The kernel is even and the forces are odd: one has a real transform, the others an imaginary one.
        return transform[0].real, [part.imag.astype(np.float32) for part in transform[1:]]

    def _forces(
        self, Z: np.ndarray, low: np.ndarray, over: float, used: list[int], sizes: tuple[int, ...]
    ) -> tuple[np.ndarray, float]:
        flat = (1, *used) if len(used) == 1 else tuple(used)
        charges = np.empty(flat, np.float32)
        _native.spread_grid(Z, low, over, self.n_threads, charges)
        hat = fft.rfftn(charges.reshape(used), s=sizes, workers=self.n_threads)
        even, odd = self._kernels
        total = _power(hat, even, sizes)
        pushed, fields = np.empty_like(Z), np.empty((len(odd), *flat), np.float32)
        for field, kernel in zip(fields, odd, strict=True):
            whole = fft.irfftn(hat * (np.complex64(1j) * kernel), s=sizes, workers=self.n_threads)
            field[...] = whole[tuple(slice(0, cells) for cells in used)].reshape(flat)
        _native.gather_grid(Z, low, over, fields.reshape(-1, flat[1]), self.n_threads, pushed)
        return pushed, max(total - len(Z), 1e-6 * len(Z))


def _power(hat: np.ndarray, kernel: np.ndarray, sizes: tuple[int, ...]) -> float:
    """Charges times kernel times charges, by Parseval; half of the frequencies are stored."""
    power = (np.square(hat.real, dtype=np.float64) + np.square(hat.imag, dtype=np.float64)) * kernel
    last = sizes[-1]
    twice = power[..., 1 : (last + 1) // 2].sum() * 2
    ends = power[..., 0].sum() + (power[..., last // 2].sum() if last % 2 == 0 else 0.0)
    return float((twice + ends) / np.prod(sizes))
