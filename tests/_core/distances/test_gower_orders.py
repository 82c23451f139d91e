"""Ordered categories under Gower's distance: ranks over their range; models that keep the order."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim

LEVELS = ["low", "mid", "high", "top"]
N = 30
RNG = np.random.default_rng(0)
CODES = RNG.integers(4, size=N)
WORDS = [LEVELS[c] for c in CODES]
X = RNG.normal(size=N)


def pandas_frame(words=WORDS, x=X):
    return pd.DataFrame({"o": pd.Categorical(words, LEVELS, ordered=True), "x": x})


def polars_frame(words=WORDS, x=X):
    return pl.DataFrame({"o": pl.Series(words, dtype=pl.Enum(LEVELS)), "x": x})


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_ranks_are_numbers(make):
    D = lowdim.dissimilarities(make(), metric="gower")
    ranks = lowdim.dissimilarities(np.column_stack([CODES, X]), metric="gower")
    np.testing.assert_array_equal(D, ranks)
    plain = lowdim.dissimilarities(make().astype({"o": str}) if make is pandas_frame else
                                   make().with_columns(pl.col("o").cast(pl.String)), metric="gower")  # fmt: skip
    assert np.abs(D - plain).max() > 0.1


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_a_model_keeps_the_order(make, tmp_path):
    model = lowdim.Isomap(2, metric="gower", n_neighbors=8).fit(make())
    lowdim.save(model, tmp_path / "m")
    again = lowdim.load(tmp_path / "m")
    text = pd.DataFrame({"o": WORDS[:5], "x": X[:5]})
    np.testing.assert_allclose(again.transform(text), model.embedding_[:5], atol=1e-8)
    back = again.inverse_transform(again.embedding_)
    assert set(back[:, 0]) <= set(LEVELS)
    assert np.mean([LEVELS.index(found) == code for found, code in zip(back[:, 0], CODES, strict=True)]) > 0.5
    with pytest.raises(ValueError, match=r"one of its ordered values \(low, mid, high, top\); got 'huge'"):
        again.transform(pd.DataFrame({"o": ["huge"], "x": [0.0]}))


def test_missing_ranks():
    words = [None if i % 7 == 0 else w for i, w in enumerate(WORDS)]
    D = lowdim.dissimilarities(polars_frame(words), metric="gower")
    codes = np.where(np.arange(N) % 7 == 0, np.nan, CODES)
    np.testing.assert_array_equal(D, lowdim.dissimilarities(np.column_stack([codes, X]), metric="gower"))
