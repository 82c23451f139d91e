"""`lowdim fit`, `transform` and `impute` with tables of distances between items."""

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app.cli import main

ITEMS = [f"item {i}" for i in range(24)]
BY_DISTANCES = (
    "classical-mds",
    "landmark-mds",
    "mds",
    "isomap",
    "tsne",
    "umap",
    "laplacian-eigenmaps",
    "diffusion-maps",
)


def write(path, D, rows, columns=ITEMS):
    cells = {name: [None if np.isnan(v) else float(v) for v in D[:, j]] for j, name in enumerate(columns)}
    pl.DataFrame({"item": rows, **cells}).write_csv(path)


def run(capsys, *words):
    code = main(list(words))
    found = capsys.readouterr()
    return code, found.out, found.err


@pytest.fixture
def items(tmp_path, monkeypatch):
    """Distances between items in d.csv, of new items to these in new.csv, with unknown pairs in holes.csv."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(24, 3)), rng.normal(size=(4, 3))
    D, E = (np.sqrt(((A[:, None] - X[None]) ** 2).sum(-1)) for A in (X, new))
    write("d.csv", D, ITEMS)
    shuffled = rng.permutation(24)
    write("new.csv", E[:, shuffled], list("abcd"), [ITEMS[j] for j in shuffled])
    H = D.copy()
    H[2, 5] = H[5, 2] = np.nan
    write("holes.csv", H, ITEMS)
    return D, E, H


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", BY_DISTANCES)
def test_a_model_of_distances_is_that_of_python(items, capsys, method):
    D, E, _ = items
    words = ["--method", method, "--out", "m.lowdim", "--n-jobs", "1"]
    assert run(capsys, "fit", "d.csv", *words)[0] == 0
    assert run(capsys, "transform", "m.lowdim", "new.csv", "--out", "t.csv")[0] == 0
    model = lowdim.load("m.lowdim")
    assert model.metric == "precomputed"
    assert list(model.feature_names_in_) == ITEMS
    plain = model.__class__(**model.get_params()).fit(D)  # without names
    written = pl.read_csv("m-embedding.csv")
    assert written["name"].to_list() == ITEMS
    np.testing.assert_allclose(written[:, 2:].to_numpy(), plain.embedding_, rtol=1e-6, atol=1e-8)
    placed = pl.read_csv("t.csv")  # columns are found by name
    assert placed["name"].to_list() == list("abcd")
    if method == "landmark-mds":
        E = E[:, plain.landmarks_] if plain.n_features_in_ != 24 else E
    np.testing.assert_allclose(placed[:, 2:].to_numpy(), plain.transform(E), rtol=1e-6, atol=1e-8)


def test_unknown_distances(items, capsys):
    H = items[2]
    assert run(capsys, "fit", "holes.csv", "--method", "mds", "--out", "m.lowdim")[0] == 0
    model = lowdim.load("m.lowdim")
    np.testing.assert_allclose(model.embedding_, model.__class__(**model.get_params()).fit(H).embedding_, atol=1e-8)
    code, _, err = run(capsys, "fit", "holes.csv", "--method", "isomap", "--out", "i.lowdim")
    assert code == 2
    assert "'item 2' and 'item 5'" in err
    assert "lowdim fit --method mds" in err
    assert "--rows complete" in err
    assert run(capsys, "fit", "holes.csv", "--method", "isomap", "--rows", "complete", "--out", "i.lowdim")[0] == 0


def test_who_needs_rows_says_so(items, capsys):
    code, _, err = run(capsys, "fit", "d.csv", "--method", "pca", "--out", "m.lowdim")
    assert code == 2
    assert "pca needs rows, and the file has distances between items. Use a method on distances (classical-mds" in err
    assert "lle" not in err.split("(")[1]  # it needs coordinates
    assert "lle needs rows" in run(capsys, "fit", "d.csv", "--method", "lle", "--out", "m.lowdim")[2]
    code, _, err = run(capsys, "impute", "holes.csv", "--out", "c.csv")
    assert code == 2
    assert "lowdim fit holes.csv --method mds maps the items by the known ones" in err
    assert run(capsys, "impute", "d.csv", "--out", "c.csv")[::2] == (
        2,
        "lowdim: d.csv has distances between 24 items, and rows are needed here. If its numbers are no distances, "
        "--distances no reads the file as rows and columns.\n",
    )


def test_the_way_back_needs_rows(items, capsys):
    run(capsys, "fit", "d.csv", "--method", "isomap", "--out", "m.lowdim")
    code, _, err = run(capsys, "inverse", "m.lowdim", "m-embedding.csv", "--out", "r.csv")
    assert code == 2
    assert "fitted on distances" in err
