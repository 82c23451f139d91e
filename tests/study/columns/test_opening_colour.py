"""The column that a report opens with where there is no label: the one that the map is arranged by."""

import json
import re

import numpy as np
import pytest

import lowdim
from lowdim.study.columns import Wishes, read_table
from lowdim.study.columns.opening_colour import opening_colour

N = 300


def columns(table):
    return read_table(table, Wishes(find_label=False)).columns


def test_the_share_that_neighbours_explain(rng):
    """Noise explains nothing, a coordinate of the map nearly all, half of each the share of the signal."""
    Z = rng.normal(size=(2000, 2))
    half = Z[:, 0] + rng.normal(size=2000)
    table = {"noise": rng.normal(size=2000).tolist(), "half": half.tolist(), "first": Z[:, 0].tolist()}
    shares = {
        name: opening_colour(columns({name: table[name], "rest": table["noise"]}), "m", Z) for name in ("half", "first")
    }
    assert shares["first"].share > 0.98
    assert 0.38 < shares["half"].share < 0.52  # 1/2 of the variance is signal; a mean of 10 adds a tenth of the noise
    assert opening_colour(columns({"a": table["noise"], "b": rng.normal(size=2000).tolist()}), "m", Z) is None


def test_categories_are_measured_by_the_same_share(rng):
    Z = np.vstack([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 20])
    group = ["left"] * 150 + ["right"] * 150
    table = {"x": rng.normal(size=N).tolist(), "group": group, "scattered": rng.permutation(group).tolist()}
    found = opening_colour(columns(table), "umap", Z)
    assert (found.column, found.share) == ("group", 1.0)
    assert "'group'" in found.why
    assert "umap" in found.why
    holes = [None if i % 3 == 0 else g for i, g in enumerate(group)]
    assert opening_colour(columns({**table, "group": holes}), "umap", Z).share == 1.0


def test_numbers_at_the_end_of_the_range(rng):
    Z = rng.normal(size=(60, 2))
    table = {"a": (1e300 * Z[:, 0]).tolist(), "b": rng.normal(size=60).tolist()}
    with np.errstate(all="raise"):
        assert opening_colour(columns(table), "m", Z).column == "a"


@pytest.mark.parametrize("labelled", [False, True])
def test_the_page_opens_with_it_and_says_why(rng, tmp_path, labelled):
    angle = np.sort(rng.uniform(0, 3, 80))
    table = {
        "noise": rng.normal(size=80).tolist(),
        "a": (9 * np.cos(angle)).tolist(),
        "b": (9 * np.sin(angle)).tolist(),
    }
    y = ["u", "v"] * 40 if labelled else None
    c = lowdim.compare(table, y, ["pca"], verdict=False, scale=False)
    page = c.report(tmp_path / "r.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', page, re.S).group(1))
    if labelled:
        assert data["start"] is None
        assert c.opening_colour is None
        return
    assert c.opening_colour.column == "a"
    assert data["start"] == "column:1"
    assert data["columns"][1]["name"] == "a"
    assert "maps open coloured by" in page
    assert c.to_dict()["opening_colour"]["why"] == c.opening_colour.why
