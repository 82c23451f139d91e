#!/usr/bin/env bash
# The suite on two processes; three take 20 s longer on two cores. Usage: tools/test.sh PYTHON [arguments of pytest]
# What fails there is run once more with nothing beside it: tests that read a clock or stop processes can fail on a
# machine that is busy with something else. A failure that comes again is one, and both lists are printed.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
shift
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Hundreds of tests start processes: what Python compiles is kept, also where the environment says otherwise. Compiling
# numpy, scipy, scikit-learn and pandas for one process takes longer than most tests.
export PYTHONDONTWRITEBYTECODE=
status=0
"$python" -m pytest -n 2 --dist worksteal --durations=15 "$@" || status=$?
if [ "$status" -eq 1 ]; then
  echo "Tests that failed are run again, alone:"
  status=0
  "$python" -m pytest -n 0 --last-failed --last-failed-no-failures none "$@" || status=$?
fi
exit "$status"
