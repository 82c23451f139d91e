"""The verdict of whole comparisons: right answers on data with known ones, nothing from noise, every kind of table."""

import json
from functools import partial

import numpy as np
import pytest

import lowdim
from lowdim.study.columns import Wishes
from lowdim.study.data import data_of
from lowdim.study.verdict.noise import noise_of, sample_of

METHODS = ["pca", "isomap", "tsne"]


def blobs(n=40, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, d)) + shift for shift in (0, 8, -8)]), np.repeat(["a", "b", "c"], n)


@pytest.fixture(scope="module")
def roll():
    data = lowdim.datasets.swiss_roll(700, random_state=1)
    return lowdim.compare(data.X, methods=[*METHODS[:2], ("tsne", lowdim.TSNE(max_iter=300))])


def test_a_roll_is_unrolled_by_isomap(roll):
    said = roll.verdict.about("along the data")[0]
    assert said.numbers["best"] == "isomap"
    assert said.numbers["curved"] < 0.7 < said.numbers["noise"]
    assert roll.verdict.about("distances")[0].numbers["best"] == "pca"
    assert roll.verdict.about("dimension")[0].text.startswith("2 columns can be enough")


def test_verdicts_of_rows_stand_beside_their_maps(roll):
    assert set(roll.verdict.rows) == {"pca", "isomap", "tsne"}
    assert all(found.shape == (700,) for found in roll.verdict.rows.values())
    found = lowdim.trust.rows(roll_data(), roll.embeddings["pca"], estimator=lowdim.PCA(n_components=2), random_state=0)
    assert np.mean(found.verdict == roll.verdict.rows["pca"]) > 0.9  # other tables of noise, the same statistic


def roll_data():
    return lowdim.datasets.swiss_roll(700, random_state=1).X


def test_separate_groups_are_found_to_be_groups():
    X, y = blobs()
    found = lowdim.compare(X, y, methods=["pca"]).verdict
    assert found.about("structure")[0].numbers["p_value"] <= 0.05
    assert "3 of 3 found to be groups of their own in the data" in found.about("groups")[0].text
    assert found.recommended == "pca"


def test_noise_is_called_noise():
    X = np.random.default_rng(3).normal(size=(200, 8))
    wrong = sum(
        lowdim.compare(X[np.random.default_rng(s).permutation(200)], methods=["pca"], random_state=s)
        .verdict.about("structure")[0]
        .numbers["p_value"]
        <= 0.05
        for s in range(3)
    )
    assert wrong == 0
    found = lowdim.compare(X, methods=["pca"]).verdict
    assert (found.rows["pca"] == "trusted").mean() < 0.12


@pytest.mark.deep
def test_noise_is_called_structure_one_time_in_twenty():
    found = [
        lowdim.compare(np.random.default_rng(s).normal(size=(100, 5)), methods=["pca"], random_state=s)
        .verdict.about("structure")[0]
        .numbers["p_value"]
        for s in range(100)
    ]
    assert np.mean(np.array(found) <= 0.05) <= 0.1  # more in 1 of 100 repetitions


@pytest.mark.deep
@pytest.mark.parametrize("noise", ["normal", "uniform", "heavy"])
def test_clusters_that_tsne_draws_from_noise_are_no_groups(noise):
    """Neither those that HDBSCAN finds in the map nor pieces cut out of it."""
    from sklearn.cluster import HDBSCAN, KMeans

    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d = (150, 400)[seed % 2], (2, 5, 10)[seed % 3]
        draw = {"normal": rng.normal, "uniform": rng.uniform, "heavy": partial(rng.standard_t, 3)}[noise]
        X = draw(size=(n, d))
        Z = lowdim.TSNE(max_iter=400, random_state=seed).fit_transform(X)
        drawn = (HDBSCAN(min_cluster_size=20, copy=True), KMeans(5, n_init=1, random_state=seed))
        for labels in (each.fit(np.array(Z, float)).labels_ for each in drawn):
            if labels.max() > 0:
                found += [group.verdict for group in lowdim.trust.groups(X, Z, labels, random_state=seed).table]
    assert len(found) >= 60
    assert sum(verdict in ("holds together", "mixture") for verdict in found) <= 0.05 * len(found)


def test_the_same_numbers_give_the_same_words():
    X, y = blobs()
    texts = {str(lowdim.compare(X, y, methods=METHODS[:2], n_jobs=jobs).verdict) for jobs in (1, 2)}
    assert len(texts) == 1


def test_maps_with_other_numbers_of_columns_are_not_ranked_together():
    X, _ = blobs()
    found = lowdim.compare(X, methods=["pca", "isomap", ("three", lowdim.PCA(n_components=3))]).verdict
    assert any("three (it has 3 columns, not 2" in sentence.text for sentence in found.about("not judged"))
    assert "three" not in found.about("neighbours")[0].numbers["values"]


def test_few_rows_get_no_verdict():
    found = lowdim.compare(np.random.default_rng(0).normal(size=(12, 4)), methods=["pca"]).verdict
    verdict, read = found.sentences
    assert verdict.text == "No verdict: 12 rows are too few (at least 30)."
    assert read.topic == "few rows"
    assert read.text.endswith("which are far from all others. Groups, gaps, and which map scores best can be chance.")


def test_it_can_be_left_out():
    X, _ = blobs()
    found = lowdim.compare(X, methods=["pca"], verdict=False)
    assert found.verdict.sentences == ()
    assert found.evidence is None


def test_stability_is_added_where_asked_for_and_reports_its_progress(monkeypatch):
    from lowdim.study.running import all_methods

    monkeypatch.setattr(all_methods, "EVERY", 0.0)
    X, _ = blobs()
    heard = []
    found = lowdim.compare(X, methods=["pca"], stability=3, progress=lambda *step: heard.append(step)).verdict
    assert len(found.about("stability")) == 1
    steps = [(done, total) for name, done, total in heard if name == "stability"]
    assert len(steps) == 1 + 3  # its beginning, and each replicate
    assert steps[-1][0] == steps[-1][1]  # the bar ends where it was said to end
    assert len({total for name, _, total in heard if name in ("scores", "maps of noise", "stability")}) == 1


def test_how_long_stability_takes_is_said_before_it_begins(monkeypatch):
    from lowdim.study.verdict import evidence

    monkeypatch.setattr(evidence, "LONG", 0.0)
    heard = []
    lowdim.compare(blobs()[0], methods=["pca"], stability=3, progress=lambda name, *_: heard.append(name))
    assert any(name.startswith("stability (3 maps, about 1 s") for name in heard)


def mixed(n=80):
    rng = np.random.default_rng(0)
    kind = rng.choice(["x", "y", "z"], n)
    return {"size": rng.normal(size=n) + 5 * (kind == "x"), "weight": rng.normal(size=n), "kind": kind.tolist(),
            "colour": rng.choice(["red", "blue"], n).tolist()}  # fmt: skip


def with_holes():
    X, _ = blobs()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


def mostly_missing(n=120):
    """Two answers of four are missing on average: columns shuffled one by one leave rows without any."""
    rng = np.random.default_rng(1)
    X = {f"q{j}": rng.choice(["yes", "no"], n).tolist() for j in range(4)}
    for j in range(4):
        for i in np.flatnonzero(rng.random(n) < 0.5):
            if i % 4 != j:  # one answer is always there
                X[f"q{j}"][i] = None
    return X


def distances():
    X, _ = blobs()
    return np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize(
    ("X", "options"),
    [
        (mixed(), {}),
        (with_holes(), {"methods": ["pca", "isomap"]}),
        (distances(), {"metric": "precomputed", "methods": ["classical-mds", "isomap"]}),
        (blobs()[0], {"methods": ["pca"], "reference": "geodesic"}),
        (blobs()[0], {"methods": ["pca"], "reference": blobs()[0][:, :3]}),
        (blobs()[0].astype(np.float32), {"methods": ["pca"], "metric": "cityblock"}),
        (blobs()[0], {"y": np.arange(120.0) / 7, "methods": ["pca"]}),
        (blobs()[0], {"methods": {"mine": blobs()[0][:, :2]}}),
        (blobs()[0], {"y": blobs()[1], "methods": ["lda", "pca"]}),
        (blobs()[0], {"methods": ["pca"], "n_components": 1}),
    ],
    ids=["mixed", "holes", "distances", "geodesic", "given", "metric", "quantity", "ready-made", "supervised", "one"],
)
def test_every_kind_of_table_gets_a_verdict(X, options, tmp_path):
    found = lowdim.compare(X, **options)
    assert found.verdict.about("neighbours")
    assert found.verdict.recommended in found.embeddings
    json.dumps(found.to_dict()["verdict"], allow_nan=False)
    page = found.report(tmp_path / "report.html").read_text()
    assert 'id="verdict"' in page
    assert all(f'id="{sentence.evidence}"' in page for sentence in found.verdict.sentences)


def test_every_method_is_judged_or_named_as_not_judged():
    X, y = blobs(30)
    found = lowdim.compare(X, y, methods=["pca", "lle", "laplacian-eigenmaps", "kernel-pca", "umap", "mds", "ica"])
    left = " ".join(sentence.text for sentence in found.verdict.about("not judged"))
    for name in found.embeddings:
        assert name in found.verdict.rows or name == "random" or name in left, name


def test_noise_keeps_each_column_and_loses_what_joins_them():
    data = data_of(mixed(), Wishes(), "auto")
    noise = noise_of(data, np.random.default_rng(0))
    for before, after in zip(data.table.columns, noise.table.columns, strict=True):
        assert sorted(map(str, before.values)) == sorted(map(str, after.values))
    assert noise.rows.shape == data.rows.shape
    assert not np.array_equal(noise.rows, data.rows)
    part = sample_of(data, np.arange(10))
    assert part.n == 10


def test_noise_and_samples_keep_the_units_of_methods_that_count():
    """Scaled columns for most methods, the columns as they were for others: of one table of noise, or of one sample."""
    X = np.random.default_rng(0).gamma(2.0, [1, 10, 100], (50, 3))
    data = data_of(X, Wishes(), True)
    unit = data.unscaled[0] / data.rows[0]
    for kind in ("permuted", "gaussian"):
        noise = noise_of(data, np.random.default_rng(0), kind)
        assert np.allclose(noise.unscaled, noise.rows * unit)
        assert not np.allclose(noise.unscaled, data.unscaled)
    assert np.array_equal(np.sort(noise_of(data, np.random.default_rng(0)).unscaled, axis=0), np.sort(X, axis=0))
    part = sample_of(data, np.arange(10, 30))
    assert np.array_equal(part.unscaled, X[10:30])
    assert np.allclose(
        noise_of(part, np.random.default_rng(0)).rows * unit, noise_of(part, np.random.default_rng(0)).unscaled
    )


def test_every_row_of_noise_has_something_known():
    data = data_of(mostly_missing(), Wishes(), "auto")
    for seed in range(5):
        noise = noise_of(data, np.random.default_rng(seed))
        assert np.isfinite(noise.rows).any(axis=1).all()


def test_an_error_in_the_verdict_leaves_the_scores(monkeypatch):
    from lowdim.study.verdict.against_noise import Noise

    def fail(*_, **__):
        raise ValueError("nothing is known about this")

    monkeypatch.setattr(Noise, "judge", fail)
    found = lowdim.compare(blobs()[0], methods=["pca"])
    assert found.verdict.about("neighbours")
    assert "Not judged: rows (nothing is known about this)." in str(found.verdict)
