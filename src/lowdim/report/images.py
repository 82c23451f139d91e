"""Rows that are images: their pixels, small enough for the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.report.column_views import pack
from lowdim.report.record import Compared

MOST_BYTES = 2_500_000  # pixels of all images in the page; larger images are made smaller
PIXEL = re.compile(r"pixel_(\d+)_(\d+)(?:_([rgb]))?")


def images(
    comparison: Compared, data: Any, names: Sequence[str], shape: Sequence[int] | None, drawn: np.ndarray
) -> dict[str, Any] | None:
    """Pixels of the rows that are drawn, 0 to 255; None if rows are no images.

    They are known from the names of the columns (``pixel_3_7``, ``pixel_3_7_r``: row, column and colour), as the reader
    of image folders gives them, or from `shape` with `data`: height and width, and 3 for colours.
    """
    if shape is not None:
        pixels = _shaped(data, shape, comparison.n_rows)[drawn]
    else:
        values, named = _columns(comparison, data, names)
        order = _grid(named)
        if order is None:
            return None
        pixels = np.stack([_numbers(values(j)) for j in order.ravel()], axis=1)[drawn].reshape(-1, *order.shape)
    small = _smaller(_bytes(pixels))
    height, width, channels = small.shape[1:]
    return {"width": width, "height": height, "channels": channels, "values": pack(small, np.uint8)}


def _shaped(data: Any, shape: Sequence[int], n: int) -> np.ndarray:
    sides = tuple(int(side) for side in shape)
    if len(sides) not in (2, 3) or min(sides) < 1 or sides[2:] not in ((), (1,), (3,)):
        raise ValueError(f"report: image_shape must be (height, width) or (height, width, 3); got {shape!r}.")
    if data is None or np.size(data) != n * int(np.prod(sides)):
        got = "no data" if data is None else f"data of shape {np.shape(data)}"
        raise ValueError(f"report: image_shape must fit data with {n} rows of {np.prod(sides)} pixels; got {got}.")
    return np.asarray(data, float).reshape(n, *sides, *(() if len(sides) == 3 else (1,)))


def _columns(comparison: Compared, data: Any, names: Sequence[str]) -> tuple[Any, list[str]]:
    """Values of a column by its number, and the names of all columns."""
    if comparison.columns:  # also those that no method saw, such as pixels that are white in all images
        return (lambda j: comparison.columns[j].values), [column.name for column in comparison.columns]
    if data is None or np.ndim(data) != 2:
        return (lambda j: np.empty(0)), []
    table = np.asarray(data)
    return (lambda j: table[:, j]), list(names)[: table.shape[1]]


def _numbers(values: np.ndarray) -> np.ndarray:
    return np.nan_to_num(np.asarray([np.nan if v is None else v for v in values.tolist()], float))


def _grid(names: Sequence[str]) -> np.ndarray | None:
    """The column of each pixel and colour, (height, width, channels); None if names are not those of whole images."""
    found = {match.groups(): j for j, name in enumerate(names) if (match := PIXEL.fullmatch(name))}
    if len(found) < 4:
        return None
    rows, columns = (sorted({int(key[k]) for key in found}) for k in (0, 1))
    colours = sorted({key[2] or "" for key in found}, key=("", "r", "g", "b").index)
    shape = (len(rows), len(columns), len(colours))
    whole = [*range(rows[0], rows[-1] + 1)] == rows and [*range(columns[0], columns[-1] + 1)] == columns
    if not whole or len(found) != np.prod(shape) or min(shape[:2]) < 2 or colours not in ([""], ["r", "g", "b"]):
        return None
    order = [found[str(i), str(j), c or None] for i in rows for j in columns for c in colours]
    return np.array(order).reshape(shape)


def _bytes(pixels: np.ndarray) -> np.ndarray:
    """0 to 255: pixels of eight bits as they are, others from their smallest (at most 0) to their largest value."""
    low, high = min(0.0, float(pixels.min(initial=0))), float(pixels.max(initial=0))
    if low == 0 and 128 <= high <= 255:
        high = 255.0
    return np.rint((pixels - low) * (255 / ((high - low) or 1.0))).astype(np.uint8)


def _smaller(pixels: np.ndarray) -> np.ndarray:
    """Means of square blocks of pixels, as large as the page needs."""
    by = int(np.ceil(np.sqrt(max(1.0, pixels.size / MOST_BYTES))))
    if by == 1:
        return pixels
    n, height, width, channels = pixels.shape
    padded = np.pad(pixels, ((0, 0), (0, -height % by), (0, -width % by), (0, 0)), mode="edge")
    blocks = padded.reshape(n, padded.shape[1] // by, by, padded.shape[2] // by, by, channels)
    return np.rint(blocks.mean(axis=(2, 4))).astype(np.uint8)
