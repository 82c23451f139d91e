"""One method in a process of its own, with limits on time and memory: a crash is a failed method, not the end.

The rows travel through a file that the other process maps; the result comes back through a file that appears complete
or not at all. Both lie in a temporary folder that is removed whatever happens.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lowdim._core.runtime.memory import parse_size, show
from lowdim.study.data import Data
from lowdim.study.labels import Labels
from lowdim.study.method_list import Entry
from lowdim.study.running.one_method import Outcome, Tell, plain_parameters

WATCH = 0.05  # seconds between two looks at a process
SMALL = 2**26  # bytes that any method takes for modules and the like; a smaller limit is kept by the plan alone


@dataclass(frozen=True)
class Limits:
    """What one method may take.

    Attributes
    ----------
    seconds : float or None
        Time; None for no limit.
    memory : int or None
        Bytes beyond what an empty process takes; None for no limit.
    own_process : bool
        Run in a process of its own also without a limit.
    """

    seconds: float | None = None
    memory: int | None = None
    own_process: bool = False

    @classmethod
    def of(cls, time: Any, memory: Any, own_process: Any, owner: str) -> Limits:
        """From what the user passed: seconds, and a size such as "4GB"."""
        if time is not None and (isinstance(time, bool) or not isinstance(time, (int, float)) or not time > 0):
            raise ValueError(f"{owner}: limit_time must be a number of seconds above 0; got {time!r}.")
        size = None if memory is None else parse_size(memory, owner, "limit_memory")
        return cls(None if time is None else float(time), size, bool(own_process))

    @property
    def isolate(self) -> bool:
        """Whether a process of its own is needed."""
        return self.own_process or self.seconds is not None or self.memory is not None


def run_isolated(
    entry: Entry, data: Data, labels: Labels | None, limits: Limits, settings: dict[str, Any], tell: Tell | None = None
) -> Outcome:
    """Fit one method in another process; an outcome also where that process crashes or goes beyond a limit.

    `settings` go to `lowdim.config` there.
    """
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="lowdim-") as name:
        folder = Path(name)
        try:
            _write_job(folder, entry, data, labels, settings)
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            return _failed(entry, start, f"TypeError: it cannot be sent to another process ({problem})")
        process = _start(folder)
        try:
            reason = _watch(process, limits, start, folder, tell)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        if reason:
            return _failed(entry, start, reason)
        return _result(folder, entry, process.returncode, start)


def _write_job(folder: Path, entry: Entry, data: Data, labels: Labels | None, settings: dict[str, Any]) -> None:
    np.save(folder / "rows.npy", data.rows, allow_pickle=False)
    without_rows = replace(data, rows=np.empty((0, 0)))
    with open(folder / "job.pickle", "wb") as stream:
        pickle.dump((entry, without_rows, labels, settings), stream)


def _start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "lowdim.study.running.child", str(folder)]
    path = os.pathsep.join(entry for entry in sys.path if entry)  # so that the same modules are found
    errors = open(folder / "stderr", "wb")  # noqa: SIM115 (the child writes to it; closed here at once)
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
            env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )  # fmt: skip
    finally:
        errors.close()


def _watch(
    process: subprocess.Popen[bytes], limits: Limits, start: float, folder: Path, tell: Tell | None
) -> str | None:
    """Wait for a process; the reason why it was stopped, or None."""
    base: int | None = None
    while process.poll() is None:
        time.sleep(WATCH)
        spent = time.perf_counter() - start
        if limits.seconds is not None and spent > limits.seconds:
            process.kill()
            return f"TimeoutError: stopped after {limits.seconds:g} s (the limit of time)"
        if limits.memory is not None and (folder / "ready").exists():
            used = resident_memory(process.pid)
            base = used if base is None else base
            if used - base > max(limits.memory, SMALL):
                process.kill()
                return (
                    f"MemoryError: stopped after {spent:.1f} s at {show(used - base)} "
                    f"(the limit of memory is {show(limits.memory)})"
                )
        if tell is not None:
            _pass_on(folder / "share", tell)
    return None


def _pass_on(path: Path, tell: Tell) -> None:
    try:
        tell(float(path.read_text()))
    except (OSError, ValueError):  # not there yet, or being written
        return


def resident_memory(pid: int) -> int:
    """Bytes of memory that a process holds now; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    try:
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
        return int(told.strip() or 0) * 1024
    except (OSError, ValueError):
        return 0


def _result(folder: Path, entry: Entry, code: int, start: float) -> Outcome:
    answer = folder / "outcome.pickle"
    if answer.exists():
        with open(answer, "rb") as stream:
            outcome: Outcome = pickle.load(stream)
        return outcome
    lines = (folder / "stderr").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = f": {lines[-1][:300]}" if lines else ""
    return _failed(entry, start, f"RuntimeError: its process ended {_how(code)}{last}")


def _how(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"with exit status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    memory = ", perhaps for lack of memory" if name == "SIGKILL" else ""
    return f"by {name}{memory}"


def _failed(entry: Entry, start: float, error: str) -> Outcome:
    return Outcome(
        entry.name, entry.baseline, entry.estimator, plain_parameters(entry.estimator), time.perf_counter() - start,
        error=error,
    )  # fmt: skip
