"""Processes made while another thread fits: their fits end, and find what every other process finds."""

import os
import subprocess
import sys

import pytest

from tests._core.runtime.children import FITS, filled, python

FORK = (
    FITS
    + """
faulthandler.enable()
small = X[:150]
right = lowdim.Isomap(n_jobs=2).fit_transform(small)
lowdim.PCA(2).fit(small)

def work():
    while True:
        FITS[<name>]()

threading.Thread(target=work, daemon=True).start()
bad = 0
for turn in range(<turns>):
    time.sleep(rng.uniform(0.0, 0.05))
    child = os.fork()
    if child == 0:
        lowdim.PCA(2).fit(small)
        os._exit(not np.array_equal(right, lowdim.Isomap(n_jobs=2).fit_transform(small)))
    until = time.monotonic() + 100  # far more than a busy machine needs: a child that hangs does so for ever
    while (found := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < until:
        time.sleep(0.005)
    if found[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if found != (child, 0):
        bad += 1
        break
print(bad)
"""
)


def check_forks(name, turns):
    done = python(filled(FORK, name=name, turns=turns), seconds=10 * turns + 200)
    assert done.stdout.strip() == "0", done.stderr[-3000:]
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["pca"])
def test_a_child_forked_while_another_thread_fits(name):
    check_forks(name, 5)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["pca", "svd", "isomap", "tsne", "umap", "mds", "neighbors"])
def test_many_children_forked_under_load(name):
    check_forks(name, 60)


def test_a_fork_inside_a_block_keeps_the_settings():
    """The child has only the thread that forked: blocks of the others will never end there."""
    done = python("""
        import os, threading
        from threadpoolctl import threadpool_info, threadpool_limits
        from lowdim._core.runtime import blas
        def counts():
            return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
        def status(ok):
            os._exit(0 if ok else 1)
        inside, leave = threading.Event(), threading.Event()
        def other():
            with blas.single_blas():
                inside.set(); leave.wait()
        blas._libraries()
        with threadpool_limits(2):
            threading.Thread(target=other, daemon=True).start()
            inside.wait()
            assert counts() == {1}
            if (child := os.fork()) == 0:
                status(counts() == {2} and not blas._open)
            first = os.waitpid(child, 0)[1]
            with blas.single_blas():
                if (child := os.fork()) == 0:
                    status(counts() == {1} and len(blas._open) == 1)
            second = os.waitpid(child, 0)[1]
            assert counts() == {1} and len(blas._open) == 1
            print(first, second)
            leave.set()
        """)
    assert done.stdout.split() == ["0", "0"], done.stderr


def test_a_fork_waits_for_what_another_thread_imports(tmp_path):
    """The child would wait for ever for a module that no thread of its own is importing."""
    (tmp_path / "slow_module.py").write_text("import sys, time\nsys.begun.set()\ntime.sleep(0.3)\nwhole = True\n")
    done = python(f"""
        import os, signal, sys, threading
        sys.path.insert(0, {str(tmp_path)!r})
        from lowdim import _importing
        sys.begun = threading.Event()
        threading.Thread(target=_importing.load, args=["slow_module"], daemon=True).start()
        sys.begun.wait()
        if (child := os.fork()) == 0:
            signal.alarm(60)
            import slow_module
            os._exit(not slow_module.whole)
        print(os.waitpid(child, 0)[1])
        """)
    assert done.stdout.split() == ["0"], done.stderr


POOLS = (
    FITS
    + """
def one(_):
    return lowdim.Isomap(n_jobs=2).fit_transform(X[:150])

if __name__ == "__main__":
    threading.Thread(target=lambda: [FITS["isomap"]() for _ in range(1000)], daemon=True).start()
    right = one(0)
    if <how> == "loky":
        from joblib import Parallel, delayed
        found = Parallel(2, backend="loky")(delayed(one)(i) for i in range(4))
    else:
        import multiprocessing
        with multiprocessing.get_context(<how>).Pool(2) as pool:
            found = pool.map(one, range(4))
    print(all(np.array_equal(right, other) for other in found))
"""
)


@pytest.mark.deep
@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver", "loky"])
def test_pools_of_processes_under_load(tmp_path, how):
    """From a file: children that are not forked import it."""
    script = tmp_path / "pools.py"
    script.write_text(filled(POOLS, how=how))
    env = {**os.environ, "PYTHONPATH": os.getcwd()}  # a file finds modules beside itself, not those of the tests
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=env, check=False)
    assert done.stdout.strip() == "True", done.stderr[-3000:]
