"""The record of a choice: every model that was tried, its error on left-out cells, and why others were not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.tables.brief import brief
from lowdim.imputation.left_out import Errors
from lowdim.imputation.models.model import Model


@dataclass(frozen=True)
class Candidate:
    """One model of imputation and how well it filled cells that were left out.

    Attributes
    ----------
    method : str
        Its name, as `impute` takes it.
    setting : int, float or None
        Its best setting: components, penalty, neighbours; of chained forests 1 where categories predict by their
        numbers and 0 where each has a column; of a mean of models how many there are.
    error : float
        Root mean squared error over that of column means (categories: shares of wrong cells); NaN where not tried. Of a
        mean of models the cross-validated one: weights come from the other tables of left-out cells.
    standard_error : float
        Of the error.
    rmse : float
        Root mean squared error of the numbers, in deviations of their columns.
    wrong : float
        Share of wrong categories.
    seconds : float
        Of processor time, for filling one table.
    rows : int
        Rows of the tables that were filled.
    note : str
        Why it was not tried, or not to its end.
    cut : bool
        Whether the budget was the reason.
    """

    method: str
    setting: Any = None
    error: float = float("nan")
    standard_error: float = float("nan")
    rmse: float = float("nan")
    wrong: float = float("nan")
    seconds: float = float("nan")
    rows: int = 0
    note: str = ""
    cut: bool = False

    __repr__ = brief

    @classmethod
    def skipped(cls, model: Model, reason: str, *, cut: bool = False) -> Candidate:
        """A model that was not tried."""
        return cls(model.name, note=reason, cut=cut)


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """The models that were compared on left-out cells, the best first.

    Attributes
    ----------
    candidates : tuple of Candidate
        From the lowest error to the highest; then those that were not tried, with the reason.
    model : Model
        The best one.
    setting : int, float or None
        Its setting.
    errors : Errors
        Its errors, cell by cell.
    n_left_out : int
        Cells that were left out.
    seconds : float
        Of processor time that the choice took.
    """

    candidates: tuple[Candidate, ...]
    model: Model
    setting: Any
    errors: Errors
    n_left_out: int
    seconds: float

    @property
    def why(self) -> str:
        """The choice in a sentence."""
        first, tried = self.candidates[0], [c for c in self.candidates if np.isfinite(c.error)]
        said = self.model.said(self.setting)
        reason = f"error {first.error:.3f} of that of column means on {self.n_left_out} left-out cells"
        if len(tried) > 1:
            reason += f", the lowest of {len(tried)} models (next: {tried[1].method}, {tried[1].error:.3f})"
        return f"{self.model.words}{', ' + said if said else ''}: {reason}"

    def __repr__(self) -> str:
        lines = [f"Imputation by {self.why}; {self.seconds:.1f} s"]
        width = max(len(c.method) for c in self.candidates)
        for c in self.candidates:
            if np.isfinite(c.error):
                kinds = {"rmse": c.rmse, "wrong": c.wrong}
                parts = [f"{name} {value:.3f}" for name, value in kinds.items() if np.isfinite(value)]
                setting = "" if c.setting is None else f"setting {c.setting:g}"
                text = ", ".join(filter(None, [*parts, setting, f"{c.rows} rows, {c.seconds:.2g} s", c.note]))
                lines.append(f"  {c.method:<{width}}  {c.error:.3f} ± {c.standard_error:.3f}  {text}")
            else:
                lines.append(f"  {c.method:<{width}}  -  {c.note}")
        return "\n".join(lines)


def choice_of(ranked: Sequence[Any], skipped: Sequence[Candidate], seconds: float) -> Choice:
    """Of models that were tried (`choice.Tried`), the best first."""
    best = ranked[0]
    listed = tuple(
        Candidate(
            one.model.name,
            one.setting,
            one.error,
            one.standard_error,
            one.errors.rmse,
            one.errors.wrong,
            one.seconds,
            one.rows,
            one.note,
            one.cut,
        )
        for one in ranked
    )
    return Choice((*listed, *skipped), best.model, best.setting, best.errors, len(best.errors.loss), seconds)
