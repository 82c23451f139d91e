"""openTSNE's tests of affinities."""

from tests.peers.adopt import adopt_source
from tests.peers.open_tsne.replaced import REPLACED, beside

_OTHER = adopt_source("openTSNE", "openTSNE/tests/test_tsne.py", REPLACED)
globals().update(adopt_source("openTSNE", "openTSNE/tests/test_affinities.py", beside(_OTHER)))
