"""t-SNE's repulsion on a device: on a grid, the twin of `_grid.GridField`, or over all pairs in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.devices import Device

SPACING = 1 / 4  # of the nodes, in widths of the kernel; see `_grid`
CELLS = 50  # at least so many across the map, which starts very small
REACH = 3  # nodes on each side that the spline of a point reaches
MOST_NODES = 2**27
POINTS = 2**21  # points spread at once
SMOOTH = np.unique([2**a * b for a in range(3, 14) for b in (4, 5, 6, 7)])  # few: a transform is planned for each


def field(device: Device, dof: float, *, grid: bool) -> Any:
    """The repulsive forces on the points of a map, step after step."""
    return GridField(device, dof) if grid else AllPairs(device, dof)


class AllPairs:
    """Forces between all pairs, in any number of dimensions."""

    def __init__(self, device: Device, dof: float) -> None:
        self.device, self.dof = device, dof

    def __call__(self, Z: Any) -> tuple[Any, Any]:
        """The forces (not yet divided by the sum of the kernel) and that sum, over pairs of different points."""
        n, eps = len(Z), self.device.torch.finfo(Z.dtype).eps
        pushed, total = Z.new_empty(Z.shape), Z.new_zeros(()).double()
        step = self.device.rows(n * Z.element_size() * (Z.shape[1] + 2), n, copies=3)
        for low in range(0, n, step):
            gaps = Z[low : low + step, None] - Z
            base = 1 / (1 + gaps.square().sum(dim=2) / self.dof)
            w = base if self.dof == 1 else base ** ((self.dof + 1) / 2)
            total = w.double().sum() + total
            pushed[low : low + step] = (gaps * (w * base)[:, :, None]).sum(dim=1)
        return pushed, (total - n).clamp(min=8 * n * eps)


class GridField:
    """Points become charges on regular nodes, and sums over pairs become convolutions; one or two dimensions."""

    def __init__(self, device: Device, dof: float) -> None:
        self.device, self.dof = device, dof
        self._key: Any = None
        self._kernels: tuple[Any, Any]

    def __call__(self, Z: Any) -> tuple[Any, Any]:
        """The forces (not yet divided by the sum of the kernel) and that sum, over pairs of different points."""
        torch = self.device.torch
        ends = torch.stack([Z.amin(dim=0), Z.amax(dim=0)]).double().cpu().numpy()
        spans = ends[1] - ends[0]
        if not np.isfinite(spans).all():
            return torch.full_like(Z, torch.nan), torch.tensor(torch.nan)
        spacing = self._spacing(float(spans.max()))
        used = [int(span / spacing) + 2 * REACH + 2 for span in spans]
        if np.prod([2.0 * cells for cells in used]) > MOST_NODES:
            return AllPairs(self.device, self.dof)(Z)  # a map so wide is mostly empty space
        size = int(SMOOTH[np.searchsorted(SMOOTH, 2 * max(used))])  # the same along both axes: fewer plans
        if self._key is None or self._key[0] != spacing or self._key[1] < 2 * max(used):
            self._key, self._kernels = (spacing, size), self._transforms(spacing, [size] * len(used))
        box = self.device.tensor(np.append(ends[0] - REACH * spacing, 1 / spacing))
        return self._forces(Z, box, used, [self._key[1]] * len(used))

    def _spacing(self, span: float) -> float:
        """One of a geometric series, so that a map that grows a little keeps its grid."""
        widest = SPACING * np.sqrt(self.dof)
        wanted = min(max(span, 1e-30) / CELLS, widest)
        return float(widest * 2.0 ** (0.5 * np.floor(2.0 * np.log2(wanted / widest) + 1e-9)))

    def _transforms(self, spacing: float, sizes: list[int]) -> tuple[Any, Any]:
        """Of the kernel and of the force along each axis, with the splines deconvolved on both sides."""
        torch, options = self.device.torch, {"dtype": self.device.torch.float64, "device": self.device.name}
        steps = [spacing * torch.fft.fftfreq(size, 1 / size, **options) for size in sizes]
        offsets = torch.meshgrid(*steps, indexing="ij")
        base = 1 / (1 + sum(d * d for d in offsets) / self.dof)
        w = base ** ((self.dof + 1) / 2)
        undo = torch.ones([1] * len(sizes), **options)
        for axis, size in enumerate(sizes):
            frequency = (torch.fft.rfftfreq if axis == len(sizes) - 1 else torch.fft.fftfreq)(size, **options)
            angle = 2 * np.pi * frequency
            spline = (33 + 26 * angle.cos() + (2 * angle).cos()) / 60
            shape = [1] * len(sizes)
            shape[axis] = -1
            undo = undo * (1 / spline**2).view(shape)
        # The kernel is even and the forces are odd: one has a real transform, the others an imaginary one.
        even = torch.fft.rfftn(w).real * undo / float(np.prod(sizes))
        even[..., 1 : (sizes[-1] + 1) // 2] *= 2  # half of the frequencies are stored
        odd = torch.stack([torch.fft.rfftn(d * w * base).imag * undo for d in offsets])
        return even, torch.complex(torch.zeros_like(odd), odd).to(torch.complex64)

    def _forces(self, Z: Any, box: Any, used: list[int], sizes: list[int]) -> tuple[Any, Any]:
        torch = self.device.torch
        hat = torch.fft.rfftn(self._spread(Z, box, used), s=sizes)
        even, odd = self._kernels
        power = hat.real.double().square_().add_(hat.imag.double().square_())
        total = power.mul_(even).sum()
        fields = torch.fft.irfftn(hat * odd, s=sizes, dim=tuple(range(1, len(sizes) + 1)))
        return self._gather(Z, box, used, fields), (total - len(Z)).clamp(min=1e-6 * len(Z))

    def _splines(self, Z: Any, box: Any, used: list[int], strides: list[int]) -> tuple[Any, Any]:
        """Nodes that the splines of each point reach, as places in the flattened grid, and their weights, 6 an axis."""
        torch = self.device.torch
        nodes, weights = Z.new_zeros((len(Z), 1)).long(), Z.new_ones((len(Z), 1))
        for axis, cells in enumerate(used):
            x = ((Z[:, axis].double() - box[axis]) * box[-1]).float()
            first = (x.long() - 2).clamp_(0, cells - 6)
            here = torch.stack(_weights(x - (first + 2).float()), dim=1)
            at = (first[:, None] + torch.arange(6, device=Z.device)) * strides[axis]
            nodes = (nodes[:, :, None] + at[:, None]).flatten(1)
            weights = (weights[:, :, None] * here[:, None]).flatten(1)
        return nodes, weights

    def _is_fused(self, Z: Any) -> bool:
        return self.device.fused is not None and Z.shape[1] == 2 and Z.dtype == self.device.torch.float32

    def _spread(self, Z: Any, box: Any, used: list[int]) -> Any:
        """The sum over the points of their splines, added as whole numbers: the order of additions does not matter."""
        torch = self.device.torch
        unit = 2.0 ** min(40, 62 - int(np.ceil(np.log2(len(Z) + 1))))
        if self._is_fused(Z):
            return (self.device.fused.spread(Z, box, used, unit).double() / unit).float()
        grid = torch.zeros(int(np.prod(used)), dtype=torch.int64, device=Z.device)
        for part in Z.split(max(1, POINTS // self.device.shrink)):
            nodes, weights = self._splines(part, box, used, _strides(used))
            grid.index_add_(0, nodes.flatten(), (weights.double().flatten() * unit).long())
        return (grid.double() / unit).float().view(used)

    def _gather(self, Z: Any, box: Any, used: list[int], fields: Any) -> Any:
        """The splines of each point times every field."""
        if self._is_fused(Z):
            return self.device.fused.gather(Z, box, used, fields)
        parts = []
        for part in Z.split(max(1, POINTS // self.device.shrink)):
            nodes, weights = self._splines(part, box, used, _strides(fields.shape[1:]))
            parts.append(self.device.torch.stack([(f.flatten()[nodes] * weights).sum(dim=1) for f in fields], dim=1))
        return self.device.torch.cat(parts)


def _strides(shape: Any) -> list[int]:
    """How far apart neighbours along each axis are in the flattened grid."""
    return [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]


def _weights(t: Any) -> list[Any]:
    """The six B-splines of degree five that reach a point at t between two nodes."""
    u = 1 - t

    def middle(d: Any) -> Any:
        square = d * d
        return 11 / 20 + square * (-0.5 + square * (0.25 - d / 12))

    def side(d: Any) -> Any:
        return 17 / 40 + d * (5 / 8 + d * (-7 / 4 + d * (5 / 4 + d * (-3 / 8 + d / 24))))

    return [u**5 / 120, side(1 + t), middle(t), middle(u), side(1 + u), t**5 / 120]
