"""Linear methods."""

import numpy as np
from sklearn import cross_decomposition, decomposition, discriminant_analysis
from sklearn.base import ClassifierMixin, RegressorMixin

import lowdim
from tests.peers.adapter import adapter, translation

SOLVERS = {
    "auto": {"solver": "auto"},
    "full": {"solver": "svd"},
    "covariance_eigh": {"solver": "covariance"},
    "arpack": {"solver": "gram"},
    "randomized": {"solver": "randomized"},
}


def _all(value):
    """None means all, which here a number has to say."""
    return {} if value is None else {"n_components": value}


PCA = adapter(
    decomposition.PCA,
    lowdim.PCA,
    translate=translation(
        "n_components whiten random_state",
        svd_solver=SOLVERS,
        copy=None,
        tol=None,
        iterated_power=None,
        n_oversamples=None,
        power_iteration_normalizer=None,
    ),
    n_samples_=property(lambda self: self._n_rows),
)


def _batches(self, X, y=None, check_input=True):
    """Rows in batches, as the peer cuts them."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    size = self.batch_size or 5 * X.shape[1]
    return (iter([X[start : start + size] for start in range(0, X.shape[0], size)]),), {}


def _fit_then_transform(self, X, y=None):
    return self.fit(X).transform(X)


def _partial_fit(self, X, y=None, check_input=True):
    model = self._model()
    model.set_params(**type(self)._translate(self.get_params(deep=False), X))
    self._fitted, self._n_rows = model.partial_fit(X), np.shape(X)[0]
    return self


IncrementalPCA = adapter(
    decomposition.IncrementalPCA,
    lowdim.PCA,
    translate=translation("n_components whiten", copy=None, batch_size=None),
    _rows=_batches,
    fit_transform=_fit_then_transform,
    partial_fit=_partial_fit,
)

FactorAnalysis = adapter(
    decomposition.FactorAnalysis,
    lowdim.FactorAnalysis,
    translate=translation(
        "max_iter tol rotation random_state",
        n_components=_all,
        copy=None,
        noise_variance_init=None,
        svd_method=None,
        iterated_power=None,
    ),
    attributes={"loglike_": lambda model: [model.log_likelihood_]},
)


def _contrast(given):
    """A contrast function of theirs returns the mean of the derivative over rows, ours the derivative."""
    fun, options = given.pop("fun"), given.pop("fun_args") or {}
    if not callable(fun):
        alpha = options.get("alpha", 1.0)
        return {"fun": fun if alpha == 1.0 else lambda y: (np.tanh(alpha * y), alpha / np.cosh(alpha * y) ** 2)}

    def ours(y):
        g, slope = fun(y, **options)
        slope = np.asarray(slope)
        return g, slope if slope.shape == np.shape(y) else np.broadcast_to(slope[..., None], np.shape(y))

    return {"fun": ours}


_ICA = translation(
    "n_components max_iter tol random_state",
    algorithm=lambda value: {"mode": value},
    w_init="init",
    whiten={"unit-variance": {}, "arbitrary-variance": {}, False: {"whiten": False}},
    whiten_solver=None,
)


def _ica(given, X=None):
    given = dict(given)
    return _contrast(given) | _ICA(given)


FastICA = adapter(
    decomposition.FastICA,
    lowdim.ICA,
    translate=_ica,
    attributes={"whitening_": lambda model: np.linalg.pinv(model.mixing_)},
)


def fastica(X, *args, return_X_mean=False, compute_sources=True, return_n_iter=False, **given):
    """The function that gives the parts of a model of ours as the peer's function does."""
    model = FastICA(*args, **given).fit(X)
    whitened = given.get("whiten", "unit-variance")
    K = np.linalg.pinv(model.mixing_) if whitened else None
    W = np.eye(len(model.components_)) if whitened else model.components_
    parts = [K, W, model.transform(X) if compute_sources else None]
    if return_X_mean:
        parts.append(model.mean_)
    return (*parts, model.n_iter_) if return_n_iter else tuple(parts)


TruncatedSVD = adapter(
    decomposition.TruncatedSVD,
    lowdim.TruncatedSVD,
    translate=translation(
        "n_components random_state",
        algorithm=None,
        n_iter=None,
        n_oversamples=None,
        power_iteration_normalizer=None,
        tol=None,
    ),
)


def _both(self, X, y=None):
    """The scores of both tables, where ours gives those of the first for pipelines."""
    return self.fit(X, y).transform(X, y)


CCA = adapter(
    cross_decomposition.CCA,
    lowdim.CCA,
    RegressorMixin,
    translate=translation("n_components scale", max_iter=None, tol=None, copy=None),
    attributes={"_x_mean": "x_mean_", "_y_mean": "y_mean_", "intercept_": "y_mean_"},
    fit_transform=_both,
    transform=lambda self, X, y=None, copy=True: self._model().transform(X, y),
    predict=lambda self, X, copy=True: self._model().predict(X),
)

LinearDiscriminantAnalysis = adapter(
    discriminant_analysis.LinearDiscriminantAnalysis,
    lowdim.LDA,
    ClassifierMixin,
    translate=translation(
        "shrinkage priors n_components tol covariance_estimator",
        solver={"svd": {"solver": "svd"}, "eigen": {"solver": "covariance"}, "lsqr": {"solver": "covariance"}},
        store_covariance=None,
    ),
    attributes={"xbar_": "mean_"},
)
