"""Hotelling's T² and the squared prediction error of rows on the axes of PCA, with control limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, fdtri

from lowdim._core import params


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring:
    """T² and SPE of rows, active ones first.

    Attributes
    ----------
    t2 : ndarray of shape (m,)
        Hotelling's T²: the sum over axes of score² / variance (divisor n - 1).
    spe : ndarray of shape (m,)
        Squared prediction error (Q): squared distance from the plane of the axes.
    t2_limit : float
        k (n² - 1) / (n (n - k)) times the quantile of F(k, n - k), for a row that was not fitted.
    spe_limit : float
        The quantile of g chi²(h) with the mean and variance of the SPE of the active rows (Box, 1954; Nomikos and
        MacGregor, 1995).
    out : ndarray of bool of shape (m,)
        Whether a row is beyond one of the limits.
    """

    t2: np.ndarray
    spe: np.ndarray
    t2_limit: float
    spe_limit: float

    @property
    def out(self) -> np.ndarray:
        """Whether a row is beyond one of the limits."""
        return (self.t2 > self.t2_limit) | (self.spe > self.spe_limit)

    def __repr__(self) -> str:
        return (
            f"<Monitoring: {int(self.out.sum())} of {len(self.t2)} rows beyond T² = {self.t2_limit:.3g} or "
            f"SPE = {self.spe_limit:.3g}>"
        )


def monitored(T: np.ndarray, n: int, V: np.ndarray, variances: np.ndarray, alpha: float) -> Monitoring:
    """Of centred, scaled rows T, the first n of them active; `variances` of the scores with divisor n."""
    params.check("FactorMap", {"alpha": alpha}, {"alpha": params.share()})
    k, Z = V.shape[1], T @ V
    if n <= k + 1:
        raise ValueError(f"FactorMap: monitor must have more rows than axes; got {n} rows and {k} axes.")
    t2 = (Z**2 / (variances * n / (n - 1))).sum(axis=1)
    spe = np.maximum((T**2).sum(axis=1) - (Z**2).sum(axis=1), 0.0)
    t2_limit = k * (n * n - 1) / (n * (n - k)) * float(fdtri(k, n - k, 1 - alpha))
    mean, variance = float(spe[:n].mean()), float(spe[:n].var(ddof=1))
    spe_limit = variance / (2 * mean) * float(chdtri(2 * mean**2 / variance, alpha)) if variance > 0 else mean
    return Monitoring(t2, spe, t2_limit, spe_limit)
