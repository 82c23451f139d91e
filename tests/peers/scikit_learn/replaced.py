"""What names of scikit-learn stand for in its tests."""

from tests.peers.adopt import skip_other_releases

skip_other_releases()  # whose classes the adapters name

from tests.peers.adapters import iterative, linear, spectral  # noqa: E402

REPLACED = {
    "sklearn.decomposition.PCA": linear.PCA,
    "sklearn.decomposition.IncrementalPCA": linear.IncrementalPCA,
    "sklearn.decomposition.FactorAnalysis": linear.FactorAnalysis,
    "sklearn.decomposition.FastICA": linear.FastICA,
    "sklearn.decomposition.fastica": linear.fastica,
    "sklearn.decomposition.TruncatedSVD": linear.TruncatedSVD,
    "sklearn.decomposition.KernelPCA": spectral.KernelPCA,
    "sklearn.cross_decomposition.CCA": linear.CCA,
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": linear.LinearDiscriminantAnalysis,
    "sklearn.manifold.Isomap": spectral.Isomap,
    "sklearn.manifold.LocallyLinearEmbedding": spectral.LocallyLinearEmbedding,
    "sklearn.manifold.ClassicalMDS": spectral.ClassicalMDS,
    "sklearn.manifold.SpectralEmbedding": spectral.SpectralEmbedding,
    "sklearn.manifold.spectral_embedding": spectral.spectral_embedding,
    "sklearn.manifold._mds.MDS": iterative.MDS,
    "sklearn.manifold._mds.smacof": iterative.smacof,
    "sklearn.manifold.TSNE": iterative.TSNE,
    "sklearn.manifold._t_sne.trustworthiness": iterative.trustworthiness,
}
