"""Speed and memory of lowdim beside its peers, with the quality of the answers next to them.

    python -m benchmarks --list
    python -m benchmarks isomap pca --threads 2 --repeats 3 --json results.json
    python -m benchmarks --write-docs results.json

A case is a file in `cases`: plain functions that say which data, who competes and how answers are judged. Each
measurement runs in a process of its own with the same stated number of threads; contenders take turns, so that a
busy spell of the machine hits all of them.
"""
