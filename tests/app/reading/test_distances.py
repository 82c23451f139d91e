"""Tables of distances from files are what methods on distances take; forms of the same distances agree."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import lowdim
from lowdim.app.input_table import load
from lowdim.app.read_options import ReadOptions

X = np.random.default_rng(0).normal(size=(7, 3))
D = squareform(pdist(X))
NAMES = [f"item {i}" for i in range(len(D))]


def rows(cells):
    return "\n".join(",".join(map(str, row)) for row in cells) + "\n"


FORMS = {
    "square": (rows([["", *NAMES], *([name, *row] for name, row in zip(NAMES, D.tolist(), strict=True))]), None),
    "lower": (rows([NAMES[i], *D[i, : i + 1].tolist()] for i in range(7)), None),
    "lower, no diagonal": (rows([NAMES[i], *D[i, :i].tolist()] for i in range(7)), "lower"),
    "pairs": (rows([["i", "j", "d"], *([NAMES[i], NAMES[j], D[i, j]] for i in range(7) for j in range(i))]), "pairs"),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_the_same_table(tmp_path, form):
    text, asked = FORMS[form]
    (tmp_path / "d.csv").write_text(text)
    loaded = load(tmp_path / "d.csv", ReadOptions(distances=asked))
    assert loaded.kind == "distances"
    order = [loaded.frame.columns.index(name) for name in NAMES]
    np.testing.assert_array_equal(loaded.frame.to_numpy()[np.ix_(order, order)], D)


def test_numpy_files(tmp_path):
    np.save(tmp_path / "square.npy", D)
    np.save(tmp_path / "condensed.npy", pdist(X))
    for name, asked in (("square", None), ("condensed", "condensed")):
        loaded = load(tmp_path / f"{name}.npy", ReadOptions(distances=asked))
        assert loaded.kind == "distances"
        np.testing.assert_array_equal(loaded.frame.to_numpy(), D)


def test_methods_take_the_table_as_it_is(tmp_path):
    (tmp_path / "d.csv").write_text(FORMS["square"][0])
    frame = load(tmp_path / "d.csv", ReadOptions()).frame
    Z = lowdim.ClassicalMDS(n_components=3, metric="precomputed").fit_transform(frame)
    np.testing.assert_allclose(squareform(pdist(Z)), D, atol=1e-8)


def test_rounded_distances_are_still_symmetric(tmp_path):
    rounded = D.copy()
    rounded[0, 1] *= 1 + 1e-8
    np.save(tmp_path / "d.npy", rounded)
    found = load(tmp_path / "d.npy", ReadOptions()).frame.to_numpy()
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("change", ["negative", "diagonal", "asymmetric"])
def test_what_is_no_table_of_distances_is_a_table_of_rows(tmp_path, change):
    wrong = D.copy()
    if change == "negative":
        wrong[0, 1] = wrong[1, 0] = -1.0
    elif change == "diagonal":
        wrong[2, 2] = 0.5
    else:
        wrong[3, 1] += 0.4 * D.max()
    np.save(tmp_path / "d.npy", wrong)
    assert load(tmp_path / "d.npy", ReadOptions()).kind == "table"
