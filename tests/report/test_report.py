"""The page: complete, escaped, and alone in the world."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.base import BaseEstimator

import lowdim
from lowdim.report.render import render

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&"


class Fail(BaseEstimator):
    def fit_transform(self, X, y=None):
        raise RuntimeError(HOSTILE)


class Elements(HTMLParser):
    """Every element with its attributes, the text of the JSON element, and whether tags are balanced."""

    VOID = {"meta", "br", "img", "link", "input"}

    def __init__(self, page):
        super().__init__()
        self.found, self.stack, self.data, self.text = [], [], "", ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if self.found and self.found[-1] == ("script", {"type": "application/json", "id": "data"}):
            self.data += data
        self.text += data


@pytest.fixture(scope="module")
def roll():
    return lowdim.datasets.swiss_roll(90, random_state=0)


@pytest.fixture(scope="module")
def c(roll):
    return lowdim.compare(roll.X, roll.labels, ["pca", "isomap", ("broken", Fail())], random_state=4, label_name="side")


@pytest.fixture(scope="module")
def page(c):
    return render(c, title="A title", source="roll.csv", columns=["a", "b", "c"], notes=["one note"])


def test_page_says_what_was_done(page):
    text = re.sub(r"\s+", " ", Elements(page).text)
    for part in ("A title", "roll.csv", "3: a, b, c", "one note", "side (2 classes)", "euclidean distances between",
                 f"lowdim {lowdim.__version__}", "What does not follow", "n_neighbors", "data itself"):  # fmt: skip
        assert part in text
    assert re.search(r"seed\s*4\b", text)


def test_no_method_and_no_map_is_shown_twice(roll):
    c = lowdim.compare(roll.X, methods=["pca", "classical-mds", "isomap"])
    found = Elements(render(c))
    maps = [one["name"] for one in json.loads(found.data)["maps"]]
    assert len(maps) == len(set(maps))
    assert {"pca", "isomap"} <= set(maps)
    assert "classical-mds" not in maps
    assert "classical-mds is the same map as pca" in re.sub(r"\s+", " ", found.text)
    assert sorted(row["method"] for row in c.table) == sorted({row["method"] for row in c.table})
    with pytest.raises(ValueError, match="method names must be different; 'pca' is given 2 times"):
        lowdim.compare(roll.X, methods=["pca", "pca"])


def test_page_is_well_formed(page):
    elements = Elements(page)
    assert elements.stack == []
    ids = [attrs["id"] for _, attrs in elements.found if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_page_needs_no_network(page):
    assert not re.findall(r"(?:https?:)?//[\w.-]+\.\w+", re.sub(r'id="data">.*?</script>', "", page, flags=re.S))
    for tag, attrs in Elements(page).found:
        assert tag not in ("link", "iframe", "img", "base", "object", "embed")
        assert not {"src", "srcset", "action"} & set(attrs)
        assert attrs.get("href", "#").startswith("#")  # within the page
    assert "default-src 'none'" in page
    for word in ("fetch(", "XMLHttpRequest", "import(", "@import", "url("):
        assert word not in page


def test_numbers_of_the_maps_are_exact(c, page):
    data = json.loads(Elements(page).data)
    assert [m["name"] for m in data["maps"]] == ["pca", "isomap", "random"]
    xy = np.frombuffer(base64.b64decode(data["maps"][0]["xy"]), "<f4").reshape(-1, 2)
    Z = c.embeddings["pca"]
    centre, extent = (Z.max(axis=0) + Z.min(axis=0)) / 2, (Z.max(axis=0) - Z.min(axis=0)).max()
    np.testing.assert_allclose(xy, (Z - centre) / extent, atol=1e-6)
    quality = np.frombuffer(base64.b64decode(data["maps"][0]["quality"]), "<f4")
    np.testing.assert_allclose(quality, c.per_row["pca"], atol=1e-6)
    assert np.frombuffer(base64.b64decode(data["label"]["values"]), "<i4").tolist() == c.labels.codes.tolist()


def test_columns_travel_up_to_a_stated_cap(c, roll, monkeypatch):
    data = json.loads(Elements(render(c, data=roll.X, columns=["a", "b"])).data)["columns"]
    maps = sorted(c.verdict.rows, key=lambda name: name != c.verdict.recommended)
    judged = [f"{what}: {name}" for what in ("row verdict", "p-value") for name in maps]
    assert [column["name"] for column in data] == ["a", "b", "column 2", *judged]
    found = np.frombuffer(base64.b64decode(data[1]["values"]), "<f4")
    np.testing.assert_array_equal(found, roll.X[:, 1].astype(np.float32))
    monkeypatch.setattr("lowdim.report.column_views.MOST_CELLS", 200)
    page = render(c, data=roll.X)
    assert len(json.loads(Elements(page).data)["columns"]) == 2 + len(judged)
    assert "the first 2 of 3 columns; the others are not in this file" in page
    assert len(json.loads(Elements(render(c)).data)["columns"]) == len(judged)
    with pytest.raises(ValueError, match="data must be a table with 90 rows; got shape"):
        render(c, data=roll.X[:5])


def test_curves_travel_as_numbers(c, page):
    line = json.loads(Elements(page).data)["charts"][0]["lines"][1]
    k, r = (np.frombuffer(base64.b64decode(line[key]), kind) for key, kind in (("k", "<i4"), ("r", "<f4")))
    assert line["name"] == "isomap"
    np.testing.assert_allclose(r, c.curves["isomap"][k - 1], atol=1e-6)


def test_the_policy_names_the_script_and_the_style_by_hash(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "unsafe" not in policy
    for kind, text in (("script", re.search(r"<script>(.*?)</script>", page, flags=re.S)[1]),
                       ("style", re.search(r"<style>(.*?)</style>", page, flags=re.S)[1])):  # fmt: skip
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "style=" not in page.split("<body>")[1].split("<script")[0]  # an attribute would be refused


def test_scores_are_in_the_table(c, page):
    for row in c.table:
        if row["error"] is None:
            assert f"<td>{row['auc']:.3f}</td>" in page
    assert page.count("failed, see below") == 1


def test_everything_from_outside_is_escaped(roll):
    classes = np.where(roll.labels == 0, HOSTILE, "plain")
    c = lowdim.compare(roll.X, classes, [(HOSTILE, decomposition.PCA(2)), ("broken", Fail())], label_name=HOSTILE,
                       row_names=[HOSTILE] * 90)  # fmt: skip
    page = render(c, title=HOSTILE, source=HOSTILE, columns=[HOSTILE], notes=[HOSTILE])
    elements = Elements(page)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert not any(tag == "img" or "onerror" in attrs for tag, attrs in elements.found)
    assert "alert(1)</script>" not in page
    data = json.loads(elements.data)
    assert data["label"]["classes"][0] == HOSTILE
    assert data["names"][0] == HOSTILE


def test_only_a_stated_sample_is_drawn_but_all_rows_are_scored(c):
    page = render(c, max_points=10)
    data = json.loads(Elements(page).data)
    assert len(base64.b64decode(data["rows"])) == 4 * 10
    assert "A random sample of 10 of 90 rows is drawn; the scores do not depend on the sample." in page
    assert "90 rows scored" in page
    assert page == render(c, max_points=10)
    with pytest.raises(ValueError, match="max_points must be at least 1; got 0"):
        render(c, max_points=0)


def test_a_sample_of_anchors_is_stated_and_drawn(roll):
    c = lowdim.compare(roll.X, methods=["pca"], anchors=20, reference="geodesic")
    page = render(c, max_points=25)
    data = json.loads(Elements(page).data)
    quality = np.frombuffer(base64.b64decode(data["maps"][0]["quality"]), "<f4")
    assert np.isfinite(quality).sum() == 20
    assert "The quality was computed for a random sample of 20 rows; the others are grey." in page
    assert "scores use all rows" not in page
    assert "A value with ± was estimated" in page
    assert "±" in page.split('<table class="scores">')[1]
    assert "A value with ±" not in render(lowdim.compare(roll.X, methods=["pca"]))


def test_estimated_quality_is_drawn_for_every_row_and_stated(roll):
    page = render(lowdim.compare(roll.X, methods=["pca"], anchors=20))
    data = json.loads(Elements(page).data)
    assert np.isfinite(np.frombuffer(base64.b64decode(data["maps"][0]["quality"]), "<f4")).all()
    assert "The quality of each row is estimated from its" in page
    assert "the others are grey" not in page


def test_widths_are_kept_apart(roll):
    page = render(
        lowdim.compare(roll.X, methods=["pca", ("one", decomposition.PCA(1)), ("three", decomposition.PCA(3))])
    )
    for r in ("1 component", "2 components", "3 components"):
        assert f"<h3>Embeddings with {r}</h3>" in page
    assert "first 2 of 3 components" in page
    assert page.count("1 component: heights are random") == 2  # a map that is the same as another is drawn once
    assert "A map with one component is a line" in page
    assert page.count('<div class="chart">') == 3


def test_a_quantity_as_label_and_rows_without_place(roll):
    class Half(BaseEstimator):
        def fit_transform(self, X, y=None):
            Z = X[:, :2].copy()
            Z[:40] = np.nan
            return Z

    c = lowdim.compare(roll.X, roll.coordinates[:, 0], [("half", Half())])
    page = render(c)
    assert "(a quantity)" in page
    assert "over the 50 of 90 rows" in page
    assert "50/90" in page
    xy = np.frombuffer(base64.b64decode(json.loads(Elements(page).data)["maps"][0]["xy"]), "<f4").reshape(-1, 2)
    assert np.isnan(xy[:40]).all()
    assert np.isfinite(xy[40:]).all()


def test_nothing_but_failures(roll, monkeypatch):
    monkeypatch.setattr(lowdim.PCA, "fit_transform", Fail.fit_transform)
    page = render(lowdim.compare(roll.X, methods=[("broken", Fail())]))
    assert page.count("failed, see below") == 2


def test_tiny_tables():
    for n in (3, 4, 5):
        X = np.random.default_rng(n).normal(size=(n, 2))
        circles = [
            attrs for tag, attrs in Elements(render(lowdim.compare(X, methods=["pca"]))).found if tag == "circle"
        ]
        assert len(circles) == (2 if n == 3 else 0)  # a curve of a single size is drawn as a dot


def test_rows_without_a_label_are_marked(roll):
    classes = np.array(["a", "b"], dtype=object)[roll.labels]
    classes[:5] = None
    page = render(lowdim.compare(roll.X, classes, ["pca"]))
    data = json.loads(Elements(page).data)["label"]
    assert data["classes"] == ["a", "b"]
    assert np.frombuffer(base64.b64decode(data["values"]), "<i4")[:6].tolist() == [-1] * 5 + [roll.labels[5]]
    assert "(2 classes, 5 rows without a label)" in page
    quantity = roll.coordinates[:, 0].copy()
    quantity[3] = np.nan
    data = json.loads(Elements(render(lowdim.compare(roll.X, quantity, ["pca"]))).data)["label"]
    assert np.flatnonzero(np.isnan(np.frombuffer(base64.b64decode(data["values"]), "<f4"))).tolist() == [3]


def test_the_error_of_a_given_reference_is_called_that(roll):
    c = lowdim.compare(roll.X, roll.labels, ["pca"], reference=roll.isometric_coordinates)
    page = render(c)
    row = page.split("reference itself")[1].split("</tr>")[0]
    assert "<td>2</td>" in row
    assert f"<td>{lowdim.quality.knn_error(roll.isometric_coordinates, roll.labels):.3f}</td>" in row
    assert "data itself" not in page


def test_a_map_without_extent(roll):
    class Point(BaseEstimator):
        def fit_transform(self, X, y=None):
            return np.zeros((len(X), 2))

    c = lowdim.compare(roll.X, methods=[("point", Point())])
    page = render(c)
    xy = np.frombuffer(base64.b64decode(json.loads(Elements(page).data)["maps"][0]["xy"]), "<f4")
    np.testing.assert_array_equal(xy, 0)
    row = page.split('<table class="scores">')[1].split('<th scope="row">point</th>')[1].split("</tr>")[0]
    assert "nan" not in row
    assert "<td>–</td>" in row  # the rank correlation of equal distances


def test_report_replaces_the_file_at_once(c, tmp_path):
    path = c.report(tmp_path / "r.html")
    assert path == tmp_path / "r.html"
    first = path.read_text(encoding="utf-8")
    c.report(path, title="Second")
    assert "Second" in path.read_text(encoding="utf-8")
    assert "Second" not in first
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_page_without_jinja(c, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'lowdim\[app\]'"):
        render(c)


def test_more_dimensions_than_columns_are_explained(tmp_path, rng):
    c = lowdim.compare(rng.normal(size=(60, 3)), methods=["pca"], n_jobs=1)
    assert c.evidence.dimension.interval[1] > 3
    page = c.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "So many rows and columns can have at most 3, which is what the verdict says." in page
