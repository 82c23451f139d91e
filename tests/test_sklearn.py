"""scikit-learn's own checks, on every estimator. An exception stands in `tests/estimators.py` with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators import CASES

EXPECTED = {type(case.estimator): case.expected_failures for case in CASES}


# The checks fit blobs that no graph joins; the warning is right.
@pytest.mark.filterwarnings("ignore:(Isomap|LaplacianEigenmaps|DiffusionMaps). the neighbour graph")
@pytest.mark.filterwarnings("ignore:(Isomap|LLE|TCIE). the neighbour graph")
@pytest.mark.filterwarnings("ignore:(Isomap|LLE|MVU). the neighbour graph")
@pytest.mark.filterwarnings("ignore:(Isomap|LaplacianEigenmaps|DiffusionMaps|UMAP). the neighbour graph")
@pytest.mark.filterwarnings("ignore:(Isomap|LLE). the neighbour graph")
# They fit blobs and noise, which are no sheets: a local method is right to say so.
@pytest.mark.filterwarnings("ignore:LLE. .*(gap after the last axis|eigenvalues are zero|map's diameter)")
@pytest.mark.filterwarnings("ignore:TCIE. .*the rows do not lie on a surface")
@pytest.mark.filterwarnings("ignore:DiffusionMaps. .*of the spread along a direction")
# They fit two classes or one target, which have fewer axes than asked for, and rows that are equal within classes.
@pytest.mark.filterwarnings("ignore:(LDA|CCA|KernelCCA). n_components=2 is more than")
@pytest.mark.filterwarnings("ignore:LDA. the covariance within the classes is singular")
# Rows for estimators that take categories are rounded, which leaves three equal columns in one check.
@pytest.mark.filterwarnings("ignore:FAMD. n_components=2 is more than")
# Blobs and noise have no sources to find, and sometimes few rows; these warnings are right too.
@pytest.mark.filterwarnings("ignore:ICA. .*(cannot be distinguished from Gaussian|are few for)")
# Tables of two columns, of rows that are a line, or of pure noise: these warnings are right too.
@pytest.mark.filterwarnings("ignore:(ProbabilisticPCA|FactorAnalysis|BayesianPCA). n_components=2 leaves no noise")
@pytest.mark.filterwarnings("ignore:FactorAnalysis. .*Heywood")
@pytest.mark.filterwarnings("ignore:BayesianPCA. no component has a variance above")
# They fit ten rows or so, and one column.
@pytest.mark.filterwarnings("ignore:TSNE. (perplexity=5 is more than a third|n_components=2 is more than)")
# Blobs and noise have no curve through their middle, and a curve that keeps turning says so.
@pytest.mark.filterwarnings("ignore:PrincipalCurve. (the mean squared distance rose|not converged)")
# They fit noise, in which a code may say nothing.
@pytest.mark.filterwarnings("ignore:VAE. .*collapsed")
@parametrize_with_checks(
    [case.estimator for case in CASES], expected_failed_checks=lambda estimator: EXPECTED[type(estimator)]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
