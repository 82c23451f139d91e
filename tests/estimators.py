"""One cheap instance of every estimator, for the tests that hold for all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import lowdim


def thirds(X):
    """Labels for supervised methods: low, middle and high in the first column."""
    return np.argsort(np.argsort(np.asarray(X, dtype=float)[:, 0], kind="stable")) * 3 // len(X)


def quadrants(X):
    """Labels that the first two columns make: low or high in each."""
    X = np.asarray(X, dtype=float)[:, :2]
    return (np.median(X, axis=0) < X) @ [1, 2][: X.shape[1]]


def second_view(X):
    """Another table of the same rows, that each column of X says something about."""
    X = np.asarray(X, dtype=float)
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300)
    return np.column_stack([np.tanh(Z[:, 0]), np.sign(Z[:, -1]) + Z.mean(axis=1), np.cos(Z).sum(axis=1)])


@dataclass(frozen=True)
class Case:
    """An estimator and what is known about it."""

    estimator: Any
    # How far transform(train) may be from embedding_, relative to the spread of the embedding; why if not rounding.
    transform_tolerance: float = 1e-8
    keeps_embedding: bool = True
    exact_inverse: bool = False
    invariant_to_rotation: bool = True
    # Products of columns depend on where the origin is.
    invariant_to_shift: bool = True
    # Only the rows that new ones are compared with are kept: the way back is learned from these.
    keeps_rows: bool = True
    # An additive constant is a jump: a row next to a fitted one is that constant away from it.
    continuous: bool = True
    # A curve has one coordinate.
    columns: int = 2
    # Settings that give a warning on rows of rank three or less; None where nothing about them is worth one.
    complains: dict | None = field(default_factory=lambda: {"n_components": 4})
    # A fit that keeps a few numbers of each column and copies nothing.
    memory_grows: bool = True
    # A map of single cells: columns keep their names, and missing cells stay missing.
    of_cells: bool = False
    # The share of the variance that the inverse transform may lose.
    loses: float = 0.5
    # What a supervised method is fitted with beside X, made from X.
    target: Callable | None = None
    # Equal rows push each other apart, so that no function of a row can lead all of them to their places.
    parts_equal_rows: bool = False
    # How far two fits of the same rows may be apart after a change of order, origin or rounding.
    agreement: float = 1e-6
    # Text is data: categories.
    takes_text: bool = False
    expected_failures: dict = field(default_factory=dict)

    def targets(self, X):
        return () if self.target is None else (self.target(X),)

    def fit(self, model, X):
        return model.fit(X, *self.targets(X))

    def fit_transform(self, model, X):
        return model.fit_transform(X, *self.targets(X))

    @property
    def name(self):
        return type(self.estimator).__name__


# Sums over rows can be added to, but a fit to all rows at once keeps none: an error, as going on without these rows
# would be silently wrong.
AFTER_FIT = {"check_fit_score_takes_y": "partial_fit goes on from partial_fit alone: fit keeps no sums over its rows"}

# MCA and CA are not here: new rows of floats would be categories MCA has never seen, and CA takes counts only. Their
# own tests run scikit-learn's checks and the parts of the contract that have a meaning for them.
CASES = [
    Case(
        lowdim.PCA(n_components=2, random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
        expected_failures=AFTER_FIT,
    ),
    # The labels are those of the first column, which a rotation changes.
    Case(
        lowdim.LDA(n_components=2),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        target=thirds,
        expected_failures=AFTER_FIT,
    ),
    Case(
        lowdim.CCA(n_components=2),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        target=second_view,
        expected_failures={
            **AFTER_FIT,
            **dict.fromkeys(
                ("check_transformer_general", "check_transformer_data_not_an_array"),
                "a class called CCA is taken to return both scores from fit_transform; a pipeline wants those of X",
            ),
        },
    ),
    Case(lowdim.Whitening(n_components=2), keeps_embedding=False, exact_inverse=True, expected_failures=AFTER_FIT),
    Case(lowdim.TruncatedSVD(n_components=2), keeps_embedding=False, exact_inverse=True, invariant_to_shift=False),
    # Directions that look at no row keep half of the variance of four columns, on average.
    Case(
        lowdim.RandomProjection(n_components=2, random_state=0),
        keeps_embedding=False,
        memory_grows=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        invariant_to_shift=False,
        loses=1.0,
    ),
    Case(
        lowdim.ColumnSelection(n_components=2),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        invariant_to_shift=False,
        of_cells=True,
        expected_failures=dict.fromkeys(
            ("check_transformer_general", "check_transformer_data_not_an_array", "check_transformer_preserve_dtypes"),
            "the check standardises its columns, after which a variance filter has nothing to choose from",
        ),
    ),
    Case(
        lowdim.MinMax(),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        columns=4,
        complains=None,
        memory_grows=False,
        of_cells=True,
    ),
    Case(
        lowdim.FAMD(n_components=2),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        takes_text=True,
    ),
    Case(lowdim.ICA(n_components=2, tol=1e-9, random_state=0), keeps_embedding=False, exact_inverse=True),
    Case(lowdim.ProbabilisticPCA(n_components=2, random_state=0), keeps_embedding=False, exact_inverse=True),
    Case(
        lowdim.FactorAnalysis(n_components=2, random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(lowdim.BayesianPCA(n_components=2, random_state=0), keeps_embedding=False, exact_inverse=True),
    Case(lowdim.ClassicalMDS(n_components=2, random_state=0)),
    Case(lowdim.LandmarkMDS(n_components=2, random_state=0)),
    Case(lowdim.KernelPCA(n_components=2, kernel="rbf", random_state=0)),
    Case(lowdim.FeatureMapPCA(n_components=2), invariant_to_shift=False),
    Case(lowdim.KernelCCA(n_components=2, random_state=0), invariant_to_rotation=False, target=second_view),
    Case(lowdim.Isomap(n_components=2, n_neighbors=5, random_state=0)),
    Case(lowdim.LaplacianEigenmaps(n_components=2, n_neighbors=5, random_state=0)),
    Case(lowdim.DiffusionMaps(n_components=2, random_state=0)),
    Case(lowdim.LLE(n_components=2, n_neighbors=7, random_state=0)),
    # The low-rank search ends at one of many places whose variances differ in the sixth digit.
    Case(lowdim.MVU(n_components=2, n_neighbors=5, slack=0.05, random_state=0), agreement=5e-3),
    # A row's stress is as flat at its minimum as the fit is unfinished.
    Case(lowdim.MDS(n_components=2, tol=1e-15, max_iter=5000, random_state=0), transform_tolerance=1e-6),
    Case(lowdim.TCIE(n_components=2, n_neighbors=6, random_state=0)),
    # A new row that equals a fitted one is that row; otherwise it is placed by its neighbours.
    Case(lowdim.TSNE(n_components=2, perplexity=5, random_state=0), parts_equal_rows=True),
    Case(lowdim.PrincipalCurve(), exact_inverse=True, columns=1, complains={"max_iter": 1}),
    Case(lowdim.GPLVM(n_components=2, tol=1e-2, random_state=0), exact_inverse=True),
    Case(
        lowdim.Autoencoder(n_components=2, hidden=4, tol=1e-2, patience=5, random_state=0),
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.VAE(
            n_components=2,
            hidden=4,
            batch_size=16,
            learning_rate=0.03,
            schedule="constant",  # a plateau is seen after 100 steps at the earliest, and the default waits for four
            patience=1,
            tol=1.0,
            random_state=0,
        ),
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.NLPCA(n_components=2, hidden=4, n_init=1, tol=1e-2, random_state=0),
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.InverseNLPCA(n_components=2, hidden=4, n_init=1, tol=1e-2, random_state=0),
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    # Sampled forces, which "auto" begins with, depend on the order of the rows and on rounding.
    Case(lowdim.UMAP(n_components=2, n_neighbors=5, solver="exact", random_state=0)),
]

# More settings of the same classes, where the contract could break differently.
VARIANTS = [
    Case(
        lowdim.PCA(n_components=2, solver="svd", scale=True),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(lowdim.PCA(n_components=2, solver="gram", whiten=True), keeps_embedding=False, exact_inverse=True),
    Case(
        lowdim.PCA(n_components=2, solver="randomized", random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
    ),
    Case(
        lowdim.PCA(n_components=2, solver="power", tol=1e-10, max_iter=20000, random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
    ),
    Case(
        lowdim.LDA(n_components=2, solver="covariance", shrinkage=0.2, weighting="equal"),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        target=thirds,
    ),
    Case(
        lowdim.LDA(n_components=2, solver="svd", shrinkage="auto"),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        target=thirds,
    ),
    Case(
        lowdim.CCA(n_components=2, solver="svd", ridge=(0.1, 0.2)),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        target=second_view,
    ),
    Case(
        lowdim.CCA(n_components=2, solver="covariance", ridge=0.1, scale=True),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        target=second_view,
    ),
    Case(lowdim.Whitening(n_components=2, ridge=0.1), keeps_embedding=False, exact_inverse=True),
    Case(
        lowdim.RandomProjection(n_components=2, kind="sparse", random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        invariant_to_shift=False,
        loses=1.0,
    ),
    *(
        Case(
            lowdim.ColumnSelection(n_components=2, criterion=criterion, n_trees=10, random_state=0),
            keeps_embedding=False,
            exact_inverse=True,
            invariant_to_rotation=False,
            invariant_to_shift=False,
            of_cells=True,
            target=quadrants,
        )
        for criterion in ("mutual-information", "rfe", "forest-importance")
    ),
    Case(
        lowdim.MinMax(feature_range=(-2, 3), clip=True),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
        columns=4,
        of_cells=True,
    ),
    Case(
        lowdim.ICA(n_components=2, mode="deflation", fun="cube", tol=1e-9, n_init=2, random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
    ),
    Case(
        lowdim.ICA(n_components=2, algorithm="infomax", tol=1e-9, random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
    ),
    Case(
        lowdim.ProbabilisticPCA(n_components=2, solver="em", tol=0.0, random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
    ),
    Case(
        lowdim.FactorAnalysis(n_components=2, rotation="varimax", noise_floor=1e-6),
        keeps_embedding=False,
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.BayesianPCA(n_components=2, prior="oba", random_state=0),
        keeps_embedding=False,
        exact_inverse=True,
    ),
    Case(
        lowdim.PCA(n_components=2, missing="nipals", tol=1e-12, max_iter=20000),
        keeps_embedding=False,
        exact_inverse=True,
    ),
    Case(
        lowdim.ClassicalMDS(n_components=2, metric="manhattan", correction="cailliez"),
        continuous=False,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.ClassicalMDS(n_components=2, metric="chebyshev", correction="lingoes"),
        continuous=False,
        invariant_to_rotation=False,
    ),
    Case(lowdim.KernelPCA(n_components=2, kernel="poly", degree=2), invariant_to_shift=False),
    Case(lowdim.LandmarkMDS(n_components=2, n_landmarks=15, random_state=0)),
    Case(lowdim.LandmarkMDS(n_components=2, n_landmarks=15, missing="pairwise", random_state=0)),
    Case(
        lowdim.LandmarkMDS(
            n_components=2,
            n_landmarks=20,
            landmarks="farthest",
            metric="manhattan",
            correction="lingoes",
            random_state=0,
        ),
        continuous=False,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.LandmarkMDS(
            n_components=2,
            n_landmarks=20,
            landmarks="kmeans++",
            metric="chebyshev",
            correction="cailliez",
            random_state=0,
        ),
        continuous=False,
        invariant_to_rotation=False,
    ),
    Case(lowdim.KernelPCA(n_components=2, kernel=lowdim.kernels.RBF(0.1) + lowdim.kernels.Linear() * 0.5)),
    Case(lowdim.KernelPCA(n_components=2, kernel="laplacian"), invariant_to_rotation=False),
    Case(lowdim.KernelPCA(n_components=2, missing="expected", random_state=0)),
    Case(lowdim.FeatureMapPCA(n_components=2, degree=3, coef0=0.0), invariant_to_shift=False),
    Case(lowdim.KernelPCA(n_components=2, solver="operator", random_state=0)),
    Case(lowdim.KernelPCA(n_components=2, n_landmarks=30, landmarks="farthest", random_state=0), keeps_rows=False),
    Case(lowdim.KernelPCA(n_components=2, noise=0.01, random_state=0), keeps_rows=False),
    Case(lowdim.KernelPCA(n_components=2, preimage="fixed_point"), exact_inverse=True),
    Case(lowdim.KernelPCA(n_components=2, preimage="distance"), exact_inverse=True),
    Case(
        lowdim.KernelCCA(n_components=2, kernel=("linear", lowdim.kernels.RBF(0.2)), ridge=(0.1, 0.05)),
        invariant_to_rotation=False,
        target=second_view,
    ),
    Case(
        lowdim.KernelCCA(n_components=2, n_landmarks=25, random_state=0),
        invariant_to_rotation=False,
        target=second_view,
    ),
    Case(lowdim.Isomap(n_components=2, n_neighbors=6, n_landmarks=20, random_state=0)),
    Case(lowdim.Isomap(n_components=2, radius=6.0)),
    # An edge more or less is a jump; a turned table has the same edges.
    Case(lowdim.Isomap(n_components=2, n_neighbors=6, repair="flow", tear=True)),
    Case(lowdim.Isomap(n_components=2, n_neighbors=6, repair="stability", n_landmarks=20, random_state=0)),
    Case(lowdim.Isomap(n_components=2, n_neighbors=6, kernelize=True), continuous=False),
    Case(lowdim.Isomap(n_components=2, n_neighbors=6, metric="manhattan"), invariant_to_rotation=False),
    Case(lowdim.LaplacianEigenmaps(n_components=2, radius=6.0, weights="binary", normalization="symmetric")),
    Case(
        lowdim.LaplacianEigenmaps(n_components=2, n_neighbors=6, metric="manhattan", width=2.0),
        invariant_to_rotation=False,
    ),
    Case(lowdim.DiffusionMaps(n_components=2, n_neighbors=8, alpha=0.5, time=2, width="self-tuning")),
    Case(lowdim.LaplacianEigenmaps(n_components=2, n_neighbors=8, repair="stability")),
    Case(lowdim.DiffusionMaps(n_components=2, n_neighbors=8, repair="linearity")),
    Case(lowdim.DiffusionMaps(n_components=2, time="multiscale", width="kernel-sum", alpha=0.0)),
    Case(lowdim.DiffusionMaps(n_components=2, width="self-tuning", metric="chebyshev"), invariant_to_rotation=False),
    Case(lowdim.LLE(n_components=2, n_neighbors=9, method="modified", disconnected="largest")),
    Case(lowdim.LLE(n_components=2, n_neighbors=16, method="hessian")),
    Case(lowdim.LLE(n_components=2, n_neighbors=9, repair="linearity")),
    Case(lowdim.LLE(n_components=2, n_neighbors=9, method="ltsa", missing="pairwise", random_state=0)),
    Case(lowdim.LLE(n_components=2, n_neighbors=7, ridge=1e-3, metric="manhattan"), invariant_to_rotation=False),
    Case(lowdim.LLE(n_components=2, n_neighbors=9, method="ltsa", n_landmarks=30, random_state=0), keeps_rows=False),
    Case(lowdim.LaplacianEigenmaps(n_components=2, n_landmarks=30, random_state=0), keeps_rows=False),
    Case(lowdim.DiffusionMaps(n_components=2, n_landmarks=30, random_state=0), keeps_rows=False),
    Case(lowdim.DiffusionMaps(n_components=2, n_neighbors=9, n_landmarks=30, random_state=0), keeps_rows=False),
    Case(
        lowdim.MVU(n_components=2, n_neighbors=7, angles=True, slack=0.3, n_landmarks=30, random_state=0),
        agreement=5e-3,
        keeps_rows=False,
    ),
    Case(
        lowdim.MDS(n_components=2, metric="manhattan", loss="sammon", tol=1e-15, max_iter=5000),
        transform_tolerance=1e-6,
        invariant_to_rotation=False,
    ),
    Case(lowdim.MDS(n_components=2, level="spline", tol=1e-15, max_iter=5000), transform_tolerance=1e-6),
    # A line through other than zero is a jump next to a fitted row.
    Case(
        lowdim.MDS(n_components=2, level="interval", tol=1e-15, max_iter=5000),
        transform_tolerance=1e-6,
        continuous=False,
    ),
    # Where the order changes, a step of the fitted function does too: forces vanish only nearly.
    Case(lowdim.MDS(n_components=2, level="ordinal", tol=1e-15, max_iter=5000), transform_tolerance=1e-4),
    Case(lowdim.TCIE(n_components=2, n_neighbors=6, missing="pairwise", repair="flow", random_state=0)),
    Case(lowdim.TCIE(n_components=2, radius=15.0, boundary=2.0, metric="manhattan"), invariant_to_rotation=False),
    Case(lowdim.TCIE(n_components=2, n_neighbors=6, n_landmarks=40, random_state=0)),
    Case(lowdim.MVU(n_components=2, n_neighbors=6, repair="linearity", slack=0.1, random_state=0), agreement=5e-3),
    Case(lowdim.TSNE(n_components=2, perplexity=[3, 7], init="spectral", dof=0.8, random_state=0)),
    Case(lowdim.GPLVM(n_components=2, kernel="linear", tol=1e-2), exact_inverse=True),
    # Each step of the descent magnifies the rounding of a rotation.
    Case(lowdim.GPLVM(n_components=2, solver="variational", n_inducing=8, tol=0.1), exact_inverse=True, agreement=1e-4),
    Case(lowdim.PrincipalCurve(smoother="lowess", span=0.5), exact_inverse=True, columns=1),
    # A closed curve starts on the positive side of the first principal axis, which a rotation may turn.
    Case(
        lowdim.PrincipalCurve(smoother="periodic", bias_correction=True, df=4),
        exact_inverse=True,
        columns=1,
        invariant_to_rotation=False,
    ),
    Case(lowdim.PrincipalCurve(smoother="segments", n_segments=3), exact_inverse=True, columns=1),
    Case(lowdim.PrincipalCurve(smoother="polygon", n_segments=4), exact_inverse=True, columns=1),
    Case(
        lowdim.Autoencoder(
            n_components=2, hidden=6, penalty="denoising", scale=True, batch_size=16, patience=1, tol=1.0, pretrain=1
        ).set_params(learning_rate=0.02, random_state=0),
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.NLPCA(
            n_components=2, hierarchical=True, activation="elu", scale=True, n_init=2, tol=1e-2, random_state=0
        ),
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.InverseNLPCA(n_components=2, hidden=(4, 4), hierarchical=True, n_init=2, tol=1e-2, random_state=0),
        exact_inverse=True,
        invariant_to_rotation=False,
    ),
    Case(
        lowdim.UMAP(
            n_components=2,
            n_neighbors=8,
            min_dist=0.5,
            init="pca",
            set_op_mix_ratio=0.5,
            solver="exact",
            random_state=0,
        )
    ),
]

ALL = CASES + VARIANTS


def case_id(case):
    settings = {k: v for k, v in case.estimator.get_params().items() if v != getattr(type(case.estimator)(), k)}
    return (
        f"{case.name}({','.join(f'{k}={v}' for k, v in settings.items() if k not in ('random_state', 'n_components'))})"
    )
