"""Agreement of two embeddings of the same rows: Procrustes analysis with a permutation test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core import params
from lowdim._core.ranks.reference import embedded_rows
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.align import Alignment
from lowdim._core.tables.align import procrustes as align
from lowdim._core.tables.missing import refuse_scale

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Procrustes:
    """Result of a Procrustes analysis of two embeddings.

    Attributes
    ----------
    target, aligned : ndarray (n, p)
        The first embedding (centred and scaled to sum of squares 1 if symmetric), and the second one rotated,
        reflected, scaled and translated onto it.
    residuals : ndarray (n,)
        Distance between the two positions of each row.
    ss : float
        Sum of their squares.
    disparity : float
        Residual share of the target's sum of squares, from 0 (the same shape) to 1; with scaling it does not depend
        on which of the two is the target.
    correlation : float
        sqrt(1 - disparity).
    rotation, scale, translation : ndarray (q, p), float, ndarray (p,)
        The transformation z -> scale · z @ rotation + translation.
    p_value : float or None
        Share of permutations (with the identity) whose correlation is as high; None without permutations.
    n_permutations : int
        Number of permutations.
    """

    target: Array
    aligned: Array
    residuals: Array
    ss: float
    disparity: float
    correlation: float
    rotation: Array
    scale: float
    translation: Array
    p_value: float | None
    n_permutations: int

    def apply(self, Z: Any) -> Array:
        """Transform other rows of the second embedding (not after ``symmetric=True``)."""
        return Alignment(self.rotation, self.scale, self.translation, self.ss, self.disparity).apply(Z)

    def __repr__(self) -> str:
        test = "" if self.p_value is None else f", p = {self.p_value:.3g} ({self.n_permutations} permutations)"
        return f"<Procrustes: correlation {self.correlation:.4f}, disparity {self.disparity:.4g}{test}>"


@params.checked("procrustes")
def procrustes(
    target: Any,
    source: Any,
    *,
    symmetric: bool = False,
    scale: bool = True,
    reflect: bool = True,
    n_permutations: int = 0,
    random_state: Any = None,
) -> Procrustes:
    """Procrustes analysis: align one embedding with another, and measure how well they agree.

    The orientation of an embedding is arbitrary, so coordinates cannot be compared directly. The rotation R (with or
    without reflection), scale s and translation t minimise the sum of |x_i - (s R'y_i + t)|². With `n_permutations` the
    rows of the source are permuted, to test whether unrelated embeddings would agree as well.

    Parameters
    ----------
    target, source : arrays (n, p) and (n, q)
        Two embeddings of the same rows; if one has fewer columns, zeros are appended.
    symmetric : bool
        Centre both and scale them to sum of squares 1 first, so that `ss` is between 0 and 1 and symmetric.
    scale, reflect : bool
        Whether the source may be rescaled, reflected.
    n_permutations : int
        Number of permutations of the test; 0 for no test. 999 give p values down to 0.001.
    random_state : int, generator or None
        Seed; the same int gives the same result.

    Returns
    -------
    Procrustes
        The aligned embedding, the residual of each row, and the agreement.

    References
    ----------
    Gower, Generalized Procrustes analysis, 1975. Peres-Neto and Jackson, How well do multivariate data sets match? The
    advantages of a Procrustean superimposition approach over the Mantel test, 2001.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.helix(60, random_state=0).X
    >>> one, two = lowdim.PCA(2).fit_transform(X), lowdim.ClassicalMDS(2, random_state=0).fit_transform(5 * X + 1)
    >>> lowdim.quality.procrustes(one, two, n_permutations=99, random_state=0)
    <Procrustes: correlation 1.0000, disparity ..., p = 0.01 (99 permutations)>
    """
    params.check("procrustes", {"n_permutations": n_permutations}, {"n_permutations": params.whole(0)})
    A = embedded_rows(target, None, "procrustes: target").astype(np.float64)
    B = embedded_rows(source, len(A), "procrustes: source").astype(np.float64)
    for table, name in ((A, "target"), (B, "source")):
        refuse_scale(float(np.abs(table).max(initial=0.0)), "procrustes", name)
    A = np.pad(A, ((0, 0), (0, max(0, B.shape[1] - A.shape[1]))))
    if symmetric:
        A, B = _unit(A), _unit(B)
    fit = align(A, B, scale=scale, reflect=reflect)
    aligned = fit.apply(B)
    together = fit if scale else align(A, B, reflect=reflect)
    p_value = _test(A, B, reflect, n_permutations, random_state) if n_permutations else None
    return Procrustes(
        target=A,
        aligned=aligned,
        residuals=np.linalg.norm(A - aligned, axis=1),
        ss=fit.residual,
        disparity=fit.disparity,
        correlation=float(np.sqrt(max(0.0, 1.0 - together.disparity))),
        rotation=fit.rotation,
        scale=fit.scale,
        translation=fit.translation,
        p_value=p_value,
        n_permutations=int(n_permutations),
    )


def _unit(Z: Array) -> Array:
    """Centred, sum of squares 1; equal rows stay zero."""
    Z = Z - Z.mean(axis=0)
    size = np.linalg.norm(Z)
    return Z / size if size > 0 else Z


def _test(A: Array, B: Array, reflect: bool, n_permutations: int, random_state: Any) -> float:
    """(1 + permutations that agree as well) / (1 + permutations)."""
    A, B, rng = _unit(A), _unit(B), generator(random_state)
    reached = _agreement(A, B, reflect) * (1 - 1e-12)
    beyond = sum(_agreement(A, B[rng.permutation(len(B))], reflect) >= reached for _ in range(n_permutations))
    return (1 + beyond) / (1 + n_permutations)


def _agreement(A: Array, B: Array, reflect: bool) -> float:
    """The sum of singular values of B'A, the last one negative if a reflection is needed but not allowed."""
    cross = B.T @ A
    values = np.linalg.svd(cross, compute_uv=False)
    reflected = not reflect and cross.shape[0] == cross.shape[1] and np.linalg.det(cross) < 0
    return float(values.sum() - 2 * values[-1] * reflected)
