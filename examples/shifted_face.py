"""A face at different positions over a noisy background: PCA folds the square of positions, LLE unfolds it.

Each image is a row of 2,304 pixels, but only two things change: the horizontal and the vertical position of the face.
Two faces that do not overlap have the same distance wherever they are, so a linear projection (PCA) cannot show the
square of positions. Near images do show how the face moved, and LLE needs no more.

Writes shifted_face.png into the folder named as the first argument: some images, the positions of the face, and the
maps of PCA and LLE coloured by position. The face is drawn (`datasets.shifted_face`). If the environment variable
LOWDIM_DATA names a folder with olivetti_faces_64.npz (array X, one face of 64 x 64 pixels in each row), a second row
shows the same with a photograph, at a quarter of its size, at every whole-pixel position. LLE is not robust here: with
another face, or with 12 neighbours instead of 8, its second axis may be a function of the first (a face whose image
changes faster when it moves down than when it moves across makes a long and narrow sheet), and half of the information
is lost.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowdim

SIZE = 48  # height and width of an image


def main(path=".", quick=False):
    """Write the figure to a folder or file; return its numbers."""
    drawn = lowdim.datasets.shifted_face(500 if quick else 1000, random_state=0, size=SIZE)
    sets = {"drawn face": (drawn.X, drawn.coordinates)}
    if (photograph := find_photograph()) is not None:
        sets["photograph"] = moved(photograph, step=2 if quick else 1)
    figure, axes = plt.subplots(len(sets), 4, figsize=(18, 4.6 * len(sets)), layout="constrained", squeeze=False)
    found = {}
    for row, (name, (X, places)) in zip(axes, sets.items(), strict=True):
        found |= {f"{name}, {method}": value for method, value in compare(row, name, X, places).items()}
    path = Path(path) / "shifted_face.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f} of the variance of the positions is linear in the map")
    return found


def compare(axes: np.ndarray, name: str, X: np.ndarray, places: np.ndarray) -> dict[str, float]:
    """One row of the figure, and how well each map explains the true positions."""
    chosen = np.linspace(0, len(X) - 1, 16).astype(int)
    tiles = X[chosen].reshape(4, 4, SIZE, SIZE).transpose(0, 2, 1, 3).reshape(4 * SIZE, 4 * SIZE)
    axes[0].imshow(tiles, cmap="gray", vmin=0, vmax=1)
    axes[0].set_title(f"{name}: 16 of {len(X)} images")
    color = colors(places)
    axes[1].scatter(places[:, 0], -places[:, 1], s=8, c=color)
    axes[1].set_title("positions of the face")
    found = {}
    for ax, model in zip(axes[2:], (lowdim.PCA(2), lowdim.LLE(2, n_neighbors=8, random_state=0)), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about equal eigenvalues: the square has two equal axes
            Z = model.fit_transform(X)
        method = type(model).__name__
        found[method] = explained(places, Z)
        ax.scatter(*Z.T, s=8, c=color)
        ax.set_title(f"{method}: {found[method]:.2f} of the positions")
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    return found


def moved(photograph: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """The photograph at every position inside the image, each over its own background; and the positions."""
    rng, side = np.random.default_rng(0), len(photograph)
    corners = range(0, SIZE - side + 1, step)
    places = np.array([(across, down) for down in corners for across in corners])
    pictures = 0.5 + 0.05 * rng.standard_normal((len(places), SIZE, SIZE))
    for picture, (across, down) in zip(pictures, places, strict=True):
        picture[down : down + side, across : across + side] = photograph
    return pictures.reshape(len(places), -1), places.astype(float)


def find_photograph() -> np.ndarray | None:
    """A face of 16 x 16 pixels, with the mean grey of the background; None if there is no file."""
    path = Path(os.environ.get("LOWDIM_DATA", "")) / "olivetti_faces_64.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as archive:
        face = archive["X"][10].reshape(16, 4, 16, 4).mean(axis=(1, 3))
    return 0.5 + 0.9 * (face - face.mean()) / np.ptp(face)


def colors(places: np.ndarray) -> np.ndarray:
    """Colours: red increases across, blue down."""
    unit = (places - places.min(axis=0)) / np.ptp(places, axis=0)
    return np.column_stack([unit[:, 0], np.full(len(unit), 0.35), unit[:, 1]])


def explained(places: np.ndarray, Z: np.ndarray) -> float:
    """Share of the variance of the positions that an affine function of the map explains."""
    A = np.column_stack([np.ones(len(Z)), Z])
    left = places - A @ np.linalg.lstsq(A, places, rcond=None)[0]
    return float(1 - np.square(left).sum() / np.square(places - places.mean(axis=0)).sum())


if __name__ == "__main__":
    main(*sys.argv[1:2])
