"""Loops are no short circuits: rings and frames are left whole, rolls that touch themselves are not."""

import warnings

import numpy as np
import pytest

import lowdim
from lowdim import datasets
from lowdim._core.graph import detours
from lowdim._core.graph.repair import repaired
from tests._core.graph.test_detours import chained_roll, graph


def ring(n, seed, noise=0.05):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(t), np.sin(t)]) + noise * rng.normal(size=(n, 2))


def frame(n, seed):
    rows = np.random.default_rng(seed).uniform(size=(4 * n, 2))
    return rows[np.abs(rows - 0.5).max(axis=1) > 0.35][:n]


def annulus(n, seed):
    rows = np.random.default_rng(seed).uniform(-1, 1, size=(6 * n, 2))
    radius = np.linalg.norm(rows, axis=1)
    return rows[(radius < 1) & (radius > 0.6)][:n]


def two_rings(n, seed):
    return np.vstack([ring(n // 2, seed), ring(n // 2, seed + 50) + np.array([4, 0])])


LOOPS = {
    "ring": (lambda seed: ring(300, seed), 10, (0, 1, 2)),
    "frame": (lambda seed: frame(700, seed), 10, (0, 1, 2)),
    "annulus": (lambda seed: annulus(500, seed), 10, (1, 5)),
    "two rings": (lambda seed: two_rings(400, seed), 10, (2,)),
    "pictures of a clock": (lambda seed: datasets.clock(360, random_state=seed).X, 8, (0,)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_no_short_circuits(name, monkeypatch):
    make, k, seeds = LOOPS[name]
    graphs = [graph(make(seed), k) for seed in seeds]
    assert [detours.short_circuits(G, k) for G in graphs] == [None] * len(seeds)
    removed = [len(repaired(G, "detour", rows=None, n_components=2, n_neighbors=k).edges) for G in graphs]
    assert removed == [0] * len(seeds)
    monkeypatch.setattr(detours, "around_holes", lambda places, found: np.zeros(len(found), bool))
    assert all(detours.short_circuits(G, k) is not None for G in graphs)  # what the second look is for


@pytest.mark.deep
def test_the_rate_of_false_alarms_on_loops():
    """Rings that nearly break at a place, where one or two edges are left, are taken for arcs: at most one in six."""
    found = [detours.short_circuits(graph(make(s), k), k) for make, k, _ in LOOPS.values() for s in range(12)]
    assert sum(each is not None for each in found) <= len(found) / 6


@pytest.mark.parametrize(("rows", "k"), [("roll", 10), ("chain", 9)])
def test_short_circuits_are_no_loops(rows, k, monkeypatch):
    made = [datasets.swiss_roll(500, random_state=seed).X if rows == "roll" else chained_roll(1000, 4 + seed, seed)[0]
            for seed in (0, 1, 5)[: 3 if rows == "roll" else 2]]  # fmt: skip
    found = [detours.detours(graph(X, k), k) for X in made]
    monkeypatch.setattr(detours, "around_holes", lambda places, found: np.zeros(len(found), bool))
    assert all(each.any() for each in found)
    assert [each.sum() for each in found] == [detours.detours(graph(X, k), k).sum() for X in made]


def test_a_short_circuit_across_a_ring_is_one():
    """Edges from one side to the other are much fewer than those along the ring."""
    X = ring(400, 3, 0.03)
    angle = np.arctan2(X[:, 1], X[:, 0])
    ends = [np.argsort(np.abs(angle - at))[:2] for at in (0.0, np.pi / 1.01)]
    G = graph(X, 10).tolil()
    for i, j in zip(*ends, strict=True):
        G[i, j] = G[j, i] = 0.1
    found = detours.short_circuits(G.tocsr(), 10)
    listed = {tuple(edge) for edge in found.edges.tolist()}
    assert {tuple(sorted(pair)) for pair in zip(*(end.tolist() for end in ends), strict=True)} <= listed


def test_a_map_of_two_rings_is_not_compared_with_opened_rings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = lowdim.compare(two_rings(300, 3), methods=["isomap", "pca"], random_state=0)
    assert found.evidence.cut == 0
    assert found.evidence.rankings["along the data"].values["isomap"] > 0.9


@pytest.mark.filterwarnings("ignore:MVU. not converged")
@pytest.mark.parametrize("name", ["Isomap", "LLE", "MVU"])
def test_a_repair_of_few_rows_warns_that_it_may_have_missed_some(name):
    """Of 200 rows with ten neighbours nothing is found and the map is wrong; nobody would know."""
    roll = datasets.swiss_roll(200, random_state=0)
    settings = {"max_iter": 3} if name == "MVU" else {}
    with pytest.warns(UserWarning, match=rf"{name}: repair='detour' may miss short circuits of fewer than 400 rows"):
        getattr(lowdim, name)(2, n_neighbors=10, repair="detour", **settings).fit(roll.X)


def test_a_repair_of_few_rows_of_a_strip_does_not_warn():
    strip = np.random.default_rng(0).random((200, 2)) * [10, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowdim.Isomap(2, n_neighbors=10, repair="detour").fit(strip)
        lowdim.Isomap(2, n_neighbors=6, repair="detour").fit(strip)
        lowdim.Isomap(2, n_neighbors=10, repair="detour").fit(datasets.swiss_roll(2000, random_state=0).X)
