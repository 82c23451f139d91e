"""Folders of images: pixels, sizes, colours, names, folders as labels."""

import numpy as np
import pytest
from PIL import Image

import lowdim
from lowdim.app.errors import UserError
from lowdim.app.input_table import load, read
from lowdim.app.read_options import ReadOptions

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20


@pytest.fixture
def save(tmp_path):
    def run(name, array, mode=None, **more):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(np.asarray(array))
        (picture.convert(mode) if mode else picture).save(path, **more)
        return tmp_path

    return run


def pixels(frame):
    return frame.select(c for c in frame.columns if c.startswith("pixel_")).to_numpy()


def test_grey_images_are_their_pixels(save):
    save("b.png", GREY)
    folder = save("a.png", 255 - GREY)
    loaded = load(folder, ReadOptions())
    np.testing.assert_array_equal(pixels(loaded.frame), [(255 - GREY).ravel(), GREY.ravel()])
    assert loaded.frame.columns[:5] == ["pixel_1_1", "pixel_1_2", "pixel_1_3", "pixel_1_4", "pixel_2_1"]
    assert loaded.frame["file"].to_list() == ["a.png", "b.png"]
    assert (loaded.names, loaded.label) == ("file", None)
    assert loaded.notes == ("2 images", "read as 4 x 3 pixels in grey")


def test_colour_images(save):
    colours = np.random.default_rng(0).integers(0, 256, (2, 3, 3), dtype=np.uint8)
    save("a.png", colours)
    folder = save("b.png", GREY[:2, :3])
    frame = load(folder, ReadOptions()).frame
    np.testing.assert_array_equal(pixels(frame)[0], colours.ravel())
    np.testing.assert_array_equal(pixels(frame)[1], np.repeat(GREY[:2, :3].ravel(), 3))
    assert frame.columns[:3] == ["pixel_1_1_r", "pixel_1_1_g", "pixel_1_1_b"]
    assert pixels(load(folder, ReadOptions(image_colour=False)).frame).shape == (2, 6)


def test_folders_are_labels(save):
    for step, name in enumerate(("cat/1.png", "cat/2.png", "dog/1.png", "dog/young/1.png")):
        folder = save(name, GREY // (1 + step % 3) + step**2 % 7)
    (folder / "cat" / "readme.txt").write_text("x")
    save(".hidden/1.png", GREY)
    loaded = load(folder, ReadOptions())
    assert loaded.frame["folder"].to_list() == ["cat", "cat", "dog", "dog/young"]
    assert loaded.label == "folder"
    assert any("2 other files in the folder left out" in note for note in loaded.notes)
    table = read(folder)
    assert table.labels.tolist() == ["cat", "cat", "dog", "dog/young"]
    assert table.names == ["cat/1.png", "cat/2.png", "dog/1.png", "dog/young/1.png"]
    assert table.X.shape == (4, 12)


def test_sizes_are_made_one(save):
    save("a.png", np.full((10, 20), 100, dtype=np.uint8))
    folder = save("b.png", np.full((20, 10), 100, dtype=np.uint8))
    loaded = load(folder, ReadOptions())
    np.testing.assert_array_equal(pixels(loaded.frame), np.full((2, 32 * 32), 100))
    assert any("images have 2 sizes" in note for note in loaded.notes)
    assert pixels(load(folder, ReadOptions(image_size=(5, 4))).frame).shape == (2, 20)


def test_large_images_become_smaller(save):
    folder = save("a.png", np.zeros((300, 600), dtype=np.uint8))
    loaded = load(folder, ReadOptions())
    assert pixels(loaded.frame).shape == (1, 64 * 32)
    assert any("images of 600 x 300 pixels are resized" in note for note in loaded.notes)


def test_transparency_depth_palettes_and_turned_images(save, tmp_path):
    clear = np.zeros((2, 2, 4), dtype=np.uint8)
    folder = save("1.png", clear)
    np.testing.assert_array_equal(pixels(load(folder, ReadOptions(image_colour=False)).frame), np.full((1, 4), 255))
    (folder / "1.png").unlink()
    save("1.png", np.array([[0, 65535], [32768, 257]], dtype=np.uint16))
    np.testing.assert_array_equal(pixels(load(folder, ReadOptions()).frame), [[0, 255, 128, 1]])
    (folder / "1.png").unlink()
    save("1.gif", GREY, "P")
    np.testing.assert_array_equal(pixels(load(folder, ReadOptions(image_colour=False)).frame), [GREY.ravel()])
    (folder / "1.gif").unlink()
    turned = Image.Exif()
    turned[0x0112] = 6
    save("1.png", GREY, exif=turned)
    np.testing.assert_array_equal(pixels(load(folder, ReadOptions()).frame), [np.rot90(GREY, -1).ravel()])


def test_images_that_cannot_be_read(save):
    folder = save("a.png", GREY)
    (folder / "b.jpg").write_bytes(b"rubbish")
    with pytest.raises(UserError, match=r"b\.jpg cannot be read as an image: cannot identify image file"):
        load(folder, ReadOptions())
    (folder / "b.jpg").unlink()
    save("c.png", np.random.default_rng(0).integers(0, 256, (50, 50), dtype=np.uint8))
    (folder / "c.png").write_bytes((folder / "c.png").read_bytes()[:800])
    with pytest.raises(UserError, match=r"c\.png cannot be read as an image.* 1 of 2 images .* take them out\.$"):
        load(folder, ReadOptions())
    for k in range(9):
        save(f"e{k}.png", GREY)
    (folder / "d.jpg").write_bytes(b"rubbish")
    with pytest.raises(UserError, match="2 of 12 images in the folder"):
        load(folder, ReadOptions())
    (folder / "d.jpg").unlink()
    for k in range(9, 12):
        save(f"e{k}.png", GREY)
    found = load(folder, ReadOptions())
    assert found.frame["file"].to_list() == ["a.png", *sorted(f"e{k}.png" for k in range(12))]
    assert any(note.startswith("1 of 14 images left out: ") and "c.png cannot" in note for note in found.notes)


def test_more_than_the_memory(save):
    folder = save("a.png", GREY)
    with lowdim.config(memory_limit="1MB"), pytest.raises(UserError, match="choose a smaller --image-size"):
        load(folder, ReadOptions(image_size=(1000, 1000)))
