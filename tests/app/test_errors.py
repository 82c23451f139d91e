"""Messages of the library in words of the command line: no parameter, array or function of Python is left."""

import ast
import re
from pathlib import Path

import pytest

import lowdim
from lowdim.app.errors import with_option_names

SOURCE = Path(lowdim.__file__).parent
ROOMS = ("_core", "linear", "spectral", "stress", "neighbor_embedding", "curves", "latent", "study")
UNREACHED = (
    "kernels/given.py", "dissimilarities.py", "labelled.py", "renamed.py", "foreign_names.py", "params.py",
    "tables/form.py",  # objects of Python: app/reading/arrays.py refuses complex numbers and records in files
)  # fmt: skip
PYTHON = re.compile(r"(?<!--set )\b[a-z_]+=(?:'|True|False|None|[0-9])|X\[|\bnp\.|\.fit\(|\.reshape|\.toarray|axis=")


def spoken(node):
    """The text of a message, a 0 in the place of each value."""
    parts = []
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            said = ""
            for piece in part.values:
                said += piece.value if isinstance(piece, ast.Constant) else "0" if said.endswith(("=", " ")) else ""
            parts.append(said)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            parts.append(part.value)
    return max(parts, key=len, default="")


def messages():
    for room in ROOMS:
        for path in sorted((SOURCE / room).rglob("*.py")):
            if str(path).endswith(UNREACHED) or "reproductions" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = getattr(getattr(node, "func", None), "id", "")
                said = spoken(node) if isinstance(node, ast.Raise) or name == "warn" else ""
                if said and "sparse" not in said and "Dask" not in said:  # files are read as dense tables
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", said


def test_no_message_is_left_in_python():
    found = list(messages())
    assert len(found) > 300
    left = [(where, said) for where, text in found if PYTHON.search(said := with_option_names(text, "compare"))]
    assert not left, left[:20]


@pytest.mark.parametrize(
    ("python", "command", "words"),
    [
        (
            "correction='cailliez' or 'lingoes' makes",
            "compare",
            "lowdim fit --set correction=cailliez or lingoes makes",
        ),
        ("drop=[...] (on the command line: --drop) leaves them out", "compare", "--drop leaves them out"),
        ("Set unknown='ignore' to treat", "fit", "Use --set unknown=ignore to treat"),
        (
            "not converged after max_iter=10 steps (tol=1e-06).",
            "fit",
            "not converged after max_iter 10 steps (tol 1e-06).",
        ),
        ("must be 'euclidean'; got metric='gower'.", "fit", "must be 'euclidean'; got metric gower."),
        (
            "CA: 2 rows of X have no observed cell. Drop what is empty: X[~np.isnan(X).all(axis=1)].",
            "compare",
            "CA: 2 rows of the table have no observed cell. Leave empty rows out with --drop-rows, or use the complete "
            "rows alone (--rows complete).",
        ),
        ("Drop what is empty: X[:, ~np.isnan(X).all(axis=0)].", "fit", "Leave empty columns out with --drop."),
        ("use closed=False.", "fit", "use --set closed=False."),
        ("use --set n_neighbors=12 here", "fit", "use --set n_neighbors=12 here"),
        ("column 'a=b' must hold numbers; got 'x=1'.", "fit", "column 'a=b' must hold numbers; got 'x=1'."),
    ],
)
def test_settings_are_options(python, command, words):
    assert with_option_names(python, command) == words
