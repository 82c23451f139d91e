"""The committed types of the compiled core are those of the module that is built from it."""

import ast
import importlib.util
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from lowdim import _native

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_stubs", ROOT / "tools" / "make_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def committed():
    return ast.parse((ROOT / "src" / "lowdim" / "_native.pyi").read_text())


def functions(tree):
    """Every function and method of a stub, its overloads apart."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_the_stub_is_what_the_module_says(maker, committed):
    pinned = re.search(r"^nanobind==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE).group(1)
    if version("nanobind") != pinned:
        pytest.skip(f"other versions of nanobind than {pinned} may write the same types differently")
    made = ast.unparse(ast.parse(maker.stub(_native)))
    assert made == ast.unparse(committed), "the signatures changed: run `make stubs`"


def test_every_kernel_is_in_the_stub(committed):
    known = {node.name for node in committed.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert known == {name for name in dir(_native) if not name.startswith("__")}


def test_all_arguments_have_names_and_types(committed):
    for function in functions(committed):
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        assert not [a.arg for a in arguments if re.fullmatch(r"arg\d*", a.arg)], function.name
        assert not [a.arg for a in arguments if a.annotation is None and a.arg != "self"], function.name
        assert function.returns is not None, function.name


def test_every_kernel_says_what_it_does(committed):
    says = {function.name for function in functions(committed) if ast.get_docstring(function)}
    assert {function.name for function in functions(committed)} - says <= {"__init__"}
