"""Comparisons of rows of Dask and of Arrow: a random sample is compared, and all rows can be placed."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import lowdim

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 400)
ROWS = RNG.normal(size=(400, 5)) + 4 * np.eye(5)[LABELS]
FRAME = pd.DataFrame(ROWS, columns=list("abcde")).assign(kind=np.array(["x", "y", "z"])[LABELS])


def compared(X, y=None, **options):
    with lowdim.config(sample_rows=120):
        return lowdim.compare(X, y, methods=["pca", "isomap", "mds"], verdict=options.pop("verdict", False), **options)


@pytest.mark.parametrize("chunks", [(50, 5), (173, 2), (400, 5)])
def test_a_fair_sample_is_compared(chunks):
    found = compared(da.from_array(ROWS, chunks=chunks), da.from_array(LABELS, chunks=70))
    assert (found.drawn.n, found.drawn.n_all, found.n_rows) == (120, 400, 120)
    np.testing.assert_array_equal(found.labels.values, LABELS[found.rows_used])
    alone = compared(ROWS[found.rows_used], LABELS[found.rows_used])
    for name, Z in alone.embeddings.items():
        np.testing.assert_array_equal(found.embeddings[name], Z)
    assert alone.drawn is None
    # each row has the same chance: not only rows of the first blocks
    assert np.abs(np.mean(found.rows_used) - 199.5) < 4 * 400 / np.sqrt(12 * 120)


def test_all_rows_are_placed_where_methods_can():
    found = compared(da.from_array(ROWS, chunks=(90, 5)))
    places = found.places(da.from_array(ROWS, chunks=(90, 5)))
    assert set(places) == {"pca", "isomap", "mds"}
    for name, Z in places.items():
        assert Z.shape == (400, 2)
        np.testing.assert_allclose(Z.compute(), found.models[name].transform(ROWS), atol=1e-10)


def test_the_verdict_says_that_it_is_of_a_sample():
    found = compared(da.from_array(ROWS, chunks=(90, 5)), verdict=True)
    said = found.verdict.about("rows compared")[0]
    assert said is found.verdict.sentences[0]
    assert "120 rows, drawn at random from 400; a group of fewer than 67 rows" in said.text
    assert "pca, isomap and mds place the other rows: comparison.places(X)." in said.text
    assert said.numbers == {"rows": 120, "of": 400, "least": 67}
    assert found.to_dict()["rows_drawn_from"] == 400
    np.testing.assert_array_equal(found.evidence.row_numbers, found.rows_used)


@pytest.mark.parametrize("made", ["dask", "arrow"])
def test_tables_with_categories_and_a_label(made):
    units = FRAME.assign(a=1000 * FRAME["a"], size=np.where(ROWS[:, 1] > 1, "big", "small"))
    X = dd.from_pandas(units, npartitions=3) if made == "dask" else ds.dataset(pa.Table.from_pandas(units))
    found = compared(X, "kind", drop=["e"])
    assert found.labels.classes == ["x", "y", "z"]
    assert found.row_names is None
    np.testing.assert_array_equal(found.labels.values, units["kind"].to_numpy()[found.rows_used])
    if made == "dask":
        Z = found.places(X)["pca"]
        np.testing.assert_allclose(Z.compute().to_numpy(), found.model("pca").transform(units), atol=1e-10)


def test_a_file_of_the_page_says_it_too(tmp_path):
    page = compared(da.from_array(ROWS, chunks=(90, 5)), verdict=True).report(tmp_path / "page.html").read_text()
    assert "drawn at random from 400" in page


def test_few_rows_are_all_compared():
    with lowdim.config(sample_rows=1000):
        found = lowdim.compare(da.from_array(ROWS, chunks=(90, 5)), methods=["pca"], verdict=False)
    assert found.drawn is None
    assert found.n_rows == 400


def test_what_has_a_value_for_each_row_is_refused():
    with pytest.raises(TypeError, match="row_names must not have a value for each row"):
        compared(da.from_array(ROWS, chunks=(90, 5)), row_names=list(map(str, range(400))))
    with pytest.raises(TypeError, match="reference must not have a value for each row"):
        compared(da.from_array(ROWS, chunks=(90, 5)), reference=ROWS)
