"""Geodesic distances: lengths of shortest paths from many rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim import _native
from lowdim._core.gpu import devices, paths
from lowdim._core.gpu.devices import Device
from lowdim._core.graph.edges import Edges, bare_arrays, edge_arrays
from lowdim._core.runtime.threads import blocks, n_threads

# Sources searched together by vector width, and how often an edge may be relaxed on average before the heap
# takes over: relaxing an edge costs 11 ns in the heap, and 0.3 ns (AVX-512) to 1.4 ns (baseline) a lane in a
# group.
# Measured in CPU seconds of one thread, k = 10, groups of 16 / 32 / 64, one heap a source, scipy's Dijkstra:
#                                                 AVX-512          baseline        heap   scipy      relaxed
#   Swiss roll, 5,000 rows, all pairs         .56 / .41 / .34   1.05 / .92 / 1.00   3.2    4.7         3.0
#   MNIST (784 columns), 5,000, all pairs     .94 / .73 / .55   1.86 / 1.8 / 1.96   3.7    4.8         4.3
#   Swiss roll, 20,000, 200 random sources    .21 / .20 / .17    .39 / .45 / .60    .66    .89         9.5
#   MNIST, 5,000, 200 random sources         .053 /.041 /.031   .100 /.090 /.095    .18    .22         5.5
# So groups win on every one of these; the heap stays for the graphs where they would not.
_LANES = {"avx512": 64, "avx2": 32, "baseline": 32}
_PATIENCE = {"avx512": 40.0, "avx2": 20.0, "baseline": 8.0}
_TABLE_BYTES = 128 * 2**20  # most memory for one thread's table of n x lanes distances
_GROUPS_PER_CALL = 32  # groups between two steps of the progress bar


def geodesics(
    G: Any,
    sources: Any = None,
    *,
    n_jobs: int | None = None,
    dtype: Any = None,
    progress: Any = None,
) -> np.ndarray:
    """Lengths of the shortest paths from `sources` to every row: exact, and inf where no path leads.

    Each length is the least, over all paths, of the sum rounded from the source outwards in float64. It does
    not depend on `n_jobs`, on the vector width of the machine or on which sources are asked for together.
    D[i, j] and D[j, i] are summed from opposite ends and agree to 1e-12 relative (each edge of the path can
    add 1.1e-16).

    Parameters
    ----------
    G : sparse matrix of shape (n, n)
        Symmetric, lengths >= 0; stored zeros are edges of length 0.
    sources : array of int or None
        Rows to start from; None means every row.
    n_jobs : int or None
        Threads.
    dtype : float32, float64 or None
        Type of the result; None is float64. Paths are summed in float64 either way.
    progress : object with an ``advance()``, or None
        Advanced after each block of sources.

    Returns
    -------
    ndarray of shape (len(sources), n)

    Examples
    --------
    >>> from scipy import sparse
    >>> path = sparse.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    >>> geodesics(path, [0]).tolist()
    [[0.0, 1.0, 3.0]]
    """
    edges, kind = edge_arrays(G), _checked_dtype(dtype)
    wanted = _checked_sources(sources, G.shape[0])
    distinct, back = np.unique(wanted, return_inverse=True)
    if len(distinct) < len(wanted):
        return geodesics(G, distinct, n_jobs=n_jobs, dtype=dtype, progress=progress)[back]
    out = np.empty((len(wanted), G.shape[0]), dtype=kind)
    _search(edges, wanted, out, n_threads(n_jobs), progress)
    return out


def geodesics_on(device: Device, G: Any, sources: Any, *, dtype: Any = None, owner: str = "geodesics") -> Any:
    """The same lengths from a GPU, as a tensor there of shape (sources, n); sums are made in the precision of `dtype`.

    Parameters
    ----------
    device : Device
        The GPU.
    G, sources, dtype
        As in `geodesics`, but for a graph that `neighbor_graph` made, which is not checked, and different sources.
    owner : str
        Who asks; error messages begin with it.

    Returns
    -------
    tensor of shape (len(sources), n)
    """
    starts, ends, lengths = bare_arrays(G)
    wanted, kind = _checked_sources(sources, G.shape[0]), _checked_dtype(dtype)
    needed = paths.needs(G.shape[0], len(ends), len(wanted), kind.itemsize)
    devices.check_memory(device, needed, owner, "Set a smaller n_landmarks.")
    return devices.run(device, lambda on: paths.geodesics(on, starts, ends, lengths, wanted, kind), owner)


def _search(edges: Edges, sources: np.ndarray, out: np.ndarray, threads: int, progress: Any) -> None:
    """Fill row s of `out` with the distances from sources[s]."""
    rows, groups = _grouped(edges, sources, _lanes(out.shape[1], len(sources), threads))
    ordered = sources[rows]
    patience, hopeless = _PATIENCE[_native.simd_width()], False
    for part in blocks(len(groups) - 1, max(_GROUPS_PER_CALL, 4 * threads)):
        if hopeless:
            some = slice(groups[part.start], groups[part.stop])
            _native.heap_paths(*edges, ordered[some], rows[some], out, threads)
        else:
            borders = groups[part.start : part.stop + 1]
            hopeless = _native.batched_paths(*edges, ordered, rows, borders, out, patience, threads) > 0
        if progress is not None:
            progress.advance()


def _lanes(n: int, m: int, threads: int) -> int:
    """Sources in a group: what suits the vectors, less if the table gets too large or a thread idles."""
    lanes = _LANES[_native.simd_width()]
    while lanes > 8 and (8 * n * lanes > _TABLE_BYTES or m <= (threads - 1) * lanes):
        lanes //= 2
    return lanes


def _grouped(edges: Edges, sources: np.ndarray, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """An order of the sources in which neighbours follow each other, and the borders of the groups in it."""
    order = np.empty(len(sources), dtype=np.int64)
    groups = np.empty(len(sources) + 1, dtype=np.int64)
    count = _native.source_groups(edges[0], edges[1], sources, lanes, order, groups)
    return order, groups[: count + 1]


def _checked_sources(sources: Any, n: int) -> np.ndarray:
    if sources is None:
        return np.arange(n, dtype=np.int32)
    found = np.asarray(sources)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(f"geodesics: sources must be a list of row numbers; got {found.dtype}, {found.shape}.")
    if found.size and not (found.min() >= 0 and found.max() < n):
        raise ValueError(f"geodesics: sources must lie in 0..{n - 1}; got {found.min()}..{found.max()}.")
    return found.astype(np.int32)


def _checked_dtype(dtype: Any) -> np.dtype:
    kind = np.dtype(np.float64 if dtype is None else dtype)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"geodesics: dtype must be float32 or float64; got {kind}.")
    return kind
