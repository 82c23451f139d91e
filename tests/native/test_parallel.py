"""Threads: what happens where there are fewer than asked for, and the forced baseline."""

import os
import resource
import subprocess
import sys

import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("room", [30_000_000, 100_000_000])
@pytest.mark.skipif("san.so" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer needs its own memory")
def test_more_threads_than_the_machine_gives(room):
    """A limit on threads must not end the process; the result is that of one thread.

    Stacks of 64 MB: the memory left holds none of them, or one and what it needs. (With the usual 8 MB, several threads
    start and then find no memory for what the C library keeps for each, which ends any process.)
    """
    code = f"""
import resource, numpy as np
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.neighbors import nearest
X = np.random.default_rng(0).normal(size=(300, 3))
G = neighbor_graph(nearest(X, 6, n_jobs=1))
one = geodesics(G, n_jobs=1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {room}, used + {room}))
many = geodesics(G, n_jobs=64)
print(np.array_equal(one, many))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=_large_stacks)
    assert done.stdout.strip() == "True", done.stderr


def _large_stacks():
    resource.setrlimit(resource.RLIMIT_STACK, (64_000_000, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def test_baseline_can_be_forced():
    wide = _native.simd_width()
    try:
        _native.force_baseline(True)
        assert _native.simd_width() == "baseline"
    finally:
        _native.force_baseline(False)
    assert _native.simd_width() == wide
    assert wide in ("baseline", "avx2", "avx512")
