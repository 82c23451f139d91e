"""The tools of the developers: what `make check` would run for a file, and what `make test-oldest` installs."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from tools import check, sbom

import lowdim


def step(title, *files):
    found = [arguments for name, arguments in check.plan([Path(file) for file in files]) if name == title]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("src/lowdim/spectral/isomap.py", "tests/spectral/test_isomap.py"),
        ("src/lowdim/_core/iterate.py", "tests/_core/test_iterate.py"),
        ("src/lowdim/_core/graph/__init__.py", "tests/_core/graph/test_graph.py"),
        ("src/lowdim/_core/graph/repair.py", "tests/_core/graph/test_repair.py"),
        ("src/lowdim/spectral/_tearing.py", "tests/spectral/test_tearing.py"),
        ("src/lowdim/stress/_majorize.py", "tests/stress/test_mds.py"),  # tested through its family
        ("src/lowdim/_native/maps/tsne_descent.cpp", "tests/native/test_tsne_kernels.py"),
        ("src/lowdim/_native/common/simd.hpp", "tests/native"),
        ("tests/spectral/test_lle.py", "tests/spectral/test_lle.py"),
        ("tools/check.py", "tests/test_tools.py"),
    ],
)
def test_a_file_is_checked_by_the_tests_that_mirror_it(file, tests):
    assert (check.ROOT / file).exists()
    assert tests in step("tests", file)


def test_every_module_has_a_doctest_run_and_every_estimator_its_texts():
    tests = step("tests", "src/lowdim/spectral/isomap.py")
    assert "tests/test_docs.py::test_examples_run[lowdim.spectral.isomap]" in tests
    assert "tests/test_docs.py::test_estimators_teach[Isomap]" in tests


def test_every_module_of_a_package_has_tests():
    """Of its own, or those of the folder that mirrors its package."""
    for path in sorted((check.ROOT / check.PACKAGE).glob("*/**/*.py")):
        found = check.mirrors(path.relative_to(check.ROOT))
        assert found or path.name == "__init__.py", path
        assert all((check.ROOT / test).exists() for test in found)


def test_only_code_of_the_package_is_typed_and_only_python_is_formatted():
    assert step("types", "tools/check.py") is None
    assert step("imports", "src/lowdim/spectral/isomap.py") == ["-c", "CONTRACTS"]
    assert step("format", "README.md") is None
    assert step("format", "README.md", "tools/check.py") == ["-m", "ruff", "format", "tools/check.py"]


def test_the_tests_that_are_named_exist():
    """A renamed test would make every check of an estimator or a text fail."""
    named = [f"tests/{test}" for test in check.LANGUAGE_TESTS] + [
        f"tests/test_docs.py::{name}" for name in check.TEXT_TESTS
    ]
    for test in named:
        file, name = test.split("::")
        assert f"def {name}(" in (check.ROOT / file).read_text(encoding="utf-8")


def test_files_elsewhere_are_an_error(tmp_path):
    stranger = tmp_path / "x.py"
    stranger.touch()
    for word in (str(stranger), "src/lowdim/nowhere.py"):
        with pytest.raises(SystemExit, match="FILE must be a file of this repository"):
            check.relative(word)


# ---- a release ---------------------------------------------------------------------------------------------------

PROJECT = tomllib.loads((check.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (.+)$"),
        ("conda/recipe.yaml", r'^  version: "(.+)"$'),
        ("docs/about.md", r"^  version = \{(.+)\},$"),
    ],
)
def test_one_version_everywhere(file, pattern):
    text = (check.ROOT / file).read_text(encoding="utf-8")
    assert re.findall(pattern, text, re.MULTILINE) == [lowdim.__version__]
    assert sbom.version() == lowdim.__version__


def test_the_recipe_needs_what_the_package_needs():
    text = (check.ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")
    lines = {line.strip().removeprefix("- ").replace("matplotlib-base", "matplotlib") for line in text.splitlines()}
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]]
    assert not {line.replace(">=", " >=") for line in wanted} - lines


def test_the_list_of_components_names_all_that_is_inside_and_beside():
    made = sbom.document()
    named = {part["name"]: part for part in made["components"]}
    assert {"nanobind", "robin-map", "Natural Earth"} <= {n for n, part in named.items() if "licenses" in part}
    for name in ("nanobind", "robin-map"):  # both licences ask that their text goes with a binary
        assert "Copyright" in (check.ROOT / "licenses" / f"{name}.txt").read_text(encoding="utf-8")
    needed = {line.split(">")[0] for line in PROJECT["dependencies"]}
    assert needed == {n for n, part in named.items() if part["scope"] == "required" and "purl" in part}
    assert named["torch"]["scope"] == "optional"
    assert "pytest" not in named
    assert made == sbom.document()
    assert made["metadata"]["component"]["version"] == lowdim.__version__


def test_the_oldest_libraries_are_those_that_are_declared():
    """`make test-oldest` runs with the lower bounds themselves. Not PyTorch: indexes drop its old builds."""
    project = tomllib.loads((check.ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = [
        *project["dependencies"],
        *(each for name in ("app", "dask", "formats", "mvu") for each in extras[name]),
    ]
    pins = dict(line.split("==") for line in (check.ROOT / "tools/oldest.txt").read_text().splitlines() if "==" in line)
    for one in map(Requirement, declared):
        if one.name != "lowdim":
            assert [Version(bound.version) for bound in one.specifier] == [Version(pins[one.name])], one.name
