"""Thread counts, blocks, and long calls that can be interrupted."""

import contextvars
import gc
import os
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lowdim._core.runtime import background, blas, threads
from tests._core.runtime.children import python


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_what_n_jobs_means(monkeypatch):
    usable = len(os.sched_getaffinity(0))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads.n_threads(None) == usable
    assert threads.n_threads(-1) == usable
    assert threads.n_threads(3) == 3
    assert threads.n_threads(-1000) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.n_threads(None) == 1
    for bad in (0, 1.5, "2", True):
        with pytest.raises(ValueError, match="n_jobs must be None or a non-zero integer"):
            threads.n_threads(bad)


def test_blocks_cover_everything_once():
    parts = threads.blocks(10, 4)
    assert [p.start for p in parts] == [0, 4, 8]
    assert parts[-1].stop == 10
    assert threads.blocks(0, 4) == []


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order(n_jobs):
    def work(rows):
        time.sleep(0.002 * (rows.start % 3))
        return rows.start

    assert threads.map_rows(work, 20, 3, n_jobs) == list(range(0, 20, 3))


def test_an_error_in_a_block_reaches_the_caller():
    def work(rows):
        raise KeyError(rows.start)

    with pytest.raises(KeyError):
        threads.map_rows(work, 20, 3, 2)


def test_blas_setting_survives_blocks_in_several_threads():
    """Blocks that overlap in time must not restore each other's limit."""
    np.ones((50, 50)) @ np.ones((50, 50))
    before, seen = blas_threads(), []
    first_in, first_out = threading.Event(), threading.Event()

    def first():
        with threads.single_blas():
            first_in.set()
            first_out.wait(60)

    def second():
        first_in.wait(60)
        with threads.single_blas():
            first_out.set()
            time.sleep(0.05)
            seen.append(set(blas_threads()))

    workers = [threading.Thread(target=f) for f in (first, second)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert seen == [{1}]
    assert blas_threads() == before


@pytest.mark.parametrize("layer", ["pthreads", "openmp"])
def test_every_thread_of_a_team_has_one_blas_thread(monkeypatch, layer):
    """With one setting for all threads, and with one for each, as where OpenMP runs BLAS."""

    class Library:
        threading_layer = layer
        counts: dict = {}

        def place(self):
            return threading.get_ident() if layer == "openmp" else 0

        def get_num_threads(self):
            return self.counts.get(self.place(), 4)

        def set_num_threads(self, count):
            self.counts[self.place()] = count

    library = Library()
    monkeypatch.setattr(blas, "_libraries", lambda: [library])
    assert threads.map_rows(lambda _: time.sleep(0.01) or library.get_num_threads(), 8, 1, 4) == [1] * 8
    assert library.get_num_threads() == 4


@pytest.mark.parametrize("thread", ["main", "other"])
def test_one_blas_thread_in_any_thread(thread):
    """threadpoolctl lets one thread set OpenBLAS, and ignores the others."""
    found = []

    def look():
        with threads.single_blas():
            found.append(set(blas_threads()))
        found.append(set(blas_threads()))

    with threadpool_limits(2, user_api="blas"):
        if thread == "main":
            look()
        else:
            worker = threading.Thread(target=look)
            worker.start()
            worker.join()
    assert found == [{1}, {2}]


def test_a_call_aside_gives_values_and_errors():
    assert threads.aside(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        threads.aside(lambda: 1 / 0)


def test_errors_come_in_the_order_of_the_blocks():
    """The later block fails first; what is raised is what one thread would have raised."""

    def work(rows):
        time.sleep(0.05 if rows.start == 0 else 0.0)
        raise KeyError(rows.start)

    with pytest.raises(KeyError, match="0"):
        threads.map_rows(work, 2, 1, 2)


def test_blocks_see_the_settings_of_the_caller():
    setting = contextvars.ContextVar("setting", default=0)
    setting.set(5)
    assert threads.map_rows(lambda _: setting.get(), 6, 1, 3) == [5] * 6


def test_work_left_behind_stops():
    """An error in one block ends the others before their next line."""
    went_on = []

    def work(rows):
        if rows.start == 0:
            raise KeyError(0)
        for _ in range(100):
            time.sleep(0.01)
        went_on.append(rows.start)

    with pytest.raises(KeyError):
        threads.map_rows(work, 4, 1, 4)
    time.sleep(0.05)
    assert not [thread for thread in threading.enumerate() if isinstance(thread, background._Helper)]
    assert went_on == []


def test_without_new_threads_the_caller_does_the_work(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert threads.map_rows(lambda rows: rows.start, 5, 1, 4) == [0, 1, 2, 3, 4]
    assert threads.aside(lambda: 7) == 7


def test_long_calls_have_the_threads_of_the_caller_unless_another_thread_fits():
    seen = []
    large = np.broadcast_to(0.0, (1000, 1000))
    with threadpool_limits(2, user_api="blas"):
        with threads.single_blas():
            threads.lapack(lambda _: seen.append(blas_threads()), large)
            threads.lapack(lambda _: seen.append(blas_threads()), large[:50, :50])
            with in_another_thread():
                threads.lapack(lambda _: seen.append(blas_threads()), large)
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}
    assert [set(counts) for counts in seen] == [{2}, {1}, {1}]


@contextmanager
def in_another_thread():
    """A block that is open in another thread meanwhile."""
    opened, close = threading.Event(), threading.Event()

    def hold():
        with threads.single_blas():
            opened.set()
            close.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    opened.wait(60)
    yield
    close.set()
    holder.join()


def test_a_block_that_was_never_closed_ends_when_it_is_dropped():
    """Ctrl-C may come between two lines of a `with`."""
    before = blas_threads()
    block = threads.single_blas()
    block.__enter__()
    assert blas._open
    del block
    gc.collect()
    assert not blas._open
    assert blas_threads() == before


def test_a_call_aside_hears_ctrl_c():
    """In a process of its own: only the main thread hears it."""
    done = python("""
        import _thread, threading
        from lowdim._core.runtime import threads
        begun, never = threading.Event(), threading.Event()
        def press():
            begun.wait()
            _thread.interrupt_main()
        threading.Thread(target=press, daemon=True).start()
        try:
            threads.aside(lambda: (begun.set(), never.wait()))  # for ever, if it did not hear
        except KeyboardInterrupt:
            print(True)
        """)
    assert done.stdout.strip() == "True", done.stderr


def test_ctrl_c_while_a_thread_is_being_started(monkeypatch):
    """The thread cannot be waited for yet; Ctrl-C is what the caller hears, not that."""

    def pressed(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(background._Helper, "start", pressed)
    with pytest.raises(KeyboardInterrupt):
        threads.aside(lambda: None)


@pytest.mark.deep
def test_ctrl_c_during_a_long_lapack_call():
    done = python(
        """
        import numpy as np, signal, threading, os, time
        from scipy.spatial.distance import pdist, squareform
        from lowdim.select import n_dimensions
        from tests._core.runtime.clocks import stopwatch
        D = squareform(pdist(np.random.default_rng(0).normal(size=(5000, 4)), "cityblock"))
        sent = []
        def send():
            time.sleep(4)
            sent.append(stopwatch()); os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=send, daemon=True).start()
        try:
            n_dimensions(D)  # all eigenvalues of D
        except KeyboardInterrupt:
            print(sent[0](), flush=True)
        """,
        200,
    )
    assert float(done.stdout) < 1, done.stderr
    assert done.returncode == 0
