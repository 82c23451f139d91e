"""Classes or a quantity."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lowdim.study.labels import in_order_of, labels_of


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        ([2, 0, 2], ["0", "2"], [1, 0, 1]),
        ([2.0, 0.0, 2.0], ["0", "2"], [1, 0, 1]),
        ([True, False, True], ["False", "True"], [1, 0, 1]),
        (np.array(["b", 1, None], dtype=object), ["1", "b"], [1, 0, -1]),
        (np.array([[1], [2], [1]]), ["1", "2"], [0, 1, 0]),
        ([2.0, np.nan, 0.0], ["0", "2"], [1, -1, 0]),
        (np.array([2, None, 0], dtype=object), ["0", "2"], [1, -1, 0]),
        (pd.Series([2, None, 0], dtype="Int64"), ["0", "2"], [1, -1, 0]),
        (pd.Series(["x", None, "a"]), ["a", "x"], [1, -1, 0]),
        (pl.Series([2, None, 0]), ["0", "2"], [1, -1, 0]),
        (np.array([True, None, False], dtype=object), ["False", "True"], [1, -1, 0]),
        (["10", "9", "-1.5"], ["-1.5", "9", "10"], [2, 1, 0]),
        (["class 10", "class 9", "b"], ["b", "class 9", "class 10"], [2, 1, 0]),
    ],
)
def test_classes(y, classes, codes):
    found = labels_of(y, 3)
    assert found.classes == classes
    assert found.codes.tolist() == codes


@pytest.mark.parametrize("y", [[0.5, 1.0, 2.0], np.arange(31), np.arange(31.0)])
def test_quantities(y):
    assert labels_of(y, len(y)).classes is None


def test_thirty_whole_numbers_are_classes():
    assert len(labels_of(np.arange(30), 30).classes) == 30


def test_wrong_labels():
    with pytest.raises(ValueError, match=r"y must have one label for each of the 4 rows; got shape \(3,\)"):
        labels_of([1, 2, 3], 4)
    with pytest.raises(ValueError, match="1 labels are infinite"):
        labels_of([1.0, np.inf, 2.0], 3)
    with pytest.raises(ValueError, match="at least one label; all 3 are missing"):
        labels_of([None, np.nan, None], 3)


def test_rows_without_a_label_are_said():
    assert labels_of(["a", None], 2, "kind").note == (
        "1 of 2 rows have no label (kind): they are grey in the maps and not in the 1-NN error."
    )
    quantity = labels_of([0.5, np.nan, 1.5], 3)
    assert quantity.note == "1 of 3 rows have no label (label): they are grey in the maps."
    np.testing.assert_array_equal(quantity.values, [0.5, np.nan, 1.5])
    assert labels_of(["a", "b"], 2).note is None


def test_a_series_is_given_to_the_rows_by_its_index():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0]}, index=list("wxyz"))
    labels = pd.Series(["p", "q", "r", "s"], index=list("zyxw"))
    assert list(in_order_of(frame, labels)) == ["s", "r", "q", "p"]
    assert in_order_of(frame, labels.reset_index(drop=True)).tolist() == ["p", "q", "r", "s"]  # no names in common
    assert in_order_of(frame.to_numpy(), labels) is labels
    assert in_order_of(frame, None) is None
