"""scikit-learn's tests of Laplacian eigenmaps."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.manifold.tests.test_spectral_embedding", REPLACED))
