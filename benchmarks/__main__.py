"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import case, compare, table
from benchmarks.machine import ROOT
from benchmarks.meter import LIMIT, Guard
from benchmarks.page import page
from benchmarks.runner import Runner
from benchmarks.store import COMPARISONS, Store

Task = tuple[case.Case, dict[str, Any], Runner]


def parser() -> argparse.ArgumentParser:
    """Every option."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure lowdim beside other libraries.")
    made.add_argument("cases", metavar="CASE", nargs="*", help="cases to run (default: all)")
    made.add_argument("--list", action="store_true", help="show cases, sizes and implementations; run nothing")
    made.add_argument("--json", metavar="FILE", help="add the results to this file")
    made.add_argument("--write-docs", metavar="FILE", help="write docs/benchmarks.md from this file; run nothing")
    made.add_argument("--out", type=Path, default=ROOT / "docs" / "benchmarks.md", help="where --write-docs writes")
    made.add_argument("--cases-folder", type=Path, default=case.FOLDER, help=argparse.SUPPRESS)
    _add_selection(made.add_argument_group("what is run"))
    _add_measurement(made.add_argument_group("how it is measured"))
    _add_comparison(made.add_argument_group("before and after a change of lowdim"))
    return made


def _add_selection(group: Any) -> None:
    group.add_argument("--quick", action="store_true", help="small sizes: seconds instead of minutes")
    group.add_argument("--size", metavar="TEXT", action="append", help="only sizes whose line in --list has this text")
    group.add_argument("--only", metavar="NAME", action="append", help="only implementations whose name has this text")
    group.add_argument(
        "--peers-python", default=sys.executable, metavar="PATH", help="interpreter for libraries that this one lacks"
    )


def _add_measurement(group: Any) -> None:
    group.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for all (default: all cores)")
    group.add_argument("--repeats", type=int, default=3, help="runs, each in a new process (default: 3)")
    group.add_argument(
        "--patience", type=float, default=60, metavar="S", help="one run only where it takes longer (default: 60)"
    )
    group.add_argument("--timeout", type=float, default=1800, metavar="S", help="stop a run after (default: 1800)")
    group.add_argument(
        "--wait", type=float, default=30, metavar="S",
        help=f"before each run, wait at most so long until other processes use less than {LIMIT:.0%}".replace("%", "%%")
        + " of the machine (default: 30)",
    )  # fmt: skip
    group.add_argument(
        "--again", type=int, default=2, metavar="N", help="repeat a disturbed run at most so often (default: 2)"
    )


def _add_comparison(group: Any) -> None:
    group.add_argument(
        "--before", type=Path, metavar="PATH",
        help="another checkout or its src folder, with the compiled module: run the cases with it and with --after, in "
        "turn, and print after / before of time and quality",
    )  # fmt: skip
    group.add_argument("--after", type=Path, default=ROOT, metavar="PATH", help="default: this checkout")
    group.add_argument("--largest", type=int, metavar="N", help="with --before: the N largest tasks (at most 10)")


def main(arguments: list[str] | None = None, guard: Guard | None = None) -> int:
    """Run what was asked for; 1 where an implementation of lowdim failed."""
    options = parser().parse_args(arguments)
    _check(options)
    if options.write_docs:
        return _write_docs(options)
    try:
        cases = case.find(options.cases, options.cases_folder)
    except KeyError as unknown:
        parser().error(unknown.args[0])
    if options.list:
        _say("\n".join(table.listing(found) for found in cases))
        return 0
    runner = _runner(options, guard)
    return _compare(cases, runner, options) if options.before else _run(cases, runner, options)


def _check(options: argparse.Namespace) -> None:
    if options.threads < 1 or options.repeats < 1:
        parser().error("--threads and --repeats must be at least 1.")
    if options.largest is not None and not options.before:
        parser().error("--largest needs --before PATH.")
    if options.largest is not None and (options.cases or options.quick):
        parser().error("--largest names the cases and sizes; leave out CASE and --quick.")
    if options.largest is not None and not 1 <= options.largest <= len(compare.LARGEST):
        parser().error(f"--largest must be from 1 to {len(compare.LARGEST)}; got {options.largest}.")


def _write_docs(options: argparse.Namespace) -> int:
    try:
        text = page(Store(options.write_docs).tasks)
    except ValueError as refused:
        parser().error(str(refused))
    options.out.write_text(text)
    return 0


def _runner(options: argparse.Namespace, guard: Guard | None) -> Runner:
    return Runner(
        threads=options.threads,
        repeats=options.repeats,
        patience=options.patience,
        timeout=options.timeout,
        wait=options.wait,
        again=options.again,
        peers_python=options.peers_python,
        only=tuple(options.only or ()),
        say=_say,
        guard=guard or Guard(),
    )


def _selected(cases: list[case.Case], runner: Runner, options: argparse.Namespace) -> Iterator[Task]:
    """Cases and sizes that were asked for."""
    for found in cases:
        for size in found.sizes(quick=options.quick):
            if not options.size or any(text in case.label(size) for text in options.size):
                yield found, size, runner


def _run(cases: list[case.Case], runner: Runner, options: argparse.Namespace) -> int:
    for found in cases if options.json else ():
        if not runner.chosen(found.module.ours):
            parser().error(
                f"--only leaves no line of lowdim in {found.name}, and a table without one is not kept. Add "
                f"--only '{next(iter(found.module.ours))}', or leave out --json."
            )
    store, failed = Store(options.json), False
    for found, size, _ in _selected(cases, runner, options):
        task = runner.task(found, size, quick=options.quick)
        failed = failed or any(line["ours"] and line["failed"] for line in task["skipped"])
        store.add(task)
        _say("\n" + table.plain(task) + "\n")
    return int(failed)


def _compare(cases: list[case.Case], runner: Runner, options: argparse.Namespace) -> int:
    try:
        sources = compare.sources(options.before, options.after)
    except ValueError as refused:
        parser().error(str(refused))
    _say("\n".join(f"{side}: {source}" for side, source in sources.items()))
    tasks = _largest(runner, options) if options.largest else _selected(cases, runner, options)
    store = Store(options.json, COMPARISONS)
    records = []
    for found, size, how in tasks:
        records.append(compare.Comparison(how, sources).task(found, size, quick=options.quick))
        store.add(records[-1])
    _say("\n" + compare.report(records))
    return int(any(line["failed"] for record in records for line in record["skipped"]))


def _largest(runner: Runner, options: argparse.Namespace) -> Iterator[Task]:
    for name, text, contender in compare.LARGEST[: options.largest]:
        (found,) = case.find([name], options.cases_folder)
        size = next(size for size in found.sizes(quick=False) if case.label(size) == text)
        yield found, size, replace(runner, only=(contender,), exact=True)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
