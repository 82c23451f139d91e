"""Answers that were given last, as many as fit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Answers by question; those that were not asked for longest go first. Several threads may ask.

    Parameters
    ----------
    most : int
        The largest sum of sizes that is kept; the last answer always is.
    size : callable
        The size of an answer.
    """

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        self._most, self._size = most, size
        self._answers: OrderedDict[Hashable, T] = OrderedDict()
        self.held = 0
        self._lock = threading.Lock()

    def get(self, question: Hashable, make: Callable[[], T]) -> T:
        """The answer that is kept, or else the one that `make` gives."""
        with self._lock:
            if question in self._answers:
                self._answers.move_to_end(question)
                return self._answers[question]
        made = make()  # others need not wait; two threads may make the same answer
        with self._lock:
            if question not in self._answers:
                self._answers[question] = made
                self.held += self._size(made)
            while self.held > self._most and len(self._answers) > 1:
                self.held -= self._size(self._answers.popitem(last=False)[1])
        return made
