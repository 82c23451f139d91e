"""Comparisons of methods on the same rows, and published experiments repeated."""
