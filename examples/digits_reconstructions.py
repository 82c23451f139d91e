"""Digits reconstructed from eight components, and cleaned of noise.

Each image is reduced to eight numbers and reconstructed: by PCA, and by an encoder and a decoder. A variational
autoencoder smooths more, and can sample new digits. A denoising autoencoder was trained to reconstruct clean images
from noisy ones, and removes noise better than a plain autoencoder. The images and errors shown are those of test
images. The last numbers are the errors of a linear support vector machine on all pixels or on the eight numbers: the
nonlinear components separate digits better.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import lowdim

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CODES, NOISE, SHOWN = 8, 0.3, 12


def main(path=".", quick=False):
    """Write the figure to a folder or file; return the squared errors of an image."""
    rng = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))[: 450 if quick else None]
    X, y, n = images[order] / 16, labels[order], 300 if quick else 1400
    train, test = X[:n], X[n:]
    noisy = test + NOISE * rng.standard_normal(test.shape)
    settings = {
        "hidden": (64,),
        "max_iter": 50 if quick else 400,
        "batch_size": 32 if quick else 256,
        "random_state": 0,
    }
    # Noise of 0.3 is about 1.3 deviations of a pixel, the unit in which `strength` is measured.
    spoiling = {"penalty": "denoising", "strength": NOISE / float(train.std(axis=0).mean())}
    models = {
        "PCA": lowdim.PCA(CODES),
        "autoencoder": lowdim.Autoencoder(CODES, solver="adam", **settings),
        "variational autoencoder": lowdim.VAE(CODES, likelihood="bernoulli", **settings),
        "denoising autoencoder": lowdim.Autoencoder(CODES, **spoiling, **settings),
    }
    for model in models.values():
        fit(model, train)
    pictures = {"originals": test} | {name: through(model, test) for name, model in models.items()}
    pictures["with noise"] = noisy
    pictures |= {f"noise, {name}": through(models[name], noisy) for name in ("PCA", "autoencoder")}
    pictures["noise, denoising autoencoder"] = through(models["denoising autoencoder"], noisy)
    found = {name: float(np.square(images - test).sum(axis=1).mean()) for name, images in pictures.items()}
    pictures["drawn by the variational autoencoder"] = models["variational autoencoder"].sample(SHOWN, random_state=1)
    draw(Path(path) / "digits_reconstructions.png" if Path(path).is_dir() else Path(path), pictures, found)
    codes = {"pixels": (train, test)} | {name: (m.transform(train), m.transform(test)) for name, m in models.items()}
    found |= {f"mistaken, {name}": mistaken(*pair, y[:n], y[n:]) for name, pair in codes.items()}
    for name, error in found.items():
        print(f"{name}: {error:.3f}")
    return found


def fit(model, X):
    """A fitted model; few iterations are enough for a figure, without the convergence warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X)


def mistaken(train, test, known, truth):
    """Error of a linear classifier on the components."""
    return 1.0 - make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(train, known).score(test, truth)


def through(model, X):
    """Reconstructions of the images."""
    return model.inverse_transform(model.transform(X))


def draw(path, pictures, found):
    """A line of images for each method."""
    figure, axes = plt.subplots(len(pictures), 1, figsize=(8.4, 9.5), layout="constrained")
    for ax, (name, images) in zip(axes, pictures.items(), strict=True):
        padded = np.pad(images[:SHOWN].reshape(-1, 8, 8), ((0, 0), (0, 0), (0, 2)))
        ax.imshow(np.concatenate(padded, axis=1), cmap="Greys", vmin=0, vmax=1)
        words = f": squared error {found[name]:.2f}" if found.get(name) else ""
        ax.set_title(name + words, loc="left", fontsize="small")
        ax.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
