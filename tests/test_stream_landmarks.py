"""Methods on landmarks choose these among all rows of a stream: Dask, Arrow, mapped files and generators."""

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from sklearn.base import clone

import lowdim
from lowdim._core.landmarks.in_stream import Cover, Pick

RNG = np.random.default_rng(0)
ROLL = lowdim.datasets.swiss_roll(3000, random_state=0).X
FAR = np.array([60.0, 5.0, 0.0]) + 0.1 * RNG.normal(size=(3, 3))  # three rows that a sample of 300 hardly has
ROWS = np.concatenate([ROLL[:2000], FAR, ROLL[2000:]])
SAMPLE = 300
METHODS = [
    lowdim.Isomap(2, n_landmarks=60, random_state=0),
    lowdim.LandmarkMDS(2, n_landmarks=60, landmarks="farthest", random_state=0),
    lowdim.LandmarkMDS(2, n_landmarks=60, random_state=0),
    lowdim.KernelPCA(2, n_landmarks=60, landmarks="kmeans++", random_state=0),
    lowdim.LaplacianEigenmaps(2, n_landmarks=60, random_state=0),
    lowdim.DiffusionMaps(2, n_landmarks=60, random_state=0),
]


def streams(X):
    yield "dask", da.from_array(X, chunks=(700, 2))
    yield "arrow", ds.dataset(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}))
    yield "generator", (X[i : i + 450] for i in range(0, len(X), 450))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", METHODS, ids=str)
def test_landmarks_are_chosen_among_all_rows(model):
    for name, X in streams(ROWS):
        with lowdim.config(sample_rows=SAMPLE):
            found = clone(model).fit(X)
        numbers = found.sample_indices_
        assert len(numbers) <= SAMPLE + 60, name
        assert (np.diff(numbers) > 0).all()
        marks = found.basis_ if isinstance(model, lowdim.KernelPCA) else found.landmarks_
        marks = marks if len(getattr(found, "embedding_", ())) == len(ROWS) else numbers[marks]
        assert len(marks) == 60
        by_distance = getattr(model, "landmarks", "farthest") != "random"
        if by_distance:
            assert np.isin(marks, [2000, 2001, 2002]).any(), name
        Z = found.transform(ROWS)
        assert np.isfinite(Z).all()
        if name == "dask":
            np.testing.assert_allclose(found.transform(X).compute(), Z, atol=1e-8)


@pytest.mark.parametrize(
    ("chunks", "dtype"), [((3000, 3), np.float64), ((700, 2), np.float32), (((0, 1500, 1500), 3), np.float64)], ids=str
)
def test_paths_of_isomap_run_through_all_rows(chunks, dtype, tmp_path):
    """As in memory with the same landmarks; new rows are placed by the paths of the rows that are kept."""
    rows = ROLL.astype(dtype)
    X = da.from_array(rows, chunks=chunks)
    model = lowdim.Isomap(2, n_landmarks=60, random_state=0)
    with lowdim.config(sample_rows=SAMPLE):
        found = clone(model)
        Z = found.fit_transform(X)
    wanted = clone(model)
    wanted._marked = type("Given", (), {"positions": found.landmarks_, "__len__": lambda self: 60})()
    wanted._fit_table(rows)
    assert found.recall_ == 1
    assert Z.shape == found.embedding_.shape == (3000, 2)
    size = np.abs(wanted.embedding_).max()
    np.testing.assert_allclose(Z.compute(), wanted.embedding_, atol=1e-4 * size)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-4)
    kept = found.sample_indices_
    np.testing.assert_allclose(found.transform(rows[kept]), found.embedding_[kept], atol=1e-4 * size)
    placed = found.transform(X).compute()
    assert np.sqrt(np.square(placed - wanted.embedding_).mean()) < 0.03 * size
    assert found.residual_variance_[-1] == pytest.approx(wanted.residual_variance_[-1], abs=0.01)
    assert found.inverse_transform(placed[:5]).shape == (5, 3)
    lowdim.save(found, tmp_path / "model.lowdim")
    np.testing.assert_array_equal(
        lowdim.load(tmp_path / "model.lowdim").transform(rows[:50]), found.transform(rows[:50])
    )


@pytest.mark.filterwarnings("ignore:.*short circuits")
def test_a_graph_that_does_not_fit_is_that_of_a_sample():
    X = da.from_array(ROLL, chunks=(700, 3))
    with (
        lowdim.config(sample_rows=SAMPLE, memory_limit="4MB"),
        pytest.warns(UserWarning, match="the rows between them are a random sample"),
    ):
        found = lowdim.Isomap(2, n_landmarks=60, random_state=0).fit(X)
    assert len(found.embedding_) <= SAMPLE + 60


def test_groups_apart_are_joined_and_counted():
    X = np.concatenate([ROLL[:800], ROLL[800:1600] + 200])
    with lowdim.config(sample_rows=SAMPLE), pytest.warns(UserWarning, match="2 components; they were joined"):
        found = lowdim.Isomap(2, n_landmarks=60, random_state=0).fit(da.from_array(X, chunks=(500, 3)))
    assert found.n_components_graph_ == 2
    assert np.bincount(found.component_labels_).tolist() == [800, 800]
    assert np.isfinite(found.transform(X)).all()


def test_kernel_pca_sums_over_all_rows():
    """Nystrom's axes are those of a fit in memory to the same landmarks: eigenvalues, centre and scores."""
    X = da.from_array(ROWS, chunks=(700, 3))
    model = lowdim.KernelPCA(3, n_landmarks=80, gamma=0.01, random_state=0)
    with lowdim.config(sample_rows=SAMPLE):
        found = clone(model).fit(X)
    marks = found.sample_indices_[found.basis_]
    order = np.concatenate([marks, np.setdiff1d(np.arange(len(ROWS)), marks)])
    wanted = clone(model)
    wanted._marked = type("Given", (), {"positions": np.arange(80), "blocks": None})()
    wanted._fit_table(ROWS[order])
    del wanted._marked
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(found.explained_variance_ratio_, wanted.explained_variance_ratio_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(found.transform(ROWS)), np.abs(wanted.transform(ROWS)), atol=1e-7)


def test_diffusion_maps_count_all_rows():
    """A landmark stands for the rows that are nearest to it: the walk has their density."""
    dense = np.concatenate([ROLL[:1500], np.repeat(ROLL[1500:1510], 60, axis=0) + 0.01 * RNG.normal(size=(600, 3))])
    model = lowdim.DiffusionMaps(2, n_landmarks=60, alpha=0, random_state=0)
    with lowdim.config(sample_rows=SAMPLE):
        found = clone(model).fit(da.from_array(dense, chunks=(500, 3)))
    rows = found._rows
    near = np.square(dense[:, None, :] - rows).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(_counts(model, dense, rows), np.bincount(near, minlength=len(rows)))


def _counts(model, X, rows):
    from lowdim._core.landmarks.in_stream import nearest_counts

    return sum(nearest_counts(X[i : i + 400], rows, "euclidean", "DiffusionMaps") for i in range(0, len(X), 400))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", ["random", "farthest", "kmeans++"])
def test_a_stream_covers_nearly_as_well_as_all_rows_at_once(method):
    pick = Pick(40, method, "euclidean", 100, 0, "test")
    covers = [Cover.of(ROWS[i : i + 250], i, pick) for i in range(0, len(ROWS), 250)]
    total = covers[0]
    for cover in covers[1:]:
        total = total + cover
    found = total.landmarks()
    assert total.n == len(ROWS)
    assert len(set(found.numbers.tolist())) == 40
    np.testing.assert_array_equal(found.rows, ROWS[found.numbers])
    if method == "random":
        return
    from lowdim._core.landmarks.choose import choose

    def radius(marks):
        D = np.sqrt(np.square(ROWS[:, None, :] - marks).sum(axis=2)).min(axis=1)
        return D.max() if method == "farthest" else np.square(D).sum()

    drawn = [radius(ROWS[choose(ROWS, 40, method=method, rng=seed)]) for seed in range(5)]
    assert radius(found.rows) < (2 if method == "farthest" else 1.5) * np.median(drawn)
    if method == "kmeans++":
        assert found.weights.sum() == pytest.approx(len(ROWS))


def test_random_landmarks_and_the_sample_do_not_depend_on_the_blocks():
    pick = Pick(40, "random", "euclidean", 100, 7, "test")

    def chosen(size):
        covers = [Cover.of(ROWS[i : i + size], i, pick) for i in range(0, len(ROWS), size)]
        total = sum(covers[1:], covers[0])
        return total.landmarks().numbers, total.sample.numbers

    wanted = chosen(len(ROWS))
    for size in (13, 999):
        for a, b in zip(chosen(size), wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    counts = np.bincount(wanted[1] // 500)
    assert counts.max() < 40  # of 100 rows in six parts


def test_a_mapped_file_beyond_the_limit_is_read_in_blocks(tmp_path):
    np.save(tmp_path / "rows.npy", np.tile(ROWS, (10, 1)))
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = lowdim.LandmarkMDS(2, n_landmarks=50, landmarks="farthest", random_state=0)
    limit = model.estimate_memory(X) // 2
    with lowdim.config(sample_rows=SAMPLE, memory_limit=limit):
        found = clone(model).fit(X)
    assert len(found.sample_indices_) <= SAMPLE + 50
    whole = clone(model).fit(np.asarray(X))
    assert lowdim.quality.procrustes(whole.transform(ROWS), found.transform(ROWS)).disparity < 0.05


def test_few_rows_are_fitted_as_in_memory():
    for model in METHODS:
        wanted = clone(model).fit(ROLL[:200])
        found = clone(model).fit(ROLL[i : i + 40] for i in range(0, 200, 40))
        np.testing.assert_allclose(found.embedding_, wanted.embedding_, atol=1e-9)
        assert found.sample_indices_ is None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: lowdim.Isomap(2, n_landmarks=20).fit(iter([np.full((50, 3), np.nan)])), "must be finite; got NaN"),
        (lambda: lowdim.Isomap(2, n_landmarks=None).fit(iter([ROLL])), "cannot fit from a stream"),
        (lambda: lowdim.Isomap(2, n_landmarks=20).fit(iter([])), "must have rows"),
    ],
)
def test_what_a_stream_cannot_be_is_said(call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call()


@pytest.mark.filterwarnings("ignore:.*short circuits")
def test_what_was_read_is_said():
    with (
        lowdim.config(sample_rows=SAMPLE),
        pytest.warns(UserWarning, match="60 landmarks were chosen among all 3003 rows"),
    ):
        lowdim.LaplacianEigenmaps(2, n_landmarks=60, random_state=0).fit(
            ROWS[i : i + 500] for i in range(0, len(ROWS), 500)
        )
