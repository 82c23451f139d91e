"""What a bug report needs to know: versions of lowdim, Python and libraries, the processor, and the threads."""

from __future__ import annotations

import platform
import sysconfig
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import chain
from pathlib import Path

import lowdim

NEEDED = ("numpy", "scipy", "scikit-learn", "threadpoolctl")


def lines() -> list[str]:
    """One fact a line."""
    return [f"lowdim {lowdim.__version__}", *(f"  {name}: {value}" for name, value in chain(_machine(), _libraries()))]


def _machine() -> list[tuple[str, str]]:
    from lowdim._core.runtime.threads import n_threads, vector_width

    built = "free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else "with the interpreter's lock"
    return [
        ("python", f"{platform.python_version()} ({platform.python_implementation()}, {built})"),
        ("system", f"{platform.platform()}, {platform.machine()}"),
        ("installed in", str(Path(lowdim.__file__).parent)),
        ("vector width", vector_width()),
        ("threads", str(n_threads())),
        ("linear algebra", _blas()),
    ]


def _blas() -> str:
    """The libraries that numpy and scipy bring, as they are found in the process."""
    import scipy.linalg  # noqa: F401 (numpy has loaded its library, scipy now loads its own)
    from threadpoolctl import threadpool_info

    found = {
        f"{one['internal_api']} {one['version']} ({one.get('architecture', 'architecture unknown')})"
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "unknown to threadpoolctl"


def _libraries() -> list[tuple[str, str]]:
    """What lowdim needs, and what of its extras is installed."""
    names = dict.fromkeys([*NEEDED, *sorted(_optional())])
    found = [(name, _version(name)) for name in names]
    return [(name, value or "missing") for name, value in found if value or name in NEEDED]


def _optional() -> set[str]:
    """The libraries of the extras that users install."""
    try:
        given = requires("lowdim") or []
    except PackageNotFoundError:  # run from its source, not installed
        return set()
    told = [one.split(";") for one in given if ";" in one]
    lines = [name for name, condition in told if not any(f'"{extra}"' in condition for extra in ("test", "docs"))]
    names = {_name(line) for line in lines}
    return names - {"lowdim"}


def _name(requirement: str) -> str:
    """The library a requirement is of."""
    end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), len(requirement))
    return requirement[:end]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
