# mypy: disable-error-code="attr-defined,no-untyped-def,misc,no-untyped-call,untyped-decorator"
"""Products and their least values as one kernel of Triton, without a table in memory; its twin is in `bridges`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

triton: Any = import_module("triton")
tl: Any = import_module("triton.language")

ROWS, COLUMNS, CELLS = 128, 128, 64  # of a tile of products, and columns of the rows multiplied at once


@triton.jit(do_not_specialize=["m", "groups"])
def _least(
    q, y, norms, starts, out, m, groups, d: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, cells: tl.constexpr
):
    """Some queries with all rows, group after group."""
    i = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    k = tl.arange(0, cells)
    filled = i < m
    own = q + i[:, None] * d + k[None, :]
    x = tl.load(own, mask=filled[:, None], other=0.0)
    for group in range(groups):
        first = tl.load(starts + group)
        last = tl.load(starts + group + 1)
        best = tl.full([rows], float("inf"), tl.float32)
        for low in range(first, last, columns):
            j = low + tl.arange(0, columns).to(tl.int64)
            there = j < last
            place = y + j[None, :] * d + k[:, None]
            products = tl.dot(x, tl.load(place, mask=there[None, :], other=0.0))
            for at in range(cells, d, cells):
                more = tl.load(own + at, mask=filled[:, None], other=0.0)
                products = tl.dot(more, tl.load(place + at, mask=there[None, :], other=0.0), products)
            size = tl.load(norms + j, mask=there, other=float("inf"))
            best = tl.minimum(best, tl.min(size[None, :] - 2.0 * products, 1))
        tl.store(out + i * groups + group, best, mask=filled)


def least_of_groups(torch, Q, Y, norms, starts) -> Any:
    """The least |y|² - 2 q.y over each group; rows of Y lie group after group. Products are made in half precision."""
    wide = -(-Q.shape[1] // CELLS) * CELLS
    Q, Y = (torch.nn.functional.pad(part.half(), (0, wide - part.shape[1])).contiguous() for part in (Q, Y))
    out = norms.new_empty((len(Q), len(starts) - 1))
    grid = (triton.cdiv(len(Q), ROWS),)
    shape = {"d": wide, "rows": ROWS, "columns": COLUMNS, "cells": CELLS}
    _least[grid](Q, Y, norms, starts, out, len(Q), len(starts) - 1, **shape, num_warps=8, num_stages=3)
    return out
