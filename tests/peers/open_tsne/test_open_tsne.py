"""openTSNE's tests of embeddings."""

from tests.peers.adopt import adopt_source
from tests.peers.open_tsne.replaced import REPLACED

globals().update(adopt_source("openTSNE", "openTSNE/tests/test_tsne.py", REPLACED))
