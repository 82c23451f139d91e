#!/usr/bin/env bash
# Build the compiled core in place (src/lowdim/_native*.so) for work on the kernels; run with PYTHONPATH=src.
# Usage: tools/dev_build.sh [path of python] [extra cmake options...]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-python3}
shift || true
build="$here/build/dev"
cmake -S "$here" -B "$build" -DPython_EXECUTABLE="$python" -DCMAKE_BUILD_TYPE=Release -DLOWDIM_WERROR=ON \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$here/src/lowdim" "$@" >/dev/null
cmake --build "$build" --parallel 2
