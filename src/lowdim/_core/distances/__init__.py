"""Distances between rows: blocks of them, their metrics, and tables of dissimilarities given by the user."""

from lowdim._core.distances.blocks import LOSS, own_points, pairwise, refusal_of_sparse
from lowdim._core.distances.checks import check_dissimilarities, condensed_rows
from lowdim._core.distances.compiled import BitRows, GowerRows, LoopRows, SparseRows, Table, csr_parts, table_of
from lowdim._core.distances.domains import all_equal, check_domain, check_function, is_limited
from lowdim._core.distances.gower import Gower, comparable, fitted_categories, fitted_orders
from lowdim._core.distances.merged import MergedRows
from lowdim._core.distances.metrics import (
    CODED,
    GOWER,
    OWN,
    Metric,
    ParametricMetric,
    called_by,
    check_metric,
    with_params,
)
from lowdim._core.distances.moved import Moved, moved, moved_rows
from lowdim._core.distances.rows import (
    as_rows,
    excess,
    origin,
    over_power,
    real_array,
    real_sparse,
    row_pairs,
    row_scales,
    scaled,
    squared_norms,
    two_tables,
)

__all__ = [
    "CODED",
    "GOWER",
    "LOSS",
    "OWN",
    "BitRows",
    "Gower",
    "GowerRows",
    "LoopRows",
    "MergedRows",
    "Metric",
    "Moved",
    "ParametricMetric",
    "SparseRows",
    "Table",
    "all_equal",
    "as_rows",
    "called_by",
    "check_dissimilarities",
    "check_domain",
    "check_function",
    "check_metric",
    "comparable",
    "condensed_rows",
    "csr_parts",
    "excess",
    "fitted_categories",
    "fitted_orders",
    "is_limited",
    "moved",
    "moved_rows",
    "origin",
    "over_power",
    "own_points",
    "pairwise",
    "real_array",
    "real_sparse",
    "refusal_of_sparse",
    "row_pairs",
    "row_scales",
    "scaled",
    "squared_norms",
    "table_of",
    "two_tables",
    "with_params",
]
