"""Factor maps: coordinates and quality of rows, columns and categories on fitted axes, supplementary ones too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lowdim._core.tables import missing
from lowdim._core.tables.columns import categories_of, code, is_frame, raw_columns
from lowdim._core.tables.indicators import Layout
from lowdim.linear._decompose import rank_tolerance
from lowdim.linear.mixed._describe import Description, describe
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
        The complete rows the model was fitted on. A data frame's index gives the names of the rows.
    rows : array-like or data frame, optional
        Supplementary rows, with the same columns.
    columns : array-like or data frame of n rows, optional
        Supplementary columns of the active rows: numbers or categories.

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
        self._active = self._weighted(X, "X")
        self._check_active()
        new = self._active[:0] if rows is None else self._weighted(rows, "rows")
        names = [*_row_names(X, len(self._active)), *([] if rows is None else _row_names(rows, len(new)))]
        self.individuals = self._place_rows(new, names)
        numbers, questions = _split(columns, len(self._active), _column_names(model))
        self.variables = self._place_variables(numbers)
        self.eta2: dict[str, np.ndarray] = {}
        self._questions = {**self._own_questions(), **{name: _indicators(c) for name, c in questions.items()}}
        self.categories = self._place_categories()

    # ---- the active table -----------------------------------------------------------------------------------

    def _weighted(self, X: Any, what: str) -> np.ndarray:
        """Centred, scaled rows."""
        if sparse.issparse(X):
            raise TypeError(f"FactorMap: {what} must be dense; got sparse rows. Use X.toarray().")
        coded = np.asarray(self.model._check_rows(_refused(X, what), fitting=False)[0], dtype=np.float64)
        _refuse_holes(coded, what)
        D = Layout.of(self.model.categories_).spread(coded) if self._mixed else coded
        T = D - self.model.mean_
        return T if self.model.scale_ is None else T / self.model.scale_

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
        further = np.array([x - x.mean() for x in extra.values()]).reshape(len(extra), len(self._active))
        deviation = further.std(axis=1, keepdims=True, ddof=getattr(self.model, "ddof", 0))
        if self.model.scale_ is not None:
            further = further / np.where(deviation > 0, deviation, 1.0)
        T = np.vstack([self._active[:, numeric].T, further])
        G = T @ self._scores / (len(self._active) * np.sqrt(self._lambda))
        lengths, active = T.std(axis=1), np.arange(len(T)) < numeric.sum()
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
            self.eta2[name] = (count[owners == i] * standard[owners == i] ** 2).sum(axis=0) / n
        active = np.arange(len(names)) < len(V)
        cos2 = _ratio(coordinates * (1.0 if isinstance(self.model, MCA) else self._stretch), lengths)
        return Points(names, coordinates, cos2, contributions, lengths, active, v_test=standard * weight)

    def _own_questions(self) -> dict[str, dict[Any, np.ndarray]]:
        """The active questions: for each category which rows have it."""
        if not self._mixed:
            return {}
        layout, columns = Layout.of(self.model.categories_), _column_names(self.model)
        D = self._active * self.model.scale_ + self.model.mean_ > 0.5
        return {
            columns[j]: dict(zip(found, D[:, layout.parents == j].T, strict=True))
            for j, found in enumerate(layout.categories)
            if found is not None
        }

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


def _refuse_holes(coded: np.ndarray, what: str) -> None:
    if np.isnan(coded).any():
        raise ValueError(
            f"FactorMap: {what} has {int(np.isnan(coded).sum())} missing values; distances and shares of incomplete "
            "rows are not defined. Complete X first, for example with FAMD(...).fit(X).completed_, and fit the model "
            "on the completed table."
        )


def _refused(X: Any, what: str) -> Any:
    """An error for missing cells that names the argument, before the model asks for complete rows."""
    if is_frame(X) or np.ndim(X) == 2:
        columns = [c if c.dtype.kind == "f" else code(c, categories_of(c)) for c in raw_columns(X)]
        _refuse_holes(np.array(columns), what)
    return X


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
    if np.ndim(columns) == 1:  # one column alone
        columns = columns.to_frame() if hasattr(columns, "to_frame") else np.asarray(columns)[:, None]
    missing.refuse_disguised(columns, "FactorMap")
    found = raw_columns(columns)
    if any(len(column) != n for column in found):
        raise ValueError(f"FactorMap: columns must have a value for each of the {n} active rows; got {len(found[0])}.")
    _refused(columns, "columns")
    names: Sequence[Any] = list(columns.columns) if is_frame(columns) else [f"s{j}" for j in range(len(found))]
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
