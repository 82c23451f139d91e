"""What names of openTSNE stand for in its tests; nothing where it is not installed."""

import types
from importlib.util import find_spec

REPLACED = {}
if find_spec("openTSNE") is not None:
    from tests.peers.adapters import open_tsne as ours

    REPLACED = {
        "openTSNE.TSNE": ours.TSNE,
        "openTSNE.tsne.TSNE": ours.TSNE,
        "openTSNE.sklearn.TSNE": ours.SklearnTSNE,
        "openTSNE.TSNEEmbedding": ours.TSNEEmbedding,
        "openTSNE.tsne.TSNEEmbedding": ours.TSNEEmbedding,
        "openTSNE.affinity.Affinities": ours.Affinities,
        "openTSNE.affinity.PerplexityBasedNN": ours.PerplexityBasedNN,
        "openTSNE.affinity.Multiscale": ours.Multiscale,
        "openTSNE.affinity.MultiscaleMixture": ours.Multiscale,
        "openTSNE.affinity.FixedSigmaNN": ours.FixedSigmaNN,
        "openTSNE.affinity.Uniform": ours.Uniform,
        "openTSNE.affinity.PrecomputedAffinities": ours.PrecomputedAffinities,
    }


def beside(found: dict[str, object]) -> dict[str, object]:
    """With the module of its tests that others import from."""
    module = types.ModuleType("tests.test_tsne")
    vars(module).update(found)
    return REPLACED | {"tests.test_tsne": module}
