"""What directions of a map mean: loadings for linear maps, local slopes for the others."""

import numpy as np
import pytest

import lowdim
from lowdim.report.render import render
from tests.report.browser import READY, inked, spot


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((150, 2)) * [3, 1]
    return hidden @ rng.standard_normal((2, 5)) + 0.2 * rng.standard_normal((150, 5))


@pytest.fixture(scope="module")
def linear(X):
    maps = {"pca": lowdim.PCA(n_components=2), "tsne": lowdim.TSNE(n_components=2, perplexity=20)}
    return lowdim.compare(X, None, maps, random_state=0, verdict=False)


@pytest.fixture(scope="module")
def file(linear, X, tmp_path_factory):
    path = tmp_path_factory.mktemp("axes") / "report.html"
    path.write_text(render(linear, data=X, columns=list("abcde")), encoding="utf-8")
    return path


READ = """() => { const told = {};
  for (const dt of document.querySelectorAll('#tip dt'))
    if (dt.textContent.includes(' grows ')) told[dt.textContent] = dt.nextElementSibling.textContent;
  return told; }"""
COMPASS = "→↗↑↖←↙↓↘"


def compass(x, y):
    return COMPASS[round(np.arctan2(y, x) / (np.pi / 4)) % 8]


def pointed(page, c, name, row):
    page.mouse.move(2, 2)
    page.mouse.move(*spot(page, c, name, row))
    page.wait_for_selector("#tip.on")
    page.wait_for_selector(READY)
    return page.evaluate(READ)


def show_map(page, name):
    page.locator("#others .pick, #large .pick").filter(has_text=name).click()
    page.wait_for_selector(READY)


def test_arrows_of_a_linear_map_are_its_loadings(show, file, linear, X):
    page = show(file)
    show_map(page, "pca")
    before = inked(page, layer=1)[0]
    page.locator("#axes").click()
    page.wait_for_selector(READY)
    assert inked(page, layer=1)[0] > before + 500  # arrows are there without pointing at anything
    assert "linear map" in page.locator("#axes-told").text_content()
    told = pointed(page, linear, "pca", 5)
    # Loadings, turned like the map: the least-squares map from the scores to the picture is that rotation.
    model, Z = linear.models["pca"], linear.aligned()["pca"]
    scores = linear.embeddings["pca"]
    turn = np.linalg.lstsq(scores - scores.mean(axis=0), Z - Z.mean(axis=0), rcond=None)[0]
    loadings = model.components_.T @ turn
    explained = (model.explained_variance_ @ model.components_**2) / X.var(axis=0, ddof=1)
    assert len(told) == 4
    for name, value in told.items():
        j = "abcde".index(name[0])
        assert name[-1] == compass(*loadings[j]), name
        assert float(value.split()[0]) == pytest.approx(100 * explained[j], abs=1)
    shares = [float(value.split()[0]) for value in told.values()]
    assert shares == sorted(shares, reverse=True)


def test_arrows_of_a_curved_map_belong_to_the_place_that_is_pointed_at(show, file, linear, X):
    page = show(file)
    show_map(page, "tsne")
    page.locator("#axes").click()
    page.wait_for_selector(READY)
    assert inked(page, layer=1)[1] == 0  # nothing is said about the map as a whole
    assert "approximate" in page.locator("#axes-told").text_content()
    Z = linear.aligned()["tsne"]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    order = np.argsort(D, axis=1, kind="stable")[:, 1:21]
    seen = set()
    for row in (0, 40, 90):
        told = pointed(page, linear, "tsne", row)
        head = page.locator("#tip strong").text_content()
        at = int(head.split()[-1].strip("()"))
        region = [at]
        for centre in region:
            region += [int(i) for i in order[centre] if int(i) not in region][: 60 - len(region)]
            if len(region) >= 60:
                break
        A = np.column_stack([np.ones(60), Z[region]])
        for name, value in told.items():
            j = "abcde".index(name[0])
            slope, residual, *_ = np.linalg.lstsq(A, X[region, j], rcond=None)
            share = 1 - residual[0] / 57 / X[region, j].var(ddof=1)
            assert float(value.split()[0]) == pytest.approx(100 * share, abs=1.01)
            assert name[-1] == compass(*slope[1:]), (row, name)
        seen.add(tuple(sorted(told)))
    assert all(seen), "columns were named around each row"
    assert inked(page, layer=1)[1] > 300


def test_the_arrows_are_in_the_address_and_reached_by_keys(show, file, linear):
    page = show(file)
    page.locator("#axes").focus()
    page.keyboard.press("Enter")
    assert "axes=1" in page.evaluate("location.hash")
    page.reload()
    page.wait_for_selector(READY)
    assert page.locator("#axes").get_attribute("aria-pressed") == "true"
    assert page.locator("#axes-told").is_visible()
