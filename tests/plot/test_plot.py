"""Pictures: the right numbers on the right axes."""

import sys

import matplotlib as mpl
import numpy as np
import pytest

import lowdim

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def roll():
    return lowdim.datasets.swiss_roll(80, random_state=0)


@pytest.fixture(scope="module")
def c(roll):
    return lowdim.compare(roll.X, roll.labels, ["pca"])


def test_map_has_one_collection_per_class_and_equal_scales(roll):
    ax = lowdim.plot.embedding(roll.X[:, :2], roll.labels, title="t", label_name="side")
    assert [p.get_offsets().shape[0] for p in ax.collections] == np.bincount(roll.labels).tolist()
    assert ax.get_aspect() == 1
    assert ax.get_legend().get_title().get_text() == "side"
    np.testing.assert_allclose(ax.collections[0].get_offsets(), roll.X[roll.labels == 0, :2])


def test_map_of_a_quantity_of_one_column_and_without_labels(roll):
    ax = lowdim.plot.embedding(roll.X[:, :2], roll.coordinates[:, 0])
    np.testing.assert_allclose(ax.collections[0].get_array(), roll.coordinates[:, 0])
    ax = lowdim.plot.embedding(roll.X[:, :1])
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], roll.X[:, 0])
    with pytest.raises(ValueError, match="Z must be a table with at least one column"):
        lowdim.plot.embedding(roll.X[:, 0])


def test_drawing_on_given_axes(roll):
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    assert lowdim.plot.embedding(roll.X[:, :2], ax=ax) is ax
    assert lowdim.plot.scree(lowdim.PCA(3).fit(roll.X), ax=ax) is ax


def test_curves_carry_their_area(c):
    ax = lowdim.plot.rnx_curves(c)
    assert ax.get_xscale() == "log"
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts[0] == f"pca  {c.table[0]['auc']:.3f}"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), c.curves["pca"])
    assert len(lowdim.plot.rnx_curves(c.curves["pca"]).lines) == 2


@pytest.mark.parametrize("color", ["label", "quality"])
def test_comparison(c, color):
    figure = lowdim.plot.comparison(c, color=color)
    titles = [ax.get_title() for ax in figure.axes]
    assert any(title.startswith("pca") for title in titles)
    assert "reference: ambient" in titles
    figure.canvas.draw()


def test_curves_of_different_widths_have_axes_of_their_own(roll):
    c = lowdim.compare(roll.X, methods=["pca", ("three", lowdim.Isomap(3))])
    axes = {ax.get_title(): ax for ax in lowdim.plot.comparison(c).axes if ax.get_title().startswith("reference")}
    assert list(axes) == ["reference: ambient; 2 components", "reference: ambient; 3 components"]
    for ax, names in zip(axes.values(), (["pca", "random-2d"], ["three", "pca-3d", "random-3d"]), strict=True):
        assert [text.get_text().split()[0] for text in ax.get_legend().get_texts()] == names


def test_rows_without_a_label_are_grey(roll):
    labels = roll.labels.astype(float)
    labels[:7] = np.nan
    grey, *classes = lowdim.plot.embedding(roll.X[:, :2], labels).collections
    assert len(grey.get_offsets()) == 7
    np.testing.assert_allclose(grey.get_facecolor()[0, :3], 0.8)
    assert sum(len(c.get_offsets()) for c in classes) == 73
    quantity = np.where(np.arange(80) < 7, np.nan, roll.coordinates[:, 0])
    _, drawn = lowdim.plot.embedding(roll.X[:, :2], quantity).collections
    np.testing.assert_allclose(drawn.get_array(), quantity[7:])


def test_long_legends_are_cut_and_shared_marks_are_said(roll):
    legend = lowdim.plot.embedding(roll.X[:, :2], [f"class {i}" for i in range(80)]).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [f"class {i}" for i in range(24)]
    assert legend.get_title().get_text() == "label: 24 of 80 classes\n(several share one of 70 symbols)"
    few = lowdim.plot.embedding(roll.X[:, :2], [f"{'x' * 40}{i % 2}" for i in range(80)]).get_legend()
    assert [len(text.get_text()) for text in few.get_texts()] == [30, 30]


def test_comparison_of_nothing_to_colour(roll):
    lowdim.plot.comparison(lowdim.compare(roll.X, methods=["pca"]))
    with pytest.raises(ValueError, match="color must be 'label' or 'quality'; got 'red'"):
        lowdim.plot.comparison(None, color="red")


def test_scree(roll):
    model = lowdim.PCA(3).fit(roll.X)
    ax = lowdim.plot.scree(model)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], model.explained_variance_ratio_)
    np.testing.assert_allclose(ax.lines[0].get_ydata()[-1], 1)
    spectral = lowdim.ClassicalMDS(2).fit(roll.X)
    np.testing.assert_allclose([b.get_height() for b in lowdim.plot.scree(spectral).patches], spectral.eigenvalues_)
    with pytest.raises(ValueError, match="must be fitted"):
        lowdim.plot.scree(lowdim.PCA())


def test_shepard(roll):
    ax = lowdim.plot.shepard(roll.X, roll.X[:, :2])
    x, y = ax.lines[0].get_data()
    assert len(x) == 80 * 79 // 2
    assert (y <= x + 1e-9).all()  # leaving a column out can only shorten
    x, y = lowdim.plot.shepard(roll.X, roll.X, max_pairs=100).lines[0].get_data()
    assert len(x) == 100
    np.testing.assert_allclose(x, y)
    assert (x > 0).all()
    with pytest.raises(ValueError, match="same number of rows; got 80 and 3"):
        lowdim.plot.shepard(roll.X, roll.X[:3])
    with pytest.raises(ValueError, match="at least 2 complete rows"):
        lowdim.plot.shepard(roll.X[:1], roll.X[:1])


def test_matplotlib_is_loaded_late_and_missed_politely(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'lowdim\[app\]'"):
        lowdim.plot.embedding(np.zeros((3, 2)))


def imputed(scale=True):
    X = lowdim.datasets.hide_cells(lowdim.datasets.swiss_roll(30, random_state=0).X, 0.1, random_state=0).X
    return lowdim.impute(X, 8, n_components=1, scale=scale, random_state=0)


def rims(ax):
    return [path.vertices[:-1] for c in ax.collections if hasattr(c, "set_verts") for path in c.get_paths()]


def test_imputation_draws_the_ellipses_of_rows():
    found = imputed()
    ellipses, holed = found.row_ellipses(0.9), ~found.observed.all(axis=1)
    ax = lowdim.plot.imputation(found, confidence=0.9, title="t")
    drawn = rims(ax)
    assert len(drawn) == 30
    order = np.concatenate([np.flatnonzero(~holed), np.flatnonzero(holed)])  # complete rows lie below
    for rim, row in zip(drawn, order, strict=True):
        gaps = rim - ellipses.centers[row]
        np.testing.assert_allclose(gaps.mean(axis=0), 0.0, atol=1e-9)
        distances = np.einsum("ij,jk,ik->i", gaps, np.linalg.inv(ellipses.covariances[row]), gaps)
        np.testing.assert_allclose(distances, distances[0])  # a line of equal density
    places = np.concatenate([c.get_offsets() for c in ax.collections if not hasattr(c, "set_verts")])
    np.testing.assert_allclose(places, ellipses.centers[order])
    assert ax.get_title() == "t"
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    inside = np.concatenate(drawn)
    assert ((inside >= [x0, y0]) & (inside <= [x1, y1])).all()


@pytest.mark.parametrize("scale", [True, False])
def test_imputation_draws_the_arrows_of_columns(scale):
    found = imputed(scale)
    ax = lowdim.plot.imputation(found, "columns", names=["length", "height", "depth"])
    assert len(rims(ax)) == 3
    assert {"length", "height", "depth"} <= {t.get_text() for t in ax.texts}
    assert any(len(line.get_xdata()) == 200 for line in ax.lines) is scale  # the unit circle
    assert {"x0", "x1", "x2"} <= {t.get_text() for t in lowdim.plot.imputation(found, "columns").texts}


def test_imputation_says_what_is_wrong():
    found = imputed()
    with pytest.raises(ValueError, match="of must be 'rows' or 'columns'; got 'cells'"):
        lowdim.plot.imputation(found, "cells")
    with pytest.raises(ValueError, match="names must have one name for each of the 3 columns; got 2"):
        lowdim.plot.imputation(found, "columns", names=["a", "b"])
