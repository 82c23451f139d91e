"""Tests of an installed package as tests of ours: a copy of its test module in which some imports mean other things.

The file is executed a second time, under another name and with an `__import__` of its own. What a `replaced` name
stands for is what the copy sees wherever it asks for that name; the package itself, and everyone else who imports it,
see nothing of it.
"""

import builtins
import importlib.util
import os
import types
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import sklearn

MADE_FOR = "1.9"  # the scikit-learn that exceptions.txt was made with; other releases have other tests
INSTALLED = ".".join(sklearn.__version__.split(".")[:2])


def adopt(name: str, replaced: Mapping[str, object]) -> dict[str, object]:
    """The globals of a copy of module `name`, ready to be those of a test module."""
    skip_other_releases()
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None:
        pytest.skip(f"{name} is not installed: this package came without its tests", allow_module_level=True)
    return _copied(found.origin, name, replaced)


def skip_other_releases() -> None:
    """Skip the module that asks: what stands in for scikit-learn's classes, and the list, are made for one release."""
    if INSTALLED != MADE_FOR:
        pytest.skip(f"exceptions.txt is for scikit-learn {MADE_FOR}; this is {INSTALLED}", allow_module_level=True)


def adopt_source(package: str, path: str, replaced: Mapping[str, object]) -> dict[str, object]:
    """The globals of a copy of a test module that the installed `package` leaves out.

    `path` is inside the folder that LOWDIM_PEER_TESTS names, which holds the packages' sources.
    """
    folder = os.environ.get("LOWDIM_PEER_TESTS")
    if importlib.util.find_spec(package) is None or not folder or not (file := Path(folder, path)).is_file():
        reason = f"needs {package}, and its sources in the folder that LOWDIM_PEER_TESTS names (make test-peers)"
        pytest.skip(reason, allow_module_level=True)
    return _copied(str(file), f"{_package_of(package, file)}.{file.stem}", replaced)


def _package_of(package: str, file: Path) -> str:
    """What relative imports of the file start from."""
    return f"{package}.{file.parent.name}"


def _copied(origin: str, name: str, replaced: Mapping[str, object]) -> dict[str, object]:
    copy = importlib.util.module_from_spec(importlib.util.spec_from_file_location(f"adopted.{name}", origin))
    copy.__package__ = name.rpartition(".")[0]  # what relative imports start from
    vars(copy)["__builtins__"] = {**vars(builtins), "__import__": _importer(replaced)}
    copy.__spec__.loader.exec_module(copy)
    found = {key: value for key, value in vars(copy).items() if not key.startswith("__")}
    for value in found.values():
        if isinstance(value, types.FunctionType) and hasattr(value, "pytestmark"):
            value.pytestmark = [_with_lists(mark) for mark in value.pytestmark]
    return found


def _with_lists(mark: pytest.Mark) -> pytest.Mark:
    """Cases that a generator gives, as a list: pytest will soon take nothing else."""
    args = [list(value) if isinstance(value, Iterator) else value for value in mark.args]
    return getattr(pytest.mark, mark.name).with_args(*args, **mark.kwargs).mark


def _importer(replaced: Mapping[str, object]):
    tops = {name.partition(".")[0] for name in replaced}

    def importing(name, globals=None, locals=None, fromlist=(), level=0):
        if level:
            name = importlib.util.resolve_name("." * level + name, globals["__package__"])
        if isinstance(replaced.get(name), types.ModuleType):
            return replaced[name]
        module = builtins.__import__(name, globals, locals, fromlist, 0)
        return View(module, replaced) if module.__name__.partition(".")[0] in tops else module

    return importing


class View(types.ModuleType):
    """A module as the copy sees it; modules inside it are seen through a view too."""

    def __init__(self, module: types.ModuleType, replaced: Mapping[str, object]):
        super().__init__(module.__name__)
        self.__dict__.update(_module=module, _replaced=replaced)

    def __getattr__(self, name: str):
        full = f"{self._module.__name__}.{name}"
        if full in self._replaced:
            return self._replaced[full]
        found = getattr(self._module, name)
        return View(found, self._replaced) if isinstance(found, types.ModuleType) else found
