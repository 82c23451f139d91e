"""Eigenvalues and singular values: the one front door.

`eigenpairs` picks a solver by size, sparsity and end of the spectrum, measures the residual of every pair in
float64, falls back to another solver when one misses the tolerance, and warns when all of them do. Vectors
come sorted and with a fixed sign, and the same call gives the same bits. `svd` does the same for tables; `Moments`,
`covariance` and `gram` are the inner products of rows, summed in double precision; `Triangle` is their QR
decomposition, block by block.
"""

from lowdim._core.spectrum.eigen import eigenpairs
from lowdim._core.spectrum.moments import Moments, covariance, gram, mean_and_variance
from lowdim._core.spectrum.problem import fix_signs
from lowdim._core.spectrum.record import Eigenpairs, TooHard
from lowdim._core.spectrum.singular import SVD, svd
from lowdim._core.spectrum.triangles import Triangle, triangle

__all__ = [
    "SVD",
    "Eigenpairs",
    "Moments",
    "TooHard",
    "Triangle",
    "covariance",
    "eigenpairs",
    "fix_signs",
    "gram",
    "mean_and_variance",
    "svd",
    "triangle",
]
