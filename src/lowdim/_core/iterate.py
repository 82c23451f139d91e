"""The loop of every iterative method: stopping, history, divergence, callbacks, progress and warnings.

A method writes `step(state) -> (state, loss)`; `iterate` calls it until the loss no longer changes.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime import notices

S = TypeVar("S")
Callback = Callable[[int, float, Any], Any]  # (step, loss, current result) -> True to stop

QUIET_SECONDS = 2.0  # no progress line for shorter work
BETWEEN_SECONDS = 0.5


@dataclass(frozen=True, eq=False)
class Run(Generic[S]):
    """How a loop ended.

    Attributes
    ----------
    state : object
        The last valid one: before a loss that is not finite, or that rises although it cannot.
    losses : ndarray of shape (n_iter,)
        The loss after each step, a non-finite last one included.
    n_iter : int
        Steps made.
    converged : bool
        Whether the loss stopped changing; a loop that `until` or a callback ended did not converge, and does not warn.
    stopped : bool
        Whether the user's callback ended it.
    """

    state: S
    losses: np.ndarray
    n_iter: int
    converged: bool
    stopped: bool = False


class Progress:
    """A line on stderr that counts steps, from two seconds on, if `verbose`.

    `total` may be None. Use as a context manager, so that the line is finished even on Ctrl-C.
    """

    def __init__(self, owner: str, total: int | None, verbose: int | bool = 0) -> None:
        self.owner, self.total, self.verbose = owner, total, verbose
        self.done, self._start, self._said = 0, time.monotonic(), -math.inf

    def advance(self, note: str = "") -> None:
        """One more step is done."""
        self.done += 1
        now = time.monotonic()
        if self.verbose and now - self._start >= QUIET_SECONDS and now - self._said >= BETWEEN_SECONDS:
            self._said = now
            of = "" if self.total is None else f"/{self.total}"
            text = f"{self.owner}: {self.done}{of}{', ' + note if note else ''}, {now - self._start:.0f} s"
            sys.stderr.write(f"\r{text:<79}")
            sys.stderr.flush()

    def close(self) -> None:
        """End the line, if there is one."""
        if self._said > -math.inf:
            sys.stderr.write("\n")
            self._said = -math.inf

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def iterate(
    step: Callable[[S], tuple[S, float]],
    start: S,
    *,
    max_iter: int,
    tol: float,
    owner: str,
    criterion: str = "relative",
    monotone: bool = False,
    until: Callable[[int, S, float], bool] | None = None,
    callback: Callback | None = None,
    show: Callable[[S], Any] = lambda state: state,
    verbose: int | bool = 0,
    warn: bool = True,
) -> Run[S]:
    """Repeat `step` until its loss changes by at most `tol`, a callback stops it, or `max_iter` is reached.

    Parameters
    ----------
    step : callable
        state -> (next state, its loss). It must not change the state it gets.
    start : object
        The first state.
    max_iter : int
        At most this many steps.
    tol : float
        0 never stops early (unless the loss stops changing altogether).
    owner : str
        Name of the estimator, for messages.
    criterion : {"relative", "absolute"}
        |change of the loss| <= tol times the larger of the last two losses, or <= tol.
    monotone : bool
        In theory the loss cannot rise: a rise (beyond rounding) ends the loop with the better state, as
        converged.
    until : callable, optional
        until(i, state, loss) after step i (from 1); True ends the loop: a stopping rule of the method's own.
    callback : callable, optional
        The user's, called as callback(i, loss, show(state)); returning True stops.
    show : callable
        What the user sees of a state: the current result.
    verbose : int or bool
        Show progress on stderr after two seconds.
    warn : bool
        Whether reaching `max_iter` without convergence gives a ConvergenceWarning; divergence always does.

    Returns
    -------
    Run

    Examples
    --------
    >>> def newton(x):
    ...     return (x + 2 / x) / 2, (x * x - 2) ** 2
    >>> run = iterate(newton, 1.0, max_iter=9, tol=1e-12, owner="Newton", criterion="absolute")
    >>> run.state, run.n_iter, run.converged
    (1.414213562373095, 6, True)
    """
    _check(max_iter, tol, criterion, owner)
    state, losses, converged, stopped, ended = start, [math.inf], False, False, False
    with Progress(owner, max_iter, verbose) as progress:
        for i in range(1, max_iter + 1):
            found, loss = step(state)
            losses.append(float(loss))
            before, loss = losses[-2:]
            size = max(abs(before), abs(loss)) if criterion == "relative" and i > 1 else 1.0
            if problem := _trouble(before, loss, monotone, max(tol, 1e-9) * size):
                _say(f"{owner}: {problem} in step {i}; the state before it is returned.")
                return Run(state, np.array(losses[1:]), i, False)
            state = state if monotone and loss > before else found
            progress.advance(f"loss {loss:.6g}")
            converged = i > 1 and (abs(before - loss) <= tol * size or (monotone and loss > before))
            stopped = callback is not None and wants_stop(callback(i, loss, show(state)))
            if converged or stopped or (ended := until is not None and bool(until(i, state, loss))):
                break
    if warn and not (converged or stopped or ended):
        _say(
            f"{owner}: not converged after max_iter={max_iter} steps (loss {loss:.6g}, tol={tol:g}). "
            "Raise max_iter or tol."
        )
    return Run(state, np.array(losses[1:]), i, converged, stopped)


def _trouble(before: float, loss: float, monotone: bool, slack: float) -> str:
    """What is wrong with the last loss, if anything."""
    if not math.isfinite(loss):
        return f"the loss became {loss}"
    if monotone and loss - before > slack:
        return f"the loss rose from {before:.6g} to {loss:.6g}, which it should not"
    return ""


def wants_stop(answer: object) -> bool:
    """Whether a callback answered True; None and everything else go on."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def _say(message: str) -> None:
    notices.warn(message, ConvergenceWarning)


def _check(max_iter: int, tol: float, criterion: str, owner: str) -> None:
    if isinstance(max_iter, bool) or not isinstance(max_iter, (int, np.integer)) or max_iter < 1:
        raise ValueError(f"{owner}: max_iter must be a positive integer; got {max_iter!r}.")
    if not tol >= 0:
        raise ValueError(f"{owner}: tol must be non-negative; got {tol!r}.")
    if criterion not in ("relative", "absolute"):
        raise ValueError(f"{owner}: criterion must be 'relative' or 'absolute'; got {criterion!r}.")
