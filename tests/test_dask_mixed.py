"""ICA, and tables of numbers and categories, from every block of Dask and Arrow."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from sklearn.base import clone

import lowdim

RNG = np.random.default_rng(0)
SOURCES = np.column_stack([RNG.uniform(-1, 1, 3000), RNG.laplace(size=3000), np.sign(RNG.normal(size=3000))])
MIXED = SOURCES @ RNG.normal(size=(3, 4)) + 5
TABLE = pd.DataFrame(
    {
        "length": RNG.normal(size=300),
        "width": RNG.normal(size=300) ** 2,
        "colour": RNG.choice(["red", "blue", "green"], 300),
        "size": RNG.choice(["s", "m"], 300),
    }
)


@pytest.mark.parametrize(
    "model", [lowdim.ICA(3), lowdim.ICA(2, fun="cube"), lowdim.ICA(3, algorithm="infomax")], ids=str
)
@pytest.mark.parametrize("form", ["dask", "arrow"])
def test_sources_of_blocks_are_those_of_memory(model, form):
    model = model.set_params(random_state=0, tol=1e-8, max_iter=2000)
    wanted, found = clone(model).fit(MIXED), clone(model)
    frame = pa.table({f"c{j}": MIXED[:, j] for j in range(4)})
    found.fit(da.from_array(MIXED, chunks=(700, 3)) if form == "dask" else ds.dataset(frame))
    Z, W = (np.asarray(fitted.transform(MIXED if fitted is wanted or form == "dask" else frame.to_pandas()))
            for fitted in (found, wanted))  # fmt: skip
    np.testing.assert_allclose(Z, W, atol=1e-5)
    np.testing.assert_allclose(found.non_gaussianity_, wanted.non_gaussianity_, rtol=1e-4)


@pytest.mark.parametrize("model", [lowdim.FAMD(3), lowdim.MCA(3)], ids=str)
@pytest.mark.parametrize("form", ["frame", "arrow", "array"])
def test_categories_of_blocks_are_those_of_memory(model, form):
    table = TABLE if isinstance(model, lowdim.FAMD) else TABLE[["colour", "size"]]
    wanted, found = clone(model).fit(table), clone(model)
    lazy = {
        "frame": lambda: dd.from_pandas(table, npartitions=4),
        "arrow": lambda: ds.dataset(pa.Table.from_pandas(table, preserve_index=False)),
        "array": lambda: da.from_array(table.to_numpy(object), chunks=(77, 1)),
    }[form]()
    found.fit(lazy)
    assert [None if c is None else list(c) for c in found.categories_] == [
        None if c is None else list(c) for c in wanted.categories_
    ]
    new = table if form != "array" else table.to_numpy(object)
    np.testing.assert_allclose(found.transform(new), wanted.transform(table), atol=1e-8)
    for name in ("eigenvalues_", "column_coordinates_", "cos2_", "contributions_", "relations_"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-8, err_msg=name)
    if form == "frame":
        assert found.column_names_ == wanted.column_names_
        np.testing.assert_allclose(found.transform(lazy).compute().to_numpy(), wanted.transform(table), atol=1e-8)


def test_what_blocks_cannot_do_is_said():
    table = TABLE.copy()
    table.loc[7, "colour"] = None
    with pytest.raises(ValueError, match="no missing cells"):
        lowdim.FAMD(2).fit(dd.from_pandas(table, npartitions=3))
    for model in (lowdim.FAMD(2), lowdim.ICA(2)):
        with pytest.raises(TypeError, match="iterator"):
            model.fit(iter([MIXED]))
    with pytest.raises(ValueError, match="whiten must be True"):
        lowdim.ICA(whiten=False).fit(da.from_array(MIXED, chunks=700))
    mixed = [TABLE.iloc[:150].assign(size=1.0), TABLE.iloc[150:]]
    with pytest.raises(ValueError, match="numbers in one block"):
        lowdim.FAMD(2).fit(dd.from_map(lambda i: mixed[i], [0, 1], meta=TABLE.iloc[:0]))
