"""Maps that keep neighbours together: t-SNE and UMAP."""
