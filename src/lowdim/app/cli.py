"""The command line: commands, options, and errors as one line.

Heavy modules are imported only when a command runs, so that --help and --version are fast.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

from lowdim import __version__

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


def _whole(least: int) -> Callable[[str], int]:
    """A converter for argparse: a whole number of at least `least`."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}; got {text!r}")
        return value

    return number


def _separator(text: str) -> str:
    """A converter for argparse: the character between columns."""
    found = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(found) != 1 or not found.isascii() or found in '"\r\n' or found.isalnum():
        raise argparse.ArgumentTypeError(f"must be one character such as ';', or the word tab; got {text!r}")
    return found


def _table_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("reading the table")
    group.add_argument(
        "--label",
        metavar="COL",
        help="column with a class or a number for each row, used for colours and scores, not for fitting",
    )
    group.add_argument("--names", metavar="COL", help="column with a name for each row, not used for fitting")
    group.add_argument("--drop", metavar="COL", action="append", default=[], help="leave a column out (repeatable)")
    group.add_argument("--columns", metavar="A,B,...", help="use only these columns")
    group.add_argument(
        "--rows",
        choices=("all", "complete"),
        default="all",
        help="complete: leave out rows with missing values (default: all)",
    )
    group.add_argument(
        "--na", metavar="TEXT", action="append", default=[], help="text that means a missing value (repeatable)"
    )
    group.add_argument(
        "--no-header", action="store_true", help="the first line of a text file is data, not column names"
    )
    group.add_argument(
        "--separator",
        type=_separator,
        metavar="CHAR",
        help="character between the columns of a text file, or tab (default: detected)",
    )
    group.add_argument(
        "--decimal-comma", action="store_true", help="numbers in a text file have a decimal comma, as in 1,5"
    )
    group.add_argument("--encoding", metavar="NAME", help="encoding of a text file, such as latin-1 (default: UTF-8)")
    group.add_argument("--array", metavar="NAME", help="array of an .npz file with the rows")


def _run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--n-components",
        type=_whole(1),
        default=2,
        metavar="R",
        help="number of components of the embedding (default: 2)",
    )
    _seed_option(command)
    _jobs_option(command)
    _memory_option(command)


def _seed_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seed", type=_whole(0), default=0, metavar="S", help="seed; the same seed gives the same result (default: 0)"
    )


def _jobs_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--n-jobs", type=int, default=None, metavar="N", help="number of threads (default: all cores)")


def _memory_option(command: argparse.ArgumentParser) -> None:
    text = "largest memory that one method may need, such as 4GB (default: the memory available)"
    command.add_argument("--memory-limit", metavar="SIZE", help=text)


def _reference_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--reference", choices=("ambient", "geodesic"), default="ambient",
        help="distances in the data that maps are compared with: straight (ambient, the default) or along the "
        "neighbour graph (geodesic)",
    )  # fmt: skip
    text = "neighbours of each row in the graph of the geodesic reference (default: 10)"
    command.add_argument("--graph-neighbors", type=_whole(1), default=10, metavar="K", help=text)
    # The name until 0.1; it read as if it set the neighbours of the methods.
    command.add_argument(
        "--n-neighbors", dest="graph_neighbors", type=_whole(1), default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )


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
    command.add_argument("--max-rows", type=_whole(3), metavar="N", help="use a random sample of N rows")
    command.add_argument("--title", help="heading of the report")
    _scale_option(command)
    _run_options(command)
    _reference_options(command)
    _table_options(command)


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
    _run_options(command)
    _table_options(command)


def _transform(commands: argparse._SubParsersAction) -> None:
    text = "Embed new rows with a saved model."
    command = commands.add_parser("transform", help="embed new rows with a saved model", description=text)
    command.add_argument("model", metavar="MODEL", help="a file that lowdim fit wrote")
    command.add_argument("source", metavar="FILE", help="the table with the new rows")
    command.add_argument("--out", required=True, metavar="FILE", help="file for their embedding (required)")
    _memory_option(command)
    _table_options(command)


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
    _seed_option(command)
    _jobs_option(command)
    _scale_option(command)
    _memory_option(command)
    _reference_options(command)
    _table_options(command)


def _scale_option(command: argparse.ArgumentParser) -> None:
    text = "divide each column by its standard deviation first, for columns in different units"
    command.add_argument("--scale", action="store_true", help=text)


def _datasets(commands: argparse._SubParsersAction) -> None:
    text = "List the built-in data sets, or write one to a file."
    command = commands.add_parser(
        "datasets", help="list the built-in data sets, or write one to a file", description=text
    )
    command.add_argument("name", nargs="?", metavar="NAME", help="the data set (default: list them)")
    command.add_argument("--out", metavar="FILE", help="file for the rows and their labels")
    command.add_argument("--coordinates", action="store_true", help="also write the true coordinates")
    command.add_argument("--n-samples", type=_whole(1), metavar="N", help="number of rows")
    command.add_argument("--noise", type=float, metavar="SD", help="standard deviation of the noise")
    _seed_option(command)


def _reproduce(commands: argparse._SubParsersAction) -> None:
    text = "Repeat a published experiment and print our results beside the published ones."
    command = commands.add_parser("reproduce", help="repeat a published experiment", description=text)
    command.add_argument("name", nargs="?", metavar="NAME", help="the experiment (default: list them)")
    help_repeats = "number of independent runs (default: 10, or 5 for long experiments)"
    command.add_argument("--repeats", type=_whole(1), metavar="N", help=help_repeats)
    _seed_option(command)
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

        getattr(commands, arguments.command)(arguments)
        sys.stdout.flush()
        return 0
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
