"""Curves through the middle of the data."""
