"""Ordered categories: recognised, asked for, measured by rank under Gower's distance, categories elsewhere."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim._core.distances.gower import gower_block
from lowdim.study.columns import Wishes, read_table
from lowdim.study.columns.scales_of_words import order_of
from lowdim.study.data import data_of
from lowdim.study.reference_choice import choose_reference

SCALES = {
    "low": ["high", "low", "Medium"],
    "sizes": ["XL", "S", "L", "M"],
    "agreement": ["agree", "strongly disagree", "neutral", "Strongly Agree"],
    "underscores": ["very_high", "low", "medium"],
    "grade": ["C", "A", "B", "F"],
    "signed grades": ["B", "A-", "A+", "A", "B-"],
    "ages": ["25-34", "65+", "<18", "18-24"],
    "incomes": ["1000-1999 €", "over 2000", "under 1000"],
    "noten": ["gut", "sehr gut", "mangelhaft"],
    "frequency": ["often", "never", "always", "rarely"],
}
ORDERED = {
    "low": ["low", "Medium", "high"],
    "sizes": ["S", "M", "L", "XL"],
    "agreement": ["strongly disagree", "neutral", "agree", "Strongly Agree"],
    "underscores": ["low", "medium", "very_high"],
    "grade": ["F", "C", "B", "A"],
    "signed grades": ["B-", "B", "A-", "A", "A+"],
    "ages": ["<18", "18-24", "25-34", "65+"],
    "incomes": ["under 1000", "1000-1999 €", "over 2000"],
    "noten": ["mangelhaft", "gut", "sehr gut"],
    "frequency": ["never", "rarely", "often", "always"],
}
UNORDERED = {
    "treatment": ["A", "B", "C"],  # letters are grades only where they are called so
    "status": ["single", "married", "S"],
    "two": ["low", "high"],
    "spelling": ["low", "Low", "high", "medium"],
    "synonyms": ["medium", "mid", "low", "high"],
    "overlap": ["10-20", "15-25", "30-40"],
    "mixed": ["low", "M", "never"],
    "codes": ["1-2", "2-1", "3-4"],
}


@pytest.mark.parametrize("name", SCALES)
def test_known_scales(name):
    assert order_of(name, SCALES[name]) == tuple(ORDERED[name])


@pytest.mark.parametrize("name", UNORDERED)
def test_no_order_is_guessed(name):
    assert order_of(name, UNORDERED[name]) is None


N = 24
SIZE = [["small", "large", "medium"][i % 3] for i in range(N)]
COLOUR = [["red", "blue"][i % 2] for i in range(N)]
WEIGHT = np.random.default_rng(0).normal(size=N).round(2)
RANK = np.array([{"small": 0.0, "medium": 1.0, "large": 2.0}[size] for size in SIZE])


def table(make=dict):
    return make({"size": SIZE, "colour": COLOUR, "weight": WEIGHT})


def expected_distances():
    """Gower's distance with ranks over their range (Kaufman and Rousseeuw)."""
    differ = np.array(COLOUR)[:, None] != np.array(COLOUR)
    spread = np.abs(WEIGHT[:, None] - WEIGHT) / np.ptp(WEIGHT)
    return (np.abs(RANK[:, None] - RANK) / 2 + differ + spread) / 3


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_a_column_in_an_order(make):
    found = read_table(table(make))
    size = found.columns[0]
    assert (size.kind, size.use, size.levels) == ("ordinal", "map", ("small", "medium", "large"))
    assert "3 values in an order: 'small' < 'medium' < 'large'" in size.reason
    assert found.categories == ["size", "colour"]
    np.testing.assert_array_equal(size.ranks(), RANK)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_ranks_under_gower_and_categories_elsewhere(make):
    data = data_of(table(make), Wishes(), "auto")
    seen = data.seen_by(lowdim.ClassicalMDS(2, metric="gower"))
    np.testing.assert_allclose(lowdim.dissimilarities(seen, metric="gower"), expected_distances(), atol=1e-12)
    model = lowdim.FAMD(2).fit(data.seen_by(lowdim.FAMD(2)))
    assert [None if found is None else set(found) for found in model.categories_] == [
        {"small", "medium", "large"}, {"red", "blue"}, None,
    ]  # fmt: skip


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_maps_are_compared_with_distances_by_rank(make):
    against = choose_reference("ambient", data_of(table(make), Wishes(), "auto"))
    np.testing.assert_allclose(gower_block(against.rows, against.rows), expected_distances(), atol=1e-12)


def test_compare_measures_and_says_so():
    result = lowdim.compare(table(pd.DataFrame), methods=["classical-mds"])
    assert result.columns[0].kind == "ordinal"
    asked = lowdim.compare(table(), methods=["classical-mds"], kinds={"size": "category"})
    assert asked.columns[0].kind == "category"
    assert not np.allclose(result.embeddings["classical-mds"], asked.embeddings["classical-mds"])
    turned = lowdim.compare(table(), methods=["classical-mds"], kinds={"size": ["large", "medium", "small"]})
    maps = [found.embeddings["classical-mds"] for found in (turned, result)]  # the other way round is the same
    np.testing.assert_allclose(*(np.linalg.norm(Z[:, None] - Z, axis=2) for Z in maps), atol=1e-8)


def test_types_of_data_frames_have_their_order():
    frame = table(pd.DataFrame)
    frame["colour"] = pd.Categorical(frame["colour"], ["red", "blue"], ordered=True)
    assert read_table(frame).columns[1].levels == ("red", "blue")
    frame["colour"] = pd.Categorical(frame["colour"].astype(str))
    assert read_table(frame).columns[1].kind == "category"
    enum = table(pl.DataFrame).with_columns(pl.col("colour").cast(pl.Enum(["red", "blue"])))
    assert read_table(enum).columns[1].levels == ("red", "blue")


def test_what_is_asked_for():
    values = {"a": ["mid", "lo", "hi", "mid"], "n": [3, 1, 2, 3]}
    found = read_table(values, Wishes(kinds={"a": ["lo", "mid", "hi"], "n": "ordinal"}))
    assert [column.levels for column in found.columns] == [("lo", "mid", "hi"), ("1", "2", "3")]
    with pytest.raises(ValueError, match=r"the order of the values of column 'a' is not known \('mid', 'lo', 'hi'\)"):
        read_table(values, Wishes(kinds={"a": "ordinal"}))
    with pytest.raises(ValueError, match=r"one of its ordered values \(lo, hi\); got 'mid'"):
        read_table(values, Wishes(kinds={"a": ["lo", "hi"]}))
    with pytest.raises(ValueError, match="at least two different values, lowest first; got 'lo' twice"):
        read_table(values, Wishes(kinds={"a": ["lo", "lo"]}))


def test_words_for_missing_are_named():
    found = read_table({"t": ["-", "x", "y", "-", "x", "?"] * 4, "u": [1.0, 2, 4] * 8})
    column = found.columns[0]
    assert column.missing.sum() == 12
    assert "read as missing: '-' (8 cells), '?' (4 cells)" in column.doubt
    kept = read_table({"t": ["-", "x", "y"] * 4, "u": [1.0, 2, 4] * 4}, Wishes(kinds={"t": "category"})).columns[0]
    assert not kept.missing.any()


INDEXES = {
    "text": (list("abcd"), list("abcd")),
    "numbers left of a larger table": ([3, 5, 8, 9], ["3", "5", "8", "9"]),
    "dates": (pd.to_datetime(["2020-01-02", "2020-01-03", "2020-01-04", "2020-01-05"]),
              ["2020-01-02", "2020-01-03", "2020-01-04", "2020-01-05"]),
    "two levels": (pd.MultiIndex.from_product([["a", "b"], [1, 2]]), ["a, 1", "a, 2", "b, 1", "b, 2"]),
    "a plain range": (range(4), None),
    "the same numbers": ([0, 1, 2, 3], None),
}  # fmt: skip


@pytest.mark.parametrize("case", INDEXES)
def test_the_index_of_a_frame_names_the_rows(case):
    index, names = INDEXES[case]
    frame = pd.DataFrame({"u": [1.0, 2, 4, 8], "v": [2.0, 1, 5, 3]}, index=index)
    assert read_table(frame).names == names
    result = lowdim.compare(frame, methods=["pca"])
    assert result.row_names == names
    frame["id"] = ["w", "x", "y", "z"]
    kept = read_table(frame).names
    assert kept == (names if case in ("text", "dates", "two levels") else ["w", "x", "y", "z"])
    assert read_table(frame, Wishes(names="id")).names == ["w", "x", "y", "z"]


@pytest.mark.parametrize(
    ("name", "start", "step"), [("time_ms", 1.7e12, 20), ("timestamp", 1.7e9, 1), ("ts", 1.7e15, 2e4)]
)
def test_moments_as_numbers_are_dates(name, start, step):
    values = start + step * np.arange(12.0) + np.arange(12) % 3
    column = read_table({name: values, "u": np.arange(12.0) ** 2}).columns[0]
    assert (column.kind, column.use) == ("date", "shown")
    assert "since 1970, 2023-11-14" in column.why
    seconds = (column.values - column.values[0]) / np.timedelta64(1, "ms")
    size = {"time_ms": 1, "timestamp": 1e-3, "ts": 1e3}[name]
    np.testing.assert_allclose(seconds, (values - values[0]) / size, atol=1.0)


def test_other_numbers_stay_numbers():
    found = read_table(
        {"price": 1.7e9 + np.arange(12.0) ** 2, "time": np.arange(12.0) ** 1.5, "u": np.arange(12.0) ** 2}
    )
    assert [column.kind for column in found.columns] == ["number"] * 3


def test_digits_name_rows_only_where_nothing_else_does():
    values = {"respondent": range(100, 124), "zip": [f"0{i}" for i in range(1000, 1024)], "u": np.arange(24.0) ** 2}
    assert read_table(values).names[0] == "100"
    assert read_table({**values, "who": [f"p{i}" for i in range(24)]}).names[0] == "p0"
