"""Principal axes of blocks of rows from the QR decomposition of all of them: nothing is squared."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.spectrum import Triangle, fix_signs, svd
from lowdim.linear._decompose import Spectrum, lost_digits, rank_tolerance
from lowdim.linear.in_blocks.sums import triangle_of_stream

Array = np.ndarray


def decompose(found: Triangle, k: int, divide: Array | None, ddof: int, owner: str) -> Spectrum:
    """The k largest eigenvalues and loadings of the covariance of the rows, whose columns are over `divide`."""
    n, d, divisor = found.weight, found.width, found.weight - ddof
    R = found.R if divide is None else found.R / divide
    parts, variance = svd(R, k, solver="lapack", owner=owner), np.square(R).sum(axis=0) / divisor
    values, loadings = parts.values**2 / divisor, fix_signs(parts.Vt.T).T
    kept = found.mean, divide, ddof, divisor, variance, float(variance.sum())
    return Spectrum(values, loadings, *kept, rank_tolerance(int(n), d, np.float64), min(int(n) - 1, d), "svd")


def refined(found: Spectrum, wanted: int, k: int, blocks: Any, dtype: Any, owner: str) -> Spectrum:
    """`found`, or the same from blocks that are read again, where sums of squares lost digits and it is cheap."""
    n, d = int(found.divisor + found.ddof), len(found.mean)
    if not (blocks.rereadable and lost_digits(found.variances, min(wanted, found.most), n, d, dtype)):
        return found
    return decompose(triangle_of_stream(blocks, owner, 1), min(k, n, d), found.scale, found.ddof, owner)
