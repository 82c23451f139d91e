"""What a column is taken for, and why."""

import time

import numpy as np
import pytest

from lowdim.study.columns.asked_kinds import as_kind
from lowdim.study.columns.kinds import kind_of
from lowdim.study.columns.raw_columns import named_columns


def column(values, name="x"):
    return kind_of(name, named_columns({name: values}, "test")[name])


N = 40
CASES = {
    "numbers": ([0.5 + i / 3 for i in range(N)], "number", "numbers, 0.5 to 13.5"),
    "missing numbers": ([None if i % 5 == 0 else i / 7 for i in range(N)], "number", "numbers, "),
    "whole numbers": ([i * i % 97 for i in range(N)], "number", "whole numbers, 0 to "),
    "zero and one": ([i % 2 for i in range(N)], "number", "two values, 0 and 1"),
    "true and false": ([i % 3 == 0 for i in range(N)], "number", "true/false as 1/0"),
    "yes and no": (["Yes" if i % 3 else "no" for i in range(N)], "number", "yes/no as 1/0"),
    "row numbers": (list(range(1, N + 1)), "id", "row numbers, 1 to 40"),
    "row numbers with gaps": ([i + i // 5 for i in range(N)], "id", "whole numbers that only increase"),
    "row numbers and a blank line": ([*range(1, N), None], "id", "row numbers, 1 to 39"),
    "gaps and a blank line": ([*(i + i // 5 for i in range(N - 1)), None], "id", "whole numbers that only increase"),
    "increasing, a fifth missing": ([None if i % 5 == 0 else 3 * i for i in range(N)], "number", "whole numbers"),
    "sorted ages": (sorted(20 + (i * 7) % 31 for i in range(N)), "number", "whole numbers"),
    "constant number": ([7] * N, "constant", "always 7"),
    "constant with missing cells": ([None if i % 2 else 7 for i in range(N)], "constant", "always 7"),
    "constant text": (["PAL0708"] * N, "constant", "always 'PAL0708'"),
    "nothing": ([None] * N, "empty", "no values"),
    "blanks": (["  "] * N, "empty", "no values"),
    "numbers as text": ([f" {i / 4} " for i in range(N)], "number", "numbers written as text"),
    "thousands": ([f"{1000 + 377 * i:,}" for i in range(N)], "number", "a comma between thousands"),
    "decimal comma": ([f"{i},{i % 10}5" for i in range(N)], "number", "a decimal comma"),
    "money": ([f"${12.5 + 100 * i:,.2f}" for i in range(N)], "number", "currency or percent sign"),
    "percent": ([f"{i}.5%" for i in range(N)], "number", "currency or percent sign"),
    "mostly numbers": (["unknown" if i == 3 else str(i * 3 % 37 + 0.5) for i in range(N)], "number", "numbers"),
    "iso dates": ([f"2007-11-{i % 28 + 1:02d}" for i in range(N)], "date", "dates, 2007-11-01 to 2007-11-28"),
    "german dates": ([f"{i % 28 + 1:02d}.11.2007" for i in range(N)], "date", "dates as dd.mm.yyyy"),
    "us dates": ([f"11/{i % 28 + 1:02d}/2007" for i in range(N)], "date", "dates as mm/dd/yyyy"),
    "times": ([f"2007-11-02 {i % 24:02d}:30" for i in range(N)], "date", "dates, 2007-11-02 00:30"),
    "datetime64": (np.array(["2020-01-01", "NaT", "2021-05-01"] * 5, dtype="datetime64[D]"), "date", "dates"),
    "categories": ([["a", "b", "c"][i % 3] for i in range(N)], "category", "3 different values: 'a', 'b', 'c'"),
    "names": ([f"sample {i}" for i in range(N)], "id", "a different text in each row"),
    "prose": ([f"{'word ' * 20}{i}" for i in range(N)], "text", "a different, long text in each row"),
    "remarks, some repeated": ([f"call back about order {i % 15}" for i in range(N)], "text", "15 different texts in"),
    "few sentences": ([f"call back about order {i % 3}" for i in range(N)], "category", "3 different values"),
    "many levels": ([f"city {i % 35}" for i in range(N)], "text", "35 different texts in 40 rows"),
    "markup": ([["<script>alert(1)</script>", "&amp;"][i % 2] for i in range(N)], "category", "2 different values"),
    "percent with a decimal comma": (
        [f"{i},5 %" for i in range(N)],
        "number",
        "a decimal comma and a currency or percent",
    ),
    "euros": ([f"{1 + i}.{100 + i},43 €" for i in range(N)], "number", "a decimal comma and a currency"),
    "kilograms": ([f"{i}.96 kg" for i in range(N)], "number", "and the unit kg"),
    "zero-padded codes": ([f"{i % 7:03d}" for i in range(N)], "category", "7 different values"),
    "long numbers, all different": ([2**60 + i for i in range(N)], "id", "a different number, too long for a quantity"),
    "long ids": ([2**60 + i % 39 for i in range(N)], "text", "39 different texts"),
    "dates with words": (["n/a" if i == 3 else f"2007-11-{i % 28 + 1:02d}" for i in range(N)], "date", "dates"),
    "categories with words": (
        [["a", "n/a", "b", "-"][i % 4] for i in range(N)],
        "category",
        "2 different values: 'a', 'b'",
    ),
    "versions": ([f"1.{i % 3}.0" for i in range(N)], "category", "3 different values"),
    "phone numbers": ([f"030-{1000 + i}" for i in range(N)], "id", "a different text in each row"),
    "ranges": ([["<5", "5-10", ">10"][i % 3] for i in range(N)], "ordinal", "'<5' < '5-10' < '>10'"),
}


@pytest.mark.parametrize("case", CASES)
def test_kinds(case):
    values, kind, why = CASES[case]
    found = column(values)
    assert found.kind == kind, found.why
    assert why in found.why
    assert len(found.values) == len(values)


@pytest.mark.parametrize(
    "name", ["id", "ID", "customer_id", "sampleId", "PatientNo", "orderNr", "patientid", "Index", "Unnamed: 0", ""]
)
def test_names_of_ids(name):
    shuffled = [(i * 17) % 101 + 1000 for i in range(N)]
    assert column(shuffled, name).kind == "id"
    assert column(shuffled, "weight").kind == "number"
    twice = column([1, 1, *shuffled], name)
    assert (twice.kind, twice.doubt, twice.other) == ("id", "1 is there more than once", "number")
    repeated = column([i % 20 for i in range(N)], name)  # an id is different in each row
    assert repeated.kind == ("text" if name in OF_SEVERAL_ROWS else "number")


OF_SEVERAL_ROWS = ("id", "ID", "customer_id", "PatientNo", "patientid")


@pytest.mark.parametrize("name", ["subject_id", "Patient", "patientId", "animal", "id"])
def test_who_was_measured_several_times_is_not_measured(name):
    for values in ([f"S{i // 4}" for i in range(N)], [i // 4 + 1 for i in range(N)]):
        found = column(values, name)
        assert (found.kind, found.other) == ("text", "category")
        assert found.why == "10 different in 40 rows: several rows of each, such as repeated measurements"
    assert column([f"S{i % 3}" for i in range(N)], name).kind == "category"  # so few can be groups
    assert column([f"S{i // 4}" for i in range(N)], "product").kind == "category"


def test_an_answer_that_is_none_does_not_take_the_order_away():
    answers = ["agree", "neither", "No answer", "disagree", "strongly agree"]
    found = column([answers[i % 5] for i in range(N)])
    assert (found.kind, found.levels) == ("ordinal", ("disagree", "neither", "agree", "strongly agree"))
    assert found.doubt == "read as missing: 'No answer' (8 cells)"
    assert found.missing.sum() == 8
    again = as_kind("x", np.array(["agree", "no answer"], dtype=object), found.levels, "test")
    assert again.values.tolist() == ["agree", None]
    plain = column([["no answer", "red", "blue"][i % 3] for i in range(N)])
    assert (plain.kind, plain.missing.sum()) == ("category", 0)


def test_account_numbers_are_no_quantities(rng):
    accounts = rng.permutation(rng.integers(10**9, 10**10, 60))
    found = column([int(one) for one in accounts], "account")
    assert (found.kind, found.other) == ("id", "number")
    assert found.why == "a different number of 10 digits in each row"
    assert column([int(one) for one in rng.integers(10**5, 10**10, 60)], "population").kind == "number"


def test_lists_of_choices_are_pointed_out():
    choices = ["a;b;c", "b;c", "a", "c", "b;a", "a;c", "c;b"]
    found = column([choices[i % 7] for i in range(N)])
    assert found.kind == "category"
    assert found.doubt == "cells list several of 3 choices ('a', 'b', 'c'), and each combination counts as a value"
    assert column([["x;y", "z;w", "u;v"][i % 3] for i in range(N)]).doubt == ""


PATIENTS = list(range(1000, 1301))


def changed(places, values):
    new = dict(zip(places, values, strict=True))
    return [new.get(i, number) for i, number in enumerate(PATIENTS)]


@pytest.mark.parametrize("name", ["patient number", "v1"])
@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        (PATIENTS[::-1], ""),
        (changed([7], [10070]), "10070 is out of order, as with a wrong digit"),
        (changed([0], [9000]), "9000 is out of order, as with a wrong digit"),
        (changed([300], [1]), "1 is out of order, as with a wrong digit"),
        (changed([7], [1071]), "1071 is there twice"),
        (sorted([*PATIENTS, 1012, 1100]), "1012, 1100 are there twice"),
        (changed([4, 50, 90, 130], [9, 9, 7000, 3]), "9, 9, 7000 and 1 more are out of order, as with a wrong digit"),
        ([n for n in PATIENTS if n % 7], ""),
        ([*range(1000, 1100), *range(2000, 2100), *range(7000, 7100)], ""),
        (changed([7, 90], [None, None]), ""),
        ([None if n % 50 == 3 else n for n in changed([7], [10070])], "10070 is out of order, as with a wrong digit"),
    ],
    ids=["backwards", "one digit more", "the first", "the last", "two digits exchanged", "duplicates", "four wrong",
         "gaps", "centres", "missing", "missing and wrong"],
)  # fmt: skip
def test_an_id_with_mistakes_is_an_id(name, values, doubt):
    found = column(values, name)
    assert (found.kind, found.doubt) == ("id", doubt), found.why
    assert found.other == ("number" if doubt else "")


def test_what_is_no_id_with_mistakes(rng):
    quantity = rng.integers(0, 400, 300)
    for values in (
        quantity,
        np.sort(quantity),
        np.sort(rng.integers(0, 10**6, 300)),
        np.repeat(range(60), 5),
        np.tile(range(60), 5),
        changed(range(0, 300, 10), [3] * 30),
        [*PATIENTS[:5], 5000, *PATIENTS[5:9]],
    ):
        assert column([int(value) for value in values], "v1").kind == "number"


def test_names_of_rows_that_are_there_twice():
    names = [f"P{n}" for n in PATIENTS]
    found = column([*names, "P1003"], "patient")
    assert (found.kind, found.doubt) == ("id", "'P1003' is there more than once")
    assert column([*names, "P1003"], "remark").kind == "text"
    assert column([f"P{n // 3}" for n in PATIENTS], "patient").kind == "text"


def test_long_columns_are_read_at_once():
    values = np.arange(1_000_000.0)
    values[500_000] = 7.0
    started = time.process_time()
    assert kind_of("v1", values).kind == "id"
    assert time.process_time() - started < 3


def test_codes_are_pointed_out_and_stay_numbers():
    found = column([1 + i % 4 for i in range(N)])
    assert (found.kind, found.other) == ("number", "category")
    assert "4 different whole numbers (1, 2, 3, 4) may be codes" in found.doubt
    assert column([(i * 13) % 30 for i in range(80)], "region").other == "category"
    assert column([(i * 13) % 30 for i in range(80)], "height").doubt == ""
    assert column([i % 2 for i in range(N)]).doubt == ""  # two values are the same as categories and as numbers


def test_words_among_numbers_are_said():
    found = column(["n.d." if i in (3, 8) else str(i * 3 % 37 + 0.5) for i in range(N)])
    assert "2 cells are no numbers ('n.d.') and read as missing" in found.doubt
    assert np.isnan(found.values[[3, 8]]).all()
    assert np.isnan(found.values).sum() == 2
    # a word with a digit may be a number in another notation: nothing is thrown away
    assert column(["1.5.2" if i == 3 else str(i * 3 % 37 + 0.5) for i in range(N)]).kind != "number"


def test_limits_of_what_can_be_measured_are_no_numbers():
    found = column(["<0.1" if i in (3, 8) else str(i * 3 % 37 + 0.5) for i in range(N)], "Ti")
    assert (found.kind, found.other) == ("number", "category")
    assert "2 cells are no numbers ('<0.1') and read as missing" in found.doubt
    assert np.flatnonzero(np.isnan(found.values)).tolist() == [3, 8]
    assert column([["<5 kg", "5-10 kg", ">10 kg"][i % 3] for i in range(N)]).kind == "ordinal"


def test_numbers_in_several_units_are_named():
    found = column([f"{i / 4} kg" if i % 2 else f"{i * 100} g" for i in range(N)])
    assert found.kind == "text"
    assert found.doubt == "numbers with different units (g, kg): bring them to one unit"
    some = column([f"{i / 4} kg" if i % 3 else f"{i * 100} g" if i % 2 else str(i) for i in range(N)])
    assert (some.kind, some.doubt) == ("text", "numbers with different units (kg, g): bring them to one unit")
    left_away = column([f"{i * 13 % 37} kg" if i % 5 else str(i * 13 % 37) for i in range(N)])
    assert (left_away.kind, left_away.values[:4].tolist()) == ("number", [0, 13, 26, 2])
    assert column([f"{i} {'abcdefghij'[i % 10] * 2}" for i in range(N)]).doubt == ""  # flats and the like


def test_values_survive():
    np.testing.assert_array_equal(column(["1,234.5", "2,000", "-3"]).values, [1234.5, 2000, -3])
    np.testing.assert_array_equal(column(["1,5", "2", "-3,25"]).values, [1.5, 2, -3.25])
    np.testing.assert_array_equal(column(["$1.50", "$-2", "3$"]).values, [1.5, -2, 3])
    assert column(["$1.50", "$-2", "3€"]).doubt.startswith("numbers with different units ($, €)")
    np.testing.assert_array_equal(
        column(["34,7 %", "2 %", "unknown", *(f"{i},5 %" for i in range(9))]).values[:2], [34.7, 2]
    )
    np.testing.assert_array_equal(column(["14.041,43 €", "2,50 €", "3 €"]).values, [14041.43, 2.5, 3])
    assert column(["1_000", "2", "3"]).kind != "number"


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["2020-01-01", "2020-01-11", None], "number", [0, 10, np.nan]),
        ([1, 2, 1], "category", ["1", "2", "1"]),
        ([1.5, None, 2.5], "category", ["1.5", None, "2.5"]),
        ([True, False, None], "category", ["True", "False", None]),
        (["a", "b", "c"], "text", ["a", "b", "c"]),
    ],
)
def test_what_is_asked_for(values, kind, expected):
    found = as_kind("x", named_columns({"x": values}, "test")["x"], kind, "test")
    assert found.kind == kind
    if kind == "number":
        np.testing.assert_array_equal(found.values, expected)
    else:
        assert found.values.tolist() == expected


def test_what_cannot_be():
    with pytest.raises(ValueError, match="test: column 'x' must hold numbers; got 'a'"):
        as_kind("x", named_columns({"x": ["a", "1"]}, "test")["x"], "number", "test")
    with pytest.raises(ValueError, match="test: column 'x' cannot be read as dates; numbers"):
        as_kind("x", named_columns({"x": [1.5, 2.5]}, "test")["x"], "date", "test")


def test_a_column_that_is_nearly_numbers_names_the_cell_that_is_none():
    cells = [f"{i}.5" for i in range(20)]
    found = column([*cells, "3.5 p", "4 b"])
    assert found.kind == "text"
    assert found.doubt.startswith("most are numbers, but not '3.5 p': correct")
    assert column(["1", "2", "3", "3a"] * 6).kind == "category"  # floors
    assert column([f"a{i}" for i in range(20)]).doubt == ""


def test_days_of_spreadsheets_are_dates():
    days = np.array([45292.0, 45293, np.nan, 45323, 45300])
    found = kind_of("start date", days)
    assert found.kind == "date"
    assert found.values[0] == np.datetime64("2024-01-01")
    assert np.isnat(found.values[2])
    assert kind_of("price", days).kind == "number"
    assert kind_of("date", np.array([1990.0, 1992, 2001])).kind == "number"
