"""The nearest known name to an unknown one, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """A sentence with the nearest known name, after a space; empty if none is near.

    >>> did_you_mean("isomapp", ["pca", "isomap"])
    " Did you mean 'isomap'?"
    >>> did_you_mean("zzz", ["pca", "isomap"])
    ''
    """
    near = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" Did you mean {near[0]!r}?" if near else ""
