"""scikit-learn's tests of the truncated singular value decomposition."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.decomposition.tests.test_truncated_svd", REPLACED))
