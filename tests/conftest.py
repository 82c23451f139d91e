"""Shared settings of the suite: hypothesis profiles, and a limit on how long one test may take."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("quick", max_examples=10, derandomize=True, deadline=None)
settings.register_profile(
    "deep", max_examples=200, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# A unit test that takes longer belongs to the deep tier.
SECONDS = float(os.environ.get("LOWDIM_TEST_SECONDS", "5"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    slow = call.when == "call" and call.duration > SECONDS and report.passed
    if slow and "deep" not in item.keywords:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} took {call.duration:.1f} s; a unit test may take {SECONDS:g} s."
    return report


@pytest.fixture
def rng():
    return np.random.default_rng(0)
