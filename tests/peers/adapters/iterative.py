"""Methods that descend a loss: multidimensional scaling and t-SNE."""

import numpy as np
from sklearn import manifold
from sklearn.base import clone

import lowdim
from tests.peers.adapter import adapter, translation
from tests.peers.adapters.metrics import metric_of, rows_of

STARTS = {"classical_mds": "classical", "warn": "random"}

_MDS = translation(
    "n_components n_init max_iter verbose n_jobs random_state",
    metric_mds=lambda value: {"level": "ratio" if value else "ordinal"},
    init=lambda value: {"init": STARTS.get(value, value) if isinstance(value, str) else value},
    eps="tol",
    normalized_stress=None,
)


def _mds(given, X=None):
    given = dict(given)
    metric, dissimilarity, options = given.pop("metric"), given.pop("dissimilarity"), given.pop("metric_params")
    if isinstance(metric, bool):  # the name of metric_mds until 1.8
        given["metric_mds"], metric = metric, "euclidean"
    metric = metric if dissimilarity == "deprecated" else dissimilarity
    return _MDS(given) | metric_of(metric, 2, options) | {"solver": "majorize"}


def _stress(self):
    """Theirs is normalised at the level "ordinal", or where it is asked for."""
    normalised = self.normalized_stress
    normalised = not self.metric_mds if normalised == "auto" else normalised
    return self._fitted.stress1_ if normalised else self._fitted.stress_


def _from(self, X, y=None, init=None):
    """Theirs takes the start at fit too, ours as a parameter."""
    return clone(self).set_params(init=init).fit_transform(X) if init is not None else self.fit(X).embedding_


MDS = adapter(
    manifold.MDS,
    lowdim.MDS,
    translate=_mds,
    fit_transform=_from,
    stress_=property(_stress),
    dissimilarity_matrix_=property(lambda self: _square(self._fitted.dissimilarities_)),
)


def _square(pairs):
    from scipy.spatial.distance import squareform

    return squareform(pairs)


def smacof(dissimilarities, *, metric=True, init=None, return_n_iter=False, **given):
    """The function that gives the parts of a model of ours."""
    model = MDS(metric_mds=metric, metric="precomputed", init="random" if init is None else init, **given)
    Z = model.fit_transform(dissimilarities)
    return (Z, model.stress_, model.n_iter_) if return_n_iter else (Z, model.stress_)


_TSNE = translation(
    "n_components perplexity early_exaggeration learning_rate max_iter init verbose random_state n_jobs",
    n_iter_without_progress=None,
    min_grad_norm="tol",
    method="solver",
    angle="theta",
)


def _tsne(given, X=None):
    given = dict(given)
    metric = metric_of(given.pop("metric"), 2, given.pop("metric_params"))
    made = _TSNE(given) | metric
    made["tol"] = max(made["tol"], 1e-300)
    return made | {"early_iter": min(250, made["max_iter"])}


TSNE = adapter(manifold.TSNE, lowdim.TSNE, translate=_tsne, attributes={"n_iter_": lambda model: model.n_iter_ - 1})


def trustworthiness(X, X_embedded, *, n_neighbors=5, metric="euclidean"):
    """The measure as a number."""
    return float(lowdim.quality.trustworthiness(rows_of(X), np.asarray(X_embedded), n_neighbors, metric=metric))
