"""openTSNE's tests on our t-SNE."""
