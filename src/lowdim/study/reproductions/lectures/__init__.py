"""Demonstrations of lectures on dimensionality reduction, most of them pictures without numbers."""
