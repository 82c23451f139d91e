"""The number of components, by several rules.

No rule is right for all data. Shares of the variance tell how much is preserved, the broken stick and parallel analysis
how much is more than chance, cross-validation how many components predict cells that were left out. If the rules agree,
the answer is safe; if they do not, the plot shows why.

    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> lowdim.select.n_components(X, rules=["share", "drop"]).choices
    {'share 0.85': 3, 'share 0.9': 3, 'drop': None}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from lowdim._core import params
from lowdim._core.incomplete.rank import gcv, in_own_units, k_fold, most_components
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum.singular import svd
from lowdim._core.streams import refuse_streams
from lowdim._core.tables import missing
from lowdim._core.tables.columns import has_categories
from lowdim._core.tables.kinds import naming_text
from lowdim.select import _component_rules as rules_of
from lowdim.select._axes import coded_table, kfold_axes
from lowdim.select._component_rules import Verdict

__all__ = ["ComponentChoice", "n_components"]

RULES = (
    "share", "error", "drop", "kaiser", "broken-stick", "parallel", "minka", "map", "gcv", "smooth", "kfold",
)  # fmt: skip
# Rules that predict cells: the only ones for incomplete rows, whose covariance has no exact eigenvalues.
RULES_FOR_INCOMPLETE = ("gcv", "kfold")
LONG = 30.0  # seconds of processor time that are announced before they are spent


@dataclass(frozen=True, eq=False, repr=False)
class ComponentChoice:
    """The number of components by each rule.

    Attributes
    ----------
    verdicts : dict of str to Verdict
        For each rule its ``choice``, a ``note`` and the ``curve`` of its criterion.
    eigenvalues : ndarray of shape (min(n - 1, d),) or None
        Variances of all components, largest first. None if cells are missing.
    kmo : float or None
        Kaiser, Meyer and Olkin's measure: near 1 a few factors explain the columns, below 0.5 there is little to
        reduce. None if correlations are not defined or cannot be inverted, or cells are missing.
    kmo_per_column : ndarray of shape (d,) or None
        The same for each column.
    bartlett : tuple of (float, int, float) or None
        Test that all correlations are 0: chi squared, degrees of freedom, p value.
    """

    verdicts: dict[str, Verdict]
    eigenvalues: np.ndarray | None
    kmo: float | None
    kmo_per_column: np.ndarray | None
    bartlett: tuple[float, int, float] | None

    @property
    def choices(self) -> dict[str, int | None]:
        """The number of components by each rule; None if a rule has no answer."""
        return {name: verdict.choice for name, verdict in self.verdicts.items()}

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """The curves of the rules that have one."""
        return {name: v.curve for name, v in self.verdicts.items() if v.curve is not None}

    @property
    def median(self) -> int | None:
        """The median of all answers (the lower of two)."""
        found = sorted(choice for choice in self.choices.values() if choice is not None)
        return found[(len(found) - 1) // 2] if found else None

    @property
    def agreed(self) -> int | None:
        """The number that all rules with an answer agree on; None if they do not."""
        found = {choice for choice in self.choices.values() if choice is not None}
        return found.pop() if len(found) == 1 else None

    def plot(self) -> Any:
        """Draw the eigenvalues with the thresholds of the rules (or their criteria), and the choice of each rule.

        Returns
        -------
        matplotlib Figure
            The figure.
        """
        import lowdim

        return lowdim.plot.component_choice(self)

    def _verdict(self) -> str:
        if self.agreed is not None:
            return f"all rules agree on {self.agreed}"
        found = [choice for choice in self.choices.values() if choice is not None]
        if not found:
            return "no rule has an answer"
        return f"the rules disagree: from {min(found)} to {max(found)}, median {self.median}"

    def _diagnostics(self) -> str:
        if self.kmo is None or self.bartlett is None:
            return ""
        return f"KMO {self.kmo:.2f}; Bartlett p = {self.bartlett[2]:.2g}"

    def __repr__(self) -> str:
        width = max(map(len, self.verdicts))
        lines = [
            f"  {name:<{width}}  {'-' if v.choice is None else v.choice:>3}  {v.note}"
            for name, v in self.verdicts.items()
        ]
        return "\n".join([f"Number of components: {self._verdict()}", *lines, *filter(None, [self._diagnostics()])])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{'-' if v.choice is None else v.choice}</td>"
            f"<td style='text-align:left'>{escape(v.note)}</td></tr>"
            for name, v in self.verdicts.items()
        )
        head = f"<caption>Number of components: {escape(self._verdict())}. {escape(self._diagnostics())}</caption>"
        return f"<table>{head}<tr><th>rule</th><th>choice</th><th>why</th></tr>{rows}</table>"


@params.checked("n_components")
def n_components(
    X: Any,
    *,
    rules: Sequence[str] | None = None,
    scale: bool = False,
    shares: Sequence[float] = (0.85, 0.9),
    max_error: float = 0.05,
    null: str = "permutation",
    quantile: float = 0.95,
    n_draws: int = 50,
    n_folds: int = 10,
    random_state: Any = None,
) -> ComponentChoice:
    """Choose the number of principal components by several rules.

    * share: the fewest components with more than a share of the variance; error: that lose less than a share.
    * drop: up to the largest drop of the eigenvalues on a log scale, if it is at least a factor of two.
    * kaiser: eigenvalues above their mean; broken-stick: above the expected lengths of the parts of a stick broken
      at random.
    * parallel: parallel analysis (Horn), eigenvalues above those of tables with permuted columns.
    * minka: the largest evidence of probabilistic PCA; needs at least as many rows as columns.
    * map: the lowest mean squared partial correlation (Velicer), always of scaled columns.
    * gcv: generalised cross-validation; smooth: approximate leave-one-cell-out cross-validation; kfold: cells of
      left-out rows predicted from the other cells of their row.

    With missing cells (NaN) only the rules that predict cells have an answer: gcv over the observed cells (as in
    missMDA), and kfold with one cell in `n_folds` removed at random, `n_folds` times. Both use the regularised
    completion of ``PCA``. For tables with categories (text, truth values) the components are the axes of ``FAMD``, or
    of ``MCA`` where all columns are categories, and kfold removes cells in the same way (as in missMDA).

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        The rows; NaN for missing cells. Columns of categories are recognised by their type.
    rules : sequence of str, optional
        The rules to use; all by default. "parallel" and "kfold" take longest.
    scale : bool
        Divide each column by its standard deviation first, as ``PCA(scale=True)`` does.
    shares : sequence of float
        The shares for rule "share".
    max_error : float
        The share that may be lost, for rule "error".
    null : {"permutation", "gaussian"}
        Tables for "parallel": with permuted columns, or with Gaussian columns of the same variances.
    quantile : float
        Quantile of the eigenvalues of these tables that is the threshold.
    n_draws : int
        Number of these tables.
    n_folds : int
        Number of folds for "kfold".
    random_state : int, generator or None
        Seed; the same int gives the same result. Used by "parallel" and "kfold".

    Returns
    -------
    ComponentChoice
        The answers, their criteria, and two measures of whether the columns are correlated at all.

    References
    ----------
    Horn (1965), Psychometrika 30. Velicer (1976), Psychometrika 41. Minka (2000), Automatic choice of dimensionality
    for PCA. Bro et al. (2008), Analytical and Bioanalytical Chemistry 390. Josse and Husson (2012), Computational
    Statistics and Data Analysis 56.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 8)) + 0.1 * rng.standard_normal((100, 8))
    >>> found = lowdim.select.n_components(X, random_state=0)
    >>> found.median
    2
    """
    wanted, given = _wanted(rules), locals()
    params.check("n_components", given, _SETTINGS)
    refuse_streams(X, "n_components: X")
    if has_categories(X):
        return _with_categories(X, wanted, n_folds, generator(random_state))
    X = missing.undisguised(X, "n_components")
    missing.refuse_disguised(X, "n_components")
    with naming_text(X, "n_components"):
        X = check_array(X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2, input_name="X")
    if np.isnan(X).any():
        return _incomplete(X, wanted, scale, n_folds, generator(random_state))
    Z, R = _prepare(X, scale)
    rng, (n, d) = generator(random_state), Z.shape
    values = _spectrum(Z)
    if not values[0] > 0:
        raise ValueError(f"n_components: X must have at least two different rows; all {n} are equal.")
    answers: dict[str, Callable[[], Verdict]] = {
        **{f"share {tau:g}": partial(rules_of.share, values, tau) for tau in shares},
        f"error {max_error:g}": partial(_error, values, max_error),
        "drop": lambda: rules_of.drop(values[: np.count_nonzero(np.ptp(X, axis=0))]),
        "kaiser": lambda: rules_of.kaiser(values, d),
        "broken-stick": lambda: rules_of.broken_stick(values),
        "parallel": lambda: rules_of.parallel(values, _null(Z, null, n_draws, scale, rng), quantile),
        "minka": lambda: rules_of.minka(values, n, d),
        "map": lambda: Verdict(None, "needs columns that are not constant") if R is None else rules_of.velicer(R),
        "gcv": lambda: rules_of.gcv(values, n, d),
        "smooth": lambda: rules_of.smooth(Z),
        "kfold": lambda: rules_of.kfold(Z, n_folds, rng),
    }
    verdicts = {name: rule() for name, rule in answers.items() if name.split()[0] in wanted}
    return ComponentChoice(verdicts, values, *_measures(R, n))


_SETTINGS = {
    "scale": params.flag(),
    "shares": params.Rule(
        "a list of shares between 0 and 1",
        lambda v: np.ndim(v) == 1 and len(v) > 0 and all(map(params.share().accepts, v)),
    ),
    "max_error": params.share(),
    "null": params.one_of("permutation", "gaussian"),
    "quantile": params.share(),
    "n_draws": params.whole(1),
    "n_folds": params.whole(2),
    "random_state": params.seed(),
}


def _wanted(rules: Sequence[str] | None) -> tuple[str, ...]:
    if rules is None:
        return RULES
    if isinstance(rules, str) or not np.ndim(rules) or not len(rules):
        raise ValueError(f"n_components: rules must be a list of at least one of {', '.join(RULES)}; got {rules!r}.")
    for rule in rules:
        if not isinstance(rule, str) or rule not in RULES:
            raise ValueError(f"n_components: rules must be among {', '.join(RULES)}; got {rule!r}.")
    return tuple(rules)


def _incomplete(
    X: np.ndarray, wanted: tuple[str, ...], scale: bool, n_folds: int, rng: np.random.Generator
) -> ComponentChoice:
    """Rules that predict cells, for incomplete rows; the notes of the others say why they have no answer."""
    missing.admit(X, "n_components")
    if not np.nanstd(X, axis=0).max() > 0:
        raise ValueError(
            f"n_components: X must have at least two different rows; all {len(X)} are equal in their observed cells."
        )
    X = in_own_units(X) if scale else X
    answers = {"gcv": partial(_incomplete_gcv, X, scale), "kfold": partial(_incomplete_kfold, X, scale, n_folds, rng)}
    unknown = Verdict(None, f"needs complete rows; with missing cells only {' and '.join(RULES_FOR_INCOMPLETE)} apply")
    verdicts = {rule: answers[rule]() if rule in answers else unknown for rule in RULES if rule in wanted}
    return ComponentChoice(verdicts, None, None, None, None)


def _with_categories(X: Any, wanted: tuple[str, ...], n_folds: int, rng: np.random.Generator) -> ComponentChoice:
    """Axes of FAMD, or of MCA where all columns are categories, by removed cells."""
    coded, layout = coded_table(X, "n_components")
    unknown = Verdict(None, "needs numbers; for tables with categories only kfold applies")
    verdicts = {
        rule: kfold_axes(coded, layout, n_folds, rng) if rule == "kfold" else unknown
        for rule in RULES
        if rule in wanted
    }
    return ComponentChoice(verdicts, None, None, None, None)


def _incomplete_gcv(X: np.ndarray, scale: bool) -> Verdict:
    found = gcv(X, scale=scale, early=True)
    note = "generalised cross-validation of the observed cells: its lowest value"
    return Verdict(found.n_components, note, found.criterion, "criterion")


def _incomplete_kfold(X: np.ndarray, scale: bool, n_folds: int, rng: np.random.Generator) -> Verdict:
    """Few numbers of components are tried: each takes `n_folds` fits."""
    most = most_components(X)
    if most < 1:
        return Verdict(None, "needs at least three rows and two columns")
    found = k_fold(X, most, n_repeats=n_folds, share=1 / n_folds, scale=scale, early=True, announce=_announce, rng=rng)
    note = f"one observed cell in {n_folds} removed at random, {n_folds} times: the lowest sum of squared errors"
    return Verdict(found.n_components, note, found.criterion, "criterion")


def _announce(seconds: float) -> None:
    if seconds > LONG:
        warn(
            f"n_components: rule 'kfold' takes up to about {seconds:.0f} s of processor time for these cells. Fewer "
            "n_folds take less, and rules=['gcv'] fits each number of components once."
        )


def _prepare(X: np.ndarray, scale: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """Centred (and scaled) rows, and their correlations if no column is constant."""
    missing.refuse_scale(missing.refuse(X, "n_components"), "n_components")
    Z = X - X.mean(axis=0)
    deviation = np.sqrt((Z**2).sum(axis=0) / (len(Z) - 1))
    constant = deviation <= 1e-14 * np.abs(X).max(axis=0)
    scaled = Z / np.where(constant, 1.0, deviation)
    R = None if constant.any() else scaled.T @ scaled / (len(Z) - 1)
    return (scaled if scale else Z), R


def _spectrum(X: np.ndarray) -> np.ndarray:
    """Eigenvalues of the covariance, as many as can be positive."""
    n, d = X.shape
    Z = X - X.mean(axis=0)
    return svd(Z, min(n - 1, d), owner="n_components").values ** 2 / (n - 1)


def _null(Z: np.ndarray, null: str, draws: int, scale: bool, rng: np.random.Generator) -> np.ndarray:
    """Eigenvalues of tables like Z with independent columns, one table in each row."""
    deviation = Z.std(axis=0, ddof=1)

    def table() -> np.ndarray:
        if null == "permutation":
            return rng.permuted(Z, axis=0)
        X = rng.standard_normal(Z.shape)
        return X / X.std(axis=0, ddof=1) if scale else X * deviation

    return np.array([_spectrum(table()) for _ in range(draws)])


def _error(values: np.ndarray, max_error: float) -> Verdict:
    choice = rules_of.share(values, 1 - max_error).choice
    return Verdict(choice, f"the fewest components that lose less than {max_error:g} of the variance")


def _measures(R: np.ndarray | None, n: int) -> tuple[Any, Any, Any]:
    """KMO and Bartlett's test, if the correlations can be inverted."""
    if R is None or len(R) < 2 or np.linalg.cond(R) > 1e12:
        return None, None, None
    overall, each = rules_of.kmo(R)
    return overall, each, rules_of.bartlett(R, n)
