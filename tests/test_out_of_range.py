"""Settings and numbers that no method can serve: refused with a reason, never NaN under another name."""

import numpy as np
import pytest

import lowdim


def rows(n=40, scale=1.0, dtype=np.float64):
    return (scale * np.random.default_rng(0).normal(size=(n, 3))).astype(dtype)


@pytest.mark.filterwarnings("ignore")
def test_axes_that_rows_do_not_have_are_zero_at_every_time():
    for time in (0, 1, "multiscale"):
        Z = lowdim.DiffusionMaps(10, time=time).fit_transform(rows(10))
        assert np.isfinite(Z).all()
        assert (Z[:, 9] == 0).all()
    assert np.isfinite(lowdim.DiffusionMaps(1, width="kernel-sum").fit_transform(rows(2))).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model", [lowdim.KernelPCA(2, kernel="poly"), lowdim.FeatureMapPCA(2)], ids=lambda m: type(m).__name__
)
def test_coordinates_that_overflow_are_an_error(model):
    with pytest.raises(ValueError, match=r"the coordinates must be finite; got [34]\d rows of 40 .* Rescale X"):
        model.fit(rows(scale=1e20, dtype=np.float32))


def test_more_degrees_of_freedom_than_rows_are_refused():
    with pytest.raises(ValueError, match="PrincipalCurve: df must be at most n_samples=40; got 1000"):
        lowdim.PrincipalCurve(df=1000).fit(rows())


def test_more_vertices_than_a_curve_can_use_are_refused():
    with pytest.raises(ValueError, match="n_vertices must be a whole number from 10 to 1000000; got 100000000"):
        lowdim.PrincipalCurve(n_vertices=10**8).fit(rows())


@pytest.mark.parametrize("network", [lowdim.NLPCA, lowdim.InverseNLPCA, lowdim.Autoencoder, lowdim.VAE])
def test_settings_that_need_too_much_memory_are_refused_before_the_fit(network):
    with lowdim.config(memory_limit="4GB"), pytest.raises(MemoryError, match="this needs about"):
        network(1, hidden=10**7).fit(rows())
