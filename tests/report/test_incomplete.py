"""Missing cells on the page: shares by row and column, and where incomplete rows may be."""

import base64
import json
import re

import numpy as np
import pytest

import lowdim
from lowdim.report.render import render
from tests.report.browser import READY, canvas, inked

HOW = {"n_imputations": 3, "method": "regularized", "n_components": 2, "scale": False, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    full = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((120, 5))
    X = full.copy()
    X[:40, 0] = np.nan
    X[:10, 1] = np.nan
    return X


@pytest.fixture(scope="module")
def holed(X):
    return lowdim.compare(X, None, ["pca"], random_state=0, verdict=False)


@pytest.fixture(scope="module")
def imputation(X):
    return lowdim.impute(X, **{**HOW, "n_imputations": 8})


@pytest.fixture(scope="module")
def file(holed, X, imputation, tmp_path_factory):
    path = tmp_path_factory.mktemp("incomplete") / "report.html"
    holed.report(path, data=X, imputation=imputation)
    return path


def test_the_page_says_what_is_missing(show, file):
    page = show(file)
    section = page.locator("section:has(#missing)")
    text = section.inner_text()
    assert "8.3 % of all cells are missing: in 40 of 120 rows, and in 2 columns." in text
    lines = section.locator("li").all_inner_texts()
    assert [re.sub(r"\s+", " ", line) for line in lines] == ["column 0 33.3 %", "column 1 8.3 %"]
    assert float(section.locator("meter").first.get_attribute("value")) == pytest.approx(1 / 3, abs=1e-4)
    page.locator("#colour").select_option(label="share of missing cells")
    page.wait_for_selector(READY)
    assert page.locator("#legend").inner_text().split() == ["0", "0.4"]


def test_a_complete_table_has_no_such_section(X):
    full = np.nan_to_num(X)
    assert 'id="missing"' not in render(lowdim.compare(full, None, ["pca"], verdict=False), data=full)


def test_ellipses_are_where_the_draws_of_the_row_are(show, file, imputation):
    text = file.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, flags=re.S)[1])
    found = next(m for m in data["maps"] if m["name"] == "pca")["ellipses"]
    rows = np.frombuffer(base64.b64decode(found["rows"]), np.int32)
    axes = np.frombuffer(base64.b64decode(found["axes"]), np.float32).reshape(-1, 2, 2)
    np.testing.assert_array_equal(rows, np.arange(40))
    # Half axes of the map over those of the imputation are one number: the map is the same plane in another unit.
    lengths = np.linalg.norm(imputation.row_ellipses().axes[:40], axis=2)
    ratio = np.linalg.norm(axes, axis=2) / lengths
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-4)
    # Rows with two missing cells are less certain than rows with one.
    assert lengths[:10, 0].mean() > lengths[10:, 0].mean()
    page = show(file)
    page.locator("#others .pick, #large .pick").filter(has_text="pca").click()
    page.wait_for_selector(READY)
    shown = inked(page, layer=1)[0]
    assert shown > 200
    page.locator("#ellipses").click()
    page.wait_for_selector(READY)
    assert inked(page, layer=1)[0] == 0
    assert canvas(page, 1).count() == 1


def test_an_imputation_of_other_rows_or_units_is_refused(holed, X):
    with pytest.raises(ValueError, match="report: imputation must have the 120 rows of the comparison; got 50"):
        render(holed, imputation=lowdim.impute(X[:50], **HOW))
    other = X * [1, 1000, 1, 1, 1]
    with pytest.raises(ValueError, match="no linear map agrees with"):
        render(holed, imputation=lowdim.impute(other, **HOW))
