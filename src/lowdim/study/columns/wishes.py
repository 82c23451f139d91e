"""What the user asks about columns: which are used, which is the label, which kind a column has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lowdim.study.columns.column import KINDS
from lowdim.study.suggestions import did_you_mean

ASKED = ("number", "category", "date", "text", "id")


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
        Column -> kind it has, whatever it looks like.
    find_label : bool
        Look for a column that is a label; False where labels come from elsewhere.
    owner : str
        Who asks; errors begin with it.
    option : mapping of str
        "columns", "drop", "label", "names", "kinds" -> what the user calls it, for errors.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    label: str | None = None
    names: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    find_label: bool = True
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
            shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            hint = did_you_mean(name, known, cutoff=0.5)
            which = "" if self.option[key].startswith("--") or self.option[key] == key else ", which"
            raise ValueError(
                f"{self.owner}: {self.option[key]} {name!r}{which} is not a column.{hint} Columns: {shown}."
            )
        for name, kind in self.kinds.items():
            if kind not in ASKED:
                raise ValueError(
                    f"{self.owner}: {self.option['kinds']} of {name!r} must be one of {', '.join(ASKED)}; got {kind!r}."
                    f"{did_you_mean(kind, KINDS)}"
                )
