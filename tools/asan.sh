#!/usr/bin/env bash
# Build the compiled core with sanitizers beside the normal one and run the kernel tests on it. Usage: tools/asan.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
nanobind=build/asan-tools
"$python" -m pip install --quiet --disable-pip-version-check --target "$nanobind" "nanobind>=2.2" cmake
export PYTHONPATH="$PWD/$nanobind"
cmake="$python -m cmake"
stage=build/asan-package
rm -rf "$stage" && mkdir -p "$stage"
cp -r src/lowdim "$stage/lowdim"
rm -f "$stage"/lowdim/*.so
$cmake -S . -B build/asan -DPython_EXECUTABLE="$python" -DLOWDIM_SANITIZE=ON -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$PWD/$stage/lowdim"
$cmake --build build/asan --parallel 2
export PYTHONPATH="$PWD/$stage"
export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
OMP_NUM_THREADS=1 "$python" -m pytest -q -p no:cacheprovider -m kernel tests/native
