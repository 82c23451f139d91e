"""All rows or landmarks: the one module that decides what `n_landmarks="auto"` does.

With many rows, methods on graphs meet one of three limits: tables of n x n numbers, fill-in of sparse factors, or an
eigenproblem on which every solver is slow. The first is known before anything is computed, the second once the matrix
is there, the third when the solver gives up. In each case `USUAL` landmarks are used instead of all rows, with a
warning that gives the reason and the parameter. The limits are rows, bytes and steps, never seconds: the same call on
the same machine gives the same bits, those of the call with ``n_landmarks=USUAL``.
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

USUAL = 1000  # landmarks of n_landmarks="auto"
_SMALL = 4000  # rows whose factors always fit

Result = TypeVar("Result")


def rule(least: int) -> params.Rule:
    """What `n_landmarks` may be."""
    return params.none() | params.one_of("auto") | params.whole(least)


def wanted(parameter: Any, method: str) -> tuple[int, str] | None:
    """How many landmarks are chosen from a stream, and how; None where all rows of a sample are wanted."""
    if isinstance(parameter, str):
        return (USUAL, method) if memory.sample_rows() >= _SMALL else None
    return None if parameter is None else (int(parameter), method)


@dataclass(frozen=True)
class LandmarkChoice:
    """How many landmarks are used; None: all rows.

    `reason` is empty where the user asked for it. While `undecided`, all rows are used as long as a solver can.
    """

    n_landmarks: int | None
    reason: str = ""
    undecided: bool = False

    @classmethod
    def of(cls, parameter: Any, n: int, possible: bool = True) -> LandmarkChoice:
        """From the parameter; "auto" is undecided where landmarks are possible and fewer than the n rows."""
        if isinstance(parameter, str):
            return cls(None, undecided=possible and n > USUAL)
        return cls(parameter)

    def not_all_rows(self, reason: str) -> LandmarkChoice:
        """The choice once it is known that all rows are too many: landmarks, unless the user decided otherwise."""
        return LandmarkChoice(USUAL, reason) if self.undecided else self

    def announced(self, owner: str) -> int | None:
        """The number of landmarks, with a warning where the user did not ask for them."""
        if self.reason:
            warn(
                f"{owner}: {self.reason}; {self.n_landmarks} landmarks are used instead of all rows. Set n_landmarks="
                f"{self.n_landmarks} to do so without this warning, n_landmarks=None to use all rows in any case."
            )
        return self.n_landmarks


def by_size(
    parameter: Any, n: int, tables: Callable[[int], dict[str, int]], most_rows: float, possible: bool = True
) -> LandmarkChoice:
    """The choice for n rows, of which at most `most_rows` are solved in reasonable time.

    `tables(m)` gives the bytes that m landmarks need; all rows are used as long as `tables(n)` fits into memory.
    `possible` says whether landmarks could be used: mostly they need distances between any two rows, which a sparse
    graph lacks.
    """
    choice = LandmarkChoice.of(parameter, n, possible)
    if not choice.undecided:
        return choice
    needed, most = sum(tables(n).values()), memory.limit()
    if needed > most:
        return choice.not_all_rows(
            f"all {n} rows need about {memory.show(needed)}, and the limit is {memory.show(most)}"
        )
    return choice.not_all_rows(f"all {n} rows would take very long") if n > most_rows else choice


def by_factors(choice: LandmarkChoice, A: Any) -> LandmarkChoice:
    """The choice where the eigenvectors need the sparse factors of A."""
    n = A.shape[0]
    if not choice.undecided or n <= _SMALL or factors_fit(size := profile_bytes(A)):
        return choice
    return choice.not_all_rows(f"the factors of a matrix of {n} rows would take {memory.show(size)}")


def factors_fit(size: float) -> bool:
    """Whether factors of this many bytes fit into memory and are computed in reasonable time."""
    return size <= min(memory.limit(), LARGEST_FACTORS)


def solved(
    choice: LandmarkChoice, with_all: Callable[[bool], Result], with_landmarks: Callable[[int], Result], owner: str
) -> Result:
    """`with_all(give_up)`, or `with_landmarks(m)` where that is the choice or the eigensolver gives up."""
    m = choice.announced(owner)
    if m is not None:
        return with_landmarks(m)
    try:
        return with_all(choice.undecided)
    except TooHard as hard:
        reason = str(hard).removeprefix(f"{owner}: ").rstrip(".")
        choice = choice.not_all_rows(f"the eigensolver gave up on all rows ({reason})")
    return with_landmarks(choice.announced(owner) or USUAL)
