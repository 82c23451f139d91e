"""The sample of adopted tests that every run of the suite makes; the others are deep."""

SAMPLE: set[tuple[str, str]] = set()
