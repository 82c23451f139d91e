"""What happens in the process of one method: ``python -m lowdim.study.running.child FOLDER``."""

from __future__ import annotations

import os
import pickle
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from lowdim._core.runtime.memory import config
from lowdim.study.running.one_method import run

EVERY = 0.2  # seconds between two reports of progress


def main(folder: Path) -> None:
    """Read the job, fit, write the outcome."""
    with open(folder / "job.pickle", "rb") as stream:
        entry, data, labels, settings = pickle.load(stream)
    data = replace(data, rows=np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False))
    (folder / "ready").touch()
    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            (folder / "share").write_text(f"{share:.4f}")

    with config(**settings):
        outcome = run(entry, data, labels, tell)
    answer = folder / "outcome.part"
    with open(answer, "wb") as out:
        pickle.dump(outcome, out)
    os.replace(answer, folder / "outcome.pickle")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
