"""Functions of lowdim that have no public name, wherever the modules of its core lie.

Some tables are about a single step: the search for neighbours, the lengths of paths. Both checkouts of a comparison
must have it, also where its module was moved between them.
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.case import Skip


def core(name: str, package: str = "lowdim") -> Any:
    """The function or class of that name, from the one module below the package that defines it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise Skip(f"needs {package}, which this lowdim does not have")
    definition = re.compile(rf"^(?:def|class) {name}\b", re.MULTILINE)
    homes = [
        path.relative_to(folder)
        for folder in map(Path, spec.submodule_search_locations)  # of an editable install, more than one
        for path in sorted(folder.rglob("*.py"))
        if "gpu" not in path.parts  # which has the same functions again, for another device
        and definition.search(path.read_text(encoding="utf-8"))
    ]
    if len(homes) != 1:
        places = ", ".join(map(str, homes)) or "no module"
        raise Skip(f"needs {name} from one module of {package}; got {places}")
    parts = homes[0].with_suffix("").parts
    return getattr(import_module(".".join([package, *(part for part in parts if part != "__init__")])), name)
