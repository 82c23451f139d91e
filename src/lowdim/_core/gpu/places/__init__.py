"""Places of rows on a device: of new rows in a map that stays as it is, and on linear axes."""
