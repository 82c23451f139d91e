"""Groups of options that several commands share, and converters of their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def version_options(top: argparse.ArgumentParser) -> None:
    """`--version`, and `--verbose` beside it."""
    top.add_argument("--version", action="store_true", help="show the version; with --verbose what a bug report needs")
    top.add_argument("--verbose", action="store_true", help=argparse.SUPPRESS)


def whole(least: int) -> Callable[[str], int]:
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


def separator(text: str) -> str:
    """A converter for argparse: the character between columns."""
    found = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(found) != 1 or not found.isascii() or found in '"\r\n' or found.isalnum():
        raise argparse.ArgumentTypeError(f"must be one character such as ';', or the word tab; got {text!r}")
    return found


def table_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("reading the table")
    _column_options(group)
    _row_options(group)
    _format_options(group)


def _column_options(group: argparse._ArgumentGroup) -> None:
    """Which columns there are, and what they are."""
    group.add_argument(
        "--label",
        metavar="COL",
        help="column with a class or a number for each row, used for colours and scores, not for fitting",
    )
    group.add_argument("--names", metavar="COL", help="column with a name for each row, not used for fitting")
    group.add_argument(
        "--drop", metavar="A,B,...", action="append", default=[],
        help="leave columns out (repeatable; a name with a comma alone in its option, or in double quotes)",
    )  # fmt: skip
    group.add_argument(
        "--columns", metavar="A,B,...", action="append", default=[],
        help="use only these columns in the map (repeatable, names as for --drop)",
    )  # fmt: skip
    group.add_argument(
        "--as", dest="kinds", metavar="KIND:COL", action="append", default=[],
        help="what a column is, whatever it looks like: number, category, ordinal, date, text or id; such as "
        "category:island, or with the order of the values ordinal:size=small,medium,large (repeatable)",
    )  # fmt: skip


def _row_options(group: argparse._ArgumentGroup) -> None:
    """Which rows, how missing cells are marked, and how text is written."""
    group.add_argument(
        "--rows",
        choices=("all", "complete"),
        default="all",
        help="complete: leave out rows with missing values (default: all)",
    )
    group.add_argument(
        "--drop-rows", metavar="A,B,...", action="append", default=[],
        help="leave out rows by their names, or by their numbers (from 1) where they have none (repeatable)",
    )  # fmt: skip
    group.add_argument(
        "--keep-totals", action="store_true",
        help="keep last rows called total, mean and the like whose numbers are those of the rows above",
    )  # fmt: skip
    group.add_argument(
        "--na", metavar="TEXT", action="append", default=[],
        help="text or number that means a missing value, but in names and ids of rows (repeatable)",
    )  # fmt: skip
    group.add_argument(
        "--transpose", action="store_true",
        help="exchange rows and columns: for files whose columns are the items, such as genes in rows",
    )  # fmt: skip
    group.add_argument(
        "--no-header", action="store_true", help="the first line of a text file is data, not column names"
    )
    group.add_argument(
        "--separator",
        type=separator,
        metavar="CHAR",
        help="character between the columns of a text file, or tab (default: detected)",
    )
    group.add_argument(
        "--decimal-comma", action="store_true", help="numbers in a text file have a decimal comma, as in 1,5"
    )
    group.add_argument(
        "--encoding", metavar="NAME", help="encoding of a text file, such as latin-1 (default: detected)"
    )
    group.add_argument("--array", metavar="NAME", help="array of an .npz file with the rows")


def _format_options(group: argparse._ArgumentGroup) -> None:
    """Options for single formats; most of what they say is detected."""
    group.add_argument("--header", action="store_true", help="the first line of a text file has the column names")
    group.add_argument("--thousands", metavar="CHAR", help="character between groups of three digits, such as ,")
    group.add_argument("--sheet", metavar="NAME|NUMBER", help="sheet of a spreadsheet (default: the first with cells)")
    group.add_argument("--layer", metavar="NAME", help="table of an .h5ad file: a layer, or X_pca and the like")
    group.add_argument(
        "--distances", choices=("square", "lower", "condensed", "pairs", "similarities", "no"),
        help="the file has distances between items, in this arrangement, or similarities such as correlations; no: it "
        "has rows (default: detected)",
    )  # fmt: skip
    group.add_argument("--image-size", type=size_of_images, metavar="WxH", help="size that images are brought to")
    group.add_argument(
        "--image-colour",
        action=argparse.BooleanOptionalAction,
        help="colour or grey values of images (default: detected)",
    )


def size_of_images(text: str) -> tuple[int, int]:
    """A converter for argparse: width and height such as 32x32."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"must be a size such as 32x32; got {text!r}")
    return int(parts[0]), int(parts[1])


def label_file_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--label-file", metavar="FILE",
        help="a second file with the labels (its column: --label COL), given to the rows by their names where both "
        "files have them, else by their order",
    )  # fmt: skip


def run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--n-components",
        type=whole(1),
        default=2,
        metavar="R",
        help="number of components of the embedding (default: 2)",
    )
    seed_option(command)
    jobs_option(command)
    memory_option(command)


def seed_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seed", type=whole(0), default=0, metavar="S", help="seed; the same seed gives the same result (default: 0)"
    )


def jobs_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--n-jobs", type=int, default=None, metavar="N", help="number of threads (default: all cores)")


def device_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--device",
        default=None,
        metavar="D",
        help="where to compute: cpu, cuda (an NVIDIA GPU), or auto, the GPU where there is one (default: cpu)",
    )


def cluster_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--cluster", metavar="ADDRESS",
        help="read and place the rows on the workers of a dask.distributed scheduler, such as tcp://host:8786; they "
        "must see the file under the same path",
    )  # fmt: skip


def memory_option(command: argparse.ArgumentParser) -> None:
    text = "largest memory that one method, or reading the table, may take, such as 4GB (default: the memory available)"
    command.add_argument("--limit-memory", metavar="SIZE", help=text)
    command.add_argument("--memory-limit", dest="limit_memory", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def limit_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limit-time", type=seconds, metavar="S",
        help="seconds that one method may take; beyond, it is stopped and reported (each runs in its own process)",
    )  # fmt: skip
    command.add_argument(
        "--own-process", action="store_true", help="each method in a process of its own: a crash ends that method alone"
    )
    command.add_argument(
        "--fresh", action="store_true", help="compute every map again, also those that an earlier run finished"
    )


def seconds(text: str) -> float:
    """A converter for argparse: seconds, or minutes and hours such as 10m and 2h."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        value = float(number) * unit
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a time such as 30, 30s or 10m; got {text!r}")
    return value


def evidence_options(command: argparse.ArgumentParser) -> None:
    """What is found out about the maps besides their scores."""
    command.add_argument(
        "--no-verdict", action="store_true", help="scores alone: do not judge which map to trust (faster)"
    )
    command.add_argument(
        "--stability", type=whole(2), default=0, metavar="N",
        help="make the recommended map again N times, from parts of the rows, and say what comes back",
    )  # fmt: skip
    command.add_argument(
        "--fractures", action="store_true",
        help="say where maps by t-SNE and UMAP draw gaps that the data do not have, and colour rows by it",
    )  # fmt: skip
    command.add_argument(
        "--draws", type=whole(3), default=0, metavar="M",
        help="complete the table M times where cells are missing (multiple imputation), and draw as ellipses on the "
        "linear map where these rows may be",
    )  # fmt: skip


def embedding_columns_option(command: argparse.ArgumentParser, where: str) -> None:
    command.add_argument(
        "--embedding-columns", metavar="A,B,...", action="append", default=[],
        help=f"columns of {where} to use (default: all; repeatable)",
    )  # fmt: skip


def formulas_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--keep-formulas", action="store_true",
        help="write text that begins with = + - @ or a tab as it is; without it, such text gets an apostrophe in front "
        "in CSV files, so that a spreadsheet does not run it as a formula",
    )  # fmt: skip


def reference_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--reference", choices=("ambient", "geodesic"), default="ambient",
        help="distances in the data that maps are compared with: straight (ambient, the default) or along the "
        "neighbour graph (geodesic)",
    )  # fmt: skip
    text = "neighbours of each row in the graph of the geodesic reference (default: 10)"
    command.add_argument("--graph-neighbors", type=whole(1), default=10, metavar="K", help=text)
    # The name until 0.1; it read as if it set the neighbours of the methods.
    command.add_argument(
        "--n-neighbors", dest="graph_neighbors", type=whole(1), default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )


def scale_option(command: argparse.ArgumentParser) -> None:
    text = "divide each column by its standard deviation first (default: where columns seem to have different units)"
    group = command.add_mutually_exclusive_group()
    group.add_argument("--scale", action="store_true", help=text)
    group.add_argument("--no-scale", action="store_true", help="leave columns as they are, whatever their units")
