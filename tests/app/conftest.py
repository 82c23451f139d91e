"""Fixtures of the tests of the command line."""

import pytest


@pytest.fixture(autouse=True)
def quick_verdicts(request):
    """What verdicts say is the matter of tests/study/verdict and of test_verdict_output.py."""
    if request.path.name != "test_verdict_output.py":
        request.getfixturevalue("little_noise")
