"""The pages of the published experiments: one for each, and their numbers are what the code gives."""

import json
from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

from lowdim._core.runtime.rng import generator
from lowdim.study.reproductions import EXPERIMENTS, reproduce

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
KEPT = json.loads((FOLDER / "numbers.json").read_text(encoding="utf-8"))
TABLES = ("table-4.1", "table-4.2")  # many minutes; the second needs data that do not come with the library
SLOW = ("denoising", "helix-missing", "incomplete-swiss-roll", "kpca-svm")
QUICK = [name for name in EXPERIMENTS if name not in (*TABLES, *SLOW)]


def close(lines, kept):
    """Equal within a hundredth, or the standard deviation of the runs: other BLAS libraries round differently."""
    for line, one in zip(lines, kept, strict=True):
        assert (line.what, line.published) == (one["what"], one["published"])
        assert line.ours == pytest.approx(one["ours"], rel=0.01, abs=max(2e-3, one["spread"])), line.what


def again(name):
    found = reproduce(name, repeats=KEPT[name]["repeats"], random_state=0)
    assert (found.title, found.source) == (KEPT[name]["title"], KEPT[name]["source"])
    close(found.lines, KEPT[name]["lines"])
    return found


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_page_with_its_numbers(name):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert f"```{{reproduction}} {name}\n" in text
    assert "```{picture}" in text
    assert any(line["ours"] is not None for line in KEPT[name]["lines"])


def test_there_are_no_other_pages():
    assert {path.stem for path in FOLDER.glob("*.md")} == {*EXPERIMENTS, "index"}
    assert set(KEPT) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", QUICK)
def test_kept_numbers_are_those_of_the_code(name):
    assert list(again(name).notes) == KEPT[name]["notes"]


@pytest.mark.deep
@pytest.mark.parametrize("name", SLOW)
def test_kept_numbers_of_slow_experiments(name):
    again(name)


@pytest.mark.deep
def test_kept_numbers_of_the_table_of_artificial_sets():
    """Its first lines: the roll itself, PCA and kernel PCA. The graphs of all sets take a quarter of an hour."""
    module = import_module(f"lowdim.study.reproductions.{EXPERIMENTS['table-4.1']}")
    lines, notes = module.run(KEPT["table-4.1"]["repeats"], generator(0), lambda step, done, of: None)
    close(islice(lines, 3), KEPT["table-4.1"]["lines"][:3])
    assert list(notes) == KEPT["table-4.1"]["notes"]
