"""Tables that are on the GPU already, new rows, and ten million rows; `benchmarks.gpu` runs it."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim
from benchmarks.data import clusters, real
from lowdim._core.neighbors import nearest

BIG = 10_000_000


def _groups(torch: Any, n: int, d: int) -> Any:
    """The groups of `data.clusters` made on the GPU, where ten million rows take a second; on the GPU."""
    draw, X = torch.Generator(device="cuda").manual_seed(0), torch.empty((n, d), device="cuda")
    member = torch.randint(20, (n,), generator=draw, device="cuda")
    for group in range(20):
        mine = (member == group).nonzero()[:, 0]
        inner = torch.randn((len(mine), 10), generator=draw, device="cuda")
        axes = torch.randn((10, d), generator=draw, device="cuda")
        X[mine] = 2 * torch.randn(d, generator=draw, device="cuda") + inner @ axes
    return X.add_(torch.randn((n, d), generator=draw, device="cuda"), alpha=0.3)


def _nothing(_: Any) -> str:
    return ""


def _done(torch: Any, found: Any) -> Any:
    torch.cuda.synchronize()
    return found


def _both(table: Any, what: str, model: Any, data: str, X: np.ndarray) -> None:
    """A fit and its map, from an array and from a tensor on the GPU."""
    torch = table.place.torch
    there = torch.from_numpy(X).to("cuda")
    for kind, rows in (("array", X), ("tensor", there)):
        table.add(f"{what}: {kind}", data, lambda rows=rows: _done(torch, model.fit_transform(rows)), _nothing)


def _new_rows(table: Any, what: str, model: Any, fitted: np.ndarray, new: np.ndarray) -> None:
    model.fit(fitted)
    data = f"MNIST, among {len(fitted):,} x 784"
    for device in ("cuda", "cpu"):
        model.set_params(device=device)
        table.add(f"{what}, {len(new):,} new rows, {device}", data, lambda: model.transform(new), _nothing)


def speed(table: Any) -> None:
    """The same fits from an array and from a tensor on the GPU; new rows of MDS, LLE and PCA."""
    torch, groups, images = table.place.torch, clusters(1_000_000, 50, groups=1), real("mnist")
    one, mnist = "one group 1,000,000 x 50", "MNIST 70,000 x 784"
    _both(table, "t-SNE", lowdim.TSNE(device="cuda"), mnist, images)
    _both(table, "UMAP", lowdim.UMAP(device="cuda", random_state=0), one, groups)
    _both(table, "PCA of 10 axes, and scores", lowdim.PCA(10, device="cuda"), one, groups)
    _both(table, "PCA of 50 axes, and scores", lowdim.PCA(50, device="cuda"), mnist, images)
    model = lowdim.PCA(50, device="cuda").fit(images)
    there = torch.from_numpy(images).to("cuda")
    table.add("PCA, scores of an array", mnist, lambda: model.transform(images), _nothing)
    table.add("PCA, scores of a tensor", mnist, lambda: _done(torch, model.transform(there)), _nothing)
    new = images[30_000:32_000]
    _new_rows(table, "MDS", lowdim.MDS(device="cuda", max_iter=50), images[:10_000], new)
    _new_rows(table, "LLE", lowdim.LLE(device="cuda", random_state=0, n_landmarks=1000), images[:20_000], new)


def ten_million(table: Any) -> None:
    """Tables of ten million rows, the copy to the GPU included; PCA also of a tensor, where nothing is copied."""
    _neighbours_and_maps(table)
    table.place.torch.cuda.empty_cache()
    _moments(table)


def _neighbours_and_maps(table: Any) -> None:
    near: dict[str, Any] = {"approximate": None, "device": table.place}
    rows, data = _groups(table.place.torch, BIG, 50).cpu().numpy(), f"groups {BIG:,} x 50"
    table.place.torch.cuda.empty_cache()
    table.add(
        "neighbours, k = 15",
        data,
        lambda: nearest(rows, 15, **near),
        lambda found: f"recall {found.recall:.3f}",
        warm=False,
    )
    tsne, umap = lowdim.TSNE(device="cuda"), lowdim.UMAP(device="cuda", random_state=0)
    for what, model in (("t-SNE", tsne), ("UMAP", umap)):
        size = model.estimate_memory(rows, device="cuda")
        table.add(what, data, lambda model=model: model.fit(rows), _loss, size, warm=False)


def _loss(model: Any) -> str:
    return f"KL {model.kl_divergence_:.3f}, recall {model.recall_:.3f}"


def _moments(table: Any) -> None:
    torch, data = table.place.torch, f"noise {BIG:,} x 100"
    there = torch.randn((BIG, 100), device="cuda", generator=torch.Generator(device="cuda").manual_seed(0))
    here, pca = there.cpu().numpy(), lowdim.PCA(10, device="cuda")
    size = pca.estimate_memory(here, device="cuda")
    table.add("PCA of a tensor", data, lambda: _done(torch, pca.fit(there)), _nothing)
    table.add("one pass over a tensor", data, lambda: _done(torch, there.sum()), lambda _: "the sum of its cells")
    table.add("PCA", data, lambda: pca.fit(here), lambda _: "", size)
    table.add("the copy alone", data, lambda: _done(torch, torch.from_numpy(here).to("cuda")), _nothing)
