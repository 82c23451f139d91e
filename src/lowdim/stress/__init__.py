"""Multidimensional scaling by stress: points whose distances match dissimilarities as closely as possible."""
