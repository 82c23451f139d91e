"""Neighbour embeddings: t-SNE and UMAP."""
