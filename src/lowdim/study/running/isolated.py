"""Methods in another process, with limits on time and memory: a crash is a failed method, not the end.

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
from contextlib import suppress
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

    def exceeded(self, seconds: float, memory: int) -> str | None:
        """Which limit is exceeded, as an error of the method; None if none is."""
        if self.seconds is not None and seconds > self.seconds:
            return f"TimeoutError: stopped after {self.seconds:g} s (the limit of time)"
        if self.memory is not None and memory > max(self.memory, SMALL):
            return (
                f"MemoryError: stopped after {seconds:.1f} s at {show(memory)} "
                f"(the limit of memory is {show(self.memory)})"
            )
        return None

    @property
    def isolate(self) -> bool:
        """Whether a process of its own is needed."""
        return self.own_process or self.seconds is not None or self.memory is not None


class Worker:
    """Another process that fits one method after the other; a new one where it crashed or was stopped.

    The rows are written once; `close` (or the end of a `with` block) ends the process and removes all files.
    """

    def __init__(self, data: Data, labels: Labels | None, limits: Limits, settings: dict[str, Any]) -> None:
        self.data, self.labels, self.limits, self.settings = data, labels, limits, settings
        self._folder = tempfile.TemporaryDirectory(prefix="lowdim-")
        self._process: subprocess.Popen[bytes] | None = None
        self._count = 0
        np.save(self.path / "rows.npy", data.rows, allow_pickle=False)

    @property
    def path(self) -> Path:
        """Where the files are."""
        return Path(self._folder.name)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, remove the files."""
        self._stop()
        self._folder.cleanup()

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._process = None

    def run(self, entry: Entry, tell: Tell | None = None) -> Outcome:
        """Fit one method there; an outcome also where the process crashes or goes beyond a limit."""
        start = time.perf_counter()
        self._count += 1
        job = self.path / f"job-{self._count}"
        job.mkdir()
        try:
            self._write(job, entry)
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            return _failed(entry, start, f"TypeError: it cannot be sent to another process ({problem})")
        process = self._started()
        try:
            self._send(process, job)
            reason = self._watch(process, job, tell)
        except BaseException:
            self._stop()
            raise
        if reason or process.poll() is not None:
            self._stop()
        if reason:
            return _failed(entry, start, reason)
        return _result(job, self.path / "stderr", entry, process.returncode, start)

    def _write(self, job: Path, entry: Entry) -> None:
        without_rows = replace(self.data, rows=np.empty((0, 0)))
        content = pickle.dumps((entry, without_rows, self.labels, self.settings))
        if b"__main__" in pickle.dumps(entry.estimator):
            raise TypeError(
                "it uses a class or function of the running script, which another process cannot import: put that into "
                "a module of its own and import it"
            )
        (job / "job.pickle").write_bytes(content)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process = _start(self.path)
        return self._process

    def _send(self, process: subprocess.Popen[bytes], job: Path) -> None:
        with suppress(OSError):  # a process that is gone is seen by `_watch`
            stream: Any = process.stdin
            stream.write(f"{job}\n".encode())
            stream.flush()

    def _watch(self, process: subprocess.Popen[bytes], job: Path, tell: Tell | None) -> str | None:
        """Wait for the outcome; the reason why the process was stopped, or None. Time counts from the first step."""
        start, base = None, 0
        while process.poll() is None and not (job / "outcome.pickle").exists():
            time.sleep(WATCH)
            if start is None:
                if (job / "ready").exists():
                    start, base = time.perf_counter(), resident_memory(process.pid)
                continue
            reason = self.limits.exceeded(time.perf_counter() - start, resident_memory(process.pid) - base)
            if reason:
                return reason
            if tell is not None:
                _pass_on(job / "share", tell)
        if tell is not None:
            _pass_on(job / "share", tell)  # the last step, which may have come between two looks
        return None


def _start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "lowdim.study.running.child", str(folder)]
    path = os.pathsep.join(entry for entry in sys.path if entry)  # so that the same modules are found
    with open(folder / "stderr", "wb") as errors:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
            env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )  # fmt: skip


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


def _result(job: Path, errors: Path, entry: Entry, code: int | None, start: float) -> Outcome:
    answer = job / "outcome.pickle"
    if answer.exists():
        with open(answer, "rb") as stream:
            outcome: Outcome = pickle.load(stream)
        return outcome
    lines = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = f": {lines[-1][:300]}" if lines else ""
    return _failed(entry, start, f"RuntimeError: its process ended {_how(code or 0)}{last}")


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
