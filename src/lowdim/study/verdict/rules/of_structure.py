"""The rules on structure: is there any, how clear is it, do the maps show it, and is it an order of the table?"""

from __future__ import annotations

from lowdim.study.verdict.evidence import Evidence
from lowdim.study.verdict.rules.words import between_percents, listed, named_rows, percent
from lowdim.study.verdict.sentence import Sentence
from lowdim.study.verdict.structure_found import FoundStructure, Nearer, Without

SHUFFLED = "the same columns, each shuffled"


def structure(found: Evidence) -> list[Sentence]:
    """Is there structure at all?"""
    test = found.structure
    if test is None:
        return []
    given = found.reference.kind == "precomputed"
    kept, noise = _kept(test), _noise(test, "the same distances, between other pairs" if given else SHUFFLED)
    shown = f"{kept[0].upper()}{kept[1:]}, {noise}."
    if test.by_few_rows:
        text = _few(found, test)
    elif test.single_columns:
        text = (
            f"No relation between columns was found: {kept}, {noise}. {_single(test)} Look at the columns one by one."
        )
    elif not test.related:
        text = f"No structure was found: {kept}, {noise}. Do not read groups from any of these maps."
    elif test.by_maps:
        text = f"{_opening(test, given)} {shown}{_beside_maps(test)}"
    else:
        text = f"{_opening(test, given)} {_nearer(test)}{_what_maps_show(test)}"
    if test.without is not None and test.clear and not (test.by_few_rows or test.without.found.clear):
        text += f" Without {_which(found, test.without)} the lead is narrow (p = {test.without.found.p_value:.2f})."
    return [Sentence("structure", text, _numbers(test), "evidence-structure")]


def _few(found: Evidence, test: FoundStructure) -> str:
    """Structure that is gone without a few rows."""
    assert test.without is not None
    rest = test.without.found
    return (
        f"There is structure (p = {test.p_value:.2f}) only with {_which(found, test.without).removesuffix(',')}. "
        f"Without, none was found: {_kept(rest)}, {_noise(rest, SHUFFLED)}. Do not read groups from any of these maps."
    )


def _which(found: Evidence, without: Without) -> str:
    """The rows that could make structure by themselves."""
    far, copies = without.far, without.copies
    what = [f"{copies:,} {'row that repeats' if copies == 1 else 'rows that repeat'} another one"] if copies else []
    if len(far):
        stand = "1 row that stands" if len(far) == 1 else f"{len(far):,} rows that stand"
        what.append(f"{stand} far from all others, {named_rows(found, far)},")
    return " and ".join(what)


def _opening(test: FoundStructure, given: bool) -> str:
    how = "clearly" if test.clear else "by a narrow lead"
    return f"There is structure, {how}{'' if given else ': columns are related'}."


def _kept(test: FoundStructure) -> str:
    share = percent(test.observed)
    return f"the {test.method} map keeps {share} of each row's {test.scale} nearest rows beyond chance"


def _noise(test: FoundStructure, made: str) -> str:
    """What maps of noise keep, and how the p-value came about."""
    signs = [f"the maps by {listed(list(test.methods))}" if len(test.methods) > 1 else "the map"]
    signs += [] if test.nearer is None else ["distances"]
    looked = f"; {', and '.join(signs)}, were tested together" if test.nearer is not None else ""
    if test.nearer is None and len(test.methods) > 1:
        looked = f"; {signs[0]} were tested together"
    return (
        f"its maps of {test.n_null} tables of noise ({made}) {between_percents(test.lowest, test.null)} "
        f"(p = {test.p_value:.2f}{_least(test)}; {test.n_rows:,} rows{looked})"
    )


def _least(test: FoundStructure) -> str:
    return f", the least that {test.n_null} tables can show" if test.as_much == 0 else ""


def _beside_maps(test: FoundStructure) -> str:
    """What is added to the numbers of the maps where these alone lead by little."""
    if not test.clear:
        return f" {_narrow(test)}"
    if test.map_leads:
        return ""
    return f" The lead of the map is narrow, that of the distances is not: {_shorter(test)}."


def _narrow(test: FoundStructure) -> str:
    """What a narrow lead means."""
    if not test.as_much:
        return "The lead is less than tables of noise differ from each other: part of what the maps show is chance."
    stand = "stands" if test.as_much == 1 else "stand"
    return (
        f"{test.as_much} of the tables of noise {stand} out as much: little of what the maps show is more than chance. "
        "Look for it in the columns too."
    )


def _nearer(test: FoundStructure) -> str:
    """The distances of the rows beside those of noise, as a sentence of its own."""
    shorter = _shorter(test)
    text = (
        f"{shorter[0].upper()}{shorter[1:]}: {test.n_null} tables of noise, {SHUFFLED} (p = {test.p_value:.2f}"
        f"{_least(test)}; {test.n_rows:,} rows)."
    )
    return text if test.clear else f"{text} {_narrow(test)}"


def _shorter(test: FoundStructure) -> str:
    near: Nearer | None = test.nearer
    assert near is not None
    return (
        f"each row's {near.scale} nearest rows lie within a distance that is {_share(near.share)} shorter than in "
        f"noise on average (in single tables of noise up to {_share(max(near.null, 0.0))})"
    )


def _share(value: float) -> str:
    """A percentage, with a decimal where it is small."""
    return f"{100 * value:.1f} %" if value < 0.1 else f"{100 * value:.0f} %"


def _what_maps_show(test: FoundStructure) -> str:
    """Whether the maps show structure that they do not show beside shuffled columns."""
    if test.gaussian is None or not test.beyond_gaussian:
        return (
            f" By the neighbours that they keep, the maps do not tell the rows from noise: {_kept(test)}, those of "
            f"noise {between_percents(test.lowest, test.null)}. That happens where relations are weak, where groups "
            "are small, and where a few columns hold nearly everything, which are mapped well whatever they are like."
        )
    beside = test.gaussian
    return (
        " Shuffled columns are mapped as well here, as they make groups of their own; that happens with principal "
        f"components. Beside Gaussian rows with the same covariance ({beside.n_null} tables) the maps show it: "
        f"{_kept(beside)}, those of such noise {between_percents(beside.lowest, beside.null)}."
    )


def _single(test: FoundStructure) -> str:
    """What maps show where columns have nothing to do with each other."""
    assert test.gaussian is not None
    beside = test.gaussian
    return (
        "Single columns have several peaks (as principal components of groups do), few different values or values far "
        f"out, and maps show that: {_kept(beside)}, those of {beside.n_null} tables of Gaussian rows with the same "
        f"covariance {between_percents(beside.lowest, beside.null)}."
    )


def order(found: Evidence) -> list[Sentence]:
    """Do rows follow each other in the table as in a series?"""
    if found.order is None or not found.order.tells:
        return []
    share = percent(found.order.share)
    text = (
        f"Rows that follow each other in the table are alike: for {share} of {found.order.n_rows:,} rows the next one "
        "is nearer than the one after it (by chance 50 %). If rows come in an order of time or place, or several of "
        "them from one thing, groups may be no more than that, and less is certain than p-values and intervals say, "
        "which take rows for independent."
    )
    numbers = {"share": found.order.share, "p_value": found.order.p_value, "rows": found.order.n_rows}
    return [Sentence("order", text, numbers, "evidence-order")]


def _numbers(test: FoundStructure) -> dict[str, object]:
    numbers: dict[str, object] = {
        "p_value": test.p_value, "observed": test.observed, "noise": test.null, "noise_lowest": test.lowest,
        "tables": test.n_null, "scale": test.scale, "clear": test.clear,
    }  # fmt: skip
    if test.nearer is not None:
        near = test.nearer
        numbers |= {"map_p_value": test.map_p_value, "nearer": near.share, "nearer_noise": near.null,
                    "nearer_scale": near.scale}  # fmt: skip
    if test.without is not None:
        rest = test.without
        numbers |= {"without": len(rest.far) + rest.copies, "without_p_value": rest.found.p_value}
    if test.gaussian is not None:
        beside = test.gaussian
        numbers |= {"gaussian_observed": beside.observed, "gaussian": beside.null, "gaussian_lowest": beside.lowest}
    return numbers
