"""Where and with what a measurement was made.

``python -m benchmarks.machine`` prints the versions that an interpreter has.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST = ROOT / "benchmarks" / "first"
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "pynndescent", "numba", "faiss-cpu", "hnswlib", "umap-learn", "openTSNE"),
    *("torch", "clarabel", "polars", "pyamg", "python-picard"),
)


def environment(threads: int, source: Path | None = None) -> dict[str, str]:
    """The environment of a measurement: so many threads for everybody, this folder's modules, and those of `source`."""
    paths = [str(Path(entry).resolve()) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    paths = paths if source is None else [str(FIRST), str(source), *paths]
    return {
        **os.environ,
        **dict.fromkeys(THREADS, str(threads)),
        "PYTHONPATH": os.pathsep.join([*paths, str(ROOT)]),
        "PYTHONHASHSEED": "0",
    }


def facts() -> dict[str, object]:
    """The machine in a few words."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": _memory(),
        "system": platform.system(),
    }


def load() -> float | None:
    """Processes that wanted to run during the last minute, on average."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    with suppress(ValueError, OSError, AttributeError):
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    return None


def versions(python: str) -> dict[str, str]:
    """Python and the packages of an interpreter that matter here."""
    command = [python, "-m", "benchmarks.machine"]
    found = subprocess.run(command, cwd=ROOT, env=environment(1), capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def commit(root: Path = ROOT) -> str | None:
    """The commit that was measured; a plus sign says that files differ from it."""
    with suppress(OSError, subprocess.CalledProcessError):
        git = ["git", "-C", str(root)]
        name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "status", "--porcelain", "src"], capture_output=True, text=True, check=True)
        return name.stdout.strip() + ("+" if changed.stdout.strip() else "")
    return None


def _own_versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_own_versions()))
