"""The process that fits methods: ``python -m lowdim.study.running.child FOLDER``.

Each line on its standard input names the folder of a job; the outcome is written there. It ends with its input.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from lowdim._core.neighbors import shared
from lowdim._core.runtime.memory import config
from lowdim.study.running.one_method import run

EVERY = 0.2  # seconds between two reports of progress


def main(folder: Path) -> None:
    """Fit what is asked for, one after the other; neighbours are searched once for all."""
    rows = np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False)
    with shared(rows):
        for line in sys.stdin:
            _work(Path(line.rstrip("\n")), rows)


def _work(job: Path, rows: np.ndarray) -> None:
    with open(job / "job.pickle", "rb") as stream:
        entry, data, labels, settings = pickle.load(stream)
    data = replace(data, rows=rows)
    (job / "ready").touch()
    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            (job / "share").write_text(f"{share:.4f}")

    with config(**settings):
        outcome = run(entry, data, labels, tell)
    answer = job / "outcome.part"
    with open(answer, "wb") as out:
        pickle.dump(outcome, out)
    os.replace(answer, job / "outcome.pickle")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
