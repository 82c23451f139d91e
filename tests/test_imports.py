"""What an import costs and loads, and who may import what, where `.importlinter` cannot say it."""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import lowdim

HEAVY = ("torch", "dask", "matplotlib", "pandas", "polars", "jinja2", "rich", "clarabel", "anywidget")
SOURCES = Path(lowdim.__file__).parent


def fresh(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


# ---- what an import costs ---------------------------------------------------------------------------------------


def test_import_is_instant():
    """Processor time, in one of several fresh processes: noise only adds."""
    code = "import time; t = time.process_time(); import numpy, lowdim; print(time.process_time() - t)"
    assert any(fresh(code) < 0.2 for _ in range(5))


def test_import_loads_nothing_but_the_standard_library():
    loaded = fresh("import sys, json, lowdim; print(json.dumps(list(sys.modules)))")
    fresh_ones = {name.split(".")[0] for name in loaded} - set(
        fresh("import sys, json; print(json.dumps([n.split('.')[0] for n in sys.modules]))")
    )
    assert fresh_ones - set(sys.stdlib_module_names) <= {"lowdim"}


def test_the_first_estimator_costs_little_more_than_scikit_learn():
    """A share of what scikit-learn takes in the same process: a slow machine slows both."""
    code = (
        "import time; t = time.process_time(); import sklearn.base; u = time.process_time(); from lowdim import PCA;"
        "print((time.process_time() - u) / (u - t))"
    )
    assert any(fresh(code) < 0.3 for _ in range(5))


def test_estimators_load_hardly_more_than_scikit_learn_does():
    """All of them at once: scikit-learn's base loads numpy and most of scipy (some versions pandas, if installed)."""
    code = (
        "import sys, json, sklearn.base, sklearn.utils.multiclass; before = set(sys.modules); import lowdim;"
        "[getattr(lowdim, name) for name in lowdim._ESTIMATORS]; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    loaded = [name for name in fresh(code) if name.split(".")[0] != "lowdim"]
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]
    assert not [name for name in loaded if name.split(".")[0] in ("scipy", "sklearn")]


# ---- who imports what -------------------------------------------------------------------------------------------


def module_of(path):
    return ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports():
    """(importing module, what it names in full), for every import and every attribute of an imported module."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        tree, bound = ast.parse(path.read_text(encoding="utf-8")), {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found.add((module_of(path), alias.name))
                    bound[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
                for alias in node.names:
                    found.add((module_of(path), f"{node.module}.{alias.name}"))
                    bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
                found.add((module_of(path), f"{bound[node.value.id]}.{node.attr}"))
    return found


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name not in ("_core", "_native")


def owners_of_private(full):
    """For each private part of a dotted name, the module or package that holds it."""
    parts = full.split(".")
    return [".".join(parts[:i]) for i, part in enumerate(parts) if is_private(part)]


def may_call_the_compiled_core(module):
    """The rooms of _core, and private modules of families and measures; files of estimators read like the paper."""
    first, last = module.split(".")[1], module.split(".")[-1]
    families = ("linear", "spectral", "stress", "neighbor_embedding", "curves", "latent", "quality")
    return first == "_core" or (first in families and last.startswith("_"))


def test_the_compiled_core_is_called_from_below_the_estimators_only():
    users = {module for module, full in imports() if full.startswith("lowdim._native")}
    assert "lowdim._core.graph.local_fits" in users  # the scan finds imports
    assert not [module for module in sorted(users) if not may_call_the_compiled_core(module)]


def test_private_modules_and_names_stay_in_their_package():
    """Private to the package that holds them; sub-packages of it may use them."""
    wrong = {
        f"{module}: {full}"
        for module, full in imports()
        if full.startswith("lowdim.")
        for owner in owners_of_private(full)
        if not f"{module}.".startswith(f"{owner}.")
    }
    assert not sorted(wrong)


def test_pytorch_is_asked_for_in_two_places_only():
    """By name, when a network is fitted or a GPU is asked for; no module imports it."""
    asking = {
        module_of(path) for path in SOURCES.rglob("*.py") if 'imported("torch")' in path.read_text(encoding="utf-8")
    }
    assert asking == {"lowdim.latent.networks._torch", "lowdim._core.gpu.devices"}
    assert not [module for module, full in imports() if full.split(".")[0] in ("torch", "triton")]


def test_nothing_private_of_another_library_is_used():
    own = {"lowdim", *sys.stdlib_module_names}
    wrong = {
        f"{module}: {full}" for module, full in imports() if full.split(".")[0] not in own and owners_of_private(full)
    }
    assert not sorted(wrong)


FAMILIES = ("linear", "spectral", "stress", "neighbor_embedding", "curves", "latent")
ABOUT_THE_OBJECT = {
    *("check_is_fitted", "clone", "getattr", "hasattr", "isinstance", "len", "setattr", "vars"),
    *("replace", "type", "validate_data"),
}
TAKES_A_MODEL = {  # their job is a model as users have it, or an object that is no estimator
    "streams.placed_lazily",  # placed by other processes
    "report.random_stress",  # clones that are fitted to other dissimilarities, by the public interface
    "report.permutation_test",
    "report.refit",
    "found._of_graph",  # a method of the same class: two models of UMAP become one
    "selected",  # Points of a factor map
    "_Line.of",  # the state of a solver
    "self.objective.initial",
}


def estimators_handed_over(tree):
    """Calls of helpers that get the object itself, in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) not in ABOUT_THE_OBJECT:
            given = [*node.args, *(word.value for word in node.keywords)]
            if any(isinstance(value, ast.Name) and value.id == "self" for value in given):
                yield name


def test_stages_get_settings_and_never_the_estimator():
    trees = [ast.parse(p.read_text(encoding="utf-8")) for f in FAMILIES for p in sorted((SOURCES / f).rglob("*.py"))]
    assert {name for tree in trees for name in estimators_handed_over(tree)} == TAKES_A_MODEL
    assert list(estimators_handed_over(ast.parse("check(self, k=1)"))) == ["check"]


# ---- public names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", lowdim.__all__)
def test_every_public_name_resolves(name):
    assert getattr(lowdim, name) is not None
    assert name in dir(lowdim)


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        lowdim.Nonsense


def test_public_modules_declare_what_is_public():
    for module in (lowdim.datasets, lowdim.kernels, lowdim.quality, lowdim.plot, lowdim.select):
        assert module.__all__
        for name in module.__all__:
            assert hasattr(module, name)


def test_version_is_one():
    from importlib.metadata import version

    assert version("lowdim") == lowdim.__version__
