"""The command line: commands, options, and errors as one line.

Heavy modules are imported only when a command runs, so that --help and --version are fast.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from lowdim import __version__
from lowdim.app import options

SOURCE = "a table, or a built-in data set (see: lowdim datasets)"
EPILOG = """examples:
  lowdim compare flowers.csv --label species     (maps and scores of several methods, and a report)
  lowdim compare swiss-roll --methods pca,isomap --reference geodesic
  lowdim fit flowers.csv --method isomap --set n_neighbors=12 --drop species --out flowers.lowdim
  lowdim transform flowers.lowdim new.csv --out new-embedding.csv
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of the command line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"lowdim: {message}. See {self.prog} --help.\n")


def parser() -> argparse.ArgumentParser:
    """The parser of all commands and options."""
    top = _Parser(
        prog="lowdim",
        description="Dimensionality reduction of tables: maps of the rows, and measures of how faithful they are.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"lowdim {__version__}")
    top.add_argument("--traceback", action="store_true", help="show the full Python traceback of an error")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for add in (_compare, _fit, _transform, _score, _datasets, _reproduce):
        add(commands)
    return top


def _compare(commands: argparse._SubParsersAction) -> None:
    text = (
        "Embed a table by several methods, score every embedding and write a report (report.html), the scores "
        "(scores.json) and the embeddings (embeddings.csv, embeddings.parquet)."
    )
    command = commands.add_parser(
        "compare", help="embed a table by several methods, score them, write a report", description=text
    )
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    command.add_argument(
        "--methods", metavar="A,B,...", help="methods to run (default: a selection; a wrong name lists all)"
    )
    command.add_argument("--out", metavar="DIR", help="folder for the results (default: lowdim-report-NAME)")
    command.add_argument("--max-rows", type=options.whole(3), metavar="N", help="use a random sample of N rows")
    command.add_argument("--title", help="heading of the report")
    options.scale_option(command)
    options.run_options(command)
    options.limit_options(command)
    options.reference_options(command)
    options.table_options(command)


def _fit(commands: argparse._SubParsersAction) -> None:
    text = "Fit one method, save the model and the embedding."
    command = commands.add_parser("fit", help="fit one method, save the model and the embedding", description=text)
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    command.add_argument("--method", required=True, metavar="NAME", help="the method, such as isomap (required)")
    command.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a parameter of the method, such as n_neighbors=12 (repeatable)",
    )
    command.add_argument("--out", required=True, metavar="MODEL", help="file for the fitted model (required)")
    command.add_argument("--embedding", metavar="FILE", help="file for the embedding (default: MODEL-embedding.csv)")
    options.run_options(command)
    options.table_options(command)


def _transform(commands: argparse._SubParsersAction) -> None:
    text = "Embed new rows with a saved model."
    command = commands.add_parser("transform", help="embed new rows with a saved model", description=text)
    command.add_argument("model", metavar="MODEL", help="a file that lowdim fit wrote")
    command.add_argument("source", metavar="FILE", help="the table with the new rows")
    command.add_argument("--out", required=True, metavar="FILE", help="file for their embedding (required)")
    options.memory_option(command)
    options.table_options(command)


def _score(commands: argparse._SubParsersAction) -> None:
    text = "Score an embedding, made by any program, against the table it was made from."
    command = commands.add_parser("score", help="score an embedding made by any program", description=text)
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    command.add_argument("embedding", metavar="EMBEDDING", help="a file with the embedding of the same rows")
    command.add_argument("--embedding-columns", metavar="A,B,...", help="columns of EMBEDDING to use (default: all)")
    command.add_argument("--map", metavar="NAME", help="method to score, if EMBEDDING was written by lowdim compare")
    command.add_argument(
        "--has-scale",
        action="store_true",
        help="distances in the embedding have the scale of the data: show the stress without rescaling too",
    )
    command.add_argument("--json", action="store_true", help="print the scores as JSON")
    options.seed_option(command)
    options.jobs_option(command)
    options.scale_option(command)
    options.memory_option(command)
    options.reference_options(command)
    options.table_options(command)


def _datasets(commands: argparse._SubParsersAction) -> None:
    text = "List the built-in data sets, or write one to a file."
    command = commands.add_parser(
        "datasets", help="list the built-in data sets, or write one to a file", description=text
    )
    command.add_argument("name", nargs="?", metavar="NAME", help="the data set (default: list them)")
    command.add_argument("--out", metavar="FILE", help="file for the rows and their labels")
    command.add_argument("--coordinates", action="store_true", help="also write the true coordinates")
    command.add_argument("--n-samples", type=options.whole(1), metavar="N", help="number of rows")
    command.add_argument("--noise", type=float, metavar="SD", help="standard deviation of the noise")
    options.seed_option(command)


def _reproduce(commands: argparse._SubParsersAction) -> None:
    text = "Repeat a published experiment and print our results beside the published ones."
    command = commands.add_parser("reproduce", help="repeat a published experiment", description=text)
    command.add_argument("name", nargs="?", metavar="NAME", help="the experiment (default: list them)")
    help_repeats = "number of independent runs (default: 10, or 5 for long experiments)"
    command.add_argument("--repeats", type=options.whole(1), metavar="N", help=help_repeats)
    options.seed_option(command)
    command.add_argument("--json", action="store_true", help="print the results as JSON")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0 if it is done, 2 after an error of the user, 130 after Ctrl-C."""
    try:
        arguments = parser().parse_args(argv)
        if arguments.command is None:
            parser().print_help()
            return 0
        return _run(arguments)
    except KeyboardInterrupt:
        try:
            return _stopped(as_program=argv is None)
        except KeyboardInterrupt:  # polars raises its own for the same key, a moment before the interpreter's
            return _stopped(as_program=argv is None)
    except SystemExit as done:  # help, version and errors of the options
        return done.code if isinstance(done.code, int) else 0


def _stopped(as_program: bool) -> int:
    """Ctrl-C: one line on stderr, whatever the interpreter was doing; further Ctrl-C are ignored."""
    if as_program:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    _fail("stopped", 130)
    if as_program:  # a normal exit can end in a signal if an import was interrupted
        with suppress(OSError):
            sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)
    return 130


def _run(arguments: argparse.Namespace) -> int:
    from lowdim.app.errors import UserError

    expected = (UserError, ValueError, TypeError, OSError, MemoryError, ImportError)
    try:
        from lowdim.app import commands

        code = getattr(commands, arguments.command)(arguments)
        sys.stdout.flush()
        return code or 0
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except expected as error:
        if arguments.traceback:
            raise
        return _fail(_one_line(error), 2)


def _one_line(error: BaseException) -> str:
    from lowdim.app.errors import with_option_names

    return " ".join(with_option_names(str(error)).split()) or type(error).__name__


def _fail(message: str, code: int) -> int:
    print(f"lowdim: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
