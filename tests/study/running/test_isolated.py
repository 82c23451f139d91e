"""Methods in processes of their own: crashes, endless loops and too much memory are failures of one method."""

import os
import re
import signal
import sys
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lowdim
from lowdim.study.data import Data
from lowdim.study.method_list import Entry
from lowdim.study.running.isolated import Limits, Worker, resident_memory


class Does(BaseEstimator):
    """Misbehaves in the way that its parameter says."""

    def __init__(self, what="map", callback=None, max_iter=4):
        self.what = what
        self.callback = callback
        self.max_iter = max_iter

    def fit_transform(self, X, y=None):
        if self.what == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.what == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.what == "leave":
            os._exit(7)
        if self.what == "hang":
            time.sleep(600)
        if self.what == "eat":
            blocks = []
            while True:
                blocks.append(np.ones(2**22))
                time.sleep(0.01)
        if self.what == "error":
            raise RuntimeError("no luck")
        if self.what == "steps":
            for step in range(1, 5):
                self.callback(step, 0.0, None)
                time.sleep(0.1)  # twice as long as between two looks at the process
        return np.asarray(X)[:, :2]


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(30, 4))


ENDINGS = {
    "crash": "RuntimeError: its process ended by SIGSEGV",
    "map": None,
    "error": "RuntimeError: no luck",
    "eat": r"MemoryError: stopped after .* \(the limit of memory is 200 MB\)",
}
RARE = {"killed": "by SIGKILL, perhaps for lack of memory", "leave": "ended with exit status 7"}


@pytest.mark.parametrize(
    "expected", [ENDINGS, pytest.param({**RARE, "map": None}, marks=pytest.mark.deep)], ids=["usual", "rare"]
)
def test_what_goes_wrong_is_the_failure_of_one_method(rows, expected):
    """One after the other with the same worker, a new process after each that ended: none harms the next method."""
    limits = Limits(memory=2 * 10**8)
    with Worker(Data(rows), None, limits, {"memory_limit": None}) as worker:
        folder = worker.path
        for what, message in expected.items():
            found = worker.run(Entry("it", Does(what)))
            if message is None:
                assert found.error is None
                np.testing.assert_array_equal(found.embedding, rows[:, :2])
            else:
                assert found.embedding is None
                assert re.search(message, found.error)
                assert found.seconds > 0
    assert not folder.exists()


def test_a_method_that_never_ends_is_stopped(rows):
    """The limit of time alone: on a busy machine others would meet it too."""
    with Worker(Data(rows), None, Limits(seconds=0.5), {"memory_limit": None}) as worker:
        found = worker.run(Entry("it", Does("hang")))
        assert found.embedding is None
        assert re.search(r"TimeoutError: stopped after 0\.5 s", found.error)
        assert found.seconds > 0.5


def test_a_class_of_the_running_script_is_refused_with_the_way_out(rows, monkeypatch):
    class Mine(Does):
        pass

    Mine.__module__, Mine.__qualname__ = "__main__", "Mine"
    monkeypatch.setattr(sys.modules["__main__"], "Mine", Mine, raising=False)
    found = lowdim.compare(rows, methods={"mine": Mine(), "pca": "pca"}, own_process=True, verdict=False)
    assert "put that into a module of its own and import it" in found.failures["mine"]
    assert set(found.failures) == {"mine"}


def test_a_map_comes_back_with_its_fitted_estimator_and_steps_are_told(rows):
    told = []
    with Worker(Data(rows), None, Limits(own_process=True), {"memory_limit": "1GB"}) as worker:
        found = worker.run(Entry("pca", lowdim.PCA(2, random_state=0)))
        assert found.error is None
        np.testing.assert_allclose(found.embedding, lowdim.PCA(2, random_state=0).fit_transform(rows))
        np.testing.assert_allclose(found.estimator.transform(rows), found.embedding)
        assert worker.run(Entry("steps", Does("steps")), told.append).error is None
        assert told
        assert 0 < told[0] <= told[-1] <= 1
        assert "cannot be sent to another process" in worker.run(Entry("it", Does(lambda: 0))).error


def test_memory_of_a_process_is_known():
    assert 10**6 < resident_memory(os.getpid()) < 10**12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, None), "limit_time must be a number of seconds above 0"),
        ((None, "much"), "limit_memory must be a positive"),
    ],
)
def test_wrong_limits(arguments, message):
    with pytest.raises(ValueError, match=message):
        Limits.of(*arguments, False, "compare")
