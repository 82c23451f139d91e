"""The choice of a kernel's width: known scales, one table of distances, both degenerate ends."""

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim import KernelPCA
from lowdim._core import kernels as catalogue
from lowdim._core.kernels import make_kernel
from lowdim.kernels import RBF, Polynomial, Precomputed, bandwidth
from lowdim.select import _kernel_criteria, kernel_width

matplotlib.use("Agg")
NAMES = getattr(catalogue, "NAMES", None) or catalogue._NAMES
# Feature-space errors do favour wide kernels, and say so; one test is about that.
pytestmark = pytest.mark.filterwarnings("ignore:kernel_width. the criterion of .* improves")


def harmonics(n=200, order=3, noise=0.1, seed=0):
    """A closed curve in 2 * order columns: two components of the right width tell where on it a row is, not PCA's."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    clean = np.column_stack([f(j * t) for j in range(1, order + 1) for f in (np.cos, np.sin)])
    return clean + noise * rng.standard_normal(clean.shape)


@pytest.mark.parametrize("criterion", ["reconstruction", "rnx"])
def test_the_scale_of_a_curve_is_found(criterion):
    """Turns of the curve that come near each other are about 2 apart, rows along it far less: the width is between."""
    found = kernel_width(harmonics(), criterion=criterion, n_folds=3)
    assert 0.5 < found.width < 1.7
    assert found.width < 0.6 * found.curve.median
    assert found.kernel == RBF(found.gamma)
    ends = found.curve.mean[[0, -1]]
    if criterion == "rnx":
        assert found.score > 1.2 * ends.max()
    else:
        assert found.score < 0.6 * ends.min()


WIDE = [name for name in ("rbf", "laplacian", "rational-quadratic", "matern") if name in NAMES]


@pytest.mark.parametrize("name", WIDE)
def test_values_from_distances_are_those_of_the_kernel(name):
    """Two roads to one matrix: this module's, from a table of distances, and the kernel's own."""
    X = harmonics(30)
    kernel = make_kernel(name, X, gamma=0.3)
    assert _kernel_criteria.has_width(kernel)
    np.testing.assert_allclose(_kernel_criteria.values(kernel, _kernel_criteria.Distances(X)), kernel(X), atol=1e-13)


def test_twice_the_data_is_twice_the_width():
    X = harmonics(100)
    one, two = (kernel_width(f * X, criterion="rnx") for f in (1.0, 2.0))
    np.testing.assert_allclose(two.curve.widths, 2 * one.curve.widths)
    np.testing.assert_allclose(two.curve.scores, one.curve.scores, atol=1e-9)


def test_labels_choose_the_width_that_separates_spheres():
    shells = lowdim.datasets.concentric_spheres(200, random_state=0)
    found = kernel_width(shells.X, ["rbf", "linear", Polynomial(5)], y=shells.labels, n_folds=4)
    assert found.criterion == "labels"
    assert found.name == "rbf"
    assert found.score < 0.04
    assert found.curves["linear"].mean[0] > 0.15
    assert found.table[0]["kernel"] == "rbf"
    assert found.table[0]["score"] == found.score
    assert "rbf" in repr(found)
    assert "Polynomial(degree=5" in found._repr_html_()


def test_distances_are_measured_once(monkeypatch):
    calls = []

    def counted(X, Y=None, metric="euclidean", **options):
        calls.append(metric)
        return measured(X, Y, metric, **options)

    measured = _kernel_criteria.pairwise
    monkeypatch.setattr(_kernel_criteria, "pairwise", counted)
    X = harmonics(60)
    found = kernel_width(X, criterion="feature_error", n_components=8)
    assert calls == ["euclidean"]
    assert len(found.curve.widths) == 17
    calls.clear()
    kernel_width(X, ["rbf", "laplacian", "linear"], criterion="rnx")
    assert sorted(calls) == ["euclidean", "manhattan"]


def test_ranks_of_the_data_are_found_once(monkeypatch):
    calls = []
    of_each = _kernel_criteria.Ranks.of_each
    monkeypatch.setattr(_kernel_criteria.Ranks, "of_each", lambda *a, **k: calls.append(1) or of_each(*a, **k))
    found = kernel_width(harmonics(60), criterion="rnx")
    assert calls == [1]
    Z = KernelPCA(2, kernel=found.kernel).fit_transform(harmonics(60))
    assert found.score == pytest.approx(float(lowdim.quality.rnx_auc(harmonics(60), Z)), abs=0.01)


@pytest.mark.parametrize("way", ["ridge", "distance", "fixed_point"])
def test_scores_are_those_of_the_estimator(way):
    """The short cut through one table of distances and KernelPCA itself, on the same folds."""
    X = harmonics(60)
    found = kernel_width(X, widths=[1.0], n_components=4, n_folds=3, preimage=way, criterion="reconstruction")
    features = kernel_width(X, widths=[1.0], n_components=4, n_folds=3, criterion="feature_error")
    folds = [np.sort(f) for f in np.array_split(np.random.default_rng(0).permutation(60), 3)]
    for i, held in enumerate(folds):
        stay = np.setdiff1d(np.arange(60), held)
        model = KernelPCA(4, width=1.0, preimage=way).fit(X[stay])
        found_again = model.inverse_transform(model.transform(X[held]))
        error = ((found_again - X[held]) ** 2).sum() / ((X[held] - X[stay].mean(axis=0)) ** 2).sum()
        assert found.curve.scores[0, i] == pytest.approx(error, rel=1e-5)
        whole = KernelPCA(1, kernel=RBF(0.5)).fit(X[stay])
        total = whole.row_error(X[held]).sum() + (whole.transform(X[held]) ** 2).sum()
        assert features.curve.scores[0, i] == pytest.approx(model.row_error(X[held]).sum() / total, rel=1e-7)


def test_the_grid_is_two_decades_about_the_median_rule():
    X = harmonics(80)
    found = kernel_width(X, criterion="feature_error", n_components=10).curve
    np.testing.assert_allclose(found.gammas[[0, 8, -1]], bandwidth(X) * np.array([100, 1, 0.01]))
    assert found.median == pytest.approx(np.sqrt(1 / (2 * bandwidth(X))))
    laplace = kernel_width(X, "laplacian", criterion="feature_error", n_components=10).curve
    assert laplace.median == pytest.approx(1 / bandwidth(X, metric="manhattan", power=1))
    assert np.all(np.diff(found.widths) > 0)
    given = kernel_width(X, widths=[3.0, 1.0], criterion="feature_error", n_components=10).curve
    np.testing.assert_allclose(given.widths, [1.0, 3.0])
    np.testing.assert_allclose(given.gammas, [0.5, 1 / 18])


def test_both_ends_are_flagged_and_said():
    X = load_digits().data[:120]
    with pytest.warns(UserWarning, match="improves towards the wide end.*nearly equal"):
        found = kernel_width(X, criterion="feature_error", n_components=5)
    ends = found.curve.degenerate
    assert ends[0] == "narrow"
    assert ends[-1] == "wide"
    assert list(ends) == sorted(ends, key=["narrow", "", "wide"].index)
    assert ends[found.curve.best] == ""
    with pytest.warns(UserWarning, match="every width of 'rbf' is at the narrow end"):
        kernel_width(X, widths=[1e-3, 1e-2], criterion="feature_error")
    with pytest.warns(UserWarning, match="every width of 'rbf' is at the wide end"):
        kernel_width(X, widths=[1e4], criterion="feature_error")


def test_a_circle_is_not_degenerate_though_its_first_eigenvalues_are_equal():
    X = lowdim.datasets.noisy_circle(200, noise=0.02, random_state=0).X
    X = np.vstack([X, -X, X @ [[0, 1], [-1, 0]], X @ [[0, -1], [1, 0]]])  # as even as a circle
    model = KernelPCA(2, gamma=1.0).fit(X)
    assert model.eigenvalues_[0] / model.eigenvalues_[1] < 1.1
    assert _kernel_criteria.degenerate(RBF(1.0)(X)) == ""
    assert _kernel_criteria.degenerate(np.eye(50)) == "narrow"
    assert _kernel_criteria.degenerate(np.ones((50, 50))) == "wide"


def test_the_same_every_time_and_for_any_number_of_threads():
    X = harmonics(80)
    first = kernel_width(X, criterion="reconstruction", preimage="distance", n_components=6, n_jobs=1)
    for n_jobs in (1, 2, 3):
        again = kernel_width(X, criterion="reconstruction", preimage="distance", n_components=6, n_jobs=n_jobs)
        np.testing.assert_array_equal(again.curve.scores, first.curve.scores)
    other = kernel_width(X, criterion="reconstruction", preimage="distance", n_components=6, random_state=1)
    assert (other.curve.scores != first.curve.scores).any()


def test_many_rows_are_sampled():
    found = kernel_width(harmonics(300), criterion="rnx", max_rows=100)
    assert found.n_rows == 100
    assert "on 100 rows" in repr(found)


def test_the_picture():
    choice = kernel_width(harmonics(60), ["rbf", "laplacian", "linear"], criterion="rnx")
    ax = choice.plot()
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["rbf", "laplacian", "linear (as given)"]
    assert kernel_width(harmonics(30), "linear", criterion="rnx").plot().lines
    matplotlib.pyplot.close("all")


def test_bad_input_is_refused_with_the_rule():
    X = harmonics(40)
    for settings, words in (
        ({"kernel": "nonsense"}, "kernel must be one of"),
        ({"kernel": []}, "kernel must be a name, a kernel object or a list"),
        ({"kernel": ["rbf", "rbf"]}, "listed once; got rbf twice"),
        ({"kernel": Precomputed()}, "a function of rows"),
        ({"criterion": "best"}, "criterion must be one of 'reconstruction'"),
        ({"criterion": "labels"}, "y must have a label for each row"),
        ({"y": [1, 2]}, "a label for each of the 40 rows; got"),
        ({"y": np.zeros(40)}, "y must have at least two classes; got one"),
        ({"widths": [1.0, -1.0]}, "widths must be positive"),
        ({"widths": []}, "widths must be positive"),
        ({"n_folds": 1}, "n_folds must be a whole number >= 2"),
        ({"n_folds": 41}, "n_folds must be at most the number of rows, 40"),
        ({"n_components": 0}, "n_components must be"),
        ({"preimage": "guess"}, "preimage must be one of"),
        ({"kernel": "laplacian", "preimage": "distance"}, "preimage='distance' must go with"),
    ):
        with pytest.raises(ValueError, match=f"kernel_width: .*{words}"):
            kernel_width(X, **settings)
    with pytest.raises(ValueError, match="must have at least two different rows; all 10 are equal"):
        kernel_width(np.ones((10, 3)))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="missing values"):
        kernel_width(X)
    with pytest.raises(ValueError, match="minimum of 4"):
        kernel_width(np.eye(3))


@pytest.mark.filterwarnings("ignore:kernel_width. ")
def test_awkward_rows():
    """Copies, constant columns, few rows, huge and tiny units: finite scores everywhere."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat(rng.standard_normal((10, 2)), 3, axis=0), np.full(30, 5.0)])
    for rows in (X, 1e100 * X, 1e-100 * X, X[:5], X.astype(np.float32), 1e6 + X):
        for criterion in ("reconstruction", "feature_error", "rnx"):
            found = kernel_width(rows, criterion=criterion, n_components=3, n_folds=2, preimage="distance")
            assert np.isfinite(found.curve.scores).all()
    assert np.isfinite(kernel_width(X, criterion="reconstruction", n_folds=2).score)
    found = kernel_width(X, y=np.arange(30) // 3, n_folds=3)
    assert np.isfinite(found.score)
