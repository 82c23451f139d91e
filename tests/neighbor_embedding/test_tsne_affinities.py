"""t-SNE's p_ij as a result of their own."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import entr

import lowdim

X = np.random.default_rng(0).standard_normal((60, 3))


def test_they_are_those_that_a_fit_uses():
    model = lowdim.TSNE(perplexity=8, init="spectral", max_iter=40)
    P = model.affinities(X)
    assert not hasattr(model, "n_features_in_")
    assert P.sum() == pytest.approx(1.0)
    assert abs(P - P.T).max() == 0
    given = lowdim.TSNE(affinity="precomputed", init="spectral", max_iter=40)
    np.testing.assert_array_equal(given.fit_transform(P), model.fit_transform(X))


def test_those_to_other_rows_have_the_perplexity():
    P = lowdim.TSNE(perplexity=8).affinities(X[:5] + 0.1, among=X)
    assert P.shape == (5, 60)
    np.testing.assert_allclose(np.exp(entr(P.toarray()).sum(axis=1)), 8.0, rtol=1e-4)
    by_distances = lowdim.TSNE(perplexity=8, metric="precomputed")
    other = by_distances.affinities(cdist(X[:5] + 0.1, X), among=cdist(X, X))
    np.testing.assert_allclose(other.toarray(), P.toarray(), atol=1e-9)


def test_new_rows_by_several_perplexities():
    model = lowdim.TSNE(perplexity=8, max_iter=300).fit(X[:50])
    one, several = model.transform(X[50:], perplexity=5), model.transform(X[50:], perplexity=[5, 5])
    np.testing.assert_allclose(one, several, atol=1e-6)
    assert not np.allclose(one, model.transform(X[50:], perplexity=[5, 20]))
    with pytest.raises(ValueError, match="or a list of such; got \\[5, 50\\]"):
        model.transform(X[50:], perplexity=[5, 50])


def test_a_model_of_affinities_is_saved_and_loaded(tmp_path):
    model = lowdim.TSNE(affinity="precomputed", max_iter=30, tol=1).fit(lowdim.TSNE(perplexity=8).affinities(X))
    lowdim.save(model, tmp_path / "model.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").embedding_, model.embedding_)
