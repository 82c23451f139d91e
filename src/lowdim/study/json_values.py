"""Values of any kind as JSON can hold them."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A value as JSON can hold it: NaN and infinity as None, other objects as their `repr`."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.size > 100:
        return f"array of shape {value.shape}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    return repr(value)
