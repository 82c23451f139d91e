"""The rule on structure: is there any, how clear is it, and do the maps show it?"""

from __future__ import annotations

from lowdim.study.verdict.evidence import Evidence
from lowdim.study.verdict.rules.words import between_percents, listed, percent
from lowdim.study.verdict.sentence import Sentence
from lowdim.study.verdict.structure_found import FoundStructure, Nearer

SHUFFLED = "the same columns, each shuffled"


def structure(found: Evidence) -> list[Sentence]:
    """Is there structure at all?"""
    test = found.structure
    if test is None:
        return []
    given = found.reference.kind == "precomputed"
    kept, noise = _kept(test), _noise(test, "the same distances, between other pairs" if given else SHUFFLED)
    shown = f"{kept[0].upper()}{kept[1:]}, {noise}."
    if test.single_columns:
        text = f"{_single(test)} Shuffled, the columns are mapped as well: {kept}, {noise}. Look at them one by one."
    elif not test.related:
        text = f"No structure was found: {kept}, {noise}. Do not read groups from any of these maps."
    elif test.by_maps:
        text = f"{_opening(test, given)} {shown}{_beside_maps(test)}"
    else:
        text = f"{_opening(test, given)} {_nearer(test)}{_what_maps_show(test)}"
    return [Sentence("structure", text, _numbers(test), "evidence-structure")]


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
            f" The maps do not tell the rows from noise: {_kept(test)}, those of noise "
            f"{between_percents(test.lowest, test.null)}. That happens where relations are weak, and where a few "
            "columns hold nearly everything, which are mapped well whatever they are like."
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
        "No relation between columns was found, but single columns have several peaks (as principal components of "
        "groups do) or values far out: "
        f"{_kept(beside)}, those of {beside.n_null} tables of Gaussian rows with the same covariance "
        f"{between_percents(beside.lowest, beside.null)}."
    )


def _numbers(test: FoundStructure) -> dict[str, object]:
    numbers: dict[str, object] = {
        "p_value": test.p_value, "observed": test.observed, "noise": test.null, "noise_lowest": test.lowest,
        "tables": test.n_null, "scale": test.scale, "clear": test.clear,
    }  # fmt: skip
    if test.nearer is not None:
        near = test.nearer
        numbers |= {"map_p_value": test.map_p_value, "nearer": near.share, "nearer_noise": near.null,
                    "nearer_scale": near.scale}  # fmt: skip
    if test.gaussian is not None:
        beside = test.gaussian
        numbers |= {"gaussian_observed": beside.observed, "gaussian": beside.null, "gaussian_lowest": beside.lowest}
    return numbers
