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
    for group in range(groups):
        first = tl.load(starts + group)
        last = tl.load(starts + group + 1)
        best = tl.full([rows], float("inf"), tl.float32)
        for low in range(first, last, columns):
            j = low + tl.arange(0, columns).to(tl.int64)
            there = j < last
            products = tl.zeros([rows, columns], tl.float32)
            for at in range(0, d, cells):
                one = tl.load(q + i[:, None] * d + at + k[None, :], mask=filled[:, None], other=0.0)
                other = tl.load(y + j[None, :] * d + at + k[:, None], mask=there[None, :], other=0.0)
                products = tl.dot(one, other, products, input_precision="tf32")
            size = tl.load(norms + j, mask=there, other=float("inf"))
            best = tl.minimum(best, tl.min(size[None, :] - 2.0 * products, 1))
        tl.store(out + i * groups + group, best, mask=filled)


def least_of_groups(torch, Q, Y, norms, starts) -> Any:
    """The least |y|² - 2 q.y over each group; rows of Y lie group after group."""
    wide = -(-Q.shape[1] // CELLS) * CELLS
    Q, Y = (torch.nn.functional.pad(part, (0, wide - part.shape[1])).contiguous() for part in (Q, Y))
    out = Q.new_empty((len(Q), len(starts) - 1))
    grid = (triton.cdiv(len(Q), ROWS),)
    shape = {"d": wide, "rows": ROWS, "columns": COLUMNS, "cells": CELLS}
    stages = 2 if wide == CELLS else 1  # what fits into shared memory
    _least[grid](Q, Y, norms, starts, out, len(Q), len(starts) - 1, **shape, num_warps=8, num_stages=stages)
    return out
