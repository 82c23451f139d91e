"""How faithful is an embedding? Measures overall, for every neighbourhood size, and row by row.

Rank measures (`rnx_auc`, `rnx_curve`, `trustworthiness`, `continuity`, `mrre`, ...) ask whether the
neighbours stayed neighbours; distance measures (`stress`, `sammon`, `shepard`, `residual_variance`) whether
lengths were kept; `knn_error` whether labels can still be told apart. `scores` gives them all. A `Ranks`
record can take the place of `(X, Z)` in every rank measure, so that ranks are computed once.
`procrustes` lays two embeddings over each other and says how well they agree.

Every measure compares with reference distances: those in the data (``reference="ambient"``), along its
neighbour graph (``"geodesic"``) or given ones (``"precomputed"``). A number without its reference means
nothing: copying the ambient space scores highest against ambient distances, unrolling it against geodesic
ones.

    >>> import numpy as np
    >>> from lowdim import quality
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [5, 2, 0.1]
    >>> round(quality.rnx_auc(X, X[:, :2]), 2) > 0.9
    True
"""

from lowdim._core.ranks import Ranks
from lowdim.quality.agreement import Procrustes, procrustes
from lowdim.quality.curves import (
    bnx_curve,
    continuity,
    coranking_matrix,
    k_max,
    lcmc_curve,
    mrre,
    q_global,
    q_local,
    qnx_curve,
    rnx_auc,
    rnx_curve,
    truncated_auc,
    trustworthiness,
    trustworthiness_continuity,
)
from lowdim.quality.distances import Shepard, residual_variance, sammon, shepard, stress
from lowdim.quality.labels import knn_error
from lowdim.quality.report import scores, scores_each
from lowdim.quality.rows import per_row
from lowdim.quality.score import Score

__all__ = [
    "Procrustes",
    "Ranks",
    "Score",
    "Shepard",
    "bnx_curve",
    "continuity",
    "coranking_matrix",
    "k_max",
    "knn_error",
    "lcmc_curve",
    "mrre",
    "per_row",
    "procrustes",
    "q_global",
    "q_local",
    "qnx_curve",
    "residual_variance",
    "rnx_auc",
    "rnx_curve",
    "sammon",
    "scores",
    "scores_each",
    "shepard",
    "stress",
    "truncated_auc",
    "trustworthiness",
    "trustworthiness_continuity",
]
