"""Shared settings of the suite: hypothesis profiles, and a limit on how long one test may take."""

import os
import signal
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("quick", max_examples=10, derandomize=True, deadline=None)
settings.register_profile(
    "deep", max_examples=200, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# A unit test that takes longer belongs to the deep tier. Processor time: a busy machine is not the test's fault.
SECONDS = float(os.environ.get("LOWDIM_TEST_SECONDS", "5"))


DEEP_TIMEOUT = 1800  # seconds by the clock; it only ends what hangs


def pytest_collection_modifyitems(items):
    for item in items:
        if "deep" in item.keywords and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(DEEP_TIMEOUT))


def slowness():
    """How much slower than the machine the limits are made for, at least 1.

    Programs that share a core's caches and units with a test make its processor time longer, up to twice.
    """
    start = time.process_time()
    for _ in range(20):
        sum(range(200_000))
        np.sort(np.arange(100_000)[::-1] % 7919)
    return max(1.0, (time.process_time() - start) / 0.13)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    start = time.process_time()
    result = yield
    spent = time.process_time() - start
    if spent > SECONDS and "deep" not in item.keywords and spent > (limit := SECONDS * slowness()):
        pytest.fail(
            f"the test took {spent:.1f} s of processor time; a unit test may take {limit:.1f} s.", pytrace=False
        )
    return result


def pytest_runtest_teardown():
    """Figures that a test left open would be a warning of matplotlib in another test."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def hears_ctrl_c():
    """Jobs that a shell starts in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def little_noise(monkeypatch):
    """Verdicts from a few tables of noise in place of two dozen: for what does not depend on their p-values."""
    from lowdim.study.verdict import against_noise, structure_test

    monkeypatch.setattr(against_noise, "MOST_TABLES", 1)
    monkeypatch.setattr(structure_test, "MOST_TABLES", 2)
    monkeypatch.setattr(structure_test, "TABLES", 2)
