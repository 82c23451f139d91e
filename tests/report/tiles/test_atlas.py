"""Answers of a file of tiles beside the same counted in numpy from the rows themselves."""

import numpy as np
import pytest

from lowdim.report.tiles import Atlas, Colour, Places, Scatter, write
from lowdim.report.tiles import density as density_module
from lowdim.report.tiles.kept import Kept
from lowdim.report.tiles.store import N_COLOURED
from tests.report.tiles import decoded
from tests.report.tiles.decoded import scatter, unit

SQUARES = [(0, 0, 0), (1, 0, 0), (1, 1, 1), (2, 1, 2), (5, 15, 16)]


@pytest.fixture(scope="module")
def given():
    return scatter()


@pytest.fixture(scope="module")
def path(given, tmp_path_factory):
    return write(given, tmp_path_factory.mktemp("tiles") / "points.tiles", seed=3, run="one")


@pytest.fixture
def atlas(path):
    return Atlas(path)


def shuffled(atlas, given):
    """The rows as they were given, in the order of the file."""
    return np.array([atlas.row(k)["number"] - 1 for k in range(atlas.n)])


def bins(xy, level, x, y):
    """The bin of each row in a square, -1 outside, counted as the page would."""
    at = np.floor(np.nan_to_num(unit(xy), nan=-1) * 2 ** (level + 8)).astype(int)
    inside = (at >> 8 == [x, y]).all(axis=1)
    return np.where(inside, (at[:, 1] % 256) * 256 + at[:, 0] % 256, -1)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("square", SQUARES)
def test_density_is_the_histogram(atlas, given, k, square):
    where = bins(given.maps[k].xy, *square)
    expected = np.bincount(where[where >= 0], minlength=65536)
    found = decoded.tile(atlas.tile(k, *square))
    counted = np.zeros(65536, int)
    counted[found["y"] * 256 + found["x"]] = found["counts"]
    np.testing.assert_array_equal(counted, expected)
    assert found["total"] == expected.sum()
    assert (found["counts"] > 0).all()


def test_blocks_change_nothing(path, monkeypatch):
    whole = [Atlas(path).tile(0, 1, 1, 1, 0, "class:0:1"), Atlas(path).points(0, 0, 0, 0, 1, half=1)]
    monkeypatch.setattr(density_module, "BLOCK", 97)
    assert [Atlas(path).tile(0, 1, 1, 1, 0, "class:0:1"), Atlas(path).points(0, 0, 0, 0, 1, half=1)] == whole


@pytest.mark.parametrize("square", SQUARES)
def test_the_colour_of_a_bin_is_its_largest_class(atlas, given, square):
    where, codes = bins(given.maps[0].xy, *square), np.asarray(given.colours[0].values)
    found = decoded.tile(atlas.tile(0, *square, 0))
    for x, y, colour, pure in zip(found["x"], found["y"], found["colours"], found["pure"], strict=True):
        sizes = np.bincount(codes[where == y * 256 + x] + 1, minlength=5)
        assert sizes[0 if colour == 255 else colour + 1] == sizes.max()
        assert pure == round(255 * sizes.max() / sizes.sum())


def test_the_colour_of_a_bin_is_its_mean(atlas, given):
    where, values = bins(given.maps[0].xy, 1, 1, 1), np.asarray(given.colours[1].values, np.float32)
    about = atlas.about()["colours"][1]
    found = decoded.tile(atlas.tile(0, 1, 1, 1, 1))
    known = 0
    for x, y, colour in zip(found["x"], found["y"], found["colours"], strict=True):
        inside = values[where == y * 256 + x]
        inside = inside[np.isfinite(inside)]
        if not len(inside):
            assert colour == 255
            continue
        known += 1
        step = 254 * (inside.mean(dtype=float) - about["low"]) / (about["high"] - about["low"])
        assert abs(colour - np.clip(step, 0, 254)) <= 0.51
    assert known > 20


def test_points_of_all_squares_are_the_rows_once(atlas, given):
    order, xy = shuffled(atlas, given), unit(given.maps[1].xy)
    seen = []
    for x in range(4):
        for y in range(4):
            found = decoded.points(atlas.points(1, 2, x, y))
            assert found["wanted"] == len(found["rows"]) == found["total"]
            place = (np.column_stack([found["x"], found["y"]]) + 0.5) / 65536 + [x, y]
            np.testing.assert_allclose(place / 4, xy[order[found["rows"]]], atol=1e-5)
            seen += found["rows"].tolist()
    assert sorted(order[seen]) == np.flatnonzero(np.isfinite(xy).all(axis=1)).tolist()


def test_a_sample_is_the_first_part_of_one_random_order(atlas):
    squares = [(2, x, y) for x in range(4) for y in range(4)]
    for half in (1, 3):
        part = np.concatenate([decoded.points(atlas.points(0, *s, half=half))["rows"] for s in squares])
        assert sorted(part) == list(range(-(-atlas.n // 2**half)))


def test_the_random_order_is_fair(tmp_path):
    """Of rows that are sorted by place, the sample holds as many from each tenth as chance would give."""
    n = 40_000
    line = np.column_stack([np.linspace(0, 1, n), np.zeros(n)])
    atlas = Atlas(write(Scatter("line", [Places("a", line)], np.arange(n)), tmp_path / "t", seed=1))
    rows = decoded.points(atlas.points(0, 0, 0, 0, half=3))["rows"]
    numbers = np.array([atlas.row(int(row))["number"] for row in rows[:5000]])
    tenths = np.bincount(numbers * 10 // n, minlength=10)
    assert ((tenths - 500) ** 2 / 500).sum() < 27.9  # chi-squared, 9 degrees of freedom: once in a thousand


def test_the_same_seed_gives_the_same_file(given, path, tmp_path):
    again, other = (write(given, tmp_path / name, seed=seed, run="one") for name, seed in (("a", 3), ("b", 4)))
    assert again.read_bytes() == path.read_bytes() != other.read_bytes()


@pytest.mark.parametrize("reach", [0.003, 0.02, 0.3])
def test_nearest_is_the_nearest(atlas, given, reach):
    order, xy = shuffled(atlas, given), unit(given.maps[1].xy)
    hits = 0
    for at in np.random.default_rng(0).random((60, 2)) * 1.2 - 0.1:
        far = np.sqrt(((np.nan_to_num(xy, nan=99.0) - at) ** 2).sum(axis=1))
        found = atlas.nearest(1, *at, reach)
        if found is None:
            assert far.min() > reach - 1e-7
        else:
            hits += 1
            assert far[order[found]] <= min(reach, far.min()) + 1e-6
    assert hits


def test_a_row_is_what_was_given(atlas, given):
    for k in (0, 7, atlas.n - 1):
        row = atlas.row(k)
        i = row["number"] - 1
        assert row["name"] == given.names[i]
        code, amount = (colour.values[i] for colour in given.colours)
        assert row["values"][0] == (None if code < 0 else f"c{code}")
        assert row["values"][1] == (None if np.isnan(amount) else float(np.float32(amount)))
        for place, shown in zip(given.maps, row["places"], strict=True):
            expected = unit(place.xy)[i]
            assert shown is None if np.isnan(expected[0]) else np.allclose(shown, expected, atol=1e-6)


def test_loops_mark_what_is_inside(atlas, given):
    from matplotlib.path import Path

    corners = np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.5], [0.7, 0.9], [0.1, 0.8]])
    mark = "loop:1:" + ",".join(f"{v}" for v in corners.ravel())
    order, xy = shuffled(atlas, given), np.nan_to_num(unit(given.maps[1].xy), nan=9.0)
    expected = Path(corners).contains_points(xy)[order]
    assert (atlas.marked(mark) != expected).sum() == 0
    assert 100 < expected.sum() < 4900
    found = decoded.tile(atlas.tile(0, 0, 0, 0, None, mark))
    assert found["marked"] == found["marks"].sum() == expected.sum()
    dots = decoded.points(atlas.points(0, 0, 0, 0, None, mark))
    np.testing.assert_array_equal(dots["marks"].astype(bool), expected[dots["rows"]])


def test_classes_are_marked(atlas, given):
    assert atlas.marked("class:0:2").sum() == (np.asarray(given.colours[0].values) == 2).sum()


def test_rows_are_found(atlas):
    assert next(atlas.row(k)["number"] for k in atlas.find("17")) == 17
    assert [atlas.row(k)["name"] for k in atlas.find("row-4321 É")] == ["Row-4321 é"]
    assert atlas.find("nothing like it") == []
    assert len(atlas.find("row")) == 20


@pytest.mark.parametrize("mark", ["", "loop", "loop:0:1,2", "loop:0:1,2,3,4,5", "loop:9:0,0,1,1,1,0", "class:1:0",
                                  "class:x:0", "loop:0:nan,0,1,1,1,0", "loop:0:" + "0,1," * 300 + "0,1"])  # fmt: skip
def test_marks_that_are_none(atlas, mark):
    with pytest.raises(ValueError):
        atlas.marked(mark)


@pytest.mark.parametrize("asked", [
    (2, 0, 0, 0), (-1, 0, 0, 0), (0, -1, 0, 0), (0, 17, 0, 0), (0, 1, 2, 0), (0, 1, 0, -1), (0, 0, 0, 0, 2),
    (0, 0, 0, 0, -1),
])  # fmt: skip
def test_squares_that_are_none(atlas, asked):
    for answer in (atlas.tile, atlas.points):
        with pytest.raises(ValueError, match=r"tiles: (no such square|map must|colour must)"):
            answer(*asked)


def test_small_classes_share_a_colour_and_keep_their_names(tmp_path):
    n_classes = N_COLOURED + 5
    codes = np.repeat(np.arange(n_classes), np.arange(1, n_classes + 1))  # the last is the largest
    xy = np.random.default_rng(0).random((len(codes), 2))
    names = [f"c{k}" for k in range(n_classes)]
    given = Scatter("s", [Places("a", xy)], np.arange(len(codes)), [Colour("class", codes, names)])
    atlas = Atlas(write(given, tmp_path / "t"))
    assert atlas.about()["colours"][0]["classes"] == names[::-1]
    dots = decoded.points(atlas.points(0, 0, 0, 0, 0))
    for row, colour in zip(dots["rows"], dots["colours"], strict=True):
        found = atlas.row(int(row))
        assert found["values"][0] == f"c{codes[found['number']]}"
        assert colour == min(n_classes - 1 - codes[found["number"]], N_COLOURED)


def test_a_map_of_one_component_keeps_its_places(tmp_path):
    z = np.random.default_rng(0).normal(size=(500, 1))
    atlas = Atlas(write(Scatter("s", [Places("a", z, flat=True)], np.arange(500)), tmp_path / "t"))
    places = np.array([atlas.row(k)["places"][0] for k in range(500)])
    numbers = [atlas.row(k)["number"] for k in range(500)]
    np.testing.assert_allclose(places[:, 0], unit(np.column_stack([z, z * 0]))[numbers, 0], atol=1e-6)
    assert 0.1 < np.ptp(places[:, 1]) < 0.31


def test_one_row_and_equal_rows(tmp_path):
    for n in (1, 300):
        atlas = Atlas(write(Scatter("s", [Places("a", np.ones((n, 2)))], np.arange(n)), tmp_path / f"t{n}"))
        assert decoded.tile(atlas.tile(0, 0, 0, 0))["total"] == n
        assert atlas.nearest(0, 0.5, 0.5, 0.01) is not None


def test_what_cannot_be_shown():
    with pytest.raises(ValueError, match="at least one row"):
        Scatter("s", [], np.arange(3))
    with pytest.raises(ValueError, match="must have 3 rows; got 2"):
        Scatter("s", [Places("a", np.zeros((2, 2)))], np.arange(3))
    with pytest.raises(ValueError, match="a place for some row"):
        Scatter("s", [Places("a", np.full((3, 2), np.nan))], np.arange(3))


def test_damaged_files_are_refused(path, tmp_path):
    whole = path.read_bytes()
    changes = ((b'"codes"', b'"kodes"'), (b'"u8"', b'"O8"'), (b'"n": 5000', b'"n": 4000'))
    wrongs = [b"", b"lowdimT1", whole[:40], whole[:5000], whole[:-5000], b"x" + whole[1:]]
    wrongs += [whole[:8] + b"\xff" * 8 + whole[16:], *(whole.replace(a, b, 1) for a, b in changes)]
    for k, wrong in enumerate(wrongs):
        damaged = tmp_path / f"t{k}"
        damaged.write_bytes(wrong)
        with pytest.raises(ValueError, match="tiles: "):
            Atlas(damaged)


def test_answers_are_kept_within_bounds():
    made = []
    kept = Kept(10, len)
    for question in ("a", "b", "a", "c", "a", "b"):
        kept.get(question, lambda q=question: made.append(q) or bytes(4))
        assert kept.held <= 10
    assert made == ["a", "b", "c", "b"]  # the one not asked for longest went


@pytest.mark.deep
def test_a_million_rows_stay_on_disk(tmp_path):
    """Answers about a million rows need little memory beside the part of the file that they read."""
    import tracemalloc

    path = write(scatter(1_000_000), tmp_path / "t")
    tracemalloc.start()
    atlas = Atlas(path)
    for level, x, y in [(0, 0, 0), (1, 1, 0), (3, 4, 4)]:
        atlas.tile(0, level, x, y, 0)
        atlas.points(1, level, x, y, 1, half=6)
    atlas.nearest(0, 0.5, 0.5, 0.05)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
