"""Files that earlier versions wrote still load, and their models place rows as they did.

`models_v1` was written by the first format, which named records by their modules. For each model, `expected.npz` has
the places of four new rows and what `inverse_transform` made of them.
"""

from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim._core.persist import records

FOLDER = Path(__file__).parent / "models_v1"
NAMES = sorted(path.stem for path in FOLDER.glob("*.lowdim"))


@pytest.fixture(scope="module")
def expected():
    with np.load(FOLDER / "expected.npz") as file:
        return dict(file)


def test_the_folder_is_there():
    assert len(NAMES) == 37


@pytest.mark.parametrize("name", NAMES)
def test_models_of_version_1(name, expected, tmp_path):
    model = lowdim.load(FOLDER / f"{name}.lowdim")
    rows = expected["new_incomplete" if name in expected["incomplete"] else "new"]
    places = model.transform(rows)
    # Other machines and libraries round otherwise; a wrong record would be off by far more.
    np.testing.assert_allclose(places, expected[name], rtol=1e-5, atol=1e-6)
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
