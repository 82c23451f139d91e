"""Names, labels and cells with control characters: no result, error or warning in Python hands them to a terminal."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import datasets, select, trust

ESC = "\x1b[31m\x07\u202e"
N = 40


def forbidden(text):
    return [c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u2028\u202e"]


def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)) @ rng.normal(size=(3, 5)) + 0.1 * rng.normal(size=(N, 5))
    return pd.DataFrame(X, columns=[f"{ESC}{c}" for c in "abcde"], index=[f"r{i}{ESC}" for i in range(N)])


def mixed():
    return numbers().assign(**{f"cat{ESC}": [f"u{ESC}", f"v{ESC}"] * (N // 2)})


def holes():
    X = mixed()
    X.iloc[3, 2], X.iloc[5, 5] = np.nan, None
    return X


def other_name(X):
    return X.rename(columns={X.columns[0]: f"other{ESC}"})


def unseen():
    X = mixed()
    X.iloc[0, 5] = f"never{ESC}"
    return X


def labels():
    return np.array([f"u{ESC}", f"v{ESC}"] * (N // 2))


def scores(X=None):
    return lowdim.PCA(2).fit_transform(numbers() if X is None else X)


RESULTS = {
    "comparison": lambda: lowdim.compare(mixed(), labels(), methods=["famd"]),
    "verdict": lambda: lowdim.compare(numbers(), labels(), methods=["pca", "lda"]).verdict,
    "imputation": lambda: lowdim.impute(holes(), method="neighbors"),
    "choice of imputation": lambda: lowdim.impute(holes()).choice,
    "groups": lambda: trust.groups(numbers(), scores(), labels()),
    "rows": lambda: trust.rows(numbers(), scores()),
    "components": lambda: select.n_components(numbers()),
    "method": lambda: select.method(numbers()),
    "factor map": lambda: lowdim.FactorMap(lowdim.FAMD(2).fit(mixed()), mixed()),
    "points": lambda: lowdim.FactorMap(lowdim.FAMD(2).fit(mixed()), mixed()).variables,
    "description": lambda: lowdim.FactorMap(lowdim.FAMD(2).fit(mixed()), mixed()).describe(0),
    "hidden cells": lambda: datasets.hide_cells(numbers(), 0.1, "mar", 0, driver=f"{ESC}a"),
}
ERRORS = {
    "another name": lambda: lowdim.PCA(2).fit(numbers()).transform(other_name(numbers())),
    "a column less": lambda: lowdim.Isomap(2).fit(numbers()).transform(numbers().iloc[:, :4]),
    "categories under another name": lambda: lowdim.FAMD(2).fit(mixed()).transform(other_name(mixed())),
    "mixed rows under another name": lambda: (
        lowdim.Isomap(2, metric="gower").fit(mixed()).transform(other_name(mixed()))
    ),
    "text": lambda: lowdim.PCA(2).fit(mixed()),
    "a date": lambda: lowdim.PCA(2).fit(numbers().assign(**{f"d{ESC}": pd.Timestamp("2020")})),
    "a name twice": lambda: lowdim.PCA(2).fit(pd.concat([numbers(), numbers().iloc[:, :1]], axis=1)),
    "one class": lambda: lowdim.LDA(1).fit(numbers(), [f"a{ESC}"] * N),
    "a column that is not there": lambda: lowdim.compare(numbers(), methods=["pca"], drop=[f"none{ESC}"]),
    "a method": lambda: lowdim.compare(numbers(), methods=[f"pca{ESC}"]),
    "a metric": lambda: lowdim.MDS(2, metric=f"x{ESC}").fit(numbers()),
    "a data set": lambda: datasets.load(f"x{ESC}"),
    "a path": lambda: lowdim.load(f"no{ESC}"),
}
WARNINGS = {
    "a category that was not there": lambda: lowdim.FAMD(2).fit(mixed()).transform(unseen()),
    "a category in a distance": lambda: lowdim.Isomap(2, metric="gower").fit(mixed()).transform(unseen()),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_results_print_no_control_characters(name):
    found = RESULTS[name]()
    assert not forbidden(repr(found) + str(found)), repr(found)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_no_control_characters(name):
    with pytest.raises((ValueError, TypeError, OSError)) as error:
        ERRORS[name]()
    assert not forbidden(str(error.value)), str(error.value)
    assert re.match(r"[a-zA-Z.]+: |\[Errno", str(error.value)), str(error.value)


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_have_no_control_characters(name):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        WARNINGS[name]()
    assert heard
    assert not forbidden("".join(str(warning.message) for warning in heard))
