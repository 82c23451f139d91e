"""umap-learn's tests of maps of Iris."""

from tests.peers.adopt import adopt_source
from tests.peers.umap_learn.replaced import REPLACED

globals().update(adopt_source("umap", "umap-learn/umap/tests/test_umap_on_iris.py", REPLACED))
