"""Names of scikit-learn, umap-learn and openTSNE, and what each is called here. Read only when an error is raised.

`PARAMETERS` holds, for each estimator, the parameters of its counterparts that it lacks: `Ours` where there is one of
the same meaning, else the end of a sentence that begins with the name. `NAMES` does the same for classes and functions.
`tests/_core/test_foreign_names.py` compares it with the signatures of the other libraries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Ours:
    """The parameter of the same meaning, and what else differs."""

    name: str
    note: str = ""


Answers = Mapping[str, Ours | str]

CLOSE = 0.8  # similarity from which a name counts as misspelt; n_neigbors has 0.95

_COPY: Answers = dict.fromkeys(("copy", "copy_X"), "is not needed: X is never changed")
_METRIC: Answers = {
    "metric_kwds": Ours("metric_params"),
    "p": "is not a parameter: give metric='minkowski' and metric_params={'p': ...}",
}
_SEARCH: Answers = dict.fromkeys(
    ("neighbors_algorithm", "neighbors"), Ours("search", "'auto', 'exact' or 'approximate'")
)
_EIGEN: Answers = {
    "eigen_solver": "is not needed: the eigensolver is chosen by size, and its residuals are checked",
    **dict.fromkeys(
        ("tol", "eigen_tol", "max_iter"), "is not needed: the eigensolver stops when its residuals are small enough"
    ),
}
_SKETCH: Answers = dict.fromkeys(
    ("iterated_power", "n_oversamples", "power_iteration_normalizer"),
    "is not needed: solver='randomized' checks its residuals and stops when they are small enough",
)
_CLOSED: Answers = dict.fromkeys(("max_iter", "tol"), "is not needed: the solution is in closed form")
_NO_SVD = "is not needed: no decomposition is approximated; solver= chooses between Newton's method and EM"

_TSNE: Answers = {
    "n_iter": Ours("max_iter", "the steps under early exaggeration are counted"),
    "early_exaggeration_iter": Ours("early_iter"),
    "n_iter_without_progress": "is not a parameter: tol= and a divergence that hardly decreases end the fit",
    "min_grad_norm": Ours("tol", "relative to the norm of the attraction"),
    **dict.fromkeys(("method", "negative_gradient_method"), Ours("solver", "'auto', 'exact', 'barnes_hut' or 'fft'")),
    "angle": Ours("theta"),
    "square_distances": "is not needed: distances are always squared",
    **dict.fromkeys(
        ("n_interpolation_points", "min_num_intervals", "ints_in_interval"),
        "is not needed: solver='fft' chooses its grid",
    ),
    "initialization": Ours("init"),
    **dict.fromkeys(
        ("initial_momentum", "final_momentum"), Ours("momentum", "a pair, under early exaggeration and afterwards")
    ),
    **dict.fromkeys(("max_grad_norm", "max_step_norm"), "is not a parameter: learning_rate= sets the size of steps"),
    "knn_kwargs": "is not a parameter: search= chooses between exact and approximate neighbours",
    "callbacks": Ours("callback", "one function of step, loss and state"),
    "callbacks_every_iters": Ours("callback_every"),
}
_UMAP: Answers = {
    "n_epochs": Ours("max_iter"),
    "repulsion_strength": Ours("repulsion"),
    "densmap": Ours("densities", "2 is the usual weight, 0 is without"),
    "dens_lambda": Ours("densities"),
    "dens_frac": "is not a parameter: densities= count in the last 30 % of the epochs",
    "dens_var_shift": "is not a parameter: the constant that densities= add to variances is fixed",
    "output_dens": "is not needed: local_radii_ has them after a fit with densities=",
    **dict.fromkeys(("output_metric", "output_metric_kwds"), "is not a parameter: distances in the map are Euclidean"),
    "target_metric_kwds": "is not a parameter: give target_metric= a function of two targets that has them in it",
    "low_memory": "is not needed: the memory of a fit grows with the number of rows times n_neighbors=",
    **dict.fromkeys(("transform_seed", "transform_queue_size"), "is not needed: transform draws nothing at random"),
    "transform_mode": "is not a parameter: transform gives coordinates",
    "angular_rp_forest": "is not needed: search= takes care of metric='cosine'",
    "force_approximation_algorithm": Ours("search", "'approximate' for True"),
    "tqdm_kwds": "is not a parameter: verbose= shows the progress",
    "unique": "is not needed: equal rows count as one",
    "precomputed_knn": "is not a parameter: pass the distances to the neighbours as a sparse graph with "
    "metric='precomputed'",
}

PARAMETERS: Mapping[str, Answers] = {
    "PCA": {
        **_COPY,
        **_SKETCH,
        "svd_solver": Ours("solver", "'auto' chooses by shape, 'svd' is scikit-learn's 'full'"),
        "batch_size": "is not needed: give fit an iterator of batches",
    },
    "KernelPCA": {
        **_COPY,
        **_EIGEN,
        "eigen_solver": Ours("solver", "'auto', 'dense' or 'operator'"),
        "iterated_power": _EIGEN["tol"],
        "kernel_params": "is not a parameter: give kernel= an object of lowdim.kernels or a function of two rows",
        "alpha": "is not needed: preimage='ridge' finds its penalty by leave-one-out error",
        "fit_inverse_transform": "is not needed: inverse_transform is there after any fit, by the method preimage=",
        "remove_zero_eig": "is not needed: n_components=None keeps the positive eigenvalues",
    },
    "ICA": {
        "whiten_solver": "is not needed: the solver is chosen by shape",
        "fun_args": "is not a parameter: give fun= a function of y that returns g(y) and g'(y)",
    },
    "FactorAnalysis": {
        **_COPY,
        "noise_variance_init": "is not a parameter: the start is computed",
        "svd_method": _NO_SVD,
        "iterated_power": _NO_SVD,
    },
    "LDA": {
        "store_covariance": "is not needed: covariance_ is there after any fit",
    },
    "CCA": {**_COPY, **_CLOSED},
    "ClassicalMDS": {**_METRIC, "dissimilarity": Ours("metric", "'precomputed' where X holds dissimilarities")},
    "MDS": {
        **_METRIC,
        "metric_mds": Ours("level", "'ratio' for True, 'ordinal' for False"),
        "eps": Ours("tol"),
        "dissimilarity": Ours("metric", "'precomputed' where X holds dissimilarities"),
        "normalized_stress": "is not a parameter: stress_ and stress1_, the normalised one, are both there after fit",
    },
    "Isomap": {
        **_METRIC,
        **_SEARCH,
        **_EIGEN,
        "path_method": "is not needed: there is one algorithm for shortest paths",
    },
    "LLE": {
        **_METRIC,
        **_SEARCH,
        **_EIGEN,
        **dict.fromkeys(("hessian_tol", "modified_tol"), "is not needed: the local fits have no tolerance to set"),
    },
    "LaplacianEigenmaps": {
        **_METRIC,
        **_SEARCH,
        **_EIGEN,
        "affinity": Ours(
            "weights",
            "'binary' for 'nearest_neighbors', 'heat' (of neighbours) for 'rbf', 'given' with metric='precomputed' for "
            "'precomputed'",
        ),
    },
    "TSNE": {**_METRIC, **_SEARCH, **_TSNE},
    "UMAP": {**_METRIC, **_UMAP},
}

_ELSEWHERE = "is not in lowdim; scikit-learn has it"
_NOT_HERE = "is not in lowdim; TSNE and UMAP are the methods of its kind"

NAMES: Mapping[str, Ours | str] = {
    "SpectralEmbedding": Ours("LaplacianEigenmaps"),
    "LocallyLinearEmbedding": Ours("LLE"),
    "FastICA": Ours("ICA"),
    "LinearDiscriminantAnalysis": Ours("LDA"),
    "IncrementalPCA": Ours("PCA", "give fit an iterator of batches"),
    "RandomizedPCA": Ours("PCA", "solver='randomized'"),
    "DiffusionMap": Ours("DiffusionMaps"),
    "Nystroem": Ours("KernelPCA", "with n_landmarks="),
    "smacof": Ours("MDS"),
    "Sammon": Ours("MDS", "loss='sammon'"),
    "DensMAP": Ours("UMAP", "densities=2"),
    "ParametricUMAP": "is not in lowdim; UMAP.transform places new rows, and Autoencoder learns a network",
    "GaussianProcessLatentVariableModel": Ours("GPLVM"),
    "trustworthiness": Ours("quality.trustworthiness"),
    "make_swiss_roll": Ours("datasets.swiss_roll"),
    "load_model": Ours("load"),
    "PLSCanonical": "is not in lowdim; CCA with ridge= is the method of its kind",
    "PLSRegression": _ELSEWHERE,
    "PLSSVD": _ELSEWHERE,
    **dict.fromkeys(("SparsePCA", "MiniBatchSparsePCA", "NMF", "MiniBatchNMF", "DictionaryLearning"), _ELSEWHERE),
    **dict.fromkeys(("MiniBatchDictionaryLearning", "SparseCoder", "LatentDirichletAllocation"), _ELSEWHERE),
    "GaussianRandomProjection": Ours("RandomProjection"),
    "SparseRandomProjection": Ours("RandomProjection", "kind='sparse'"),
    "BernoulliRBM": _ELSEWHERE,
    **dict.fromkeys(("NeighborhoodComponentsAnalysis", "QuadraticDiscriminantAnalysis"), _ELSEWHERE),
    **dict.fromkeys(("PHATE", "PaCMAP", "LocalMAP", "TRIMAP"), _NOT_HERE),
}


def about_parameter(owner: str, name: str, known: Iterable[str], families: Iterable[str] = ()) -> str:
    """What to say about a parameter that an estimator does not have.

    Parameters
    ----------
    owner : str
        What the message begins with.
    name : str
        The parameter that was given.
    known : iterable of str
        The parameters that there are.
    families : iterable of str
        Names of the class and of those it is derived from.

    Returns
    -------
    str

    Examples
    --------
    >>> about_parameter("TSNE", "n_iter", ["max_iter", "tol"], ["TSNE"])
    'TSNE: n_iter is max_iter here: the steps under early exaggeration are counted.'
    >>> about_parameter("PCA", "n_component", ["n_components"], ["PCA"])
    "PCA: there is no parameter 'n_component'; did you mean n_components?"
    """
    known = list(known)
    answers = next((PARAMETERS[family] for family in families if family in PARAMETERS), _COPY)
    if name in answers:
        return f"{owner}: {_answered(name, answers[name])}."
    if close := get_close_matches(name.lower(), known, n=1, cutoff=CLOSE):
        return f"{owner}: there is no parameter {name!r}; did you mean {close[0]}?"
    if close := get_close_matches(name.lower(), answers, n=1, cutoff=CLOSE):
        return f"{owner}: there is no parameter {name!r}, and {_answered(close[0], answers[close[0]])}."
    return f"{owner}: there is no parameter {name!r}. Parameters: {', '.join(known)}."


def about_name(name: str, public: Iterable[str]) -> str:
    """What to say about a name that the package does not have; a sentence without its beginning, or nothing.

    >>> about_name("FastICA", []), about_name("umap", ["PCA", "UMAP"]), about_name("Nonsense", ["PCA"])
    ('; FastICA is lowdim.ICA here.', "; did you mean 'UMAP'?", '')
    """
    if name in NAMES:
        return f"; {_answered(name, NAMES[name], 'lowdim.')}."
    folded = {known.lower(): known for known in public}
    close = get_close_matches(name.lower().replace("_", ""), folded, n=1, cutoff=CLOSE)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def _answered(name: str, answer: Ours | str, prefix: str = "") -> str:
    if isinstance(answer, str):
        return f"{name} {answer}"
    return f"{name} is {prefix}{answer.name} here" + (f": {answer.note}" if answer.note else "")
