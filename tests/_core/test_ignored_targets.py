"""What methods do with a `y` that they do not use: nothing, unless it is no label."""

import warnings

import numpy as np
import pytest

import lowdim
from tests.estimators import CASES

USE_Y = {"LDA", "CCA", "KernelCCA", "UMAP", "ColumnSelection"}
NETWORKS = ("Autoencoder", "VAE", "NLPCA", "InverseNLPCA")
FAST = ("PCA", "KernelPCA", "ClassicalMDS", "Isomap", "LaplacianEigenmaps", "TSNE", "NLPCA", "FactorAnalysis")

ROWS = np.random.default_rng(0).normal(size=(60, 5)) @ np.diag([9, 5, 1, 0.5, 0.2])
LABELS = np.arange(60) % 3


def case(name):
    return next(case for case in CASES if case.name == name)


def network(name):
    settings = {} if name == "Autoencoder" or name == "VAE" else {"n_init": 1}
    return getattr(lowdim, name)(n_components=2, hidden=3, max_iter=2, random_state=0, **settings)


@pytest.mark.parametrize("name", FAST)
def test_labels_are_ignored_in_silence(name):
    """The filters of the suite turn a warning that only labels cause into an error."""
    model = case(name).estimator
    with warnings.catch_warnings(record=True) as without:
        warnings.simplefilter("always")
        expected = model.fit_transform(ROWS)
    with warnings.catch_warnings(record=True) as with_labels:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(model.fit_transform(ROWS, LABELS), expected)
        np.testing.assert_array_equal(model.fit(ROWS, np.c_[LABELS, LABELS]).transform(ROWS), model.transform(ROWS))
    said = {str(warning.message) for warning in with_labels}
    assert said == {str(warning.message) for warning in without}


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_docstrings_say_what_y_does(name):
    for method in (getattr(lowdim, name).fit, getattr(lowdim, name).fit_transform):
        assert ("Ignored; there for pipelines." in method.__doc__) == (name not in USE_Y)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.filterwarnings("ignore:.*(not converged|collapsed|max_iter)")
def test_networks_warn_about_rows_in_place_of_labels(name):
    model, other = network(name), ROWS + 1.0
    for call in (model.fit, model.fit_transform):
        with pytest.warns(UserWarning, match=f"{name}: y is ignored: the network reproduces the rows of X"):
            call(ROWS, other)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for same in (ROWS, ROWS.copy(), LABELS, ROWS[:, :2], None):
            model.fit(ROWS, same)
    assert not [warning for warning in said if "ignored" in str(warning.message)]


@pytest.mark.filterwarnings("ignore:.*(not converged|max_iter)")
def test_incomplete_rows_are_the_same_rows():
    X = ROWS.copy()
    X[3, 2] = np.nan
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        network("InverseNLPCA").fit(X, X.copy())
    assert not [warning for warning in said if "ignored" in str(warning.message)]
