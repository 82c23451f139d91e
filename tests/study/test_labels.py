"""Classes or a quantity."""

import numpy as np
import pytest

from lowdim.study.labels import labels_of


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        ([2, 0, 2], ["0", "2"], [1, 0, 1]),
        ([2.0, 0.0, 2.0], ["0", "2"], [1, 0, 1]),
        ([True, False, True], ["False", "True"], [1, 0, 1]),
        (np.array(["b", 1, None], dtype=object), ["1", "None", "b"], [2, 0, 1]),
        (np.array([[1], [2], [1]]), ["1", "2"], [0, 1, 0]),
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
    with pytest.raises(ValueError, match="1 labels are NaN"):
        labels_of([1.0, np.nan, 2.0], 3)
