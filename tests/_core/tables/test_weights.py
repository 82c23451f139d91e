"""Weights of rows: what is taken, and what is an error."""

import numpy as np
import pytest

from lowdim._core.tables.weights import check_weights


@pytest.mark.parametrize("given", [[0, 1, 2], (0.0, 1.0, 2.0), np.array([0, 1, 2], dtype=np.float32)])
def test_weights_are_float64(given):
    found = check_weights(given, 3, "Owner")
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [0, 1, 2])


def test_a_number_stands_for_all_rows():
    np.testing.assert_array_equal(check_weights(2, 3, "Owner"), [2, 2, 2])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], r"one weight for each row, 3; got shape \(2,\)"),
        (np.ones((3, 1)), r"one weight for each row, 3; got shape \(3, 1\)"),
        ([1.0, np.nan, 1.0], "be finite; got nan"),
        ([1.0, np.inf, 1.0], "be finite; got inf"),
        ([1.0, -2.0, 1.0], "not be negative; got -2"),
        ([0.0, 0.0, 0.0], "at least one non-zero entry; got 3 zeros"),
        (["a", "b", "c"], "an array of 3 numbers"),
    ],
)
def test_errors(given, message):
    with pytest.raises(ValueError, match=f"Owner: sample_weight must .*{message}"):
        check_weights(given, 3, "Owner")
