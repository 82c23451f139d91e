"""Methods on a GPU beside the CPU: parity, times and memory, as docs/gpu.md shows them.

``LOWDIM_DATA=folder python -m benchmarks.gpu --write docs/gpu.md`` writes the page; without ``--write`` it is printed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from benchmarks import gpu_methods, gpu_tensors
from benchmarks.data import clusters, real
from lowdim._core.gpu import devices
from lowdim._core.neighbors import nearest

SETS = (("pbmc3500_pcs", None), ("optdigits", None), ("usps", None), ("letter", None), ("mnist", 10_000))
SEEDS = 6


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    found = work()
    return found, time.perf_counter() - begun


def _row(*cells: Any) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _table(rows: list[list[Any]]) -> list[str]:
    """Lines of a table from its rows, the first of which names the columns."""
    return [_row(*rows[0]), _row(*["---"] * len(rows[0])), *(_row(*row) for row in rows[1:])]


def parity() -> list[str]:
    """t-SNE and PCA of real sets on both: divergence, area under R_NX, and variances."""
    lines = [
        _row("data", "rows", "KL, CPU", "KL, GPU", "R_NX area, CPU", "R_NX area, GPU", "PCA variances", "same bits"),
        _row(*["---"] * 8),
    ]
    for name, rows in SETS:
        X = real(name, rows)
        cpu, gpu, again = (lowdim.TSNE(device=device).fit(X) for device in ("cpu", "cuda", "cuda"))
        areas = [float(lowdim.quality.rnx_auc(X, model.embedding_)) for model in (cpu, gpu)]
        ours, theirs = (lowdim.PCA(5, device=device).fit(X).explained_variance_ for device in ("cuda", "cpu"))
        same = np.array_equal(gpu.embedding_, again.embedding_)
        differ = f"{np.abs(ours / theirs - 1).max():.0e}"
        kl = f"{cpu.kl_divergence_:.4f}", f"{gpu.kl_divergence_:.4f}"
        lines.append(_row(name, len(X), *kl, f"{areas[0]:.4f}", f"{areas[1]:.4f}", differ, "yes" if same else "no"))
        sys.stdout.write(lines[-1] + "\n")
    return lines


def umap_parity() -> list[str]:
    """UMAP of real sets on both, means of some seeds: seeds differ more than devices do."""
    lines = [
        _row("data", "rows", "KL, CPU", "KL, GPU", "R_NX area, CPU", "R_NX area, GPU", "same bits"),
        _row(*["---"] * 7),
    ]
    for name, rows in SETS:
        X = real(name, rows)
        fits = {
            on: [lowdim.UMAP(device=on, random_state=seed).fit(X) for seed in range(SEEDS)] for on in ("cpu", "cuda")
        }
        again = lowdim.UMAP(device="cuda", random_state=0).fit(X)
        kl = [f"{np.mean([model.kl_divergence_ for model in found]):.4f}" for found in fits.values()]
        areas = [
            np.mean([float(lowdim.quality.rnx_auc(X, model.embedding_, device="cuda")) for model in found])
            for found in fits.values()
        ]
        same = np.array_equal(fits["cuda"][0].embedding_, again.embedding_)
        lines.append(_row(name, len(X), *kl, *(f"{area:.4f}" for area in areas), "yes" if same else "no"))
        sys.stdout.write(lines[-1] + "\n")
    return lines


def _memory(place: Any, work: Callable[[], Any], *, warm: bool = True) -> tuple[Any, float, float]:
    """The result, the seconds of a second run (of the only one if not warm), and the bytes at its peak."""
    cuda = place.torch.cuda
    if warm:
        work()
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    found, seconds = _timed(work)
    return found, seconds, float(cuda.max_memory_allocated())


class _Speed:
    """A table of seconds, memory at the peak, and the estimate beside it."""

    def __init__(self, place: Any) -> None:
        self.place = place
        self.lines = [_row("what", "data", "seconds", "memory", "estimate", "note"), _row(*["---"] * 6)]

    def add(
        self,
        what: str,
        data: str,
        work: Callable[[], Any],
        note: Callable[[Any], str],
        estimate: Any = None,
        *,
        warm: bool = True,
    ) -> None:
        try:
            found, seconds, peak = _memory(self.place, work, warm=warm)
        except Exception as error:  # noqa: BLE001 - of any method; the other lines are worth having
            self.lines.append(_row(what, data, "", "", "", f"failed: {type(error).__name__}: {error}"[:200]))
            traceback.print_exc()
            return
        shown = "" if estimate is None else f"{estimate / 1e9:.1f} GB"
        self.lines.append(_row(what, data, f"{seconds:.2f}", f"{peak / 1e9:.1f} GB", shown, note(found)))
        sys.stdout.write(self.lines[-1] + "\n")


def _by_recall(found: Any) -> str:
    return f"recall {found.recall:.4f}"


def _by_loss(found: Any) -> str:
    parts = getattr(found, "n_components_graph_", 1)
    return f"KL {found.kl_divergence_:.3f}" + (f", {parts} components joined" if parts > 1 else "")


def speed(place: Any) -> list[str]:
    """Seconds of a warm run with all transfers, and the memory at the peak beside the estimate."""
    table = _Speed(place)
    mnist, million, one = real("mnist"), clusters(1_000_000, 50), clusters(1_000_000, 50, groups=1)
    table.add("exact neighbours, k = 15", "MNIST 70,000 x 784", lambda: nearest(mnist, 15, device=place), _by_recall)
    near = {"approximate": None, "device": place}
    table.add("neighbours, k = 15", "groups 1,000,000 x 50", lambda: nearest(million, 15, **near), _by_recall)
    images, groups = ("MNIST 70,000 x 784", mnist), ("groups 1,000,000 x 50", million)
    tsne, umap = lowdim.TSNE(device="cuda"), lowdim.UMAP(device="cuda", random_state=0)
    cases = [
        ("t-SNE", tsne, *images),
        ("t-SNE", tsne, "groups 100,000 x 50", million[:100_000]),
        ("t-SNE", tsne, *groups),
        ("UMAP", umap, *images),
        ("UMAP", umap, "one group 1,000,000 x 50", one),
    ]
    for what, model, name, X in cases:
        size = model.estimate_memory(X, device="cuda")
        table.add(what, name, lambda X=X, model=model: model.fit(X), _by_loss, size)
    size = umap.estimate_memory(million, device="cuda")
    table.add("UMAP", groups[0], lambda: umap.fit(million), _by_loss, size, warm=False)
    new = million[:100_000] + np.float32(0.01)
    for what, model in (("t-SNE, 100,000 new rows", tsne), ("UMAP, 100,000 new rows", umap)):
        table.add(what, groups[0], lambda model=model: model.transform(new), lambda _: "")
    rows, plane = million[:100_000], million[:100_000, :2].astype(np.float64)
    options = {"anchors": None, "device": "cuda"}
    table.add(
        "R_NX of all rows",
        "groups 100,000 x 50",
        lambda: lowdim.quality.rnx_auc(rows, plane, **options),
        lambda found: f"area {float(found):.4f}",
        warm=False,
    )
    wide = np.random.default_rng(0).standard_normal((1_000_000, 100), dtype=np.float32)
    size = lowdim.PCA(10).estimate_memory(wide, device="cuda")
    model = lowdim.PCA(10, device="cuda")
    table.add("PCA", f"noise {len(wide):,} x 100", lambda: model.fit(wide), lambda _: "", size)
    gpu_methods.speed(table)
    return table.lines


def _warm(work: Callable[[], Any]) -> float:
    work()
    return min(_timed(work)[1] for _ in range(2))


def against_cpu() -> list[str]:
    """The same fits on the CPU of that machine."""
    lines = [_row("what", "data", "CPU, seconds", "GPU, seconds"), _row(*["---"] * 4)]
    mnist, usps = ("MNIST 70,000 x 784", real("mnist")), ("usps", real("usps"))
    cases = [(lowdim.TSNE, *mnist), (lowdim.TSNE, *usps), (lowdim.UMAP, *mnist)]
    for method, data, X in cases:
        _, cpu = _timed(lambda X=X, method=method: method(random_state=0).fit(X))
        gpu = _warm(lambda X=X, method=method: method(random_state=0, device="cuda").fit(X))
        lines.append(_row(method.__name__, data, f"{cpu:.1f}", f"{gpu:.2f}"))
        sys.stdout.write(lines[-1] + "\n")
    return lines


PAGE = Path(__file__).with_name("gpu_page.md")


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", help="tables to measure; none: write the page from those that are kept")
    parser.add_argument(
        "--tables", type=Path, nargs="*", default=[], help="files of kept tables; new ones go to the first"
    )
    parser.add_argument("--write", type=Path, help="the page to write")
    options = parser.parse_args()
    tables: dict[str, str] = {}
    for path in reversed([path for path in options.tables if path.exists()]):
        tables |= json.loads(path.read_text(encoding="utf-8"))
    if options.only is None or options.only:
        warnings.simplefilter("ignore")
        _measure(options.only, tables, options.tables[0] if options.tables else None)
    text = PAGE.read_text(encoding="utf-8")
    for name, found in tables.items():
        text = text.replace(f"{{{name}}}", found)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    elif not options.tables:
        sys.stdout.write(text)


def _measure(only: list[str] | None, tables: dict[str, str], path: Path | None) -> None:
    """Some tables, or all of them; each is kept as soon as it is there."""
    place = devices.find("cuda", "benchmarks.gpu")
    assert place is not None
    versions = f"lowdim {lowdim.__version__}, PyTorch {place.torch.__version__}, Python {platform.python_version()}"
    cores = f"{place.torch.get_num_threads()} cores of the CPU"
    tables["machine"] = f"{place.torch.cuda.get_device_name()}, {cores}; {versions}"
    parts: dict[str, Callable[[], list[str]]] = {
        "speed": lambda: speed(place),
        "tensors": lambda: _lines(place, gpu_tensors.speed),
        "big": lambda: _lines(place, gpu_tensors.ten_million),
        "methods": lambda: _table(gpu_methods.parity()),
        "umap": umap_parity,
        "parity": parity,
        "cpu": against_cpu,
    }
    for name in parts if only is None else only:
        tables[name] = _or_why_not(name, parts[name])
        if path is not None:
            path.write_text(json.dumps(tables, indent=1), encoding="utf-8")


def _lines(place: Any, measure: Callable[[Any], None]) -> list[str]:
    table = _Speed(place)
    measure(table)
    return table.lines


def _or_why_not(name: str, work: Callable[[], list[str]]) -> str:
    """The lines of a table; those of the others are worth having where it fails."""
    try:
        return "\n".join(work())
    except Exception as error:  # noqa: BLE001 - of any method, written into the page
        traceback.print_exc()
        return f"Not measured: {name} failed ({type(error).__name__}: {error})."


if __name__ == "__main__":
    main()
