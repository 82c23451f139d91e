"""scikit-learn's tests of classical scaling."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.manifold.tests.test_classical_mds", REPLACED))
