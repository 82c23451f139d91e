"""Images of digits beside what is left of them after a few numbers, and beside their noisy copies.

Each image goes through eight numbers and back: along the eight best directions (PCA), and through an encoder and a
decoder. A variational autoencoder smooths more, and can draw digits that nobody wrote. A denoising autoencoder was
trained on spoiled images to give back clean ones, and cleans better than one that only learned to copy. The images
shown, and the errors, are of images that were not trained on.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import lowdim

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CODES, NOISE, SHOWN = 8, 0.3, 12


def main(path=".", quick=False):
    """Draw the picture into a folder or file; return the squared errors of an image."""
    rng = np.random.default_rng(0)
    X = load_digits().data[rng.permutation(1797)] / 16
    train, test = (X[:500], X[500:700]) if quick else (X[:1400], X[1400:])
    noisy = test + NOISE * rng.standard_normal(test.shape)
    settings = {"hidden": (64,), "max_iter": 80 if quick else 400, "random_state": 0}
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
    for name, error in found.items():
        print(f"{name}: {error:.2f}")
    return found


def fit(model, X):
    """Trained for a picture: that a little more could be had is not worth a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X)


def through(model, X):
    """Images led through the codes and back."""
    return model.inverse_transform(model.transform(X))


def draw(path, pictures, found):
    """A line of images for each way."""
    figure = plt.figure(figsize=(9, 9.5), layout="constrained")
    for line, (name, images) in zip(figure.subfigures(len(pictures), 1), pictures.items(), strict=True):
        words = f": squared error {found[name]:.2f}" if found.get(name) else ""
        line.suptitle(name + words, x=0.0, ha="left", fontsize="small")
        for ax, picture in zip(line.subplots(1, SHOWN), images, strict=False):
            ax.imshow(picture.reshape(8, 8), cmap="Greys", vmin=0, vmax=1)
            ax.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
