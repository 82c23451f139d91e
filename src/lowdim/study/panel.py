"""The default selection of methods, chosen from the data, and the reasons for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowdim.study.columns.counts import Counts, counts_in
from lowdim.study.data import Data
from lowdim.study.labels import Labels
from lowdim.study.methods import Method, find, methods

MANY_ROWS = 20_000  # from here on, methods whose cost grows faster than the number of rows are left out
FEW_ROWS = 20  # with fewer, the neighbours that a method takes by default are more than half of all rows
FOR_FEW = ("projection", "mixed", "distances")  # groups of methods that place each row by all the others
ESTIMATED = ("ica", "factor-analysis", "kernel-pca")  # of these, those that must learn more than few rows can tell
ALL = "all"


@dataclass(frozen=True)
class Panel:
    """Names of the methods to run, and sentences that say why these."""

    names: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Traits:
    """What the choice depends on."""

    n_rows: int
    n_columns: int
    incomplete: bool = False
    n_categories: int = 0  # columns of categories
    n_classes: int = 0  # classes of the label; 0 without a label
    reduced: int = 2  # components
    distances: bool = False  # distances between items instead of rows
    counts: Counts | None = None  # where the cells are counts


def traits_of(data: Data, labels: Labels | None, n_components: int) -> Traits:
    """What the choice depends on, of this data."""
    classes = 0 if labels is None or labels.classes is None else len(labels.classes)
    categories = 0 if data.table is None else len(data.table.categories)
    counts = None if data.distances or categories or data.n_columns <= n_components else _counts(data)
    return Traits(data.n, data.n_columns, data.incomplete, categories, classes, n_components, data.distances, counts)


def _counts(data: Data) -> Counts | None:
    named = data.table is not None and data.table.names is not None
    return counts_in(data.rows if data.unscaled is None else data.unscaled, named)


def choose_panel(traits: Traits) -> Panel:
    """The methods that suit the data."""
    reasons: list[str] = []
    names = _first_choice(traits, reasons)
    if traits.n_rows < FEW_ROWS and traits.n_columns > 1:
        names = [name for name in names if find(name).group in FOR_FEW and name not in ESTIMATED]
        names += [] if "mds" in names else ["mds"]
        reasons[:] = [f"{traits.n_rows} rows: only methods that place each row by all others, as they are too few for "
                      "methods on neighbours, and to learn more than directions from"]  # fmt: skip
    if traits.counts is not None:
        _add_ca(names, traits.counts, reasons)
    if traits.incomplete:
        able = [name for name in names if takes_holes(find(name))]
        lost = [name for name in names if name not in able]
        if lost:
            reasons.append(f"cells are missing, which {_and(lost)} cannot take")
        names = able
    rows = not (traits.n_categories or traits.distances)
    if traits.n_classes > traits.reduced and rows and traits.n_rows >= FEW_ROWS:
        names.append("lda")
        reasons.append(f"lda because there are {traits.n_classes} classes (it sees the labels, the others do not)")
    return Panel(tuple(names), tuple(reasons))


def _first_choice(traits: Traits, reasons: list[str]) -> list[str]:
    if traits.distances:
        reasons.append("distances between items: methods that need nothing else")
        return ["classical-mds", "mds", "isomap", "tsne", "umap", "laplacian-eigenmaps"]
    return _mixed(traits, reasons) if traits.n_categories else _numbers(traits, reasons)


def _numbers(traits: Traits, reasons: list[str]) -> list[str]:
    if traits.n_columns == 1:
        reasons.append("one column of numbers is a map already: pca shows it, and nothing is to be reduced")
        return ["pca"]
    names = ["pca", "ica", "factor-analysis", "kernel-pca", "isomap", "tsne", "umap", "laplacian-eigenmaps", "lle"]
    if traits.n_rows > MANY_ROWS:
        names = ["pca", "isomap", "tsne", "umap", "laplacian-eigenmaps", "lle"]
        reasons.append(f"{traits.n_rows:,} rows: only methods that scale to so many")
    elif traits.n_columns > traits.n_rows:
        names.remove("ica")
        names.remove("factor-analysis")
        reasons.append("more columns than rows: without ica and factor-analysis, which are not determined then")
    else:
        reasons.append(f"numbers in {traits.n_columns} columns: linear projections, and methods for curved data")
        if traits.n_columns <= traits.reduced:
            names.remove("factor-analysis")
            reasons.append(f"without factor-analysis, which has no {traits.reduced} factors of so few columns")
    return names


def _add_ca(names: list[str], counts: Counts, reasons: list[str]) -> None:
    """Correspondence analysis, which compares profiles; a row without any count has none."""
    if counts.empty_rows:
        rows = f"{counts.empty_rows} row{' has' if counts.empty_rows == 1 else 's have'} only zeros"
        reasons.append(f"the cells seem to be counts, but {rows}: leave them out to get ca (correspondence analysis)")
        return
    names.insert(1, "ca")
    reasons.append("the cells seem to be counts: ca (correspondence analysis), which compares rows by the shares of "
                   "their columns, not by how much was counted in all")  # fmt: skip


def _mixed(traits: Traits, reasons: list[str]) -> list[str]:
    only = traits.n_categories == traits.n_columns
    first = "mca" if only else "famd"
    kinds = "categories" if only else "numbers and categories"
    reasons.append(f"{kinds}: {first}, and methods on distances with Gower's distance")
    names = [first, "classical-mds", "isomap", "tsne", "umap", "laplacian-eigenmaps"]
    if traits.n_rows > MANY_ROWS:
        names.remove("classical-mds")
        reasons.append(f"{traits.n_rows:,} rows: only methods that scale to so many")
    return names


def takes_holes(method: Method) -> bool:
    """Whether a method takes rows with missing cells, by some value of its parameter `missing`."""
    estimator: Any = method.estimator()
    return hasattr(estimator, "missing") or bool(getattr(estimator, "_takes_nan", False))


def every_method(has_label: bool) -> Panel:
    """All methods that are installed and have what they need, for `methods="all"`."""
    known = [method for method in methods().values() if method.installed]
    names = [method.name for method in known if has_label or not method.target]
    without = [method.name for method in known if method.target and not has_label]
    reasons = [f"all methods; without a label not {_and(without)}"] if without else ["all methods"]
    return Panel(tuple(names), tuple(reasons))


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
