"""umap-learn's tests of equal rows."""

from tests.peers.adopt import adopt_source
from tests.peers.umap_learn.replaced import REPLACED

globals().update(adopt_source("umap", "umap-learn/umap/tests/test_umap_repeated_data.py", REPLACED))
