"""Linear methods."""
