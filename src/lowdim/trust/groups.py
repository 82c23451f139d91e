"""Is this group a group, and may distances between groups be read?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core import params
from lowdim._core.distances import check_metric, comparable
from lowdim._core.ranks.reference import Reference, embedded_rows, euclidean
from lowdim._core.runtime.printable import printable
from lowdim._core.runtime.rng import generator
from lowdim.trust.agreement import Compared
from lowdim.trust.space import Space, some

Array = NDArray[Any]

VERDICTS = ("holds together", "torn", "mixture", "overlaps", "too few rows")
FEW = 20  # rows of a group that is not judged
# Deepest valley, in standard deviations of a log density: over 0.95 quantiles of Gaussian, uniform and heavy-tailed
# rows of 1 to 10 dimensions, 60 to 600 rows; two Gaussians four deviations apart reach 6 with 600 rows.
VALLEY = 4.0
SHARED = 0.5  # of the neighbours of a group's rows: below, most of them are in other groups
# Share of the neighbours of a group's rows that are its own, beyond chance: above, few rows need to show less of a drop
# in density. Of 171 pieces of rolls, strips and Gaussians, cut out by their t-SNE maps, the largest share was 0.973;
# branches of a tree reach 0.99, with a drop of 1 to 2.
ALONE, MANY, SMALL_VALLEY = 0.98, 100, 2.0
APART = 0.25  # by which the map shows a group more separate than it is
NEAR = 0.2  # relative error of a distance between groups that can be read
KEPT = 0.9  # of the comparisons with other pairs of groups that must come out the same way
PAIRS = 2000  # pairs of rows that the distance between two groups is taken from


@dataclass(frozen=True)
class Group:
    """What is known about one group.

    Attributes
    ----------
    name : object
        Its label.
    size : int
        Rows.
    verdict : str
        "holds together", "torn" (in several places of the map, or cut off there from other rows, where no gap was
        found in the data), "mixture" (several groups in the data), "overlaps" (it passes into other rows without a
        gap) or "too few rows".
    reason : str
        The numbers behind it, as a sentence.
    inside, inside_map : float
        Share of the neighbours of its rows that are in the group, in the data and in the map.
    chance : float
        The same for a group of this size drawn at random.
    conductance : float
        Edges of the data's neighbour graph that leave the group, relative to all its edges (or those of the rest,
        where it has fewer): 0 for a group of its own.
    pieces, pieces_map : int
        Connected components with at least a twentieth of the rows, in the data and in the map.
    valley, valley_map : float
        Depth of the deepest valley of density inside the group, in standard deviations.
    border, border_map : float
        Depth of the valley of density between the group and the rows around it, in the data and in the map, in
        standard deviations; infinite where nothing connects them. Of several groups around it the one that is least
        apart counts.
    split : float
        Where the map shows the group in several places: depth of the valley of density between the rows of these
        places in the data; NaN elsewhere.
    """

    name: Any
    size: int
    verdict: str
    reason: str
    inside: float = np.nan
    inside_map: float = np.nan
    chance: float = np.nan
    conductance: float = np.nan
    pieces: int = 0
    pieces_map: int = 0
    valley: float = np.nan
    valley_map: float = np.nan
    border: float = np.nan
    border_map: float = np.nan
    split: float = np.nan

    @property
    def in_pieces(self) -> bool:
        """Whether it is in several places of the map."""
        return self.pieces_map > 1 or self.valley_map > VALLEY


@dataclass(frozen=True)
class GroupPair:
    """The distance between two groups, in the data and in the map.

    Attributes
    ----------
    first, second : object
        Labels of the groups.
    distance, distance_map : float
        Mean distance between their rows; that of the map in the unit that fits all pairs best.
    ratio : float
        Map over data.
    interval : tuple of two floats
        95 % interval of the ratio.
    kept : float
        Share of the other distances (between and within groups) that compare the same way in data and map.
    verdict : str
        "yes" (right within 20 %), "order only" or "no": may the distance be read?
    """

    first: Any
    second: Any
    distance: float
    distance_map: float
    ratio: float
    interval: tuple[float, float]
    kept: float
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class GroupTrust:
    """Verdicts on groups of rows and on the distances between them.

    Attributes
    ----------
    table : list of Group
        One for each group.
    pairs : list of GroupPair
        One for each pair of groups.
    """

    table: list[Group]
    pairs: list[GroupPair]

    def __repr__(self) -> str:
        names = [printable(str(group.name)) for group in self.table]
        lines = [f"{name:>16} {g.size:>7}  {g.verdict}: {g.reason}" for name, g in zip(names, self.table, strict=True)]
        read = {verdict: sum(pair.verdict == verdict for pair in self.pairs) for verdict in ("yes", "order only", "no")}
        shown = ", ".join(f"{verdict} {count}" for verdict, count in read.items())
        return "\n".join([f"{len(self.table)} groups; distances between them may be read: {shown}", *lines])


@params.checked("trust.groups")
def groups(
    X: Any,
    Z: Any,
    labels: Any,
    *,
    n_neighbors: int = 15,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> GroupTrust:
    """Judge whether groups seen in a map are groups in the data, and whether distances between them may be read.

    A group holds together if most neighbours of its rows in the data are in the group and its density in the data has
    one peak. The same is looked up in the map, so that tears and mixtures that only the map has are found.

    Parameters
    ----------
    X, Z : arrays (n, d) and (n, r)
        Data and embedding.
    labels : array of n labels, or of n booleans
        Group of each row: classes, clusters, or a selection (True). Rows labelled None, NaN or -1 are in no group.
    n_neighbors : int
        Neighbours of a row.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    GroupTrust
        A verdict with its numbers for each group and each pair of groups.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 5)), rng.normal(8, 1, size=(60, 5))])
    >>> found = lowdim.trust.groups(X, lowdim.PCA(n_components=2).fit_transform(X), [0] * 60 + [1] * 60)
    >>> [group.verdict for group in found.table]
    ['holds together', 'holds together']
    """
    owner = "trust.groups"
    params.check(owner, {"n_neighbors": n_neighbors}, {"n_neighbors": params.whole(1)})
    compared = Compared(metric=metric, n_jobs=n_jobs, owner=owner)
    source = compared.source(X := compared.table(X))
    placed = embedded_rows(Z, source.n, f"{owner}: Z")
    names, codes = group_codes(labels, source.n, owner)
    rng, k = generator(random_state), min(n_neighbors, source.n - 2)
    rows, inside = comparable(X, check_metric(metric, owner), owner)
    data = Space.of(rows, inside, source, k, n_jobs)
    drawn = Space.of(placed, "euclidean", euclidean(placed, "embedding"), k, n_jobs)
    found = [_judge(name, codes == code, codes, data, drawn, rng) for code, name in enumerate(names)]
    return GroupTrust(found, _pairs(names, codes, data, drawn, rng))


def group_codes(labels: Any, n: int, owner: str) -> tuple[list[Any], Array]:
    """The names of the groups and the number of each row's group, -1 for none."""
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ValueError(f"{owner}: labels must be an array of {n} values, one for each row; got shape {given.shape}.")
    if given.dtype == bool:
        if not given.any():
            raise ValueError(f"{owner}: labels must select at least one row; got none.")
        return ["selection"], np.where(given, 0, -1)
    blank = np.array(
        [value is None or value != value or (value == -1 and not isinstance(value, str)) for value in given]
    )
    names, inverse = np.unique(
        given[~blank].astype(str) if given.dtype == object else given[~blank], return_inverse=True
    )
    codes = np.full(n, -1)
    codes[~blank] = inverse
    return names.tolist(), codes


def _judge(name: Any, chosen: Array, codes: Array, data: Space, drawn: Space, rng: np.random.Generator) -> Group:
    size = int(chosen.sum())
    if size < FEW:
        return Group(name, size, "too few rows", f"{size} rows, fewer than {FEW}")
    members = some(np.flatnonzero(chosen), rng)
    around = some(data.around(chosen), rng)
    high, low = data.modes(members), drawn.modes(members)
    facts: dict[str, Any] = {
        "inside": data.inside(chosen),
        "inside_map": drawn.inside(chosen),
        "chance": (size - 1) / (len(chosen) - 1),
        "conductance": data.conductance(chosen),
        "pieces": high.n_components,
        "pieces_map": low.n_components,
        "valley": high.valley,
        "valley_map": low.valley,
        "border": data.border(chosen, members, around, codes),
        "border_map": drawn.border(chosen, members, around, codes) if len(around) else np.inf,
        "split": data.drop(members, low.labels != 0) if low.valley > VALLEY else np.nan,
    }
    verdict, reason = _verdict(size, **facts)
    return Group(name, size, verdict, reason, **facts)


def _verdict(
    size: int, *, inside: float, inside_map: float, chance: float, conductance: float, pieces: int, pieces_map: int,
    valley: float, valley_map: float, border: float, border_map: float, split: float,
) -> tuple[str, str]:  # fmt: skip
    """The rules, in order; the first that holds decides."""
    kept = f"{inside:.0%} of the neighbours of its rows in the data are in the group"
    if pieces > 1:
        return "mixture", f"in the data it has {pieces} pieces that are not connected"
    if valley > VALLEY:
        return "mixture", f"in the data it has two peaks of density, {valley:.1f} deviations above the valley between"
    if split > VALLEY:  # the places of the map say where to look, which finds what a search everywhere may not
        return "mixture", "in several places of the map, and in the data too there is a gap between them"
    if pieces_map > 1 or valley_map > VALLEY:
        return "torn", "in several places of the map, but no drop in density between them was found in the data"
    if size < MANY and inside - chance >= ALONE * (1 - chance) and border >= SMALL_VALLEY:
        return "holds together", kept
    if inside < SHARED and inside_map - inside > APART:
        return "torn", f"the map shows it apart ({inside_map:.0%} of its neighbours there are its own), but only {kept}"
    if border < VALLEY <= border_map and inside >= SHARED:
        return (
            "torn",
            f"the map shows a gap around it, but no drop in density was found between it and the others; {kept}",
        )
    if inside < SHARED or border < VALLEY:
        return "overlaps", f"{kept}, and no drop in density was found between it and the others"
    return "holds together", f"{kept}, and the density drops between it and the others"


def _pairs(names: list[Any], codes: Array, data: Space, drawn: Space, rng: np.random.Generator) -> list[GroupPair]:
    """The distances between all groups, and within them for comparison."""
    members = [np.flatnonzero(codes == code) for code in range(len(names))]
    within = [(code, code) for code, rows in enumerate(members) if len(rows) > 1]
    between = list(combinations(range(len(names)), 2))
    if not between:
        return []
    samples = [_sampled(members[a], members[b], data, drawn, rng) for a, b in [*between, *within]]
    means = np.array([[high.mean(), low.mean()] for high, low in samples])
    unit = float(means[:, 0] @ means[:, 1] / max(means[:, 1] @ means[:, 1], np.finfo(float).tiny))
    found = []
    for at, (a, b) in enumerate(between):
        ratio = unit * means[at, 1] / means[at, 0] if means[at, 0] > 0 else np.nan
        interval = _ratio_interval(*samples[at], unit)
        kept = _kept(means, at)
        found.append(
            GroupPair(
                names[a], names[b], float(means[at, 0]), float(unit * means[at, 1]), float(ratio), interval, kept,
                _readable(interval, kept),
            )
        )  # fmt: skip
    return found


def _sampled(a: Array, b: Array, data: Space, drawn: Space, rng: np.random.Generator) -> tuple[Array, Array]:
    """Distances of pairs of rows, one of each group, in data and map."""
    i, j = rng.choice(a, PAIRS), rng.choice(b, PAIRS)
    different = i != j
    return _lengths(data.distances, i[different], j[different]), _lengths(drawn.distances, i[different], j[different])


def _lengths(space: Reference, i: Array, j: Array) -> Array:
    if space.pairs is not None:
        return np.asarray(space.pairs(i, j), float)
    rows, at = np.unique(i, return_inverse=True)
    return np.asarray(space.block(rows, False), float)[at, j]


def _ratio_interval(high: Array, low: Array, unit: float) -> tuple[float, float]:
    """95 % interval of the ratio of two means of the same pairs, by the delta method."""
    mean = high.mean() or np.nan  # where all distances are 0 there is none
    low, high = low * (unit / mean), high / mean  # squares of distances may leave the range of float64
    ratio, error = low.mean(), np.std(low - low.mean() * high) / np.sqrt(len(high))
    return float(ratio - 1.96 * error), float(ratio + 1.96 * error)


def _kept(means: Array, at: int) -> float:
    """Share of the other distances that are larger or smaller than this one in both spaces."""
    others = np.delete(means, at, axis=0)
    if not len(others):
        return 1.0
    return float(np.mean(np.sign(others[:, 0] - means[at, 0]) == np.sign(others[:, 1] - means[at, 1])))


def _readable(interval: tuple[float, float], kept: float) -> str:
    low, high = interval
    if low >= 1 - NEAR and high <= 1 + NEAR:
        return "yes"
    return "order only" if kept >= KEPT else "no"
