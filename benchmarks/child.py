"""What happens in a fresh process: ``python -m benchmarks.child JOB.json``.

A job makes the data of a task, measures one contender once, or judges all answers. Its report is written to a file,
so that whatever a library prints does not matter.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.case import Arrays, Case, Contender, Run, Skip, read
from benchmarks.meter import Meter

SHORT = 1.0  # seconds; a shorter call is repeated


def main(job_file: str) -> None:
    """Do one job and write its report; a step that cannot be done says why."""
    job = json.loads(Path(job_file).read_text())
    case = read(Path(job["case"]))
    try:
        report = {"data": _data, "measure": _measure, "quality": _quality}[job["step"]](case, job)
    except Skip as reason:
        report = {"skip": str(reason)}
    Path(job["report"]).write_text(json.dumps(report))


def _data(case: Case, job: dict[str, Any]) -> dict[str, Any]:
    for name, value in case.module.data(job["size"]).items():
        np.save(Path(job["data"]) / f"{name}.npy", value)
    return {}


def _load(folder: str) -> dict[str, Any]:
    return {path.stem: np.load(path) for path in sorted(Path(folder).glob("*.npy"))}


def _measure(case: Case, job: dict[str, Any]) -> dict[str, Any]:
    contender: Contender = case.contenders[job["contender"]]
    _require(contender.needs)
    data = _load(job["data"])
    run = contender.prepare(data, job["size"], job["threads"])
    if contender.clock == "warm":
        run()
    meter = Meter()
    result = run()
    report = meter.read()
    if contender.clock == "process":
        report["processor"] += meter.own
    elif report["seconds"] < SHORT:
        report.update(_repeated(run, job["repeated"]))
    np.savez(job["result"], **_kept(case, result, data, job["size"]))
    return report


def _repeated(run: Run, seconds: float) -> dict[str, Any]:
    """The median time of a short call once it has been made: imports on first use and cold caches are not in it."""
    meter, times, end = Meter(), [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    report = meter.read()
    shares = {name: report[name] for name in ("others", "steal")}
    return {"seconds": median(times), "processor": report["processor"] / len(times), **shares}


def _require(module: str) -> None:
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise Skip(f"needs {module}, which is not installed")


def _kept(case: Case, result: Arrays, data: Arrays, size: dict[str, Any]) -> Arrays:
    kept = getattr(case.module, "kept", None)
    return result if kept is None else kept(result, data, size)


def _quality(case: Case, job: dict[str, Any]) -> dict[str, Any]:
    results = {name: dict(np.load(path)) for name, path in job["results"].items()}
    judged = case.module.quality(_load(job["data"]), job["size"], results)
    return {name: {key: float(value) for key, value in found.items()} for name, found in judged.items()}


if __name__ == "__main__":
    main(sys.argv[1])
