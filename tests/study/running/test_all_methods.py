"""The number of steps of a comparison is right from the start; it never falls, and no step is beyond it."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim

METHODS = {
    "pca is there already": (["pca", "kernel-pca"], 1),
    "pca comes as a baseline": (["kernel-pca"], 2),
    "two widths": ([lowdim.PCA(2), lowdim.KernelPCA(3)], 3),
    "a map that exists already": ({"mine": np.arange(240.0).reshape(60, 4), "pca": "pca"}, 3),
    "a default selection": (None, 1),
}


@pytest.fixture(scope="module")
def rows():
    return lowdim.datasets.swiss_roll(60, random_state=0)


def steps_of(X, y=None, methods=None, **options):
    """(step, done, total) at the start of each step; fractions of a step are left out."""
    heard = []
    lowdim.compare(X, y, methods, n_jobs=1, progress=lambda *step: heard.append(step), **options)
    return [step for step in heard if step[1] == int(step[1]) and step[0] != heard[heard.index(step) - 1][0]]


@pytest.mark.parametrize(("methods", "baselines"), METHODS.values(), ids=METHODS)
def test_the_number_of_steps_is_right_from_the_start(rows, methods, baselines):
    heard = steps_of(rows.X, methods=methods)
    assert [done for _, done, _ in heard] == list(range(len(heard)))
    assert {total for _, _, total in heard} == {len(heard)}
    assert len([name for name, *_ in heard if name.startswith(("random", "pca"))]) >= baselines
    assert [name for name, *_ in heard[-3:]] == ["scores", "maps of noise", "groups and dimension"]


def test_the_parts_of_the_verdict_are_counted(rows):
    for options, last in (({"verdict": False}, "scores"), ({"stability": 2}, "stability")):
        heard = steps_of(rows.X, methods=["pca"], **options)
        assert {total for _, _, total in heard} == {len(heard)}
        assert heard[-1][0] == last


def test_maps_of_noise_say_how_far_they_are(rows, monkeypatch):
    monkeypatch.setattr("lowdim.study.running.all_methods.EVERY", -1.0)
    heard = []
    lowdim.compare(rows.X, methods=["pca"], n_jobs=1, progress=lambda *step: heard.append(step))
    parts = [done for name, done, _ in heard if name == "maps of noise"]
    assert parts == sorted(parts)
    assert parts[0] == int(parts[0])
    assert len(set(parts)) > 20  # tables of noise


def test_labels_and_a_table_with_holes_have_the_right_number_too(rows):
    X = rows.X.copy()
    X[::7, 0] = np.nan
    y = np.repeat(["a", "b"], 30)
    for heard in (steps_of(X, methods=["pca"]), steps_of(rows.X, y, ["lda", "pca"])):
        assert {total for _, _, total in heard} == {len(heard)}


def test_distances_have_the_right_number_too(rows):
    D = np.linalg.norm(rows.X[:, None] - rows.X, axis=2)
    heard = steps_of(D, methods=["mds", "isomap"], metric="precomputed")
    assert {total for _, _, total in heard} == {len(heard)}


class Narrow:
    """Asked for three components, keeps two."""

    n_components = 3

    def fit_transform(self, X, y=None):
        return np.asarray(X)[:, :2]


class Failing:
    n_components = 5

    def fit_transform(self, X, y=None):
        raise ValueError("no")


@pytest.mark.parametrize(("surprise", "expected"), [(Narrow(), 7), (Failing(), 6)])
def test_what_never_comes_counts_as_done_before_the_baselines(rows, surprise, expected):
    heard = steps_of(rows.X, methods=["pca", ("surprise", surprise)], verdict=False)
    names = [name for name, *_ in heard]
    assert names == ["reference distances", "pca", "surprise", "random", "scores"]
    assert {total for _, _, total in heard} == {expected}  # with baselines of its own width,
    assert [done for _, done, _ in heard] == [0, 1, 2, expected - 2, expected - 1]  # done when they cannot come


class Wide:
    """Does not say how many components it has."""

    def fit_transform(self, X, y=None):
        return np.asarray(X)[:, :3]


def test_baselines_that_nobody_expected_are_added_to_the_number(rows):
    heard = steps_of(rows.X, methods=["pca", ("surprise", Wide())], verdict=False)
    assert [done for _, done, _ in heard] == list(range(len(heard)))
    totals = [total for _, _, total in heard]
    assert totals[0] < totals[-1] == len(heard)


def test_few_rows_have_no_steps_of_a_verdict(rows):
    heard = steps_of(rows.X[:20], methods=["pca"])
    assert {total for _, _, total in heard} == {len(heard)}
    assert heard[-1][0] == "scores"
