"""t-SNE with the names of openTSNE; imported only where that is installed.

There affinities and embeddings are objects of their own, and an embedding is an array that can be optimised further.
Here one model has both (`TSNE.affinities`) and continues its descent (`warm_start`). Initial coordinates are openTSNE's
where a test asks for them before the descent; several perplexities are averaged in one way here, not in two.
"""

import warnings
from copy import deepcopy

import numpy as np
from scipy import sparse

import lowdim
from tests.peers import adapter
from tests.peers.adapter import Lacks
from tests.peers.adapters.metrics import metric_of

with warnings.catch_warnings():  # of packages that it would use
    warnings.simplefilter("ignore")
    import openTSNE
    from openTSNE import affinity, initialization

SEARCH = {"exact": "exact", "auto": "auto"}  # which index does the rest is not a setting here
SOLVERS = {"bh": "barnes_hut", "fft": "fft", "auto": "barnes_hut"}  # as openTSNE chooses for few rows
SHARED = ("n_jobs", "dof", "theta", "learning_rate")  # settings of a descent with the same name
WITHOUT = ("n_interpolation_points", "min_num_intervals", "ints_in_interval", "max_grad_norm", "max_step_norm")


class Affinities(affinity.Affinities):
    """Affinities that `lowdim.TSNE` computes, of rows or of an index of their neighbours."""

    def __init__(self, X, index, method, metric, metric_params, symmetrize, **settings):
        if (X is None) == (index is None):
            raise ValueError("one of data and knn_index")
        if symmetrize not in (True, "mean", "max"):
            raise (ValueError if symmetrize is not False else Lacks)(f"symmetrize={symmetrize!r}")
        adapter.used[0] += 1
        self.knn_index, self.verbose = index, False
        self.settings = {"search": SEARCH.get(method, "approximate"), **metric_of(metric, 2, metric_params), **settings}
        if index is not None:
            self.settings["metric"] = "precomputed"
            X = _graph(*index.build(), index.n_samples)
        self.X = X
        self.P = sparse.csr_matrix(lowdim.TSNE(**self.settings).affinities(X))
        self.fitted = self.settings, X
        if symmetrize == "max":  # of equal weights: given to a model as they are
            self.P.data[:] = 1 / self.P.nnz
            self.fitted = {"affinity": "precomputed"}, self.P

    @property
    def n_samples(self):
        return self.X.shape[0]

    def new(self, X):
        """New rows as our model takes them."""
        return X if self.knn_index is None else _graph(*self.knn_index.query(X, self.knn_index.k), self.n_samples)

    def to_new(self, X, perplexity=None, **other):
        return lowdim.TSNE(**self.settings).affinities(self.new(X), among=self.X)


def _graph(indices, distances, n):
    m, k = indices.shape
    return sparse.csr_array((distances.ravel(), indices.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n))


class PerplexityBasedNN(Affinities):
    def __init__(self, data=None, perplexity=30, method="auto", metric="euclidean", metric_params=None, symmetrize=True,
                 knn_index=None, **other):  # fmt: skip
        super().__init__(data, knn_index, method, metric, metric_params, symmetrize, perplexity=perplexity)
        self.perplexity = perplexity


class Multiscale(Affinities):
    def __init__(self, data=None, perplexities=None, method="auto", metric="euclidean", metric_params=None,
                 symmetrize=True, knn_index=None, **other):  # fmt: skip
        super().__init__(data, knn_index, method, metric, metric_params, symmetrize, perplexity=perplexities)
        self.perplexities = perplexities


class FixedSigmaNN(Affinities):
    def __init__(self, data=None, sigma=None, k=30, method="auto", metric="euclidean", metric_params=None,
                 symmetrize=True, knn_index=None, **other):  # fmt: skip
        super().__init__(data, knn_index, method, metric, metric_params, symmetrize, sigma=sigma, n_neighbors=k)


class Uniform(Affinities):
    def __init__(self, data=None, k_neighbors=30, method="auto", metric="euclidean", metric_params=None,
                 symmetrize=True, knn_index=None, **other):  # fmt: skip
        own = {"affinity": "uniform", "n_neighbors": k_neighbors}
        super().__init__(data, knn_index, method, metric, metric_params, symmetrize, **own)


class PrecomputedAffinities(Affinities):
    def __init__(self, affinities, normalize=True):
        adapter.used[0] += 1
        self.settings, self.X = {"affinity": "precomputed"}, affinities
        self.P = sparse.csr_matrix(lowdim.TSNE(**self.settings).affinities(affinities))
        self.fitted = self.settings, affinities


class TSNEEmbedding(np.ndarray):
    """The map of a model of ours, which `optimize` continues."""

    def __new__(cls, embedding, affinities, negative_gradient_method="auto", random_state=None, **other):
        made = np.array(embedding, dtype=np.float64).view(cls)
        settings = {"n_components": made.shape[1], "warm_start": True, "init": np.array(made), "early_iter": 0}
        made.affinities, made.random_state, made.optimizer = affinities, random_state, None
        made._solver, made._model = SOLVERS[negative_gradient_method], lowdim.TSNE(**settings | affinities.fitted[0])
        adapter.used[0] += 1
        return made

    def __array_finalize__(self, other):
        self.__dict__.update(getattr(other, "__dict__", {}))

    def __reduce__(self):
        return _restored, (np.array(self), self.__dict__)

    def optimize(self, n_iter, inplace=False, exaggeration=None, momentum=0.8, callbacks=None, callbacks_every_iters=50,
                 propagate_exception=False, **other):  # fmt: skip
        if any(other.pop(name, None) is not None for name in WITHOUT):
            raise Lacks(", ".join(WITHOUT))
        target = self if inplace else _restored(np.array(self), deepcopy(self.__dict__))
        if n_iter:
            target._model.set_params(
                max_iter=n_iter, exaggeration=exaggeration or 1.0, momentum=momentum, solver=self._solver,
                callback=_called(callbacks), callback_every=callbacks_every_iters,
                **{name: other.pop(name) for name in SHARED if name in other})  # fmt: skip
            target[:] = target._model.fit_transform(target.affinities.fitted[1])
            target.kl_divergence = target._model.kl_divergence_
        return target

    def transform(self, X, perplexity=5, initialization="median", **steps):
        """Here new rows begin at the median of their neighbours and take the steps they need."""
        if not isinstance(initialization, str) or initialization != "median" or steps.get("n_iter") == 0:
            raise Lacks("new rows from other coordinates, or without steps")
        options = {} if perplexity == 5 else {"perplexity": perplexity}
        return self._model.transform(self.affinities.new(X), **options)

    def prepare_partial(self, X, **other):
        raise Lacks("new rows whose descent can be continued")


def _restored(values, state):
    made = values.view(TSNEEmbedding)
    made.__dict__.update(state)
    return made


def _called(callbacks):
    """Theirs are one or several, and are given the embedding last as well."""
    every = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    if callbacks is None:
        return None
    return lambda step, loss, Z: [one(step, loss, Z) for one in every].count(True) > 0


class TSNE(openTSNE.TSNE):
    """openTSNE's estimator, whose `fit` returns an embedding, computed by ours."""

    def fit(self, X=None, affinities=None, initialization=None):
        return self._fitted(self.prepare_initial(X, affinities, initialization))

    def prepare_initial(self, X=None, affinities=None, initialization=None):
        if X is None and affinities is None:
            raise ValueError("needs rows or affinities")
        if affinities is None:
            affinities = PerplexityBasedNN(X, self.perplexity, self.neighbors, self.metric, self.metric_params)
        if not isinstance(affinities, Affinities):
            raise ValueError("no affinities")
        start = self.initialization if initialization is None else initialization
        start = self._start(X, affinities, "pca" if start is None else start)
        if start.shape != (affinities.n_samples, self.n_components):
            raise ValueError(f"initial coordinates of shape {start.shape}")
        return TSNEEmbedding(start, affinities, self.negative_gradient_method, self.random_state)

    def _start(self, X, affinities, how):
        if not isinstance(how, str):
            return np.asarray(how)
        if how == "random":
            return initialization.random(affinities.n_samples, self.n_components, random_state=self.random_state)
        if how == "pca" and X is not None and self.metric != "precomputed":
            return initialization.pca(X, self.n_components, random_state=self.random_state)
        return initialization.spectral(affinities.P, self.n_components, random_state=self.random_state)

    def _fitted(self, embedding):
        common = {name: getattr(self, name) for name in ("n_jobs", "dof", "theta", "learning_rate", *WITHOUT[3:4])}
        common |= {"callbacks": self.callbacks, "callbacks_every_iters": self.callbacks_every_iters, "inplace": True}
        early = 12 if self.early_exaggeration == "auto" else self.early_exaggeration
        embedding.optimize(self.early_exaggeration_iter, exaggeration=early, momentum=self.initial_momentum, **common)
        return embedding.optimize(self.n_iter, exaggeration=self.exaggeration, momentum=self.final_momentum, **common)


class SklearnTSNE(TSNE):
    """The one whose `fit` returns the estimator."""

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        self.embedding_ = TSNE.fit(self, X)
        return np.array(self.embedding_)

    def transform(self, X, **options):
        return np.array(self.embedding_.transform(X, **options))
