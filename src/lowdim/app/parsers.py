"""The parser of every command: its options, its help with examples, and the names of the methods in groups."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, NoReturn

from lowdim.app import options
from lowdim.app.printable import printable
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
        self.exit(2, f"lowdim: {printable(message)}.{printable(hint)} See {self.prog} --help.\n")

    def _dashed_file(self) -> str:
        """What to write for a file whose name begins with a dash."""
        found = next((word for word in self.given if word.startswith("-") and Path(word).is_file()), None)
        return "" if found is None else f" Write ./{found} for the file of that name."

    def _near(self, message: str) -> str:
        """The nearest command or option to an unknown one."""
        if "invalid choice: " in message:
            wrong = message.split("invalid choice: ")[1].split("'")[1]
            choices = next((action.choices for action in self._actions if isinstance(action.choices, dict)), None)
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
