"""Distances between items instead of rows: recognised in a table or a text, or read as the user says."""

from lowdim.app.reading.distances.forms import as_distances
from lowdim.app.reading.distances.triangle import triangle_in

__all__ = ["as_distances", "triangle_in"]
