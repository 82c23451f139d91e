"""Landmarks: a few rows that stand for all, and when they do."""
