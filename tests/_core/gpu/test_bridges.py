"""The shortest edges between components, by bounds on a device, against the exact search of the CPU."""

import numpy as np
import pytest

from lowdim._core.gpu.bridges import MOST_GROUPS, Bounds, least_of_groups
from lowdim._core.graph import connect, neighbor_graph
from lowdim._core.neighbors import nearest

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
SIZES = (40, 25, 30, 12, 3, 50)
X = np.concatenate([10 * rng.normal(size=7) + rng.normal(size=(size, 7)) for size in SIZES])
GROUP = np.repeat(np.arange(len(SIZES)), SIZES)


def test_least_of_groups(cpu):
    Q, Y = (torch.from_numpy(X.astype(np.float32)) for _ in range(2))
    starts = torch.tensor([0, *np.cumsum(SIZES)])
    found = least_of_groups(cpu, Q, Y, Y.square().sum(dim=1), starts).double() + Q.double().square().sum(dim=1)[:, None]
    D = np.square(X[:, None] - X).sum(axis=2)
    wanted = np.stack([D[:, g == GROUP].min(axis=1) for g in range(len(SIZES))], axis=1)
    bounds = Bounds.of(cpu, torch.from_numpy(X), GROUP)
    assert (np.abs(bounds.least.numpy() - wanted / bounds.unit**2) <= bounds.slack.numpy()).all()
    assert (np.abs(found.numpy() - wanted) <= 2**-7 * np.abs(X).max() ** 2 * 7).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e25])
def test_bridges_are_those_of_the_cpu(cpu, dtype, scale):
    rows = (X * scale).astype(dtype)
    graph = neighbor_graph(nearest(rows, 2))
    with pytest.warns(UserWarning, match="components"):
        ours, theirs = (connect(graph, rows, policy="bridge", device=on).graph for on in (cpu, None))
    assert ours.nnz == theirs.nnz > graph.nnz
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-6)


def test_equal_rows_in_two_groups(cpu):
    rows = np.concatenate([X, X[:1]])  # the last row is the first one, in a group of its own
    bounds = Bounds.of(cpu, torch.from_numpy(rows), np.append(GROUP, len(SIZES)))
    assert bounds.offer(np.append(GROUP, len(SIZES)), len(SIZES)) == (0.0, len(X), 0)


def test_many_groups_are_left_to_the_search_one_by_one(cpu):
    rows = (
        np.repeat(1000.0 * np.arange(MOST_GROUPS + 1), 3)[:, None] + np.tile([0.0, 1.0, 2.5], MOST_GROUPS + 1)[:, None]
    )
    graph = neighbor_graph(nearest(rows, 1))
    with pytest.warns(UserWarning, match="components"):
        ours, theirs = (connect(graph, rows, policy="bridge", device=on).graph for on in (cpu, None))
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
