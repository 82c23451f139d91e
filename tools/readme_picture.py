"""Draw the picture of the README. Usage: python tools/readme_picture.py

1,797 handwritten digits of 8 x 8 pixels (they come with scikit-learn), mapped by six methods with their default
settings, and how many neighbours each map keeps.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke
from PIL import Image
from sklearn.datasets import load_digits

import lowdim

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "digits.png"
METHODS = {
    "pca": "PCA",
    "mds": "MDS",
    "isomap": "Isomap",
    "gplvm": "GPLVM",
    "umap": "UMAP",
    "tsne": "t-SNE",
}
# One colour for each digit (its number is beside it), and one for each method.
DIGITS = ["#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#7a7a7a"]
CURVES = ["#000000", "#7f7f7f", "#0072b2", "#56b4e9", "#d55e00", "#e69f00"]


def draw_map(axes, Z, digits, title):
    axes.scatter(*Z.T, c=[DIGITS[digit] for digit in digits], s=4.5, linewidths=0, alpha=0.85)
    for digit in range(10):
        at = np.median(Z[digits == digit], axis=0)
        axes.text(*at, str(digit), fontsize=11, weight="bold", ha="center", va="center").set_path_effects(
            [withStroke(linewidth=2.5, foreground="white")]
        )
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal", adjustable="datalim")
    axes.spines[:].set_color("#cccccc")


def draw_curves(axes, found):
    for name, colour in zip(METHODS, CURVES, strict=True):
        curve = found.curves[name]
        axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, linewidth=2)
    axes.set_xscale("log")
    axes.set_ylim(0, None)
    axes.set_xlabel("neighbourhood size")
    axes.set_title("neighbours kept by the map (0: chance, 1: all)", fontsize=11, loc="left")
    axes.legend(METHODS.values(), frameon=False, loc=(0.46, 0.02))
    axes.spines[["top", "right"]].set_visible(False)


def main():
    X, digits = load_digits(return_X_y=True)
    found = lowdim.compare(X, digits, list(METHODS), random_state=0)
    figure = plt.figure(figsize=(13, 5.6), layout="constrained")
    maps, curves = figure.subfigures(1, 2, width_ratios=[1.75, 1])
    for axes, (name, title) in zip(maps.subplots(2, 3).flat, METHODS.items(), strict=True):
        draw_map(axes, found.embeddings[name], digits, title)
    draw_curves(curves.subplots(), found)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(TARGET, dpi=110, facecolor="white")
    Image.open(TARGET).convert("RGB").quantize(128).save(TARGET, optimize=True)
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")
    for name, scores in found.scores.items():
        print(f"{name:20} {scores['auc']:.3f}")


if __name__ == "__main__":
    main()
