"""Small grey images with one or two parameters: a clock hand that turns, a face that moves.

The images are drawn from discs, strokes and ellipses. A shape covers a pixel by clip(1/2 - distance to its edge, 0, 1),
so that an image changes continuously when its shape moves by less than a pixel.
"""

from __future__ import annotations

import numpy as np

from lowdim._core.params import checked
from lowdim._core.runtime import memory
from lowdim.datasets.arguments import check_count, start
from lowdim.datasets.dataset import Dataset
from lowdim.datasets.formulas import checkerboard

_BACKGROUND = 0.5  # grey behind the face
_SMALLEST_CLOCK, _SMALLEST_FACE = 12, 32  # pixels; in smaller images the hand or the mouth is not visible


@checked("clock")
def clock(n_samples: int = 360, noise: float = 0.0, random_state: object = None, *, size: int = 28) -> Dataset:
    """Images of a clock with one hand that turns: a closed curve in hundreds of dimensions.

    Frame i of n shows the hand at the angle t_i = 2 pi i / n, i = 0..n-1, clockwise from 12. Black is 0, the
    hand is 1, the dial in between; Gaussian noise is added to every pixel. The label is the hour the hand
    has reached, 0 to 11.

    Parameters
    ----------
    n_samples : int
        Number of frames, in order.
    noise : float
        Standard deviation of the Gaussian noise added to every pixel.
    random_state : int, generator or None
        Seed; the same int gives the same result. Only the noise is random.
    size : int
        Height and width of an image in pixels, at least 12; a row has size * size values.

    Returns
    -------
    Dataset
        Coordinate t, the angle. The length of the curve of images has no closed form, so no isometric
        coordinates are given; it is nearly proportional to t.

    Notes
    -----
    The intrinsic dimension is 1, but the curve is closed and lies in many dimensions: linear methods need far
    more than two components, while a circle in two dimensions is the right embedding. Distances between images stop
    growing once two hands do not overlap, so only near frames tell about the angle. Noise adds up over all pixels:
    0.05 on 28 x 28 pixels is 2.0 between two frames, more than neighbouring frames differ.

    Examples
    --------
    >>> from lowdim.datasets import clock
    >>> frames = clock(60)
    >>> frames.X[0].reshape(frames.image_shape).shape
    (28, 28)
    >>> frames.labels[[0, 15, 30, 45]].tolist()
    [0, 3, 6, 9]
    """
    n, sd, rng = start("clock", n_samples, noise, random_state)
    across, down = _pixels("clock", n, size, _SMALLEST_CLOCK)
    turn = np.arange(n) / n
    t = 2 * np.pi * turn
    dial = _dial(across, down, size)
    frames = [np.maximum(dial, _hand(across, down, size, angle)).ravel() for angle in t]
    clean = np.stack(frames)
    return Dataset(
        X=clean + sd * rng.standard_normal(clean.shape),
        coordinates=t[:, None],
        labels=12 * np.arange(n) // n,
        name="clock",
        description="Images of a clock with one hand that turns once.",
        coordinate_names=("t",),
        noise_free=clean,
        image_shape=(size, size),
    )


@checked("shifted_face")
def shifted_face(n_samples: int = 1000, noise: float = 0.05, random_state: object = None, *, size: int = 48) -> Dataset:
    """Images of a drawn face at random positions over a noisy background: two dimensions in many pixels.

    The centre of the face is uniform on the square that keeps it inside the image. The background is grey
    (0.5) plus Gaussian noise, different in every image; the face has no noise. Labels are a
    checkerboard of 4 x 4 cells over the square.

    Parameters
    ----------
    n_samples : int
        Number of images.
    noise : float
        Standard deviation of the Gaussian noise of a background pixel.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    size : int
        Height and width of an image in pixels, at least 32; a row has size * size values.

    Returns
    -------
    Dataset
        Coordinates (across, down), the centre of the face in pixels. They are not isometric: a step down
        changes the image about 1.4 times as much as a step across, nearly the same everywhere.

    Notes
    -----
    After the moving face in the first LLE paper, with simple shapes instead of a photograph. Linear methods fail:
    once two faces do not overlap, the distance of the images does not depend on how far apart they are. The noise of
    all pixels adds nearly the same amount, about noise * size * sqrt(2), to *every* distance: the nearest images stay
    the right ones, but ratios of distances lose their meaning, and estimates of the intrinsic dimension are far
    above 2.

    References
    ----------
    Roweis, Saul (2000), Science 290, for the idea.

    Examples
    --------
    >>> from lowdim.datasets import shifted_face
    >>> shifted_face(100, random_state=0)
    <Dataset shifted-face: 100 x 2304, coordinates (across, down), 2 classes, no isometric coordinates>
    """
    n, sd, rng = start("shifted_face", n_samples, noise, random_state)
    across, down = _pixels("shifted_face", n, size, _SMALLEST_FACE)
    scale = size / 6
    unit = rng.random((n, 2))
    low = 1.25 * scale  # from the middle of the face to beyond its chin or ears
    centres = low + (size - 1 - 2 * low) * unit
    images = [_face((across - x) / scale, (down - y) / scale, scale) for x, y in centres]
    clean = np.stack([image.ravel() for image, _ in images])
    free = 1 - np.stack([cover.ravel() for _, cover in images])
    return Dataset(
        X=clean + sd * free * rng.standard_normal(clean.shape),
        coordinates=centres,
        labels=checkerboard(unit),
        name="shifted-face",
        description="Images of a drawn face at random positions over a noisy background.",
        coordinate_names=("across", "down"),
        noise_free=clean,
        image_shape=(size, size),
    )


def _pixels(owner: str, n: int, size: object, least: int) -> tuple[np.ndarray, np.ndarray]:
    pixels = check_count(owner, size, "size", least)
    memory.check(owner, {"images": 32 * n * pixels**2}, "Ask for fewer rows, or for smaller images.")
    down, across = np.mgrid[:pixels, :pixels].astype(np.float64)
    return across, down


def _cover(distance: np.ndarray) -> np.ndarray:
    """How much of each pixel lies inside an edge, given the signed distance to it (negative inside)."""
    return np.clip(0.5 - distance, 0, 1)


def _stroke(x: np.ndarray, y: np.ndarray, start: tuple[float, float], end: tuple[float, float]) -> np.ndarray:
    """Distance of each pixel from a straight stroke."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    share = ((x - start[0]) * along_x + (y - start[1]) * along_y) / (along_x**2 + along_y**2)
    share = np.clip(share, 0, 1)
    return np.hypot(x - start[0] - share * along_x, y - start[1] - share * along_y)


def _dial(across: np.ndarray, down: np.ndarray, size: int) -> np.ndarray:
    """A grey ring with a mark at every hour."""
    middle, radius = (size - 1) / 2, size / 2 - 1
    image = 0.4 * _cover(np.abs(np.hypot(across - middle, down - middle) - radius + 0.5) - 0.5)
    for hour in np.arange(12) * np.pi / 6:
        x, y = np.sin(hour), -np.cos(hour)
        inner = (middle + 0.86 * radius * x, middle + 0.86 * radius * y)
        mark = _stroke(across, down, inner, (middle + 0.94 * radius * x, middle + 0.94 * radius * y))
        image = np.maximum(image, 0.4 * _cover(mark - 0.5))
    return image


def _hand(across: np.ndarray, down: np.ndarray, size: int, angle: float) -> np.ndarray:
    """A stroke from just behind the middle towards the rim, as wide as a fourteenth of the image."""
    middle, radius = (size - 1) / 2, size / 2 - 1
    x, y = np.sin(angle), -np.cos(angle)
    tail = (middle - 0.15 * radius * x, middle - 0.15 * radius * y)
    tip = (middle + 0.75 * radius * x, middle + 0.75 * radius * y)
    return _cover(_stroke(across, down, tail, tip) - size / 28)


def _face(x: np.ndarray, y: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """A face about the origin, one unit from brow to chin, and how far it covers each pixel."""

    def ellipse(cx: float, cy: float, a: float, b: float) -> np.ndarray:
        # Level set over the length of its gradient: the distance to the edge, to first order.
        u, v = (x - cx) / a, (y - cy) / b
        level = np.hypot(u, v)
        slope = np.hypot(u / a, v / b) / np.maximum(level, 1e-9)
        return scale * (level - 1) / np.maximum(slope, 1 / max(a, b))

    def line(start: tuple[float, float], end: tuple[float, float], width: float) -> np.ndarray:
        return scale * (_stroke(x, y, start, end) - width)

    head = np.maximum(_cover(ellipse(0, 0, 0.78, 1.0)), _cover(ellipse(-0.8, 0.05, 0.14, 0.22)))
    head = np.maximum(head, _cover(ellipse(0.8, 0.05, 0.14, 0.22)))
    hair = _cover(np.maximum(ellipse(0, 0, 0.82, 1.05), scale * (y + 0.5 + 0.12 * x)))
    smile = scale * (np.abs(np.hypot(x, y - 0.25) - 0.36) - 0.06)
    smile = np.maximum(smile, scale * (0.42 - y))
    layers = [
        (head, 0.9),
        (hair, 0.1),
        (_cover(ellipse(-0.32, -0.12, 0.13, 0.11)), 0.05),
        (_cover(ellipse(0.32, -0.12, 0.13, 0.11)), 0.05),
        (_cover(line((-0.48, -0.32), (-0.18, -0.36), 0.04)), 0.2),
        (_cover(line((0.18, -0.36), (0.48, -0.32), 0.04)), 0.2),
        (_cover(line((0.0, -0.05), (0.07, 0.24), 0.04)), 0.6),
        (_cover(smile), 0.25),
    ]
    image, cover = np.full_like(x, _BACKGROUND), np.maximum(head, hair)
    for layer, grey in layers:
        image += layer * (grey - image)
    return image, cover
