"""Charts of verdicts, ranks and stress: the right numbers at the right places, and errors that say the way."""

import matplotlib as mpl
import numpy as np
import pytest

import lowdim
from lowdim.trust import GroupTrust
from tests.plot.records import (
    CLASSES,
    DIMENSION,
    GROUPS,
    SPIRAL,
    STABILITY,
    STRUCTURE,
    TABLE,
    VERDICTS,
    covered,
    factors,
)

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_rings_are_around_the_rows_that_are_not_trusted():
    from matplotlib.legend import Legend

    ax = lowdim.plot.embedding(SPIRAL, CLASSES, verdict=VERDICTS)
    unsure, misplaced = ax.collections[-2:]
    np.testing.assert_allclose(unsure.get_offsets(), SPIRAL[VERDICTS == "unsure"])
    np.testing.assert_allclose(misplaced.get_offsets(), SPIRAL[VERDICTS == "misplaced"])
    np.testing.assert_allclose(misplaced.get_edgecolor()[0], [0, 0, 0, 1])
    assert len(misplaced.get_facecolor()) == 0  # hollow: the colour of the row is seen
    found = [texts(legend) for legend in ax.findobj(Legend)]
    assert ["first", "second", "third"] in found  # both legends stay
    assert ["misplaced (8)", f"unsure ({(VERDICTS == 'unsure').sum()})"] in found
    Z = SPIRAL[:40]
    record = lowdim.trust.rows(TABLE[:40], Z, random_state=0)
    ringed = sum(len(drawn.get_offsets()) for drawn in lowdim.plot.embedding(Z, verdict=record).collections[1:])
    assert ringed == record.counts["unsure"] + record.counts["misplaced"]
    assert len(lowdim.plot.embedding(SPIRAL, verdict=["trusted"] * 120).collections) == 1
    with pytest.raises(ValueError, match="verdict must be 'trusted', 'unsure' or 'misplaced' for each of the 120 rows"):
        lowdim.plot.embedding(SPIRAL, verdict=["good"] * 120)
    with pytest.raises(ValueError, match=r"with shape \(3,\)"):
        lowdim.plot.embedding(SPIRAL, verdict=["trusted"] * 3)


def test_coranking_of_an_exact_map_is_the_diagonal():
    ax = lowdim.plot.coranking(TABLE, 2 * TABLE, max_cells=1000)
    cells = ax.collections[0].get_array().reshape(119, 119)
    np.testing.assert_allclose(np.diag(cells), 119.0)  # all 120 pairs of a rank, where chance has 120 / 119 of them
    assert (cells[~np.eye(119, dtype=bool)] == 0.1).all()  # the lowest colour
    assert ax.yaxis_inverted()


def test_coranking_cells_hold_the_sums_of_their_ranks():
    q = lowdim.quality.coranking_matrix(TABLE, SPIRAL)
    cells = lowdim.plot.coranking(q, max_cells=7).collections[0].get_array().reshape(7, 7)
    relative = q.reshape(7, 17, 7, 17).sum(axis=(1, 3)) * 119 / (17 * 17 * 120)
    np.testing.assert_allclose(cells, np.maximum(relative, 0.1))
    nearer = q[60:, :30].sum() > q[:30, 60:].sum()
    assert (cells[4:, :2].sum() > cells[:2, 4:].sum()) == nearer  # ranks in the data go down, ranks in the map right
    with pytest.raises(ValueError, match=r"square co-ranking matrix, or rows with Z; got shape \(120, 4\)"):
        lowdim.plot.coranking(TABLE)


def test_stress_per_point_is_in_percent_and_names_the_worst_rows():
    model = lowdim.MDS(2, random_state=0, max_iter=30, n_init=1).fit(TABLE)
    ax = lowdim.plot.stress_per_point(model, most=3)
    y = ax.lines[0].get_ydata()
    np.testing.assert_allclose(y, 100 * np.sort(model.stress_per_point_)[::-1] / model.stress_per_point_.sum())
    np.testing.assert_allclose(y.sum(), 100)
    worst = np.argsort(-model.stress_per_point_)[:3]
    assert [text.get_text() for text in ax.texts[1:]] == [str(row) for row in worst]
    found = lowdim.quality.per_row(TABLE, SPIRAL)
    ax = lowdim.plot.stress_per_point(found, names=[f"row {i}" for i in range(120)], most=1)
    assert ax.texts[-1].get_text() == f"row {found['stress_share'].argmax()}"
    with pytest.raises(TypeError, match=r"found must be a fitted MDS, the result of quality.per_row.*got PCA"):
        lowdim.plot.stress_per_point(lowdim.PCA())
    with pytest.raises(ValueError, match="one share for each row, not negative"):
        lowdim.plot.stress_per_point([-1.0, 2.0])
    with pytest.raises(ValueError, match="names must have a name for each of the rows; got 2"):
        lowdim.plot.stress_per_point([0.1, 0.2, 0.7], names=["a", "b"])


def test_shepard_of_a_record_and_of_nothing():
    found = lowdim.quality.shepard(TABLE, SPIRAL)
    x, y = lowdim.plot.shepard(found).lines[0].get_data()
    np.testing.assert_allclose(x, found.distances)
    np.testing.assert_allclose(y, found.embedded)
    along = lowdim.quality.shepard(TABLE, SPIRAL, reference="geodesic")
    assert lowdim.plot.shepard(along, max_pairs=50).get_xlabel() == "distance in the data (geodesic)"
    with pytest.raises(ValueError, match="Z must be the embedding"):
        lowdim.plot.shepard(TABLE)


def test_biplot_arrows_have_the_directions_of_the_correlations():
    maps = factors()
    ax = lowdim.plot.biplot(maps)
    arrows = [text for text in ax.texts if text.arrow_patch is not None and not text.get_text()]
    ends = np.array([arrow.xy for arrow in arrows])
    truth = maps.variables.coordinates[:, :2]
    np.testing.assert_allclose(ends / np.linalg.norm(ends[0]), truth / np.linalg.norm(truth[0]), atol=1e-12)
    assert {"length", "breadth", "depth"} <= {text.get_text() for text in ax.texts}
    np.testing.assert_allclose(ax.collections[0].get_offsets(), maps.individuals.coordinates[:, :2])


def test_stability_by_row_and_by_group():
    ax = lowdim.plot.stability(STABILITY)
    assert sum(bar.get_height() for bar in ax.containers[0]) == 120
    assert ax.lines[0].get_xdata()[0] == pytest.approx(70)
    ax = lowdim.plot.stability(STABILITY, CLASSES)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["first", "second", "third"]  # the least stable at the bottom
    medians = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(medians, [100 * np.median(STABILITY.per_row[name == CLASSES]) for name in names])
    with pytest.raises(ValueError, match="labels"):
        lowdim.plot.stability(STABILITY, CLASSES[:5])


def test_dimension_over_scale():
    ax = lowdim.plot.dimension(DIMENSION)
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(x, [2, 4, 8, 16, 32])
    np.testing.assert_allclose(y, [value for value, _, _ in DIMENSION.curve.values()])
    band = ax.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (2.4, 6.5)
    assert "chosen: 3.1" in texts(ax.get_legend())


def test_groups_in_data_and_map():
    ax = lowdim.plot.groups(GROUPS)
    chance, data, shown = ax.lines[:3]
    np.testing.assert_allclose(data.get_xdata()[::-1], [98, 62, 70, np.nan])
    np.testing.assert_allclose(shown.get_xdata()[::-1], [100, 93, 74, np.nan])
    np.testing.assert_allclose(chance.get_xdata()[::-1], [33, 33, 33, np.nan])
    assert [text.get_text() for text in ax.get_yticklabels()][::-1][0] == "setosa (50)"
    verdicts = {text.xy[1]: text.get_text() for text in ax.texts}
    assert verdicts == {3: "holds together", 2: "torn", 1: "overlaps", 0: "too few rows"}


def test_distances_between_groups():
    ax = lowdim.plot.group_distances(GROUPS)
    drawn = {bar.get_label(): bar for bar in ax.containers}
    line, _, (interval,) = drawn["may be read: no"]
    assert line.get_xdata() == [2.1]
    np.testing.assert_allclose(interval.get_segments()[0][:, 0], [1.8, 2.5])
    ordered = [text.get_text() for text in ax.get_yticklabels()]
    assert ordered == ["setosa – virginica", "setosa – versicolor", "versicolor – virginica"]
    assert len(lowdim.plot.group_distances(GROUPS, most=1).get_yticklabels()) == 1  # the one farthest from 1
    with pytest.raises(ValueError, match="found must have pairs of groups"):
        lowdim.plot.group_distances(GroupTrust(GROUPS.table, []))


def test_structure_beside_noise():
    ax = lowdim.plot.structure(STRUCTURE)
    assert len(ax.lines) == 19 + 3
    np.testing.assert_allclose(ax.lines[19].get_ydata(), STRUCTURE.observed)
    assert ax.lines[20].get_xdata()[0] == 16
    assert texts(ax.get_legend()) == ["19 maps of noise", "map of the data", "stands out most; p = 0.05"]


def test_kernel_choice_draws_on_given_axes():
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    found = lowdim.select.kernel_width(
        lowdim.datasets.noisy_circle(60, random_state=0).X, ["rbf", "linear"], criterion="rnx"
    )
    assert lowdim.plot.kernel_choice(found, ax=ax, title="t") is ax
    assert ax.get_title() == "t"


def test_names_find_room_or_a_line_leads_to_them():
    import matplotlib.pyplot as plt

    from lowdim.plot._style import write_name

    ax = plt.figure(figsize=(4, 4)).add_axes((0, 0, 1, 1))
    ax.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[], yticks=[])
    ax.figure.draw_without_rendering()
    written = []
    for i in range(14):
        write_name(ax, f"name number {i}", (0.001 * i, 0), "black", written, keep=True)
    assert len(ax.texts) == 14
    assert covered(ax) == ([], [])
    assert sum(text.arrow_patch is not None for text in ax.texts) == 10  # four had room beside their points
    write_name(ax, "one more", (0, 0), "black", written)
    assert len(ax.texts) == 14  # without `keep` it is left out


def test_the_check_of_texts_can_fail():
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    ax.text(0.5, 0.5, "one")
    ax.text(0.5, 0.5, "other")
    ax.text(1.1, 0.5, "outside the figure", transform=ax.figure.transFigure)
    assert covered(ax) == ([("one", "other")], ["outside the figure"])
