"""The evidence of docs/trust.md: ``python -m benchmarks.trust_calibration [SECTION...]``

Sections: noise, intruders, between, structure, dimension, groups, stability. Each prints its tables; noise, structure
and dimension also draw their curves into docs/images. Seeds are fixed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import lowdim
from benchmarks.published_row_tests import embedr, scdeed
from lowdim._core.neighbors import nearest
from lowdim.select import intrinsic_dimension
from lowdim.select._dimension_estimators import gride

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
MODELS: dict[str, Any] = {
    "PCA": lowdim.PCA(n_components=2),
    "Isomap": lowdim.Isomap(n_components=2, n_neighbors=8),
    "t-SNE": lowdim.TSNE(n_components=2, perplexity=20),
    "UMAP": lowdim.UMAP(n_components=2, random_state=0),
}
SEEDS = 8


def say(*cells: Any) -> None:
    """One line of a table."""
    sys.stdout.write("| " + " | ".join(str(cell) for cell in cells) + " |\n")
    sys.stdout.flush()


def noise_rows(seed: int, n: int = 150, d: int = 6) -> np.ndarray:
    """Rows without structure."""
    return np.random.default_rng(seed).standard_normal((n, d))


def groups_of(seed: int, size: int = 60, d: int = 8, apart: float = 6.0) -> np.ndarray:
    """Three groups in a line."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.standard_normal((size, d)) + apart * step for step in (-1, 0, 1)])


def each_test(X: np.ndarray, Z: np.ndarray, model: Any, seed: int) -> dict[str, np.ndarray]:
    """The p-values of all rows by three tests."""
    rng = np.random.default_rng(seed)
    ours = lowdim.trust.rows(X, Z, estimator=model, n_null=3, random_state=seed)
    return {"trust.rows": ours.p_values, "scDEED": scdeed(X, Z, model, rng), "EMBEDR": embedr(X, Z, model, rng)}


def noise() -> None:
    """On noise, p-values should be uniform: a share of 0.05 at level 0.05."""
    curves: dict[str, np.ndarray] = {}
    say("method", "trust.rows", "scDEED", "EMBEDR", "from", "to")
    say(*["---"] * 6)
    for name, model in MODELS.items():
        tables = [noise_rows(seed) for seed in range(SEEDS)]
        found = [each_test(X, model.fit_transform(X), model, seed) for seed, X in enumerate(tables)]
        pooled = {test: np.concatenate([each[test] for each in found]) for test in found[0]}
        alone = [np.mean(each["trust.rows"] <= 0.05) for each in found]
        shares = [f"{np.mean(p <= 0.05):.3f}" for p in pooled.values()]
        say(name, *shares, f"{min(alone):.3f}", f"{max(alone):.3f}")
        curves[name] = pooled["trust.rows"]
    uniform(curves, "trust-rows-on-noise", "p-value of a row of noise")


def intruders() -> None:
    """Rows moved into another group of the map, and rows between two groups."""
    say("method", "rows", "trust.rows", "scDEED", "EMBEDR", "fractures")
    say(*["---"] * 6)
    for name in ("PCA", "t-SNE", "UMAP"):
        for kind, make in {"moved": _moved, "between": _between}.items():
            areas = [_areas(*make(seed, MODELS[name]), MODELS[name], seed) for seed in range(4)]
            say(name, kind, *(f"{np.mean([each[test] for each in areas]):.2f}" for test in areas[0]))


def between() -> None:
    """Where maps show rows interpolated between two groups, and whether they are found where a map hides them."""
    say("method", "place between the groups", "isolation", "hidden: trust.rows", "hidden: isolation")
    say(*["---"] * 5)
    for name in ("PCA", "t-SNE", "UMAP"):
        places, ratios, areas = [], [], []
        for seed in range(4):
            X, Z, planted = _between(seed, MODELS[name])
            own = np.setdiff1d(np.arange(60), planted)
            one, two = Z[own].mean(axis=0), Z[60:120].mean(axis=0)
            places.extend((Z[planted] - one) @ (two - one) / ((two - one) @ (two - one)))
            ratios.extend(lowdim.trust.rows(X, Z, random_state=seed).isolation[planted])
            Z = Z.copy()
            Z[planted] = Z[np.random.default_rng(seed).choice(own, 5, replace=False)] + 1e-3 * Z.std()
            found = lowdim.trust.rows(X, Z, estimator=MODELS[name], n_null=3, random_state=seed)
            is_planted = np.isin(np.arange(len(X)), planted)
            areas.append([roc_auc_score(is_planted, values) for values in (found.p_values, found.isolation)])
        spans = [f"{min(values):.2f} to {max(values):.2f}" for values in (places, ratios)]
        say(name, *spans, *(f"{area:.2f}" for area in np.mean(areas, axis=0)))


def _moved(seed: int, model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = groups_of(seed)
    Z = model.fit_transform(X).copy()
    Z[:5] = Z[130:135] + 1e-3
    return X, Z, np.arange(5)


def _between(seed: int, model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, rng = groups_of(seed), np.random.default_rng(seed)
    planted = np.arange(0, 60, 12)
    t = rng.uniform(0.4, 0.6, (len(planted), 1))
    X[planted] = (1 - t) * X[planted] + t * X[planted + 60]
    return X, model.fit_transform(X), planted


def _areas(X: np.ndarray, Z: np.ndarray, planted: np.ndarray, model: Any, seed: int) -> dict[str, float]:
    is_planted = np.isin(np.arange(len(X)), planted)
    found = {name: roc_auc_score(is_planted, p) for name, p in each_test(X, Z, model, seed).items()}
    if isinstance(model, lowdim.PCA) or not np.array_equal(Z, model.embedding_):  # fractures are of the fitted map
        return found | {"fractures": np.nan}
    jumps = lowdim.trust.fractures(model, X).overconfidence
    return found | {"fractures": roc_auc_score(is_planted, np.nan_to_num(jumps))}


def structure() -> None:
    """The p-value of a whole map of noise is uniform."""
    model = MODELS["PCA"]
    found = {
        f"{kind} noise": np.array([
            lowdim.trust.structure(noise_rows(s, 60, 5), model, null=kind, n_null=19, random_state=s).p_value
            for s in range(40)
        ])
        for kind in ("permuted", "gaussian")
    }  # fmt: skip
    say("null", "up to 0.05", "up to 0.25", "up to 0.5")
    say(*["---"] * 4)
    for name, p in found.items():
        say(name, *(f"{np.mean(p <= level + 1e-9):.2f}" for level in (0.05, 0.25, 0.5)))
    uniform(found, "trust-structure-on-noise", "p-value of a map of noise")


def _sheet(name: str, seed: int, n: int) -> tuple[np.ndarray, int]:
    rng = np.random.default_rng(seed)
    if name.startswith("cube"):
        D = int(name.split()[1])
        return rng.random((n, D)), D
    if name == "sphere":
        X = rng.standard_normal((n, 3))
        return X / np.linalg.norm(X, axis=1, keepdims=True), 2
    if name == "Swiss roll":
        return lowdim.datasets.swiss_roll(n, noise=0, random_state=seed).X, 2
    angles = rng.uniform(0, 2 * np.pi, (n, 2))  # flat and without an edge
    return np.hstack([np.cos(angles), np.sin(angles)]), 2


def dimension() -> None:
    """How often 95 % intervals hold the dimension."""
    names, draws, n = ("twonn", "gride", "mle", "correlation"), 100, 300
    say("rows", "as published: twonn", *names)
    say(*["---"] * 6)
    for sheet in ("torus", "sphere", "Swiss roll", "cube 2", "cube 5", "cube 10", "cube 20"):
        held = []
        for seed in range(draws):
            X, D = _sheet(sheet, seed, n)
            plain, found = intrinsic_dimension(X, correct=False).estimates, intrinsic_dimension(X).estimates
            held.append([low <= D <= high for _, low, high in (plain["twonn"], *(found[name] for name in names))])
        say(sheet, *np.sum(held, axis=0))
    _dependence()


def _dependence() -> None:
    """The error of Gride over draws, as lowdim states it, and as if rows were independent."""
    say("neighbours", "over draws", "stated", "independent rows")
    say(*["---"] * 4)
    scales, found = (1, 4, 16, 32), []
    for seed in range(60):
        near = nearest(_sheet("torus", seed, 500)[0], 64)
        estimates = [(gride(near.distances, near.indices, m), m) for m in scales]
        ratios = {m: near.distances[:, 2 * m - 1] / near.distances[:, m - 1] for m in scales}
        found.append([(each, _error_of_independent(ratios[m], each.value, m)) for each, m in estimates])
    for at, m in enumerate(scales):
        values = np.array([each[at][0].value for each in found])
        stated = np.mean([np.diff(each[at][0].interval())[0] for each in found]) / 3.92
        say(f"{m} and {2 * m}", f"{values.std():.3f}", f"{stated:.3f}", f"{np.mean([e[at][1] for e in found]):.3f}")


def _error_of_independent(ratios: np.ndarray, d: float, m: int) -> float:
    """The standard error from the curvature of the likelihood of Gride, as if rows were independent."""
    powers, logs = ratios**d, np.log(ratios)
    return float(1 / np.sqrt(len(ratios) / d**2 + (m - 1) * np.sum(powers * logs**2 / (powers - 1) ** 2)))


def groups() -> None:
    """Verdicts on groups whose answer is known, over twenty seeds."""
    say("case", "right", "verdicts")
    say(*["---"] * 3)
    for name, (make, right) in CASES.items():
        found = [make(seed) for seed in range(20)]
        told = {verdict: found.count(verdict) for verdict in dict.fromkeys(found)}
        say(name, f"{found.count(right)} of 20", ", ".join(f"{key} {count}" for key, count in told.items()))


def _verdict(X: np.ndarray, Z: np.ndarray, labels: np.ndarray, name: Any) -> str:
    found = lowdim.trust.groups(X, Z, labels, random_state=0)
    return next(group.verdict for group in found.table if group.name == name)


def _separate(seed: int) -> str:
    X = groups_of(seed, size=100, d=5)
    return _verdict(X, X[:, :2], np.repeat([0, 1, 2], 100), 0)


def _two_as_one(seed: int) -> str:
    X = groups_of(seed, size=100, d=5)
    return _verdict(X, X[:, :2], np.repeat([0, 0, 2], 100), 0)


def _in_two_places(seed: int) -> str:
    X = groups_of(seed, size=100, d=5)
    Z = X[:, :2].copy()
    Z[:50] += [0, 60]
    return _verdict(X, Z, np.repeat([0, 1, 2], 100), 0)


def _patch_of_noise(seed: int) -> str:
    X = noise_rows(seed, 300, 5)
    return _verdict(X, X[:, :2], (X[:, 0] > 0).astype(int), 0)


CASES: dict[str, tuple[Callable[[int], str], str]] = {
    "one of three separate groups": (_separate, "holds together"),
    "two separate groups under one label": (_two_as_one, "mixture"),
    "half of a group moved away in the map": (_in_two_places, "torn"),
    "half of a cloud without a gap": (_patch_of_noise, "overlaps"),
}


def stability() -> None:
    """Which neighbourhoods come back: of groups most, of noise few, of a map that is drawn at random none."""
    say("method", "groups", "noise")
    say(*["---"] * 3)
    for name in ("PCA", "t-SNE", "UMAP"):
        found = [
            lowdim.trust.stability(X, MODELS[name], n_resamples=6, random_state=0).overall
            for X in (groups_of(0, 50), noise_rows(0))
        ]
        say(name, *(f"{value:.2f}" for value in found))


def uniform(curves: dict[str, np.ndarray], name: str, label: str) -> None:
    """Draw shares of p-values up to each level, beside the diagonal."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "lowdim", "path.simplify_threshold": 1.0})
    import matplotlib.pyplot as plt

    levels = np.linspace(0, 1, 101)
    figure, axes = plt.subplots(figsize=(4.2, 3.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", lw=1)
    for key, p in curves.items():
        axes.plot(levels, [np.mean(p <= level + 1e-9) for level in levels], lw=1.2, label=key)
    axes.set(xlabel=label, ylabel="share of rows up to it", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


SECTIONS = {each.__name__: each for each in (noise, intruders, between, structure, dimension, groups, stability)}


def main() -> None:
    """Run the sections that are named, or all."""
    for name in sys.argv[1:] or SECTIONS:
        sys.stdout.write(f"\n## {name}\n\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            SECTIONS[name]()


if __name__ == "__main__":
    main()
