"""The parser of every command: its options, its help with examples, and the names of the methods in groups."""

from __future__ import annotations

import argparse
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, NoReturn

from lowdim._core.runtime.printable import printable
from lowdim.app import options
from lowdim.study.suggestions import did_you_mean

SOURCE = "a table, or a built-in data set (see: lowdim datasets)"
EPILOG = """examples:
  lowdim describe penguins.csv                   what is in a table: columns, missing cells, duplicates
  lowdim compare penguins.csv                    maps by several methods, scores, and a report
  lowdim view lowdim-report-penguins             its maps in the browser, however many rows
  lowdim impute penguins.csv --out complete.csv  missing cells filled, with their uncertainty
  lowdim fit penguins.csv --method umap --out penguins.lowdim
  lowdim transform penguins.lowdim new.csv --out new-embedding.csv

lowdim COMMAND --help shows the options of a command, with examples; lowdim compare --help lists the methods.
"""
IMPUTATION_METHODS = ("auto", "regularized", "em", "soft", "factors", "famd", "ridge", "forest", "neighbors")
COMPARE_EXAMPLES = """examples:
  lowdim compare penguins.csv                                   any table: categories, dates, names, missing cells
  lowdim compare penguins.csv --label species --as category:year --drop comments
  lowdim compare swiss-roll --methods pca,isomap --reference geodesic --set isomap.n_neighbors=15
  lowdim compare counts.csv --label-file samples.csv            labels in another file, by the names of the rows
  lowdim compare big.parquet --max-rows 20000 --limit-time 10m --limit-memory 4GB
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of the command line, with the nearest word for a typo."""

    given: ClassVar[Sequence[str]] = ()  # all words of the command line

    def error(self, message: str) -> NoReturn:
        hint = self._near(message) + self._dashed_file()
        self.exit(2, f"lowdim: {printable(message)}.{printable(hint)} See {self._with_command()} --help.\n")

    def _with_command(self) -> str:
        """This program, with the command that is given: unknown options are found after its parser has ended."""
        known = next((action.choices for action in self._actions if isinstance(action.choices, dict)), {})
        found = next((word for word in self.given if word in known), None)
        return self.prog if found is None else f"{self.prog} {found}"

    def _dashed_file(self) -> str:
        """What to write for a file whose name begins with a dash."""
        found = next((word for word in self.given if word.startswith("-") and Path(word).is_file()), None)
        return "" if found is None else f" Write ./{found} for the file of that name."

    def _near(self, message: str) -> str:
        """The nearest command or option to an unknown one."""
        if "invalid choice: " in message:
            wrong = message.split("invalid choice: ")[1].split("'")[1]
            choices = next((action.choices for action in self._actions if isinstance(action.choices, dict)), None)
            if choices and Path(wrong).exists():
                return f" To map that file: {self.prog} compare {shlex.quote(wrong)}."
            return did_you_mean(wrong, choices) if choices else ""
        if message.startswith("unrecognized arguments: "):
            wrong = message.split(": ")[1].split()[0].split("=")[0]
            return did_you_mean(wrong, self._all_options())
        return ""

    def _all_options(self) -> Iterable[str]:
        """The options of this parser and of its commands, but for hidden ones."""
        for action in self._actions:
            if action.help is not argparse.SUPPRESS:
                yield from action.option_strings
            for command in action.choices.values() if isinstance(action.choices, dict) else ():
                yield from command._all_options()


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of all commands and options; `words` are those of the command line, for hints in errors."""

    class Parser(_Parser):
        given = tuple(words)

    top = Parser(
        prog="lowdim",
        description="Dimensionality reduction of tables: maps of the rows, and measures of how faithful they are.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.version_options(top)
    top.add_argument("--traceback", action="store_true", help="show the full Python traceback of an error")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for add in (_compare, _view, _describe, _impute, _fit, _transform, _inverse, _score, _datasets, _reproduce):
        add(commands)
    return top


def _command(commands: argparse._SubParsersAction, name: str, brief: str, text: str, epilog: str = "") -> _Parser:
    """A command with its help; `--json` is there for all."""
    made = commands.add_parser(
        name, help=brief, description=text, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--json", action="store_true", help="print the result as JSON on standard output")
    return made


def _method_lines() -> str:
    """The names of the methods in groups, for the help."""
    from lowdim.study.methods import by_group

    lines = ["methods:"]
    for heading, names in by_group().items():
        lines += [
            f"  {heading}:",
            *textwrap.wrap(", ".join(names), 100, initial_indent="    ", subsequent_indent="    "),
        ]
    return "\n".join(lines)


def _compare(commands: argparse._SubParsersAction) -> None:
    text = (
        "Embed a table by several methods, score every embedding and write a report (report.html), the scores "
        "(scores.json) and the embeddings (embeddings.csv, embeddings.parquet)."
    )
    epilog = f"{COMPARE_EXAMPLES}\n{_method_lines()}\n"
    command = _command(commands, "compare", "maps of a table by several methods, scores, a report", text, epilog)
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    command.add_argument(
        "--methods",
        metavar="A,B,...",
        help="methods to run, or the word all (default: a selection that suits the data)",
    )
    command.add_argument(
        "--set", metavar="METHOD.KEY=VALUE", action="append", default=[],
        help="a parameter of one method, such as umap.n_neighbors=30 (repeatable)",
    )  # fmt: skip
    command.add_argument("--out", metavar="DIR", help="folder for the results (default: lowdim-report-NAME)")
    command.add_argument("--max-rows", type=options.whole(3), metavar="N", help="use a random sample of N rows")
    options.evidence_options(command)
    options.cluster_option(command)
    command.add_argument("--title", help="heading of the report")
    options.scale_option(command)
    options.run_options(command)
    options.device_option(command)
    options.limit_options(command)
    options.reference_options(command)
    options.formulas_option(command)
    options.label_file_option(command)
    options.table_options(command)


def _view(commands: argparse._SubParsersAction) -> None:
    text = (
        "Show the maps of a study in the browser, however many rows it has: density, points where you zoom in, linked "
        "maps. They are served to this machine alone, until Ctrl-C; nothing is sent elsewhere."
    )
    epilog = "examples:\n  lowdim view lowdim-report-big\n  lowdim view my-map.parquet --embedding-columns x,y\n"
    command = _command(commands, "view", "maps of any number of rows in the browser", text, epilog)
    command.add_argument(
        "study", metavar="DIR|FILE", help="a folder that lowdim compare wrote, or a table of coordinates"
    )
    command.add_argument("--no-open", action="store_true", help="print the address, do not open a browser")
    command.add_argument(
        "--port", type=options.whole(0), default=0, metavar="N", help="port to serve at (default: one that is free)"
    )
    command.add_argument(
        "--embedding-columns", metavar="A,B", action="append", default=[],
        help="columns of FILE with the coordinates (default: those of all maps, or x and y)",
    )  # fmt: skip
    options.seed_option(command)
    options.memory_option(command)


def _describe(commands: argparse._SubParsersAction) -> None:
    text = "What is in a table: its columns, missing cells, units, equal rows. Nothing is written."
    command = _command(commands, "describe", "what is in a table", text, "example:\n  lowdim describe penguins.csv\n")
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    options.seed_option(command)
    options.memory_option(command)
    options.table_options(command)


def _impute(commands: argparse._SubParsersAction) -> None:
    text = (
        "Fill the missing cells of a table, numbers and categories, by the model that fills observed cells best that "
        "were left out. Prints the models with their errors; writes the completed table, and a second file with each "
        "filled cell and its uncertainty (NAME-cells.csv)."
    )
    epilog = "examples:\n  lowdim impute penguins.csv\n  lowdim impute penguins.csv --out complete.parquet\n"
    command = _command(commands, "impute", "fill the missing cells of a table", text, epilog)
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    command.add_argument("--out", metavar="FILE", help="file for the completed table (default: NAME-complete.csv)")
    command.add_argument("--cells", metavar="FILE", help="file for the filled cells (default: OUT-cells.csv)")
    options.formulas_option(command)
    command.add_argument(
        "--draws", type=options.whole(2), default=20, metavar="M", help="draws of each cell, for its uncertainty"
    )
    command.add_argument(
        "--method", default="auto", metavar="NAME", choices=IMPUTATION_METHODS,
        help=f"model to fill cells with: {', '.join(IMPUTATION_METHODS)} (default: auto, the best)",
    )  # fmt: skip
    command.add_argument(
        "--budget", type=float, default=60.0, metavar="S", help="seconds of processor time for the choice of a model"
    )
    options.seed_option(command)
    options.jobs_option(command)
    options.memory_option(command)
    options.table_options(command)


def _inverse(commands: argparse._SubParsersAction) -> None:
    text = "Rows of the table from coordinates in the embedding of a saved model."
    epilog = "example:\n  lowdim inverse flowers.lowdim points.csv --out rows.csv\n"
    command = _command(commands, "inverse", "rows from coordinates, with a saved model", text, epilog)
    command.add_argument("model", metavar="MODEL", help="a file that lowdim fit wrote")
    command.add_argument("embedding", metavar="FILE", help="a table with the coordinates")
    options.embedding_columns_option(command, "FILE")
    command.add_argument("--map", metavar="NAME", help="method to use, if FILE was written by lowdim compare")
    command.add_argument("--out", required=True, metavar="FILE", help="file for the rows (required)")
    options.formulas_option(command)
    options.memory_option(command)


def _fit(commands: argparse._SubParsersAction) -> None:
    text = "Fit one method, save the model and the embedding."
    example = "example:\n  lowdim fit flowers.csv --method isomap --set n_neighbors=12 --out flowers.lowdim"
    epilog = f"{example}\n\n{_method_lines()}\n"
    command = _command(commands, "fit", "fit one method, save the model and the embedding", text, epilog)
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    command.add_argument("--method", required=True, metavar="NAME", help="the method, such as isomap (required)")
    command.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[],
        help="a parameter of the method, such as n_neighbors=12 (repeatable)",
    )  # fmt: skip
    command.add_argument("--out", required=True, metavar="MODEL", help="file for the fitted model (required)")
    command.add_argument("--embedding", metavar="FILE", help="file for the embedding (default: MODEL-embedding.csv)")
    options.scale_option(command)
    options.formulas_option(command)
    options.run_options(command)
    options.cluster_option(command)
    options.label_file_option(command)
    options.table_options(command)


def _transform(commands: argparse._SubParsersAction) -> None:
    text = "Embed new rows with a saved model."
    epilog = "example:\n  lowdim transform flowers.lowdim new.csv --out new-embedding.csv\n"
    command = _command(commands, "transform", "embed new rows with a saved model", text, epilog)
    command.add_argument("model", metavar="MODEL", help="a file that lowdim fit wrote")
    command.add_argument("source", metavar="FILE", help="the table with the new rows")
    command.add_argument("--out", required=True, metavar="FILE", help="file for their embedding (required)")
    options.cluster_option(command)
    options.formulas_option(command)
    options.memory_option(command)
    options.table_options(command)


def _score(commands: argparse._SubParsersAction) -> None:
    text = "Score an embedding, made by any program, against the table it was made from."
    epilog = "example:\n  lowdim score flowers.csv my-map.csv --label species --embedding-columns x,y\n"
    command = _command(commands, "score", "score an embedding made by any program", text, epilog)
    command.add_argument("source", metavar="FILE|NAME", help=SOURCE)
    command.add_argument("embedding", metavar="EMBEDDING", help="a file with the embedding of the same rows")
    options.embedding_columns_option(command, "EMBEDDING")
    command.add_argument("--map", metavar="NAME", help="method to score, if EMBEDDING was written by lowdim compare")
    command.add_argument(
        "--has-scale",
        action="store_true",
        help="distances in the embedding have the scale of the data: show the stress without rescaling too",
    )
    options.seed_option(command)
    options.jobs_option(command)
    options.scale_option(command)
    options.memory_option(command)
    options.reference_options(command)
    options.label_file_option(command)
    options.table_options(command)


def _datasets(commands: argparse._SubParsersAction) -> None:
    text = "List the built-in data sets, or write one to a file."
    command = _command(commands, "datasets", "list the built-in data sets, or write one to a file", text)
    command.add_argument("name", nargs="?", metavar="NAME", help="the data set (default: list them)")
    command.add_argument("--out", metavar="FILE", help="file for the rows and their labels")
    command.add_argument("--coordinates", action="store_true", help="also write the true coordinates")
    command.add_argument("--n-samples", type=options.whole(1), metavar="N", help="number of rows")
    command.add_argument("--noise", type=float, metavar="SD", help="standard deviation of the noise")
    options.seed_option(command)


def _reproduce(commands: argparse._SubParsersAction) -> None:
    text = "Repeat a published experiment and print our results beside the published ones."
    command = _command(commands, "reproduce", "repeat a published experiment", text)
    command.add_argument("name", nargs="?", metavar="NAME", help="the experiment (default: list them)")
    help_repeats = "number of independent runs (default: 10, or 5 for long experiments)"
    command.add_argument("--repeats", type=options.whole(1), metavar="N", help=help_repeats)
    options.seed_option(command)
