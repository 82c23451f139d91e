"""Tables of counts: FactoMineR's numbers, chi-squared, profiles."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import lowdim
from lowdim import CA
from tests.oracles import case, load_expected, load_input

NAME = "factominer_ca_children"


def children():
    table, _ = load_input("children")
    return np.array([[np.nan if cell in ("NA", "") else float(cell) for cell in row[1:]] for row in table])


@pytest.fixture(scope="module")
def fitted():
    return CA(4).fit(children()[:14, :5])


def test_it_is_the_one_of_factominer(fitted):
    tolerance = {"rtol": case(NAME)["rtol"], "atol": case(NAME)["atol"]}
    N, rows = children(), load_expected(NAME, "row_coord")
    signs = np.sign((rows * fitted.row_coordinates_).sum(axis=0))
    mass = fitted.row_masses_[:, None] * fitted.row_coordinates_**2
    for found, file in (
        (fitted.eigenvalues_, "eig"),
        (fitted.row_coordinates_ * signs, "row_coord"),
        (fitted.row_cos2_, "row_cos2"),
        (fitted.row_contributions_, "row_contrib"),
        (mass.sum(axis=1), "row_inertia"),
        (fitted.column_coordinates_ * signs, "col_coord"),
        (fitted.cos2_, "col_cos2"),
        (fitted.contributions_, "col_contrib"),
        (fitted.transform(N[14:, :5]) * signs, "rowsup_coord"),
        (fitted.transform_columns(N[:14, 5:]) * signs, "colsup_coord"),
    ):
        expected = load_expected(NAME, file)
        expected = expected[:, 0] if file == "eig" else expected
        np.testing.assert_allclose(found, expected, err_msg=file, **tolerance)


def test_inertia_is_chi_squared_over_the_total(fitted):
    N = children()[:14, :5]
    assert fitted.eigenvalues_.sum() * N.sum() == pytest.approx(chi2_contingency(N).statistic)
    assert fitted.explained_variance_ratio_.sum() == pytest.approx(1)


def test_only_profiles_count(fitted):
    N = children()[:14, :5]
    np.testing.assert_allclose(fitted.transform(3 * N), fitted.row_coordinates_, atol=1e-12)
    np.testing.assert_allclose(fitted.transform_columns(7 * N), fitted.column_coordinates_, atol=1e-12)
    profiles = N / N.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.row_coordinates_), profiles, atol=1e-12)
    distances = np.linalg.norm(fitted.row_coordinates_[:, None] - fitted.row_coordinates_, axis=2)
    chi = np.linalg.norm((profiles[:, None] - profiles) / np.sqrt(fitted.column_masses_), axis=2)
    np.testing.assert_allclose(distances, chi, atol=1e-12)


def test_files_precision_and_words(fitted, tmp_path):
    N = children()[:14, :5]
    lowdim.save(fitted, tmp_path / "m")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "m").transform(N), fitted.transform(N))
    assert CA(2).fit_transform(N.astype(np.float32)).dtype == np.float32
    for table, message in (
        (-N, "X must hold counts; the smallest is -111"),
        (np.vstack([N, np.zeros(5)]), "every row must have a count above 0; row 14 has none"),
        (np.hstack([N, np.zeros((14, 1))]), "every column must have a count above 0; column 5 has none"),
        (np.ones((3, 3)), "independent"),
        (np.full((3, 3), np.nan), "missing values"),
    ):
        with pytest.raises(ValueError, match=message):
            CA(2).fit(table)
    with pytest.raises(ValueError, match="X must have 14 rows, those of the fitted table; got 3"):
        fitted.transform_columns(np.ones((3, 2)))
    with pytest.warns(UserWarning, match="n_components=9 is more than the rank of the table; keeping 4"):
        CA(9).fit(N)


def test_a_weak_relation_in_large_counts_is_seen():
    """One part in a billion is far above rounding; tables that are products of their margins are not."""
    model = CA(1).fit(np.array([[1e8, 1e8], [1e8, 1e8 + 400]]))
    expected = (1e16 + 4e10 - 1e16) ** 2 / (2e8 * 2e8) ** 2
    assert model.eigenvalues_[0] == pytest.approx(expected, rel=1e-3)
    rng = np.random.default_rng(0)
    for n, d in ((2, 2), (5, 3), (40, 30), (300, 7)):
        with pytest.raises(ValueError, match="rows and columns are independent"):
            CA(1).fit(np.outer(rng.uniform(1, 9, n), rng.uniform(1, 9, d)))
