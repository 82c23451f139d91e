"""Check what concerns a few files, in seconds: style, types, import contracts, their tests and doctests.

Usage: python tools/check.py [FILE...]      or      make check FILES="src/lowdim/spectral/isomap.py"

Without files: those that differ from the last commit. `make test` is still what has to pass in the end.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/lowdim")
CONTRACTS = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def main(words):
    files = [relative(word) for word in words] or changed()
    if not files:
        sys.exit("check: no file differs from the last commit; name some.")
    python, failed = sys.executable, []
    for title, arguments in plan(files):
        print(f"{title}: {' '.join(arguments[:12])}{' ...' if len(arguments) > 12 else ''}", flush=True)
        start = time.perf_counter()
        code = [CONTRACTS if word == "CONTRACTS" else word for word in arguments]
        result = subprocess.run(
            [python, *code], cwd=ROOT, env=environment(), capture_output=title != "tests", text=True
        )
        if result.returncode:
            print(f"{result.stdout or ''}{result.stderr or ''}", end="")
            failed.append(title)
        print(f"  {'failed' if result.returncode else 'passed'} in {time.perf_counter() - start:.1f} s", flush=True)
    for name in estimators(files):
        print(f'Not run: the contract of {name} (pytest tests/test_contract.py tests/test_sklearn.py -k "{name}")')
    if failed:
        sys.exit(f"check: {', '.join(failed)} failed.")


def relative(word):
    path = Path(word).resolve()
    if not path.is_file() or not path.is_relative_to(ROOT):
        sys.exit(f"check: FILE must be a file of this repository; got {word!r}.")
    return path.relative_to(ROOT)


def changed():
    """Files that differ from the last commit, new ones too."""
    command = ["git", "ls-files", "--modified", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [Path(name) for name in sorted(set(listed)) if name and (ROOT / name).is_file()]


def environment():
    """One thread, as in `make test`, and the sources of this folder first."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def plan(files):
    """The commands (arguments of python) that concern these files, each with a title."""
    code = [str(path) for path in files if path.suffix == ".py"]
    package = [str(path) for path in files if path.suffix == ".py" and path.is_relative_to(PACKAGE)]
    steps = []
    if code:
        steps += [("format", ["-m", "ruff", "format", *code]), ("lint", ["-m", "ruff", "check", *code])]
    if package:
        steps += [("types", ["-m", "mypy", *package]), ("imports", ["-c", "CONTRACTS"])]
    steps += [("spelling", ["-m", "codespell_lib", *map(str, files)])]
    tests = sorted({test for path in files for test in tests_of(path)})
    if tests:
        steps += [("tests", ["-m", "pytest", "-q", "-x", "-m", "not deep", *tests])]
    return steps


def tests_of(path):
    """The tests that concern a file: of a module, the ones that mirror it and its doctest."""
    if path.parts[0] == "tests":
        return [str(path)] if path.name.startswith("test_") else []
    if path.suffix == ".md":
        return ["tests/test_docs.py::" + name for name in TEXT_TESTS]
    if path.parts[0] == "tools":
        return ["tests/test_tools.py"]
    if path.parts[0] == "examples" and path.suffix == ".py":
        return [f"tests/test_examples.py::test_an_example_draws_its_picture_and_says_its_numbers[{path.stem}]"]
    if path.parts[0] == "benchmarks":
        return ["tests/test_benchmarks.py"]
    if path.is_relative_to(PACKAGE / "_native"):
        return kernel_tests(path)
    if path.is_relative_to(PACKAGE) and path.suffix == ".py":
        return [*mirrors(path), f"tests/test_docs.py::test_examples_run[{module_of(path)}]", *language_tests(path)]
    return []


TEXT_TESTS = ("test_readme_example_runs", "test_links_lead_somewhere", "test_the_project_speaks_of_itself_alone")


def module_of(path):
    return ".".join(path.relative_to("src").with_suffix("").parts).removesuffix(".__init__")


def mirrors(path):
    """tests/A/test_B.py for src/lowdim/A/B.py or A/_B.py; where there is none, those of the nearest folder."""
    inside = path.relative_to(PACKAGE)
    folder = Path("tests") / inside.parent
    if inside.name == "__init__.py":
        exact = [folder / f"test_{inside.parent.name}.py"]
    else:
        exact = [folder / f"test_{inside.stem.lstrip('_')}.py", folder / inside.stem / f"test_{inside.stem}.py"]
    found = [str(test) for test in exact if (ROOT / test).exists()]
    while not found and folder != Path("tests"):
        near = sorted((ROOT / folder).glob("test_*.py")) or sorted((ROOT / folder).rglob("test_*.py"))
        found = [str(test.relative_to(ROOT)) for test in near]
        folder = folder.parent
    return found


def kernel_tests(path):
    """Tests of a compiled kernel; build it first (tools/dev_build.sh)."""
    names = [f"tests/native/test_{word}_kernels.py" for word in (path.stem, path.stem.split("_")[0])]
    return [name for name in names if (ROOT / name).exists()][:1] or ["tests/native"]


def language_tests(path):
    """What holds for every estimator and is quick: parameters, their texts, documented attributes."""
    return [f"tests/{test}[{name}]" for name in estimators([path]) for test in LANGUAGE_TESTS]


LANGUAGE_TESTS = (
    "test_vocabulary.py::test_rules_are_those_of_the_table",
    "test_vocabulary.py::test_docstrings_say_the_same",
    "test_vocabulary.py::test_shared_parameters_come_last_and_in_order",
    "test_docs.py::test_documented_parameters_are_the_parameters",
    "test_docs.py::test_estimators_teach",
    "test_docs.py::test_documented_attributes_exist_after_fit",
)


def estimators(files):
    """The estimators that these files define."""
    sys.path.insert(0, str(ROOT / "src"))
    import lowdim

    modules = {module_of(path) for path in files if path.is_relative_to(PACKAGE) and path.suffix == ".py"}
    return [name for name in lowdim._ESTIMATORS if lowdim._HOMES[name] in modules]


if __name__ == "__main__":
    main(sys.argv[1:])
