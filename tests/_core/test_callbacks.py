"""Callbacks of fits that consist of several runs: connected components, or several starts."""

import numpy as np
import pytest

import lowdim
from lowdim._core.callbacks import Relay


def two_rolls():
    roll = lowdim.datasets.swiss_roll(60, random_state=0).X
    return np.vstack([roll[:35], roll[35:] + 500.0])


def test_steps_are_numbered_through_and_a_stop_ends_every_run():
    seen = []

    def stop_at_three(step, loss, state):
        seen.append((step, loss, state))
        return step == 3

    relay = Relay(stop_at_three)
    first, second = relay.showing(lambda state: state + 100), relay.showing(lambda state: state + 200)
    assert [first(1, 0.5, 1), first(2, 0.4, 2)] == [False, False]
    assert [second(1, 0.3, 3), second(2, 0.2, 4)] == [True, True]
    assert seen == [(1, 0.5, 101), (2, 0.4, 102), (3, 0.3, 203)]
    assert Relay(None).showing(lambda state: state) is None


@pytest.mark.filterwarnings("ignore:.*2 components")
@pytest.mark.parametrize("make", [lowdim.MVU, lowdim.TCIE], ids=lambda m: m.__name__)
def test_components_one_after_the_other(make):
    """Each with its own embedding as state; after the stop the others still get coordinates."""
    X, sizes = two_rolls(), []
    model = make(disconnected="separate", n_neighbors=6, max_iter=200, tol=0.01, random_state=0)
    model.set_params(callback=lambda step, loss, Z: sizes.append(Z.shape)).fit(X)
    assert (35, 2) in sizes
    assert (25, 2) in sizes
    assert model.converged_

    seen = []
    model.set_params(tol=0.0, callback=lambda step, loss, Z: seen.append(step) or True).fit(X)
    assert seen == [1]
    assert not model.converged_
    assert np.isfinite(model.embedding_).all()


def test_mvu_shows_its_embedding_and_variance():
    X, seen = lowdim.datasets.swiss_roll(80, random_state=0).X, []
    model = lowdim.MVU(random_state=0, callback=lambda step, loss, Z: seen.append((loss, Z))).fit(X)
    assert len(seen) == model.n_iter_
    loss, Z = seen[-1]
    np.testing.assert_allclose(Z, model.embedding_, atol=1e-9 * np.abs(Z).max())
    assert loss == pytest.approx(-model.objective_)


@pytest.mark.parametrize("level", ["ratio", "interval", "ordinal"])
def test_mds_shows_its_embedding_up_to_a_rotation(level):
    X, seen = lowdim.datasets.helix(50, random_state=0).X, []
    model = lowdim.MDS(level=level, callback=lambda step, loss, Z: seen.append((loss, Z))).fit(X)
    assert len(seen) == model.n_iter_
    loss, Z = seen[-1]
    assert np.sqrt(loss) == pytest.approx(model.stress_history_[-1])
    ours, theirs = np.linalg.svd(Z - Z.mean(axis=0))[1], np.linalg.svd(model.embedding_)[1]
    np.testing.assert_allclose(ours, theirs, rtol=1e-4 if level == "ratio" else 0.1)


@pytest.mark.parametrize("solver", ["accelerated", "stochastic"])
def test_a_stop_ends_all_starts(solver):
    X, seen = lowdim.datasets.helix(80, random_state=0).X, []
    model = lowdim.MDS(solver=solver, n_init=3, random_state=0)
    model.set_params(callback=lambda step, loss, Z: seen.append((step, Z.shape)) or len(seen) == 5).fit(X)
    assert seen == [(step, (80, 2)) for step in range(1, 6)]
    assert not model.converged_
