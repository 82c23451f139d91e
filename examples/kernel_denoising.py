"""Denoising by kernel PCA: transform to a few components and inverse transform.

Rows lie near a curved surface, and noise moves them off it. The components of kernel PCA follow the surface, so the
inverse transform (the pre-image) ends near it. PCA can only represent flat surfaces. The number of components, and the
width of the kernel, are those that clean a validation set best; the numbers are those of a test set.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import lowdim

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NOISE = 0.3  # of pixels between 0 and 1


def ring(rng):
    """A noisy ring: fitted rows, new rows, and the denoised new rows."""
    X, new = (lowdim.datasets.noisy_circle(300, noise=0.12, random_state=int(rng.integers(1000))).X for _ in range(2))
    return X, new, lowdim.KernelPCA(6, gamma=0.7, preimage="fixed_point").fit(X).denoise(new)


def off_ring(X):
    return float(np.abs(np.linalg.norm(X, axis=1) - 1).mean())


def error(cleaned, clean):
    """Mean over images of the summed squared error of their pixels."""
    return float(((cleaned - clean) ** 2).sum(axis=1).mean())


def best(models, fitted, noisy, clean):
    """The fitted model that denoises the validation rows best."""
    models = [model.fit(fitted) for model in models]
    return min(models, key=lambda model: error(model.inverse_transform(model.transform(noisy)), clean))


def digits(rng, quick=False):
    """Test errors by setting and method, and some images."""
    X = load_digits().data[rng.permutation(1797)] / 16
    noisy = X + NOISE * rng.standard_normal(X.shape)
    sizes = (300, 450, 600) if quick else (1000, 1300, 1797)
    train, valid, test = slice(0, sizes[0]), slice(sizes[0], sizes[1]), slice(sizes[1], sizes[2])
    factors, counts = ((1.0,), (10, 40)) if quick else ((0.3, 1.0, 2.0), (10, 15, 20, 30, 60, 120))
    numbers, images = {}, {"clean": X[test], "noisy": noisy[test]}
    for setting, rows in (("clean", X[train]), ("noisy", noisy[train])):
        gamma = lowdim.kernels.bandwidth(rows)
        ways = ("fixed_point", "distance")
        candidates = {"PCA": [lowdim.PCA(r) for r in range(5, 31, 5 if quick else 1)]} | {
            f"kernel PCA, {way}": [
                lowdim.KernelPCA(r, gamma=f * gamma, preimage=way) for f, r in product(factors, counts)
            ]
            for way in ways
        }
        for name, models in candidates.items():
            model = best(models, rows, noisy[valid], X[valid])
            cleaned = model.inverse_transform(model.transform(noisy[test]))
            numbers[setting, name] = error(cleaned, X[test]), model
            if setting == "clean":
                images[name] = cleaned
    return numbers, images


def draw(path, rows, images):
    figure = plt.figure(figsize=(11, 5.5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.5])
    ax = left.subplots()
    for X, name, color in ((rows[1], "new rows", "0.7"), (rows[2], "cleaned", lowdim.plot.COLORS[0])):
        ax.scatter(*X.T, s=9, c=color, label=f"{name}, {off_ring(X):.3f} off the ring", linewidths=0)
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[], title="a noisy ring")
    ax.legend(loc="center", frameon=False)
    for line, (name, pictures) in zip(right.subfigures(len(images), 1), images.items(), strict=True):
        words = "" if name == "clean" else f": squared error {error(pictures, images['clean']):.2f}"
        line.suptitle(name + words, x=0.0, ha="left", fontsize="medium")
        for ax, picture in zip(line.subplots(1, 8), pictures, strict=False):
            ax.imshow(picture.reshape(8, 8), cmap="Greys", vmin=0, vmax=1)
            ax.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(path=".", quick=False):
    """Write the figure to a folder or file; return the numbers."""
    rng = np.random.default_rng(0)
    rows = ring(rng)
    numbers, images = digits(rng, quick)
    found = {
        "ring before": off_ring(rows[1]),
        "ring after": off_ring(rows[2]),
        "noisy": error(images["noisy"], images["clean"]),
    }
    path = Path(path) / "kernel_denoising.png" if Path(path).is_dir() else Path(path)
    draw(path, rows, images)
    print(f"ring: {found['ring before']:.3f} off, {found['ring after']:.3f} after cleaning")
    print(f"digits: squared error {found['noisy']:.2f} with noise")
    for (setting, name), (value, model) in numbers.items():
        width = f", gamma {model.gamma:.3g}" if name != "PCA" else ""
        print(f"  fitted to {setting} rows, {name}: {value:.2f} ({model.n_components} components{width})")
        found[setting, name] = value
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
