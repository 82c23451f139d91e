"""Methods that end in an eigenproblem."""

from functools import partial

import numpy as np
from sklearn import decomposition, manifold

import lowdim
from tests.peers.adapter import Lacks, adapter, translation
from tests.peers.adapters.metrics import metric_of, rows_of


def _kernel(given, X=None):
    given = dict(given)
    kernel, options = given.pop("kernel"), given.pop("kernel_params") or {}
    made = _KERNEL_PCA(given)
    if callable(kernel):
        made["kernel"] = partial(kernel, **options)
    else:
        made["kernel"] = kernel
        if made["gamma"] is None and X is not None and kernel in ("rbf", "poly", "sigmoid"):
            made["gamma"] = 1.0 / np.shape(X)[1]
    return made


_KERNEL_PCA = translation(
    "n_components gamma degree coef0 random_state n_jobs",
    eigen_solver={
        "auto": {"solver": "auto"},
        "dense": {"solver": "dense"},
        "arpack": {"solver": "operator"},
        "randomized": {"solver": "operator"},
    },
    alpha=None,
    fit_inverse_transform=None,
    tol=None,
    max_iter=None,
    iterated_power=None,
    remove_zero_eig=None,
    copy_X=None,
)

KernelPCA = adapter(
    decomposition.KernelPCA,
    lowdim.KernelPCA,
    translate=_kernel,
    attributes={
        "eigenvectors_": lambda model: model.dual_coef_ * np.sqrt(model.eigenvalues_),
        "gamma_": lambda model: model.kernel_.gamma,
        "X_transformed_fit_": "embedding_",
        "X_fit_": lambda model: model._rows,
    },
)

_ISOMAP = translation(
    "n_components radius n_jobs",
    n_neighbors=lambda value: {} if value is None else {"n_neighbors": value},
    eigen_solver=None,
    tol=None,
    max_iter=None,
    path_method=None,
    neighbors_algorithm=None,
)


def _isomap(given, X=None):
    given = dict(given)
    if given["radius"] is not None and given["n_neighbors"] is not None:
        raise ValueError("Isomap: give n_neighbors or radius, not both.")
    metric = metric_of(given.pop("metric"), given.pop("p"), given.pop("metric_params"))
    return metric | _ISOMAP(given)


Isomap = adapter(
    manifold.Isomap,
    lowdim.Isomap,
    translate=_isomap,
    attributes={"dist_matrix_": "geodesics_"},
)

_LLE = translation(
    "n_neighbors n_components method random_state n_jobs",
    reg="ridge",
    eigen_solver=None,
    tol=None,
    max_iter=None,
    hessian_tol=None,
    modified_tol=None,
    neighbors_algorithm=None,
)

LocallyLinearEmbedding = adapter(manifold.LocallyLinearEmbedding, lowdim.LLE, translate=_LLE)

ClassicalMDS = adapter(
    manifold.ClassicalMDS,
    lowdim.ClassicalMDS,
    translate=lambda given, X=None: {
        "n_components": given["n_components"],
        **metric_of(given["metric"], 2, given["metric_params"]),
    },
)


def _spectral(given, X=None):
    made = {"n_components": given["n_components"], "random_state": given["random_state"], "n_jobs": given["n_jobs"]}
    made["normalization"] = "random_walk"
    affinity, k = given["affinity"], given["n_neighbors"]
    k = k if k is not None or X is None else max(int(np.shape(X)[0] / 10), 1)
    if callable(affinity):
        return made | {"weights": lambda A, B: affinity(A) if A is B else affinity(np.concatenate([A, B]))}
    if affinity == "precomputed":
        return made | {"metric": "precomputed", "weights": "given"}
    if affinity == "rbf":
        gamma = given["gamma"] if given["gamma"] is not None or X is None else 1.0 / np.shape(X)[1]
        return made | {"weights": partial(_rbf, gamma=gamma)}
    if affinity == "nearest_neighbors":
        return made | {"weights": "binary", "n_neighbors": k}
    if affinity == "precomputed_nearest_neighbors":
        return made | {"metric": "precomputed", "weights": "binary", "n_neighbors": k}
    raise Lacks(f"affinity={affinity!r}")


def _rbf(A, B, gamma):
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel(A, B, gamma=gamma)


SpectralEmbedding = adapter(
    manifold.SpectralEmbedding,
    lowdim.LaplacianEigenmaps,
    translate=_spectral,
    attributes={"affinity_matrix_": lambda model: model.affinity_matrix_.toarray()},
)


def spectral_embedding(
    adjacency,
    *,
    n_components=8,
    eigen_solver=None,
    random_state=None,
    eigen_tol="auto",
    norm_laplacian=True,
    drop_first=True,
):
    """Coordinates from given weights."""
    if not drop_first:
        n_components -= 1
    model = lowdim.LaplacianEigenmaps(
        n_components,
        weights="given",
        metric="precomputed",
        normalization="random_walk" if norm_laplacian else "none",
        random_state=random_state,
    )
    Z = model.fit_transform(rows_of(adjacency))
    return Z if drop_first else np.column_stack([np.full(len(Z), 1 / np.sqrt(len(Z))), Z])
