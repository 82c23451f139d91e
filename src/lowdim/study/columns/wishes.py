"""What the user asks about columns: which are used, which is the label, which kind a column has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lowdim._core.params import names as names_rule
from lowdim._core.runtime.printable import printable
from lowdim.study.columns.column import KINDS, Conversion
from lowdim.study.suggestions import did_you_mean

ASKED = ("number", "category", "ordinal", "date", "text", "id")
Kind = str | Sequence[str]


@dataclass(frozen=True)
class Wishes:
    """The user's decisions; everything else is decided from the values.

    Attributes
    ----------
    columns : tuple of str
        Use only these in the map; empty for all.
    drop : tuple of str
        Leave these out.
    label : str or None
        The column with the labels.
    names : str or None
        The column with the names of the rows.
    kinds : mapping of str
        Column -> kind it has, whatever it looks like; a list of values in their order is the kind "ordinal".
    fitted : mapping of str
        Column -> categories that a model was fitted with: other words for missing cells are missing, as they were.
    conversions : mapping of str
        Column -> how its dates or words became the numbers that a model was fitted with.
    find_label : bool
        Look for a column that is a label; False where labels come from elsewhere.
    need_columns : bool
        A table without a column for the map is an error.
    owner : str
        Who asks; errors begin with it.
    option : mapping of str
        "columns", "drop", "label", "names", "kinds" -> what the user calls it, for errors.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    label: str | None = None
    names: str | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    fitted: Mapping[str, Sequence[object]] = field(default_factory=dict)
    conversions: Mapping[str, Conversion] = field(default_factory=dict)
    find_label: bool = True
    need_columns: bool = True
    owner: str = "compare"
    option: Mapping[str, str] = field(
        default_factory=lambda: {key: key for key in ("columns", "drop", "label", "names", "kinds")}
    )

    def check(self, known: list[str]) -> None:
        """An error for a column that the table does not have, and for an unknown kind."""
        single = [("label", self.label), ("names", self.names)]
        several = [("columns", self.columns), ("drop", self.drop), ("kinds", tuple(self.kinds))]
        there = set(known)
        for key, name in [*single, *((key, name) for key, names in several for name in names)]:
            if name is None or name in there:
                continue
            shown = ", ".join(map(printable, known[:12])) + (", ..." if len(known) > 12 else "")
            hint = did_you_mean(name, known, cutoff=0.5)
            which = "" if self.option[key].startswith("--") or self.option[key] == key else ", which"
            raise ValueError(
                f"{self.owner}: {self.option[key]} {name!r}{which} is not a column.{hint} Columns: {shown}."
            )
        for name, kind in self.kinds.items():
            if not isinstance(kind, str):
                self._check_order(name, kind)
            elif kind not in ASKED:
                raise ValueError(
                    f"{self.owner}: {self.option['kinds']} of {name!r} must be one of {', '.join(ASKED)}; got {kind!r}."
                    f"{did_you_mean(kind, KINDS)}"
                )

    def _check_order(self, name: str, levels: Sequence[str]) -> None:
        if not names_rule().accepts(levels):
            raise TypeError(
                f"{self.owner}: {self.option['kinds']} of {name!r} must be one of {', '.join(ASKED)}, or the list of "
                f"its values, lowest first; got {levels!r}."
            )
        given = [str(level) for level in levels]
        twice = next((level for level in given if given.count(level) > 1), None)
        if len(given) < 2 or twice is not None:
            wrong = f"{twice!r} twice" if twice is not None else f"{len(given)}"
            raise ValueError(
                f"{self.owner}: {self.option['kinds']} of {name!r} must list at least two different values, lowest "
                f"first; got {wrong}."
            )
