"""The verdicts on real tables, on noise and on curved data, through `lowdim compare`, as one page: docs/verdicts.md.

    LOWDIM_DATA=folder python -m benchmarks.verdicts            # writes docs/verdicts.md
    LOWDIM_DATA=folder python -m benchmarks.verdicts usps roll  # prints these alone

Each table becomes a file with a header, names and labels, of large ones a random sample of the rows, and goes through
the command as a user would type it. What was checked by hand stands in `benchmarks/verdict_comments.md`.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import lowdim

REAL = (
    "na_penguins", "na_ozone_la", "na_sleep", "na_credit", "na_titanicna", "decathlon", "optdigits", "orl_faces_32",
    "coil20", "nci60", "srbct", "pbmc3500_pcs", "letter", "shuttle", "mammoth50k", "world",
)  # fmt: skip
MADE = ("gaussian", "permuted", "uniform", "roll", "sphere", "rings")
ROWS = 300
PAGE = Path(__file__).parent.parent / "docs" / "verdicts.md"
COMMENTS = Path(__file__).parent / "verdict_comments.md"


def made(name: str, folder: Path) -> tuple[dict[str, list[object]], str | None]:
    """Columns of made data."""
    rng = np.random.default_rng(0)
    if name == "gaussian":
        X = rng.normal(size=(ROWS, 10))
    elif name == "permuted":  # digits whose columns were shuffled
        digits = np.load(folder / "optdigits.npz")["X"].astype(float)
        X = rng.permuted(digits[rng.choice(len(digits), ROWS, replace=False)], axis=0)
    elif name == "uniform":
        X = rng.uniform(size=(ROWS, 4))
    elif name == "roll":
        X = lowdim.datasets.swiss_roll(600, random_state=0).X
    elif name == "sphere":
        X = rng.normal(size=(ROWS, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    else:  # two rings that hold each other
        angle, half = rng.uniform(0, 2 * np.pi, ROWS), np.arange(ROWS) % 2 == 0
        one = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(ROWS)])
        other = np.column_stack([1 + np.cos(angle), np.zeros(ROWS), np.sin(angle)])
        X = np.where(half[:, None], one, other) + 0.02 * rng.normal(size=(ROWS, 3))
    return {f"x{j + 1}": X[:, j].tolist() for j in range(X.shape[1])}, None


def real(name: str, folder: Path) -> tuple[dict[str, list[object]], str | None]:
    """Columns of a table of the folder: names, measurements, categories in words, the class."""
    held = np.load(folder / f"{name}.npz")
    X, rng = held["X"], np.random.default_rng(0)
    rows = np.sort(rng.choice(len(X), min(len(X), ROWS), replace=False))
    names = held["row_names"][rows] if "row_names" in held else [f"row {i}" for i in rows]
    columns: dict[str, list[object]] = {"name": [str(each) for each in names]}
    features = held["feature_names"] if "feature_names" in held else [f"x{j + 1}" for j in range(X.shape[1])]
    kinds = held["kind"] if "kind" in held else ["num"] * X.shape[1]
    levels = json.loads(str(held["levels_json"])) if "levels_json" in held else {}
    for j, (column, kind) in enumerate(zip(features, kinds, strict=True)):
        values, words = X[rows, j].tolist(), levels.get(str(column))
        if str(kind).startswith("num") or words is None:
            columns[str(column)] = ["" if v != v else v for v in values]
        else:
            columns[str(column)] = ["" if v != v else _word(words[int(v)]) for v in values]
    if "y" not in held:
        return columns, None
    codes = held["y"][rows]
    classes = held["class_names"] if "class_names" in held else [f"class {k}" for k in range(codes.max() + 1)]
    columns["class"] = [str(classes[code]) for code in codes]
    return columns, "class"


def _word(level: str) -> str:
    """A category that cannot be taken for a number."""
    return f"level {level}" if level.isdigit() else level


def verdict(name: str, folder: Path, more: tuple[str, ...] = ()) -> tuple[dict[str, object], str]:
    """What the command wrote (as JSON) and what it printed."""
    columns, label = (made if name in MADE else real)(name, folder)
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place) / f"{name}.csv", Path(os.environ.get("VERDICTS_OUT", place)) / name
        with source.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        command = [sys.executable, "-m", "lowdim.app", "compare", str(source), "--out", str(out), "--fresh", *more]
        command += ["--label", label] if label else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}")
        return json.loads((out / "scores.json").read_text()), done.stdout


def section(name: str, folder: Path) -> str:
    """One table: its shape, the sentences of its verdict, and what was checked."""
    found, printed = verdict(name, folder)
    sentences = found["verdict"]["sentences"]  # type: ignore[index]
    shown = [line for line in printed.splitlines() if line.startswith("- ")]
    assert len(shown) == len(sentences), f"{name}: {len(shown)} of {len(sentences)} sentences were printed"
    head = f"## {name}\n\n{found['rows']} rows, {found['columns']} columns; {found['reference_text']}.\n\n"
    return head + "\n".join(shown) + "\n"


def page(sections: dict[str, str]) -> str:
    """All sections, each followed by what was checked."""
    opening, *checked = COMMENTS.read_text().split("\n## ")
    about = {name: text.strip() for name, _, text in (each.partition("\n") for each in checked)}
    parts = [f"{text.strip()}\n\n*Checked.* {about[name]}" for name, text in sections.items()]
    return "\n\n".join([opening.strip(), *parts]) + "\n"


def main() -> None:
    """Write the page, or print the sections that are named."""
    folder = Path(os.environ["LOWDIM_DATA"])
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            sys.stdout.write(section(name, folder))
            sys.stdout.flush()
        return
    PAGE.write_text(page({name: section(name, folder) for name in (*REAL, *MADE)}))


if __name__ == "__main__":
    main()
