"""scikit-learn's tests of canonical correlation analysis."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.cross_decomposition.tests.test_pls", REPLACED))
