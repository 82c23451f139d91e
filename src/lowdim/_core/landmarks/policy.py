"""All rows or landmarks: the one place where `n_landmarks="auto"` is decided.

With many rows, methods on graphs meet one of three walls: tables of n x n numbers, sparse factors that fill up, or an
eigenproblem on which every solver crawls. Which one is known at different times: tables before anything is made,
factors once the matrix is there, a crawling solver when it gives up. In all cases `USUAL` landmarks then take the place
of the rows, with a warning that says why and how to ask for it. Limits are rows, bytes and steps, never seconds, so
that the same call on the same machine gives the same bits: those of the call that asks for these landmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from lowdim._core import params
from lowdim._core.runtime import memory
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import TooHard
from lowdim._core.spectrum.solvers import LARGEST_FACTORS, profile_bytes

USUAL = 1000  # landmarks where nobody says how many
_SMALL = 4000  # rows whose factors are never looked at

Result = TypeVar("Result")


def rule(least: int) -> params.Rule:
    """What `n_landmarks` may be."""
    return params.none() | params.one_of("auto") | params.whole(least)


@dataclass(frozen=True)
class Route:
    """How many landmarks stand for the rows; None: every row for itself.

    `why` is empty where landmarks were asked for. An `open` route goes by all rows as long as a solver can.
    """

    n_landmarks: int | None
    why: str = ""
    open: bool = False

    @classmethod
    def asked(cls, wanted: Any, n: int, possible: bool = True) -> Route:
        """As asked for; "auto" goes by all rows, open where landmarks are possible and fewer than the rows."""
        if isinstance(wanted, str):
            return cls(None, open=possible and n > USUAL)
        return cls(wanted)

    def barred(self, why: str) -> Route:
        """By landmarks, where the way by all rows is barred and another is open."""
        return Route(USUAL, why) if self.open else self

    def taken(self, owner: str) -> int | None:
        """The number of landmarks, with a word where nobody asked for it."""
        if self.why:
            warn(
                f"{owner}: {self.why}; {self.n_landmarks} landmarks stand for the rows instead. n_landmarks="
                f"{self.n_landmarks} asks for that without this warning, n_landmarks=None for all rows in any case."
            )
        return self.n_landmarks


def by_size(
    wanted: Any, n: int, tables: Callable[[int], dict[str, int]], most_rows: float, possible: bool = True
) -> Route:
    """The route of n rows, of which at most `most_rows` are solved in reasonable time.

    `tables(m)` gives what m landmarks need; all rows are taken as long as `tables(n)` fits into memory. `possible` says
    whether landmarks could be used: mostly they need distances between any two rows, which a sparse graph lacks.
    """
    route = Route.asked(wanted, n, possible)
    if not route.open:
        return route
    needed, most = sum(tables(n).values()), memory.limit()
    if needed > most:
        return route.barred(f"all {n} rows need about {memory.show(needed)}, and the limit is {memory.show(most)}")
    return route.barred(f"all {n} rows would take very long") if n > most_rows else route


def by_factors(route: Route, A: Any) -> Route:
    """The same where only the factors of A give the eigenvectors."""
    n = A.shape[0]
    if not route.open or n <= _SMALL or factors_fit(size := profile_bytes(A)):
        return route
    return route.barred(f"the factors of a matrix of {n} rows would take {memory.show(size)}")


def factors_fit(size: float) -> bool:
    """Whether factors of this many bytes fit into memory and do not take very long to make."""
    return size <= min(memory.limit(), LARGEST_FACTORS)


def solved(route: Route, whole: Callable[[bool], Result], through: Callable[[int], Result], owner: str) -> Result:
    """`whole(give_up)` with all rows, or `through(m)` landmarks where that is the way or the solver gives up."""
    m = route.taken(owner)
    if m is not None:
        return through(m)
    try:
        return whole(route.open)
    except TooHard as hard:
        reason = str(hard).removeprefix(f"{owner}: ").rstrip(".")
        route = route.barred(f"the eigensolver gave up on all rows ({reason})")
    return through(route.taken(owner) or USUAL)
