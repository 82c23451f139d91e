"""Every file of the set gives exactly the expected columns, cells and notes, or one clear line."""

import re
import time

import polars as pl
import pytest

from lowdim.app.errors import UserError
from lowdim.app.input_table import load
from tests.app.messy_files import MESSY
from tests.app.untidy_files import UNTIDY

FILES = [*MESSY, *UNTIDY]


def test_the_set_is_large_and_every_file_has_a_name_of_its_own():
    assert len(MESSY) >= 40
    assert len({entry.id for entry in FILES}) == len(FILES)


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: entry.id)
def test_messy_file(tmp_path, entry):
    path = tmp_path / entry.name
    path.write_bytes(entry.content)
    start = time.process_time()
    if entry.error is not None:
        with pytest.raises(UserError, match=entry.error) as caught:
            load(path, entry.how)
        assert "\n" not in str(caught.value)
        assert str(caught.value).endswith(".")
        assert time.process_time() - start < 1
        return
    loaded = load(path, entry.how)
    found = loaded.frame
    assert found.columns == list(entry.cells)
    for name, cells in entry.cells.items():
        assert found[name].to_list() == cells, name
        kinds = {type(cell) for cell in cells} - {type(None)}
        assert found[name].dtype.is_numeric() == (kinds <= {int, float} and bool(kinds)) or not kinds
        assert (found[name].dtype == pl.String) == (kinds == {str}) or not kinds
    assert loaded.kind == entry.kind
    assert len(loaded.notes) == len(entry.notes), loaded.notes
    for pattern in entry.notes:
        assert any(re.search(pattern, note) for note in loaded.notes), (pattern, loaded.notes)
