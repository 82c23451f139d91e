"""Networks trained on all rows of blocks, and batch after batch."""

from functools import partial

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from sklearn.base import clone

import lowdim
from lowdim.latent.networks._rows import Scaling
from lowdim.latent.networks.in_blocks.sums import ColumnSums

pytest.importorskip("torch")
RNG = np.random.default_rng(0)
ANGLES = np.sort(RNG.uniform(0, 3, 3000))  # sorted along the curve: blocks differ
ROWS = np.column_stack([np.cos(3 * ANGLES), np.sin(3 * ANGLES), ANGLES, 2 * ANGLES]) + 0.02 * RNG.normal(size=(3000, 4))
SETTINGS = {"hidden": (16,), "max_iter": 25, "random_state": 0, "batch_size": 64}
IGNORED = pytest.mark.filterwarnings("ignore:.*not converged")


def streams(X):
    yield "dask", da.from_array(X, chunks=(450, 2))
    yield "arrow", ds.dataset([pa.table({f"c{j}": X[i : i + 800, j] for j in range(4)}) for i in range(0, len(X), 800)])


@IGNORED
@pytest.mark.parametrize("model", [lowdim.Autoencoder(1, **SETTINGS), lowdim.VAE(1, beta=0.05, **SETTINGS)], ids=str)
def test_all_rows_are_trained_on(model):
    """A sample of 12 rows cannot know the curve as well; the column means are those of all rows."""
    few = clone(model).fit(ROWS[RNG.choice(3000, 12, replace=False)])
    alone = np.square(few.inverse_transform(few.transform(ROWS)) - ROWS).mean()
    for name, X in streams(ROWS):
        with lowdim.config(sample_rows=12):
            found = clone(model).fit(X)
        np.testing.assert_allclose(found.mean_, ROWS.mean(axis=0), rtol=1e-9)
        assert len(found.sample_indices_) == 12 == len(found.embedding_)
        rows = pd.DataFrame(ROWS, columns=found.feature_names_in_) if name == "arrow" else ROWS
        error = np.square(found.inverse_transform(found.transform(rows)) - ROWS).mean()
        assert error < 0.5 * alone, name
        assert error < 0.15


@IGNORED
def test_a_mapped_file_beyond_the_limit(tmp_path):
    np.save(tmp_path / "rows.npy", np.tile(ROWS, (200, 1)))
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = lowdim.Autoencoder(1, hidden=(8,), max_iter=1, batch_size=1024, random_state=0)
    with lowdim.config(sample_rows=500, memory_limit=model.estimate_memory(X) // 3):
        found = model.fit(X)
    assert len(found.sample_indices_) == 500
    np.testing.assert_allclose(found.mean_, ROWS.mean(axis=0), rtol=1e-6)


@IGNORED
def test_held_out_rows_are_never_trained_on(monkeypatch):
    """Two rows far away are the sample's held-out rows: every mini-batch is without them."""
    from lowdim.latent.networks.in_blocks import trainer

    seen = []
    original = trainer.BlockTrainer._scaled

    def counted(self, block, start):
        rows = original(self, block, start)
        seen.append((len(block), len(rows), len(self.held_numbers)))
        return rows

    monkeypatch.setattr(trainer.BlockTrainer, "_scaled", counted)
    with lowdim.config(sample_rows=100):
        lowdim.Autoencoder(1, hidden=(4,), max_iter=1, random_state=0).fit(da.from_array(ROWS, chunks=(500, 4)))
    given, kept, held = map(np.array, zip(*seen, strict=True))
    assert held[0] == 10
    assert given.sum() - kept.sum() == 10


def test_sums_of_blocks_are_those_of_all_rows():
    blocks = [ROWS[:7], ROWS[7:1000], ROWS[1000:]]
    total = sum(map(ColumnSums.of, blocks[1:]), ColumnSums.of(blocks[0]))
    for columns in (False, True):
        wanted, found = Scaling.of(ROWS, columns), total.scaling(columns)
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-12)
        np.testing.assert_allclose(found.scale, wanted.scale, rtol=1e-12)
    assert (total.low, total.high, total.missing) == (ROWS.min(), ROWS.max(), False)
    assert ColumnSums.of(np.array([[1.0, np.nan]])).missing


def test_an_iterator_is_read_once_and_refused():
    with pytest.raises(TypeError, match="cannot fit from a stream"):
        lowdim.Autoencoder(1).fit(iter([ROWS]))


def test_shares_are_checked_in_all_blocks():
    X = np.full((300, 3), 0.5)
    X[250, 1] = 7
    X[::2, 0] = 0.1
    with lowdim.config(sample_rows=20), pytest.raises(ValueError, match="must be from 0 to 1"):
        lowdim.VAE(1, likelihood="bernoulli", random_state=0).fit(da.from_array(X, chunks=(100, 3)))


def batches(seed):
    rows = ROWS[np.random.default_rng(seed).permutation(3000)]
    return [rows[i : i + 500] for i in range(0, 3000, 500)]


def error_of(model):
    return np.square(model.inverse_transform(model.transform(ROWS)) - ROWS).mean()


@pytest.mark.parametrize("estimator", [lowdim.Autoencoder, partial(lowdim.VAE, beta=0.05)], ids=["ae", "vae"])
def test_partial_fit_learns_batch_by_batch(estimator):
    """What is said about the model is of the last batch."""
    model, errors = estimator(1, hidden=(16,), batch_size=64, learning_rate=0.02, random_state=0), []
    for epoch in range(5):
        for batch in batches(epoch):
            assert model.partial_fit(batch) is model
        errors.append(error_of(model))
    assert errors[-1] < 0.5 * errors[0]
    assert errors[-1] < 0.2
    assert len(model.loss_curve_) == 30 == model.n_iter_
    assert model.embedding_.shape == (500, 1)
    if isinstance(model, lowdim.VAE):
        assert model.elbo_ == pytest.approx(model.elbo(batch).mean(), abs=0.1)
        assert not model.collapsed_.any()
        assert model.noise_variance_ < 0.5
        assert model.sample(3, random_state=0).shape == (3, 4)


def test_pixels_come_in_batches():
    X = (np.random.default_rng(0).random((400, 6)) < np.linspace(0.1, 0.9, 6)).astype(float)
    model = lowdim.VAE(1, hidden=(8,), likelihood="bernoulli", learning_rate=0.05, random_state=0)
    for _ in range(15):
        model.partial_fit(X)
    assert np.abs(model.inverse_transform(model.transform(X)).mean(axis=0) - X.mean(axis=0)).max() < 0.1
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        model.partial_fit(2 * X)


@IGNORED
@pytest.mark.parametrize("estimator", [partial(lowdim.Autoencoder, solver="adam"), lowdim.VAE], ids=["ae", "vae"])
def test_partial_fit_goes_on_after_fit_and_after_a_file(tmp_path, estimator):
    model = estimator(1, hidden=(16,), batch_size=32, max_iter=5, random_state=0)
    model.fit(ROWS[:1000])
    before = error_of(model)
    for batch in batches(0):
        model.partial_fit(batch)
    assert error_of(model) < before
    lowdim.save(model, tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    for batch in batches(1):
        model.partial_fit(batch)
        loaded.partial_fit(batch)
    np.testing.assert_array_equal(loaded.transform(ROWS), model.transform(ROWS))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: m.partial_fit(da.from_array(ROWS)), "must get rows in memory"),
        (lambda m: m.partial_fit(np.where(ROWS > 1, np.nan, ROWS)), "must get complete rows"),
        (lambda m: m.partial_fit(ROWS[:, :3]), "expecting 4 features"),
        (lambda m: m.set_params(hidden=(5,)).partial_fit(ROWS), "hidden and n_components must be those"),
        (lambda m: m.set_params(solver="lbfgs").partial_fit(ROWS), "solver must be 'adam' or 'auto'"),
    ],
)
@pytest.mark.parametrize("estimator", [lowdim.Autoencoder, lowdim.VAE])
def test_what_partial_fit_cannot_take_is_said_and_changes_nothing(estimator, call, says):
    if "solver" in says and not hasattr(estimator(), "solver"):
        pytest.skip("has one solver")
    model = estimator(1, hidden=(16,), random_state=0).partial_fit(ROWS[:200])
    before = model.transform(ROWS)
    with pytest.raises((TypeError, ValueError), match=says):
        call(model)
    np.testing.assert_array_equal(model.transform(ROWS), before)
