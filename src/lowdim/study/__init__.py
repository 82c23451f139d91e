"""Many methods on the same rows, scored the same way."""
