"""Dates in one way of writing and in several; what cannot be read in one way alone is not guessed."""

import numpy as np
import pytest

from lowdim.study.columns.asked_kinds import as_kind
from lowdim.study.columns.kinds import kind_of


def cells(*texts):
    found = np.empty(len(texts), dtype=object)
    found[:] = texts
    return found


@pytest.mark.parametrize(("texts", "days", "how"), [
    (("2024-01-03", "13.02.2024", "2024-05-06"), ("2024-01-03", "2024-02-13", "2024-05-06"),
     "dates in 2 ways (yyyy-mm-dd, dd.mm.yyyy)"),
    (("2024-01-03", "13/04/2024", "05/04/2024"), ("2024-01-03", "2024-04-13", "2024-04-05"),
     "dates in 2 ways (yyyy-mm-dd, dd/mm/yyyy)"),  # 13 says that the day is first
    (("2024-01-03", "04/13/2024", "05/04/2024"), ("2024-01-03", "2024-04-13", "2024-05-04"),
     "dates in 2 ways (yyyy-mm-dd, mm/dd/yyyy)"),
    (("3 Jan 2024", "January 5, 2024", "07.01.2024"), ("2024-01-03", "2024-01-05", "2024-01-07"),
     "dates in 3 ways (dd Mon yyyy, Month dd, yyyy, dd.mm.yyyy)"),
    (("2024-01-03", "2024-01-04 10:30", "2024-01-05T07:00:01"), ("2024-01-03", "2024-01-04", "2024-01-05"), "dates"),
])  # fmt: skip
def test_several_ways_of_writing(texts, days, how):
    found = kind_of("d", cells(*texts))
    assert found.kind == "date"
    assert found.values.astype("datetime64[D]").astype(str).tolist() == list(days)
    assert found.why.startswith(f"{how}, ")
    assert found.doubt == ""


@pytest.mark.parametrize("texts", [
    ("2024-01-03", "03/04/2024", "2024-05-06", "05/04/2024"),  # no day above 12 beside another way
    ("13/04/2024", "04/13/2024", "01/02/2024", "05/04/2024"),  # both orders are there
])  # fmt: skip
def test_what_can_be_read_in_two_ways_is_not_guessed(texts):
    found = kind_of("d", cells(*texts))
    assert found.kind == "text"
    assert "can have the day or the month first" in found.doubt


def test_one_way_without_a_day_above_12_is_uncertain():
    found = kind_of("d", cells("03/04/2024", "11/03/2024", "01/02/2024"))
    assert found.kind == "date"
    assert found.values.astype("datetime64[D]").astype(str).tolist() == ["2024-04-03", "2024-03-11", "2024-02-01"]
    assert found.doubt == "no day is above 12, so they may as well be mm/dd/yyyy"
    assert kind_of("d", cells("03/04/2024", "13/03/2024", "01/02/2024")).doubt == ""


def test_names_with_digits_are_no_dates():
    assert kind_of("d", cells("AB-2024-1", "AB-2024-2", "AB-2024-3", "AB-2024-9")).kind == "id"
    assert kind_of("d", cells("1.2.3", "1.2.4", "1.3.0", "2.0.11")).kind == "id"


def test_days_are_counted_from_the_first_that_was_known():
    first = as_kind("d", cells("31/12/2023", "02/01/2024"), "number", "t")
    assert first.values.tolist() == [0.0, 2.0]
    assert first.why == "as asked: days since 2023-12-31"
    later = as_kind("d", cells("03/01/2024"), "number", "t", first.conversion)  # alone, it could be the first of March
    assert later.values.tolist() == [3.0]
    other = as_kind("d", cells("2024-01-04", None), "number", "t", first.conversion)
    assert other.values[0] == 4.0
    assert np.isnan(other.values[1])


def test_spellings_of_one_category_are_pointed_out():
    found = kind_of("plan", cells(*["basic", "pro", "Basic"] * 4))
    assert found.kind == "category"
    assert found.doubt == "'basic' and 'Basic' differ in case or spaces alone, and count as two"
    assert kind_of("plan", cells(*["basic", "pro", "basic "] * 4)).doubt == ""  # spaces around are no part of it


def test_of_two_orders_the_one_in_which_time_passes_is_read():
    days = [f"{1 + k % 2}/{k + 1}/2024" for k in range(6)]
    american = [f"{month}/{day}/2024" for month in (1, 2) for day in (3, 7, 11)]
    found = kind_of("d", cells(*american))
    assert found.why.startswith("dates as mm/dd/yyyy, 2024-01-03 to 2024-02-11")
    assert "no day is above 12" in found.doubt
    assert kind_of("d", cells(*days)).why.startswith("dates as dd/mm/yyyy")  # in no order: the day first
