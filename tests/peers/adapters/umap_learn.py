"""UMAP with the names of umap-learn; imported only where that is installed."""

import umap

import lowdim
from tests.peers.adapter import Lacks, adapter, translation
from tests.peers.adapters.metrics import metric_of

_WITHOUT = (
    "low_memory transform_queue_size angular_rp_forest transform_seed tqdm_kwds unique dens_frac dens_var_shift "
    "output_dens output_metric_kwds target_metric_kwds densmap dens_lambda metric metric_kwds"
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
    transform_mode=_only("transform_mode", "embedding"),
    precomputed_knn=lambda value: {} if value[0] is None else _lacks("precomputed_knn", "..."),
)


def _umap(given, X=None):
    densities = given["dens_lambda"] if given["densmap"] or given["output_dens"] else 0.0
    return _UMAP(given) | metric_of(given["metric"], 2, given["metric_kwds"]) | {"densities": densities}


def _with_densities(self, X, y=None):
    """Theirs returns the radii too where they are asked for."""
    Z = self.fit(X, y).embedding_
    return (Z, *self._fitted.local_radii_.T) if self.output_dens else Z


UMAP = adapter(
    umap.UMAP,
    lowdim.UMAP,
    translate=_umap,
    fit_transform=_with_densities,
    _a=property(lambda self: self._fitted.a_),
    _b=property(lambda self: self._fitted.b_),
)


def disconnected_vertices(model):
    """Rows without neighbours: theirs reads the graph, ours are marked."""
    return model.component_labels_ == -1
