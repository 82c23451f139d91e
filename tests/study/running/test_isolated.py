"""Methods in processes of their own: crashes, endless loops and too much memory are failures of one method."""

import os
import signal
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lowdim
from lowdim.study.data import Data
from lowdim.study.method_list import Entry
from lowdim.study.running.isolated import Limits, resident_memory, run_isolated


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
                time.sleep(0.25)
        return np.asarray(X)[:, :2]


def outcome(what, rng, tell=None, **limits):
    data = Data(rng.normal(size=(20, 3)))
    return run_isolated(Entry("it", Does(what)), data, None, Limits(**limits), {"memory_limit": None}, tell), data


@pytest.mark.parametrize(
    ("what", "limits", "message"),
    [
        ("crash", {}, "RuntimeError: its process ended by SIGSEGV"),
        ("killed", {}, "by SIGKILL, perhaps for lack of memory"),
        ("leave", {}, "ended with exit status 7"),
        ("hang", {"seconds": 3.0}, "TimeoutError: stopped after 3 s"),
        ("eat", {"memory": 2 * 10**8}, r"MemoryError: stopped after .* \(the limit of memory is 200 MB\)"),
        ("error", {}, "RuntimeError: no luck"),
    ],
)
def test_what_goes_wrong_is_the_failure_of_one_method(rng, what, limits, message):
    import re

    found, _ = outcome(what, rng, **limits)
    assert found.embedding is None
    assert re.search(message, found.error)
    assert found.seconds > 0


def test_a_map_comes_back_with_its_fitted_estimator(rng):
    data = Data(rng.normal(size=(30, 4)))
    entry = Entry("pca", lowdim.PCA(2, random_state=0))
    found = run_isolated(entry, data, None, Limits(own_process=True), {"memory_limit": "1GB"})
    assert found.error is None
    np.testing.assert_allclose(found.embedding, lowdim.PCA(2, random_state=0).fit_transform(data.rows))
    np.testing.assert_allclose(found.estimator.transform(data.rows), found.embedding)


def test_steps_are_told_across_processes(rng):
    told = []
    found, _ = outcome("steps", rng, told.append)
    assert found.error is None
    assert told
    assert 0 < told[0] <= told[-1] <= 1


def test_what_cannot_be_sent_is_a_failure(rng):
    found = run_isolated(
        Entry("it", Does(lambda: 0)), Data(rng.normal(size=(9, 3))), None, Limits(own_process=True), {}
    )
    assert "cannot be sent to another process" in found.error


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
