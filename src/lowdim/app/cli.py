"""The command line: what people type, and one clear line when something is wrong with it.

Nothing heavy is imported before a command is known, so that help and version come at once.
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

EPILOG = """examples:
  lowdim compare flowers.csv --label species     maps, curves and scores of every method
  lowdim compare swiss-roll --methods pca,isomap --reference geodesic
  lowdim fit flowers.csv --method isomap --set n_neighbors=12 --drop species --out flowers.lowdim
  lowdim transform flowers.lowdim new.csv --out new-places.csv
"""


class _Parser(argparse.ArgumentParser):
    """Errors on one line, as for every other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"lowdim: {message} ({self.prog} --help explains).\n")


def parser() -> argparse.ArgumentParser:
    """Every command and option."""
    top = _Parser(
        prog="lowdim",
        description="Look at tables with many columns: embed the rows, see how faithful the picture is.",
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
    """A whole number from `least` on, for argparse."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}; got {text!r}")
        return value

    return number


def _mark(text: str) -> str:
    """The mark between columns, for argparse."""
    mark = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n' or mark.isalnum():
        raise argparse.ArgumentTypeError(f"must be one mark such as ';' or the word tab; got {text!r}")
    return mark


def _reading_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("columns and rows")
    group.add_argument("--label", metavar="COL", help="column with a class or a quantity per row, never fitted")
    group.add_argument("--names", metavar="COL", help="column with a name per row, never fitted")
    group.add_argument("--drop", metavar="COL", action="append", default=[], help="leave a column out (repeatable)")
    group.add_argument("--columns", metavar="A,B,...", help="use these columns only")
    group.add_argument("--rows", choices=("all", "complete"), default="all", help="complete: leave rows with holes out")
    group.add_argument("--na", metavar="TEXT", action="append", default=[], help="text that means missing (repeatable)")
    group.add_argument("--no-header", action="store_true", help="the first line of a text table is data")
    group.add_argument("--separator", type=_mark, metavar="MARK", help="between columns of text (default: found out)")
    group.add_argument("--decimal-comma", action="store_true", help="numbers in text are written 1,5")
    group.add_argument("--encoding", metavar="NAME", help="of a text table, such as latin-1 (default: UTF-8)")
    group.add_argument("--array", metavar="NAME", help="array of an .npz file that holds the rows")


def _run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--n-components", type=_whole(1), default=2, metavar="R", help="columns of the map (default: 2)"
    )
    command.add_argument(
        "--seed", type=_whole(0), default=0, metavar="S", help="makes every random choice (default: 0)"
    )
    command.add_argument("--n-jobs", type=int, default=None, metavar="N", help="threads (default: all cores)")
    _memory_option(command)


def _memory_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--memory-limit", metavar="SIZE", help="most memory one method may plan for, such as 4GB")


def _reference_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--reference", choices=("ambient", "geodesic"), default="ambient",
        help="hold maps against straight distances (default) or distances along the data",
    )  # fmt: skip
    command.add_argument(
        "--n-neighbors", type=_whole(1), default=10, metavar="K", help="graph of the geodesic reference"
    )


def _compare(commands: argparse._SubParsersAction) -> None:
    text = "Embed a table by several methods, score every map, write a report."
    command = commands.add_parser("compare", help="maps, scores and a report", description=text)
    command.add_argument("source", metavar="FILE|NAME", help="a table, or a built-in data set (lowdim datasets)")
    command.add_argument("--methods", metavar="A,B,...", help="methods to run (default: all)")
    command.add_argument("--out", metavar="DIR", help="folder for the results (default: lowdim-report-NAME)")
    command.add_argument("--max-rows", type=_whole(3), metavar="N", help="work on a random sample of N rows")
    command.add_argument("--title", help="heading of the report")
    _scale_option(command)
    _run_options(command)
    _reference_options(command)
    _reading_options(command)


def _fit(commands: argparse._SubParsersAction) -> None:
    text = "Fit one method, save the model and the embedding."
    command = commands.add_parser("fit", help="fit one method and save it", description=text)
    command.add_argument("source", metavar="FILE|NAME")
    command.add_argument("--method", required=True, metavar="NAME")
    command.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter (repeatable)")
    command.add_argument("--out", required=True, metavar="MODEL", help="file for the model")
    command.add_argument("--embedding", metavar="FILE", help="file for the embedding (default: beside the model)")
    _run_options(command)
    _reading_options(command)


def _transform(commands: argparse._SubParsersAction) -> None:
    text = "Place new rows with a saved model."
    command = commands.add_parser("transform", help="place new rows", description=text)
    command.add_argument("model", metavar="MODEL")
    command.add_argument("source", metavar="FILE")
    command.add_argument("--out", required=True, metavar="FILE")
    _memory_option(command)
    _reading_options(command)


def _score(commands: argparse._SubParsersAction) -> None:
    text = "Score an embedding made anywhere against the table it was made from."
    command = commands.add_parser("score", help="score an embedding", description=text)
    command.add_argument("source", metavar="FILE|NAME")
    command.add_argument("embedding", metavar="EMBEDDING")
    command.add_argument("--embedding-columns", metavar="A,B,...", help="columns of the embedding (default: all)")
    command.add_argument("--map", metavar="NAME", help="the method whose map to score, in a file that compare wrote")
    command.add_argument(
        "--has-scale", action="store_true", help="distances in the map are meant to equal the data's: show raw stress"
    )
    command.add_argument("--json", action="store_true", help="print the scores as JSON")
    command.add_argument("--seed", type=_whole(0), default=0, metavar="S")
    command.add_argument("--n-jobs", type=int, default=None, metavar="N")
    _scale_option(command)
    _memory_option(command)
    _reference_options(command)
    _reading_options(command)


def _scale_option(command: argparse.ArgumentParser) -> None:
    text = "divide each column by its standard deviation first, so that columns in different units count alike"
    command.add_argument("--scale", action="store_true", help=text)


def _datasets(commands: argparse._SubParsersAction) -> None:
    text = "List the built-in data sets, or write one to a file."
    command = commands.add_parser("datasets", help="list or write data sets", description=text)
    command.add_argument("name", nargs="?", metavar="NAME")
    command.add_argument("--out", metavar="FILE", help="write the rows and their labels here")
    command.add_argument("--coordinates", action="store_true", help="write the true coordinates too")
    command.add_argument("--n-samples", type=_whole(1), metavar="N")
    command.add_argument("--noise", type=float, metavar="SD")
    command.add_argument("--seed", type=_whole(0), default=0, metavar="S")


def _reproduce(commands: argparse._SubParsersAction) -> None:
    text = "Run a published experiment again and print ours beside the published numbers."
    command = commands.add_parser("reproduce", help="published numbers beside ours", description=text)
    command.add_argument("name", nargs="?", metavar="NAME", help="the experiment (default: list them)")
    help_repeats = "independent runs (default: 10; 5 where they take long)"
    command.add_argument("--repeats", type=_whole(1), metavar="N", help=help_repeats)
    command.add_argument("--seed", type=_whole(0), default=0, metavar="S")
    command.add_argument("--json", action="store_true", help="print the numbers as JSON")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. 0: done; 2: something the caller can put right, said in one line; 130: stopped by Ctrl-C."""
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
    """Ctrl-C: one word, whatever the interpreter was doing, and nothing more when the key is pressed again."""
    if as_program:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    _say("stopped", 130)
    if as_program:  # the interpreter's own way out could end in a signal where an import was cut short
        with suppress(OSError):
            sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)
    return 130


def _run(arguments: argparse.Namespace) -> int:
    from lowdim.app.files import UserError

    expected = (UserError, ValueError, TypeError, OSError, MemoryError, ImportError)
    try:
        from lowdim.app import commands

        getattr(commands, arguments.command)(arguments)
        sys.stdout.flush()
        return 0
    except BrokenPipeError:  # the reader of a pipe has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except expected as error:
        if arguments.traceback:
            raise
        return _say(_one_line(error), 2)


def _one_line(error: BaseException) -> str:
    from lowdim.app.files import in_words_of_options

    return " ".join(in_words_of_options(str(error)).split()) or type(error).__name__


def _say(message: str, code: int) -> int:
    print(f"lowdim: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
