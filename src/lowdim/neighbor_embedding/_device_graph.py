"""What t-SNE and UMAP begin with on a GPU: affinities of neighbours, and principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.gpu import cells
from lowdim._core.gpu.affinities import Graph, calibrated, joint
from lowdim._core.gpu.devices import BLOCK_BYTES, Device
from lowdim._core.gpu.fuzzy import memberships, union
from lowdim._core.gpu.spectral import BASIS, labels_of, smoothest
from lowdim._core.graph import Connected
from lowdim._core.graph.connectivity import bridges, by_size
from lowdim._core.neighbors import SEARCH, Neighbors, device_lists
from lowdim._core.neighbors.on_device import MANY
from lowdim._core.neighbors.on_device import needs as neighbor_needs
from lowdim._core.spectrum import fix_signs
from lowdim._core.spectrum.principal_on_device import principal_places
from lowdim.neighbor_embedding import _fuzzy, _init

PAIR = 114  # bytes of a row and its neighbour where both directions are sorted, measured at 1 and 10 million rows
LISTED = 50  # the same while neighbours of fewer rows are searched


def gaussian(device: Device, X: Any, k: int, *, perplexity: Any, search: str, owner: str) -> tuple[Graph, float]:
    """t-SNE's affinities of dense rows under the Euclidean distance, and the recall of the neighbours."""
    squares, indices, recall = device_lists(device, X, k, approximate=SEARCH[search], owner=owner)
    return joint(device, indices, calibrated(device, squares, perplexity)), recall


def of_lists(device: Device, found: Neighbors, perplexity: Any) -> Graph:
    """t-SNE's affinities from lists of neighbours, however they were found."""
    squares = device.tensor(np.square(found.distances, dtype=np.float64))
    return joint(device, device.tensor(found.indices).long(), calibrated(device, squares, perplexity))


def principal(device: Device, X: Any, k: int) -> np.ndarray | None:
    """The first k principal components as `_init.principal` scales them; None where the CPU has to decide the rank."""
    found = None if sparse.issparse(X) else principal_places(device, X, k)
    return None if found is None else _init.scaled(found)


def needs(n: int, d: int, k: int, itemsize: int) -> dict[str, int]:
    """Bytes on the device for n rows with k neighbours at the peak: in the search, or where pairs are sorted."""
    rows = {"rows": n * d * (itemsize + 4), "map and forces": 64 * n}
    if n >= MANY:
        search = cells.needs(n, d, k)
    else:  # measured at 15 and at 90 neighbours
        share = min(1.0, 4 / 9 + max(0, k - 15) / 135)
        blocks = int(share * min(9 * BLOCK_BYTES // 4, 24 * n * n))
        blocks = max(blocks, neighbor_needs(n, d, itemsize, k)["blocks"])
        search = {"neighbours": LISTED * n * k, "blocks": blocks}
    pairs: dict[str, int] = {"pairs, sorted": PAIR * n * k}
    return rows | (search if sum(search.values()) > sum(pairs.values()) else pairs)


def fuzzy_graph(device: Device, X: Any, k: int, *, search: str, connectivity: float, mix: float) -> tuple[Graph, float]:
    """The fuzzy union of the neighbours of dense rows under the Euclidean distance, and the recall of the search."""
    squares, indices, recall = device_lists(device, X, k, approximate=SEARCH[search], owner="UMAP")
    return union(device, indices, memberships(device, squares.sqrt_(), connectivity, _fuzzy.LEAST_WIDTH), mix), recall


def start(init: str, rows: Any, graph: Graph, k: int, rng: np.random.Generator) -> np.ndarray | None:
    """Coordinates for "pca" or "spectral" as `_init.computed` scales them; None where the CPU has to find them."""
    if init == "pca":
        return None if rows is None else principal(graph.device, rows, k)
    found = smoothest(graph, k, rng)
    return None if found is None else _init.scaled(fix_signs(found))


def fuzzy_needs(n: int, d: int, k: int, itemsize: int, *, spectral: bool) -> dict[str, int]:
    """Bytes on the device: as for t-SNE's graph, or while eigenvectors of the graph are found."""
    sorting = needs(n, d, k, itemsize)
    basis = {"graph": 40 * n * k, "basis of eigenvectors": 8 * n * (3 * BASIS // 2) if spectral else 0}
    return max(sorting, basis, key=lambda parts: sum(parts.values()))


def computed(init: str, rows: Any, W: Any, k: int, rng: np.random.Generator, owner: str) -> np.ndarray:
    """As `_init.computed`; on a GPU where the graph is there."""
    if isinstance(W, Graph):
        found = start(init, rows, W, k, rng)
        if found is not None:
            return found
        W = W.to_scipy()
    return _init.computed(init, rows, W, k, rng, owner)


def joined(W: Any, rows: Any, place: Device | None, *, keep: bool, **settings: Any) -> tuple[Any, Connected]:
    """The fuzzy graph after the policy for connected components, on a GPU where all rows are mapped together.

    `keep`: on the CPU in any case.
    """
    if isinstance(W, Graph):
        n = W.shape[0]
        labels = labels_of(W.device, W.rows.long(), W.ends.long(), n)
        if not labels.any():
            return W, Connected(W, 1, np.zeros(n, dtype=np.int32), np.ones(n, dtype=bool))
        if settings["policy"] == "bridge" and not keep:
            return _bridged(W, rows, by_size(labels.cpu().numpy()), settings)
        W, place = W.to_scipy(), W.device
    W, found = _fuzzy.joined(W, rows, device=place, **settings)
    if place is None or keep or not found.kept.all() or len(found.parts(settings["policy"])) > 1:
        return W, found
    return Graph.of(place, W), found


def _bridged(
    W: Graph, rows: Any, components: tuple[int, np.ndarray], settings: dict[str, Any]
) -> tuple[Any, Connected]:
    """The graph joined by the shortest edges between its components, which have the weight of the weakest link."""
    count, labels = components
    settings = {name: settings[name] for name in ("metric", "owner", "n_jobs")}
    edges = bridges(rows, labels, device=W.device, **settings)
    joined = W.with_edges(np.array([ends for _, *ends in edges]), W.weakest_link())
    return joined, Connected(joined, count, labels, np.ones(len(labels), dtype=bool))
