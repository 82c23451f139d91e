"""What is missing: cells by row and by column, and where incomplete rows may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.report.column_views import pack
from lowdim.report.record import Compared

MOST_LISTED = 12  # columns that have a line
ALIKE = 0.15  # of the spread of a map: the imputation's plane may differ from it by so much


@dataclass(frozen=True, eq=False)
class Missing:
    """Missing cells of the columns that the methods saw."""

    per_row: np.ndarray  # share of the cells
    columns: list[tuple[str, float]]  # name and share, most first, of columns that have any

    @property
    def text(self) -> str:
        """In a sentence."""
        n, some = len(self.per_row), int((self.per_row > 0).sum())
        return (
            f"{100 * self.per_row.mean():.2g} % of all cells are missing: in {some:,} of {n:,} rows, and in "
            f"{len(self.columns):,} column{'s' * (len(self.columns) != 1)}."
        )


def missing_cells(comparison: Compared, data: Any, names: list[str]) -> Missing | None:
    """What is missing, from the columns of the table or the data given; None if nothing is, or it is not known."""
    used = [column for column in comparison.columns if column.use == "map"]
    if used:
        holes, named = np.column_stack([column.missing for column in used]), [column.name for column in used]
    elif data is not None and np.ndim(data) == 2 and len(data) == comparison.n_rows:
        table = np.asarray(data)
        if not np.issubdtype(table.dtype, np.number):
            return None
        holes = np.isnan(table)
        named = [names[j] if j < len(names) else f"column {j}" for j in range(table.shape[1])]
    else:
        return None
    shares = holes.mean(axis=0)
    order = [int(j) for j in np.argsort(-shares, kind="stable") if shares[j] > 0]
    if not order:
        return None
    return Missing(holes.mean(axis=1), [(named[j], float(shares[j])) for j in order])


def uncertain_places(
    comparison: Compared, maps: Mapping[str, np.ndarray], imputation: Any, drawn: np.ndarray
) -> dict[str, dict[str, str]]:
    """Map -> 95 % ellipses of incomplete rows, for the linear map that shows the plane of the imputation."""
    if imputation is None:
        return {}
    name, fit, found = plane_of(comparison, maps, imputation)
    rows = np.flatnonzero(~imputation.observed.all(axis=1)[drawn])
    axes = fit.scale * (found.axes[drawn][rows] @ fit.rotation)
    return {name: {"rows": pack(rows, np.int32), "axes": pack(axes.reshape(-1, 4), np.float32)}}


def plane_of(comparison: Compared, maps: Mapping[str, np.ndarray], imputation: Any) -> tuple[str, Any, Any]:
    """The linear map that shows the plane of an imputation, how that is turned into it, and the ellipses.

    An error where there is none.
    """
    if len(imputation.mean) != comparison.n_rows:
        raise ValueError(
            f"report: imputation must have the {comparison.n_rows} rows of the comparison; got {len(imputation.mean)}."
        )
    from lowdim._core.tables.align import procrustes  # its decompositions load scikit-learn, which errors wait for

    found = imputation.row_ellipses()
    linear = {o.name for o in comparison.outcomes if o.linear and o.n_components == 2}
    planes = {name: procrustes(Z, found.centers) for name, Z in maps.items() if name in linear and _complete(Z)}
    name = min(planes, key=lambda each: planes[each].disparity, default=None)
    if name is None or planes[name].disparity > ALIKE:
        raise ValueError(
            "report: imputation must be of the data that a linear map was made from, in the same units, so that its "
            "principal plane is that map; got one that no linear map agrees with. Impute with the same `scale`, or add "
            '"pca" (of categories "famd" or "mca") to the methods.'
        )
    return name, planes[name], found


def _complete(Z: np.ndarray) -> bool:
    return bool(np.isfinite(Z).all())
