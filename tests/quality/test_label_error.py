"""Leave-one-out nearest-neighbour error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from lowdim.quality import knn_error, scores


def test_equals_leave_one_out_with_scikit_learn():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    Z += y[:, None]
    for k in (1, 3):
        hits = cross_val_score(KNeighborsClassifier(k), Z, y, cv=LeaveOneOut())
        if k == 1:
            assert knn_error(Z, y, k) == pytest.approx(1 - hits.mean())
        else:
            assert knn_error(Z, y, k) == pytest.approx(1 - hits.mean(), abs=0.06)  # other tie rule


def test_vote_and_its_ties():
    Z = np.array([0.0, 1.0, 2.1, 3.3, 4.6])
    y = ["a", "b", "b", "a", "a"]
    # Nearest three: row 0 b b a -> b; row 1 a b a -> a; row 2 b a a -> a; row 3 b a b -> b; row 4 a b b -> b.
    assert knn_error(Z, y, 3) == 1
    # Two votes a tie: the nearer one decides, as with one neighbour.
    assert knn_error(Z, y, 2) == knn_error(Z, y, 1)


def test_copies_and_equal_distances_go_by_index():
    Z = np.array([[0.0], [0.0], [0.0], [5.0]])
    found = knn_error(Z, [0, 1, 0, 0])
    # Row 0 sees row 1, rows 1, 2 and 3 see row 0: rows 0 and 1 are wrong.
    assert found == 0.5
    assert found.facts == {"n_neighbors": 1, "duplicates": 3}


def test_labels_of_any_kind():
    Z = [0.0, 0.1, 5.0, 5.1]
    for y in (["x", "x", "y", "y"], [1, 1, 2, 2], np.array([True, True, False, False])):
        assert knn_error(Z, y) == 0
    with pytest.raises(ValueError, match="a label for each of the 4 rows; got 3"):
        knn_error(Z, [1, 2, 3])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, "a", 2, "b"], "y must have labels of one type; got int, str"),
        (np.array([1, "a", 2, "b"], object), "y must have labels of one type; got int, str"),
        (np.array([None, "a", "a", "b"], object), "y must have labels of one type; got NoneType, str"),
        (np.array([1, 1j, 2, (3,)], object), "y must have labels that can be ordered"),
        (np.ma.masked_equal([1, 2, 2, 3], 3), "y must have no masked labels"),
    ],
)
def test_mixed_labels_are_refused(y, message):
    Z = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match=f"knn_error: {message}"):
        knn_error(Z, y)
    with pytest.raises(ValueError, match=f"scores: {message}"):
        scores(Z, Z, y)


def test_wrong_sizes_and_tables_are_named():
    Z, y = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    for k in (0, 4, 1.0, True, "a"):
        with pytest.raises(ValueError, match="knn_error: n_neighbors must be a whole number from 1 to 3; got"):
            knn_error(Z, y, k)
    with pytest.raises(ValueError, match="knn_error: Z has 2 masked cells; masked cells are missing values"):
        knn_error(np.ma.masked_greater(Z, 5), y)
    assert knn_error(sparse.csr_array(Z), y) == knn_error(Z, y)
