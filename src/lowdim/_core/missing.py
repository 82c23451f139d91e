"""What happens to missing values: one policy, stated in one place.

NaN is the only mark of a missing cell. A method takes incomplete rows only where its model says what that means;
every other method refuses them here, names how many there are, and says the ways out. Nothing is filled silently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def refuse(X: Any, owner: str) -> None:
    """Raise ValueError when `X` has missing (NaN) or infinite cells."""
    cells = X.data if sparse.issparse(X) else X
    if cells.size == 0 or np.isfinite(cells.sum(dtype=np.float64)) or np.isfinite(cells).all():
        return
    if np.isinf(cells).any():
        raise ValueError(f"{owner}: X contains infinity or a value too large for {cells.dtype}.")
    holes = int(np.isnan(cells).sum())
    where = ""
    if not sparse.issparse(X) and X.ndim == 2:
        mask = np.isnan(X)
        where = f" in {int(mask.any(axis=1).sum())} of {X.shape[0]} rows and {int(mask.any(axis=0).sum())} columns"
    raise ValueError(
        f"{owner}: X has {holes} missing values (NaN){where}; {owner} needs complete rows. "
        "Keep the complete rows, X[~np.isnan(X).any(axis=1)], or fill the cells first, for example with "
        "sklearn.impute.KNNImputer."
    )
