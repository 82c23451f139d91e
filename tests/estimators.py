"""One cheap instance of every estimator, for the tests that hold for all of them."""

from dataclasses import dataclass, field
from typing import Any

import lowdim


@dataclass(frozen=True)
class Case:
    """An estimator and what is known about it."""

    estimator: Any
    # How far transform(train) may be from embedding_, relative to the spread of the embedding; why if not rounding.
    transform_tolerance: float = 1e-8
    keeps_embedding: bool = True
    exact_inverse: bool = False
    invariant_to_rotation: bool = True
    # An additive constant is a jump: a row next to a fitted one is that constant away from it.
    continuous: bool = True
    expected_failures: dict = field(default_factory=dict)

    @property
    def name(self):
        return type(self.estimator).__name__


CASES = [
    Case(lowdim.PCA(n_components=2, random_state=0), keeps_embedding=False, exact_inverse=True),
    Case(lowdim.ClassicalMDS(n_components=2, random_state=0)),
    Case(lowdim.KernelPCA(n_components=2, kernel="rbf", random_state=0)),
    Case(lowdim.Isomap(n_components=2, n_neighbors=5, random_state=0)),
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
    Case(lowdim.KernelPCA(n_components=2, kernel="poly", degree=2)),
    Case(lowdim.KernelPCA(n_components=2, kernel=lowdim.kernels.RBF(0.1) + lowdim.kernels.Linear() * 0.5)),
    Case(lowdim.KernelPCA(n_components=2, kernel="laplacian"), invariant_to_rotation=False),
    Case(lowdim.Isomap(n_components=2, n_neighbors=6, n_landmarks=20, random_state=0)),
    Case(lowdim.Isomap(n_components=2, radius=6.0)),
    Case(lowdim.Isomap(n_components=2, n_neighbors=6, metric="manhattan"), invariant_to_rotation=False),
]

ALL = CASES + VARIANTS


def case_id(case):
    settings = {k: v for k, v in case.estimator.get_params().items() if v != getattr(type(case.estimator)(), k)}
    return (
        f"{case.name}({','.join(f'{k}={v}' for k, v in settings.items() if k not in ('random_state', 'n_components'))})"
    )
