"""Every estimator on tables with 15 % of their cells missing, new rows too: maps better than after filling the means.

A map is judged by the complete rows, which the methods have not seen: the area under R_NX between them and the map.
Supervised methods leave out what the target does not ask for, and are judged by their own map of the complete rows.
"""

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from tests.estimators import CASES
from tests.test_incomplete import policies

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
# Distances over the columns that both rows have are noisy. Where neighbours or least squares rest on them they are
# better than after filling; eigenvectors of all of them and paths through them may be worse: "expected" is for these.
PAIRWISE = {"LaplacianEigenmaps", "LLE", "MDS", "TSNE", "UMAP"}
SHOWN = [
    (case, policy)
    for case in CASES
    if not case.of_cells
    for policy in policies(type(case.estimator))
    if policy != "pairwise" or case.name in PAIRWISE
]


def plane(n, rng):
    return rng.uniform(-2, 2, (n, 2)) @ rng.standard_normal((2, 8)) + 0.1 * rng.standard_normal((n, 8))


def groups(n, rng):
    near = rng.standard_normal((n, 2)) @ rng.standard_normal((2, 8)) + 0.3 * rng.standard_normal((n, 8))
    return 3 * rng.standard_normal((4, 8))[rng.integers(0, 4, n)] + near


def with_holes(X, rng):
    hole = rng.random(X.shape) < 0.15
    hole[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = False
    return np.where(hole, np.nan, X)


def placed(model, case, complete, given, n):
    """The fitted rows and the new ones in one map."""
    model.fit(given[:n], *case.targets(complete[:n]))
    fitted = model.embedding_ if case.keeps_embedding else model.transform(given[:n])
    return np.vstack([fitted, model.transform(given[n:])])


@pytest.mark.parametrize("draw", [plane, groups])
@pytest.mark.parametrize(("case", "policy"), SHOWN, ids=lambda value: getattr(value, "name", value))
def test_the_map_is_better_than_after_filling_the_means(case, policy, draw):
    n, rng = 150, np.random.default_rng(0)
    complete = draw(200, rng)
    given = with_holes(complete, rng)
    means = np.where(np.isnan(given), np.nanmean(given[:n], axis=0), given)
    model = clone(case.estimator)
    if policy != "always":
        model.set_params(missing=policy)
    wanted = complete if case.target is None else placed(clone(case.estimator), case, complete, complete, n)
    ours, theirs = placed(model, case, complete, given, n), placed(clone(case.estimator), case, complete, means, n)
    assert lowdim.quality.rnx_auc(wanted, ours) > lowdim.quality.rnx_auc(wanted, theirs)
