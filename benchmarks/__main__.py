"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks import case, table
from benchmarks.machine import ROOT
from benchmarks.meter import Guard
from benchmarks.runner import Runner
from benchmarks.store import Store


def parser() -> argparse.ArgumentParser:
    """Every option."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure lowdim beside its peers.")
    made.add_argument("cases", metavar="CASE", nargs="*", help="cases to run (default: all)")
    made.add_argument("--list", action="store_true", help="show cases, sizes and contenders; run nothing")
    made.add_argument("--quick", action="store_true", help="small sizes: seconds instead of minutes")
    made.add_argument("--size", metavar="TEXT", action="append", help="only sizes whose line in --list has this text")
    made.add_argument("--only", metavar="NAME", action="append", help="only contenders whose name has this text")
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for everybody (default: all cores)")
    made.add_argument("--repeats", type=int, default=3, help="fresh processes per contender (default: 3)")
    made.add_argument("--patience", type=float, default=60, metavar="S", help="what takes longer is run once")
    made.add_argument("--timeout", type=float, default=1800, metavar="S", help="what takes longer is stopped")
    made.add_argument("--wait", type=float, default=30, metavar="S", help="wait so long for other processes to end")
    made.add_argument("--again", type=int, default=2, metavar="N", help="repeat a disturbed run at most so often")
    made.add_argument("--json", metavar="FILE", help="add the results to this file")
    made.add_argument(
        "--peers-python", default=sys.executable, metavar="PATH", help="interpreter for peers this one lacks"
    )
    made.add_argument("--cases-folder", type=Path, default=case.FOLDER, help=argparse.SUPPRESS)
    made.add_argument("--write-docs", metavar="FILE", help="write docs/benchmarks.md from results; run nothing")
    made.add_argument("--out", type=Path, default=ROOT / "docs" / "benchmarks.md", help="where --write-docs writes")
    return made


def main(arguments: list[str] | None = None, guard: Guard | None = None) -> int:
    """Run what was asked for; 1 where one of our own contenders failed."""
    options = parser().parse_args(arguments)
    if options.threads < 1 or options.repeats < 1:
        parser().error("--threads and --repeats must be at least 1.")
    if options.write_docs:
        options.out.write_text(table.page(Store(options.write_docs).tasks))
        return 0
    try:
        cases = case.find(options.cases, options.cases_folder)
    except KeyError as unknown:
        parser().error(unknown.args[0])
    if options.list:
        _say("\n".join(table.listing(found) for found in cases))
        return 0
    return _run(cases, options, guard or Guard())


def _run(cases: list[case.Case], options: argparse.Namespace, guard: Guard) -> int:
    runner = Runner(
        threads=options.threads,
        repeats=options.repeats,
        patience=options.patience,
        timeout=options.timeout,
        wait=options.wait,
        again=options.again,
        peers_python=options.peers_python,
        only=tuple(options.only or ()),
        say=_say,
        guard=guard,
    )
    store, failed = Store(options.json), False
    for found in cases:
        for size in found.sizes(quick=options.quick):
            if options.size and not any(text in case.label(size) for text in options.size):
                continue
            task = runner.task(found, size, quick=options.quick)
            failed = failed or any(line["ours"] and line["failed"] for line in task["skipped"])
            store.add(task)
            _say("\n" + table.plain(task) + "\n")
    return int(failed)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
