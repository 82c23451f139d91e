"""Write src/lowdim/_native.pyi: the types of the compiled core, for mypy and editors.

Usage: python tools/make_stubs.py

They come from the signatures that nanobind keeps in the module, so build it first (`make env` does). nanobind spells
out dtype, shape and order of every array; here the four kinds of arrays have the names they have in the C++ code.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from nanobind.stubgen import StubGen

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "src" / "lowdim" / "_native.pyi"
WIDTH = 120

HEAD = '''"""{doc}"""

# Made by tools/make_stubs.py (`make stubs`) from the compiled module; a test compares the two.

from typing import TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

# Contiguous arrays of exactly this dtype and of one or two dimensions, read (In) or written in place (Out). The
# dimensions are for the reader: numpy's own types know too little of them.
_T = TypeVar("_T", bound=np.generic)
_In1: TypeAlias = NDArray[_T]
_In2: TypeAlias = NDArray[_T]
_Out1: TypeAlias = NDArray[_T]
_Out2: TypeAlias = NDArray[_T]
'''

ARRAY = re.compile(
    r"Annotated\[NDArray\[numpy\.(\w+)\], "
    r"dict\(shape=\((None,|None, None)\), order='C', device='cpu'(, writable=False)?\)\]"
)
DOCSTRING = re.compile(r'^( *)"""\n? *(.*?)\n? *"""$', re.MULTILINE)


def short_array(match):
    dtype, shape, read_only = match.groups()
    return f"_{'In' if read_only else 'Out'}{1 if shape == 'None,' else 2}[np.{dtype}]"


def wrapped(match):
    indent, text = match.groups()
    if len(indent) + len(text) + 6 <= WIDTH:
        return f'{indent}"""{text}"""'
    lines = textwrap.wrap(text, WIDTH - len(indent))
    return "\n".join(indent + line for line in ['"""', *lines, '"""'])


def stub(module):
    """The text of the stub of the compiled module."""
    generator = StubGen(module, quiet=True)
    generator.put(module)
    text = generator.get()
    body = text[re.search(r"^(@overload|def|class) ?", text, re.MULTILINE).start() :]
    body = DOCSTRING.sub(wrapped, ARRAY.sub(short_array, body))
    command = [sys.executable, "-m", "ruff", "format", "--config", ROOT / "pyproject.toml"]
    made = HEAD.format(doc=module.__doc__) + "\n" + body
    return subprocess.run(
        [*command, "--stdin-filename", STUB, "-"], input=made, text=True, capture_output=True, check=True
    ).stdout


if __name__ == "__main__":
    from lowdim import _native

    STUB.write_text(stub(_native))
    print(f"wrote {STUB.relative_to(ROOT)}")
