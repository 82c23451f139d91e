"""A `Score` is a float that keeps its circumstances."""

from __future__ import annotations

import copy
import json
import pickle

from lowdim.quality import Score


def test_it_is_a_float():
    score = Score(0.25, reference="ambient", interval=(0.2, 0.3), k=12)
    assert score == 0.25
    assert type(score + 1) is float
    assert f"{score:.3f}" == "0.250"
    assert str(score) == "0.25"
    assert json.dumps(score) == "0.25"
    assert repr(score) == "Score(0.25, reference='ambient', interval=(0.2, 0.3), k=12)"


def test_it_survives_copies():
    score = Score(0.25, reference="geodesic", k=12)
    for again in (copy.copy(score), copy.deepcopy(score), pickle.loads(pickle.dumps(score))):
        assert (float(again), again.reference, again.interval, again.facts) == (
            0.25,
            "geodesic",
            None,
            {"k": 12},
        )
