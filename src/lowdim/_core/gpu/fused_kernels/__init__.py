# mypy: disable-error-code="attr-defined,no-untyped-def,misc,no-untyped-call,untyped-decorator"
"""The loops that PyTorch alone makes in many passes, each as one kernel of Triton.

Loaded only on a GPU, and only where Triton is installed, which comes with PyTorch for Linux. Their twins in plain
PyTorch are `Edges.pull`, the sums of `GridField`, `spectral.multiply` and `cells.Lists`; tests compare them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lowdim._core.gpu.fused_kernels.cells import Lists, nearest_means
from lowdim._core.gpu.fused_kernels.paths import relax
from lowdim._core.gpu.fused_kernels.search import least_of_groups
from lowdim._core.gpu.fused_kernels.stress_pass import stress
from lowdim._core.gpu.fused_kernels.umap import Slices

__all__ = [
    "Lists",
    "Slices",
    "gather",
    "least_of_groups",
    "multiply",
    "nearest_means",
    "pull",
    "relax",
    "spread",
    "squares",
    "stress",
    "try_out",
]

triton: Any = import_module("triton")
tl: Any = import_module("triton.language")

EDGES, POINTS = 128, 128  # handled together by one program


@triton.jit
def _pull(starts, ends, weights, z, out, over_dof, block: tl.constexpr):
    """One program a row: its edges in order, block by block."""
    row = tl.program_id(0)
    first = tl.load(starts + row)
    last = tl.load(starts + row + 1)
    x = tl.load(z + 2 * row)
    y = tl.load(z + 2 * row + 1)
    along_x = tl.zeros([block], tl.float32)
    along_y = tl.zeros([block], tl.float32)
    for e in range(first, last, block):
        at = e + tl.arange(0, block)
        inside = at < last
        other = tl.load(ends + at, mask=inside, other=0)
        p = tl.load(weights + at, mask=inside, other=0.0)
        dx = x - tl.load(z + 2 * other, mask=inside, other=0.0)
        dy = y - tl.load(z + 2 * other + 1, mask=inside, other=0.0)
        w = p / (1.0 + (dx * dx + dy * dy) * over_dof)
        along_x += w * dx
        along_y += w * dy
    tl.store(out + 2 * row, tl.sum(along_x, 0))
    tl.store(out + 2 * row + 1, tl.sum(along_y, 0))


@triton.jit
def _spline(t, which: tl.constexpr):
    """One of the six B-splines of degree five that reach a point at t between two nodes."""
    u = 1.0 - t
    if which == 0:
        return u * u * u * u * u / 120.0
    elif which == 5:
        return t * t * t * t * t / 120.0
    elif which == 1 or which == 4:
        d = 1.0 + (t if which == 1 else u)
        return 17.0 / 40 + d * (5.0 / 8 + d * (-7.0 / 4 + d * (5.0 / 4 + d * (-3.0 / 8 + d / 24.0))))
    else:
        d = t if which == 2 else u
        s = d * d
        return 11.0 / 20 + s * (-0.5 + s * (0.25 - d / 12.0))


@triton.jit
def _place(z, box, points, inside, axis: tl.constexpr, cells):
    """The first node that the splines of each point reach along an axis, and where the point is after the third."""
    at = tl.load(z + 2 * points + axis, mask=inside, other=0.0).to(tl.float64)
    x = ((at - tl.load(box + axis)) * tl.load(box + 2)).to(tl.float32)
    node = tl.minimum(tl.maximum(x.to(tl.int32) - 2, 0), cells - 6)
    return node, x - (node + 2).to(tl.float32)


# Without a kernel of its own for sizes that are multiples of 16: each would be compiled anew.
@triton.jit(do_not_specialize=["n", "rows", "columns"])
def _spread(z, box, grid, n, rows, columns, unit, block: tl.constexpr):
    """Splines of points added to the grid as whole numbers."""
    points = tl.program_id(0) * block + tl.arange(0, block)
    inside = points < n
    down, t = _place(z, box, points, inside, 0, rows)
    across, u = _place(z, box, points, inside, 1, columns)
    for a in tl.static_range(6):
        wa = _spline(t, a)
        line = (down + a) * columns + across
        for b in tl.static_range(6):
            value = (wa * _spline(u, b) * unit).to(tl.int64)
            tl.atomic_add(grid + line + b, value, mask=inside, sem="relaxed")


@triton.jit(do_not_specialize=["n", "rows", "columns", "stride", "size"])
def _gather(z, box, fields, out, n, rows, columns, stride, size, block: tl.constexpr):
    """Splines of points times two fields, which lie one after the other."""
    points = tl.program_id(0) * block + tl.arange(0, block)
    inside = points < n
    down, t = _place(z, box, points, inside, 0, rows)
    across, u = _place(z, box, points, inside, 1, columns)
    along_x = tl.zeros([block], tl.float32)
    along_y = tl.zeros([block], tl.float32)
    for a in tl.static_range(6):
        wa = _spline(t, a)
        line = (down + a) * stride + across
        for b in tl.static_range(6):
            w = wa * _spline(u, b)
            along_x += w * tl.load(fields + line + b, mask=inside, other=0.0)
            along_y += w * tl.load(fields + size + line + b, mask=inside, other=0.0)
    tl.store(out + 2 * points, along_x, mask=inside)
    tl.store(out + 2 * points + 1, along_y, mask=inside)


def pull(starts, ends, weights, Z, over_dof: float) -> Any:
    """The attraction of the edges on a map of two dimensions, in single precision."""
    out = Z.new_empty(Z.shape)
    _pull[(len(Z),)](starts, ends, weights, Z, out, float(over_dof), block=EDGES, num_warps=1)
    return out


def spread(Z, box, used: list[int], unit: float) -> Any:
    """The sum over the points of their splines, in whole numbers of 1 / unit; `box` is low, low and 1 / spacing."""
    grid = box.new_zeros(used).long()
    _spread[(triton.cdiv(len(Z), POINTS),)](Z, box, grid, len(Z), used[0], used[1], float(unit), block=POINTS)
    return grid


def gather(Z, box, used: list[int], fields) -> Any:
    """The splines of each point times both fields, a tensor of shape (2, rows, columns)."""
    out, (_, rows, columns) = Z.new_empty(Z.shape), fields.shape
    shape = (len(Z), used[0], used[1], columns, rows * columns)
    _gather[(triton.cdiv(len(Z), POINTS),)](Z, box, fields, out, *shape, block=POINTS)
    return out


@triton.jit
def _multiply(starts, ends, weights, x, out, n, rows: tl.constexpr, block: tl.constexpr):
    """The matrix of a graph times a vector: some rows, their edges in order, block by block."""
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    first = tl.load(starts + row, mask=row < n, other=0)
    last = tl.load(starts + row + 1, mask=row < n, other=0)
    sums = tl.zeros([rows, block], tl.float64)
    for e in range(0, tl.max(last - first), block):
        at = first[:, None] + e + tl.arange(0, block)[None, :]
        inside = at < last[:, None]
        other = tl.load(ends + at, mask=inside, other=0)
        w = tl.load(weights + at, mask=inside, other=0.0)
        sums += w * tl.load(x + other, mask=inside, other=0.0)
    tl.store(out + row, tl.sum(sums, 1), mask=row < n)


def multiply(starts, ends, weights, x) -> Any:
    """The matrix of a graph times a vector, in double precision."""
    out = x.new_empty(len(starts) - 1)
    _multiply[(triton.cdiv(len(out), 8),)](starts, ends, weights, x, out, len(out), rows=8, block=32, num_warps=4)
    return out


@triton.jit(do_not_specialize=["m", "n", "d"])
def _squares(q, x, out, m, n, d, rows: tl.constexpr, columns: tl.constexpr):
    """Squared distances of some rows to others, column by column of the tables, which are transposed."""
    i = tl.program_id(1).to(tl.int64) * rows + tl.arange(0, rows)
    j = tl.program_id(0).to(tl.int64) * columns + tl.arange(0, columns)
    sums = tl.zeros([rows, columns], out.dtype.element_ty)
    for c in range(d):
        one = tl.load(q + c * m + i, mask=i < m, other=0.0)
        other = tl.load(x + c.to(tl.int64) * n + j, mask=j < n, other=0.0)
        gap = one[:, None] - other[None, :]
        sums += gap * gap
    tl.store(out + i[:, None] * n + j[None, :], sums, mask=(i < m)[:, None] & (j < n)[None, :])


def squares(Q, X) -> Any:
    """Squared distances of the rows of Q to those of X by their differences, in their precision."""
    (m, d), n = Q.shape, len(X)
    out = X.new_empty((m, n))
    grid = triton.cdiv(n, 64), triton.cdiv(m, 64)
    _squares[grid](Q.T.contiguous(), X.T.contiguous(), out, m, n, d, rows=64, columns=64, num_warps=4)
    return out


def try_out(torch: Any) -> None:
    """Compile and run the smallest kernel; whatever Triton lacks here is raised."""
    starts, ends = torch.tensor([0, 1, 2], device="cuda"), torch.tensor([1, 0], device="cuda", dtype=torch.int32)
    x = torch.tensor([1.0, 2.0], device="cuda", dtype=torch.float64)
    if multiply(starts, ends, torch.ones_like(x), x).tolist() != [2.0, 1.0]:
        raise RuntimeError("a kernel of Triton gave a wrong result")
