#!/usr/bin/env bash
# Build the compiled core with sanitizers beside the normal one and run the kernel tests on it. Usage: tools/asan.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
tools=build/asan-tools
"$python" -m pip install --quiet --disable-pip-version-check --target "$tools" cmake
export PYTHONPATH="$PWD/$tools"
stage=build/asan-package
rm -rf "$stage" && mkdir -p "$stage"
cp -r src/lowdim "$stage/lowdim"
rm -f "$stage"/lowdim/*.so
"$python" -m cmake -S . -B build/asan -DPython_EXECUTABLE="$python" -DLOWDIM_SANITIZE=ON -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$PWD/$stage/lowdim"
"$python" -m cmake --build build/asan --parallel 2
export PYTHONPATH="$PWD/$stage"
preload="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# The editable install would take precedence over PYTHONPATH: its finder is left out for this run.
LD_PRELOAD="$preload" OMP_NUM_THREADS=1 "$python" - <<'RUN'
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
import lowdim._native
import pytest

assert "asan-package" in lowdim._native.__file__, lowdim._native.__file__
sys.exit(pytest.main(["-q", "--capture=sys", "-p", "no:cacheprovider", "-m", "kernel", "tests/native"]))
RUN
