"""One file per case; `benchmarks.case` says what it holds."""
