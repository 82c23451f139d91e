"""Attributes that spectral methods share mean the same in each of them."""

import numpy as np
import pytest

import lowdim

ESTIMATORS = {
    "ClassicalMDS": lambda r: lowdim.ClassicalMDS(r),
    "ClassicalMDS of distances": lambda r: lowdim.ClassicalMDS(r, metric="manhattan"),
    "LandmarkMDS": lambda r: lowdim.LandmarkMDS(r),
    "KernelPCA": lambda r: lowdim.KernelPCA(r),
    "FeatureMapPCA": lambda r: lowdim.FeatureMapPCA(r),
    "Isomap": lambda r: lowdim.Isomap(r, n_neighbors=4),
    "LLE": lambda r: lowdim.LLE(r, n_neighbors=4),
    "LaplacianEigenmaps": lambda r: lowdim.LaplacianEigenmaps(r, n_neighbors=4),
    "DiffusionMaps": lambda r: lowdim.DiffusionMaps(r),
    "MVU": lambda r: lowdim.MVU(r, n_neighbors=4, slack=0.1),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rows", [6, 40])
@pytest.mark.parametrize("r", [1, 2, 7])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_there_is_one_eigenvalue_for_each_axis(name, r, rows):
    X = np.random.default_rng(0).normal(size=(rows, 3))
    model = ESTIMATORS[name](r).fit(X)
    assert model.eigenvalues_.shape == (model.embedding_.shape[1],)


@pytest.mark.filterwarnings("ignore")
def test_all_positive_eigenvalues():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for model in (lowdim.KernelPCA(None, kernel="linear"), lowdim.FeatureMapPCA(None)):
        assert model.fit(X).eigenvalues_.shape == (model.embedding_.shape[1],)


def test_the_eigenvalue_of_an_axis_is_its_sum_of_squares():
    X = np.random.default_rng(0).normal(size=(60, 4))
    scaled = (lowdim.ClassicalMDS(3), lowdim.KernelPCA(3), lowdim.Isomap(3, n_neighbors=20), lowdim.FeatureMapPCA(3))
    for model in scaled:
        Z = model.fit_transform(X)
        np.testing.assert_allclose(np.square(Z).sum(axis=0), model.eigenvalues_, rtol=1e-8)
