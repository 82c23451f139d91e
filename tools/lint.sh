#!/usr/bin/env bash
# Style, types, layers, docstrings, spelling. Usage: tools/lint.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
"$python" -m ruff check .
"$python" -m ruff format --check .
find src/lowdim/_native -name '*.[ch]pp' -print0 |
  xargs -0 "$python" -c 'import clang_format; clang_format.clang_format()' --dry-run -Werror
"$python" -m mypy
"$python" -c 'import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())' >/tmp/lowdim-layers.$$ 2>&1 ||
  { cat /tmp/lowdim-layers.$$; rm -f /tmp/lowdim-layers.$$; exit 1; }
rm -f /tmp/lowdim-layers.$$
"$python" -m codespell_lib src tests docs tools benchmarks examples README.md CHANGELOG.md CONTRIBUTING.md ARCHITECTURE.md
"$python" tools/check_docstrings.py
