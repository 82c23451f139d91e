"""Gaussian-process latent variable models."""
