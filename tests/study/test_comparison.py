"""Several methods on the same rows."""

import json
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import decomposition
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim import quality
from lowdim.study.methods import methods
from lowdim.study.verdict.against_noise import SLOW

compare = partial(lowdim.compare, verdict=False)  # for what a verdict has no part in: its maps of noise take most time


class Act(BaseEstimator):
    def __init__(self, act=None):
        self.act = act

    def fit_transform(self, X, y=None):
        return self.act(X)


def fail(X):
    raise RuntimeError("no luck")


@pytest.fixture(scope="module")
def roll():
    return lowdim.datasets.swiss_roll(120, random_state=0)


@pytest.fixture(scope="module")
def both(roll):
    return lowdim.compare(roll.X, roll.labels, ["pca", "isomap"], random_state=1)


def test_methods_then_the_baselines_that_are_missing(both):
    assert both.names == ["pca", "isomap", "random"]
    assert [row["baseline"] for row in both.table] == [True, False, True]
    assert compare(np.eye(8), methods=["isomap"]).names == ["isomap", "pca", "random"]


def test_scores_are_those_of_quality(roll, both):
    Z = lowdim.PCA(2, random_state=1).fit_transform(roll.X)
    np.testing.assert_allclose(both.embeddings["pca"], Z)
    row = both.table[0]
    assert row["auc"] == pytest.approx(quality.rnx_auc(roll.X, Z))
    assert row["trustworthiness"] == pytest.approx(quality.trustworthiness(roll.X, Z))
    assert row["continuity"] == pytest.approx(quality.continuity(roll.X, Z))
    assert row["knn_error"] == pytest.approx(quality.knn_error(Z, roll.labels))
    assert both.original_error == pytest.approx(quality.knn_error(roll.X, roll.labels))
    np.testing.assert_allclose(both.curves["pca"], quality.rnx_curve(roll.X, Z))
    np.testing.assert_allclose(both.per_row["pca"], quality.per_row(roll.X, Z)["auc"])


def test_area_is_the_mean_of_the_rows(both):
    for name, row in zip(both.names, both.table, strict=True):
        assert both.per_row[name].mean() == pytest.approx(row["auc"], abs=1e-12)


def test_random_baseline_is_near_zero():
    X = np.random.default_rng(0).normal(size=(400, 4))
    row = compare(X, methods=["pca"]).table[-1]
    assert row["method"] == "random"
    assert abs(row["auc"]) < 0.05


def test_raw_stress_only_where_the_map_has_a_scale(roll):
    rows = compare(roll.X, methods=["pca", "kernel-pca", decomposition.PCA(2)]).table
    assert rows[0]["normalized_stress"] > 0
    assert rows[1]["normalized_stress"] is None
    assert rows[2]["normalized_stress"] is None
    assert rows[2]["scale_optimal_stress"] == pytest.approx(rows[0]["scale_optimal_stress"])


def test_geodesic_reference_rewards_unrolling():
    roll = lowdim.datasets.swiss_roll(400, noise=0.0, random_state=0)
    unrolled = ("unrolled", Act(lambda X: roll.isometric_coordinates))
    ambient, geodesic = (
        {row["method"]: row["auc"] for row in compare(roll.X, methods=["pca", unrolled], reference=r).table}
        for r in ("ambient", "geodesic")
    )
    assert geodesic["unrolled"] > ambient["unrolled"] + 0.03
    assert geodesic["pca"] < ambient["pca"]
    assert geodesic["unrolled"] > geodesic["pca"] + 0.2


def test_reference_says_that_the_graph_was_disconnected(rng):
    X = np.concatenate([rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 50])
    c = compare(X, methods=["pca"], reference="geodesic", graph_neighbors=5)
    assert "2 connected components were joined by their shortest edges" in c.reference.text


def test_reference_can_be_other_rows(roll):
    c = compare(roll.X, methods=["pca"], reference=roll.isometric_coordinates)
    Z = c.embeddings["pca"]
    assert c.table[0]["auc"] == pytest.approx(quality.rnx_auc(roll.isometric_coordinates, Z))
    assert c.reference.name == "given"
    assert c.reference.rows is None


def test_incomplete_rows_are_held_against_expected_distances(roll, tmp_path):
    X = lowdim.datasets.hide_cells(roll.X, 0.05, random_state=0).X
    c = compare(X, methods=["pca", "isomap", "classical-mds", "kernel-pca", "ica", "truncated-svd"])
    assert c.reference.name == "expected"
    assert "5.0% of the cells are missing" in c.reference.text
    assert set(c.embeddings) == {"pca", "isomap", "classical-mds", "kernel-pca", "ica", "random"}
    assert "TruncatedSVD needs complete rows" in c.failures["truncated-svd"]
    complete = compare(roll.X, methods=["pca"])
    assert abs(c.table[0]["auc"] - complete.table[0]["auc"]) < 0.15
    assert c.table[0]["auc"] > c.table[-1]["auc"] + 0.2
    assert c.report(tmp_path / "page.html", data=X).stat().st_size > 10_000
    along = compare(X, methods=["isomap"], reference="geodesic")
    assert "expected Euclidean distances" in along.reference.text
    given = compare(X, methods=["pca"], reference=roll.X)
    assert given.reference.name == "given"
    with pytest.raises(ValueError, match="metric must be 'euclidean' if X has missing cells"):
        compare(X, metric="manhattan")
    X[7] = np.nan
    with pytest.raises(ValueError, match="compare: 1 row of X has no observed cell"):
        compare(X)


def test_failure_leaves_the_others_alone(roll):
    c = lowdim.compare(roll.X, methods=["pca", ("broken", Act(fail)), "isomap"])
    assert c.failures == {"broken": "RuntimeError: no luck"}
    assert list(c.embeddings) == ["pca", "isomap", "random"]
    row = c.table[1]
    assert (row["error"], row["auc"], row["rows_embedded"]) == ("RuntimeError: no luck", None, 0)
    assert "broken failed: RuntimeError: no luck" in repr(c)


def test_all_methods_may_fail(roll):
    c = lowdim.compare(roll.X, methods=[("broken", Act(fail))])
    assert list(c.embeddings) == ["pca", "random"]


def test_ctrl_c_stops_everything(roll):
    def stop(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lowdim.compare(roll.X, methods=[("stop", Act(stop)), "pca"])


def test_too_little_memory_is_a_failure_with_a_way_out(roll):
    c = compare(roll.X, methods=["pca", "isomap"], limit_memory="50kB")
    assert c.failures["isomap"].startswith("MemoryError: Isomap: this needs about")
    assert "n_landmarks" in c.failures["isomap"]


def test_scores_are_over_the_rows_every_method_placed(roll):
    def half(X):
        Z = X[:, :2].copy()
        Z[:50] = np.nan
        return Z

    c = lowdim.compare(roll.X, methods=["pca", ("half", Act(half))])
    assert c.rows_scored.sum() == 70
    assert [row["rows_embedded"] for row in c.table] == [120, 70, 120]
    assert "over the 70 of 120 rows" in c.notes[0]
    kept = roll.X[50:]
    assert c.table[1]["auc"] == pytest.approx(quality.rnx_auc(kept, kept[:, :2]))
    assert np.isnan(c.per_row["pca"][:50]).all()
    assert np.isfinite(c.per_row["pca"][50:]).all()


def test_different_widths_get_their_own_baselines_and_a_warning(roll):
    c = compare(roll.X, methods=["pca", ("three", decomposition.PCA(3))])
    assert c.names == ["pca", "three", "random-2d", "pca-3d", "random-3d"]
    assert [row["n_components"] for row in c.table] == [2, 3, 2, 3, 3]
    assert "different numbers of components (2, 3)" in c.notes[0]


def test_baselines_stand_with_the_width_they_have(roll):
    five = ("five", Act(lambda X: np.hstack([X, X[:, :2]])))
    c = compare(roll.X, methods=["pca", five], n_components=5)
    assert {row["method"]: row["n_components"] for row in c.table} == {
        "pca": 3, "five": 5, "random-3d": 3, "random-5d": 5,
    }  # fmt: skip
    note = "No PCA baseline with 5 components: 120 rows with 3 columns have at most 3 principal components."
    assert note in c.notes
    assert compare(roll.X, methods=[five]).names == ["five", "random"]


def test_no_baseline_is_run_twice(roll, monkeypatch):
    assert compare(roll.X, methods=[lowdim.PCA(2), lowdim.PCA(3)]).names == [
        "pca", "pca-2", "random-2d", "random-3d",
    ]  # fmt: skip
    monkeypatch.setattr(lowdim.PCA, "fit_transform", lambda self, X, y=None: fail(X))
    c = compare(roll.X, methods=["pca", "isomap"])
    assert c.names == ["pca", "isomap", "random"]
    assert list(c.failures) == ["pca"]


def test_methods_that_share_no_rows_are_scored_on_their_own(roll):
    def some(rows):
        def act(X):
            Z = np.full((len(X), 2), np.nan)
            Z[rows] = X[rows, :2]
            return Z

        return Act(act)

    c = lowdim.compare(
        roll.X, roll.labels, [("first", some(slice(0, 60))), ("last", some(slice(60, None)))], reference="geodesic"
    )
    assert "Each method is scored on the rows it embedded" in c.notes[0]
    own = quality.scores(roll.X[:60], roll.X[:60, :2], reference="geodesic")["auc"]
    assert c.scores["first"]["auc"] == pytest.approx(own)
    assert np.isfinite(c.per_row["first"]).sum() == 60
    assert c.rows_scored.all()
    assert c.original_error is None
    assert set(c.aligned()) == {"first", "last", "pca", "random"}


def test_rows_without_a_label_are_left_out_of_the_error(roll):
    y = roll.labels.astype(float)
    y[::3] = np.nan
    c = compare(roll.X, y, ["pca"])
    known = ~np.isnan(y)
    assert c.table[0]["knn_error"] == pytest.approx(quality.knn_error(c.embeddings["pca"][known], y[known]))
    assert c.original_error == pytest.approx(quality.knn_error(roll.X[known], y[known]))
    assert c.labels.classes == ["0", "1"]
    assert "40 of 120 rows have no label (label)" in c.notes[0]


def test_same_seed_same_numbers(roll):
    for settings in ({"verdict": False}, {"methods": ["pca"]}):  # all methods, and all that a verdict has
        first, again = (lowdim.compare(roll.X, roll.labels, random_state=5, **settings).to_dict() for _ in range(2))
        for found in (first, again):
            for row in found["methods"]:
                row.pop("seconds")
        assert first == again


def test_seed_is_always_a_number_that_repeats_the_run(roll):
    c = compare(roll.X, methods=["pca"], random_state=None)
    again = compare(roll.X, methods=["pca"], random_state=c.seed)
    np.testing.assert_array_equal(c.embeddings["random"], again.embeddings["random"])
    assert compare(roll.X, methods=["pca"], random_state=np.random.default_rng(3)).seed >= 0


def test_number_of_jobs_changes_nothing(roll):
    one, two = (lowdim.compare(roll.X, methods=["pca", "isomap"], n_jobs=j) for j in (1, 2))
    for name in one.names:
        np.testing.assert_array_equal(one.embeddings[name], two.embeddings[name])
        np.testing.assert_array_equal(one.curves[name], two.curves[name])


def test_input_is_not_changed(roll):
    X = roll.X.copy()
    X.setflags(write=False)
    lowdim.compare(X, roll.labels)
    np.testing.assert_array_equal(X, roll.X)


def in_place(X):
    X -= X.mean(axis=0)
    return X[:, :2]


@pytest.mark.parametrize(
    "method",
    [("m", Act(in_place)), decomposition.PCA(2, copy=False, svd_solver="full"), StandardScaler(copy=False)],
    ids=["own", "pca", "scaler"],
)
def test_a_method_that_works_in_place_changes_nobodys_rows(roll, method):
    X = np.ascontiguousarray(roll.X * [1, 5, 0.2] + 3)
    before = X.copy()
    clean = compare(X, methods=["pca", "isomap"])
    c = lowdim.compare(X, methods=[method, "pca", "isomap"])
    np.testing.assert_array_equal(X, before)
    for name in ("pca", "isomap"):
        assert c.scores[name]["auc"] == clean.scores[name]["auc"]
    assert X.flags.writeable


def test_writing_into_the_rows_is_that_methods_failure(roll):
    c = compare(roll.X.copy(), methods=[("m", Act(in_place)), "pca"])
    assert "read-only" in c.failures["m"]


def test_pipelines_run(roll):
    pipe = make_pipeline(StandardScaler(), lowdim.PCA(2))
    c = compare(roll.X, methods=[pipe])
    assert c.failures == {}
    Z = lowdim.PCA(2).fit_transform(StandardScaler().fit_transform(roll.X))
    np.testing.assert_allclose(c.embeddings["pipeline"], Z)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_in_and_out(roll, frame):
    c = compare(frame({"a": roll.X[:, 0], "b": roll.X[:, 1], "c": roll.X[:, 2]}), methods=["pca"])
    assert c.column_names == ["a", "b", "c"]
    assert frame(c.table).shape[0] == 2
    named = compare(roll.X, pd.Series(roll.labels, name="side"), ["pca"])
    assert named.labels.name == "side"


def test_undefined_scores_are_null_in_json_and_noted(roll):
    c = lowdim.compare(roll.X, methods=[("point", Act(lambda X: np.zeros((len(X), 2))))])
    assert np.isnan(c.scores["point"]["spearman"])
    assert c.to_dict()["methods"][0]["spearman"] is None
    json.dumps(c.to_dict(), allow_nan=False)
    assert "correlations are undefined" in c.notes[0]


def test_json_has_what_was_done(both):
    text = json.dumps(both.to_dict(), allow_nan=False)
    found = json.loads(text)
    assert found["methods"][0]["method"] == "pca"
    assert found["seed"] == 1
    assert set(found["versions"]) == {"lowdim", "python", "numpy", "scipy", "scikit-learn"}
    assert len(found["methods"][0]["rnx"]) == 118


def test_quantities_have_colours_but_no_error(roll):
    c = compare(roll.X, roll.coordinates[:, 0], ["pca"])
    assert c.table[0].get("knn_error") is None
    assert c.original_error is None


def test_text_of_a_comparison(both):
    text = repr(both)
    assert text.startswith("<Comparison: 3 methods, 120 rows x 3 columns -> 2, reference: ambient, seed 1>")
    assert "pca*" in text
    assert "random*" in text
    assert "* baseline" in text


def test_notebook_table_is_escaped(roll):
    c = compare(roll.X, methods=[("<script>alert(1)</script>", Act(fail)), "pca"])
    html = c._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_progress_is_called_before_every_step(roll):
    heard = []
    lowdim.compare(roll.X, methods=["pca"], progress=lambda *step: heard.append(step))
    assert list(dict.fromkeys(step for step, _, _ in heard)) == [
        "reference distances", "pca", "random", "scores", "maps of noise", "groups and dimension",
    ]  # fmt: skip
    assert all(done < total for _, done, total in heard)


def test_old_names_of_arguments_work_with_a_warning(roll):
    heard = []
    with pytest.warns(FutureWarning, match="compare: callback is now called progress"):
        compare(roll.X, methods=["pca"], callback=lambda *step: heard.append(step))
    assert heard
    with pytest.warns(FutureWarning, match="compare: n_neighbors is now called graph_neighbors"):
        c = compare(roll.X, methods=["pca"], reference="geodesic", n_neighbors=6)
    assert "6 nearest neighbours" in c.reference.text


def test_a_function_can_be_the_metric(roll):
    rows = roll.X[::3]

    def largest(x, y):
        return np.abs(x - y).max()

    named = compare(rows, methods=["pca"], metric="chebyshev")
    own = compare(rows, methods=["pca"], metric=largest)
    assert own.reference.text.startswith("largest distances")
    assert own.scores["pca"]["auc"] == pytest.approx(named.scores["pca"]["auc"], abs=1e-9)


def test_verbose_goes_to_the_error_stream(roll, capsys):
    compare(roll.X, methods=["pca"], verbose=1)
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "compare: pca\n" in seen.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": "ambiant"}, "'ambient', 'geodesic' or an array of 120 rows; got 'ambiant'"),
        ({"reference": np.eye(3)}, "reference must have 120 rows, as many as X; got 3"),
        ({"row_names": ["a"]}, "one name for each of the 120 rows; got 1"),
        ({"y": [1, 2]}, "one label for each of the 120 rows"),
        ({"X": np.ones((20, 3)), "y": None}, "X must have at least two different rows; all 20 are equal"),
        ({"reference": np.ones((120, 2))}, "reference must have at least two different rows"),
        ({"n_components": 0}, "n_components must be a whole number >= 1; got 0"),
        ({"n_components": None}, "n_components must be a whole number"),
        ({"random_state": -1}, "random_state"),
        ({"limit_memory": "lots"}, "limit_memory must be a positive size"),
    ],
)
def test_wrong_arguments(roll, change, message):
    with pytest.raises(ValueError, match=message):
        lowdim.compare(**{"X": roll.X, "methods": ["pca"], **change})


def test_maps_of_any_size_are_turned(roll):
    c = lowdim.compare(roll.X, methods=["pca", ("huge", Act(lambda X: X[:, [1, 0]] * 1e300))])
    assert np.isfinite(c.aligned()["huge"]).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_maps_are_turned_and_mirrored_to_lie_like_the_first(roll, sign):
    def turned(X):
        Z = lowdim.PCA(2).fit_transform(X)
        return 3 * Z @ np.array([[0.6, -0.8], [0.8, 0.6]]) * [1, sign] + 7

    c = compare(roll.X, methods=["pca", ("turned", Act(turned))])
    maps = c.aligned()
    np.testing.assert_allclose(maps["turned"], 3 * maps["pca"], atol=1e-8)


@pytest.mark.parametrize("method", list(methods().values()), ids=lambda method: method.name)
@pytest.mark.parametrize("table", ["numbers", "mixed"])
def test_every_method_by_name_is_compared(little_noise, method, table):
    """Whatever `compare` passes on (`verbose`, `random_state`, labels), every method takes, with categories too."""
    if not method.installed:
        pytest.skip(f"{method.package} is not installed")
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(40, 4))) * [1, 2, 3, 4]  # counts are not negative
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.arange(40) % 3)
    if table == "mixed":
        if method.needs == "counts" or method.name == "variance-filter":
            pytest.skip("it has no use for categories")
        sizes = np.array(list("SML"))[rng.integers(3, size=40)]
        frame = frame.assign(colour=np.array(["red", "green"])[np.arange(40) % 2], size=sizes)
    verdict = method.name not in SLOW  # those are fitted to noise too, which takes longer than a test may
    found = lowdim.compare(frame, "y", methods=[method.name], random_state=0, verbose=0, verdict=verdict)
    assert not found.failures
    assert np.isfinite(found.embeddings[method.name]).all()


def test_labels_reach_only_the_methods_that_need_them(roll):
    class Spy(Act):
        seen: ClassVar[list] = []

        def fit_transform(self, X, y=None):
            self.seen.append(y)
            return np.asarray(X)[:, :2]

    lowdim.compare(roll.X, roll.labels, methods=[Spy()])
    assert set(Spy.seen) == {None}  # once for the rows, again for noise
    without = compare(roll.X, methods=["lda", "cca", "rfe"])
    assert all("needs a label for each row" in text for text in without.failures.values())
    assert len(without.failures) == 3


def test_rows_without_a_label_are_placed_by_supervised_methods(rng):
    y = np.array(["a", "b", "c", None] * 20, dtype=object)
    X = rng.normal(size=(80, 4)) + 3 * (y == "a")[:, None]
    c = compare(X, y, methods=["lda"])
    known = np.array([label is not None for label in y])
    expected = lowdim.LDA(2).fit(X[known], y[known].astype(str)).transform(X)
    np.testing.assert_allclose(np.abs(c.embeddings["lda"]), np.abs(expected), atol=1e-8)
    assert any("lda saw the labels" in note for note in c.notes)


def test_a_variance_filter_after_standardising_is_refused(roll):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    wrong = make_pipeline(StandardScaler(), lowdim.ColumnSelection(2))
    c = compare(roll.X, methods=[("wrong", wrong), ("right", lowdim.ColumnSelection(2))])
    assert set(c.failures) == {"wrong"}
    assert "filter first" in c.failures["wrong"]


def test_maps_that_exist_are_scored_beside_the_others(roll):
    mine = roll.X[:, :2] * 7
    c = compare(roll.X, methods={"mine": mine, "first": "pca", "other": lowdim.PCA(2, scale=True)})
    assert list(c.embeddings) == ["mine", "first", "other", "random"]
    np.testing.assert_array_equal(c.embeddings["mine"], mine)
    short = compare(roll.X, methods={"short": mine[:5]})
    assert "one row for each of the" in short.failures["short"]


def test_the_same_map_is_named_once(roll):
    c = compare(roll.X, methods=["pca", "classical-mds", "isomap"])
    assert c.copies == {"classical-mds": "pca"}
    assert any("classical-mds is the same map as pca" in note for note in c.notes)


def test_all_means_all(roll):
    from lowdim.study.panel import every_method

    names = {method.name for method in methods().values() if method.installed}
    assert set(every_method(has_label=True).names) == names
    assert set(every_method(has_label=False).names) == {name for name in names if not methods()[name].target}


def test_distances_between_items(roll):
    from scipy.spatial.distance import pdist, squareform

    D = pd.DataFrame(squareform(pdist(roll.X)))
    D.index = D.columns = [f"item {i}" for i in range(len(D))]
    c = lowdim.compare(D, methods=["classical-mds", "mds", "pca"], metric="precomputed")
    rows = lowdim.compare(roll.X, methods=["classical-mds"])
    assert "PCA needs rows" in c.failures["pca"]
    assert c.row_names[1] == "item 1"
    assert c.scores["classical-mds"]["auc"] == pytest.approx(rows.scores["classical-mds"]["auc"], abs=1e-6)


def test_methods_in_the_place_of_labels_are_named(roll):
    with pytest.raises(TypeError, match=r"y must hold labels; got estimators. Pass them as methods=\[...\]"):
        lowdim.compare(roll.X, [lowdim.PCA(), lowdim.Isomap()])


def test_mca_of_numbers_says_what_it_does(rng):
    frame = pd.DataFrame({"a": rng.integers(3, size=40) + 0.5, "b": ["x", "y"] * 20, "c": list("pqrs") * 10})
    c = compare(frame, methods=["mca"])
    assert any("mca takes each value of the 1 columns of numbers for a category" in note for note in c.notes)


def test_an_estimator_with_fit_alone_gets_a_way_out(rng):
    class FitAlone:
        def fit(self, X):
            return X[:, :2]

    X = rng.normal(size=(20, 3))
    with pytest.raises(TypeError, match=r"It has fit alone: give the embedding that it fitted, such as \{'mine': Z\}"):
        lowdim.compare(X, methods={"theirs": FitAlone()})
    peer = type("TSNE", (FitAlone,), {"__module__": "openTSNE.tsne"})
    with pytest.raises(TypeError, match="Use the name 'opentsne'"):
        lowdim.compare(X, methods={"theirs": peer()})
