"""Results in a JSON file: one record per task, the newest measurement of each."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FORMAT = 1
COMPARISONS = "comparisons 1"  # of two checkouts: another kind of record


class Store:
    """The tasks of a file; without a file they are only remembered."""

    def __init__(self, path: str | Path | None = None, kind: int | str = FORMAT):
        self.path, self.kind = None if path is None else Path(path), kind
        self.tasks: list[dict[str, Any]] = []
        if self.path is not None and self.path.is_file():
            found = json.loads(self.path.read_text())
            if found.get("format") != kind:
                raise ValueError(f"benchmarks: {path} must have format {kind}; got {found.get('format')!r}.")
            self.tasks = found["tasks"]

    def add(self, task: dict[str, Any]) -> None:
        """Put a task in the place of its older measurement, or at the end, and write the file at once.

        Where nothing was measured and nothing failed (no data, no device), an older measurement stays.
        """
        if not task["results"] and not any(line["failed"] for line in task["skipped"]):
            return
        places = [place for place, old in enumerate(self.tasks) if _key(old) == _key(task)]
        if places:
            self.tasks[places[0]] = task
        else:
            self.tasks.append(task)
        if self.path is not None:
            self._write(self.path)

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(path.name + ".new")
        beside.write_text(json.dumps({"format": self.kind, "tasks": self.tasks}, indent=1) + "\n")
        os.replace(beside, path)


def _key(task: dict[str, Any]) -> tuple[Any, ...]:
    return task["case"], task["label"], task["threads"], task["quick"]
