"""Kernel methods: kernel PCA, kernel CCA and PCA of explicit feature maps."""
