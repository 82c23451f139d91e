"""Compiled loops of lowdim: arrays in, arrays out."""

# Made by tools/make_stubs.py (`make stubs`) from the compiled module; a test compares the two.

from typing import TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

# Contiguous arrays of exactly this dtype and of one or two dimensions, read (In) or written in place (Out). The
# dimensions are for the reader: numpy's own types know too little of them.
_T = TypeVar("_T", bound=np.generic)
_In1: TypeAlias = NDArray[_T]
_In2: TypeAlias = NDArray[_T]
_Out1: TypeAlias = NDArray[_T]
_Out2: TypeAlias = NDArray[_T]

def simd_width() -> str:
    """Name of the vector width in use."""

def force_baseline(forced: bool) -> None:
    """Use only baseline instructions from now on (for tests)."""

def raise_in(thread: int, type: object) -> bool:
    """Raise an exception in another Python thread before its next line; False where there is no such thread."""

def stop_other_threads() -> None:
    """Kernels outside the main thread stop with SystemExit from now on: the interpreter is about to end."""

def hold_thread(held: bool) -> None:
    """What this thread keeps for libraries outlives the interpreter, or no longer; calls with True and False pair."""

def end_at_once() -> None:
    """Skip what libraries do at the end of the process: one of them is still at work in a thread."""

def project_polyline(
    X: _In2[np.float64],
    vertices: _In2[np.float64],
    segments: _Out1[np.int64],
    t: _Out1[np.float64],
    squared: _Out1[np.float64],
    n_threads: int,
) -> None:
    """Segment, share of it and squared distance of the polyline's point nearest to each row."""

def nearest_segments(
    X: _In2[np.float64],
    ends: _In2[np.float64],
    moved: _In1[np.uint8],
    home: _Out1[np.int64],
    squared: _Out1[np.float64],
    n_threads: int,
) -> None:
    """The nearest segment of each row and its squared distance, where some of the segments moved."""

def segment_gains(
    X: _In2[np.float64],
    squared: _In1[np.float64],
    candidates: _In1[np.int64],
    gains: _Out1[np.float64],
    counts: _Out1[np.int64],
    n_threads: int,
) -> None:
    """Sum of max(0, squared - distance to a candidate row) over the rows, and how many are positive."""

def essential_loops(
    start: _In1[np.int64],
    to: _In1[np.int32],
    generator: _In1[np.int32],
    order: _In1[np.int32],
    hops: int,
    essential: _Out1[np.uint8],
) -> None:
    """Mark the edges outside a spanning tree whose loop is not a sum of loops inside balls of `hops` edges."""

def path_flow(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    sources: _In1[np.int32],
    node_flow: _Out1[np.float64],
    edge_flow: _Out1[np.float64],
    n_threads: int,
) -> None:
    """
    Shortest paths from the sources to all nodes: how many pass through each node, ends not counted, and along each
    stored edge against its direction; of several equally short ones each counts its share.
    """

def path_touches(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    sources: _In1[np.int32],
    marked: _In1[np.uint8],
    out: _Out2[np.uint8],
    n_threads: int,
) -> None:
    """
    Whether every shortest path from sources[s] to a node has a marked node between its ends (1 where none leads there).
    """

def distances_within(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    first: _In1[np.int64],
    ask: _In1[np.int32],
    reach: _In1[np.float64],
    out: _Out1[np.float64],
    n_threads: int,
) -> None:
    """Distances from each node to those it asks for, infinite beyond its reach."""

def neighbor_groups(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    ways_start: _In1[np.int64],
    ways_to: _In1[np.int32],
    ways_length: _In1[np.float64],
    nodes: _In1[np.int32],
    ratio: float,
    floor: float,
    group: _Out1[np.int32],
    n_threads: int,
) -> None:
    """
    Group the neighbours of nodes: those between which the way around the node, in a second graph, is at most `ratio`
    times the way through it (or `ratio` times `floor`).
    """

@overload
def heap_paths(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    sources: _In1[np.int32],
    rows: _In1[np.int64],
    out: _Out2[np.float32],
    n_threads: int,
) -> None: ...
@overload
def heap_paths(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    sources: _In1[np.int32],
    rows: _In1[np.int64],
    out: _Out2[np.float64],
    n_threads: int,
) -> None:
    """Write the distances from sources[s] to out[rows[s]], one Dijkstra per source."""

@overload
def batched_paths(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    sources: _In1[np.int32],
    rows: _In1[np.int64],
    groups: _In1[np.int64],
    out: _Out2[np.float32],
    patience: float,
    n_threads: int,
) -> int: ...
@overload
def batched_paths(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    sources: _In1[np.int32],
    rows: _In1[np.int64],
    groups: _In1[np.int64],
    out: _Out2[np.float64],
    patience: float,
    n_threads: int,
) -> int:
    """
    Write the distances from sources[s] to out[rows[s]], one vectorised search per group of sources; an edge may be
    relaxed `patience` times on average before the heap takes over. Returns how many groups gave up.
    """

def source_groups(
    start: _In1[np.int64],
    to: _In1[np.int32],
    sources: _In1[np.int32],
    lanes: int,
    order: _Out1[np.int64],
    groups: _Out1[np.int64],
) -> int:
    """Order distinct sources into groups of neighbours of at most `lanes`; returns the number of groups."""

def edge_places(
    start: _In1[np.int64], to: _In1[np.int32], length: _In1[np.float64], k: int, later: _Out1[np.int32]
) -> float:
    """The place of each edge among those of its ends, the later one; returns the usual size of a neighbourhood."""

def near_order(
    start: _In1[np.int64],
    to: _In1[np.int32],
    order: _Out1[np.int32],
    new_start: _Out1[np.int64],
    new_to: _Out1[np.int32],
    from_: _Out1[np.int64],
) -> None:
    """Number the nodes by steps from one of them; from_[e] is the place that edge e had before."""

def keep_joined(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    order: _In1[np.int32],
    from_: _In1[np.int64],
    kept: _Out1[np.uint8],
) -> int:
    """Keep the shortest of the other edges that join the components of the edges kept; returns how many."""

def tree_paths(
    start: _In1[np.int64],
    to: _In1[np.int32],
    length: _In1[np.float64],
    kept: _In1[np.uint8],
    sources: _In1[np.int32],
    width: float,
    distance: _Out2[np.float64],
    through: _Out1[np.float64],
    n_threads: int,
) -> int:
    """
    Distances from a few nodes over the edges kept, and how many of the shortest paths run through each node. Returns 1
    where paths may be equally long, so that these counts are not to be used, and -1, with nothing done, where the
    longest edge is too long for buckets.
    """

def spread_grid(
    y: _In2[np.float32], low: _In1[np.float64], over: float, n_threads: int, grid: _Out2[np.float32]
) -> None:
    """The sum over the points y of their splines on a grid."""

def gather_grid(
    y: _In2[np.float32],
    low: _In1[np.float64],
    over: float,
    grids: _In2[np.float32],
    n_threads: int,
    out: _Out2[np.float32],
) -> None:
    """The splines of each point y times every field; the grids of the fields lie one below the other."""

def calibrate_rows(
    starts: _In1[np.int64],
    squares: _In1[np.float64],
    perplexity: float,
    n_threads: int,
    weights: _Out1[np.float64],
    betas: _Out1[np.float64],
) -> None:
    """Weights exp(-beta square) of each row, summing to 1, whose perplexity is as asked; and the betas."""

@overload
def descend_map(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float32],
    exaggeration: float,
    rate: float,
    momentum: float,
    most_gain: float,
    theta: float,
    dof: float,
    n_iter: int,
    n_threads: int,
    y: _Out2[np.float32],
    velocity: _Out2[np.float32],
    gains: _Out2[np.float32],
) -> tuple[float, float, float]: ...
@overload
def descend_map(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float64],
    exaggeration: float,
    rate: float,
    momentum: float,
    most_gain: float,
    theta: float,
    dof: float,
    n_iter: int,
    n_threads: int,
    y: _Out2[np.float64],
    velocity: _Out2[np.float64],
    gains: _Out2[np.float64],
) -> tuple[float, float, float]:
    """Steps of the map y under its edges; Z, the norm of the gradient and that of the attraction before the last."""

@overload
def map_forces(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float32],
    y: _In2[np.float32],
    theta: float,
    dof: float,
    n_threads: int,
    pulled: _Out2[np.float32],
    pushed: _Out2[np.float32],
) -> float: ...
@overload
def map_forces(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float64],
    y: _In2[np.float64],
    theta: float,
    dof: float,
    n_threads: int,
    pulled: _Out2[np.float64],
    pushed: _Out2[np.float64],
) -> float:
    """Both forces on every point of the map y; Z, the kernel summed over all pairs."""

@overload
def pull_map(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float32],
    y: _In2[np.float32],
    dof: float,
    n_threads: int,
    pulled: _Out2[np.float32],
) -> None: ...
@overload
def pull_map(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float64],
    y: _In2[np.float64],
    dof: float,
    n_threads: int,
    pulled: _Out2[np.float64],
) -> None:
    """The attraction alone."""

@overload
def step_map(
    pulled: _In2[np.float32],
    pushed: _In2[np.float32],
    z: float,
    exaggeration: float,
    rate: float,
    momentum: float,
    most_gain: float,
    n_threads: int,
    y: _Out2[np.float32],
    velocity: _Out2[np.float32],
    gains: _Out2[np.float32],
) -> tuple[float, float]: ...
@overload
def step_map(
    pulled: _In2[np.float64],
    pushed: _In2[np.float64],
    z: float,
    exaggeration: float,
    rate: float,
    momentum: float,
    most_gain: float,
    n_threads: int,
    y: _Out2[np.float64],
    velocity: _Out2[np.float64],
    gains: _Out2[np.float64],
) -> tuple[float, float]:
    """One step of the map y from given forces; the norms of the gradient and of the attraction."""

@overload
def edge_costs(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float32],
    y: _In2[np.float32],
    dof: float,
    n_threads: int,
) -> float: ...
@overload
def edge_costs(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float64],
    y: _In2[np.float64],
    dof: float,
    n_threads: int,
) -> float:
    """Sum of p log(p / w) over the edges, w the kernel of their points."""

@overload
def place_rows(
    fitted: _In2[np.float64],
    near: _In2[np.int32],
    p: _In2[np.float64],
    theta: float,
    dof: float,
    exaggeration: float,
    n_iter: int,
    n_threads: int,
    y: _Out2[np.float64],
) -> None:
    """Move new points y to where their fitted neighbours, of weights p, want them."""

@overload
def place_rows(
    delta: _In2[np.float32],
    w: _In2[np.float32],
    fixed: _In2[np.float64],
    Z: _Out2[np.float64],
    max_iter: int,
    scale: float,
    n_threads: int,
) -> None: ...
@overload
def place_rows(
    delta: _In2[np.float64],
    w: _In2[np.float64],
    fixed: _In2[np.float64],
    Z: _Out2[np.float64],
    max_iter: int,
    scale: float,
    n_threads: int,
) -> None:
    """Place rows among fixed points by their dissimilarities, each at the minimum nearest its start."""

def map_radii(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    a: float,
    b: float,
    n_threads: int,
    y: _In2[np.float32],
    radii: _Out1[np.float64],
    sums: _Out1[np.float64],
) -> None:
    """The logarithmic radius of each point's neighbourhood in the map, and the sum of its kernel values."""

def radii_gradient(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    a: float,
    b: float,
    radii: _In1[np.float64],
    sums: _In1[np.float64],
    slopes: _In1[np.float64],
    n_threads: int,
    y: _In2[np.float32],
    moves: _Out2[np.float64],
) -> None:
    """The gradient of sum(slopes * radii) in the places of the points."""

def settle_map(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    weights: _In1[np.float64],
    a: float,
    b: float,
    strength: float,
    per_pull: float,
    first: int,
    n_steps: int,
    total: int,
    rate: float,
    n_threads: int,
    y: _Out2[np.float64],
) -> None:
    """Steps first .. first + n_steps of `total` of the map y, each row by its mean move."""

def settle_rows(
    fitted: _In2[np.float64],
    others: _In2[np.float64],
    near: _In2[np.int32],
    weights: _In2[np.float64],
    a: float,
    b: float,
    strength: float,
    per_pull: float,
    n_steps: int,
    n_threads: int,
    y: _Out2[np.float64],
) -> None:
    """Move new points y to where fitted neighbours and pushes from others balance."""

def fuzzy_rows(
    starts: _In1[np.int64],
    distances: _In1[np.float64],
    connectivity: float,
    least: float,
    n_threads: int,
    weights: _Out1[np.float64],
    reaches: _Out1[np.float64],
    widths: _Out1[np.float64],
) -> None:
    """Turn each row's distances to its neighbours into memberships between 0 and 1; their reach and width."""

def sample_map(
    starts: _In1[np.int64],
    ends: _In1[np.int32],
    steps: _In1[np.uint16],
    clocks: _Out1[np.uint16],
    a: float,
    b: float,
    strength: float,
    per_pull: float,
    together: bool,
    seed: int,
    first: int,
    n_steps: int,
    total: int,
    rate: float,
    n_threads: int,
    y: _Out2[np.float32],
) -> None:
    """
    Steps first .. first + n_steps of `total` of the map y: edges pull when their clocks come round, drawn rows push.
    """

class DescentRows:
    """Rows of a nearest-neighbour descent, and how pairs of them are measured."""

class DenseDescent(DescentRows):
    """Dense rows under a metric of that name."""

    def __init__(
        self,
        table: _In2[np.float32],
        metric: str,
        p: float,
        sums: _In1[np.float32],
        full: _In2[np.float32],
        order: _In1[np.int32],
    ) -> None: ...

class BitDescent(DescentRows):
    """Rows of bits under a formula of that name."""

    def __init__(self, words: _In2[np.uint64], counts: _In1[np.float32], d: int, formula: str) -> None: ...

class SparseDescent(DescentRows):
    """Compressed sparse rows under a formula of that name."""

    def __init__(
        self,
        cells: _In1[np.float32],
        columns: _In1[np.int32],
        starts: _In1[np.int64],
        sums: _In1[np.float32],
        d: int,
        overlap: bool,
        formula: str,
    ) -> None: ...

def measure_pairs(space: DescentRows, row: int, ids: _In1[np.int32], values: _Out1[np.float32]) -> None:
    """What a search makes of the pairs of one row with others, for tests."""

@overload
def gower_rows(x: _In2[np.float32], y: _In2[np.float32], out: _Out2[np.float32], n_threads: int) -> None: ...
@overload
def gower_rows(x: _In2[np.float64], y: _In2[np.float64], out: _Out2[np.float64], n_threads: int) -> None:
    """Gower's distances of the rows x to the rows y: cells, marks, and the distance where nothing is shared."""

@overload
def gower_lists(x: _In2[np.float32], y: _In2[np.float32], indices: _In2[np.int32], out: _Out2[np.float32]) -> None: ...
@overload
def gower_lists(x: _In2[np.float64], y: _In2[np.float64], indices: _In2[np.int32], out: _Out2[np.float64]) -> None:
    """The same for the rows of y that are listed for each row."""

class GowerDescent(DescentRows):
    """Rows of numbers and categories under Gower's distance."""

    def __init__(self, table: _In2[np.float32]) -> None: ...

@overload
def local_weights(
    X: _In2[np.float32],
    Q: _In2[np.float32],
    starts: _In1[np.int64],
    members: _In1[np.int32],
    reg: float,
    rank: int,
    by_distance: bool,
    W: _Out1[np.float64],
    n_threads: int,
) -> None: ...
@overload
def local_weights(
    X: _In2[np.float64],
    Q: _In2[np.float64],
    starts: _In1[np.int64],
    members: _In1[np.int32],
    reg: float,
    rank: int,
    by_distance: bool,
    W: _Out1[np.float64],
    n_threads: int,
) -> None:
    """Weights with sum 1 that rebuild each row of Q from its patch of rows of X."""

@overload
def local_ratios(
    X: _In2[np.float32], starts: _In1[np.int64], members: _In1[np.int32], r: int, out: _Out1[np.float64], n_threads: int
) -> None: ...
@overload
def local_ratios(
    X: _In2[np.float64], starts: _In1[np.int64], members: _In1[np.int32], r: int, out: _Out1[np.float64], n_threads: int
) -> None:
    """Variance of each patch off its r leading directions over that in them."""

@overload
def local_forms(
    X: _In2[np.float32],
    starts: _In1[np.int64],
    members: _In1[np.int32],
    offsets: _In1[np.int64],
    method: int,
    r: int,
    reg: float,
    eta: float,
    F: _Out1[np.float64],
    n_threads: int,
) -> None: ...
@overload
def local_forms(
    X: _In2[np.float64],
    starts: _In1[np.int64],
    members: _In1[np.int32],
    offsets: _In1[np.int64],
    method: int,
    r: int,
    reg: float,
    eta: float,
    F: _Out1[np.float64],
    n_threads: int,
) -> None:
    """The quadratic form of each patch, as a packed lower triangle."""

def sum_forms(
    starts: _In1[np.int64],
    members: _In1[np.int32],
    offsets: _In1[np.int64],
    F: _In1[np.float64],
    patch_of: _In1[np.int32],
    first: _In1[np.int64],
    where: _In1[np.int64],
    borders: _Out1[np.int64],
    columns: _Out1[np.int32],
    values: _Out1[np.float64],
    n_threads: int,
) -> None:
    """The sparse sum of the forms of all patches; without room for values, the entries of its rows."""

def small_eigen(A: _In2[np.float64], values: _Out1[np.float64], vectors: _Out2[np.float64]) -> None:
    """All eigenpairs of a small symmetric matrix, largest first."""

def measured_block(
    x: _In2[np.float64], y: _In2[np.float64], metric: str, p: float, n_threads: int, out: _Out2[np.float64]
) -> None:
    """Distances of the rows x to the rows y under the metric of that name."""

def measured_lists(
    x: _In2[np.float64], y: _In2[np.float64], metric: str, p: float, indices: _In2[np.int32], out: _Out2[np.float64]
) -> None:
    """Distances of each row of x to the rows of y that `indices` lists for it."""

def merged_cell_block(
    cells: _In1[np.float64],
    columns: _In1[np.int32],
    starts: _In1[np.int64],
    origins: _In1[np.float64],
    other_cells: _In1[np.float64],
    other_columns: _In1[np.int32],
    other_starts: _In1[np.int64],
    other_origins: _In1[np.float64],
    d: int,
    metric: str,
    p: float,
    out: _Out2[np.float64],
) -> None:
    """Distances of sparse rows to others, from all columns in which either has a cell."""

def merged_cell_lists(
    cells: _In1[np.float64],
    columns: _In1[np.int32],
    starts: _In1[np.int64],
    origins: _In1[np.float64],
    other_cells: _In1[np.float64],
    other_columns: _In1[np.int32],
    other_starts: _In1[np.int64],
    other_origins: _In1[np.float64],
    d: int,
    metric: str,
    p: float,
    indices: _In2[np.int32],
    out: _Out2[np.float64],
) -> None:
    """The same for the listed rows of the other table."""

class MergedDescent(DescentRows):
    """Compressed sparse rows under a metric of that name."""

    def __init__(
        self,
        cells: _In1[np.float32],
        columns: _In1[np.int32],
        starts: _In1[np.int64],
        origins: _In1[np.float32],
        d: int,
        metric: str,
        p: float,
    ) -> None: ...

def grow_trees(
    rows: _In2[np.float32], depth: int, first_tree: int, seed: int, n_threads: int, orders: _Out2[np.int32]
) -> None:
    """Rows in the order of the leaves of random projection trees, a tree a row."""

def search_leaves(
    space: DescentRows, orders: _In2[np.int32], depth: int, n_threads: int, keys: _Out2[np.uint64]
) -> None:
    """First lists: the best of the rows that share a leaf with a row."""

def link_rows(keys: _In2[np.uint64], reach: int, seed: int, n_threads: int, links: _Out2[np.int32]) -> None:
    """Rows to walk to from each row: its nearest, and some of those that have it among theirs."""

def search_links(
    space: DescentRows,
    orders: _In2[np.int32],
    places: _In2[np.int32],
    links: _In2[np.int32],
    keys: _In2[np.uint64],
    known: bool,
    stride: int,
    n_threads: int,
    longer: _Out2[np.uint64],
) -> int:
    """Lists of the next round from those of this one; how many entries are new."""

def read_lists(
    keys: _In2[np.uint64],
    order: _In1[np.int32],
    root: bool,
    n_threads: int,
    indices: _Out2[np.int32],
    values: _Out2[np.float32],
) -> None:
    """Neighbours and their (roots of) squared distances in the order of the data, nearest first."""

def tally_ranks(
    high: _In2[np.int32],
    low: _In2[np.int32],
    weight: _In1[np.float64],
    ks: _In1[np.int64],
    tally: _Out2[np.int64],
    row_sum: _Out1[np.float64],
    terms: _Out2[np.int64],
    n_threads: int,
) -> None:
    """Add up what the ranks of the same rows in two spaces have in common."""

@overload
def rank_rows(
    distances: _In2[np.float32], self: _In1[np.int64], ranks: _Out2[np.int32], zeros: _Out1[np.int64], n_threads: int
) -> None: ...
@overload
def rank_rows(
    distances: _In2[np.float64], self: _In1[np.int64], ranks: _Out2[np.int32], zeros: _Out1[np.int64], n_threads: int
) -> None:
    """Ranks of every row by (distance, index); the row itself has rank 0."""

@overload
def nearest_columns(
    distances: _In2[np.float32], self: _In1[np.int64], columns: _Out2[np.int32], n_threads: int
) -> None: ...
@overload
def nearest_columns(
    distances: _In2[np.float64], self: _In1[np.int64], columns: _Out2[np.int32], n_threads: int
) -> None:
    """Columns of the k nearest of every row by (distance, index), the row itself left out."""

@overload
def column_ranks(
    distances: _In2[np.float32], self: _In1[np.int64], columns: _In2[np.int32], ranks: _Out2[np.int32], n_threads: int
) -> None: ...
@overload
def column_ranks(
    distances: _In2[np.float64], self: _In1[np.int64], columns: _In2[np.int32], ranks: _Out2[np.int32], n_threads: int
) -> None:
    """Ranks by (distance, index) of the given columns of every row: counted, not sorted."""

class DensePairs32:
    """Pairs of dense rows, one from each table."""

    def __init__(
        self, q: _In2[np.float32], x: _In2[np.float32], q_scale: _In1[np.float64], x_scale: _In1[np.float64]
    ) -> None: ...
    def refine(self, p: int, queries: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]) -> None:
        """Measure the candidates `indices` of each query again, into `values`, and sort both."""

    def scan(
        self, p: int, queries: _In1[np.int32], skip: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]
    ) -> None:
        """The nearest rows of each query by looking at all rows."""

    def pairs(self, p: int, queries: _In1[np.int32], columns: _In1[np.int32], values: _Out1[np.float64]) -> None:
        """Distances (powers of) of the listed pairs."""

    def block(self, p: int, block: _Out2[np.float32]) -> None:
        """Distances (powers of) of all pairs."""

    def from_products(
        self, q_norms: _In1[np.float32], x_norms: _In1[np.float32], tol: float, root: bool, block: _Out2[np.float32]
    ) -> None:
        """Turn products into (roots of) squared distances in place; pairs that lose digits are measured again."""

class SparsePairs32:
    """Pairs of compressed sparse rows, one from each table."""

    def __init__(
        self,
        q: _In1[np.float32],
        q_columns: _In1[np.int32],
        q_starts: _In1[np.int64],
        x: _In1[np.float32],
        x_columns: _In1[np.int32],
        x_starts: _In1[np.int64],
        q_scale: _In1[np.float64],
        x_scale: _In1[np.float64],
    ) -> None: ...
    def refine(self, p: int, queries: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]) -> None:
        """Measure the candidates `indices` of each query again, into `values`, and sort both."""

    def scan(
        self, p: int, queries: _In1[np.int32], skip: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]
    ) -> None:
        """The nearest rows of each query by looking at all rows."""

    def pairs(self, p: int, queries: _In1[np.int32], columns: _In1[np.int32], values: _Out1[np.float64]) -> None:
        """Distances (powers of) of the listed pairs."""

    def block(self, p: int, block: _Out2[np.float32]) -> None:
        """Distances (powers of) of all pairs."""

    def from_products(
        self, q_norms: _In1[np.float32], x_norms: _In1[np.float32], tol: float, root: bool, block: _Out2[np.float32]
    ) -> None:
        """Turn products into (roots of) squared distances in place; pairs that lose digits are measured again."""

class DensePairs64:
    """Pairs of dense rows, one from each table."""

    def __init__(
        self, q: _In2[np.float64], x: _In2[np.float64], q_scale: _In1[np.float64], x_scale: _In1[np.float64]
    ) -> None: ...
    def refine(self, p: int, queries: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]) -> None:
        """Measure the candidates `indices` of each query again, into `values`, and sort both."""

    def scan(
        self, p: int, queries: _In1[np.int32], skip: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]
    ) -> None:
        """The nearest rows of each query by looking at all rows."""

    def pairs(self, p: int, queries: _In1[np.int32], columns: _In1[np.int32], values: _Out1[np.float64]) -> None:
        """Distances (powers of) of the listed pairs."""

    def block(self, p: int, block: _Out2[np.float64]) -> None:
        """Distances (powers of) of all pairs."""

    def from_products(
        self, q_norms: _In1[np.float64], x_norms: _In1[np.float64], tol: float, root: bool, block: _Out2[np.float64]
    ) -> None:
        """Turn products into (roots of) squared distances in place; pairs that lose digits are measured again."""

class SparsePairs64:
    """Pairs of compressed sparse rows, one from each table."""

    def __init__(
        self,
        q: _In1[np.float64],
        q_columns: _In1[np.int32],
        q_starts: _In1[np.int64],
        x: _In1[np.float64],
        x_columns: _In1[np.int32],
        x_starts: _In1[np.int64],
        q_scale: _In1[np.float64],
        x_scale: _In1[np.float64],
    ) -> None: ...
    def refine(self, p: int, queries: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]) -> None:
        """Measure the candidates `indices` of each query again, into `values`, and sort both."""

    def scan(
        self, p: int, queries: _In1[np.int32], skip: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]
    ) -> None:
        """The nearest rows of each query by looking at all rows."""

    def pairs(self, p: int, queries: _In1[np.int32], columns: _In1[np.int32], values: _Out1[np.float64]) -> None:
        """Distances (powers of) of the listed pairs."""

    def block(self, p: int, block: _Out2[np.float64]) -> None:
        """Distances (powers of) of all pairs."""

    def from_products(
        self, q_norms: _In1[np.float64], x_norms: _In1[np.float64], tol: float, root: bool, block: _Out2[np.float64]
    ) -> None:
        """Turn products into (roots of) squared distances in place; pairs that lose digits are measured again."""

def shared_bit_block(x: _In2[np.uint64], y: _In2[np.uint64], out: _Out2[np.float64]) -> None:
    """How many bits the rows of x and y share."""

def shared_bit_lists(x: _In2[np.uint64], y: _In2[np.uint64], indices: _In2[np.int32], out: _Out2[np.float64]) -> None:
    """The same for the rows of y that `indices` lists for each row of x."""

def shared_cell_block(
    cells: _In1[np.float64],
    columns: _In1[np.int32],
    starts: _In1[np.int64],
    other_cells: _In1[np.float64],
    other_rows: _In1[np.int32],
    other_starts: _In1[np.int64],
    overlap: bool,
    out: _Out2[np.float64],
) -> None:
    """What sparse rows share with all rows of a table that is given by its columns: products, or the lesser cells."""

def shared_cell_lists(
    cells: _In1[np.float64],
    columns: _In1[np.int32],
    starts: _In1[np.int64],
    other_cells: _In1[np.float64],
    other_columns: _In1[np.int32],
    other_starts: _In1[np.int64],
    overlap: bool,
    indices: _In2[np.int32],
    out: _Out2[np.float64],
) -> None:
    """The same for the listed rows of a table that is given by its rows."""

def distances_from_shared(
    out: _Out2[np.float64], sums: _In1[np.float64], other_sums: _In2[np.float64], d: float, formula: str
) -> None:
    """Distances from what rows share, in place."""

@overload
def square_rows(x: _In2[np.float32], y: _In2[np.float32], out: _Out2[np.float32], n_threads: int) -> None: ...
@overload
def square_rows(x: _In2[np.float64], y: _In2[np.float64], out: _Out2[np.float64], n_threads: int) -> None:
    """Squared distances of the rows x to the rows y, by differences."""

@overload
def top_distances(
    block: _In2[np.float32], offset: int, skip: _In1[np.int32], values: _Out2[np.float32], indices: _Out2[np.int32]
) -> None: ...
@overload
def top_distances(
    block: _In2[np.float64], offset: int, skip: _In1[np.int32], values: _Out2[np.float64], indices: _Out2[np.int32]
) -> None:
    """Offer a block of distances (columns offset, offset + 1, ...) to the heaps of its rows' smallest values."""

@overload
def top_products(
    block: _In2[np.float32],
    half: _In1[np.float32],
    offset: int,
    skip: _In1[np.int32],
    values: _Out2[np.float32],
    indices: _Out2[np.int32],
) -> None: ...
@overload
def top_products(
    block: _In2[np.float64],
    half: _In1[np.float64],
    offset: int,
    skip: _In1[np.int32],
    values: _Out2[np.float64],
    indices: _Out2[np.int32],
) -> None:
    """The same for values half[j] - block[i, j]."""

@overload
def sort_top(values: _Out2[np.float32], indices: _Out2[np.int32]) -> None: ...
@overload
def sort_top(values: _Out2[np.float64], indices: _Out2[np.int32]) -> None:
    """Sort the heaps, smallest first."""

@overload
def monotone(
    y: _In1[np.float32],
    w: _In1[np.float32],
    order: _Out1[np.uint32],
    ties: _In2[np.int64],
    approach: int,
    fit: _Out1[np.float32],
) -> int: ...
@overload
def monotone(
    y: _In1[np.float64],
    w: _In1[np.float64],
    order: _Out1[np.uint32],
    ties: _In2[np.int64],
    approach: int,
    fit: _Out1[np.float64],
) -> int: ...
@overload
def monotone(
    y: _In1[np.float32],
    w: _In1[np.float32],
    order: _Out1[np.uint64],
    ties: _In2[np.int64],
    approach: int,
    fit: _Out1[np.float32],
) -> int: ...
@overload
def monotone(
    y: _In1[np.float64],
    w: _In1[np.float64],
    order: _Out1[np.uint64],
    ties: _In2[np.int64],
    approach: int,
    fit: _Out1[np.float64],
) -> int:
    """Monotone regression of y along an order with ties; the number of levels."""

@overload
def stress_pass(
    delta: _In1[np.float32], w: _In1[np.float32], Z: _In2[np.float64], force: _Out2[np.float64], n_threads: int
) -> float: ...
@overload
def stress_pass(
    delta: _In1[np.float64], w: _In1[np.float64], Z: _In2[np.float64], force: _Out2[np.float64], n_threads: int
) -> float:
    """Stress of Z against the pairs' dissimilarities (returned), and the force on each point."""

@overload
def stress_rows(
    delta: _In2[np.float32],
    w: _In2[np.float32],
    rows: _In1[np.int64],
    Z: _In2[np.float64],
    force: _Out2[np.float64],
    row_force: _Out2[np.float64],
    row_stress: _Out1[np.float64],
    n_threads: int,
) -> None: ...
@overload
def stress_rows(
    delta: _In2[np.float64],
    w: _In2[np.float64],
    rows: _In1[np.int64],
    Z: _In2[np.float64],
    force: _Out2[np.float64],
    row_force: _Out2[np.float64],
    row_stress: _Out1[np.float64],
    n_threads: int,
) -> None:
    """The same for some rows of dissimilarities: forces on all points, and on those rows."""

@overload
def stress_detail(
    delta: _In1[np.float32],
    w: _In1[np.float32],
    Z: _In2[np.float64],
    stress: _Out1[np.float64],
    curvature: _Out2[np.float64],
    n_threads: int,
) -> None: ...
@overload
def stress_detail(
    delta: _In1[np.float64],
    w: _In1[np.float64],
    Z: _In2[np.float64],
    stress: _Out1[np.float64],
    curvature: _Out2[np.float64],
    n_threads: int,
) -> None:
    """The stress of each point's pairs, and the diagonal of half the Hessian."""

@overload
def pair_distances(Z: _In2[np.float64], out: _Out1[np.float32], n_threads: int) -> None: ...
@overload
def pair_distances(Z: _In2[np.float64], out: _Out1[np.float64], n_threads: int) -> None:
    """Distances of all pairs i < j."""

@overload
def largest(x: _In1[np.float32], n_threads: int) -> float: ...
@overload
def largest(x: _In1[np.float64], n_threads: int) -> float:
    """The largest magnitude; NaN where there is any."""

@overload
def column_sums(
    rows: _In2[np.float32], center: _In1[np.float64], weights: _In1[np.float64], out: _Out2[np.float64], n_threads: int
) -> None: ...
@overload
def column_sums(
    rows: _In2[np.float64], center: _In1[np.float64], weights: _In1[np.float64], out: _Out2[np.float64], n_threads: int
) -> None:
    """Weight, sum and sum of squares of the observed cells of each column about a centre."""

def expected_gaussian(
    x_rows: _In2[np.float64],
    x_start: _In1[np.int64],
    x_cells: _In1[np.int32],
    x_roots: _In2[np.float64],
    y_rows: _In2[np.float64],
    y_start: _In1[np.int64],
    y_cells: _In1[np.int32],
    y_roots: _In2[np.float64],
    noise: _In1[np.float64],
    gamma: float,
    out: _Out2[np.float64],
    n_threads: int,
) -> None:
    """E exp(-gamma |x - y|^2) of rows whose missing cells have normal distributions."""

@overload
def decay(x: _Out1[np.float32], factor: float) -> None: ...
@overload
def decay(x: _Out1[np.float64], factor: float) -> None:
    """Replace x by exp(-factor x), for x >= 0 and factor > 0; to 2 units in the last place."""

@overload
def fill_missing(
    rows: _In2[np.float32],
    mean: _In1[np.float64],
    scale: _In1[np.float64],
    weights: _In2[np.float64],
    ridge: float,
    whole: bool,
    completed: _Out2[np.float32],
    leverage: _Out2[np.float32],
    loss: _Out1[np.float64],
    n_threads: int,
) -> None: ...
@overload
def fill_missing(
    rows: _In2[np.float64],
    mean: _In1[np.float64],
    scale: _In1[np.float64],
    weights: _In2[np.float64],
    ridge: float,
    whole: bool,
    completed: _Out2[np.float64],
    leverage: _Out2[np.float64],
    loss: _Out1[np.float64],
    n_threads: int,
) -> None:
    """Fill the missing cells of rows under a low-rank model; each row's squared error where observed."""

@overload
def log_cosh(Y: _Out2[np.float32], slope: _Out1[np.float64], value: _Out1[np.float64]) -> None: ...
@overload
def log_cosh(Y: _Out2[np.float64], slope: _Out1[np.float64], value: _Out1[np.float64]) -> None:
    """Replace Y by tanh(Y); sums of 1 - tanh^2 and of log cosh over each row."""
