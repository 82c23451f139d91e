"""Principal component analysis of complete and incomplete rows."""
