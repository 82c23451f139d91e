"""Models in files: arrays and JSON in one zip, readable next year and unable to run anything.

A file holds ``model.json`` (format, version, class, parameters, fitted state) and a ``.npy`` member for each
array, and a digest of both. Only data can be written: numbers, text, arrays, and the records and estimators of lowdim
itself.
Classes are named by tags (`records`), never by modules, so that a file outlives a move of the code. Reading looks
tags up in fixed tables, and checks every size before memory is taken.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

import lowdim
from lowdim._core.persist.nodes import FORMAT, VERSION, describe, estimator_of
from lowdim._core.persist.reading import read
from lowdim._core.persist.usable import digest_of
from lowdim._core.persist.writing import Writer, member, write_zip
from lowdim._core.runtime.files import write_atomically


class ModelFileError(ValueError):
    """A model file that is damaged, was changed, has a newer format, or holds something that is not a model.

    Raised by `lowdim.load`; also a ValueError.
    """


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that `load` reads back.

    The file holds data only, so it can be read without trusting its author. It appears complete or not at all: an
    earlier file of that name stays until the new one is on disk. A `callback` is code and is not written.

    Parameters
    ----------
    model : estimator of lowdim, or model of a table
        Fitted or not.
    path : str or path
        Where to. An existing file is replaced.

    Raises
    ------
    TypeError
        Where a parameter or attribute is not data, such as a function or a random generator. Then nothing is
        written.

    Examples
    --------
    >>> import lowdim, os, tempfile
    >>> model = lowdim.PCA(2).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.lowdim")
    ...     lowdim.save(model, path)
    ...     lowdim.load(path).n_components_
    2
    """
    if estimator_of(model) is None:
        raise TypeError(f"save: model must be an estimator of lowdim; got {describe(model)}.")
    text, arrays = content_of(model)
    write_atomically(path, lambda temporary: write_zip(temporary, text, arrays), owner="save")


def content_of(model: Any) -> tuple[bytes, list[np.ndarray]]:
    """What goes into the file of a model: its JSON, and the arrays that this refers to by number."""
    writer = Writer()
    content = writer.node(model, type(model).__name__, 0)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "lowdim": lowdim.__version__,
        "digest": digest_of(content, {member(number): array for number, array in enumerate(writer.arrays)}),
        "model": content,
    }
    return json.dumps(document, indent=1, allow_nan=False).encode("ascii"), writer.arrays


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is run, whoever wrote it. What loads also transforms: a few rows are placed before the model is
    handed out.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator of lowdim, or model of a table
        With the same parameters and fitted state: ``transform`` gives the same bits on the same machine with
        the same BLAS.

    Raises
    ------
    ModelFileError
        Where the file is damaged or was changed, has a newer format, or holds something that is not a model of lowdim.
    MemoryError
        Where reading it would take more than the memory limit.

    Examples
    --------
    >>> import pathlib, tempfile, lowdim
    >>> X = lowdim.datasets.swiss_roll(100, random_state=0).X
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "roll.lowdim"
    >>> lowdim.save(lowdim.PCA(2).fit(X), path)
    >>> lowdim.load(path).transform(X).shape
    (100, 2)
    """
    path = os.fsdecode(path)
    with open(path, "rb") as stream:
        try:
            return read(stream)
        except (MemoryError, ImportError):
            raise
        except Exception as error:
            raise ModelFileError(f"load: {path!r} cannot be read as a model: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    text = str(error).rstrip(".")
    return text if type(error) is ValueError and text else f"{type(error).__name__} {text}".strip()
