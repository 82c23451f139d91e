"""Record batches of Arrow in and out, and fits from a folder of Parquet files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import lowdim

ROWS = np.random.default_rng(3).normal(size=(100, 4)) @ np.random.default_rng(4).normal(size=(4, 4)) + 2
FRAME = pd.DataFrame(ROWS, columns=list("abcd"))


@pytest.fixture
def folder(tmp_path):
    for i in range(3):
        pq.write_table(
            pa.Table.from_pandas(FRAME[40 * i : 40 * (i + 1)], preserve_index=False), tmp_path / f"{i}.parquet"
        )
    return ds.dataset(tmp_path)


def stacked(batches):
    return pa.Table.from_batches(batches).to_pandas()


@pytest.mark.parametrize("model", [lowdim.PCA(2), lowdim.PCA(2, solver="randomized"), lowdim.Whitening(3)], ids=str)
def test_a_folder_of_files_is_read_batch_by_batch(folder, model):
    found = model.fit(folder)
    wanted = type(model)(model.n_components).fit(FRAME)
    assert list(found.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(found.transform(FRAME), wanted.transform(FRAME), atol=1e-9)


def test_methods_that_need_their_rows_take_all_or_a_sample(folder):
    whole = lowdim.Isomap(2, n_neighbors=8).fit(folder)
    np.testing.assert_array_equal(whole.embedding_, lowdim.Isomap(2, n_neighbors=8).fit(FRAME).embedding_)
    with lowdim.config(sample_rows=60), pytest.warns(UserWarning, match="random sample of 60"):
        part = lowdim.Isomap(2, n_neighbors=8).fit(folder)
    wanted = lowdim.Isomap(2, n_neighbors=8).fit(FRAME.iloc[part.sample_indices_])
    np.testing.assert_array_equal(part.embedding_, wanted.embedding_)


def test_a_folder_has_no_table_of_places(folder):
    with pytest.raises(TypeError, match="call fit, then transform"):
        lowdim.PCA(2).fit_transform(folder)
    with pytest.raises(ValueError, match="targets must be None"):
        lowdim.LDA(1).fit(folder, np.arange(100) % 2)


@pytest.mark.parametrize("form", ["model", "file"])
def test_batches_are_placed_as_rows_are(folder, tmp_path, form):
    model = lowdim.Isomap(2, n_neighbors=8).fit(FRAME)
    wanted = model.transform(FRAME)
    if form == "file":
        lowdim.save(model, tmp_path / "isomap.lowdim")
        model = tmp_path / "isomap.lowdim"
    for size in (7, 1000):
        found = stacked(lowdim.transform_batches(model, folder.to_batches(batch_size=size)))
        assert list(found.columns) == ["isomap0", "isomap1"]
        np.testing.assert_allclose(found.to_numpy(), wanted, rtol=0, atol=1e-12)


def test_columns_are_found_by_name_and_others_kept_or_ignored():
    model = lowdim.PCA(2).fit(FRAME)
    wide = FRAME[list("dbca")].assign(key=[f"row {i}" for i in range(100)], other=1.0)
    found = stacked(lowdim.transform_batches(model, [pa.RecordBatch.from_pandas(wide)], keep=["key"]))
    assert list(found.columns) == ["key", "pca0", "pca1"]
    assert list(found["key"]) == list(wide["key"])
    np.testing.assert_array_equal(found[["pca0", "pca1"]].to_numpy(), model.transform(FRAME))


def test_null_cells_are_missing_cells():
    X = ROWS.copy()
    X[::9, 1] = np.nan
    model = lowdim.PCA(2).fit(X)
    columns = [pa.array(column, from_pandas=True) for column in X.T]  # NaN becomes null
    batch = pa.RecordBatch.from_arrays(columns, names=list("wxyz"))
    assert batch.column(1).null_count == 12
    np.testing.assert_array_equal(stacked(lowdim.transform_batches(model, [batch])).to_numpy(), model.transform(X))


def test_empty_batches_and_empty_streams():
    model = lowdim.PCA(2).fit(ROWS)
    batch = pa.RecordBatch.from_arrays([pa.array([], pa.float64())] * 4, names=list("abcd"))
    found = list(lowdim.transform_batches(model, [batch]))
    assert found[0].num_rows == 0
    assert found[0].schema.names == ["pca0", "pca1"]
    assert list(lowdim.transform_batches(model, [])) == []


@pytest.mark.parametrize(
    ("names", "keep", "says"),
    [
        (list("abce"), [], "lack 1 columns of the model: 'd'"),
        (list("abcd"), ["key"], "'key' is not there"),
        (list("abcd"), "key", "must be a list"),
    ],
)
def test_wrong_columns_are_named(names, keep, says):
    batch = pa.RecordBatch.from_arrays([pa.array(column) for column in ROWS.T], names=names)
    with pytest.raises((TypeError, ValueError), match=says):
        list(lowdim.transform_batches(lowdim.PCA(2).fit(FRAME), [batch], keep=keep))


def test_a_model_without_names_counts_columns():
    batch = pa.RecordBatch.from_pandas(FRAME.assign(key=1.0))
    with pytest.raises(ValueError, match="has 4 columns without names; the batches have 5"):
        list(lowdim.transform_batches(lowdim.PCA(2).fit(ROWS), [batch]))
