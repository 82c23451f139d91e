"""What a fit takes at its peak, measured in a process of its own, beside what `estimate_memory` announces.

``python -m tests._core.runtime.memory_cases [part of a name]`` prints the table.
"""

import ctypes
import gc
import multiprocessing
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import lowdim

MB = 10**6


class Peaks(NamedTuple):
    """Bytes that were announced, that `fit` and `transform` of the rows in another order took, and of the rows."""

    announced: int
    fit: int
    transform: int
    rows: int


def peaks(name: str, n: int, d: int, kind: str) -> Peaks:
    """A fit in a fresh process, which a server forks that has loaded the package and done nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests._core.runtime.memory_peaks"])
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_measure, args=(there, name, n, d, kind))
    child.start()
    there.close()
    try:
        return Peaks(*here.recv())
    except EOFError:
        child.join()
        raise RuntimeError(f"{name}: the process ended with {child.exitcode}") from None


def _measure(pipe: Any, name: str, n: int, d: int, kind: str) -> None:
    warnings.simplefilter("ignore")
    model, small, X = _model(name), rows(name, 200, min(d, 150), kind), rows(name, n, d, kind)
    _model(name).fit(small, *targets(name, small)).transform(small)  # loads what is loaded on first use
    given = targets(name, X)
    fit = taken(lambda: model.fit(X, *given))
    new = X[::-1].copy() if X.shape[0] != X.shape[1] else X
    transform = taken(lambda: model.transform(new))
    pipe.send((_model(name).estimate_memory(X), fit, transform, 8 * X.shape[0] * X.shape[1]))


def _model(name: str) -> Any:
    return eval(name, vars(lowdim) | {each: getattr(lowdim, each) for each in lowdim.__all__})


def rows(name: str, n: int, d: int, kind: str) -> Any:
    """Random rows: "f8", "f4", "holes" (a tenth of the cells), "sparse" (2 %), "counts", "text"."""
    rng = np.random.default_rng(0)
    if kind == "text":
        return np.array(list("abcde"), dtype=object)[rng.integers(0, 5, size=(n, d))]
    if kind == "counts":
        return rng.poisson(2.0, size=(n, d)) + 1.0
    if kind == "sparse":
        count = n * d // 50
        cells = (rng.integers(n, size=count, dtype=np.int32), rng.integers(d, size=count, dtype=np.int32))
        return sparse.csr_array((rng.random(count), cells), shape=(n, d))
    X = rng.standard_normal((n, d), dtype=np.float32).astype("f4" if kind == "f4" else "f8")
    if kind == "holes":
        X[rng.random(X.shape, dtype=np.float32) < 0.1] = np.nan
    return lowdim.kernels.RBF(0.1)(X) if "kernel='precomputed'" in name else X


def targets(name: str, X: Any) -> tuple[Any, ...]:
    """A second table, or labels, where the method needs them."""
    if "CCA" in name:
        return (X[:, ::-1].copy(),)
    return (np.arange(X.shape[0]) % 3,) if re.match("LDA|.*(forest|anova)", name) else ()


def taken(call: Callable[[], Any]) -> int:
    """Bytes that a call takes beyond what was there before it. The system keeps the peak, so that none is missed."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free already would hide as much of the call
    with open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")
    before = _status("VmRSS")
    call()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def miss(announced: float, took: float) -> float:
    """How far an estimate is off; 1 is what is allowed: 30 % or 50 MB, whichever is more."""
    return abs(announced - took) / max(0.3 * took, 50 * MB)


def line(name: str, n: int, d: int, kind: str, found: Peaks) -> str:
    """One line of the table."""
    shown = "  ".join(f"{part} {value / MB:6.0f}" for part, value in found._asdict().items())
    mark = " " if miss(found.announced, found.fit) <= 1 else "*"
    return f"{mark} {shown} MB  {name} {n} x {d} {kind}"
