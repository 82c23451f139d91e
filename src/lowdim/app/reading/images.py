"""A folder of images: one row per image, one column per pixel and colour, all brought to one size."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lowdim._core.runtime.memory import limit
from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded, library, listed

EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
USUAL = (32, 32)  # where images have different sizes
LARGEST = 64  # pixels of the longer side that images are read with at most, unless a size is chosen
MOST_BROKEN = 0.1  # share of the images that are left out where they cannot be read
GREY = ("1", "L", "LA", "I", "F", "I;16", "I;16B", "I;16L")


def image_files(folder: Path) -> list[Path]:
    """The images in a folder and in the folders in it, in the order of their paths; hidden ones left out."""
    found = (path for path in folder.rglob("*") if path.suffix.lower() in EXTENSIONS and path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def read_images(folder: Path, how: ReadOptions) -> Loaded:
    """All images of a folder; the sub-folder of an image, if there are sub-folders, is its label."""
    paths = image_files(folder)
    if not paths:
        raise UserError(f"{folder} is a folder without images; give one table file, or a folder of images.")
    image = library("PIL.Image", "app", str(folder), "reading images")
    others = sum(path.is_file() for path in folder.rglob("*")) - len(paths)
    notes = [f"{len(paths)} images"] + (
        [f"{others} other file{'' if others == 1 else 's'} in the folder left out"] if others else []
    )
    broken: list[UserError] = []
    paths, sizes, modes = _looked_at(paths, image, broken)
    size, colour = _size(how, sizes, notes), _in_colour(how, modes)
    channels = 3 if colour else 1
    needed = len(paths) * size[0] * size[1] * channels * 9  # bytes, and the numbers that methods compute with
    if needed > limit():
        raise UserError(
            f"{folder}: {len(paths)} images of {size[0]} x {size[1]} pixels need {needed / 1e9:.3g} GB, more than the "
            "memory limit; choose a smaller --image-size, or raise --limit-memory."
        )
    notes.append(f"read as {size[0]} x {size[1]} pixels in {'colour' if colour else 'grey'}")
    rows, paths = _all_pixels(paths, image, size, colour, broken)
    notes += _note_on_broken(broken, len(paths))
    table: dict[str, Any] = {name: rows[:, j] for j, name in enumerate(_columns(size, colour))}
    parents = [path.relative_to(folder).parent.as_posix() for path in paths]
    labelled = len(set(parents)) > 1
    if labelled:
        table["folder"] = ["" if parent == "." else parent for parent in parents]
        notes.append(f"the folders of the images are the column 'folder': {listed(sorted(set(table['folder'])))}")
    table["file"] = [path.relative_to(folder).as_posix() for path in paths]
    return Loaded(pl.DataFrame(table), tuple(notes), names="file", label="folder" if labelled else None)


def _looked_at(
    paths: list[Path], image: Any, broken: list[UserError]
) -> tuple[list[Path], list[tuple[int, int]], list[str]]:
    """The images that can be opened, with their sizes and modes; pixels are not read. The errors of the others."""
    found = []
    for path in paths:
        try:
            found.append((path, *_size_and_mode(path, image)))
        except UserError as error:
            broken.append(error)
    _note_on_broken(broken, len(found))
    kept, sizes, modes = zip(*found, strict=True)
    return list(kept), list(sizes), list(modes)


def _size_and_mode(path: Path, image: Any) -> tuple[tuple[int, int], str]:
    with _opened(path, image) as picture:
        try:
            turned = picture.getexif().get(0x0112, 1) >= 5  # stored on its side
        except (OSError, ValueError, SyntaxError) as error:
            raise _unreadable(path, error) from error
        return (picture.size[::-1] if turned else picture.size), picture.mode


def _all_pixels(
    paths: list[Path], image: Any, size: tuple[int, int], colour: bool, broken: list[UserError]
) -> tuple[np.ndarray, list[Path]]:
    """The pixels of the images whose file is whole, one row each, and these files. The errors of the others."""
    rows = np.empty((len(paths), size[1] * size[0] * (3 if colour else 1)), dtype=np.uint8)
    kept: list[Path] = []
    for path in paths:
        try:
            rows[len(kept)] = _pixels(path, image, size, colour)
            kept.append(path)
        except UserError as error:
            broken.append(error)
    return rows[: len(kept)], kept


def _note_on_broken(broken: list[UserError], whole: int) -> list[str]:
    """A note on the few images that cannot be read and are left out; an error where there are many."""
    if not broken:
        return []
    count = f"{len(broken)} of {len(broken) + whole}"
    if len(broken) > MOST_BROKEN * (len(broken) + whole):
        raise UserError(f"{broken[0]} {count} images in the folder cannot be read: repair them, or take them out.")
    return [f"{count} images left out: {str(broken[0]).rstrip('.')}"]


def _opened(path: Path, image: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", image.DecompressionBombWarning)
            return image.open(path)
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError, image.DecompressionBombWarning) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: BaseException) -> UserError:
    return UserError(f"{path} cannot be read as an image: {(str(error).splitlines() or ['damaged'])[0].rstrip('.')}.")


def _size(how: ReadOptions, sizes: Sequence[tuple[int, int]], notes: list[str]) -> tuple[int, int]:
    """The common size: chosen, that of all images, or a small square."""
    if how.image_size is not None:
        return how.image_size
    (usual, count), kinds = Counter(sizes).most_common(1)[0], len(set(sizes))
    if kinds > 1:
        notes.append(f"images have {kinds} sizes (most: {usual[0]} x {usual[1]}, {count} images); all are resized")
        return USUAL
    factor = LARGEST / max(usual)
    if factor >= 1:
        return usual
    notes.append(f"images of {usual[0]} x {usual[1]} pixels are resized (--image-size chooses the size)")
    return max(1, round(usual[0] * factor)), max(1, round(usual[1] * factor))


def _in_colour(how: ReadOptions, modes: Sequence[str]) -> bool:
    return any(mode not in GREY for mode in modes) if how.image_colour is None else how.image_colour


def _pixels(path: Path, image: Any, size: tuple[int, int], colour: bool) -> np.ndarray:
    """The numbers of one image, 0 to 255."""
    with _opened(path, image) as picture:
        try:
            return _as_numbers(picture, image, size, colour)
        except (OSError, ValueError, SyntaxError) as error:  # pixels are read here, not when a file is opened
            raise _unreadable(path, error) from error


def _as_numbers(picture: Any, image: Any, size: tuple[int, int], colour: bool) -> np.ndarray:
    """An image turned as its camera says, on white where it is transparent, in the common size."""
    from PIL import ImageOps

    picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I") or picture.mode == "F":
        picture = _eight_bits(picture, image)
    if "A" in picture.getbands() or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        picture = image.alpha_composite(image.new("RGBA", picture.size, "white"), picture)
    picture = picture.convert("RGB" if colour else "L")
    if picture.size != size:
        picture = picture.resize(size, image.Resampling.LANCZOS)
    return np.asarray(picture, dtype=np.uint8).ravel()


def _eight_bits(picture: Any, image: Any) -> Any:
    """Deep grey images (16 bits and more) in 256 steps: a 16-bit image keeps its scale, others that of their values."""
    values = np.asarray(picture, dtype=np.float64)
    top = 65535.0 if picture.mode.startswith("I") and values.max() <= 65535 else max(values.max(), 1e-300)
    return image.fromarray(np.clip(np.rint(values / top * 255), 0, 255).astype(np.uint8))


def _columns(size: tuple[int, int], colour: bool) -> list[str]:
    """Row and column of each pixel, from 1, and its colour."""
    places = [f"pixel_{i + 1}_{j + 1}" for i in range(size[1]) for j in range(size[0])]
    return [f"{place}_{c}" for place in places for c in "rgb"] if colour else places
