"""Labels as classes or a quantity."""

import numpy as np
import pandas as pd
import pytest

from lowdim._core.tables.labels import target_of
from lowdim.study.labels import labels_of

LABELS = {
    "text": ["a", "b", "a", "b"],
    "text with a missing label": ["a", None, "a", "b"],
    "true/false": [True, False, True, True],
    "whole numbers": [3, 1, 3, 3],
    "whole numbers as floats": [3.0, 1.0, np.nan, 3.0],
    "numbers": [0.5, 1.0, 2.0, 7.0],
    "numbers with a missing label": [0.5, np.nan, 2.0, 7.0],
    "objects": [0.5, None, 2, 7],
    "frame with missing labels": pd.Series([1, pd.NA, 2, 1], dtype="Int64"),
    "a column": np.array([[1], [2], [2], [1]]),
    "thirty whole numbers": np.repeat(np.arange(30), 2),
    "thirty-one whole numbers": np.repeat(np.arange(31), 2),
    "categories of a frame": pd.Series(pd.Categorical(["x", "y", "x", None])),
}


@pytest.mark.parametrize("name", LABELS)
def test_the_rule_is_that_of_comparisons(name):
    """One rule for classes and quantities, whoever applies it."""
    y = LABELS[name]
    target, labels = target_of(y, len(y), "auto", "Owner"), labels_of(y, len(y))
    assert target.classes == (labels.classes is not None)
    np.testing.assert_array_equal(~target.labelled, labels.missing)
    known = labels.values if labels.codes is None else labels.codes
    pairs = {(a, b) for a, b in zip(target.values, known[target.labelled], strict=True)}
    assert len(pairs) == len(set(target.values)) == len({b for _, b in pairs})
    if not target.classes:
        np.testing.assert_array_equal(target.values, known[target.labelled])


def test_the_kind_can_be_given():
    y = [1, 2, 2, 1]
    assert target_of(y, 4, "auto", "Owner").classes
    quantity = target_of(y, 4, "quantity", "Owner")
    assert not quantity.classes
    np.testing.assert_array_equal(quantity.values, y)
    classes = target_of([0.5, 0.7, 0.5, np.nan], 4, "classes", "Owner")
    np.testing.assert_array_equal(classes.values, [0, 1, 0])


def test_masked_labels_are_missing():
    y = np.ma.masked_array([1, 2, 2, 1, 5], mask=[0, 0, 0, 0, 1])
    np.testing.assert_array_equal(target_of(y, 5, "auto", "Owner").labelled, [True, True, True, True, False])


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        ([1, 2, 1], "auto", r"one label for each of the 4 rows; got shape \(3,\)"),
        (np.ones((4, 2)), "auto", r"got shape \(4, 2\)"),
        ([np.nan] * 4, "auto", "all 4 are missing"),
        ([1.0, np.inf, 2.0, 2.0], "auto", "1 labels are infinite"),
        (["a", "b", "a", "b"], "quantity", "numbers to be a quantity; got .*'a'.*target='classes'"),
        ([1, 1, 1, np.nan], "auto", "all 3 rows with a label have the same"),
        (["a", "b", "c", "d"], "auto", "each of 4 rows has its own"),
    ],
)
def test_labels_that_say_nothing_are_errors(y, kind, message):
    with pytest.raises(ValueError, match=f"Owner: y must .*{message}"):
        target_of(y, 4, kind, "Owner")
