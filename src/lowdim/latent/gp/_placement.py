"""New rows in a fitted Gaussian-process model: the latent coordinates under which each is most likely, row by row.

Minimises ½ sum over observed cells of ((y - m(z))² / v(z) + ln v(z)) + ½ |z|² / breadth² by Fisher scoring: the
expected Hessian is positive definite, and damping grows where a step does not help.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.latent.gp._process import Predictor

Array = np.ndarray

STARTS = 3  # nearest fitted rows from whose coordinates the iteration starts
STEPS = 200
CELLS = 2**22  # numbers in a block of slopes


@dataclass(frozen=True, eq=False)
class Placement:
    """A predictor, the breadth of the prior (inf: none), the latent coordinates, and the rows expected there."""

    predictor: Predictor
    breadth: float
    latent: Array
    rows: Array

    def __call__(self, Y: Array) -> Array:
        """Latent coordinates of rows Y, in which missing cells are NaN."""
        size = max(1, CELLS // max(1, self.latent.shape[1] * (len(self.predictor.points) + Y.shape[1])))
        return np.concatenate([self._block(Y[at : at + size]) for at in range(0, len(Y), size)])

    def _block(self, Y: Array) -> Array:
        observed = ~np.isnan(Y)
        Y = np.where(observed, Y, 0.0)
        near = self._nearest(Y, observed)
        tried = [self._minimised(Y, observed, self.latent[near[:, k]]) for k in range(near.shape[1])]
        energies = np.stack([energy for _, energy in tried])
        best = np.argmin(energies > energies.min(axis=0) + 1e-9 * (1 + np.abs(energies.min(axis=0))), axis=0)
        return np.stack([Z for Z, _ in tried])[best, np.arange(len(Y))]

    def _nearest(self, Y: Array, observed: Array) -> Array:
        """The fitted rows nearest in the observed cells."""
        squared = observed @ np.square(self.rows).T - 2.0 * (Y @ self.rows.T)
        k = min(STARTS, len(self.rows))
        near = np.argpartition(squared, k - 1, axis=1)[:, :k]
        order = np.argsort(np.take_along_axis(squared, near, axis=1), axis=1, kind="stable")
        return np.take_along_axis(near, order, axis=1)

    def _minimised(self, Y: Array, observed: Array, Z: Array) -> tuple[Array, Array]:
        Z, damping = Z.copy(), np.full(len(Z), 1e-3)
        energy, slope, bend = self._expand(Y, observed, Z)
        active, unit = np.arange(len(Z)), np.eye(Z.shape[1])
        size = max(float(np.abs(self.latent).max()), 1e-300)
        for _ in range(STEPS):
            scale = np.trace(bend[active], axis1=1, axis2=2) / Z.shape[1]
            damped = bend[active] + (damping[active] * scale)[:, None, None] * unit
            step = np.linalg.solve(damped, -slope[active][..., None])[..., 0]
            trial = Z[active] + step
            found = self._expand(Y[active], observed[active], trial)
            better = _is_better(found[0], found[1], energy[active], slope[active])
            won = active[better]
            Z[won], energy[won], slope[won], bend[won] = trial[better], *(part[better] for part in found)
            damping[active] *= np.where(better, 0.1, 10.0)
            moving = (np.abs(step).max(axis=1) > 1e-11 * size) & (damping[active] < 1e12)
            active = active[moving]
            if not len(active):
                break
        return Z, energy

    def _expand(self, Y: Array, observed: Array, Z: Array) -> tuple[Array, Array, Array]:
        """Energy, gradient and expected Hessian at Z."""
        p, process = self.predictor, self.predictor.process
        K = process.between(Z, p.points)
        slopes = process.slopes(Z, p.points, K)
        mean, by_mean = K @ p.weights, slopes @ p.weights  # (rows, d), (q, rows, d)
        known = np.stack([K @ S for S in p.spreads])  # (p, rows, points)
        own = process.own(Z)[:, None] - (known * K).sum(axis=2).T
        by_own = -2.0 * np.einsum("pnm,qnm->qnp", known, slopes)
        if process.kernel == "linear":
            by_own += 2.0 * process.variance * Z.T[:, :, None]
        v = (np.maximum(own, 0.0) + process.noise)[:, p.home]
        by_v = np.where(own > 0, by_own, 0.0)[:, :, p.home]
        gap = np.where(observed, Y - mean, 0.0)
        energy = 0.5 * (np.square(gap) / v + observed * np.log(v)).sum(axis=1)
        slope = np.einsum("qnd,nd->nq", by_mean, -gap / v)
        slope += 0.5 * np.einsum("qnd,nd->nq", by_v, observed / v - np.square(gap / v))
        bend = np.einsum("qnd,rnd->nqr", by_mean * (observed / v), by_mean)
        bend += 0.5 * np.einsum("qnd,rnd->nqr", by_v * (observed / v**2), by_v)
        precision = 1.0 / self.breadth**2
        energy += 0.5 * precision * np.square(Z).sum(axis=1)
        tiny = 1e-12 * (1.0 + np.trace(bend, axis1=1, axis2=2))  # a column without effect leaves no curvature
        return energy, slope + precision * Z, bend + (precision + tiny)[:, None, None] * np.eye(Z.shape[1])


def _is_better(energy: Array, slope: Array, before: Array, slope_before: Array) -> Array:
    """Near the minimum the energy changes by less than its rounding error; there the norm of the gradient decides."""
    level = energy <= before + 1e-9 * (1.0 + np.abs(before))
    flatter = np.square(slope).sum(axis=1) < np.square(slope_before).sum(axis=1)
    return (energy < before - 1e-9 * (1.0 + np.abs(before))) | (level & flatter)
