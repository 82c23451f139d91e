"""Results in one line, whatever their size: at a prompt, in a notebook and in a failed assertion."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim._core.tables.brief import brief


@dataclass
class Record:
    values: Any
    other: Any = None
    hidden: Any = field(default=0, repr=False)

    __repr__ = brief


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.arange(3), "[0, 1, 2]"),
        (np.zeros((1000, 2), dtype=np.float32), "1000 x 2 float32"),
        (np.array(1.0), "one float64"),
        (sparse.eye_array(5, format="csr"), "5 x 5 float64 (5 stored)"),
        (np.float64(1 / 3), "0.333333"),
        (np.bool_(True), "True"),
        (None, "None"),
        ("x" * 1000, "'" + "x" * 57 + "...'"),
        (tuple(range(9)), "(0, 1, 2, 3, 5 more)"),
        ({"a": np.zeros(9), 2: 1}, "{'a', 2}"),
        (lowdim.PCA(2), "PCA"),
        (Record(1), "Record"),
    ],
)
def test_a_field_in_a_few_words(value, shown):
    assert repr(Record(value)) == f"Record(values={shown}, other=None)"


def test_results_are_short_and_say_what_they_are():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12)) @ rng.standard_normal((12, 12))
    holes = lowdim.datasets.hide_cells(X, 0.1, random_state=0)
    comparison = lowdim.compare(X, np.arange(300) % 3, methods=["pca"], verdict=False)
    found = lowdim.impute(holes.X, 2, method="ridge", random_state=0)
    Z = comparison.outcomes[0].embedding
    results = [lowdim.low_rank(X, 3), lowdim.quality.Ranks.of(X, Z), lowdim.quality.shepard(X, Z), holes, found]
    results += [found.choice.candidates[0], found.given, comparison.outcomes[0], comparison.scored["pca"]]
    results += [
        comparison.labels,
        comparison.data_copy,
        comparison.reference,
        *lowdim.select.kernel_width(X).curves.values(),
    ]
    for one in results:
        assert len(repr(one)) <= 310, type(one).__name__
        assert type(one).__name__ in repr(one) or repr(one).startswith("<")
        assert "\n" not in repr(one)
