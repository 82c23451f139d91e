"""AnnData files, written as the format describes: dense and sparse tables, layers, obsm, annotations."""

import sys

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.app.errors import UserError
from lowdim.app.input_table import load, read
from lowdim.app.read_options import ReadOptions

h5py = pytest.importorskip("h5py")

X = np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 3], [4, 0, 5]], dtype=np.float32)
PCA = np.arange(8.0).reshape(4, 2)


def put(parent, name, value):
    if sparse.issparse(value):
        group = parent.create_group(name)
        group.attrs.update(
            {"encoding-type": f"{value.format}_matrix", "encoding-version": "0.1.0", "shape": value.shape}
        )
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(value, part)
    else:
        parent[name] = value


@pytest.fixture
def h5ad(tmp_path):
    def make(table=X, name="t.h5ad", genes=("g1", "g2", "g3")):
        path = tmp_path / name
        with h5py.File(path, "w") as file:
            put(file, "X", table)
            put(file.create_group("layers"), "counts", sparse.csc_matrix(X * 2))
            put(file.create_group("obsm"), "X_pca", PCA)
            var, obs = file.create_group("var"), file.create_group("obs")
            var.attrs.update({"_index": "gene", "column-order": np.array([], dtype=h5py.string_dtype())})
            var["gene"] = list(genes)
            obs.attrs.update({"_index": "cell", "column-order": ["type", "size", "age", "note", "ok"]})
            obs["cell"] = ["c1", "c2", "c3", "c4"]
            kinds = obs.create_group("type")
            kinds["codes"], kinds["categories"] = np.array([0, 1, -1, 0], dtype=np.int8), ["B", "T"]
            obs["size"] = np.array([1.0, 2.0, np.nan, 4.0])
            ages = obs.create_group("age")
            ages["values"], ages["mask"] = np.array([5, 6, 7, 8]), np.array([False, True, False, False])
            obs["note"] = ["x", "y", "z", "w"]
            obs["ok"] = np.array([True, False, True, True])
        return path

    return make


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_the_table_and_its_annotations(h5ad, make):
    loaded = load(h5ad(make(X)), ReadOptions())
    frame = loaded.frame
    assert frame.columns == ["g1", "g2", "g3", "obs_names", "type", "size", "age", "note", "ok"]
    np.testing.assert_array_equal(frame.select("g1", "g2", "g3").to_numpy(), X)
    assert frame["obs_names"].to_list() == ["c1", "c2", "c3", "c4"]
    assert frame["type"].to_list() == ["B", "T", None, "B"]
    assert frame["age"].to_list() == [5, None, 7, 8]
    assert frame["note"].to_list() == ["x", "y", "z", "w"]
    assert frame["ok"].to_list() == [True, False, True, True]
    assert loaded.names == "obs_names"
    assert loaded.notes == ("rows read from X (--layer chooses another: layers/counts, obsm/X_pca)",)


def test_layers_and_obsm(h5ad):
    path = h5ad()
    layer = load(path, ReadOptions(layer="counts")).frame
    np.testing.assert_array_equal(layer.select("g1", "g2", "g3").to_numpy(), X * 2)
    for name in ("X_pca", "obsm/X_pca"):
        found = load(path, ReadOptions(layer=name)).frame
        np.testing.assert_array_equal(found.select("X_pca_1", "X_pca_2").to_numpy(), PCA)
    with pytest.raises(
        UserError, match=r"--layer 'X_pc' is not in the file\. Did you mean 'X_pca'\? It has: X, layers/counts"
    ):
        load(path, ReadOptions(layer="X_pc"))


def test_names_that_are_taken(h5ad):
    frame = load(h5ad(genes=("size", "size", "obs_names")), ReadOptions()).frame
    assert frame.columns[:4] == ["size", "size_2", "obs_names", "obs_names_2"]
    assert "size_3" in frame.columns


def test_names_of_observations_name_the_rows(h5ad):
    table = read(h5ad(), ReadOptions(layer="X_pca", drop=("type", "size", "age", "note", "ok")))
    assert table.names == ["c1", "c2", "c3", "c4"]
    np.testing.assert_array_equal(table.X, PCA)


def test_a_sparse_table_that_does_not_fit_is_not_made_dense(h5ad):
    path = h5ad(sparse.csr_matrix((4, 10**9), dtype=np.float32))
    with (
        lowdim.config(memory_limit="1GB"),
        pytest.raises(UserError, match=r"4 x 1000000000; .* 32 GB.*--layer, such as obsm/X"),
    ):
        load(path, ReadOptions())
    assert load(path, ReadOptions(layer="X_pca")).frame.height == 4


def test_categories_of_older_files(h5ad):
    path = h5ad()
    with h5py.File(path, "a") as file:
        obs = file["obs"]
        del obs["type"]
        obs["type"] = np.array([1, 0, -1, 1], dtype=np.int8)
        obs.create_group("__categories")["type"] = ["B", "T"]
        obs["type"].attrs["categories"] = obs["__categories/type"].ref
    assert load(path, ReadOptions()).frame["type"].to_list() == ["T", "B", None, "T"]


def test_other_files_and_a_missing_library(tmp_path, h5ad, monkeypatch):
    with h5py.File(tmp_path / "o.h5", "w") as file:
        file["data"] = X
    with pytest.raises(UserError, match=r"is an HDF5 file, but not of AnnData \(it has no obs\): data"):
        load(tmp_path / "o.h5", ReadOptions())
    path = h5ad()
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(UserError, match=r'reading .h5ad files needs h5py: pip install "lowdim\[formats\]"'):
        load(path, ReadOptions())
