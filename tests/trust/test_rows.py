"""Verdicts on rows: calibration on noise, planted intruders, identities and bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import lowdim
from lowdim.quality.row_curves import row_curves, scales_of
from lowdim.trust.null import null_table
from lowdim.trust.rows import p_values, q_values, share_as_good

FAST = {"PCA": lowdim.PCA(n_components=2), "Isomap": lowdim.Isomap(n_components=2, n_neighbors=8)}
SLOW = {
    "TSNE": lowdim.TSNE(n_components=2, perplexity=20),
    "UMAP": lowdim.UMAP(n_components=2),
}


def noise(seed, n=150, d=6):
    return np.random.default_rng(seed).standard_normal((n, d))


def clusters(seed=0, size=60, d=8, shift=6.0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.standard_normal((size, d)) + shift * step for step in (-1, 0, 1)])


def trusted(model, seeds):
    found = [lowdim.trust.rows(noise(s), model.fit_transform(noise(s)), estimator=model, random_state=s) for s in seeds]
    return np.mean([(each.verdict == "trusted").mean() for each in found])


@pytest.mark.parametrize("name", FAST)
def test_of_noise_about_five_in_a_hundred_are_trusted(name):
    assert 0.03 <= trusted(FAST[name], range(8)) <= 0.07


@pytest.mark.deep
@pytest.mark.parametrize("name", [*FAST, *SLOW])
def test_of_noise_five_in_a_hundred_are_trusted(name):
    assert 0.04 <= trusted((FAST | SLOW)[name], range(40)) <= 0.06


def test_rows_of_separate_groups_are_trusted_at_the_scale_of_the_groups():
    X = clusters()
    model = lowdim.PCA(n_components=2)
    found = lowdim.trust.rows(X, model.fit_transform(X), estimator=model, random_state=0)
    assert (found.verdict == "trusted").mean() > 0.9
    assert np.median(found.scale) >= 16  # within a group, two columns show little of eight


@pytest.mark.filterwarnings("ignore:Isomap. the neighbour graph has 3 components")
@pytest.mark.parametrize("name", [*FAST, "TSNE"])
def test_rows_moved_into_another_group_are_found(name):
    model = (FAST | SLOW)[name]
    X = clusters()
    Z = model.fit_transform(X)
    moved = np.arange(5)
    Z[moved] = Z[130:135] + 1e-3
    found = lowdim.trust.rows(X, Z, estimator=model, n_null=2, random_state=0)
    assert set(found.verdict[moved]) == {"misplaced"}
    assert roc_auc_score(np.isin(np.arange(len(X)), moved), found.p_values) >= 0.95
    assert all(len(found.false_neighbors[row]) >= 10 for row in moved)
    assert all(set(found.false_neighbors[row]) <= set(range(120, 180)) | set(moved) for row in moved)


def interpolated(seed):
    """Groups with five rows half way between the first two, and which these are."""
    X, planted = clusters(seed), np.arange(0, 60, 12)
    t = np.random.default_rng(seed).uniform(0.4, 0.6, (5, 1))
    X[planted] = (1 - t) * X[planted] + t * X[planted + 60]
    return X, planted


@pytest.mark.parametrize("seed", [0, 1])
def test_rows_between_groups_that_a_map_hides_in_one_are_found(seed):
    """t-SNE itself shows them between the groups, where they belong; put among the rows of one group they stand out."""
    X, planted = interpolated(seed)
    Z = lowdim.TSNE(n_components=2, perplexity=20, random_state=0).fit_transform(X)
    others = np.setdiff1d(np.arange(60), planted)
    one, two = Z[others].mean(axis=0), Z[60:120].mean(axis=0)
    along = (Z[planted] - one) @ (two - one) / ((two - one) @ (two - one))
    assert np.all((along > 0.2) & (along < 0.8))
    shown = lowdim.trust.rows(X, Z, random_state=0).isolation
    assert shown[planted].max() < 1.1
    Z[planted] = Z[others[7::9][:5]] + 1e-3 * Z.std()
    hidden = lowdim.trust.rows(X, Z, random_state=0).isolation
    assert roc_auc_score(np.isin(np.arange(len(X)), planted), hidden) >= 0.95


def test_isolation_does_not_depend_on_units_and_is_1_of_the_data_itself():
    X = noise(0)
    assert np.allclose(lowdim.trust.rows(X, 7 * X, random_state=0).isolation, 1)
    copies = np.repeat(X[:8], 20, axis=0)
    assert np.allclose(lowdim.trust.rows(copies, copies, n_neighbors=5, random_state=0).isolation, 1)
    along = lowdim.trust.rows(X, X, reference="geodesic", random_state=0)
    assert np.all(along.isolation > 0)


def test_a_perfect_map_is_trusted_everywhere():
    X = noise(0, d=2)
    found = lowdim.trust.rows(X, X, estimator=lowdim.PCA(n_components=1), random_state=0)
    assert set(found.verdict) == {"trusted"}
    assert np.all(found.statistic == 1)
    assert not any(len(each) for each in found.false_neighbors)


def test_without_an_estimator_rows_are_compared_with_random_places():
    X = clusters()
    found = lowdim.trust.rows(X, lowdim.PCA(n_components=2).fit_transform(X), random_state=0)
    assert found.against == "rows placed at random"
    assert (found.verdict == "trusted").mean() > 0.9
    shuffled = [lowdim.trust.rows(noise(s), noise(s + 100, d=2), random_state=s) for s in range(6)]
    assert 0.02 < np.mean([(each.verdict == "trusted").mean() for each in shuffled]) < 0.08


def test_same_seed_same_verdicts():
    X, model = clusters(), lowdim.PCA(n_components=2)
    Z = model.fit_transform(X)
    one, two = (lowdim.trust.rows(X, Z, estimator=model, random_state=3, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.p_values, two.p_values)


def test_p_values_by_hand():
    null = np.array([[0.1, 0.9], [0.5, 0.2], [0.3, 0.4]])
    shares = share_as_good(np.array([[0.4, 0.3]]), null)
    assert shares == pytest.approx(np.array([[2 / 4, 3 / 4]]))
    assert p_values(shares, share_as_good(null, null)) == pytest.approx([3 / 4])


def test_q_values_are_those_of_scipy():
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(0).random(50) ** 2
    assert q_values(p) == pytest.approx(false_discovery_control(p))


def test_estimated_curves_are_close_to_exact_ones(monkeypatch):
    from lowdim._core.ranks.reference import euclidean
    from lowdim.quality import row_curves as module

    X = clusters(size=200)
    Z = X[:, :2]
    source, rng = euclidean(X, "ambient"), np.random.default_rng(0)
    exact = row_curves(X, source, {"Z": Z}, rng=rng)["Z"]
    monkeypatch.setattr(module, "EXACT_UP_TO", 100)
    monkeypatch.setattr(module, "SAMPLED", 300)
    found = row_curves(X, source, {"Z": Z}, rng=rng)["Z"]
    small = exact.scales <= 90
    assert np.array_equal(found.values[:, small], exact.values[:, small])
    assert np.abs(found.values.mean(axis=0) - exact.values.mean(axis=0)).max() < 0.02
    assert np.corrcoef(found.values[:, ~small].ravel(), exact.values[:, ~small].ravel())[0, 1] > 0.85


@pytest.mark.parametrize("n", [3, 5, 9, 100, 5000])
def test_scales_double_and_stay_below_half(n):
    scales = scales_of(n)
    assert scales[0] >= 1
    assert scales[-1] <= max(1, n / 2)
    assert np.all(np.diff(scales) > 0)
    assert np.all(scales[1:] <= 2 * scales[:-1])


def test_nulls_keep_what_they_promise():
    import pandas
    import polars
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(40.0), np.arange(40.0) % 7])
    X[3, 1] = np.nan
    shuffled = null_table(X, "permuted", rng, "test")
    assert np.array_equal(np.sort(shuffled, axis=0), np.sort(X, axis=0), equal_nan=True)
    assert abs(np.corrcoef(shuffled[:, 0], X[:, 0])[0, 1]) < 0.5
    frame = pandas.DataFrame({"a": list("xyz") * 4, "b": range(12)}).astype({"a": "category"})
    for given in (frame, polars.DataFrame({"a": list("xyz") * 4, "b": range(12)})):
        made = null_table(given, "permuted", rng, "test")
        assert type(made) is type(given)
        assert sorted(made["b"]) == sorted(given["b"])
        assert sorted(made["a"]) == sorted(given["a"])
        assert list(made["b"]) != list(given["b"])
    table = sparse.csr_array(np.where(rng.random((30, 5)) < 0.3, rng.random((30, 5)), 0.0))
    made = null_table(table, "permuted", rng, "test")
    assert np.allclose(np.sort(made.toarray(), axis=0), np.sort(table.toarray(), axis=0))
    for shape in ((40, 3), (40, 39), (12, 30)):
        given = np.random.default_rng(1).random(shape) * np.arange(1, shape[1] + 1)
        made = null_table(given, "gaussian", rng, "test")
        assert made.mean(axis=0) == pytest.approx(given.mean(axis=0))
        assert np.cov(made.T) == pytest.approx(np.cov(given.T))
        assert not np.allclose(made, given)


def test_distances_are_shuffled_too():
    X = clusters(size=20)
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    model = lowdim.ClassicalMDS(n_components=2, metric="precomputed")
    found = lowdim.trust.rows(D, model.fit_transform(D), estimator=model, metric="precomputed", random_state=0)
    assert (found.verdict == "trusted").mean() > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"null": "shuffled"}, "null must be one of 'auto', 'permuted', 'gaussian'"),
        ({"level": 5}, "level must be a share between 0 and 1"),
        ({"n_null": 0}, "n_null must be a whole number >= 1 or None"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        lowdim.trust.rows(noise(0), noise(0)[:, :2], **options)


def test_gaussian_noise_needs_numbers():
    X = noise(0)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="Use null='permuted'"):
        null_table(X, "gaussian", np.random.default_rng(0), "trust.rows")


def test_an_exact_map_of_flat_noise_is_trusted_though_noise_is_mapped_as_well():
    X, model = noise(0, d=2), lowdim.PCA(n_components=2)
    found = lowdim.trust.rows(X, model.fit_transform(X), estimator=model, random_state=0)
    assert found.p_values.min() > 0.9
    assert set(found.verdict) == {"trusted"}


def test_noise_has_no_row_of_missing_cells_alone():
    """Shuffled columns would leave rows with nothing known, which no method takes."""
    rng = np.random.default_rng(0)
    X = np.full((200, 3), np.nan)
    X[np.arange(200), rng.integers(0, 3, 200)] = rng.normal(size=200)  # one known cell in each row
    for table in (X, pd.DataFrame(X), pl.DataFrame(X)):
        made = np.asarray(null_table(table, "permuted", rng, "test"))
        assert np.isfinite(made).any(axis=1).all()
        for before, after in zip(X.T, made.T, strict=True):
            np.testing.assert_array_equal(np.sort(before), np.sort(after))
