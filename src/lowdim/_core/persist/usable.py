"""Whether a model from a file can be used: what loads also transforms.

A file can be whole and yet hold no model: an array left out, cut, exchanged for another. A digest of its content shows
that it was changed after it was written (files of versions 1 and 2 have none). And a few rows are placed by the model
before it is handed out, so that what was changed together with its digest fails here, not in the user's `transform`.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np

from lowdim._core.base import Reducer
from lowdim._core.distances import Gower
from lowdim._core.validate import leaves_rows_out

_PROBED = 64  # fitted rows that a model is tried on
FAR = 1e150  # of a coordinate: rows that are fitted are below 1e140


def digest_of(model: Any, arrays: Mapping[str, np.ndarray]) -> str:
    """A number that depends on every bit of a model: its JSON and its arrays by their names."""
    found = hashlib.sha256(json.dumps(model, sort_keys=True, separators=(",", ":")).encode("ascii"))
    for name in sorted(arrays):
        array = arrays[name]
        found.update(f"{name} {array.dtype.str} {array.shape} {np.isfortran(array)}".encode())
        found.update(np.ascontiguousarray(array.T if np.isfortran(array) else array).data)
    return found.hexdigest()


def check_usable(model: Any) -> None:
    """ValueError where a model has parameters that break their rules, or cannot place rows and bring them back."""
    if not isinstance(model, Reducer):
        return
    model = copy(model)  # what is computed on first use stays out of the model
    model._check_parameters()
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            _try(model)
        except (ImportError, MemoryError):
            pass  # a library that this model needs is not here, or a limit: said where it is used
        except Exception as error:
            text = str(error).splitlines()[0] if str(error) else ""
            raise ValueError(
                f"its {type(model).__name__} cannot place a row ({type(error).__name__}: {text:.120}), so parts of the "
                "model are missing or do not belong together"
            ) from error


def _try(model: Any) -> None:
    if not model._places_rows:
        if not np.isfinite(model.embedding_).any() or model.embedding_.shape[1] != model._n_features_out:
            raise ValueError(f"the embedding has shape {model.embedding_.shape}, or no finite coordinates")
        return
    rows = model._probe() if hasattr(model, "_probe") else _probe(model)
    Z = model.transform(rows)
    if Z.shape != (rows.shape[0], model._n_features_out):
        raise ValueError(f"{rows.shape[0]} rows get coordinates of shape {Z.shape}")
    if not np.isfinite(Z).all():
        raise ValueError("a row gets coordinates that are not finite")
    alone = model.transform(rows[:1])
    if not np.allclose(alone, Z[:1], rtol=1e-5, atol=1e-6 * float(np.abs(Z).max())):
        raise ValueError("the place of a row depends on the rows beside it")
    _check_embedding(model, getattr(model, "embedding_", None), Z.shape[1])
    if model._invert is not None or "_inverse" in vars(model):
        back = np.asarray(model.inverse_transform(Z))
        if back.shape != (rows.shape[0], model.n_features_in_) or (
            back.dtype.kind == "f" and not np.isfinite(back).all()
        ):
            raise ValueError(f"coordinates are brought back to rows of shape {back.shape}, or not finite")


def _check_embedding(model: Any, embedding: Any, k: int) -> None:
    """Places of the fitted rows, which a learned inverse is fitted to on first use."""
    learns = model._invert is None and model._rows is not None
    if embedding is None:
        if learns:
            raise ValueError("its rows have no places")
        return
    if embedding.ndim != 2 or embedding.shape[1] != k:
        raise ValueError(f"the embedding has shape {embedding.shape}")
    _check_places(model, embedding)
    if learns:
        fitted = model._fitted_places()
        if len(fitted) != model._rows.shape[0]:
            raise ValueError(f"the embedding has {len(embedding)} rows, which are not the fitted ones")
        _check_places(model, fitted)  # some methods keep another copy for new rows


def _check_places(model: Any, places: Any) -> None:
    largest = float(np.fmax.reduce(np.abs(places), axis=None, initial=0.0))
    if largest > FAR or (np.isnan(places).any() and not leaves_rows_out(model)):
        raise ValueError(f"the embedding has coordinates that are not finite, or as large as {largest:.0e}")


def _probe(model: Any) -> Any:
    """A few rows that the fitted model must be able to place."""
    d = model.n_features_in_
    if model._precomputed():
        return np.eye(2, d)
    if model._rows is None:
        center = np.asarray(getattr(model, "mean_", np.zeros(d)), dtype=np.float64).reshape(1, d)
        return np.vstack([center, center + np.arange(1.0, d + 1.0)])
    few = model._rows[np.unique(np.linspace(0, model._rows.shape[0] - 1, _PROBED).astype(np.intp))]
    if isinstance(model._holes, Gower):
        return model._holes.decoded(model._holes.rows(few))
    return few if model._holes is None else model._holes.rows(few)
