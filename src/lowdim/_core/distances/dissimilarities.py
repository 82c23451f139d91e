"""Dissimilarities from similarities by a named conversion, and between arbitrary items by a pairwise function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowdim._core import params
from lowdim._core.distances import GOWER, Gower, check_dissimilarities, pairwise, real_array
from lowdim._core.distances.labelled import frame_like, labelled
from lowdim._core.runtime import memory

Array = np.ndarray

_TRIED = 12  # pairs for which a function is called in both directions
_ROUNDING = 1e-9  # a correlation of 1 may come out a little above it
SYMMETRIZE = ("mean", "geometric", "min", "max")


def _subtract(most: float) -> Callable[[Array], Array]:
    def convert(S: Array) -> Array:
        _refuse(S - most > _ROUNDING * abs(most), S, f"at most {most:g}")
        return np.maximum(most - S, 0.0)

    return convert


def _absolute(S: Array) -> Array:
    _refuse(np.abs(S) > 1 + _ROUNDING, S, "between -1 and 1")
    return np.maximum(1.0 - np.abs(S), 0.0)


def _reciprocal(S: Array) -> Array:
    _refuse(S <= 0, S, "above 0")
    return 1.0 / S


def _logarithm(S: Array) -> Array:
    _refuse((S <= 0) | (S > 1 + _ROUNDING), S, "above 0 and at most 1")
    return np.maximum(-np.log(S), 0.0)


def _from_largest(S: Array) -> Array:
    return np.nanmax(S) - S


def _inner(S: Array) -> Array:
    own = np.diagonal(S)
    squares = own + own[:, None] - 2.0 * S
    rounding = 1e-9 * np.fmax.reduce(np.abs(own), initial=0.0)
    if np.fmin.reduce(squares, axis=None, initial=0.0) < -rounding:
        i, j = np.unravel_index(int(np.nanargmin(squares)), squares.shape)
        raise ValueError(
            "dissimilarities: conversion='inner' must get inner products, with s_ii + s_jj >= 2 s_ij; items "
            f"{i} and {j} have {own[i]:g} + {own[j]:g} and {S[i, j]:g}."
        )
    return np.sqrt(np.maximum(squares, 0.0))


def _confusion(S: Array) -> Array:
    _refuse(S <= 0, S, "above 0 (add 0.5 to all counts where some are 0)")
    own = np.diagonal(S)
    D = -0.5 * (np.log(S) + np.log(S.T) - np.log(own) - np.log(own)[:, None])
    if np.fmin.reduce(D, axis=None, initial=0.0) < -1e-12:
        i, j = np.unravel_index(int(np.nanargmin(D)), D.shape)
        raise ValueError(
            "dissimilarities: conversion='confusion' must get items that are taken for themselves more often than for "
            f"each other; items {i} and {j} are not."
        )
    return np.maximum(D, 0.0)


def _cooccurrence(S: Array) -> Array:
    _refuse(~(S >= 0), S, "counts, 0 or more, all of them known")
    expected = np.outer(S.sum(axis=1), S.sum(axis=0)) / S.sum()
    if not (expected > 0).all():
        raise ValueError("dissimilarities: conversion='cooccurrence' must get items that occur; some rows are all 0.")
    return expected / (expected + S)


# Of a single similarity, hence for new items too; and of the whole square table.
_CELLWISE: dict[str, Callable[[Array], Array]] = {
    "1-s": _subtract(1.0),
    "sqrt(1-s)": lambda S: np.sqrt(_subtract(1.0)(S)),
    "1-|s|": _absolute,
    "1/s": _reciprocal,
    "-log(s)": _logarithm,
    "sqrt(-log(s))": lambda S: np.sqrt(_logarithm(S)),
}
_WHOLE: dict[str, Callable[[Array], Array]] = {
    "max-s": _from_largest,
    "inner": _inner,
    "confusion": _confusion,
    "cooccurrence": _cooccurrence,
}
_OWN_SYMMETRY = ("confusion",)  # symmetric whatever comes in


def _refuse(bad: Array, S: Array, rule: str) -> None:
    if bad.any():
        i, j = (int(at[0]) for at in np.nonzero(bad))
        raise ValueError(
            f"dissimilarities: similarities must be {rule} under this conversion; got {S[i, j]:g} at ({i}, {j})."
        )


@params.checked("dissimilarities")
def dissimilarities(
    items: Any,
    other: Any = None,
    *,
    metric: Any = None,
    conversion: str | float | None = None,
    symmetrize: str | None = None,
) -> Any:
    """Dissimilarities for ``metric="precomputed"``: from similarities, or of arbitrary items by a pairwise function.

    The conversion from similarities to dissimilarities is never guessed. Of each s on its own, so that new items can
    follow:

    * a number c: c - s, for ratings up to c; "1-s"; "1-|s|", where opposite counts as alike;
    * "sqrt(1-s)", of correlations: Euclidean distances between standardised columns, over sqrt(2 n);
    * "1/s"; "-log(s)", of probabilities; "sqrt(-log(s))", which undoes exp(-d²).

    Of the whole table:

    * "max-s": largest less s; "inner": sqrt(s_ii + s_jj - 2 s_ij), the distances that inner products (a kernel) come
      from;
    * "confusion", of counts or shares "i taken for j": -log sqrt(s_ij s_ji / (s_ii s_jj)) (Luce's rule of choice,
      Shepard's distance);
    * "cooccurrence", of counts: e_ij / (e_ij + s_ij), e_ij being what chance would give (row sum times column sum over
      the total).

    Parameters
    ----------
    items : square table of similarities, or sequence of items
        Numbers between items (arrays, or frames with labels, which are kept); with `metric`, the items themselves:
        text, sets, graphs, rows of a table.
    other : sequence of items, optional
        With `metric`: the fitted items, `items` being new ones. The table then is what `transform` takes.
    metric : callable or str, optional
        A function of two items, called once for each pair (in both directions for a few), or the name of a metric
        between rows, such as "gower" for tables of numbers and categories; its ranges are those of the fitted items.
        It gives dissimilarities, or similarities where a `conversion` is named.
    conversion : str or float, optional
        How similarities become dissimilarities.
    symmetrize : {"mean", "geometric", "min", "max"}, optional
        What to make of s_ij and s_ji where they differ (confusions, flows, votes), before the conversion. Without it,
        an asymmetric table is refused.

    Returns
    -------
    D : ndarray or frame of shape (n, n), or (n, m) with `other`
        With 0 on the diagonal of a square one, whatever an item's similarity with itself was.

    References
    ----------
    Shepard, Stimulus and response generalization, 1957. Mair, Groenen and de Leeuw, More on multidimensional scaling
    and unfolding in R: smacof version 2, 2022.

    Examples
    --------
    >>> import lowdim
    >>> words = ["cat", "cart", "dog"]
    >>> def letters(a, b):
    ...     return len(set(a) ^ set(b))
    >>> lowdim.dissimilarities(words, metric=letters)
    array([[0., 1., 6.],
           [1., 0., 7.],
           [6., 7., 0.]])
    >>> lowdim.dissimilarities(["car"], words, metric=letters)
    array([[2., 1., 6.]])
    >>> lowdim.dissimilarities([[1.0, 0.8], [0.8, 1.0]], conversion="1-s").round(3)
    array([[0. , 0.2],
           [0.2, 0. ]])
    """
    _check_choice(metric, conversion, symmetrize, other)
    names = None
    if metric is None:
        table, names = labelled(items, "dissimilarities")
        S = real_array(table, "dissimilarities: the table of similarities").astype(np.float64)
    else:
        S = _measured(items, other, metric, both=symmetrize is not None, own=conversion is not None)
    if np.isinf(S).any():
        raise ValueError(
            f"dissimilarities: numbers between items must be finite; got {int(np.isinf(S).sum())} infinite."
        )
    square = other is None and S.ndim == 2 and S.shape[0] == S.shape[1]
    D = _converted(_symmetric(S, symmetrize, conversion) if square else S, conversion, square)
    if square:
        np.fill_diagonal(D, 0.0)
        D = check_dissimilarities(D, "dissimilarities", unknown=True)
    return D if names is None or not square else frame_like(items, D, names, rows=True)


def _check_choice(metric: Any, conversion: Any, symmetrize: Any, other: Any) -> None:
    known = (*_CELLWISE, *_WHOLE)
    number = isinstance(conversion, (int, float, np.number)) and not isinstance(conversion, (bool, np.bool_))
    if metric is None and conversion is None:
        raise ValueError(
            "dissimilarities: conversion must be named for a table of similarities (a number or one of "
            f"{', '.join(known)}), or metric given for items; got neither."
        )
    if conversion is not None and not number and not (isinstance(conversion, str) and conversion in known):
        raise ValueError(
            f"dissimilarities: conversion must be a number or one of {', '.join(known)}; got {conversion!r}."
        )
    if symmetrize is not None and not (isinstance(symmetrize, str) and symmetrize in SYMMETRIZE):
        raise ValueError(f"dissimilarities: symmetrize must be one of {', '.join(SYMMETRIZE)}; got {symmetrize!r}.")
    if metric is None and other is not None:
        raise ValueError("dissimilarities: other must go with metric; a table of similarities has both in it.")
    if metric is not None and not callable(metric) and not isinstance(metric, str):
        raise TypeError(f"dissimilarities: metric must be a function of two items or a name; got {metric!r}.")


def _measured(items: Any, other: Any, metric: Any, *, both: bool, own: bool) -> Array:
    """`metric` of all pairs; of i <= j alone where it may be taken to be symmetric."""
    if isinstance(metric, str) and metric == GOWER:
        fitted, table = Gower.of(items if other is None else other, "dissimilarities")
        if other is None:
            return pairwise(table, None, fitted.metric)
        return pairwise(fitted.table(items, "dissimilarities", quiet=True), table, fitted.metric)
    if isinstance(metric, str):
        return pairwise(items, other, metric, owner="dissimilarities").astype(np.float64)
    left = list(items)
    right = left if other is None else list(other)
    memory.check("dissimilarities", {"table": 8 * len(left) * len(right)}, "Take fewer items.")
    S = np.zeros((len(left), len(right)))
    for i, a in enumerate(left):
        start = 0 if other is not None or both else i
        for j in range(start, len(right)):
            if other is None and i == j and not own:
                continue
            S[i, j] = _number(metric(a, right[j]), i, j)
    if other is None and not both:
        _check_both_ways(left, metric, S)
        S += np.triu(S, 1).T
    return S


def _check_both_ways(items: list[Any], metric: Any, S: Array) -> None:
    """ValueError where a function gives something else from j to i than from i to j, on a few of the pairs."""
    for i in np.unique(np.linspace(0, len(items) - 2, _TRIED).astype(int)) if len(items) > 1 else ():
        back = _number(metric(items[i + 1], items[i]), i + 1, i)
        if abs(back - S[i, i + 1]) > 1e-6 * np.abs(S).max():
            raise ValueError(
                f"dissimilarities: metric must be the same in both directions; the function gave {S[i, i + 1]:g} and "
                f"{back:g} for items {i} and {i + 1}. Name what to make of the two with symmetrize=, such as 'mean'."
            )


def _number(value: Any, i: int, j: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"dissimilarities: metric must give a number; got {value!r} for items {i} and {j}.") from None


def _symmetric(S: Array, symmetrize: str | None, conversion: Any) -> Array:
    """S with both halves made one, where that was asked for; refused where it was not and they differ."""
    T = S.T
    if symmetrize == "mean":
        return 0.5 * (S + T)
    if symmetrize == "geometric":
        _refuse(S < 0, S, "0 or more")
        return np.sqrt(S * T)
    if symmetrize is not None:
        return np.minimum(S, T) if symmetrize == "min" else np.maximum(S, T)
    gap = np.abs(S - T)
    worst = float(np.nanmax(gap, initial=0.0))
    if conversion not in _OWN_SYMMETRY and worst > 1e-6 * float(np.nanmax(np.abs(S), initial=0.0)):
        i, j = np.unravel_index(int(np.nanargmax(gap)), gap.shape)
        raise ValueError(
            f"dissimilarities: the table must be symmetric; items {i} and {j} have {S[i, j]:g} and {S[j, i]:g}. Choose "
            f"how to symmetrise them: symmetrize={' or '.join(map(repr, SYMMETRIZE))}."
        )
    return S


def _converted(S: Array, conversion: Any, square: bool) -> Array:
    if conversion is None:
        return S.copy()
    if S.ndim != 2:
        raise ValueError(f"dissimilarities: similarities must be a table; got {S.ndim} dimension(s).")
    if isinstance(conversion, str) and conversion in _WHOLE and not square:
        raise ValueError(
            f"dissimilarities: conversion={conversion!r} needs the square table of all items; got shape {S.shape}. For "
            f"new items use one of {', '.join(_CELLWISE)} or a number."
        )
    rule = (_CELLWISE | _WHOLE)[conversion] if isinstance(conversion, str) else _subtract(float(conversion))
    return rule(S)
