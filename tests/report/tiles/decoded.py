"""What the page reads from the bytes of an answer, in numpy; a small scatter to ask about."""

import struct

import numpy as np

from lowdim.report.tiles import Colour, Places, Scatter


def tile(answer):
    total, k, full, marked = struct.unpack("<IIfI", answer[:16])
    bins, counts, marks = (np.frombuffer(answer, "<u2", k, 16 + 2 * k * part) for part in range(3))
    colours, pure = (np.frombuffer(answer, "u1", k, 16 + 6 * k + k * part) for part in range(2))
    assert len(answer) == 16 + 8 * k
    x, y = (sum(((bins.astype(int) >> (2 * b + side)) & 1) << b for b in range(8)) for side in range(2))
    return {
        "total": total, "full": full, "marked": marked, "x": x, "y": y, "counts": counts, "marks": marks,
        "colours": colours, "pure": pure,
    }  # fmt: skip


def points(answer):
    total, k, wanted, _ = struct.unpack("<IIII", answer[:16])
    rows = np.frombuffer(answer, "<u4", k, 16)
    x, y = (np.frombuffer(answer, "<u2", k, 16 + 4 * k + 2 * k * part) for part in range(2))
    colours, marks = (np.frombuffer(answer, "u1", k, 16 + 8 * k + k * part) for part in range(2))
    assert len(answer) == 16 + 10 * k
    return {"total": total, "wanted": wanted, "rows": rows, "x": x, "y": y, "colours": colours, "marks": marks}


def unit(xy):
    """Coordinates from 0 to 1, as the file has them."""
    seen = xy[np.isfinite(xy).all(axis=1)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    return (xy - (low + high) / 2) / (high - low).max() * (1 - 1e-6) + 0.5


def scatter(n=5000, seed=0, n_classes=4):
    """Clumps, some rows without a place, a class or a value."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, n_classes, n)
    maps = [rng.normal(size=(n_classes + 1, 2))[codes] * 3 + rng.normal(size=(n, 2)) for _ in range(2)]
    maps[1][rng.random(n) < 0.1] = np.nan
    amount = rng.normal(size=n)
    amount[rng.random(n) < 0.2] = np.nan
    colours = [Colour("class", codes, [f"c{k}" for k in range(n_classes)]), Colour("amount", amount)]
    names = [f"Row-{i} é" for i in range(n)]
    return Scatter("study", [Places("a", maps[0]), Places("b", maps[1])], np.arange(n) + 1, colours, names)
