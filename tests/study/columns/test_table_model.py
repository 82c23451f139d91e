"""Models of tables: what was done to the columns at fit is done again to new rows."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import lowdim
from lowdim.study.columns import Wishes, read_table
from lowdim.study.columns.table_model import AS_IT_IS, CODED, SCALED, FittedColumn, TableModel
from lowdim.study.data import coded, data_of

N = 40


@pytest.fixture
def table(rng):
    """Numbers, a category, an order, yes/no and dates; one cell of each is missing."""
    return {
        "mass": [None if i == 3 else 4000.5 + 900 * rng.normal() for i in range(N)],
        "island": [None if i == 4 else ["Dream", "Biscoe", "Torgersen"][i % 3] for i in range(N)],
        "size": [None if i == 5 else ["small", "medium", "large"][i * 7 % 3] for i in range(N)],
        "tagged": [None if i == 6 else ["yes", "No"][i * 5 % 2] for i in range(N)],
        "seen": [None if i == 7 else f"{i % 28 + 1:02d}.11.2007" for i in range(N)],
    }


def fitted(table, estimator, scale="auto", **kinds):
    kinds = {"seen": "number", **kinds} if "seen" in list(getattr(table, "columns", table)) else kinds
    data = data_of(table, Wishes(kinds=kinds, find_label=False), scale)
    Z = estimator.fit_transform(data.seen_by(estimator))
    return data.model(estimator), np.asarray(Z)


def part(table, rows, names=None):
    return {name: [table[name][i] for i in rows] for name in (names or table)}


def test_rows_of_the_table_get_their_places_whatever_stands_beside_them(table):
    model, Z = fitted(table, lowdim.PCA(2))
    assert model.form == CODED
    rows = [9, 2, 30]
    other = {"note": ["x", "y", "z"], **part(table, rows, list(reversed(list(table))))}  # another order and column
    assert np.allclose(model.transform(other), Z[rows], atol=1e-8)
    assert np.allclose(model.transform(part(table, [9])), Z[[9]], atol=1e-8)  # one row: no kind could be seen from it


def test_dates_are_counted_from_the_day_of_the_fit(table):
    model, _ = fitted(table, lowdim.PCA(2))
    seen = next(column for column in model.columns if column.name == "seen")
    assert seen.conversion.first.startswith("2007-11-01")
    later = {**part(table, [0, 1]), "seen": ["08.12.2007", "12.11.2007"]}
    read = read_table(later, model.wishes())
    assert read.used[-1].values.tolist() == [37.0, 11.0]


def test_an_unseen_category_is_named_and_counts_as_the_average(table):
    model, _ = fitted(table, lowdim.PCA(2))
    new = part(table, range(10, 40))
    with pytest.warns(UserWarning, match=r"PCA: column 'island' has 'Mars' \(30 cells\): not there at fit"):
        Z = model.transform({**new, "island": ["Mars"] * 30})
    shares = model.columns[1].shares
    known = [model.transform({**new, "island": [level] * 30}) for level in model.columns[1].levels]
    assert np.allclose(Z, np.tensordot(shares, known, axes=1), atol=1e-8)  # PCA is linear in the codes


def test_words_that_were_never_there_are_an_error(table):
    model, _ = fitted(table, lowdim.PCA(2))
    with pytest.raises(ValueError, match=r"column 'tagged' must hold .* got 'perhaps'"):
        model.transform({**part(table, [0]), "tagged": ["perhaps"]})
    with pytest.raises(ValueError, match="'seen' held dates before; 'soon' cannot be read"):
        model.transform({**part(table, [0]), "seen": ["soon"]})
    with pytest.raises(ValueError, match="the model needs 'island', which is not a column"):
        model.transform(part(table, [0], ["mass", "size", "tagged", "seen"]))


def test_codes_are_distances_of_famd(table):
    """Standardised numbers and indicators over the roots of shares: as many squared distances as FAMD has."""
    whole = {name: [v if v is not None else values[0] for v in values] for name, values in table.items()}
    data = data_of(whole, Wishes(kinds={"seen": "number", "size": "category"}, find_label=False), "auto")
    famd = lowdim.FAMD(2).fit(data.mixed)
    rows = coded(data.table.used)
    Z = famd.transform(data.mixed)
    own = lowdim.PCA(2).fit_transform(rows)
    assert np.allclose(np.abs(Z), np.abs(own), atol=1e-6)


def test_units_are_those_of_the_fit(rng):
    X = {"a": (1000 * rng.normal(size=N)).tolist(), "b": rng.normal(size=N).tolist()}
    model, Z = fitted(X, lowdim.PCA(2))
    assert model.form == SCALED
    assert np.allclose(model.transform(part(X, [3, 5])), Z[[3, 5]], atol=1e-8)
    back = model.inverse_transform(Z)
    assert np.allclose(back, np.column_stack([X["a"], X["b"]]), atol=1e-6)


def test_methods_that_need_the_units_see_them(rng):
    counts = {"a": rng.poisson(1000, N).astype(float).tolist(), "b": rng.poisson(2, N).astype(float).tolist(),
              "c": rng.poisson(5, N).astype(float).tolist()}  # fmt: skip
    data = data_of(counts, Wishes(find_label=False), "auto")
    raw = np.column_stack(list(counts.values()))
    assert data.unscaled is not None
    assert np.array_equal(data.seen_by(lowdim.CA(2)), raw)
    assert np.array_equal(data.seen_by(lowdim.MinMax()), raw)
    assert np.array_equal(data.seen_by(lowdim.ColumnSelection(criterion="variance")), raw)
    assert not np.array_equal(data.seen_by(lowdim.PCA()), raw)


def test_inverse_gives_cells_as_the_table_has_them(table):
    whole = {name: [v if v is not None else values[0] for v in values] for name, values in table.items()}
    model, Z = fitted(whole, lowdim.PCA(7))
    back = model.inverse_transform(Z)
    assert back.dtype == object
    assert np.allclose(back[:, 0].astype(float), whole["mass"])
    assert back[:, 1].tolist() == whole["island"]
    assert back[:, 2].tolist() == whole["size"]
    assert back[:, 3].tolist() == [word.lower() for word in whole["tagged"]]
    assert back[0, 4] == "2007-11-01"


def test_gower_models_stay_themselves(table):
    plain = part(table, range(10, N), ["mass", "island"])
    model, _ = fitted(plain, lowdim.Isomap(2, metric="gower", missing="pairwise"))
    assert isinstance(model, lowdim.Isomap)
    model, Z = fitted(pl.DataFrame(table), lowdim.Isomap(2, metric="gower", missing="pairwise"))
    assert model.form == AS_IT_IS  # dates must be counted
    assert np.allclose(model.transform(pl.DataFrame(table)[:5]), Z[:5], atol=1e-8)


def test_rows_without_a_value_have_no_place(table):
    model, _ = fitted(table, lowdim.PCA(2))
    new = part(table, [0, 1])
    with pytest.warns(UserWarning, match="row 2.* coordinates are NaN"):
        Z = model.transform({name: [values[0], None] for name, values in new.items()})
    assert np.isfinite(Z[0]).all()
    assert np.isnan(Z[1]).all()


def test_files(table, tmp_path):
    model, _ = fitted(table, lowdim.PCA(2))
    lowdim.save(model, tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    assert isinstance(again, TableModel)
    assert again.columns == model.columns
    assert np.array_equal(again.transform(table), model.transform(table))
    with pytest.raises(ValueError, match="must give the 9 that the estimator takes; got 5"):
        TableModel(model.estimator, model.columns, SCALED)
    with pytest.raises(ValueError, match="must belong together"):
        FittedColumn("x", "category", ("a", "b"), (0.5,))


def test_a_comparison_gives_models(table, tmp_path):
    kinds = {"seen": "number"}
    c = lowdim.compare(table, methods=["pca", "isomap", "umap"], kinds=kinds, verdict=False, n_jobs=1)
    for name in ("pca", "isomap"):
        assert np.allclose(c.model(name).transform(part(table, [8, 9])), c.embeddings[name][[8, 9]], atol=1e-6)
    with pytest.raises(ValueError, match=r"name must be one of .*; got 'tsne'"):
        c.model("tsne")
    with pytest.raises(ValueError, match="random is not fitted here"):
        c.model("random")
    for _ in range(2):
        c = lowdim.compare(table, methods=["pca"], kinds=kinds, verdict=False, checkpoint=tmp_path / "maps")
    with pytest.raises(ValueError, match="pca is not fitted here"):
        c.model("pca")


def test_sparse_tables_are_compared_with_their_zeros(rng):
    X = np.where(rng.random((30, 6)) < 0.4, rng.normal(size=(30, 6)), 0.0)
    dense, stored = (lowdim.compare(one, methods=["pca"], verdict=False) for one in (X, sparse.csr_array(X)))
    assert np.array_equal(dense.embeddings["pca"], stored.embeddings["pca"])
