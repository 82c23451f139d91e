"""Colours of classes can be told apart with any kind of colour vision, and on both grounds."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from lowdim.plot._style import COLORS

# Machado, Oliveira and Fernandes (2009), without one kind of cone; linear red, green and blue.
VISION = {
    "all cones": "1 0 0 0 1 0 0 0 1",
    "no L cones": "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998",
    "no M cones": "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.01182 0.04294 0.968881",
    "no S cones": "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.3039",
}
# Ottosson's OKLab (2020), in which equal distances look about equally large.
CONES = "0.41222147 0.53633254 0.05144599 0.2119034982 0.6806995451 0.1073969566 0.0883024619 0.2817188376 0.6299788"
OKLAB = "0.21045426 0.79361779 -0.00407205 1.9779984951 -2.428592205 0.4505937099 0.0259040371 0.7827717662 -0.8086757"
LEAST = 0.04  # twice what is just noticeable side by side
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def square(text):
    return np.array(text.split(), float).reshape(3, 3)


def linear(colour):
    c = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def oklab(colours, seen_by):
    rgb = np.array([linear(colour) for colour in colours]) @ square(seen_by).T
    return np.cbrt(np.clip(rgb, 0, 1) @ square(CONES).T) @ square(OKLAB).T


def of_the_page():
    text = (Path(__file__).parents[2] / "web" / "src" / "palette.ts").read_text(encoding="utf-8")
    text = text[text.index("const CLASSES") : text.index("N_COLOURS")]
    found = re.findall(r"#[0-9a-f]{6}", text)
    return {"light": found[: len(found) // 2], "dark": found[len(found) // 2 :]}


@pytest.mark.parametrize("where", ["light", "dark", "plot"])
def test_colours_of_classes_differ_for_everybody(where):
    colours = of_the_page().get(where, COLORS)
    assert len(colours) == 10
    for vision, seen_by in VISION.items():
        places = oklab(colours, seen_by)
        pairs = {(a, b): np.linalg.norm(places[a] - places[b]) for a, b in combinations(range(10), 2)}
        nearest = min(pairs, key=pairs.get)
        assert pairs[nearest] > LEAST, (vision, [colours[k] for k in nearest])


@pytest.mark.parametrize(("where", "ground"), [("light", "#ffffff"), ("dark", "#1c2025")])
def test_marks_stand_out_from_the_ground(where, ground):
    for colour in of_the_page()[where]:
        low, high = sorted(float(LUMINANCE @ linear(each)) for each in (colour, ground))
        assert (high + 0.05) / (low + 0.05) >= 3, colour
