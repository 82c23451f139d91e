"""Time and memory of lowdim beside other libraries, and the quality of the results.

    python -m benchmarks --list
    python -m benchmarks isomap pca --threads 2 --repeats 3 --json results.json
    python -m benchmarks --write-docs results.json
    python -m benchmarks --before OTHER/src --largest 10

A case is a file in `cases`: functions that make the data, run one implementation (a contender) and judge the results.
Each measurement runs in a new process with the stated number of threads, and contenders take turns. The processor time
of other processes is measured before and during each run; a run in which they use more than 20 % of the machine is
repeated, and marked where that does not help. `--before` runs the same tasks with another checkout of lowdim and with
this one, in turn, and prints the ratios of time and quality.
"""
