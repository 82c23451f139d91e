# mypy: disable-error-code="attr-defined,no-untyped-def,misc,no-untyped-call,untyped-decorator"
"""A pass over dissimilarities as one kernel of Triton; its twin in plain PyTorch is `stress._block`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

triton: Any = import_module("triton")
tl: Any = import_module("triton.language")

ROWS, COLUMNS = 8, 128  # of a table, handled together by one program


@triton.jit(do_not_specialize=["m", "n", "low"])
def _stress(table, z, stress, force, m, n, low, r: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr):
    """Some rows of the table, column after column; z holds one coordinate after the other, r of them."""
    i = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    filled = i < m
    x0 = tl.load(z + low + i, mask=filled, other=0.0)
    x1 = tl.load(z + n + low + i, mask=filled & (r > 1), other=0.0)
    x2 = tl.load(z + 2 * n + low + i, mask=filled & (r > 2), other=0.0)
    missed = tl.zeros([rows, columns], tl.float64)
    f0 = tl.zeros([rows, columns], tl.float64)
    f1 = tl.zeros([rows, columns], tl.float64)
    f2 = tl.zeros([rows, columns], tl.float64)
    for first in range(0, n, columns):
        j = first + tl.arange(0, columns)
        there = j < n
        both = filled[:, None] & there[None, :]
        delta = tl.load(table + i[:, None] * n + j[None, :], mask=both, other=0.0).to(tl.float64)
        g0 = x0[:, None] - tl.load(z + j, mask=there, other=0.0)[None, :]
        g1 = x1[:, None] - tl.load(z + n + j, mask=there & (r > 1), other=0.0)[None, :]
        g2 = x2[:, None] - tl.load(z + 2 * n + j, mask=there & (r > 2), other=0.0)[None, :]
        s = g0 * g0 + g1 * g1 + g2 * g2
        inverse = tl.where(both & (s > 0.0), 1.0 / tl.sqrt(tl.where(s > 0.0, s, 1.0)), 0.0)
        miss = tl.where(both, delta - s * inverse, 0.0)
        missed += miss * miss
        c = tl.where(both, delta * inverse - 1.0, 0.0)
        f0 += c * g0
        f1 += c * g1
        f2 += c * g2
    tl.store(stress + i, tl.sum(missed, 1), mask=filled)
    tl.store(force + i * r, tl.sum(f0, 1), mask=filled)
    tl.store(force + i * r + 1, tl.sum(f1, 1), mask=filled & (r > 1))
    tl.store(force + i * r + 2, tl.sum(f2, 1), mask=filled & (r > 2))


def stress(table, Z, low: int, out, force) -> None:
    """The stress of each row's pairs and the forces on its point, of the rows of a table that begins at row `low`."""
    m, n = table.shape
    grid = (triton.cdiv(m, ROWS),)
    _stress[grid](table, Z.T.contiguous(), out, force, m, n, low, r=Z.shape[1], rows=ROWS, columns=COLUMNS, num_warps=4)
