"""What names of umap-learn stand for in its tests; nothing where it is not installed."""

from importlib.util import find_spec

REPLACED = {}
if find_spec("umap") is not None:
    from tests.peers.adapters.umap_learn import UMAP, disconnected_vertices

    REPLACED = {
        "umap.UMAP": UMAP,
        "umap.umap_.UMAP": UMAP,
        "umap.utils.disconnected_vertices": disconnected_vertices,
    }
