"""scikit-learn's tests of independent component analysis."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.decomposition.tests.test_fastica", REPLACED))
