"""The part of every estimator that leaves rows where they are, if they are in a tensor on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from lowdim._core import validate
from lowdim._core.gpu.device_rows import DeviceRows, on_host


class StaysOnDevice:
    """A part of `Reducer`, whose methods it calls."""

    _stays: tuple[str, ...] = ()  # steps for which rows stay, such as "fit"
    _extend_there: Any = None  # as `_extend` and `_invert`, of rows and coordinates that are on a device
    _invert_there: Any = None
    _incomplete: Any
    _rows: Any
    _holes: Any
    _fitted_places: Any
    _n_features_out: int
    inverse_transform: Any

    def _takes_tensors(self, step: str) -> bool:
        """Whether rows (or coordinates) in a tensor on a GPU stay there in a step."""
        return step in self._stays and validate.stays_on_device(self)

    def _checked_there(self, X: Any, accepts: validate.Accepts, fitting: bool) -> tuple[Any, np.dtype] | None:
        """Rows on a device, checked there; None for others, and where arrays are needed."""
        checked = validate.check_there(X, accepts) if isinstance(X, DeviceRows) else None
        if checked is None:
            return None
        validate_data(self, X, reset=fitting, skip_check_array=True)
        if fitting and accepts.nan:
            self._incomplete = False
        return checked.rows, checked.dtype

    def _placed_there(self, X: Any, dtype: np.dtype) -> Any:
        """Coordinates of rows on a device, where these stay there too."""
        if self._extend_there is None or not isinstance(X, DeviceRows):
            return None
        return validate.finite_there(self._extend_there(X), dtype, type(self).__name__)

    def _inverted_there(self, Z: Any, return_outside: bool) -> Any:
        """Rows from coordinates on a device, of an exact inverse; None for other coordinates."""
        if not isinstance(Z, DeviceRows):
            return None
        if return_outside or Z.shape[1] != self._n_features_out or not np.isfinite(Z.largest):
            return self.inverse_transform(Z.host, return_outside=return_outside)  # which says what is wrong
        return validate.finite_there(self._invert_there(Z), Z.dtype, type(self).__name__, "rows")

    def _placed_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates and the cells of the rows that were kept, those without coordinates left out."""
        validate.refuse_without_rows(self._rows, type(self).__name__)
        rows = self._rows.toarray() if sparse.issparse(self._rows) else on_host(self._rows)
        rows = rows if self._holes is None else self._holes.rows(rows)
        places = self._fitted_places()
        placed = np.isfinite(places).all(axis=1)
        return places[placed], rows[placed]
