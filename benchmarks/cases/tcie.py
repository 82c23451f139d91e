"""TCIE

Two dimensions, 8 neighbours, repair of short circuits by linearity, the Swiss roll with a hole. *landmarks 0* uses all
rows. No other Python library has the method; Isomap, of lowdim and of scikit-learn, knows nothing about holes. *R²
sheet*: agreement with the flat coordinates of the roll, after rotation and scaling. *stretch*: by which part rows on
opposite sides of the hole are too far apart, median over such pairs; 0 is right.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"n": 800, "landmarks": 0}],
    "full": [
        {"n": 1000, "landmarks": 0},
        {"n": 2000, "landmarks": 0},
        {"n": 4000, "landmarks": 0},
        {"n": 20_000, "landmarks": 1000},
    ],
}
K = 8


def data(size):
    from lowdim.datasets import swiss_roll_hole

    made = swiss_roll_hole(size["n"], noise=0, random_state=0)
    return {"X": made.X, "sheet": made.isometric_coordinates}


def lowdim(data, size, threads):
    from lowdim import TCIE

    model = TCIE(
        2, n_neighbors=K, n_landmarks=size["landmarks"] or None, random_state=0, n_jobs=threads, repair="linearity"
    )
    return lambda: {"Z": model.fit_transform(data["X"])}


def isomap(data, size, threads):
    from lowdim import Isomap

    model = Isomap(
        2, n_neighbors=K, n_landmarks=size["landmarks"] or None, random_state=0, n_jobs=threads, repair="linearity"
    )
    return lambda: {"Z": model.fit_transform(data["X"])}


def scikit_learn(data, size, threads):
    from sklearn.manifold import Isomap

    if size["landmarks"]:
        raise Skip("has no landmarks")
    return lambda: {"Z": Isomap(n_components=2, n_neighbors=K, n_jobs=threads).fit_transform(data["X"])}


ours = {"lowdim TCIE": Contender(lowdim, "lowdim"), "lowdim Isomap": Contender(isomap, "lowdim")}
peers = {"scikit-learn Isomap": Contender(scikit_learn, "sklearn")}


def quality(data, size, results):
    i, j = across(data["sheet"])
    judged = {}
    for name, found in results.items():
        sheet, Z, share = fitted(data["sheet"], found["Z"])
        true, seen = (np.linalg.norm(places[i] - places[j], axis=1) for places in (sheet, Z))
        judged[name] = {"R² sheet": share, "stretch": float(np.median(seen / true)) - 1}
    return judged


def across(sheet):
    """Pairs of rows whose middle is empty: no other row is near it."""
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(0)
    i, j = rng.integers(len(sheet), size=(2, 20_000))
    index = NearestNeighbors(n_neighbors=1).fit(sheet)
    spacing = np.median(NearestNeighbors(n_neighbors=2).fit(sheet).kneighbors(sheet)[0][:, 1])
    gap = index.kneighbors((sheet[i] + sheet[j]) / 2)[0][:, 0]
    hollow = gap > max(6 * spacing, 0.5 * gap.max())
    return i[hollow], j[hollow]


def fitted(sheet, Z):
    """Sheet and map, the map turned, moved and scaled onto it, and R²."""
    A, B = sheet - sheet.mean(axis=0), Z - Z.mean(axis=0)
    U, s, Vt = np.linalg.svd(B.T @ A)
    B = (s.sum() / np.square(B).sum()) * B @ (U @ Vt)
    return A, B, float(1 - np.square(A - B).sum() / np.square(A).sum())


warnings.filterwarnings("ignore", message=".*connected.*")
