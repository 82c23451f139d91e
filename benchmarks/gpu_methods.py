"""Metric MDS, landmark Isomap and kernel PCA on a GPU beside the CPU; `benchmarks.gpu` runs it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import lowdim
from benchmarks.data import clusters, real

SETS = (("pbmc3500_pcs", None), ("optdigits", None), ("usps", None), ("letter", 6000), ("mnist", 6000))


def _differ(one: Any, other: Any) -> str:
    return f"{np.abs(np.asarray(one) / np.asarray(other) - 1).max():.0e}"


def parity() -> list[list[Any]]:
    """The rows of a table: stress and area under R_NX of MDS, eigenvalues of landmark Isomap and of kernel PCA."""
    columns = "data", "rows", "stress, CPU", "stress, GPU", "R_NX area, CPU", "R_NX area, GPU", "Isomap, eigenvalues"
    rows: list[list[Any]] = [[*columns, "Isomap, R_NX areas", "kernel PCA, eigenvalues", "same bits"]]
    for name, count in SETS:
        X = real(name, count)
        mds = [lowdim.MDS(device=on, solver="accelerated", random_state=0).fit(X) for on in ("cpu", "cuda", "cuda")]
        iso = [lowdim.Isomap(n_landmarks=500, random_state=0, device=on).fit(X) for on in ("cpu", "cuda", "cuda")]
        few = [lowdim.KernelPCA(5, n_landmarks=500, random_state=0, device=on).fit(X) for on in ("cpu", "cuda")]
        areas = [float(lowdim.quality.rnx_auc(X, model.embedding_, device="cuda")) for model in (*mds[:2], *iso[:2])]
        same = all(np.array_equal(found[1].embedding_, found[2].embedding_) for found in (mds, iso))
        stress = [f"{model.stress_normalized_:.5f}" for model in mds[:2]]
        shown = [f"{area:.4f}" for area in areas]
        spectra = _differ(iso[1].eigenvalues_, iso[0].eigenvalues_), _differ(few[1].eigenvalues_, few[0].eigenvalues_)
        both = f"{shown[2]}, {shown[3]}"
        rows.append([name, len(X), *stress, *shown[:2], spectra[0], both, spectra[1], "yes" if same else "no"])
        sys.stdout.write(" | ".join(map(str, rows[-1])) + "\n")
    return rows


def speed(table: Any) -> None:
    """Further lines of the table of times and memory."""
    million = clusters(1_000_000, 50, groups=1)
    roll = lowdim.datasets.swiss_roll(1_000_000, random_state=0).X.astype(np.float32)
    mnist = real("mnist")
    fewer = clusters(30_000, 50)
    mds = lowdim.MDS(device="cuda", max_iter=300, tol=0.0)
    isomap = lowdim.Isomap(n_landmarks=500, device="cuda", random_state=0)
    nystrom, whole = (
        lowdim.KernelPCA(10, n_landmarks=2000, device="cuda", random_state=0),
        lowdim.KernelPCA(10, device="cuda", random_state=0),
    )
    cases = [
        ("metric MDS, 300 steps", mds, "groups 30,000 x 50", fewer, lambda m: f"stress-1 {m.stress1_:.4f}"),
        ("kernel PCA, 2,000 landmarks", nystrom, "one group 1,000,000 x 50", million, lambda _: ""),
        ("kernel PCA, all rows", whole, "MNIST 70,000 x 784", mnist, lambda _: ""),
        ("Isomap, 500 landmarks", isomap, "one group 1,000,000 x 50", million, lambda _: ""),
        ("Isomap, 500 landmarks", isomap, "Swiss roll 1,000,000 x 3", roll, lambda _: ""),
    ]
    for what, model, name, X, note in cases:
        size = model.estimate_memory(X, device="cuda")
        table.add(what, name, lambda X=X, model=model: model.fit(X), note, size, warm=len(X) < 10**6)
