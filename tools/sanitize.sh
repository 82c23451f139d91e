#!/usr/bin/env bash
# Build the compiled core with a sanitizer beside the normal one and run the kernel tests on it.
# Usage: tools/sanitize.sh PYTHON address|thread
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
kind=$2
cmake=(cmake)
if ! command -v cmake >/dev/null; then
  tools=build/sanitize-tools
  "$python" -m pip install --quiet --disable-pip-version-check --target "$tools" cmake
  export PYTHONPATH="$PWD/$tools"
  cmake=("$python" -m cmake)
fi
stage=$PWD/build/$kind-package
rm -rf "$stage" && mkdir -p "$stage"
cp -r src/lowdim "$stage/lowdim"
rm -f "$stage"/lowdim/*.so
case $kind in
  address) flags=address,undefined libraries="libasan.so libubsan.so" ;;
  thread) flags=thread libraries=libtsan.so ;;
  *) echo "sanitize.sh: address or thread; got $kind" >&2; exit 2 ;;
esac
"${cmake[@]}" -S . -B "build/$kind" -DPython_EXECUTABLE="$python" -DLOWDIM_SANITIZE="$flags" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$stage/lowdim"
"${cmake[@]}" --build "build/$kind" --parallel 2
export PYTHONPATH="$stage"
preload=""
for library in $libraries; do preload="$preload $(g++ -print-file-name=$library)"; done
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# Races inside the interpreter and numpy, which are not built for it, are not ours: only what names a kernel counts.
export TSAN_OPTIONS=halt_on_error=0:exitcode=66:suppressions=$PWD/tools/tsan.txt:history_size=4
# The address sanitizer looks at each vector width; races do not depend on it.
case $kind in
  address) widths=$(grep -q avx512bw /proc/cpuinfo && echo "baseline avx2 avx512" || (grep -q avx2 /proc/cpuinfo && echo "baseline avx2" || echo baseline)) ;;
  thread) widths=baseline ;;
esac
for width in $widths; do
  echo "== $kind, $width"
  # The editable install would take precedence over PYTHONPATH: its finder is left out for this run.
  LOWDIM_SIMD_WIDTH=$width LD_PRELOAD="$preload" OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" - "$width" "$stage" <<'RUN'
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
import lowdim._native
import pytest

assert lowdim._native.__file__.startswith(sys.argv[2]), lowdim._native.__file__
assert lowdim._native.simd_width() == sys.argv[1], lowdim._native.simd_width()
sys.exit(pytest.main(["-q", "--capture=sys", "-p", "no:cacheprovider", "-m", "kernel and not deep", "tests/native"]))
RUN
done
