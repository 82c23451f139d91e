"""openTSNE's tests of maps that are right."""

from tests.peers.adopt import adopt_source
from tests.peers.open_tsne.replaced import REPLACED

globals().update(adopt_source("openTSNE", "openTSNE/tests/test_correctness.py", REPLACED))
