"""Alignment of two embeddings, which may be rotated, reflected, translated or scaled: Procrustes analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from lowdim._core.spectrum.problem import unit_of


@dataclass(frozen=True, eq=False)
class Alignment:
    """The map z -> scale · z @ rotation + translation, and how close it brings the source to the target.

    Attributes
    ----------
    rotation : ndarray (q, p)
        Orthonormal rows; a rotation, or a rotation with a mirror.
    scale : float
        Factor of the source.
    translation : ndarray (p,)
        Added last.
    residual : float
        Sum of squared distances between the target and the aligned source.
    disparity : float
        The residual as a share of the target's sum of squares about its mean (about the origin if not
        translated). With scaling it goes from 0, the same shape, to 1, nothing in common, and is the same
        whichever of the two is the target.
    """

    rotation: np.ndarray
    scale: float
    translation: np.ndarray
    residual: float
    disparity: float

    def apply(self, Z: Any) -> np.ndarray:
        """Rows Z of the source, transformed to the target."""
        Z = np.asarray(Z)
        placed = self.scale * (Z @ self.rotation) + self.translation
        return placed.astype(np.float32) if Z.dtype == np.float32 else placed


def procrustes(
    target: Any, source: Any, *, scale: bool = True, translate: bool = True, reflect: bool = True
) -> Alignment:
    """Rotate, reflect, scale and translate `source` onto `target`: least sum of |target_i - (s R'source_i + t)|².

    Parameters
    ----------
    target : array (n, p)
        The configuration to match.
    source : array (n, q)
        The configuration to transform; q <= p, missing columns count as zero.
    scale, translate, reflect : bool
        Whether scaling, translation and reflection are allowed.

    Returns
    -------
    Alignment
        Whose ``apply`` maps any rows of the source's space.

    References
    ----------
    Schönemann, P. H. (1966). A generalized solution of the orthogonal Procrustes problem.

    Examples
    --------
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> turned = Z @ [[0.0, 3.0], [-3.0, 0.0]] + 5.0
    >>> bool(np.allclose(procrustes(Z, turned).apply(turned), Z))
    True
    """
    target, source = _configuration(target, "target"), _configuration(source, "source")
    if target.shape[0] != source.shape[0] or source.shape[1] > target.shape[1]:
        raise ValueError(
            "procrustes: source must have as many rows as target and no more columns; "
            f"got {source.shape} and {target.shape}. Swap the two, or drop or add columns."
        )
    zero = np.zeros(target.shape[1])
    target_mean = target.mean(axis=0) if translate else zero
    source_mean = source.mean(axis=0) if translate else zero[: source.shape[1]]
    (A, unit), (B, other) = _in_unit(target - target_mean), _in_unit(source - source_mean)

    rotation, agreement = _rotation(B.T @ A, reflect)
    size = np.sum(B * B)
    factor = float(agreement / size) if scale and size > 0 else other / unit
    residual = float(np.sum((A - factor * (B @ rotation)) ** 2))
    total = np.sum(A * A)
    return Alignment(
        rotation=rotation,
        scale=factor * (unit / other),
        translation=target_mean - factor * (unit / other) * (source_mean @ rotation),
        residual=residual * unit * unit,
        disparity=float(residual / total) if total > 0 else 0.0,
    )


def _in_unit(A: np.ndarray) -> tuple[np.ndarray, float]:
    """A in a unit, a power of two, in which its squares are neither too large nor too small for a float."""
    unit = unit_of(float(np.abs(A).max()))
    return A / unit, unit


def _configuration(Z: Any, name: str) -> np.ndarray:
    Z = np.asarray(Z, np.float64)
    if Z.ndim != 2 or Z.size == 0 or not np.isfinite(Z).all():
        raise ValueError(f"align: {name} must be a finite 2-D array with rows; got shape {Z.shape}.")
    return Z


def _rotation(cross: np.ndarray, reflect: bool) -> tuple[np.ndarray, float]:
    """The R with orthonormal rows that maximises trace(R' cross), and that maximum."""
    U, values, Vt = linalg.svd(cross, full_matrices=False)
    # With room to turn in (q < p) a mirror is a rotation, so only square ones can be mirrors.
    if not reflect and cross.shape[0] == cross.shape[1] and linalg.det(U @ Vt) < 0:
        U[:, -1] *= -1
        values[-1] *= -1
    return U @ Vt, float(values.sum())


def subspace_angles(A: Any, B: Any) -> np.ndarray:
    """Angles between the spaces that the columns of A and of B span, in radians, largest first.

    Tiny angles keep their relative accuracy: they come from sines, not from cosines near 1.
    """
    A, B = _configuration(A, "A"), _configuration(B, "B")
    if A.shape[0] != B.shape[0]:
        raise ValueError(f"subspace_angles: A and B must have as many rows; got {A.shape} and {B.shape}.")
    return linalg.subspace_angles(A, B)


def match_signs(target: Any, source: Any) -> np.ndarray:
    """The columns of `source`, each with the sign that agrees with the same column of `target`.

    For components and eigenvectors, whose signs are arbitrary. A column orthogonal to its target stays.
    """
    target, source = np.asarray(target), np.asarray(source)
    if target.shape != source.shape or source.ndim != 2:
        raise ValueError(
            f"match_signs: target and source must be 2-D of one shape; got {target.shape} and {source.shape}."
        )
    agreement = np.einsum("ij,ij->j", target.astype(np.float64), source.astype(np.float64))
    return source * np.where(agreement < 0, -1, 1).astype(source.dtype)
