"""The fixtures of umap-learn's tests, computed by ours."""

from contextlib import suppress

import pytest

from tests.peers.adopt import adopt_source
from tests.peers.umap_learn.replaced import REPLACED

with suppress(pytest.skip.Exception):  # its tests say why they are skipped
    globals().update(adopt_source("umap", "umap-learn/umap/tests/conftest.py", REPLACED))
