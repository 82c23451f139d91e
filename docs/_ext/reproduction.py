"""A directive for published experiments: the command, our numbers beside the published ones, notes, and the code.

    ```{reproduction} conic
    ```

The numbers are those of docs/experiments/numbers.json, which tools/experiment_numbers.py writes; a test holds them to
what the code gives.
"""

import json
import re
from importlib import import_module
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lowdim.study.reproductions import EXPERIMENTS

NUMBERS = Path(__file__).resolve().parent.parent / "experiments" / "numbers.json"
MANY = 14  # lines of a table that is shown whole; a longer one is folded after its published lines


def number(value):
    """Three decimals as the command prints them; very large and missing ones in words of their own."""
    if value is None:
        return "not run"
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.3f}".replace("-0.000", "0.000")


def table(lines):
    """What, published, ours, standard deviation."""
    heads = ("", "published", "ours", "sd")
    group = nodes.tgroup(cols=4)
    group += [nodes.colspec(colwidth=width) for width in (58, 18, 12, 12)]
    rows = [(one["what"], one["published"], number(one["ours"]), number(one["spread"])) for one in lines]
    group += nodes.thead("", row(heads))
    group += nodes.tbody("", *[row(cells) for cells in rows])
    return nodes.table("", group, classes=["numbers"])


def row(cells):
    """One row of a table."""
    return nodes.row("", *[nodes.entry("", nodes.paragraph(text=cell)) for cell in cells])


def folded(summary, *content):
    """What is shown when asked for."""
    opening = nodes.raw("", f"<details><summary>{summary}</summary>", format="html")
    return [opening, *content, nodes.raw("", "</details>", format="html")]


def source_of(name):
    """The module of an experiment, without the lines that every module begins with."""
    text = Path(import_module(f"lowdim.study.reproductions.{EXPERIMENTS[name]}").__file__).read_text(encoding="utf-8")
    return re.sub(r"^from __future__.*\n+", "", text, flags=re.M)


class Reproduction(SphinxDirective):
    """```{reproduction} NAME"""

    required_arguments = 1

    def run(self):
        """The command, the numbers, what is known of the differences, the code."""
        name = self.arguments[0]
        self.env.note_dependency(str(NUMBERS))
        kept = json.loads(NUMBERS.read_text(encoding="utf-8"))
        if name not in kept:
            raise self.error(f"no numbers of {name!r}; python tools/experiment_numbers.py {name} makes them")
        found = kept[name]
        default = getattr(import_module(f"lowdim.study.reproductions.{EXPERIMENTS[name]}"), "REPEATS", 10)
        repeats = "" if found["repeats"] == default else f" --repeats {found['repeats']}"
        command = f"lowdim reproduce {name}{repeats}"
        return [
            nodes.literal_block(command, command, language="text"),
            nodes.paragraph("", "", nodes.strong(text="Published: "), nodes.Text(found["source"])),
            *self.numbers(found["lines"]),
            nodes.paragraph(text=f"Mean and standard deviation over {_runs(found['repeats'])}, seed 0."),
            *[nodes.paragraph(text=note) for note in found["notes"]],
            *folded("The code of this experiment", _code(source_of(name))),
        ]

    def numbers(self, lines):
        """All lines, or those with a published number and the others folded."""
        published = [one for one in lines if one["published"] != "-"]
        if len(lines) <= MANY or not published or len(published) == len(lines):
            return [table(lines)]
        rest = [one for one in lines if one["published"] == "-"]
        return [table(published), *folded(f"{len(rest)} more lines, of which nothing was published", table(rest))]


def _runs(n):
    return "1 run" if n == 1 else f"{n} runs"


def _code(text):
    return nodes.literal_block(text, text, language="python")


def setup(app):
    """Register the directive."""
    app.add_directive("reproduction", Reproduction)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
