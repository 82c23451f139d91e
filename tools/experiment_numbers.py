"""Run published experiments and keep what they print, for the pages of docs/experiments.

Usage: python tools/experiment_numbers.py [--repeats N] NAME...        (all: every experiment, which takes long)

The result is docs/experiments/numbers.json; tests/test_experiments.py holds it to what the code gives today.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from lowdim.study.reproductions import EXPERIMENTS, reproduce

PATH = Path(__file__).resolve().parent.parent / "docs" / "experiments" / "numbers.json"
DIGITS = 5  # significant ones; pages show fewer


def shortened(found):
    """A result as JSON, its numbers rounded."""
    record = asdict(found)
    for line in record["lines"]:
        for key in ("ours", "spread"):
            if line[key] is not None:
                line[key] = float(f"{line[key]:.{DIGITS}g}")
    return record


def keep(record):
    """Write one result beside the others, in the order of the names."""
    kept = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    kept[record["name"]] = record
    text = json.dumps({name: kept[name] for name in sorted(kept)}, indent=1, ensure_ascii=False)
    PATH.write_text(text + "\n", encoding="utf-8")


def main():
    """The named experiments, one after the other; each is kept as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", choices=[*EXPERIMENTS, "all"])
    parser.add_argument("--repeats", type=int, default=None)
    arguments = parser.parse_args()
    for name in EXPERIMENTS if "all" in arguments.names else arguments.names:
        keep(shortened(reproduce(name, repeats=arguments.repeats, random_state=0)))
        print(name)


if __name__ == "__main__":
    main()
