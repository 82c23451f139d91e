"""The measures of a comparison in the order they are shown, each with one sentence that says what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """How one measure is shown: its key in the scores, a short heading, a sentence, and which end is good."""

    key: str
    heading: str
    sentence: str
    good: str  # "high", "low" or "" where neither end is good in itself
    digits: int = 3

    def show(self, value: Any, interval: Any = None) -> str:
        """The value as text, with half its interval where it was estimated from a sample; a dash where there is none.

        >>> MEASURES[0].show(0.52349)
        '0.523'
        >>> MEASURES[0].show(0.52349, (0.51, 0.53))
        '0.523 ± 0.010'
        >>> MEASURES[0].show(-1e-9)
        '0.000'
        """
        if value is None:
            return "–"
        if isinstance(value, int):
            return f"{value:d}"
        half = "" if interval is None else f" ± {(interval[1] - interval[0]) / 2:.{self.digits}f}"
        return f"{round(value, self.digits) + 0.0:.{self.digits}f}{half}"  # + 0.0: no minus before a zero


MEASURES = (
    Measure(
        "auc",
        "AUC R_NX",
        "Area under the R_NX curve over log K: the share of each row's nearest rows that are still its nearest in the "
        "map, beyond what chance gives, with small neighbourhoods weighing most; 0 is random, 1 is perfect.",
        "high",
    ),
    Measure(
        "trustworthiness",
        "Trust.",
        "Trustworthiness at K = 12: are neighbours in the map true neighbours? It falls when strangers intrude.",
        "high",
    ),
    Measure(
        "continuity",
        "Cont.",
        "Continuity at K = 12: are true neighbours still neighbours in the map? It falls when they are torn apart.",
        "high",
    ),
    Measure(
        "q_local",
        "Q local",
        "Mean share of neighbours kept over neighbourhoods up to K max: how well the near order is kept.",
        "high",
    ),
    Measure(
        "q_global",
        "Q global",
        "Mean share of neighbours kept over neighbourhoods larger than K max: how well the far order is kept.",
        "high",
    ),
    Measure(
        "k_max",
        "K max",
        "The neighbourhood size at which the map beats chance most: it parts local from global.",
        "",
    ),
    Measure(
        "normalized_stress",
        "Stress",
        "Normalised stress: distances in the map minus reference distances, relative to them; shown only for methods "
        "whose maps have the scale of the data.",
        "low",
    ),
    Measure(
        "scale_optimal_stress",
        "Stress, best scale",
        "Normalised stress after the map is given the scale that fits best; comparable for all methods.",
        "low",
    ),
    Measure(
        "spearman",
        "Spearman",
        "Rank correlation between reference distances and distances in the map, over all pairs.",
        "high",
    ),
    Measure(
        "knn_error",
        "1-NN error",
        "Share of rows whose nearest row in the map has another label (leave-one-out). The map was made with all rows, "
        "so this is not an error on new data.",
        "low",
    ),
)


def shown(keys: set[str]) -> list[Measure]:
    """The measures there are values for, in order."""
    return [measure for measure in MEASURES if measure.key in keys]
