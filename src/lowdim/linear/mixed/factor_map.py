"""Factor maps: coordinates and quality of rows, columns and categories on fitted axes, supplementary ones too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lowdim._core.incomplete import cells
from lowdim._core.tables import missing
from lowdim._core.tables.columns import categories_of, code, is_frame, raw_columns
from lowdim._core.tables.indicators import Layout
from lowdim.linear._decompose import rank_tolerance
from lowdim.linear.mixed._describe import Description, describe
from lowdim.linear.mixed._monitor import Monitoring, monitored
from lowdim.linear.mixed._select import selected
from lowdim.linear.mixed._weighted import place
from lowdim.linear.mixed.famd import FAMD
from lowdim.linear.mixed.mca import MCA
from lowdim.linear.pca.pca import PCA


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Rows, columns or categories on the axes; supplementary ones come after the active ones.

    Attributes
    ----------
    names : list of str
        Their names.
    coordinates : ndarray of shape (m, k)
        Their coordinates.
    cos2 : ndarray of shape (m, k)
        Share of the squared distance to the origin that lies along each axis: how well they are represented.
    contributions : ndarray of shape (m, k)
        Share in the variance of each axis, in percent; NaN for supplementary ones, which have none.
    distances : ndarray of shape (m,)
        Distance to the origin in the whole space; of a column of numbers its standard deviation.
    active : ndarray of bool of shape (m,)
        Whether the axes were made from them.
    correlations : ndarray of shape (m, k) or None
        Of columns of numbers with each axis.
    v_test : ndarray of shape (m, k) or None
        Of categories: how far the mean of their rows is from the origin, in standard deviations of the mean of as many
        rows drawn at random; magnitudes above 2 are significant at about 5 %.
    """

    names: list[str]
    coordinates: np.ndarray
    cos2: np.ndarray
    contributions: np.ndarray
    distances: np.ndarray
    active: np.ndarray
    correlations: np.ndarray | None = None
    v_test: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.names)

    def select(self, rule: str | int, axes: tuple[int, ...] = (0, 1)) -> np.ndarray:
        """Numbers of the points that a rule chooses by their quality on some axes, best first.

        Parameters
        ----------
        rule : str or int
            "cos2 10": the ten best represented; "cos2 0.6": those with a cos2 of at least 0.6; "contribution 10": the
            ten active ones with the largest contributions. A number alone: so many farthest from the origin.
        axes : tuple of ints
            The axes, counted from 0, over which cos2 and contributions (weighted by variance) are summed.

        Returns
        -------
        numbers : ndarray of int
            Of the points chosen.
        """
        return selected(self, rule, axes)

    def __repr__(self) -> str:
        return f"<Points: {len(self)} ({int((~self.active).sum())} supplementary) on {self.coordinates.shape[1]} axes>"


class FactorMap:
    """Individuals, variables and categories on fitted axes, supplementary ones included.

    Supplementary rows and columns do not enter the axes: they are projected on them. A supplementary row is centred and
    scaled as the active ones, a supplementary column of numbers lies at its covariance with the standardised axes (its
    correlation, where columns are scaled), a category at the mean of its rows. The model is left as it is.

    Parameters
    ----------
    model : fitted PCA, FAMD or MCA
        The axes. `PCA(scale=True, ddof=0)` is the usual one; PCA must have been fitted without weights.
    X : array-like or data frame of shape (n, d)
        The rows the model was fitted on. A data frame's index gives the names of the rows. Missing cells are at what
        the model gives for them, and cos2, contributions and distances are those of the completed rows.
    rows : array-like or data frame, optional
        Supplementary rows, with the same columns; missing cells as in X.
    columns : array-like or data frame of n rows, or dictionary of columns, optional
        Supplementary columns of the active rows: numbers or categories; each uses the rows in which it is observed.

    Attributes
    ----------
    individuals, variables, categories : Points
        Rows, columns of numbers, and categories: coordinates, cos2, contributions (percent), distances.
    eigenvalues : ndarray of shape (k,)
        Variance of the active rows along each axis (divisor n).
    shares : ndarray of shape (k,)
        Its share of the total variance.
    eta2 : dict of str to ndarray of shape (k,)
        For each column of categories its correlation ratio with each axis.

    Notes
    -----
    Axes keep the sign of the model (the loading of largest size is positive); FactoMineR makes the sum of the loadings
    positive, so that its axes may point the other way.

    References
    ----------
    Husson, Le and Pages, Exploratory Multivariate Analysis by Example Using R, 2017.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> X = np.random.default_rng(0).standard_normal((30, 4))
    >>> model = lowdim.PCA(2, scale=True, ddof=0).fit(X[:25])
    >>> maps = lowdim.FactorMap(model, X[:25], rows=X[25:], columns=[["a"], ["b"]] * 12 + [["a"]])
    >>> maps
    <FactorMap of PCA: 30 individuals (5 supplementary), 4 variables, 2 categories (2 supplementary), 2 axes>
    >>> maps.categories.names, bool(np.isclose(maps.individuals.contributions[:25].sum(), 200))
    (['s0=a', 's0=b'], True)
    """

    def __init__(self, model: Any, X: Any, *, rows: Any = None, columns: Any = None) -> None:
        if not isinstance(model, (PCA, FAMD, MCA)):
            raise TypeError(f"FactorMap: model must be a fitted PCA, FAMD or MCA; got {type(model).__name__}.")
        check_is_fitted(model)
        self.model = model
        self._active, self._missing = self._weighted(X, "X")
        self._check_active()
        new = self._active[:0] if rows is None else self._weighted(rows, "rows")[0]
        self._new = new
        names = [*_row_names(X, len(self._active)), *([] if rows is None else _row_names(rows, len(new)))]
        self.individuals = self._place_rows(new, names)
        numbers, questions = _split(columns, len(self._active), _column_names(model))
        self.variables = self._place_variables(numbers)
        self.eta2: dict[str, np.ndarray] = {}
        self._questions = {**self._own_questions(), **{name: _indicators(c) for name, c in questions.items()}}
        self.categories = self._place_categories()

    # ---- the active table -----------------------------------------------------------------------------------

    def _weighted(self, X: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
        """Centred, scaled rows, completed, and which of their cells were missing."""
        if sparse.issparse(X):
            raise TypeError(f"FactorMap: {what} must be dense; got sparse rows. Use X.toarray().")
        coded = np.asarray(self.model._check_rows(X, fitting=False)[0], dtype=np.float64)
        D = Layout.of(self.model.categories_).spread(coded) if self._mixed else coded
        T = D - self.model.mean_
        T = T if self.model.scale_ is None else T / self.model.scale_
        return self._completed(T), np.isnan(T)

    def _completed(self, T: np.ndarray) -> np.ndarray:
        """Missing cells at what the axes give for the completed row."""
        if not np.isnan(T).any():
            return T
        V, model = self.model.components_.T, self.model
        if not self._mixed:
            zero = np.zeros(T.shape[1])
            return cells.fill(T, zero, None, V, model.explained_variance_, model.noise_variance_)[0]
        fitted = (place(T, V, model.shrinkage_) * model.shrinkage_) @ V.T
        return np.where(np.isnan(T), fitted, T)

    def _check_active(self) -> None:
        T, V = self._active, self.model.components_.T
        scores, n = T @ V, len(T)
        self._scores, self._lambda = scores, (scores**2).mean(axis=0)
        wanted = self.model.explained_variance_ratio_ * float((T**2).mean(axis=0).sum())
        size = np.sqrt((T**2).mean()) or 1.0
        off = max(np.abs(T.mean(axis=0)).max() / size, np.abs(self._lambda - wanted).max() / (wanted.max() or 1.0))
        if n < 2 or not off < 1e-3:
            raise ValueError(
                "FactorMap: X must be the rows the model was fitted on, all with the same weight; its axes are others. "
                "Give the same table to fit and to FactorMap, and supplementary rows as rows=."
            )
        if not self._lambda.min() > rank_tolerance(n, T.shape[1], np.float64) * self._lambda.max():
            raise ValueError("FactorMap: every axis must have some variance; fit with fewer components.")
        self.eigenvalues = self._lambda / self._stretch**2
        self.shares = self._lambda / float((T**2).mean(axis=0).sum())

    @property
    def _mixed(self) -> bool:
        return not isinstance(self.model, PCA)

    @property
    def _stretch(self) -> float:
        return self.model._stretch() if self._mixed else 1.0

    # ---- rows, columns, categories --------------------------------------------------------------------------

    def _place_rows(self, new: np.ndarray, names: list[str]) -> Points:
        T, n = np.vstack([self._active, new]), len(self._active)
        F = np.vstack([self._scores, new @ self.model.components_.T])
        lengths = np.sqrt((T**2).sum(axis=1))
        contributions = 100 * F**2 / (n * self._lambda)
        contributions[n:] = np.nan
        active = np.arange(len(T)) < n
        return Points(names, F / self._stretch, _ratio(F, lengths), contributions, lengths / self._stretch, active)

    def _place_variables(self, extra: dict[str, np.ndarray]) -> Points:
        """Coordinates are covariances with the standardised axes."""
        names = self.model.column_names_ if self._mixed else _column_names(self.model)
        numeric = Layout.of(self.model.categories_).numeric if self._mixed else np.ones(len(names), dtype=bool)
        further = np.array([x - np.nanmean(x) for x in extra.values()]).reshape(len(extra), len(self._active))
        if self.model.scale_ is not None and len(extra):
            deviation = np.nanstd(further, axis=1, keepdims=True, ddof=getattr(self.model, "ddof", 0))
            further = further / np.where(deviation > 0, deviation, 1.0)
        T = np.vstack([self._active[:, numeric].T, further])
        seen = ~np.isnan(T)
        G = np.where(seen, T, 0.0) @ self._scores / (seen.sum(axis=1, keepdims=True) * np.sqrt(self._lambda))
        lengths, active = np.nanstd(T, axis=1), np.arange(len(T)) < numeric.sum()
        V = self.model.components_.T[numeric]
        contributions = np.vstack([100 * V**2, np.full((len(extra), V.shape[1]), np.nan)])
        found = [name for name, keep in zip(names, numeric, strict=True) if keep]
        correlations = G / np.where(lengths > 0, lengths, 1.0)[:, None]
        return Points([*found, *extra], G, correlations**2, contributions, lengths, active, correlations)

    def _place_categories(self) -> Points:
        """Means of their rows; in MCA divided by the root of the eigenvalue."""
        n, names = len(self._active), [f"{name}={c}" for name, found in self._questions.items() for c in found]
        Z = np.array([rows for found in self._questions.values() for rows in found.values()], dtype=np.float64)
        Z = Z.reshape(len(names), n)
        count = Z.sum(axis=1, keepdims=True)
        means = Z @ self._scores / count
        standard, lengths = means / np.sqrt(self._lambda), np.linalg.norm(Z @ self._active / count, axis=1)
        coordinates = means / self._stretch
        if isinstance(self.model, MCA):
            coordinates, lengths = standard, np.sqrt(n / count[:, 0] - 1)
        V = self.model.components_.T
        V = V[~Layout.of(self.model.categories_).numeric] if self._mixed else V[:0]
        contributions = np.vstack([100 * V**2, np.full((len(names) - len(V), V.shape[1]), np.nan)])
        weight = np.sqrt(count * (n - 1) / np.maximum(n - count, 1))
        owners = np.repeat(np.arange(len(self._questions)), [len(found) for found in self._questions.values()])
        for i, name in enumerate(self._questions):
            own = owners == i
            self.eta2[name] = (count[own] * standard[own] ** 2).sum(axis=0) / count[own].sum()
        active = np.arange(len(names)) < len(V)
        cos2 = _ratio(coordinates * (1.0 if isinstance(self.model, MCA) else self._stretch), lengths)
        return Points(names, coordinates, cos2, contributions, lengths, active, v_test=standard * weight)

    def _own_questions(self) -> dict[str, dict[Any, np.ndarray]]:
        """The active questions: for each category which rows have it."""
        if not self._mixed:
            return {}
        layout, columns = Layout.of(self.model.categories_), _column_names(self.model)
        D = (self._active * self.model.scale_ + self.model.mean_ > 0.5) & ~self._missing
        return {
            columns[j]: dict(zip(found, D[:, layout.parents == j].T, strict=True))
            for j, found in enumerate(layout.categories)
            if found is not None
        }

    def monitor(self, alpha: float = 0.05) -> Monitoring:
        """Hotelling's T² and the squared prediction error (SPE, Q) of every row, with control limits; for PCA.

        T² is the distance of a row from the middle along the axes, in units of their variance, SPE its squared distance
        from the plane that they span, in the units of the (scaled) table.

        Parameters
        ----------
        alpha : float
            Share of new rows of the same process that each limit lets through by chance.

        Returns
        -------
        Monitoring
            ``t2``, ``spe`` (active rows, then supplementary ones), ``t2_limit``, ``spe_limit`` and ``out``.
        """
        if self._mixed:
            raise TypeError(f"FactorMap: monitor must have the axes of PCA; got {type(self.model).__name__}.")
        T = np.vstack([self._active, self._new])
        return monitored(T, len(self._active), self.model.components_.T, self._lambda, alpha)

    # ---- description -------------------------------------------------------------------------------------------

    def describe(self, axis: int = 0) -> Description:
        """Columns and categories that are related to an axis, each with its p value.

        Parameters
        ----------
        axis : int
            Which, from 0.

        Returns
        -------
        Description
            ``variables`` (name, correlation, p value), ``questions`` (name, correlation ratio, p value) and
            ``categories`` (name, difference from the mean of the categories, p value), from the largest value down.
        """
        k = len(self.eigenvalues)
        if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)) or not 0 <= axis < k:
            raise ValueError(f"FactorMap: axis must be a whole number from 0 to {k - 1}; got {axis!r}.")
        assert self.variables.correlations is not None
        related = dict(zip(self.variables.names, self.variables.correlations[:, axis].tolist(), strict=True))
        return describe(self._scores[:, axis] / self._stretch, related, self._questions)

    def __repr__(self) -> str:
        parts = [
            f"{len(points)} {name}" + (f" ({extra} supplementary)" if (extra := int((~points.active).sum())) else "")
            for name, points in (
                ("individuals", self.individuals),
                ("variables", self.variables),
                ("categories", self.categories),
            )
            if len(points)
        ]
        return f"<FactorMap of {type(self.model).__name__}: {', '.join(parts)}, {len(self.eigenvalues)} axes>"


def _ratio(F: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return F**2 / np.where(lengths > 0, lengths, 1.0)[:, None] ** 2


def _row_names(X: Any, n: int) -> list[str]:
    index = getattr(X, "index", None)
    return [str(name) for name in (range(n) if index is None or callable(index) else index)]


def _column_names(model: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def _split(columns: Any, n: int, taken: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Supplementary columns: numbers, and categories."""
    if columns is None:
        return {}, {}
    if isinstance(columns, dict):
        names, found = list(columns), [_one_column(column) for column in columns.values()]
        return _numbers_and_questions(names, found, n, taken)
    if np.ndim(columns) == 1:  # one column alone
        columns = columns.to_frame() if hasattr(columns, "to_frame") else np.asarray(columns)[:, None]
    missing.refuse_disguised(columns, "FactorMap")
    found = raw_columns(columns)
    names = list(columns.columns) if is_frame(columns) else [f"s{j}" for j in range(len(found))]
    return _numbers_and_questions(names, found, n, taken)


def _one_column(column: Any) -> np.ndarray:
    """Of a dictionary: numbers, or anything else as categories."""
    cells = np.asarray(column)
    return raw_columns((cells if cells.dtype.kind in "biuf" else np.asarray(column, dtype=object))[:, None])[0]


def _numbers_and_questions(
    names: Sequence[Any], found: list[np.ndarray], n: int, taken: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    wrong = next((column for column in found if len(column) != n), None)
    if wrong is not None:
        raise ValueError(f"FactorMap: columns must have a value for each of the {n} active rows; got {len(wrong)}.")
    pairs = list(zip(_unique(names, taken), found, strict=True))
    return {a: c for a, c in pairs if c.dtype.kind == "f"}, {a: c for a, c in pairs if c.dtype.kind == "O"}


def _unique(names: Sequence[Any], taken: Sequence[str]) -> list[str]:
    """The names as text, each made unique by a suffix where it is taken."""
    found: list[str] = []
    for name in names:
        base = f"{name} (supplementary)" if str(name) in taken else str(name)
        tries = (base if i == 1 else f"{base} ({i})" for i in count(1))
        found.append(next(text for text in tries if text not in found))
    return found


def _indicators(column: np.ndarray) -> dict[Any, np.ndarray]:
    categories = categories_of(column)
    codes = code(column, categories)
    return {category: codes == i for i, category in enumerate(categories)}
