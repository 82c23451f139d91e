"""numpydoc checks of everything public. Usage: python tools/check_docstrings.py"""

import inspect
import sys

from numpydoc.validate import validate

import lowdim

# What must hold; the other checks of numpydoc ask for sections that short functions do not need.
CHECKS = {"GL03", "GL06", "GL07", "GL08", "SS01", "PR01", "PR02", "PR03", "RT01"}
# Records that only the library makes: their fields are attributes, and documented as such.
RECORDS = {
    "lowdim.quality.Procrustes",
    "lowdim.quality.Ranks",
    "lowdim.quality.Shepard",
    "lowdim.quality.Score",
    "lowdim.select.ComponentChoice",
    "lowdim.select.KernelChoice",
    "lowdim.select.WidthCurve",
    "lowdim.select.DimensionChoice",
    "lowdim.select.IntrinsicDimension",
    "lowdim.select.Ceiling",
    "lowdim.select.MethodChoice",
    "lowdim.select.SettingChoice",
    "lowdim.trust.Fractures",
    "lowdim.trust.Group",
    "lowdim.trust.GroupPair",
    "lowdim.trust.GroupTrust",
    "lowdim.trust.RowTrust",
    "lowdim.trust.Stability",
    "lowdim.trust.StructureTest",
    "lowdim.Comparison",
    "lowdim.Imputation",
}
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
        wanted = CHECKS - {"PR01"} if name in RECORDS else CHECKS
        problems += [f"{name}: {code} {text}" for code, text in validate(name)["errors"] if code in wanted]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
