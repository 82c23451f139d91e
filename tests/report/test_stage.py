"""The large map and the others, the address, pictures to take away, and the marked rows in words and numbers."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import lowdim
from lowdim.report.render import render
from tests.report.browser import LEFT, MARKUP, READY, canvas, colours, inked, loop, n_marked, spot, unit


def large(page):
    return page.locator("#large .pick").text_content()


def others(page):
    return page.locator("#others .pick").all_text_contents()


def test_the_recommended_map_is_large_and_the_others_are_sorted_by_the_question(show, c):
    page = show()
    assert large(page) == c.verdict.recommended
    questions = page.locator("input[name=question]")
    assert [q.get_attribute("value") for q in questions.all()] == list(c.evidence.rankings)
    for name, ranking in c.evidence.rankings.items():
        page.locator(f'label:has(input[value="{name}"])').click()
        page.wait_for_selector(READY)
        ranked = list(ranking.values)
        assert large(page) == ranked[0]
        assert [other for other in others(page) if other in ranked] == ranked[1:]
        assert page.locator("#large .value").text_content() == f"{ranking.values[ranked[0]]:.2f}"
        assert page.locator(".best .pick").all_text_contents() == [
            n for n in [large(page), *others(page)] if n in ranking.ties
        ]


def test_a_small_map_is_enlarged_by_a_click_and_by_arrow_keys(show, c):
    page = show()
    first, small = large(page), others(page)
    box = page.locator("#others canvas[data-map]").first.bounding_box()
    page.mouse.click(box["x"] + 3, box["y"] + 3)
    page.wait_for_selector(READY)
    assert large(page) == small[0]
    assert n_marked(page) == 0
    page.locator("#large .pick").focus()
    order = [first, *small]  # by the question, whichever is large
    for by, key in ((1, "ArrowRight"), (1, "ArrowDown"), (-1, "ArrowLeft")):
        wanted = order[(order.index(large(page)) + by) % len(order)]
        page.keyboard.press(key)
        assert large(page) == wanted
        assert page.evaluate("document.activeElement.textContent") == wanted
    assert page.locator("[aria-pressed=true].pick").count() == 1


def test_every_sentence_of_the_verdict_leads_to_its_evidence(show, c):
    page = show()
    links = page.locator(".verdict a")
    assert links.count() == len(c.verdict.sentences)
    for link in links.all():
        target = link.get_attribute("href")
        assert page.locator(target).count() == 1, target
    headings = page.locator("h2").all_text_contents()
    parts = ["Verdict", "Maps", "Neighbourhood preservation", "Evidence", "Scores", "Settings"]
    assert [h for h in headings if h in parts] == parts


def true_neighbours(X, row, k):
    distances = np.linalg.norm(X - X[row], axis=1)
    distances[row] = np.inf
    return set(np.argsort(distances, kind="stable")[:k].tolist())


def alone(Z):
    """A row well away from the others, so that the pointer means it."""
    apart = np.sort(np.linalg.norm(Z[:, None] - Z[None], axis=2), axis=1)[:, 1]
    return int(np.argmax(np.where(np.abs(Z).max(axis=1) < 0.45, apart, 0)))


def test_pointing_at_a_row_shows_what_is_true_in_the_data(show, c, roll):
    page = show()
    Z = unit(c.aligned()[large(page)])
    row = alone(Z)
    before = colours(page)
    page.mouse.move(*spot(page, c, large(page), row))
    page.wait_for_selector(READY)
    assert page.locator("#tip strong").text_content() == f"<i>{row}</i> (row {row})"
    distances = np.delete(np.linalg.norm(roll.X - roll.X[row], axis=1), row)
    near, far = page.locator("#truth-ramp [data-end]").all_text_contents()
    assert float(near.split()[1]) == pytest.approx(distances.min(), rel=0.01)
    assert float(far.split()[1]) == pytest.approx(np.quantile(distances, 0.75), rel=0.01)
    for old, new in zip(before, colours(page), strict=True):
        assert old != new  # every map
    in_map = np.linalg.norm(Z - Z[row], axis=1)
    in_map[row] = np.inf
    wrong = set(np.argsort(in_map, kind="stable")[:10].tolist()) - true_neighbours(roll.X, row, 20)
    told = page.locator("#tip").inner_text()
    assert f"false neighbours in {large(page)}\n{len(wrong)} of 10" in told
    page.mouse.move(2, 2)
    page.wait_for_selector(READY)
    assert colours(page) == before


def test_rows_near_in_the_data_have_the_colour_of_near_in_every_map(show, c, roll):
    page = show()
    row = alone(unit(c.aligned()[large(page)]))
    page.mouse.move(*spot(page, c, large(page), row))
    page.wait_for_selector(READY)
    Z = unit(c.aligned()["random"])
    free = [i for i in range(300) if np.partition(np.linalg.norm(Z - Z[i], axis=1), 1)[1] > 0.03]
    order = np.argsort(np.linalg.norm(roll.X - roll.X[row], axis=1))
    rank = np.empty(300, int)
    rank[order] = np.arange(300)
    k = list(c.aligned()).index("random")
    box = canvas(page, k).bounding_box()
    lightness = {}
    for i in free:
        x, y = spot(page, c, "random", i)
        pixel = canvas(page, k).evaluate(
            "(found, [x, y]) => [...found.getContext('2d').getImageData(Math.floor(x), Math.floor(y), 1, 1).data]",
            [x - box["x"], y - box["y"]],
        )
        if pixel[3] > 150:
            lightness[i] = sum(pixel[:3])
    assert len(lightness) > 10
    seen = list(lightness)
    assert np.corrcoef(rank[seen], [lightness[i] for i in seen])[0, 1] > 0.8  # dark is near


def test_truth_can_be_switched_off_and_is_off_for_those_who_want_little_motion(show, c):
    page = show()
    row = alone(unit(c.aligned()[large(page)]))
    page.locator("#truth").click()
    assert page.locator("#truth").get_attribute("aria-pressed") == "false"
    before = colours(page)
    page.mouse.move(*spot(page, c, large(page), row))
    page.wait_for_selector("#tip.on")
    assert colours(page) == before
    calm = show(reduced_motion="reduce")
    assert calm.locator("#truth").get_attribute("aria-pressed") == "false"


def test_truth_by_keyboard(show):
    page = show()
    before = colours(page)
    page.locator("#large canvas[data-map]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(READY)
    assert colours(page) != before
    assert "false neighbours in" in page.locator("#say").text_content()


def test_the_address_opens_the_same_view(show, start, path, c):
    page = show()
    page.locator('label:has(input[value="distances"])').click()
    page.locator("#others .pick").first.click()
    page.locator("#colour").select_option("column:1")
    page.locator("#truth").click()
    page.locator("#large canvas[data-map]").focus()
    page.keyboard.press("+")
    loop(page, list(c.aligned()).index(large(page)), LEFT)
    page.mouse.move(2, 2)
    page.wait_for_selector(READY)
    address = page.evaluate("location.href")
    again = page.context.new_page()
    again.goto(address)
    again.wait_for_selector(READY)
    assert large(again) == large(page)
    assert others(again) == others(page)
    assert again.locator("#colour").input_value() == "column:1"
    assert again.locator("#truth").get_attribute("aria-pressed") == "false"
    assert n_marked(again) == n_marked(page) > 0
    assert inked(again) == inked(page)
    for strange in ("map=nothing&colour=column:99&rows=zz.-.zzzzzz&view=a,b", "map=%3Cb%3E&for=x", "map=&rows=1-"):
        other = page.context.new_page()
        other.goto(f"{path.as_uri()}#{strange}")
        other.wait_for_selector(READY)
        assert large(other) == c.verdict.recommended


def test_what_sets_marked_rows_apart(show, c, roll):
    page = show()
    loop(page, 1, LEFT)
    page.wait_for_selector("#apart li")
    marked = np.zeros(300, bool)
    with page.expect_download() as download:
        page.locator("#save").click()
    with open(download.value.path(), encoding="utf-8") as file:
        marked[[int(line.split(",")[0]) for line in file.read().splitlines()[1:]]] = True
    assert marked.sum() == n_marked(page)
    a, b = roll.X[marked], roll.X[~marked]
    spread = np.sqrt(((len(a) - 1) * a.var(axis=0, ddof=1) + (len(b) - 1) * b.var(axis=0, ddof=1)) / 298)
    sizes = np.abs(a.mean(axis=0) - b.mean(axis=0)) / spread
    lines = page.locator("#apart li").all_inner_texts()
    found = {line.split("\n")[0]: line for line in lines}
    assert f"{sizes[0]:.1f} ·" in found["width"]
    assert f"{sizes[2]:.1f} ·" in found["depth"]
    values = [float(re.search(r"([\d.]+) ·", line)[1]) for line in lines]
    assert values == sorted(values, reverse=True)


def test_marked_rows_are_a_table_that_sorts(show, c, roll):
    page = show()
    loop(page, 1, LEFT)
    page.wait_for_selector("#picked-rows tbody tr")
    assert page.locator("#picked-rows tbody tr").count() == min(100, n_marked(page))
    heads = page.locator("#picked-rows thead th")
    k = heads.all_text_contents().index("width")
    for way, turn in (("ascending", 1), ("descending", -1)):
        heads.nth(k).locator("button").click()
        assert heads.nth(k).get_attribute("aria-sort") == way
        cells = page.locator(f"#picked-rows tbody tr td:nth-child({k + 1})").all_text_contents()
        values = [turn * float(cell.replace("−", "-")) for cell in cells]
        assert values == sorted(values)
    page.keyboard.press("Escape")
    assert page.locator("#picked").is_hidden()


def test_rows_are_found_by_name(show, c):
    page = show()
    page.locator("#find").fill("<i>29")
    assert page.locator("#found").text_content() == "11 found"  # 29 and 290 to 299
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    assert n_marked(page) == 11
    page.locator("#find").fill("plain")
    page.keyboard.press("Enter")
    assert n_marked(page) == int((c.labels.codes == c.labels.classes.index("plain")).sum())


def saved(page, button):
    with page.expect_download() as download:
        page.locator(button).click()
    with open(download.value.path(), "rb") as file:
        return download.value.suggested_filename, file.read()


@pytest.mark.parametrize("choice", ["label", "column:0", "quality"])
def test_the_large_map_is_saved_as_svg(show, c, choice):
    page = show(color_scheme="dark")
    page.locator("#colour").select_option(choice)
    name, text = saved(page, "#svg")
    assert name.endswith(".svg")
    tree = ElementTree.fromstring(text)
    circles = tree.findall("{*}circle")
    key = 2 if choice == "label" else 0
    assert len(circles) - key == 300
    words = [found.text for found in tree.findall("{*}text")]
    assert large(page) in words
    assert any("same scale" in each for each in words)
    assert (MARKUP[:23] in " ".join(words)) == (choice == "label")  # as text, cut to the width of the key
    assert tree.find("{*}rect").get("fill") == "#fff"  # paper, also from a dark screen
    Z = unit(c.aligned()[large(page)])
    drawn = np.array([[float(found.get(at)) for at in ("cx", "cy")] for found in circles[key:]])
    span = np.ptp(drawn, axis=0)
    np.testing.assert_allclose(span / span.max(), np.ptp(Z, axis=0) / np.ptp(Z, axis=0).max(), atol=0.01)


def test_the_large_map_is_saved_as_png(show):
    name, found = saved(show(), "#png")
    assert name.endswith(".png")
    assert found.startswith(b"\x89PNG")
    width, height = (int.from_bytes(found[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (2490, 2172)


def test_what_unrolls_is_the_first_colour(show, tmp_path, c, roll):
    file = tmp_path / "unrolled.html"
    file.write_text(render(c, colours={"along": roll.coordinates[:, 0]}), encoding="utf-8")
    page = show(file)
    assert page.locator("#colour option:checked").text_content() == "along"
    assert page.locator("#legend .bar").count() == 1
    with pytest.raises(ValueError, match=r"colours\['along'\] must have 300 values; got shape \(3,\)"):
        render(c, colours={"along": [1, 2, 3]})


def test_a_sample_finds_neighbours_among_the_rows_drawn(show, tmp_path, c):
    file = tmp_path / "sample.html"
    file.write_text(render(c, max_points=80), encoding="utf-8")
    page = show(file)
    page.locator("#large canvas[data-map]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(READY)
    assert re.search(r"false neighbours in \w+: \d+ of 10", page.locator("#say").text_content())


def test_distances_that_were_given_are_shown_too(show, tmp_path, roll):
    from scipy.spatial.distance import pdist, squareform

    D = squareform(pdist(roll.X[:120], "cityblock"))
    c = lowdim.compare(D, methods=["classical-mds"], metric="precomputed", random_state=0, verdict=False)
    assert c.data_copy.kind == "distances"
    file = tmp_path / "given.html"
    file.write_text(render(c), encoding="utf-8")
    page = show(file)
    page.locator("#large canvas[data-map]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(READY)
    near, _far = page.locator("#truth-ramp [data-end]").all_text_contents()
    assert float(near.split()[1]) == pytest.approx(np.sort(D[0])[1], rel=0.01)
