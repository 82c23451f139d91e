"""scikit-learn's tests of kernel PCA."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.decomposition.tests.test_kernel_pca", REPLACED))
