"""Small tables whose answer is known: what the verdict must say of them, and what it must not."""

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim._core.ranks.reference import reference_of
from lowdim.study.verdict.few_rows import suspects
from lowdim.study.verdict.order import table_order

FAST = ["pca", "isomap"]


def verdict_on(X, methods=FAST, **options):
    return lowdim.compare(X, methods=methods, random_state=0, **options).verdict


def about(found, topic):
    return " ".join(sentence.text for sentence in found.about(topic))


def noise(n=120, d=6, seed=5):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_one_row_far_out_is_no_structure_of_the_others():
    X = noise()
    X[17] = 60
    found = verdict_on(X)
    assert "only with 1 row that stands far from all others, row 17." in about(found, "structure")
    assert not found.about("groups")


def test_copies_are_no_structure():
    found = verdict_on(np.repeat(noise(50, seed=1), 4, axis=0))
    assert "only with 150 rows that repeat another one. Without, none was found" in about(found, "structure")


def test_groups_with_a_row_far_out_stay_structure():
    X = noise()
    X[40:80, :3] += 8
    X[80:, 3:] += 8
    X[0] = 90
    assert about(verdict_on(X), "structure").startswith("There is structure, clearly: columns are related.")


def test_suspects_are_few_rows_and_no_tables_of_few_values():
    rng = np.random.default_rng(0)

    def of(X):
        return suspects(X, reference_of(X), rng)

    heavy, few_values = rng.standard_t(1.2, size=(150, 6)), rng.integers(0, 3, size=(200, 3)).astype(float)
    assert len(of(heavy).far) == 0  # more than two in a hundred are far out: that is how the columns are
    assert len(of(few_values).copies) == 0  # shuffled columns have as many
    X = noise(200)
    X[[3, 9]] += 40
    X[50:100] = X[:50]
    found = of(X)
    assert found.far.tolist() == [3, 9]
    assert found.copies.tolist() == list(range(50, 100))
    assert len(found.others(200)) == 148


@pytest.mark.parametrize(
    ("make", "tells"),
    [
        (lambda rng: np.cumsum(rng.normal(size=(300, 4)), axis=0), True),
        (lambda rng: rng.normal(size=(300, 4)), False),
        (lambda rng: rng.normal(size=(300, 4)) + np.repeat([0.0, 9.0, 20.0], 100)[:, None], False),  # sorted by group
        (lambda rng: rng.normal(size=(300, 4)) + np.repeat(9 * rng.normal(size=(15, 4)), 20, axis=0), False),
    ],
)
def test_an_order_of_the_table_is_told_from_groups_one_below_the_other(make, tells):
    found = [table_order(reference_of(make(np.random.default_rng(seed)))).tells for seed in range(20)]
    assert found == [tells] * 20


def test_a_random_walk_has_an_order_and_no_groups():
    X = np.cumsum(np.random.default_rng(5).normal(size=(200, 8)), axis=0)
    found = verdict_on(X, ["tsne"])
    assert about(found, "order").startswith("Rows that follow each other in the table are alike")
    assert all(sentence.numbers.get("holds together") == 0 for sentence in found.about("groups"))


def test_categories_make_the_number_of_columns_an_open_question():
    rng, n = np.random.default_rng(5), 150
    table = pd.DataFrame({
        "rent": rng.lognormal(6, 0.4, n), "area": rng.normal(70, 20, n),
        "state": rng.choice(["good", "fair", "poor"], n), "heating": rng.choice(["gas", "oil", "wood"], n),
    })  # fmt: skip
    assert "can be enough is open: rows with nearly the same categories" in about(
        verdict_on(table, ["famd", "isomap"]), "dimension"
    )


def test_yes_and_no_have_a_verdict():
    X = np.random.default_rng(0).normal(size=(90, 6)) > 0
    X[45:, :3] = True
    assert verdict_on(X).about("structure")


def test_constant_columns_are_no_dimensions():
    X = np.column_stack([noise(100, 2), np.ones((100, 3))])
    assert about(verdict_on(X), "dimension").startswith("2 columns can hold everything: the data have no more.")
