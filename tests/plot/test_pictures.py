"""What the charts look like: compared with small pictures that were looked at, and no text over another.

Pictures are drawn on axes at a fixed place and made coarse, so that fonts and versions of matplotlib hardly matter. To
write them anew after a wanted change: ``LOWDIM_WRITE_PICTURES=1 pytest tests/plot/test_pictures.py``; look at them.
"""

import io
import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from tests.plot.records import covered, drawings

mpl.use("Agg")
PICTURES = Path(__file__).parent / "pictures"
SIZE = (60, 50)
TOLERANCE = 2.0  # mean difference of 256 grey levels; matplotlib 3.9 and 3.10 differ from 3.11 by at most 0.94
NAMES = list(drawings())


@pytest.fixture(autouse=True)
def _plain_style():
    import matplotlib.pyplot as plt

    with mpl.rc_context(mpl.rcParamsDefault | {"backend": "Agg"}):
        yield
        plt.close("all")


def coarse(name):
    """The chart in grey, a cell for every 8 by 8 pixels."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(4.8, 4.0), dpi=100)
    ax = figure.add_axes((0.25, 0.2, 0.5, 0.6))
    assert drawings()[name](ax) is ax
    kept = io.BytesIO()
    figure.savefig(kept, dpi=100)
    return Image.open(kept).convert("L").resize(SIZE, Image.Resampling.BOX)


def known(name):
    with Image.open(PICTURES / f"{name}.png") as picture:
        return picture.convert("L")


def distance(one, other):
    return float(np.abs(np.asarray(one, float) - np.asarray(other, float)).mean())


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_looks_as_it_should(name):
    found = coarse(name)
    if os.environ.get("LOWDIM_WRITE_PICTURES"):
        found.save(PICTURES / f"{name}.png")
    assert distance(found, known(name)) < TOLERANCE


def test_the_tolerance_sees_wrong_charts():
    """A mirrored chart is a wrong one, and so is any other chart."""
    pictures = {name: known(name) for name in NAMES}
    for name, picture in pictures.items():
        turned = [picture.transpose(way) for way in (Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM)]
        assert min(distance(picture, each) for each in turned) > TOLERANCE, name
        assert min(distance(picture, other) for key, other in pictures.items() if key != name) > TOLERANCE, name


@pytest.mark.parametrize("name", NAMES)
def test_no_text_covers_another_or_is_cut(name):
    assert covered(drawings()[name](None)) == ([], [])
