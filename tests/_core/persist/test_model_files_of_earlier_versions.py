"""Files that earlier versions wrote still load, and their models place rows as they did.

`models_v1` was written by the first format, which named records by their modules. For each model, `expected.npz` has
the places of four new rows and what `inverse_transform` made of them.
"""

from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim import _native
from lowdim._core.neighbors import nearest
from lowdim._core.persist import records
from lowdim.neighbor_embedding import _affinity, _new_rows

FOLDER = Path(__file__).parent / "models_v1"
NAMES = sorted(path.stem for path in FOLDER.glob("*.lowdim"))


@pytest.fixture(scope="module")
def expected():
    with np.load(FOLDER / "expected.npz") as file:
        return dict(file)


def test_the_folder_is_there():
    assert len(NAMES) == 37


def placed_as_then(model, rows):
    """New rows of t-SNE as version 1 placed them: from the mean of 15 neighbours, at perplexity 5."""
    found, fitted = nearest(model._rows, 15, queries=rows), np.ascontiguousarray(model.embedding_, dtype=np.float64)
    p = _affinity.weights(_affinity.as_graph(found, len(fitted)), perplexity=5.0).data.reshape(len(rows), 15)
    near = fitted[found.indices]
    Z = np.einsum("ij,ijc->ic", p, near)
    settings = (_new_rows.EXAGGERATION, _new_rows.STEPS, 1)
    _native.place_rows(fitted, found.indices, p, 0.0, model.dof, *settings, Z)
    return _new_rows._drawn_to_fitted(Z, found, near)


@pytest.mark.parametrize("name", NAMES)
def test_models_of_version_1(name, expected, tmp_path):
    model = lowdim.load(FOLDER / f"{name}.lowdim")
    rows = expected["new_incomplete" if name in expected["incomplete"] else "new"]
    places = model.transform(rows)
    # Other machines and libraries round otherwise; a wrong record would be off by far more.
    then = placed_as_then(model, rows) if name == "tsne" else places
    np.testing.assert_allclose(then, expected[name], rtol=1e-5, atol=1e-6)
    if f"{name}.inverse" in expected:
        np.testing.assert_allclose(
            model.inverse_transform(expected[name]), expected[f"{name}.inverse"], rtol=1e-5, atol=1e-6
        )
    lowdim.save(model, tmp_path / "again")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "again").transform(rows), places)


def test_every_tag_leads_to_a_frozen_record():
    for tag, (_, label) in records.RECORDS.items():
        cls = records.class_of(tag)
        assert cls.__name__ == label
        assert cls.__dataclass_params__.frozen
