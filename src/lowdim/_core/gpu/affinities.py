"""t-SNE's affinities on a device: the twin of the compiled `calibrate_rows` and of `_affinity.joint`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.gpu.devices import Device

STEPS, TOL = 200, 1e-9  # of Newton's method for the widths
LOOK = 4  # steps between two looks at whether all rows are done


@dataclass(frozen=True, eq=False)
class Graph:
    """A symmetric graph as rows of neighbours on a device, with weights in float64; those of t-SNE sum to 1."""

    device: Device
    starts: Any  # int64
    rows: Any  # int32: the row of every edge
    ends: Any  # int32
    weights: Any

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.starts) - 1, len(self.starts) - 1

    @classmethod
    def of(cls, device: Device, P: Any) -> Graph:
        """From a sparse matrix of scipy."""
        n, counts = P.shape[0], np.diff(P.indptr)
        rows = np.repeat(np.arange(n, dtype=np.int32), counts)
        arrays = P.indptr.astype(np.int64), rows, P.indices.astype(np.int32), P.data.astype(np.float64)
        return cls(device, *(device.tensor(array) for array in arrays))

    @classmethod
    def of_pairs(cls, device: Device, keys: Any, values: Any, n: int) -> Graph:
        """From sorted keys i * n + j of the edges (i, j), and their weights."""
        torch = device.torch
        rows = torch.div(keys, n, rounding_mode="floor")
        ends = (keys - rows * n).to(torch.int32)
        starts = torch.zeros(n + 1, dtype=torch.int64, device=keys.device)
        starts[1:] = torch.bincount(rows, minlength=n).cumsum(0)
        return cls(device, starts, rows.to(torch.int32), ends, values)

    def to_scipy(self) -> sparse.csr_array:
        data, ends, starts = (part.cpu().numpy() for part in (self.weights, self.ends, self.starts))
        return sparse.csr_array((data, ends, starts), shape=self.shape)

    def with_edges(self, ends: np.ndarray, weight: Any) -> Graph:
        """With edges (m, 2) that it lacks, in both directions, all of one weight."""
        torch, n, new = self.device.torch, len(self.starts) - 1, self.device.tensor(ends).long()
        keys = torch.cat([self.rows.long() * n + self.ends, new[:, 0] * n + new[:, 1], new[:, 1] * n + new[:, 0]])
        values = torch.cat([self.weights, self.weights.new_full((2 * len(new),), float(weight))])
        keys, order = keys.sort(stable=True)
        return Graph.of_pairs(self.device, keys, values[order], n)

    def weakest_link(self) -> float:
        """The least, over rows that have edges, of the weight of their heaviest edge; 1 where there is no edge."""
        counts = self.starts.diff()
        if not len(self.weights):
            return 1.0
        return float(self.device.torch.segment_reduce(self.weights, "max", lengths=counts[counts > 0]).min())

    def entropy(self) -> float:
        """In nats, of the weights as one distribution."""
        return -sum(float((part * part.clamp(min=1e-300).log()).sum()) for part in self.weights.split(2**26))


def calibrated(device: Device, squares: Any, perplexity: Any) -> Any:
    """Weights exp(-beta d²) of each row's neighbours, summing to 1, of the wanted perplexity; several are averaged.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    squares : tensor of shape (n, k), float64
        Squared distances to the neighbours.
    perplexity : float or sequence of float
        2^entropy of each row.

    Returns
    -------
    tensor of shape (n, k), float64
    """
    torch = device.torch
    wanted = np.atleast_1d(np.asarray(perplexity, dtype=np.float64))
    step = device.rows(8 * squares.shape[1], len(squares), copies=8)
    parts = []
    for part in squares.split(step):
        shifted = part - part.min(dim=1, keepdim=True).values
        parts.append(sum(_calibrate(torch, shifted, float(value)) for value in wanted) / len(wanted))
    return torch.cat(parts)


def _calibrate(torch: Any, d: Any, perplexity: float) -> Any:
    """Newton's steps for beta inside a bracket, for all rows at once; rows that are done stay."""
    target = float(np.log(perplexity))
    mean = d.mean(dim=1)
    beta = torch.where(mean > 0, 1 / mean, 1.0)
    low, high = torch.zeros_like(beta), torch.full_like(beta, torch.inf)
    done = torch.zeros_like(beta, dtype=torch.bool)
    for step in range(STEPS):
        weights = (-beta[:, None] * d).exp_()
        total = weights.sum(dim=1)
        weights *= d
        first = weights.sum(dim=1) / total
        variance = (weights.mul_(d)).sum(dim=1) / total - first * first
        gap = total.log() + beta * first - target
        done = done | (gap.abs() < TOL)
        if step % LOOK == 0 and bool(done.all()):
            break
        low = torch.where(gap > 0, beta, low)
        high = torch.where(gap > 0, high, beta)
        guess = beta + gap / (beta * variance)
        middle = torch.where(high.isinf(), beta * 2, (low + high) / 2)
        guess = torch.where((guess > low) & (guess < high), guess, middle).minimum(4 * beta)
        done = done | (guess == beta) | (guess > 1e300)
        beta = torch.where(done, beta, guess)
    weights = (-beta[:, None] * d).exp_()
    return weights / weights.sum(dim=1, keepdim=True)


def joint(device: Device, indices: Any, weights: Any) -> Graph:
    """(P + P') over its sum: symmetric to the last bit; pairs are sorted, and the two weights of a pair added.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    indices, weights : tensor of shape (n, k)
        The neighbours of each row, and their weights.

    Returns
    -------
    Graph
    """
    torch = device.torch
    n, k = indices.shape
    own = torch.arange(n, device=indices.device)[:, None].expand(n, k).flatten()
    ends = indices.flatten().long()
    keys = torch.cat([own * n + ends, ends * n + own])
    del own, ends
    keys, order = keys.sort(stable=True)
    values = torch.cat([weights.flatten(), weights.flatten()])[order]
    del order
    fresh = torch.ones_like(keys, dtype=torch.bool)
    fresh[1:] = keys[1:] != keys[:-1]
    # A pair is there once or twice; the second is added to the first.
    values[:-1] += torch.where(fresh[1:], 0.0, values[1:])
    keys, values = keys[fresh], values[fresh]
    del fresh
    return Graph.of_pairs(device, keys, values / values.sum(), n)
