"""The shape of the source: files, functions and folders small enough to be read at once."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "lowdim"
FILES = sorted(SOURCE.rglob("*.py"))
IGNORED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def docstring(node):
    """The node of a docstring, or None."""
    first = node.body[0] if node.body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return first if is_text else None


def code_lines(path):
    """Lines with code: neither blank, nor comments, nor docstrings."""
    text = path.read_text(encoding="utf-8")
    texts = [docstring(node) for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED)]
    spoken = {line for node in texts if node is not None for line in range(node.lineno, node.end_lineno + 1)}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in IGNORED]
    return {line for token in tokens for line in range(token.start[0], token.end[0] + 1)} - spoken


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_are_short(path):
    assert len(code_lines(path)) <= 250
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if docstring(node) is not None else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert length <= 40, f"{node.name} has {length} lines"


def test_folders_hold_at_most_twenty_files():
    folders = [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir() and path.name != "__pycache__")]
    for folder in folders:
        files = [path for path in folder.iterdir() if path.is_file() and path.suffix not in (".so", ".pyd")]
        assert len(files) <= 20, folder
