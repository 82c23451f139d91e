"""Maps beside maps of noise: what is judged of many rows, what is left out by name, and how often noise passes."""

import json

import numpy as np
import pytest

import lowdim
from lowdim._core.manifold import neighborhood
from lowdim.study.running.one_method import Outcome
from lowdim.study.verdict import against_noise, evidence, rankings, structure_test
from lowdim.study.verdict.structure_found import found_structure


def blobs(n=100, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, d)) + shift for shift in (0, 8, -8)]), np.repeat(["a", "b", "c"], n)


def left_out(found):
    return " ".join(sentence.text for sentence in found.verdict.about("not judged"))


def test_of_many_rows_a_sample_is_judged(monkeypatch, tmp_path):
    monkeypatch.setattr(against_noise, "MOST_ROWS", 250)
    monkeypatch.setattr(against_noise, "PART", 120)
    X, y = blobs()
    found = lowdim.compare(X, y, methods=["pca", "isomap"])
    said = found.verdict.about("rows")[0]
    assert said.numbers["rows"] == 120
    assert "map of 120 of the 300 rows, drawn at random" in said.text
    assert said.numbers["trusted"] > 110
    assert found.verdict.rows == {}  # a row of the large map was not judged
    assert "single rows of pca, isomap (to map noise of 300 rows takes too long)" in left_out(found)
    assert found.verdict.about("structure")[0].numbers["p_value"] <= 0.05
    assert found.evidence.curved_noise is not None
    json.dumps(found.to_dict()["verdict"], allow_nan=False)
    page = found.report(tmp_path / "report.html").read_text()
    assert all(f'id="{sentence.evidence}"' in page for sentence in found.verdict.sentences)
    assert "a map of 120 rows drawn at random" in page


def test_rows_of_a_sample_of_noise_are_rarely_trusted(monkeypatch):
    monkeypatch.setattr(against_noise, "MOST_ROWS", 250)
    monkeypatch.setattr(against_noise, "PART", 200)
    shares = [
        np.mean(lowdim.compare(np.random.default_rng(s).normal(size=(400, 10)), methods=["pca"], random_state=s)
                .evidence.sampled.verdict == "trusted")
        for s in range(3)
    ]  # fmt: skip
    assert np.mean(shares) < 0.09


def test_a_supervised_map_of_a_sample_gets_the_labels_of_its_rows(monkeypatch):
    monkeypatch.setattr(against_noise, "MOST_ROWS", 250)
    monkeypatch.setattr(against_noise, "PART", 120)
    X, y = blobs()
    order = np.random.default_rng(0).permutation(300)
    made = evidence.Noise
    monkeypatch.setattr(
        evidence, "Noise", lambda case, source, maps, best, *rest: made(case, source, maps, "lda", *rest)
    )
    found = lowdim.compare(X[order], y[order], methods=["lda"])
    assert found.evidence.sampled.method == "lda"
    assert found.evidence.sampled.verdict.shape == (120,)
    assert "failed" not in left_out(found)


def test_what_would_take_too_long_is_named(monkeypatch):
    X, _ = blobs(40)
    monkeypatch.setattr(against_noise, "BUDGET", 0.0)
    found = lowdim.compare(X, methods=["pca", "isomap"])
    assert "maps of noise would take more than 0 s" in left_out(found)
    assert found.evidence.sampled is not None
    monkeypatch.setattr(structure_test, "BUDGET", -1.0)
    found = lowdim.compare(X, methods=["pca"])
    assert "Not judged: structure in pca (19 maps of noise would take about" in left_out(found)
    assert found.verdict.about("structure") == []


def test_maps_that_were_left_out_are_named():
    X, _ = blobs(40)
    found = lowdim.compare(X, methods={"mine": X[:, :2], "pca": lowdim.PCA(n_components=2)})
    assert "single rows of mine (it is no method that could map noise)" in left_out(found)


def test_the_methods_of_the_structure_test_do_not_depend_on_the_rows():
    known = {"pca": lowdim.PCA(), "lle": lowdim.LLE(), "isomap": lowdim.Isomap(), "umap": lowdim.UMAP()}
    made = [Outcome(name, name == "pca", estimator, {}, 1.0) for name, estimator in known.items()]
    assert [o.name for o in structure_test.fixed_methods(made)] == ["pca", "umap"]
    assert [o.name for o in structure_test.fixed_methods(made[::-1])] == ["pca", "umap"]
    assert [o.name for o in structure_test.fixed_methods(made[:1])] == ["pca"]
    for seed in range(2):  # whatever map is recommended
        found = lowdim.compare(blobs(30, seed=seed)[0], methods=["isomap", "pca"], random_state=seed)
        assert found.evidence.structure.methods == ("pca", "isomap")


def test_the_p_value_is_exact_where_tables_are_exchangeable():
    """Curves of any shape, two maps that agree in part: one in twenty stands out from nineteen others."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(3000):
        common = rng.normal(size=(20, 6))
        curves = np.hstack([common, common + rng.standard_t(3, size=(20, 6))]) * np.arange(1, 13)
        hits += found_structure(curves[0], curves[1:], ["a", "b"], 200).p_value <= 0.05
    assert abs(hits / 3000 - 0.05) < 0.012  # three standard errors


class Drawn:
    """Tables of noise without maps: their curves are drawn at random."""

    def __init__(self, draw, shift=0.0):
        self.draw, self.data, self.seen = draw, draw(1)[0] + shift, 0

    def tables(self, count):
        self.seen += count
        return list(self.draw(count))

    def found(self, null):
        return found_structure(self.data, np.array(null), ["a", "b"], 200)


@pytest.mark.parametrize("tails", ["gaussian", "exponential"])
def test_more_tables_keep_the_level(tails):
    """The answer may come after any number of tables: of noise, one in twenty is still called structure."""
    rng = np.random.default_rng(0)

    def draw(count):
        common = rng.normal(size=(count, 6)) if tails == "gaussian" else rng.exponential(size=(count, 1))
        return np.hstack([common + rng.normal(size=(count, 6)) * 0.3, common + rng.normal(size=(count, 6)) * 0.3])

    made = [Drawn(draw) for _ in range(1000)]
    p = np.array([structure_test.sequential(one, {}).p_value for one in made])
    assert 0.03 <= np.mean(p <= 0.05) <= 0.07  # three standard errors
    assert abs(np.mean(p <= 0.5) - 0.5) < 0.048
    assert {one.seen for one in made} <= {19, 39, 59, 79, 99}
    assert np.mean([one.seen for one in made]) < 40


def components(n=150, seed=0, groups=5, apart=1.0):
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(groups, 200))
    return lowdim.PCA(n_components=20).fit_transform(centres[np.arange(n) % groups] + rng.normal(size=(n, 200)))


def test_groups_in_principal_components_are_structure():
    """Shuffled components make a grid of groups, which maps keep as well: the maps alone find nothing."""
    found = lowdim.compare(components(groups=3, apart=3.0), methods=["pca"], random_state=0)
    test = found.evidence.structure
    assert test.clear
    assert test.nearer.clear
    assert test.nearer.share > 0.1
    assert not test.by_maps  # what was looked at before
    assert found.verdict.about("structure")[0].text.startswith("There is structure, clearly: columns are related.")
    assert found.evidence.noise == "gaussian"
    assert (found.verdict.rows[found.verdict.recommended] == "trusted").mean() > 0.5


def test_columns_with_peaks_that_are_unrelated_are_said_to_be_so():
    rng = np.random.default_rng(1)
    X = 8.0 * rng.integers(0, 2, (150, 3)) + rng.normal(size=(150, 3))
    found = lowdim.compare(X, methods=["isomap", "pca"], random_state=0)
    assert found.evidence.structure.single_columns
    assert found.verdict.about("structure")[0].text.startswith("No relation between columns was found")


def test_more_tables_only_where_the_lead_is_narrow():
    rng = np.random.default_rng(1)

    def draw(count):
        return rng.normal(size=(count, 12))

    clear, lost, narrow = Drawn(draw, 20.0), Drawn(draw, -1.0), Drawn(draw, 2.0)
    found = [structure_test.sequential(one, {}) for one in (clear, lost, narrow)]
    assert [one.seen for one in (clear, lost, narrow)] == [19, 19, 99]
    assert [one.clear for one in found] == [True, False, False]
    assert found[1].p_value > 0.3
    assert found[2].p_value <= 0.05
    assert found[2].n_null == 99


def test_more_tables_that_would_take_too_long_are_named(monkeypatch):
    monkeypatch.setattr(structure_test, "MORE_BUDGET", -1.0)
    rng, skipped = np.random.default_rng(1), {}
    found = structure_test.sequential(Drawn(lambda count: rng.normal(size=(count, 12)), 2.0), skipped)
    assert found.n_null == 19
    assert skipped["structure by more tables"].startswith("80 more tables of noise would take")


@pytest.mark.deep
def test_independent_columns_of_numbers_and_categories_are_rarely_called_structure():
    """Of 60 tables 3 are expected; more than 7 come out in 1 of 100 repetitions."""
    from benchmarks.verdict_noise import independent_columns

    found = []
    for seed in range(60):
        X = independent_columns(np.random.default_rng(seed))
        found.append(lowdim.compare(X, methods=["famd", "isomap"], random_state=seed).evidence.structure.p_value)
    assert np.sum(np.array(found) <= 0.05) <= 7


@pytest.mark.deep
def test_noise_is_called_structure_one_time_in_twenty_whatever_map_is_recommended():
    """Of 150 tables 7.5 are expected; more than 13 come out in 2 of 100 repetitions."""
    found = []
    for seed in range(150):
        X = np.random.default_rng(seed).normal(size=(100, 5))
        found.append(lowdim.compare(X, methods=["pca", "isomap"], random_state=seed).evidence.structure.p_value)
    assert 1 <= np.sum(np.array(found) <= 0.05) <= 13


def test_short_circuits_do_not_make_a_map_right():
    """Isomap over the graph that the distances along the data are measured on would be praised for its mistake."""
    roll = lowdim.datasets.swiss_roll(600, random_state=0)
    methods = {"isomap": lowdim.Isomap(), "cut": lowdim.Isomap(repair="detour")}
    found = lowdim.compare(roll.X, methods=methods)
    values = found.evidence.rankings["along the data"].values
    assert found.evidence.cut > 0
    assert values["cut"] > 0.95
    assert values["isomap"] < 0.85
    assert "links that seem short cuts" in found.verdict.about("along the data")[0].text


def test_of_many_rows_short_circuits_are_not_searched_for(monkeypatch):
    monkeypatch.setattr(rankings, "SEARCHED", 500)
    roll = lowdim.datasets.swiss_roll(600, random_state=0)
    found = lowdim.compare(roll.X, methods=["pca"])
    assert found.evidence.cut == 0
    assert "Not judged: short circuits in distances along the data (of more than 500 rows" in left_out(found)


def test_a_sheet_has_no_short_circuits():
    rng = np.random.default_rng(0)
    found = lowdim.compare(np.column_stack([rng.uniform(size=(400, 2)), np.zeros(400)]), methods=["pca"])
    assert found.evidence.cut == 0


def test_maps_of_noise_are_not_searched_for_short_circuits(monkeypatch):
    looked = []
    monkeypatch.setattr(neighborhood, "short_circuits", lambda *_: looked.append(1))
    X = np.random.default_rng(0).uniform(size=(60, 3))
    lowdim.Isomap(n_components=2).fit(X)
    assert looked == [1]
    with neighborhood.unwatched():
        lowdim.Isomap(n_components=2).fit(X)
    lowdim.trust.rows(X, X[:, :2], estimator=lowdim.Isomap(n_components=2), n_null=1, random_state=0)
    assert looked == [1]
    lowdim.Isomap(n_components=2).fit(X)
    assert looked == [1, 1]
