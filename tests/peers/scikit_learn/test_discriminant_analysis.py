"""scikit-learn's tests of linear discriminant analysis."""

from tests.peers.adopt import adopt
from tests.peers.scikit_learn.replaced import REPLACED

globals().update(adopt("sklearn.tests.test_discriminant_analysis", REPLACED))
