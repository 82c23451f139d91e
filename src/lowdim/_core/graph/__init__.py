"""Graphs on the rows of a table: neighbours, connected components, geodesic distances, Laplacians.

A graph is a `scipy.sparse.csr_array` G of shape (n, n). A stored entry G[i, j] is an edge of that length,
also when the length is 0 (two equal rows are neighbours); an entry that is not stored is no edge. Edges
have no direction, so G is symmetric.

The length of a path is the sum of its edges; the geodesic distance of two rows is the length of the shortest
path, and inf where there is none. What is done with rows that no path joins is one choice for all methods: see
`connect`.
"""

from lowdim._core.graph.connectivity import POLICIES, Connected, components, connect, join_edges, joined
from lowdim._core.graph.edges import (
    Edge,
    Edges,
    edge_arrays,
    edge_rows,
    has_edges,
    neighbor_graph,
    some_edges,
    stored_edges,
    with_edges,
)
from lowdim._core.graph.laplacians import laplacian
from lowdim._core.graph.shortest_paths import geodesics, geodesics_on

__all__ = [
    "POLICIES",
    "Connected",
    "Edge",
    "Edges",
    "components",
    "connect",
    "edge_arrays",
    "edge_rows",
    "geodesics",
    "geodesics_on",
    "has_edges",
    "join_edges",
    "joined",
    "laplacian",
    "neighbor_graph",
    "some_edges",
    "stored_edges",
    "with_edges",
]
