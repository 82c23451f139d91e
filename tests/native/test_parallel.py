"""Threads: what happens where there are fewer than asked for, and the forced baseline."""

import os
import subprocess
import sys

import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer needs its own memory")
def test_more_threads_than_the_machine_gives():
    """A limit on threads must not end the process; the result is that of one thread."""
    code = """
import resource, numpy as np
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.neighbors import nearest
X = np.random.default_rng(0).normal(size=(300, 3))
G = neighbor_graph(nearest(X, 6, n_jobs=1))
one = geodesics(G, n_jobs=1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 60_000_000, used + 60_000_000))
many = geodesics(G, n_jobs=64)
print(np.array_equal(one, many))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "True" or "MemoryError" in done.stderr, done.stderr


def test_baseline_can_be_forced():
    wide = _native.simd_width()
    try:
        _native.force_baseline(True)
        assert _native.simd_width() == "baseline"
    finally:
        _native.force_baseline(False)
    assert _native.simd_width() == wide
    assert wide in ("baseline", "avx2", "avx512")
