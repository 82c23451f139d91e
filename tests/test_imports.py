"""What an import costs and loads."""

import json
import subprocess
import sys

import pytest

import lowdim

HEAVY = ("sklearn", "torch", "dask", "matplotlib", "pandas", "polars", "jinja2", "rich")


def fresh(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def test_import_is_instant():
    """Processor time, in one of several fresh processes: noise only adds."""
    code = "import time; t = time.process_time(); import numpy, lowdim; print(time.process_time() - t)"
    assert any(fresh(code) < 0.2 for _ in range(5))


def test_import_loads_nothing_heavy():
    loaded = fresh("import sys, json, lowdim; print(json.dumps(list(sys.modules)))")
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]


def test_the_first_estimator_costs_little_more_than_scikit_learn():
    code = "import time, sklearn.base; t = time.process_time(); from lowdim import PCA; print(time.process_time() - t)"
    assert any(fresh(code) < 0.2 for _ in range(5))


def test_estimators_load_no_plotting_or_table_library():
    """Beyond what scikit-learn loads itself: some versions import pandas where it is installed."""
    code = "import sys, json; from {} import {}; print(json.dumps(list(sys.modules)))"
    loaded = set(fresh(code.format("lowdim", "PCA, Isomap, KernelPCA, ClassicalMDS")))
    loaded -= set(fresh(code.format("sklearn.base", "BaseEstimator")))
    assert not [name for name in loaded if name.split(".")[0] in HEAVY[1:]]


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
