"""The machine: threads, memory, random numbers, warnings, files."""
