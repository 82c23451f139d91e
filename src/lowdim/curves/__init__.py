"""Principal curves."""
