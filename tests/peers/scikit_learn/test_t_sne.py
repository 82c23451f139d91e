"""scikit-learn's tests of t-SNE and trustworthiness."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.manifold.tests.test_t_sne", REPLACED))
