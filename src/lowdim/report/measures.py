"""The measures of a comparison, in the order they are shown, each with a sentence that explains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """How one measure is shown: its key in the scores, a heading, a sentence, and whether high or low is better."""

    key: str
    heading: str
    sentence: str
    good: str  # "high", "low", or "" if neither is better
    digits: int = 3

    def show(self, value: Any, interval: Any = None) -> str:
        """The value as text, with half the width of its confidence interval if it was estimated; a dash for None.

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
        return f"{round(value, self.digits) + 0.0:.{self.digits}f}{half}"  # + 0.0: no minus sign before zero


MEASURES = (
    Measure(
        "auc",
        "AUC R_NX",
        "Neighbourhood preservation: area under the R_NX curve over log K, the share of each row's nearest rows that "
        "are still its nearest in the map, corrected for chance; small neighbourhoods count most. 0 is random, 1 is "
        "perfect.",
        "high",
    ),
    Measure(
        "trustworthiness",
        "Trust.",
        "Trustworthiness at K = 12: are neighbours in the map neighbours in the data? False neighbours lower it.",
        "high",
    ),
    Measure(
        "continuity",
        "Cont.",
        "Continuity at K = 12: are neighbours in the data still neighbours in the map? Lost neighbours lower it.",
        "high",
    ),
    Measure(
        "q_local",
        "Q local",
        "Mean share of neighbours preserved, over neighbourhood sizes up to K max: local quality.",
        "high",
    ),
    Measure(
        "q_global",
        "Q global",
        "Mean share of neighbours preserved, over neighbourhood sizes above K max: global quality.",
        "high",
    ),
    Measure(
        "k_max",
        "K max",
        "The neighbourhood size at which the map exceeds chance most; it separates local from global.",
        "",
    ),
    Measure(
        "normalized_stress",
        "Stress",
        "Normalised stress: relative difference between distances in the map and reference distances; shown only for "
        "methods whose maps have the scale of the data.",
        "low",
    ),
    Measure(
        "scale_optimal_stress",
        "Stress, best scale",
        "Normalised stress after the map is rescaled to fit best; comparable for all methods.",
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
        "Share of rows whose nearest row in the map has another label (leave-one-out). The map was fitted to all rows, "
        "so this is not an error on new data.",
        "low",
    ),
)


def measures_in(keys: set[str]) -> list[Measure]:
    """The measures that have values, in order."""
    return [measure for measure in MEASURES if measure.key in keys]
