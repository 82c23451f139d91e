"""Demonstrations of lectures run again, small: what each one shows must come out."""

import numpy as np
import pytest

from lowdim.study import reproductions
from lowdim.study.reproductions import EXPERIMENTS, kernel_widths, rnx_areas, swiss_roll_maps
from lowdim.study.reproductions.lectures import concentric_spheres, curse_of_dimensionality, denoising

LECTURES = [name for name, module in EXPERIMENTS.items() if module.startswith("lectures.")]


def ours(name, **options):
    found = reproductions.reproduce(name, repeats=1, random_state=0, **options)
    assert found.notes
    assert found.source
    return {line.what: line.ours for line in found.lines}, {line.what: line.published for line in found.lines}


def close(found, published, atol):
    """Wherever a number was published, ours is that number."""
    given = {what: float(text) for what, text in published.items() if _is_number(text)}
    assert given
    for what, value in given.items():
        assert abs(found[what] - value) <= atol, what


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_every_lecture_has_a_test():
    tested = {name for name in globals() if name.startswith("test_")}
    assert {f"test_{name.replace('-', '_')}" for name in LECTURES} <= tested


@pytest.mark.parametrize("name", ["car-prices", "supplementary-rows", "lle-weights"])
def test_printed_numbers_come_out(name):
    close(*ours(name), atol=6e-3 if name == "car-prices" else 1e-7)


def test_car_prices():
    found, _ = ours("car-prices")
    assert found["variance of component 1"] == pytest.approx(2.3798, abs=1e-3)


def test_supplementary_rows():
    found, _ = ours("supplementary-rows")
    assert found["angle in degrees by which the plane turns if they are made active"] > 0.1


def test_lle_weights():
    found, _ = ours("lle-weights")
    assert found["largest change of a weight where one column is stretched"] > 0.01
    kept = found["points of the map by the same weights: share of the variance that is lost"]
    assert kept < 0.01 * found["points of a random map by the same weights"]


def test_conic():
    found, published = ours("conic")
    close(found, published, atol=1e-9)
    assert found["largest difference of kernel PCA from PCA of the features, up to sign"] < 1e-9


def test_curse_of_dimensionality():
    found, published = ours("curse-of-dimensionality")
    close(found, published, atol=0.012)
    assert curse_of_dimensionality.ball_over_cube(2) == pytest.approx(np.pi / 4)
    assert curse_of_dimensionality.ball_over_cube(3) == pytest.approx(np.pi / 6)
    assert found["corners of a cube in 4 dimensions"] == 16


def test_kernel_functions():
    found, published = ours("kernel-functions")
    kernels = [what for what, text in published.items() if text == ">= 0"]
    assert len(kernels) == 7
    assert all(found[what] > -1e-10 for what in kernels)
    assert found["tanh(x'y/2 - 1)"] < -0.01


def test_cocktail_party():
    found, _ = ours("cocktail-party")
    heard = {name: found[f"{name}: least correlation with a speaker"] for name in ("ICA", "PCA", "whitening")}
    assert heard["ICA"] > 0.98 > 0.95 > max(heard["PCA"], heard["whitening"])


def test_concentric_spheres(monkeypatch):
    monkeypatch.setattr(concentric_spheres, "ROWS", 200)
    found, _ = ours("concentric-spheres")
    assert found["kernel PCA, Gaussian of width 1.5"] < 0.02
    assert min(found["PCA"], found["kernel PCA, polynomial of degree 5"]) > 0.15


def test_denoising(monkeypatch):
    monkeypatch.setattr(denoising, "ROWS", 250)
    monkeypatch.setattr(denoising, "NUMBERS", (10, 30))
    found, _ = ours("denoising")
    assert found["kernel PCA"] < found["PCA"] < found["as they are"]


def test_eigenfaces():
    found, _ = ours("eigenfaces")
    errors = [found[f"{k} whitened components"] for k in (2, 5, 10, 20)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < found["all 64 pixels"] + 0.02


def test_pca_of_digits():
    found, _ = ours("pca-of-digits")
    for k in (1, 4, 10, 20, 40):
        lost = found[f"{k} components: share of the variance that is lost"]
        assert lost == pytest.approx(found[f"{k} components: sum of the eigenvalues left out, over all"], abs=1e-12)


def test_scalings():
    found, _ = ours("scalings")
    assert found["whitened: largest difference of the covariance from the identity"] < 1e-10
    assert found["D^-1 U'X as printed: largest variance"] == pytest.approx(1 / 177)
    assert found["standardised: error of the nearest neighbour"] < found["raw: error of the nearest neighbour"]
    assert found["raw: error of the nearest neighbour"] == found["centred: error of the nearest neighbour"]


def test_selection():
    found, _ = ours("selection")
    assert found["filter, variance: kept columns that are noise"] == 5
    for kind in ("filter, mutual information", "wrapper, recursive elimination", "embedded, random forest"):
        assert found[f"{kind}: kept columns that are noise"] <= 1
        assert found[f"{kind}: test error"] < found["all columns: test error"]


def test_pca_and_lda():
    found, _ = ours("pca-and-lda")
    assert found["long groups, LDA"] < 0.05 < 0.3 < found["long groups, PCA"]
    assert found["correlation of LDA with the closed form (S+ + S-)^-1 (m+ - m-)"] == pytest.approx(1, abs=1e-9)


def test_rnx_areas(monkeypatch):
    monkeypatch.setattr(rnx_areas, "ROWS", 300)
    found, _ = ours("rnx-areas")
    assert found["Swiss roll, PCA, 2 components"] == pytest.approx(0.52, abs=0.04)
    assert found["Swiss roll, kernel PCA, next to linear, 3 components"] == pytest.approx(0.999, abs=0.002)
    assert found["Swiss roll, kernel PCA, next to linear, 2 components"] < 0.6


def test_kernel_widths(monkeypatch):
    monkeypatch.setattr(kernel_widths, "ROWS", 200)
    found, _ = ours("kernel-widths")
    widest = found["width 20 times the median rule, 2 components"]
    assert widest == pytest.approx(found["PCA, 2 components"], abs=0.01)
    assert found["width 20 times the median rule, 3 components"] > 0.99


def test_swiss_roll_maps():
    found, _ = ours("swiss-roll-maps")
    area = {name: found[f"{name}: R_NX area, sheet"] for name in swiss_roll_maps.METHODS}
    assert area["PCA"] < min(area["LLE"], area["Isomap"], area["t-SNE"])
    flat = {name: found[f"{name}: correlation of distances, sheet"] for name in swiss_roll_maps.METHODS}
    assert max(flat, key=flat.get) == "Isomap"
    assert flat["Isomap"] > 0.95


def test_spiral():
    found, _ = ours("spiral")
    for where in ("in the plane", "in space"):
        assert min(found[f"{where}: {name}"] for name in ("Isomap", "LLE", "Laplacian eigenmaps")) > 0.99
    assert max(found["in the plane: PCA"], found["in the plane: kernel PCA, Gaussian of the median width"]) < 0.8


def test_noisy_circle():
    found, _ = ours("noisy-circle")
    assert found["the start, the first principal axis"] > found["after pass 2"] > found["settled"]
    assert found["closed, bias corrected"] < found["closed"] < 0.02
    assert abs(found["mean radius of the corrected curve"] - 1) < abs(found["mean radius of the closed curve"] - 1)
