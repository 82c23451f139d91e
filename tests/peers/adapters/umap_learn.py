"""UMAP with the names of umap-learn; imported only where that is installed."""

import warnings

import numpy as np
from scipy import sparse

import lowdim
from tests.peers.adapter import Adapter, Lacks, adapter, translation, used
from tests.peers.adapters.metrics import metric_of

with warnings.catch_warnings():  # of packages that it would use
    warnings.simplefilter("ignore")
    import umap

_WITHOUT = (
    "low_memory transform_queue_size angular_rp_forest transform_seed tqdm_kwds unique dens_frac dens_var_shift "
    "transform_mode output_dens output_metric_kwds target_metric_kwds densmap dens_lambda metric metric_kwds"
)
_NONE = dict.fromkeys(_WITHOUT.split())


def _only(name, value):
    """A parameter of which we have one value."""
    return lambda given: {} if given == value else _lacks(name, given)


def _lacks(name, value):
    raise Lacks(f"{name}={value!r}")


_UMAP = translation(
    "n_components learning_rate min_dist spread set_op_mix_ratio local_connectivity negative_sample_rate a b "
    "random_state n_jobs verbose disconnection_distance target_weight",
    **_NONE,
    n_neighbors=lambda k: {"n_neighbors": k - 1 if isinstance(k, int) and k > 1 else 0},
    n_epochs="max_iter",
    init=lambda value: {"init": "spectral" if isinstance(value, str) and value == "tswspectral" else value},
    repulsion_strength="repulsion",
    target_metric=lambda value: {"target_metric": {"l1": "manhattan"}.get(value, value)},
    target_n_neighbors=lambda k: {} if k == -1 else {"target_n_neighbors": k},
    force_approximation_algorithm=lambda value: {"search": "approximate"} if value else {},
    output_metric=_only("output_metric", "euclidean"),
    precomputed_knn=lambda value: {} if value[0] is None else _lacks("precomputed_knn", "..."),
)


def _umap(given, X=None):
    densities = given["dens_lambda"] if given["densmap"] or given["output_dens"] else 0.0
    return _UMAP(given) | metric_of(given["metric"], 2, given["metric_kwds"]) | {"densities": densities}


def _with_densities(self, X, y=None):
    """Theirs returns the radii too where they are asked for."""
    Z = self.fit(X, y).embedding_
    if self.transform_mode == "graph":
        return self._fitted.graph_
    return (Z, *self._fitted.local_radii_.T) if self.output_dens else Z


def _transformed(self, X):
    """Theirs returns memberships where the graph is asked for."""
    model = self._model()
    return model.memberships(X) if self.transform_mode == "graph" else model.transform(X)


def _updated(self, X):
    """More rows, here a second fit from the coordinates of all of them."""
    used[0] += 1
    model, rows = self._fitted, np.vstack([self._given, X])
    init = np.vstack([model.embedding_, model.transform(X)])
    self._fitted = lowdim.UMAP(**model.get_params(deep=False) | {"init": init}).fit(rows)
    self._given = rows


def _fit(self, X, *rest, **options):
    self._given = X if sparse.issparse(X) else np.asarray(X)
    return Adapter.fit(self, X, *rest, **options)


def _combined(how):
    def combine(self, other):
        made = type(self)(**self.get_params(deep=False))
        made._fitted = getattr(self._fitted, how)(other._fitted)
        return made

    return combine


UMAP = adapter(
    umap.UMAP,
    lowdim.UMAP,
    translate=_umap,
    fit=_fit,
    fit_transform=_with_densities,
    transform=_transformed,
    update=_updated,
    __mul__=_combined("__mul__"),
    __add__=_combined("__add__"),
    __sub__=_combined("__sub__"),
    _a=property(lambda self: self._fitted.a_),
    _b=property(lambda self: self._fitted.b_),
)


def disconnected_vertices(model):
    """Rows without neighbours: theirs reads the graph, ours are marked."""
    return model.component_labels_ == -1
