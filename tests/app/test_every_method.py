"""`lowdim fit` and `lowdim transform` with every method by name, on a table of numbers and on one with categories."""

import numpy as np
import polars as pl
import pytest

from lowdim.app.cli import main
from lowdim.study.methods import methods

QUICK = {
    "autoencoder": ["max_iter=3"], "vae": ["max_iter=3"], "nlpca": ["max_iter=3"], "inverse-nlpca": ["max_iter=3"],
    "gplvm": ["max_iter=5"], "umap": ["max_iter=30"], "tsne": ["max_iter=60"], "tcie": ["max_iter=20"],
    "mvu": ["n_neighbors=4"],
}  # fmt: skip


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A table of counts, one with categories too, and new rows of both."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.poisson(4 + 5 * j, 36) + 1 for j in range(5)])
    frame = pl.DataFrame({name: X[:, j] / 2 for j, name in enumerate("abcde")})
    frame = frame.with_columns(pl.Series("class", np.array(["u", "v", "w"])[np.arange(36) % 3]))
    mixed = frame.with_columns(
        pl.Series("size", np.array(["S", "M", "L"])[rng.integers(3, size=36)]),
        pl.Series("colour", np.array(["red", "green"])[rng.integers(2, size=36)]),
    )
    for name, table in (("numbers", frame), ("mixed", mixed)):
        table.write_csv(f"{name}.csv")
        table.drop("class").head(3).write_csv(f"{name}-new.csv")


def cases():
    """Every method on the table with categories, or on that of numbers where it has no use for them."""
    for method in methods().values():
        plain = method.needs == "counts" or method.name == "variance-filter"
        if not method.library:
            yield pytest.param(method, "numbers", marks=[] if plain else pytest.mark.deep)
        if not (method.library or plain):
            yield pytest.param(method, "mixed")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "table"), list(cases()), ids=lambda case: getattr(case, "name", case))
def test_fit_then_transform(tables, capsys, method, table):
    setting = [word for pair in QUICK.get(method.name, []) for word in ("--set", pair)]
    words = ["fit", f"{table}.csv", "--label", "class", "--method", method.name, "--out", "m", "--n-jobs", "1"]
    assert main([*words, *setting]) == 0, capsys.readouterr().err
    assert main(["transform", "m", f"{table}-new.csv", "--out", "z.csv"]) == 0, capsys.readouterr().err
    fitted, placed = pl.read_csv("m-embedding.csv"), pl.read_csv("z.csv")
    axes = [name for name in placed.columns if name != "row"]
    assert placed.height == 3
    assert axes
    assert set(axes) <= set(fitted.columns)
    assert np.isfinite(placed.select(axes).to_numpy()).all()
