"""A number with its reference distances, confidence interval and settings."""

from __future__ import annotations

from typing import Any


class Score(float):
    """A float with the settings it was computed with.

    Parameters
    ----------
    value : float
        The number itself; a `Score` can be used wherever a float can.
    reference : str
        Distances that the embedding was compared with.
    interval : tuple of two floats or None
        95 % confidence interval if rows or pairs were sampled, None if the value is exact.
    **facts
        Other settings, such as the neighbourhood size ``k``.

    Examples
    --------
    >>> Score(0.5, reference="ambient", k=12)
    Score(0.5, reference='ambient', k=12)
    """

    reference: str
    interval: tuple[float, float] | None
    facts: dict[str, Any]

    def __new__(
        cls, value: float, *, reference: str, interval: tuple[float, float] | None = None, **facts: Any
    ) -> Score:
        """A float that also has the other arguments."""
        score = super().__new__(cls, value)
        score.reference, score.interval, score.facts = reference, interval, facts
        return score

    def __repr__(self) -> str:
        """The value and its settings."""
        shown = {"reference": self.reference, "interval": self.interval, **self.facts}
        listed = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        return f"Score({', '.join([float.__repr__(self), *listed])})"

    def __str__(self) -> str:
        """The value alone."""
        return float.__repr__(self)

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        """For copying and pickling."""
        return (float(self),), {"reference": self.reference, "interval": self.interval, **self.facts}
