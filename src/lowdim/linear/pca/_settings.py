"""What PCA is asked to do with missing cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.iterate import Callback


@dataclass(frozen=True)
class IncompleteSettings:
    """The parameters of `PCA` that matter where cells are missing; see its docstring."""

    missing: str
    n_components: Any
    max_error: float | None
    scale: bool
    ddof: int
    ridge: float | None
    reach: float | None
    orthogonalize: bool
    max_iter: int
    tol: float
    callback: Callback | None
    n_jobs: int | None
    verbose: int | bool

    @property
    def rank(self) -> int | None:
        """The number of components where it is given; None where it is to be chosen."""
        given = self.max_error is None and isinstance(self.n_components, (int, np.integer))
        return int(self.n_components) if given else None

    @property
    def method(self) -> str:
        """How cells are filled: NIPALS fills them as "regularized" does where no component predicts."""
        return "em" if self.missing == "em" else "regularized"

    @property
    def own_ridge(self) -> float:
        """The ridge as given; 1, as in missMDA, where it is not."""
        return 1.0 if self.ridge is None else self.ridge
