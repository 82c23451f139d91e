"""Documentation that cannot drift: examples run, parameters match signatures, texts name what exists."""

import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from numpydoc.docscrape import FunctionDoc, NumpyDocString

import lowdim
from tests.estimators import CASES

ROOT = Path(__file__).resolve().parent.parent
APART = ("lowdim._native", "lowdim._core.gpu.fused")  # compiled, and kernels of Triton, which only GPUs have
MODULES = [m.name for m in pkgutil.walk_packages(lowdim.__path__, "lowdim.") if not m.name.startswith(APART)]


@pytest.mark.parametrize("name", ["lowdim", *MODULES])
def test_examples_run(name):
    if name == "lowdim.app.__main__":
        return
    failed, _ = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert failed == 0


def public():
    for name in lowdim.__all__:
        thing = getattr(lowdim, name)
        if inspect.ismodule(thing):
            for inner in thing.__all__:
                member = getattr(thing, inner)
                if callable(member):
                    yield f"{name}.{inner}", member
        else:
            yield name, thing


PUBLIC = dict(public())


def documented(text):
    names = []
    for entry in NumpyDocString(inspect.cleandoc(text))["Parameters"]:
        names += [part.strip().lstrip("*") for part in entry.name.split(",")]
    return names


# Records that only the library makes: their fields are attributes, and documented as such.
RECORDS = {
    "quality.Procrustes",
    "quality.Ranks",
    "quality.Shepard",
    "quality.Score",
    "select.ComponentChoice",
    "select.KernelChoice",
    "select.WidthCurve",
    "select.DimensionChoice",
    "select.IntrinsicDimension",
    "select.Ceiling",
    "select.MethodChoice",
    "select.SettingChoice",
    "trust.Fractures",
    "trust.Group",
    "trust.GroupPair",
    "trust.GroupTrust",
    "trust.RowTrust",
    "trust.Stability",
    "trust.StructureTest",
    "Comparison",
    "Imputation",
}


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in RECORDS])
def test_documented_parameters_are_the_parameters(name):
    thing = PUBLIC[name]
    assert thing.__doc__, f"{name} has no docstring"
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return
    wanted = [p for p in signature.parameters if p not in ("self", "cls", "args", "kwargs")]
    found = documented(thing.__doc__)
    if not found and len(wanted) <= 1:
        return
    assert found == wanted, f"{name}: documented {found}, signature {wanted}"


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in RECORDS and name != "ModelFileError"])
def test_public_names_have_an_example(name):
    """Run by `test_examples_run` of its module; that passes over decorated functions, so they are run here."""
    thing = PUBLIC[name]
    assert ">>> " in inspect.cleandoc(thing.__doc__)
    assert thing.__module__ in ("lowdim", *MODULES)
    if inspect.isfunction(thing) and thing.__globals__ is not vars(sys.modules[thing.__module__]):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        known = dict(vars(sys.modules[thing.__module__]))  # as for the others: examples name their own function
        tests = doctest.DocTestFinder().find(thing, name, module=False, globs=known)
        assert sum(runner.run(test).attempted for test in tests)
        assert runner.summarize().failed == 0


@pytest.mark.parametrize("name", lowdim._ESTIMATORS)
def test_estimators_teach(name):
    """One screen: what it does, attributes, a reference with a year, an example."""
    doc = NumpyDocString(inspect.cleandoc(getattr(lowdim, name).__doc__))
    assert doc["Attributes"]
    assert doc["Examples"]
    assert re.search(r"\b(19|20)\d\d\b", " ".join(doc["References"]))
    for method in ("fit", "fit_transform", "transform", "inverse_transform", "estimate_memory"):
        assert FunctionDoc(getattr(getattr(lowdim, name), method))["Summary"]


# These rows are noise in four columns: nothing to find, and methods that look for something say so.
@pytest.mark.filterwarnings("ignore:(ICA|FactorAnalysis|BayesianPCA|TSNE|GPLVM|VAE). ")
@pytest.mark.parametrize("name", lowdim._ESTIMATORS)
def test_documented_attributes_exist_after_fit(name):
    import numpy as np

    X = np.abs(np.random.default_rng(0).standard_normal((40, 4)))  # CA takes no negative numbers
    case = next((case for case in CASES if case.name == name), None)
    model = getattr(lowdim, name)(*([2] if case is None or case.columns == 2 else []))
    model = model.fit(X) if case is None else case.fit(model, X)
    doc = NumpyDocString(inspect.cleandoc(type(model).__doc__))
    for entry in doc["Attributes"]:
        for attribute in entry.name.split(","):
            assert hasattr(model, attribute.strip()), attribute


TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])


def test_the_table_lists_exactly_the_methods_that_exist():
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \|", text, flags=re.M)
    assert sorted(table) == sorted(lowdim._ESTIMATORS)


def test_the_costs_are_those_of_all_methods():
    """Each with a measured time, and what its map does not show."""
    text = (ROOT / "docs" / "choose" / "costs.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| \[`(\w+)`\].* \| (?:< )?[\d.]+ \| [^|]+ \|$", text, flags=re.M)
    assert sorted(table) == sorted(lowdim._ESTIMATORS)


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_readme_example_runs():
    """And prints what the sentence after it says."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, promised = re.search(r"```python\n(.*?)```\n\nIt prints (.*?):", text, flags=re.S).groups()
    with redirect_stdout(StringIO()) as out:
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue().split() == promised.split(" and ")


def test_readme_counts_the_methods():
    assert f"by {len(lowdim._ESTIMATORS)} methods" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (path.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_modules_that_are_named_exist(path):
    """Paths from the root, from src, or from the package."""
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"`([\w.-]+/[\w./-]+\.(?:py|cpp|hpp|md|html|ts|sh))`", text):
        assert any((folder / name).exists() for folder in (ROOT, ROOT / "src", ROOT / "src" / "lowdim")), name


def test_the_project_speaks_of_itself_alone():
    """No absolute path of a machine slips into the text people read."""
    for path in TEXTS:
        assert not re.search(r"(?<![\w.])/(work|home|root|tmp)/", path.read_text(encoding="utf-8")), path


def test_the_records_of_the_architecture_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## Records")[1].split("\n## ")[0]
    found = 0
    for names, home in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| `([\w/.]+)` \|", table, flags=re.M):
        place = ROOT / "src" / "lowdim" / home
        source = "".join(p.read_text(encoding="utf-8") for p in ([place] if place.is_file() else place.rglob("*.py")))
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^class {name}\b", source, flags=re.M), f"{name} is not in {home}"
            found += 1
    assert found > 15


def test_the_rooms_of_the_architecture_are_those_of_the_contract():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## The rooms of _core")[1].split("\n## ")[0]
    told = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`\w+`[^|]*) \|", table, flags=re.M)]
    contract = (ROOT / ".importlinter").read_text(encoding="utf-8").split("[importlinter:contract:rooms]")[1]
    lines = re.findall(r"^ {4}(lowdim\._core\..*)$", contract.split("[importlinter:")[0], flags=re.M)
    stated = [re.findall(r"lowdim\._core\.(\w+)", line) for line in lines]
    beside_base = {"validate", "vocabulary", "renamed", "foreign_names", "reads_blocks", "maps_blocks"}
    beside_base |= {"marks_blocks", "memory_needs", "stays_on_device"}
    assert [[name for name in row if name not in beside_base] for row in told] == stated
    core = ROOT / "src" / "lowdim" / "_core"
    rooms = {p.name for p in core.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    rooms |= {path.stem for path in core.glob("*.py")} - {"__init__"}
    assert {name for row in told for name in row} == rooms
