"""Draw the picture of the README. Usage: python tools/readme_picture.py"""

from pathlib import Path

import lowdim

ROOT = Path(__file__).resolve().parent.parent


def main():
    roll = lowdim.datasets.swiss_roll(2000, random_state=0)
    methods = ["pca", "kernel-pca", "isomap"]
    found = lowdim.compare(roll.X, roll.coordinates[:, 0], methods, label_name="place along the roll")
    figure = lowdim.plot.comparison(found)
    target = ROOT / "docs" / "images" / "swiss-roll.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
