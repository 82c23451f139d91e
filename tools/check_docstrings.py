"""numpydoc checks of everything public. Usage: python tools/check_docstrings.py"""

import inspect
import sys

from numpydoc.validate import validate

import lowdim

# What must hold; the other checks of numpydoc ask for sections that short functions do not need.
CHECKS = {
    "GL01",
    "GL03",
    "GL06",
    "GL07",
    "GL08",
    "SS01",
    "SS03",
    "PR01",
    "PR02",
    "PR03",
    "PR04",
    "PR07",
    "RT01",
    "RT03",
}
# A summary on the line of the quotes, and one-line parameter texts, are the house style.
CHECKS -= {"GL01", "PR07", "RT03", "PR04", "SS03"}
METHODS = ("fit", "fit_transform", "transform", "inverse_transform", "estimate_memory")


def names():
    for name in lowdim.__all__:
        thing = getattr(lowdim, name)
        if inspect.ismodule(thing):
            yield from (f"lowdim.{name}.{inner}" for inner in thing.__all__ if callable(getattr(thing, inner)))
        elif inspect.isclass(thing):
            yield f"lowdim.{name}"
            yield from (f"lowdim.{name}.{method}" for method in METHODS if hasattr(thing, method))


def main():
    problems = []
    for name in names():
        problems += [f"{name}: {code} {text}" for code, text in validate(name)["errors"] if code in CHECKS]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
