"""How faithful is an embedding? Measures of the whole embedding, for every neighbourhood size, and for each row.

Rank measures (`rnx_auc`, `rnx_curve`, `trustworthiness`, `continuity`, `mrre`, ...) measure how well neighbourhoods
are preserved; distance measures (`stress`, `sammon`, `shepard`, `residual_variance`) how well distances are;
`knn_error` is the classification error of nearest neighbours. `scores` computes them all. A `Ranks` record can replace
`(X, Z)` in every rank measure, so that ranks are computed once. `procrustes` aligns two embeddings and measures their
agreement. `per_row` has the measures of each row, `per_row_estimate` those of every row of a large table. `degeneracy`
finds maps that show nothing: few places, some outliers, a line.

Every measure compares with reference distances: between the rows of the data (``reference="ambient"``), along its
neighbour graph (``"geodesic"``) or given ones (``"precomputed"``). Scores with different references are not comparable:
a copy of the original space scores highest with ambient distances, a perfect unrolling with geodesic ones.

    >>> import numpy as np
    >>> from lowdim import quality
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [5, 2, 0.1]
    >>> round(quality.rnx_auc(X, X[:, :2]), 2) > 0.9
    True
"""

from lowdim._core.ranks import Ranks
from lowdim.quality.agreement import Procrustes, procrustes
from lowdim.quality.all_scores import scores, scores_each
from lowdim.quality.degeneracy import degeneracy
from lowdim.quality.distance_measures import Shepard, residual_variance, sammon, shepard, stress
from lowdim.quality.label_error import knn_error
from lowdim.quality.neighborhoods import continuity, mrre, trustworthiness, trustworthiness_continuity
from lowdim.quality.rank_curves import (
    bnx_curve,
    coranking_matrix,
    k_max,
    lcmc_curve,
    q_global,
    q_local,
    qnx_curve,
    rnx_auc,
    rnx_curve,
    truncated_auc,
)
from lowdim.quality.row_estimates import per_row_estimate
from lowdim.quality.row_scores import per_row
from lowdim.quality.score import Score

__all__ = [
    "Procrustes",
    "Ranks",
    "Score",
    "Shepard",
    "bnx_curve",
    "continuity",
    "coranking_matrix",
    "degeneracy",
    "k_max",
    "knn_error",
    "lcmc_curve",
    "mrre",
    "per_row",
    "per_row_estimate",
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
