"""The choice of settings: known answers, ties, rounds within the budget, any table, bad input."""

import numpy as np
import pytest
from sklearn.manifold import Isomap as OtherIsomap

import lowdim
from lowdim._core.ranks.ranking import resampled
from lowdim.quality import rnx_auc
from lowdim.select import n_neighbors
from lowdim.select._rounds import Plan, checked_task, halve, ties_of
from lowdim.select.settings import candidates_of


def rows(n=150, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_scores_are_those_of_the_maps():
    X = rows()
    found = n_neighbors(X, lowdim.Isomap(n_components=2), grid=[6, 20])
    for value, score in zip(found.grid, found.score, strict=True):
        Z = lowdim.Isomap(n_components=2, n_neighbors=int(value)).fit_transform(X)
        assert score == pytest.approx(rnx_auc(X, Z), abs=1e-12)
    assert np.all((found.interval[:, 0] < found.score) & (found.score < found.interval[:, 1]))
    assert found.cost == 1


def test_neighbours_that_cut_through_a_roll_are_not_chosen():
    X = lowdim.datasets.swiss_roll(400, random_state=1).X
    found = n_neighbors(X, "isomap", question="along the data", grid=[7, 60])
    assert found.chosen == 7
    assert found.ties == (7,)
    assert found.estimator.get_params()["n_neighbors"] == 7


def test_of_settings_that_do_not_differ_the_smallest_is_chosen():
    """Kernels much wider than the data all give the map of PCA."""
    X = rows()
    found = n_neighbors(X, "kernel-pca", grid=[2000.0, 1000.0, 4000.0])
    assert found.parameter == "width"
    assert found.chosen == 1000
    assert found.ties == (1000, 2000, 4000)


def test_each_method_has_its_own_parameter():
    X = rows(60)
    for name, parameter in {
        "tsne": "perplexity",
        "t-SNE": "perplexity",
        "UMAP": "n_neighbors",
        "kernel_pca": "width",
        "DiffusionMaps": "width",
    }.items():
        given = [0.5, 20.0] if parameter == "width" else [5, 8]
        assert n_neighbors(X, name, grid=given).parameter == parameter
    assert n_neighbors(X, "laplacian-eigenmaps", parameter="width", grid=[0.5, 5.0]).parameter == "width"
    assert n_neighbors(X, OtherIsomap(), grid=[5, 9]).chosen in (5, 9)


def test_widths_are_in_the_unit_of_the_method():
    """The same kernels in another formula: the grids differ, the scores do not."""
    X = rows(80)
    one, other = (
        n_neighbors(X, lowdim.DiffusionMaps(convention=formula)) for formula in ("exp(-d2/s)", "exp(-d2/(2*s2))")
    )
    assert other.grid == pytest.approx(np.sqrt(one.grid / 2), rel=0.01)
    assert one.score == pytest.approx(other.score, abs=0.03)


@pytest.mark.parametrize("n", [3000, 5000, 20_000, 1_000_000])
@pytest.mark.parametrize("ordered", [True, False])
def test_rounds_stay_within_the_budget(n, ordered):
    scheme = Plan.of(n, 12, 0.2, 10_000, ordered=ordered)
    (first, many), (second, few) = scheme.rounds
    assert few < many <= 12
    assert 1000 <= first < second <= min(n, 10_000)
    if n >= 10_000 or (ordered and n >= 5000):
        assert scheme.mapped <= 0.2 * 12 * n


def test_few_rows_and_a_full_budget_mean_the_whole_grid():
    assert Plan.of(2000, 12, 0.2, 10_000, ordered=True).rounds == ((2000, 12),)
    assert Plan.of(9000, 12, 1.0, 10_000, ordered=True).rounds == ((9000, 12),)


def test_rounds_find_the_peak_between_the_settings_of_the_first_round(monkeypatch):
    """A measure that peaks at a setting that the first round leaves out."""
    from lowdim.select import _rounds

    def measured(question, source, maps, rng, **options):
        return np.arange(source.n), {
            name: np.full(source.n, -abs(float(name) - 8)) + 0.001 * np.arange(source.n) for name in maps
        }

    monkeypatch.setattr(_rounds, "row_measures", measured)
    task = checked_task(rows(100), "neighbours", None, "euclidean", 0, 1, "test")
    candidates = candidates_of(lowdim.Isomap(), "n_neighbors", range(5, 17))
    found = halve(task, candidates, Plan(((50, 6), (80, 3)), True))
    assert [len(each.ranking.values) for each in found] == [6, 3]
    assert "8" not in found[0].ranking.values
    assert found[1].ranking.best == "8"
    assert "8" in ties_of(found)
    assert "16" not in ties_of(found)


def test_intervals_by_resampling_cover():
    rng, covered = np.random.default_rng(0), 0
    blocks = np.repeat(np.arange(40), 10)
    for _ in range(150):
        _, low, high = resampled(rng.normal(size=40)[blocks] + 0.3 * rng.normal(size=400), blocks, rng)
        covered += low <= 0 <= high
    assert 0.90 <= covered / 150 <= 0.985


def test_a_setting_without_a_map_is_named():
    found = n_neighbors(rows(40), lowdim.Isomap(disconnected="error"), grid=[1, 10])
    assert found.chosen == 10
    assert np.isnan(found.score[0])
    assert list(found.failed) == [1]
    with pytest.raises(ValueError, match="none of the 1 candidates has a map; 1: Isomap"):
        n_neighbors(rows(40), lowdim.Isomap(disconnected="error"), grid=[1])


def test_the_same_every_time_and_for_any_number_of_threads():
    X = rows(120)
    one, two = (n_neighbors(X, "umap", grid=[5, 15], n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.score, two.score)
    assert np.array_equal(one.interval, two.interval)


def test_labels_distances_and_frames():
    X = np.concatenate([rows(40, 3), rows(40, 3, 1) + 3])
    y = np.repeat(["a", "b"], 40)
    assert n_neighbors(X, "isomap", question="labels", y=y, grid=[8]).score[0] > 0.9
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    given = n_neighbors(D, "isomap", metric="precomputed", question="distances", grid=[8, 12])
    assert given.score == pytest.approx(n_neighbors(X, "isomap", question="distances", grid=[8, 12]).score, abs=1e-6)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": X[:, 0], "kind": y})
    assert n_neighbors(frame, "isomap", metric="gower", grid=[8, 12]).chosen in (8, 12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "isomapp"}, "Did you mean 'isomap'"),
        ({"method": "pca"}, "PCA has none of them"),
        ({"method": 3}, "must be a name, an estimator or its class; got 3"),
        ({"question": "beauty"}, "question must be one of 'neighbours'"),
        ({"question": "labels"}, "y must have a label"),
        ({"question": "labels", "y": [1, 2]}, "for each of the 150 rows; got 2"),
        ({"grid": []}, "grid must be a list of positive numbers"),
        ({"grid": [5, -1]}, "grid must be a list of positive numbers"),
        ({"parameter": "perplexity"}, "parameter must be one of n_neighbors for UMAP"),
        ({"budget": 0}, "budget must be a number > 0"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        n_neighbors(rows(), **options)
