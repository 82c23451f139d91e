"""The front door for dissimilarities: labels, named conversions, items that are no vectors, unknown pairs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

import lowdim
from lowdim import ClassicalMDS, Isomap, dissimilarities
from lowdim._core.base import Reducer
from lowdim._core.distances import check_dissimilarities
from tests.linear.pca.test_pca import cloud, numeric

NAMES = ["Rome", "Oslo", "Bern", "Kyiv", "Riga", "Bonn"]
X = cloud(6, 3)
D = squareform(pdist(X))
PLACES = ClassicalMDS(2, metric="precomputed").fit_transform(D)


def frames():
    """The same labelled table in every shape people have it in."""
    frame = pd.DataFrame(D, index=NAMES, columns=NAMES)
    shuffled = frame[["Bern", "Riga", "Oslo", "Bonn", "Rome", "Kyiv"]]
    return {
        "index and columns": frame,
        "columns in another order": shuffled,
        "columns alone": pd.DataFrame(D, columns=NAMES),
        "index alone": pd.DataFrame(D, index=NAMES),
        "a column of names": frame.reset_index(),
        "names, another order": shuffled.reset_index(),
        "polars": pl.DataFrame(D, schema=NAMES),
        "polars with a column of names": pl.DataFrame(
            {"index": list(NAMES), **{name: shuffled[name].to_numpy() for name in shuffled}}
        ),
    }


@pytest.mark.parametrize("kind", frames())
@pytest.mark.parametrize("make", [ClassicalMDS, lowdim.LandmarkMDS])
def test_labels_name_the_items_and_lead_the_columns(kind, make):
    model = make(2, metric="precomputed").fit(frames()[kind])
    np.testing.assert_allclose(model.embedding_, PLACES, atol=1e-12)
    assert list(model.feature_names_in_) == NAMES


def test_new_rows_follow_the_fitted_names():
    model = ClassicalMDS(2, metric="precomputed").fit(frames()["index and columns"])
    new = pd.DataFrame(cdist(cloud(3, 3, seed=1), X), columns=NAMES, index=["a", "b", "c"])
    expected = ClassicalMDS(2, metric="precomputed").fit(D).transform(new.to_numpy())
    for given in (
        new,
        new[NAMES[::-1]],
        pl.DataFrame({name: new[name].to_numpy() for name in NAMES[::-1]}),
        new[NAMES[::-1]].reset_index(),
    ):
        np.testing.assert_allclose(model.transform(given), expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"ClassicalMDS: the columns .* must be named as the 6 items are; .*'Rome'"):
        model.transform(new.rename(columns={"Rome": "Roma"}))


def test_names_that_are_numbers_are_kept_as_text():
    waves = [434, 445, 465, 472, 490, 504]
    model = ClassicalMDS(2, metric="precomputed").fit(pd.DataFrame(D, index=waves, columns=waves))
    assert list(model.feature_names_in_) == [str(wave) for wave in waves]
    assert not hasattr(ClassicalMDS(2, metric="precomputed").fit(pd.DataFrame(D)), "feature_names_in_")


def test_names_that_do_not_fit_are_refused():
    frame = frames()["index and columns"]
    with pytest.raises(ValueError, match=r"there is no column 'Oslo'.*to_numpy"):
        ClassicalMDS(2, metric="precomputed").fit(frame.rename(columns={"Oslo": "Wien"}))
    twice = pd.DataFrame(D, index=["a", "a", "b", "c", "d", "e"], columns=["a", "b", "a", "c", "d", "e"])
    with pytest.raises(ValueError, match="another order and some names are repeated"):
        ClassicalMDS(2, metric="precomputed").fit(twice)
    same = pd.DataFrame(D, index=list("aabbcc"), columns=list("aabbcc"))  # equal names in equal order: no harm
    np.testing.assert_allclose(ClassicalMDS(2, metric="precomputed").fit_transform(same), PLACES, atol=1e-12)


def test_names_survive_a_model_file(tmp_path):
    model = ClassicalMDS(2, metric="precomputed").fit(frames()["polars"])
    lowdim.save(model, tmp_path / "m")
    assert list(lowdim.load(tmp_path / "m").feature_names_in_) == NAMES


def test_quality_reads_labelled_tables_the_same_way():
    for frame in frames().values():
        found = lowdim.quality.stress(frame, PLACES, "stress1", reference="precomputed")
        d = pdist(PLACES)
        assert found == pytest.approx(np.sqrt(((pdist(X) - d) ** 2).sum() / (d**2).sum()))
        assert lowdim.quality.scores(frame, PLACES, reference="precomputed")


# ---- what is no table of dissimilarities -----------------------------------------------------------------------------


def test_messages_say_how_much_and_the_way_out():
    lop = D.copy()
    lop[0, 1] += 2.0
    with pytest.raises(ValueError, match=r"differ by 2 \(.* of the largest\), in 1 of 15 pairs. Pass \(D \+ D.T\) / 2"):
        check_dissimilarities(lop, "MDS")
    with pytest.raises(ValueError, match=r"diagonal; got 1\. .*conversion=.*fill_diagonal"):
        check_dissimilarities(D + np.eye(6), "MDS")
    with pytest.raises(ValueError, match=r"negative; got -1\. .*conversion="):
        check_dissimilarities(np.corrcoef([[1.0, 2.0], [2.0, 1.0]]), "MDS")
    holes = np.where(D.max() == D, np.nan, D)
    with pytest.raises(ValueError, match=r"ClassicalMDS: .*got 2 NaN\. .*lowdim.MDS takes them"):
        ClassicalMDS(2, metric="precomputed").fit(holes)
    model = ClassicalMDS(2, metric="precomputed").fit(D)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="distances to the fitted rows must be finite"):
            model.transform(np.where(D.max() == D, bad, D))
    with pytest.raises(ValueError, match="infinity"):
        ClassicalMDS(2, metric="precomputed").fit(np.where(D.max() == D, np.inf, D))


class Known(Reducer):
    """A method that takes unknown pairs: shows what reaches it."""

    _unknown_distances = True

    def __init__(self, metric="precomputed"):
        self.metric = metric

    def _embed(self, X):
        self.seen_ = X
        return np.arange(float(len(X)))[:, None]

    def _extend(self, X):
        return X

    def _memory(self, n, d, itemsize, stored):
        return {"nothing": 8 * n}


@pytest.mark.parametrize("kind", ["square", "condensed", "one half", "masked", "frame"])
def test_unknown_pairs_reach_methods_that_declare_it(kind):
    want = D.copy()
    want[0, 1] = want[1, 0] = want[2, 5] = want[5, 2] = np.nan
    given = {
        "square": want + np.diag([np.nan, 0, 0, 0, 0, 0]),
        "condensed": squareform(want, checks=False),
        "one half": np.where(np.tril(np.ones((6, 6))) > 0, np.nan, want),
        "masked": np.ma.masked_invalid(want),
        "frame": pd.DataFrame(want, NAMES, NAMES)[NAMES[::-1]],
    }[kind]
    before = np.array(given, copy=True)
    model = Known().fit(given)
    np.testing.assert_array_equal(model.seen_, want)
    np.testing.assert_array_equal(np.asarray(given), before)
    new = given.iloc[:2] if kind == "frame" else want[:2]
    np.testing.assert_array_equal(np.isnan(model.transform(new)), np.isnan(want[:2]))


def test_an_item_nothing_is_known_about_is_refused():
    lost = D.copy()
    lost[3], lost[:, 3] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"Known: 1 items have no known dissimilarity .the first is item 3"):
        Known().fit(lost)
    with pytest.raises(ValueError, match="has no known distance to a fitted row"):
        Known().fit(D).transform(np.full((1, 6), np.nan))


# ---- named conversions -----------------------------------------------------------------------------------------------

R = np.corrcoef(cloud(9, 5).T)
FORMULAS = {
    "1-s": lambda S: 1 - S,
    "sqrt(1-s)": lambda S: np.sqrt(1 - S),
    "1-|s|": lambda S: 1 - np.abs(S),
    "max-s": lambda S: S.max() - S,
    "1/s": lambda S: 1 / S,
    "-log(s)": lambda S: -np.log(S),
    "sqrt(-log(s))": lambda S: np.sqrt(-np.log(S)),
    "inner": lambda S: np.sqrt(np.add.outer(S.diagonal(), S.diagonal()) - 2 * S),
    "confusion": lambda S: -np.log(np.sqrt(S * S.T / np.outer(S.diagonal(), S.diagonal()))),
    "cooccurrence": lambda S: 1 / (1 + S.sum() * S / np.outer(S.sum(1), S.sum(0))),
    2.5: lambda S: 2.5 - S,
}


@pytest.mark.parametrize("conversion", FORMULAS)
def test_each_conversion_is_its_formula(conversion):
    S = (R + 1) / 2 if conversion in ("1/s", "-log(s)", "sqrt(-log(s))", "confusion", "cooccurrence") else R
    found = dissimilarities(S, conversion=conversion)
    np.testing.assert_allclose(
        found, FORMULAS[conversion](S) * (1 - np.eye(5)), atol=1e-7
    )  # a root of rounding on the diagonal
    assert (np.diagonal(found) == 0).all()
    check_dissimilarities(found, "test")
    frame = dissimilarities(pd.DataFrame(S, list("abcde"), list("abcde")), conversion=conversion)
    assert list(frame.columns) == list(frame.index) == list("abcde")
    np.testing.assert_array_equal(frame.to_numpy(), found)
    assert dissimilarities(pl.DataFrame(S, schema=list("abcde")), conversion=conversion).columns == list("abcde")


def test_inner_products_give_the_distances_they_come_from():
    np.testing.assert_allclose(dissimilarities(X @ X.T, conversion="inner"), D, atol=1e-6)


def test_correlations_give_distances_of_standardised_columns():
    Y = cloud(40, 4)
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    np.testing.assert_allclose(
        dissimilarities(np.corrcoef(Y.T), conversion="sqrt(1-s)"), squareform(pdist(Y.T)) / np.sqrt(2 * 40), atol=1e-7
    )


def test_colours_and_codes_of_the_books_come_out():
    """Ekman's similarities turned around are the dissimilarities that R's smacof ships."""
    for name in ("ekman_dissim", "morse_dissim"):
        known = numeric(name)[:, -len(numeric(name)) :]
        np.testing.assert_allclose(dissimilarities(1 - known, conversion="1-s"), known, atol=1e-15)


def test_asymmetric_similarities_need_a_word():
    counts = np.array([[90.0, 6, 4], [10, 80, 10], [2, 18, 80]])
    with pytest.raises(ValueError, match=r"items 1 and 2 have 10 and 18.*symmetrize='mean'"):
        dissimilarities(counts, conversion="max-s")
    for how, both in (
        ("mean", lambda a, b: (a + b) / 2),
        ("geometric", lambda a, b: np.sqrt(a * b)),
        ("min", np.minimum),
        ("max", np.maximum),
    ):
        found = dissimilarities(counts / 100, conversion="1-s", symmetrize=how)
        np.testing.assert_allclose(found, (1 - both(counts, counts.T) / 100) * (1 - np.eye(3)))
    luce = dissimilarities(counts, conversion="confusion")
    np.testing.assert_allclose(luce, luce.T)
    np.testing.assert_allclose(
        luce, dissimilarities(counts * [[3], [7], [1]], conversion="confusion")
    )  # rows as shares


def test_new_items_are_converted_alike():
    S = (R + 1) / 2
    for conversion in ("1-s", "1-|s|", "sqrt(1-s)", "1/s", "-log(s)", 3):
        whole = dissimilarities(S, conversion=conversion)
        part = dissimilarities(S[:2, 2:], conversion=conversion)
        np.testing.assert_allclose(part, whole[:2, 2:], rtol=1e-12)
    with pytest.raises(ValueError, match=r"conversion='max-s' needs the square table.*got shape \(2, 3\)"):
        dissimilarities(S[:2, 2:], conversion="max-s")


def test_rounding_beyond_one_is_no_error():
    S = np.array([[1 + 1e-15, 1 + 1e-15], [1 + 1e-15, 1.0]])
    for conversion in ("1-s", "sqrt(1-s)", "1-|s|", "-log(s)"):
        assert not dissimilarities(S, conversion=conversion).any()


def test_similarities_out_of_range_are_refused():
    for S, conversion, message in (
        ([[1, 1.2], [1.2, 1]], "1-s", r"at most 1 .*got 1.2 at \(0, 1\)"),
        ([[1, 0], [0, 1]], "-log(s)", "above 0 and at most 1"),
        ([[1, 0], [0, 1]], "1/s", "above 0"),
        ([[1, -2], [-2, 1]], "1-|s|", "between -1 and 1"),
        ([[1, 2], [2, 1]], "inner", "items 0 and 1 have 1 . 1 and 2"),
        ([[1, 2], [2, 1]], "confusion", "for themselves more often than for each other"),
        ([[1, 0], [0, 1]], "confusion", "add 0.5 to all counts"),
        ([[0, 0], [0, 1]], "cooccurrence", "some rows are all 0"),
        ([[7, 8], [8, 7]], 7, "at most 7"),
    ):
        with pytest.raises(ValueError, match=message):
            dissimilarities(S, conversion=conversion)


def test_nothing_is_guessed():
    with pytest.raises(ValueError, match="conversion must be named"):
        dissimilarities(R)
    with pytest.raises(ValueError, match=r"conversion must be a number or one of 1-s, .*; got 'similar'"):
        dissimilarities(R, conversion="similar")
    with pytest.raises(ValueError, match="symmetrize must be one of"):
        dissimilarities(R, conversion="1-s", symmetrize="average")
    with pytest.raises(ValueError, match="other must go with metric"):
        dissimilarities(R, R, conversion="1-s")
    with pytest.raises(TypeError, match="metric must be a function"):
        dissimilarities(R, metric=3)


# ---- items that are no vectors ---------------------------------------------------------------------------------------


def edits(a, b):
    """Levenshtein's distance between two words."""
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


WORDS = ["kitten", "sitting", "mitten", "smitten", "bitten", "written", "setting", "betting"]


@pytest.mark.filterwarnings("ignore:ClassicalMDS. the distances are not Euclidean")
def test_words_by_their_edit_distance():
    table = dissimilarities(WORDS, metric=edits)
    assert table[0, 1] == 3
    model = ClassicalMDS(2, metric="precomputed").fit(table)
    new = dissimilarities(["fitting", "kitten"], WORDS, metric=edits)
    assert new.shape == (2, 8)
    placed = model.transform(new)
    np.testing.assert_allclose(placed[1], model.embedding_[0], atol=1e-9)
    gaps = np.linalg.norm(model.embedding_ - placed[0], axis=1)
    assert WORDS[int(gaps.argmin())] in ("sitting", "setting", "betting")
    with pytest.raises(TypeError, match=r"items of type str. Pass lowdim.dissimilarities\(items, metric=...\)"):
        ClassicalMDS(2, metric=edits).fit(WORDS)


def test_each_pair_is_measured_once_unless_asked():
    calls = []

    def apart(a, b):
        calls.append((a, b))
        return abs(len(a) - len(b)) + (one_way and len(a) > len(b))

    one_way = False
    items = ["a" * i for i in range(1, 41)]
    dissimilarities(items, metric=apart)
    assert len(calls) == 40 * 39 // 2 + 12  # a few in both directions
    one_way = True
    with pytest.raises(ValueError, match=r"same in both directions.*items 0 and 1.*symmetrize="):
        dissimilarities(items, metric=apart)
    calls.clear()
    found = dissimilarities(["a", "bb", "cccc"], metric=apart, symmetrize="mean")
    assert len(calls) == 6
    np.testing.assert_array_equal(found, [[0, 1.5, 3.5], [1.5, 0, 2.5], [3.5, 2.5, 0]])


def test_similarity_functions_are_converted():
    sets = [{1, 2, 3}, {2, 3}, {7}]

    def shared(a, b):
        return len(a & b)

    np.testing.assert_allclose(
        dissimilarities(sets, metric=shared, conversion="inner") ** 2, [[0, 1, 4], [1, 0, 3], [4, 3, 0]]
    )


def test_names_of_metrics_and_bad_answers():
    np.testing.assert_allclose(dissimilarities(X, metric="cityblock"), squareform(pdist(X, "cityblock")))
    np.testing.assert_allclose(dissimilarities(X[:2], X, metric="euclidean"), D[:2], atol=1e-12)
    with pytest.raises(TypeError, match="metric must give a number; got 'far' for items 0 and 1"):
        dissimilarities(["a", "b"], metric=lambda a, b: "far")
    with pytest.raises(ValueError, match="must not be negative; got -1"):
        dissimilarities(["a", "b"], metric=lambda a, b: -1)
    with pytest.raises(MemoryError, match="dissimilarities: this needs"), lowdim.config(memory_limit=1000):
        dissimilarities(list("abcdefghijklmnopqrst"), metric=edits)


def test_isomap_takes_labelled_distances_too():
    frame = pd.DataFrame(D, NAMES, NAMES)
    expected = Isomap(2, n_neighbors=3, metric="precomputed").fit_transform(D)
    found = Isomap(2, n_neighbors=3, metric="precomputed").fit(frame[NAMES[::-1]])
    np.testing.assert_allclose(found.embedding_, expected, atol=1e-12)
    assert list(found.feature_names_in_) == NAMES


def test_unknown_similarities_do_not_hide_bad_ones():
    S = np.array([[1.0, 5.0, np.nan], [5.0, 1.0, 0.5], [np.nan, 0.5, 1.0]])
    with pytest.raises(ValueError, match=r"conversion='inner' must get inner products.*items 0 and 1"):
        lowdim.dissimilarities(S, conversion="inner")
    with pytest.raises(ValueError, match="items 0 and 1 are not"):
        lowdim.dissimilarities(S, conversion="confusion")
    with pytest.raises(ValueError, match=r"counts, 0 or more, all of them known .* got nan at \(0, 2\)"):
        lowdim.dissimilarities(np.where(S == 5, 2, S), conversion="cooccurrence")


@pytest.mark.parametrize("conversion", ["1-s", "1/s", "max-s", "inner", "cooccurrence", 5])
def test_infinite_similarities_are_refused(conversion):
    with pytest.raises(ValueError, match="dissimilarities: numbers between items must be finite; got 2 infinite"):
        lowdim.dissimilarities([[1.0, np.inf], [np.inf, 1.0]], conversion=conversion)
