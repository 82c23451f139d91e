"""Published experiments run again."""

import json

import pytest

from lowdim.app.cli import main
from lowdim.study import reproductions


def test_incomplete_swiss_roll_keeps_the_published_order():
    found = reproductions.reproduce("incomplete-swiss-roll", repeats=2, random_state=0)
    ours = {line.what: line.ours for line in found.lines}
    assert abs(ours["complete"] - 0.52) < 0.04
    assert ours["50% missing, regularised"] > ours["50% missing, iterative (EM)"]
    assert ours["17% missing, regularised"] > ours["17% missing, iterative (EM)"]
    for line in found.lines:
        if line.published != "-":
            assert abs(line.ours - float(line.published)) < 0.04, line
    assert found.notes


def test_command_line(capsys):
    assert main(["reproduce"]) == 0
    assert "incomplete-swiss-roll" in capsys.readouterr().out
    assert main(["reproduce", "incomplete-swiss-roll", "--repeats", "1"]) == 0
    printed = capsys.readouterr().out
    assert "published" in printed
    assert "50% missing, regularised" in printed
    assert main(["reproduce", "incomplete-swiss-roll", "--repeats", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeats"] == 1


def test_unknown_names_are_answered(capsys):
    with pytest.raises(ValueError, match="Did you mean 'incomplete-swiss-roll'"):
        reproductions.reproduce("incomplete-swis-roll")
    assert main(["reproduce", "nothing"]) == 2
    assert "no experiment is called 'nothing'" in capsys.readouterr().err
