"""umap-learn's tests of names of columns."""

from tests.peers.adopt import adopt_source
from tests.peers.umap_learn.replaced import REPLACED

globals().update(adopt_source("umap", "umap-learn/umap/tests/test_umap_get_feature_names_out.py", REPLACED))
