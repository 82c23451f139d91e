"""The same function that places record batches, inside Spark and Ray, where these are installed."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lowdim

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore")]

ROWS = np.random.default_rng(3).normal(size=(400, 4)) @ np.random.default_rng(4).normal(size=(4, 4)) + 2
FRAME = pd.DataFrame(ROWS, columns=list("abcd")).assign(key=[f"row {i}" for i in range(400)])
MODELS = [lowdim.PCA(2), lowdim.Isomap(2, n_neighbors=8)]


def saved(model, folder):
    """The model fitted, and its file, which is what the workers get."""
    model.fit(FRAME[list("abcd")])
    lowdim.save(model, folder / "model.lowdim")
    return str(folder / "model.lowdim")


def assert_placed(found, model):
    found = found.sort_values("key", key=lambda names: names.str[4:].astype(int))
    assert list(found["key"]) == list(FRAME["key"])
    np.testing.assert_allclose(found.iloc[:, 1:].to_numpy(float), model.transform(FRAME[list("abcd")]), atol=1e-10)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_spark_places_batches(model, tmp_path):
    sql = pytest.importorskip("pyspark.sql")
    path = saved(model, tmp_path)
    names = [str(name) for name in model.get_feature_names_out()]

    def place(batches):
        return lowdim.transform_batches(path, batches, keep=["key"])

    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = session.createDataFrame(FRAME).repartition(3)
        schema = ", ".join(["key string", *(f"{name} double" for name in names)])
        assert_placed(frame.mapInArrow(place, schema).toPandas(), model)
    finally:
        session.stop()


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_ray_places_batches(model, tmp_path):
    ray = pytest.importorskip("ray")
    path = saved(model, tmp_path)

    def place(table):
        return pa.Table.from_batches(lowdim.transform_batches(path, table.to_batches(), keep=["key"]))

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        data = ray.data.from_arrow(pa.Table.from_pandas(FRAME, preserve_index=False)).repartition(3)
        found = data.map_batches(place, batch_format="pyarrow", batch_size=57).to_pandas()
        assert_placed(found, model)
    finally:
        ray.shutdown()
