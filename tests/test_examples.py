"""The scripts in examples/: each draws its picture, and the numbers in its text hold."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
pytestmark = pytest.mark.filterwarnings("ignore:.*seems to have short circuits")  # some examples are about them


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """name -> the numbers of its script, run once in its quick form."""
    folder, found = tmp_path_factory.mktemp("pictures"), {}

    def once(name):
        if name not in found:
            spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            found[name] = module.main(folder, quick=True)
            assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        return found[name]

    return once


@pytest.mark.parametrize("name", NAMES)
def test_an_example_draws_its_picture_and_says_its_numbers(name, run, capsys):
    assert run(name)
    assert name in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_a_gaussian_kernel_separates_spheres_and_a_polynomial_one_does_not(run):
    found = run("concentric_spheres")
    assert found["Gaussian kernel, width 1.5"] > 0.99
    assert found["polynomial kernel, degree 5"] < 0.85
    assert found["PCA"] < 0.7


def test_only_isomap_unrolls_the_spiral_and_kernel_pca_cleans_it(run):
    found = run("spiral")
    assert found["Isomap"] > 0.99
    assert max(found["PCA"], found["kernel PCA"]) < 0.8
    assert found["cleaned"] < 0.6 * found["noisy"]


def test_kernel_pca_cleans_better_than_pca(run):
    found = run("kernel_denoising")
    assert found["ring after"] < 0.4 * found["ring before"]
    for setting in ("clean", "noisy"):
        best = min(value for key, value in found.items() if key[0] == setting and key[1] != "PCA")
        assert best < 0.95 * found[setting, "PCA"]
    assert found["clean", "kernel PCA, distance"] < 0.75 * found["clean", "PCA"]


def test_road_distances_give_the_map_of_europe(run):
    found = run("eurodist")
    assert found["Procrustes correlation"] > 0.9


def test_signals_are_told_apart_by_their_length_and_their_dashes(run):
    found = run("morse")
    assert min(found["length"], found["share of dashes"]) > 0.5
    assert found["stress, ratio"] > found["stress, interval"] > found["stress, ordinal"]


def test_a_principal_curve_bends_round_the_circle(run):
    found = run("principal_curve")
    assert found["pass 1"] > found["pass 2"] > found["pass 3"]
    assert found["settled"] < 0.2 * found["pass 1"]
    assert found["closed, bias corrected"] < found["settled"]
    assert abs(found["radius"] - 1) < 0.03


def test_every_repair_brings_the_sheet_back(run):
    found = run("short_circuits")
    assert found.pop("without repair") < 0.7
    assert min(found.values()) > 0.99


def test_tcie_keeps_the_hole_and_tearing_the_order(run):
    found = run("holed_sheet")
    assert 1 - found["TCIE"] < 0.6 * (1 - found["Isomap"])
    assert found["torn helix"] < 0.04 < found["closed helix"]


def test_paths_along_the_graph_are_the_distances_of_the_sheet(run):
    found = run("geodesic_distance")
    assert found["correlation, along the graph"] > 0.99 > 0.5 > found["correlation, straight"]
    assert abs(found["pair, along the graph"] / found["pair, along the sheet"] - 1) < 0.12
    assert found["pair, straight"] < 8
    assert found["map, distances along the graph"] > 0.99 > 0.7 > found["map, straight distances"]


def test_both_collapses_happen_and_are_said(run):
    found = run("lle_collapses")
    assert found["graph parts"] == 3
    assert found["spread of a piece, silent"] < 1e-4
    assert min(found["spread of a piece, bridged"], found["spread of a piece, separate"]) > 0.1
    assert found["thickness of the roll, with outliers"] < 0.5
    assert abs(found["thickness of the roll, without"] - 1) < 1e-6  # unit covariance
    assert found["warnings with outliers"] == 1
    assert found["warnings without"] == 0


def test_lle_finds_the_place_of_the_face_and_pca_does_not(run, monkeypatch):
    monkeypatch.delenv("LOWDIM_DATA", raising=False)
    found = run("shifted_face")
    assert found["drawn face, LLE"] > 0.8 > 0.5 > found["drawn face, PCA"]


def test_local_methods_help_until_noise_or_dimension_is_too_much(run):
    found = run("where_local_methods_stop")
    for method in ("Isomap", "LLE", "LTSA"):
        assert found["dimension", 2, method] > found["dimension", 2, "PCA"] + 0.05
    assert found["noise", 0.0, "Isomap"] > found["noise", 0.0, "PCA"] + 0.1
    for sweep, level in (("noise", 2.0), ("dimension", 10)):
        for method in ("Isomap", "LLE", "LTSA", "Laplacian eigenmaps"):
            assert found[sweep, level, method] < found[sweep, level, "PCA"] + 0.05
    assert found["dimension", 10, "LLE"] < found["dimension", 10, "PCA"]


def test_a_curve_fills_in_what_lines_cannot(run):
    found = run("helix_completed")
    assert found["inverse NLPCA"] < 0.05
    assert min(found["column means"], found["probabilistic PCA"], found["Bayesian PCA"]) > 0.25


def test_bent_maps_keep_digits_apart(run):
    found = run("digits_maps")
    for name in ("autoencoder", "GPLVM"):
        assert found[name] < 0.9 * found["PCA"]
    assert found["GPLVM, new"] < found["PCA, new"]


def test_networks_reproduce_and_clean_digits(run):
    found = run("digits_reconstructions")
    assert found["autoencoder"] < 1.2 * found["PCA"]
    assert found["noise, denoising autoencoder"] < min(found["noise, PCA"], found["noise, autoencoder"])
    assert found["mistaken, denoising autoencoder"] < found["mistaken, PCA"] + 0.05
