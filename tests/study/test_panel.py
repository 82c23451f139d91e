"""The default selection, chosen from the data."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from lowdim import compare
from lowdim.study.columns.counts import Counts
from lowdim.study.methods import find
from lowdim.study.panel import Traits, choose_panel, takes_holes
from lowdim.study.settings import Settings


def test_numbers():
    panel = choose_panel(Traits(300, 10))
    assert panel.names[0] == "pca"
    assert {"isomap", "tsne", "umap", "lle"} <= set(panel.names)
    assert "classical-mds" not in panel.names  # the same map as pca
    assert panel.reasons


def test_many_rows_leave_out_what_does_not_scale():
    panel = choose_panel(Traits(70_000, 784))
    assert "kernel-pca" not in panel.names
    assert any("70,000 rows" in reason for reason in panel.reasons)


def test_missing_cells_leave_out_what_cannot_take_them(monkeypatch):
    panel = choose_panel(Traits(300, 10, incomplete=True))
    assert all(takes_holes(find(name)) for name in panel.names)
    assert panel.names == choose_panel(Traits(300, 10)).names  # all of them have a way with missing cells
    assert not any("cannot take" in reason for reason in panel.reasons)
    assert not takes_holes(find("truncated-svd"))
    monkeypatch.setattr("lowdim.study.panel._numbers", lambda traits, reasons: ["pca", "truncated-svd"])
    panel = choose_panel(Traits(300, 10, incomplete=True))
    assert panel.names == ("pca",)
    assert panel.reasons == ("cells are missing, which truncated-svd cannot take",)


@pytest.mark.parametrize(
    ("name", "missing"),
    [("isomap", "expected"), ("ica", "em"), ("lda", "em"), ("cca", "em"), ("whitening", "em"),
     ("kernel-cca", "expected"), ("ca", "regularized"), ("pca", "regularized"), ("vae", "iterative")],
)  # fmt: skip
def test_each_method_has_its_way_with_missing_cells(name, missing):
    assert find(name).estimator(**Settings(2, 300, incomplete=True).of(find(name))).missing == missing


@pytest.mark.parametrize(("categories", "first"), [(3, "famd"), (10, "mca")])
def test_categories(categories, first):
    panel = choose_panel(Traits(300, 10, n_categories=categories))
    assert panel.names[0] == first
    assert "pca" not in panel.names
    assert any("Gower" in reason for reason in panel.reasons)


def test_few_columns_have_few_maps():
    assert choose_panel(Traits(300, 1)).names == ("pca",)
    assert "factor-analysis" not in choose_panel(Traits(300, 2)).names
    assert "factor-analysis" in choose_panel(Traits(300, 3)).names
    assert "factor-analysis" not in choose_panel(Traits(300, 3, reduced=3)).names


def test_one_column_is_not_compared_with_noise(rng):
    found = compare(rng.normal(size=(60, 1)), n_jobs=1)
    assert (found.names, found.failures) == (["pca", "random"], {})
    said = str(found.verdict)
    assert "Not judged: structure (one column has no other that it could be related to)." in said
    assert "structure was found" not in said


def test_labels_add_lda_where_it_has_a_map():
    assert "lda" in choose_panel(Traits(300, 10, n_classes=3)).names
    assert "lda" not in choose_panel(Traits(300, 10, n_classes=2)).names  # one direction is no map of two
    assert "lda" in choose_panel(Traits(300, 10, n_classes=3, incomplete=True)).names
    assert "lda" not in choose_panel(Traits(300, 10, n_classes=3, n_categories=2)).names


@pytest.mark.parametrize(
    ("traits", "names"),
    [
        (Traits(12, 5000), ("pca", "mds")),
        (Traits(6, 3), ("pca", "mds")),
        (Traits(12, 5000, n_classes=4), ("pca", "mds")),  # lda tells any classes of so few rows apart
        (Traits(12, 5000, counts=Counts(0)), ("pca", "ca", "mds")),
        (Traits(12, 5000, counts=Counts(2)), ("pca", "mds")),
        (Traits(12, 6, n_categories=2), ("famd", "classical-mds", "mds")),
        (Traits(12, 12, distances=True), ("classical-mds", "mds")),
        (Traits(12, 1), ("pca",)),
        (Traits(12, 9, incomplete=True), ("pca", "mds")),
    ],
)
def test_few_rows_get_methods_that_place_each_row_by_all_others(traits, names):
    panel = choose_panel(traits)
    assert panel.names == names
    assert ("only methods that place each row by all others" in panel.reasons[0]) == (traits.n_columns > 1)


def test_the_panel_of_few_rows_runs_without_a_warning(rng):
    found = compare(rng.normal(size=(12, 300)), n_jobs=1)
    assert (found.names, found.failures) == (["pca", "mds", "random"], {})
    assert all(not outcome.warnings for outcome in found.outcomes)
    said = str(found.verdict)
    assert "Read from the pca map which rows are near each other" in said
    assert "With 300 columns for 12 rows, some columns tell any groups apart" in said


def test_wide_tables_and_distances():
    assert "ica" not in choose_panel(Traits(50, 500)).names
    assert "pca" not in choose_panel(Traits(50, 50, distances=True)).names


def test_lda_is_among_the_maps_of_labelled_rows_with_missing_cells():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    found = compare(X[::2], y[::2], verdict=False, n_jobs=1)
    assert "lda" in found.names
    assert not found.failures
    assert found.embeddings["lda"].shape == (75, 2)
    assert np.isfinite(found.embeddings["lda"]).all()
