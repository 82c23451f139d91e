"""The loop's promises: when it stops, what it returns, and what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from lowdim._core import iterate as module
from lowdim._core.iterate import Progress, iterate
from lowdim._core.runtime import threads


def geometric(scale=1.0, ratio=0.5, floor=1.0):
    """State counts the steps; the loss falls to `floor` by a known law."""
    return lambda i: (i + 1, scale * (floor + ratio ** (i + 1)))


@pytest.mark.parametrize("tol", [1e-2, 1e-5])
def test_stops_at_the_first_small_relative_change(tol):
    run = iterate(geometric(), 0, max_iter=100, tol=tol, owner="me")
    loss = 1 + 0.5 ** np.arange(1, 101)
    expected = 2 + np.flatnonzero(-np.diff(loss) <= tol * loss[:-1])[0]
    assert (run.n_iter, run.state, run.converged) == (expected, expected, True)
    np.testing.assert_allclose(run.losses, loss[:expected])


@settings(max_examples=10, deadline=None, derandomize=True)
@given(scale=st.floats(1e-200, 1e200))
def test_relative_criterion_has_no_units(scale):
    runs = [iterate(geometric(s), 0, max_iter=100, tol=1e-4, owner="me") for s in (1.0, scale)]
    assert runs[0].n_iter == runs[1].n_iter


def test_absolute_criterion():
    run = iterate(geometric(floor=0.0), 0, max_iter=100, tol=0.1, owner="me", criterion="absolute")
    assert run.n_iter == 4  # 1/2, 1/4, 1/8, 1/16: the last change is the first below 0.1


def test_negative_losses_and_zero_losses():
    run = iterate(lambda i: (i + 1, -1e9 - 0.5**i), 0, max_iter=50, tol=1e-12, owner="me")
    assert run.converged
    assert iterate(lambda i: (i, 0.0), 0, max_iter=50, tol=0.0, owner="me").n_iter == 2


def test_warns_at_max_iter_where_the_caller_is():
    with pytest.warns(ConvergenceWarning, match=r"me: not converged after max_iter=3 steps .*tol=1e-09") as caught:
        run = iterate(geometric(), 0, max_iter=3, tol=1e-9, owner="me")
    assert caught[0].filename == __file__
    assert (run.state, run.n_iter, run.converged) == (3, 3, False)
    assert not iterate(geometric(), 0, max_iter=3, tol=1e-9, owner="me", warn=False).converged
    assert not iterate(geometric(), 0, max_iter=1, tol=math.inf, owner="me", warn=False).converged


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_divergence_keeps_the_last_good_state(bad):
    with pytest.warns(ConvergenceWarning, match=f"me: the loss became {bad} in step 4"):
        run = iterate(
            lambda i: (i + 1, 1.0 / (i + 1) if i < 3 else bad), 0, max_iter=9, tol=0.0, owner="me", warn=False
        )
    assert (run.state, run.n_iter, run.converged) == (3, 4, False)
    assert len(run.losses) == 4
    with pytest.warns(ConvergenceWarning):
        assert iterate(lambda s: ("worse", bad), "start", max_iter=9, tol=0.0, owner="me").state == "start"


def test_monotone_losses():
    losses = [3.0, 2.0, 1.0, 1.0 + 1e-14, 0.5]
    run = iterate(lambda i: (i + 1, losses[i]), 0, max_iter=5, tol=1e-12, owner="me", monotone=True)
    assert (run.state, run.n_iter, run.converged) == (3, 4, True)
    losses[3] = 1.5
    with pytest.warns(ConvergenceWarning, match=r"rose from 1 to 1.5, which it should not in step 4"):
        run = iterate(lambda i: (i + 1, losses[i]), 0, max_iter=5, tol=1e-12, owner="me", monotone=True)
    assert (run.state, run.converged) == (3, False)
    assert iterate(lambda i: (i + 1, losses[i]), 0, max_iter=5, tol=0, owner="me", warn=False).state == 5


@pytest.mark.parametrize("true", [True, np.bool_(True)])
def test_callback_sees_every_step_and_may_stop(true):
    seen = []

    def callback(step, loss, state):
        seen.append((step, loss, state))
        return true if step == 3 else None

    run = iterate(geometric(), 0, max_iter=10, tol=0.0, owner="me", callback=callback, show=str)
    assert seen == [(i, 1 + 0.5**i, str(i)) for i in (1, 2, 3)]
    assert (run.n_iter, run.converged, run.stopped) == (3, False, True)


def test_a_rule_of_its_own_ends_the_loop_without_a_warning():
    run = iterate(geometric(), 0, max_iter=10, tol=0.0, owner="me", until=lambda i, state, loss: loss < 1.2)
    assert (run.n_iter, run.converged, run.stopped) == (3, False, False)


def test_interrupt_passes_through():
    def step(i):
        if i == 2:
            raise KeyboardInterrupt
        return i + 1, 1.0 / (i + 1)

    with pytest.raises(KeyboardInterrupt):
        iterate(step, 0, max_iter=5, tol=0.0, owner="me")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iter": 0, "tol": 1}, "me: max_iter must be a positive integer; got 0"),
        ({"max_iter": True, "tol": 1}, "max_iter"),
        ({"max_iter": 2.0, "tol": 1}, "max_iter"),
        ({"max_iter": 2, "tol": -1}, "tol must be non-negative; got -1"),
        ({"max_iter": 2, "tol": math.nan}, "tol"),
        ({"max_iter": 2, "tol": 1, "criterion": "gap"}, "criterion must be"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        iterate(geometric(), 0, owner="me", **options)


def test_progress_speaks_after_two_seconds_and_only_if_asked(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])

    def step(i):
        clock[0] += 0.5
        return i + 1, 1.0 / (i + 1)

    iterate(step, 0, max_iter=3, tol=0.0, owner="me", verbose=1, warn=False)
    assert capsys.readouterr().err == ""  # 1.5 s
    iterate(step, 0, max_iter=8, tol=0.0, owner="me", verbose=1, warn=False)
    shown = capsys.readouterr().err
    assert "me: 4/8, loss 0.25, 2 s" in shown
    assert "me: 3/8" not in shown
    assert shown.endswith("\n")
    iterate(step, 0, max_iter=8, tol=0.0, owner="me", verbose=0, warn=False)
    out = capsys.readouterr()
    assert out.err == out.out == ""


def test_progress_counts_blocks_of_rows():
    with Progress("me", total=4) as progress:
        threads.map_rows(lambda rows: None, 100, 25, n_jobs=2, progress=progress)
    assert progress.done == 4
