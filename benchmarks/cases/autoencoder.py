"""Autoencoders and inverse NLPCA

Task *mnist*: an autoencoder with layers 784-256-64-2 and back, Adam, batches of 256. The regressor of scikit-learn
learns to reproduce its input with the same layers, batches and epochs. *error*: mean squared reconstruction error of a
cell, relative to the variance of a cell; lower is better. *rows/s*: rows times epochs per second of the fit. *transfer
share*: part of the time in which the table is copied to the device. `cuda` needs a GPU. Task *helix*: inverse NLPCA
with layers 1-12-3 on a helical loop with one missing cell in every row, ten initialisations; *error* is the mean
squared error of the missing cells.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.case import Contender, Skip

LAYERS, BATCH = (256, 64), 256
LARGE = 100000  # rows: beyond, for a GPU
SHIFTS = [(0, 0), *((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j), (2, 0)]
sizes = {
    "quick": [{"task": "digits", "n": 1797, "epochs": 20}, {"task": "helix", "n": 1000, "epochs": 0}],
    "full": [
        {"task": "mnist", "n": 70000, "epochs": 30},
        {"task": "mnist", "n": 700000, "epochs": 3},
        {"task": "helix", "n": 1000, "epochs": 0},
    ],
}


def data(size):
    if size["task"] == "helix":
        from lowdim.datasets import helical_loop, remove_cells

        loop = helical_loop(size["n"], 0.05, random_state=0)
        return {"X": remove_cells(loop.X, random_state=0), "truth": loop.noise_free}
    if size["task"] == "digits":
        from sklearn.datasets import load_digits

        return {"X": (load_digits().data / 16).astype(np.float32)}
    folder = os.environ.get("LOWDIM_DATA")
    if not folder:
        raise Skip("needs mnist.npz; set LOWDIM_DATA to the folder that holds it")
    X = np.load(Path(folder) / "mnist.npz", allow_pickle=False)["X"].reshape(-1, 28, 28)
    shifts = SHIFTS[: -(-size["n"] // len(X))]
    X = np.concatenate([np.roll(X, shift, axis=(1, 2)) for shift in shifts])[: size["n"]]
    return {"X": X.reshape(len(X), -1).astype(np.float32) / 255}


def lowdim(data, size, threads, device="cpu"):
    import lowdim as library

    if size["task"] == "helix":
        if device != "cpu":
            raise Skip("the method has no GPU version")
        network = library.InverseNLPCA(1, hidden=12, random_state=0, n_jobs=threads)
        return lambda: {"fitted": network.fit(data["X"]).completed_}
    if size["n"] > LARGE and device == "cpu":
        raise Skip("this size is measured on a GPU only")
    settings = {"solver": "adam", "batch_size": BATCH, "max_iter": size["epochs"], "patience": size["epochs"]}
    model = library.Autoencoder(2, hidden=LAYERS, held_out=0, device=device, random_state=0, n_jobs=threads, **settings)

    def run():
        start = time.perf_counter()
        Z = model.fit_transform(data["X"])
        seconds = time.perf_counter() - start
        return {"fitted": model.inverse_transform(Z), "seconds": seconds, "moving": moving(data["X"], device) / seconds}

    return run


def cuda(data, size, threads):
    import torch

    if not torch.cuda.is_available():
        raise Skip("no GPU")
    moving(data["X"][:10], "cuda")
    return lowdim(data, size, threads, "cuda")


def moving(X, device):
    """Seconds that the table takes to reach the device."""
    import torch

    start = time.perf_counter()
    torch.as_tensor(X, device=device)
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def mlp(data, size, threads):
    from sklearn.neural_network import MLPRegressor

    if size["task"] == "helix":
        raise Skip("does not accept missing cells")
    if size["n"] > LARGE:
        raise Skip("this size is measured on a GPU only")
    warnings.filterwarnings("ignore", message="Stochastic Optimizer")
    layers, X = (*LAYERS, 2, *LAYERS[::-1]), data["X"]
    settings = {"activation": "tanh", "batch_size": BATCH, "learning_rate_init": 2e-3, "alpha": 1e-5, "random_state": 0}
    epochs = {"max_iter": size["epochs"], "n_iter_no_change": size["epochs"]}
    model = MLPRegressor(hidden_layer_sizes=layers, **epochs, **settings)

    def run():
        start = time.perf_counter()
        model.fit(X, X)
        return {"fitted": model.predict(X), "seconds": time.perf_counter() - start, "moving": 0.0}

    return run


ours = {"lowdim": Contender(lowdim, "torch"), "lowdim cuda": Contender(cuda, "torch")}
peers = {"scikit-learn MLP": Contender(mlp, "sklearn")}


def quality(data, size, results):
    if size["task"] == "helix":
        gone = np.isnan(data["X"])
        return {
            name: {"error": float(np.square(r["fitted"] - data["truth"])[gone].mean())} for name, r in results.items()
        }
    X = data["X"]
    spread = float(X.var(axis=0).mean())
    return {
        name: {
            "error": float(np.square(r["fitted"] - X).mean()) / spread,
            "rows/s": size["n"] * size["epochs"] / float(r["seconds"]),
            "transfer share": float(r["moving"]),
        }
        for name, r in results.items()
    }
