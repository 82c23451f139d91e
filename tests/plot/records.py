"""Small records with fixed numbers, one drawing of each chart from them, and what a reader could not make out in it."""

import itertools

import numpy as np
import pandas as pd

import lowdim
from lowdim.select import IntrinsicDimension
from lowdim.trust import Group, GroupPair, GroupTrust, Stability, StructureTest

TURN = np.linspace(0, 4 * np.pi, 120)
SPIRAL = np.column_stack([TURN * np.cos(TURN), TURN * np.sin(TURN)])
TABLE = np.column_stack([TURN, 3 * np.sin(TURN), TURN + 2 * np.cos(3 * TURN), np.cos(TURN) - 0.2 * TURN])
CLASSES = np.repeat(["first", "second", "third"], 40)
VERDICTS = np.where(np.arange(120) % 15 == 0, "misplaced", np.where(np.arange(120) % 7 == 0, "unsure", "trusted"))
STABILITY = Stability(0.7, (0.66, 0.75), np.linspace(0.2, 0.98, 120) ** 0.5, np.zeros(120), 15, ["seed"] * 5)
DIMENSION = IntrinsicDimension(
    value=3.1, interval=(2.6, 3.4), per_row=np.full(120, 3.0), hubness=0.4, n_rows=120, note="from neighbours 4 to 32",
    estimates={"twonn": (5, 4, 6.5), "gride": (3.1, 2.6, 3.4), "mle": (3.4, 3, 3.9), "correlation": (2.8, 2.2, 3.1)},
    curve={1: (5, 4, 6.5), 2: (4, 3.2, 4.8), 4: (3.2, 2.7, 3.7), 8: (3.1, 2.6, 3.4), 16: (3.0, 2.4, 3.6)},
)  # fmt: skip
GROUPS = GroupTrust(
    [
        Group("setosa", 50, "holds together", "", 0.98, 1.0, 0.33),
        Group("versicolor", 50, "torn", "", 0.62, 0.93, 0.33),
        Group("virginica", 50, "overlaps", "", 0.7, 0.74, 0.33),
        Group("rest", 7, "too few rows", ""),
    ],
    [
        GroupPair("setosa", "versicolor", 3, 3.1, 1.03, (0.98, 1.08), 0.97, "yes"),
        GroupPair("setosa", "virginica", 4, 2.8, 0.7, (0.6, 0.8), 0.95, "order only"),
        GroupPair("versicolor", "virginica", 1, 2.1, 2.1, (1.8, 2.5), 0.4, "no"),
    ],
)
SCALES = np.array([4, 8, 16, 32, 64, 70])
STRUCTURE = StructureTest(
    0.05, 0.05, 16, np.array([0.2, 0.35, 0.5, 0.55, 0.6, 0.6]), SCALES,
    np.array([[0.02, 0.04, 0.06, 0.1, 0.15, 0.16]]) + np.linspace(0, 0.05, 19)[:, None], (SPIRAL, SPIRAL),
)  # fmt: skip
RANKS = np.arange(1, 120)
CORANKING = np.round(300 * np.exp(-np.abs(np.subtract.outer(RANKS, 0.7 * RANKS)) / 9) / (1 + RANKS / 40)[:, None])


def factors():
    names = ["length", "breadth", "a long name of a column", "depth"]
    frame = pd.DataFrame(TABLE, columns=names)
    return lowdim.FactorMap(lowdim.PCA(3, scale=True).fit(frame), frame)


def drawings():
    """Name of a picture -> what draws it on given axes."""
    plot = lowdim.plot
    return {
        "embedding-classes": lambda ax: plot.embedding(SPIRAL, CLASSES, verdict=VERDICTS, ax=ax, title="spiral"),
        "embedding-quantity": lambda ax: plot.embedding(SPIRAL, TURN, ax=ax, title="spiral", label_name="turn"),
        "rnx-curves": lambda ax: plot.rnx_curves({"good": 0.9 - RANKS / 400, "poor": 0.2 + RANKS / 300}, ax=ax),
        "scree": lambda ax: plot.scree(lowdim.PCA(4).fit(TABLE), ax=ax, title="shares"),
        "shepard": lambda ax: plot.shepard(TABLE, TABLE[:, :2], ax=ax, max_pairs=10_000),
        "coranking": lambda ax: plot.coranking(CORANKING, ax=ax),
        "stress-per-point": lambda ax: plot.stress_per_point(1 / (3 + np.arange(120)), ax=ax),
        "correlation-circle": lambda ax: plot.correlation_circle(factors(), ax=ax),
        "biplot": lambda ax: plot.biplot(factors(), labels=CLASSES, ax=ax),
        "stability": lambda ax: plot.stability(STABILITY, ax=ax, title="replicates"),
        "stability-groups": lambda ax: plot.stability(STABILITY, CLASSES, ax=ax, title="replicates"),
        "dimension": lambda ax: plot.dimension(DIMENSION, ax=ax, title="dimension"),
        "groups": lambda ax: plot.groups(GROUPS, ax=ax, title="groups"),
        "group-distances": lambda ax: plot.group_distances(GROUPS, ax=ax, title="pairs"),
        "structure": lambda ax: plot.structure(STRUCTURE, ax=ax, title="structure"),
    }


def words(ax):
    """Every text that is seen, with its box: names, ticks, title, labels, legend; of colour bars too."""
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    ax.figure.canvas.draw()
    found = []
    for one in ax.figure.axes:
        found += [one.title, one.xaxis.label, one.yaxis.label, *one.texts]
        low, high = sorted(one.get_xlim()), sorted(one.get_ylim())
        for axis, (start, end) in ((one.xaxis, low), (one.yaxis, high)):
            ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
            found += [text for place, text in ticks if start <= place <= end]
        for legend in one.findobj(Legend):
            found += [*legend.get_texts(), legend.get_title()]
    seen = [text for text in dict.fromkeys(found) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), Text.get_window_extent(text)) for text in seen]


def covered(ax):
    """Pairs of texts that overlap by more than a pixel, and texts that the edge of the figure cuts."""
    seen, edge = words(ax), ax.figure.bbox
    pairs = [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(seen, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]
    cut = [
        text for text, box in seen if min(box.x0 - edge.x0, edge.x1 - box.x1, box.y0 - edge.y0, edge.y1 - box.y1) < -1
    ]
    return pairs, cut
