"""Any table that was written as clean text is read again cell by cell, and nothing is said about it."""

import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowdim.app.errors import UserError
from lowdim.app.input_table import load
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.marks import HIGH, LOW

# Text that begins with a letter is no number, no comment and no word for missing.
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=8).map(
    "w{}v".format
)
NUMBERS = (
    st.floats(-1e6, 1e6, allow_nan=False)
    .map(lambda value: round(value, 4))
    .filter(lambda value: value not in (*LOW, *HIGH))
)


@st.composite
def frames(draw):
    n, width = draw(st.integers(3, 12)), draw(st.integers(2, 5))
    names = draw(st.lists(WORDS, min_size=width, max_size=width, unique=True))
    # A column of numbers, so that the first line is told from the others; a column of text, so that it is no distances.
    kinds = [NUMBERS, WORDS, *draw(st.lists(st.sampled_from([NUMBERS, WORDS]), min_size=width - 2, max_size=width - 2))]
    columns = [draw(st.lists(kind, min_size=n, max_size=n)) for kind in kinds]
    # No word in two columns, so that lines do not look like pairs of the same items.
    columns = [
        [f"w{j}{cell}" if isinstance(cell, str) else cell for cell in column] for j, column in enumerate(columns)
    ]
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@given(frame=frames())
def test_clean_text_is_read_as_it_was_written(tmp_path_factory, separator, frame):
    path = tmp_path_factory.mktemp("text") / "t.csv"
    frame.write_csv(path, separator=separator)
    loaded = load(path, ReadOptions())
    assert loaded.frame.columns == frame.columns
    assert loaded.frame.rows() == frame.rows()
    assert len(loaded.notes) == (separator != ",")


@given(frame=frames(), encoding=st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"]))
def test_the_encoding_changes_no_cell(tmp_path_factory, frame, encoding):
    out = io.BytesIO()
    frame.write_csv(out)
    text = out.getvalue().decode()
    if encoding in ("utf-16-le", "utf-16-be"):
        text = text.encode("ascii", "ignore").decode()  # without a mark, it is recognised by its zeros
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_bytes(text.encode("utf-8"))
    expected = load(path, ReadOptions())
    path.write_bytes(text.encode(encoding))
    found = load(path, ReadOptions())
    assert found.frame.columns == expected.frame.columns
    assert found.frame.rows() == expected.frame.rows()


def error_of(path):
    try:
        load(path, ReadOptions())
    except UserError as error:
        return str(error)
    return ""


@given(content=st.binary(max_size=400))
def test_no_bytes_end_in_a_traceback(tmp_path_factory, content):
    for name in ("t.csv", "t.tsv", "t.txt", "t", "t.json", "t.csv.gz", "t.zip", "t.npy", "t.parquet", "t.xlsx"):
        path = tmp_path_factory.mktemp("bytes") / name
        path.write_bytes(content)
        assert "\n" not in error_of(path)
