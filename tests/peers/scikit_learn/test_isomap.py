"""scikit-learn's tests of Isomap."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.manifold.tests.test_isomap", REPLACED))
