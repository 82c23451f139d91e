#!/usr/bin/env bash
# Style, types, layers, docstrings, spelling. Usage: tools/lint.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
# Types take as long as everything else together, so they are checked beside it.
"$python" -m mypy >"$said/types" 2>&1 &
types=$!
"$python" -m ruff check .
"$python" -m ruff format --check .
find src/lowdim/_native -name '*.[ch]pp' -print0 |
  xargs -0 "$python" -c 'import clang_format; clang_format.clang_format()' --dry-run -Werror
"$python" -c 'import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())' >"$said/layers" 2>&1 ||
  { cat "$said/layers"; exit 1; }
"$python" -m codespell_lib src tests docs tools benchmarks examples README.md CHANGELOG.md CONTRIBUTING.md ARCHITECTURE.md
"$python" tools/check_docstrings.py
wait "$types" || { cat "$said/types"; exit 1; }
