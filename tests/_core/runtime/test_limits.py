"""The memory limit: who is under it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lowdim
from lowdim._core.runtime import memory


def seen_by_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(memory.limit()))
    thread.start()
    thread.join()
    return found[0]


def test_threads_started_inside_are_under_the_limit():
    before = seen_by_thread()
    with lowdim.config(memory_limit=10**6):
        assert seen_by_thread() == 10**6
        with lowdim.config(memory_limit=10**5):
            assert seen_by_thread() == 10**5
            with lowdim.config():
                assert seen_by_thread() == 10**5
        with ThreadPoolExecutor(2) as pool, pytest.raises(MemoryError, match="the limit is 1 MB"):
            pool.submit(lambda: lowdim.ClassicalMDS(2).fit(np.eye(600))).result()
    assert before > 10**6
    assert seen_by_thread() > 10**6


def test_a_limit_of_its_own_comes_first_and_earlier_threads_are_outside():
    inside, done, found = threading.Event(), threading.Event(), []

    def wait():
        inside.wait()
        found.append(memory.limit())
        with lowdim.config(memory_limit=10**7):
            found.append(memory.limit())
        done.set()

    thread = threading.Thread(target=wait)
    thread.start()
    with lowdim.config(memory_limit=10**6):
        inside.set()
        done.wait()
        assert memory.limit() == 10**6
    thread.join()
    assert found[0] > 10**6
    assert found[1] == 10**7
    assert memory._open == []
