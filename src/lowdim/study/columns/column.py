"""One column of a table: its kind, what it is used for, and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lowdim._core.tables.brief import brief

# Kind -> what it means in a list of columns.
KINDS = {
    "number": "a quantity",
    "category": "one of a few values, without order",
    "ordinal": "one of a few values that have an order",
    "date": "a date or a time",
    "text": "free text",
    "id": "a name or a number of its own for each row",
    "constant": "the same value everywhere",
    "empty": "no values",
}
MAPPED = ("number", "category", "ordinal")  # kinds that the methods can see
# Uses: "map" (the methods see it), "label" (colours and scores), "name" (of the rows), "shown" (with the row in the
# report, not seen by the methods), "left out".
USES = ("map", "label", "name", "shown", "left out")


@dataclass(frozen=True)
class Conversion:
    """How dates or words became numbers, so that the same cells of a later table become the same numbers.

    Attributes
    ----------
    first : str
        The date (ISO) from which days are counted; empty where no dates are.
    forms : tuple of str
        The ways in which the dates are written, as `date_text` has them; empty for dates by type.
    words : tuple of (str, float)
        Words in lower case, and the number that each stands for, such as yes and no.
    """

    first: str = ""
    forms: tuple[str, ...] = ()
    words: tuple[tuple[str, float], ...] = ()

    def days(self, dates: np.ndarray) -> np.ndarray:
        """Days from the first date."""
        return np.asarray((dates - np.datetime64(self.first)) / np.timedelta64(1, "D"), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table and the decision about it.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        One of `KINDS`.
    values : ndarray
        Numbers as float64 with NaN, dates as datetime64 with NaT, everything else as objects with None.
    why : str
        The reason for the kind.
    use : str
        One of "map", "label", "name", "shown", "left out".
    why_use : str
        The reason for the use, where the kind alone does not say it.
    doubt : str
        What may be wrong with the decision; empty where nothing speaks against it.
    other : str
        The decision that `doubt` suggests: a kind, or "label".
    levels : tuple of str
        The values of the kind "ordinal" in their order, lowest first; else empty.
    conversion : Conversion or None
        How dates or words became the numbers; None where the cells were numbers, or are none.
    about : str
        What the file says the column is, such as the question of a survey; empty where it says nothing.
    """

    name: str
    kind: str
    values: np.ndarray = field(repr=False)
    why: str
    use: str = "left out"
    why_use: str = ""
    doubt: str = ""
    other: str = ""
    levels: tuple[str, ...] = ()
    conversion: Conversion | None = None
    about: str = ""

    __repr__ = brief

    def used(self, use: str, why: str = "") -> Column:
        """The same column with this use."""
        return replace(self, use=use, why_use=why)

    def take(self, rows: np.ndarray) -> Column:
        """The same column, of these rows."""
        return replace(self, values=self.values[rows])

    @property
    def missing(self) -> np.ndarray:
        """Which cells are missing."""
        return is_missing(self.values)

    def texts(self) -> list[str]:
        """The cells as text; empty where missing."""
        return ["" if lost else as_text(value) for value, lost in zip(self.values, self.missing, strict=True)]

    def ranks(self) -> np.ndarray:
        """The place of each cell in the order of the levels, from 0, as float64; NaN where missing."""
        places = {level: float(i) for i, level in enumerate(self.levels)}
        return np.array([places.get(value, np.nan) for value in self.values.tolist()])

    def label_values(self) -> np.ndarray:
        """The values as labels: numbers as they are, dates as days since the first, the rest as text or None."""
        if self.values.dtype.kind == "M":
            return np.asarray((self.values - np.nanmin(self.values)) / np.timedelta64(1, "D"), dtype=np.float64)
        return self.values

    def to_dict(self) -> dict[str, Any]:
        """What was decided, as JSON can hold it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "use": self.use,
            "why": self.reason,
            "missing": int(self.missing.sum()),
            "doubt": self.doubt or None,
            "suggestion": self.other or None,
            **({"levels": list(self.levels)} if self.levels else {}),
            **({"about": self.about} if self.about else {}),
        }

    @property
    def reason(self) -> str:
        """Why it is used so, as one phrase."""
        return "; ".join(dict.fromkeys(part for part in (self.why, self.why_use) if part))


def is_missing(values: np.ndarray) -> np.ndarray:
    """Which cells of a column are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind == "M":
        return np.isnat(values)
    return np.array([value is None for value in values.tolist()], dtype=bool)


def as_text(value: Any) -> str:
    """One value as text: 3.0 is 3, midnight is left out of a date."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
