"""openTSNE's tests of the estimator of scikit-learn's kind."""

from tests.peers.adopt import adopt_source
from tests.peers.open_tsne.replaced import REPLACED

globals().update(adopt_source("openTSNE", "openTSNE/tests/test_sklearn_wrapper.py", REPLACED))
