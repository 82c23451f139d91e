"""Models that fill missing cells: low rank, factors, chains of regressions and forests, nearest rows, means."""
