"""What FAMD and MCA share as estimators: tables of numbers and categories, completed, transformed and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from lowdim._core import params
from lowdim._core.iterate import Run
from lowdim._core.runtime.notices import warn
from lowdim._core.tables import missing
from lowdim._core.tables.columns import (
    as_cells,
    categories_of,
    decode,
    has_categories,
    is_frame,
    raw_columns,
)
from lowdim._core.tables.form import said_by
from lowdim._core.tables.indicators import Layout
from lowdim._core.tables.mixed import code_column, name_unseen, refuse_dates, unseen_cells, warn_of_unseen
from lowdim.linear.mixed._blocks import found_in, sums_in
from lowdim.linear.mixed._weighted import (
    Axes,
    FillSettings,
    axes_of,
    count_axes,
    fill,
    find_axes,
    place,
    shrinkage,
)

if TYPE_CHECKING:
    from lowdim._core.base import Reducer as _Base
else:
    _Base = object


_THEN = "Such cells are taken as missing: the other columns place the row. unknown='error' refuses them."


class MixedTable(_Base):
    """Comes before `Reducer` among the bases; the method writes `_columns(axes, layout, k)`."""

    n_components: int
    ridge: float
    unknown: str
    missing: str
    max_iter: int
    tol: float
    callback: Any
    n_jobs: int | None
    verbose: int | bool
    _columns: Any  # (axes, layout, k) -> None: set the attributes of the columns

    _hole_policies = ("regularized", "em")
    _all_categories = False  # numbers too are categories
    _keeps_embedding = False
    _block_rows = 8192
    _ways_out = "Join rare categories, or fit on a sample of the rows and transform the others."

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "ridge": params.real(0),
        "unknown": params.one_of("warn", "error", "ignore"),
        "missing": params.one_of("regularized", "em", "error"),
    }

    def __init__(
        self,
        n_components=2,
        *,
        ridge=1.0,
        unknown="warn",
        missing="regularized",
        max_iter=1000,
        tol=1e-6,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.unknown = unknown
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def inverse_transform(self, Z: Any, *, return_outside: bool = False) -> Any:
        """Inverse transform: rows from coordinates, numbers and the most likely category.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates.
        return_outside : bool
            Must be False: the inverse of this method is computed, not learned.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows; an array of objects where columns are categories.
        """
        return decode(super().inverse_transform(Z, return_outside=return_outside), self.categories_)

    @property
    def completed_(self) -> np.ndarray | None:
        """The completed table: numbers, and the most likely category. None where no cell was missing."""
        check_is_fitted(self)
        return None if self.coded_ is None else decode(self.coded_, self.categories_)

    # ---- input ----------------------------------------------------------------------------------------------

    def _probe(self) -> np.ndarray:
        return np.array([[0.0 if found is None else found[0] for found in self.categories_]], dtype=object)

    def _check_rows(self, X: Any, *, fitting: bool) -> tuple[np.ndarray, np.dtype]:
        """Numbers and codes of categories as one float array, NaN for missing cells; the precision of the answer."""
        name, dtype = type(self).__name__, np.dtype(np.float64)
        missing.refuse_sparse(X, name)
        if is_frame(X):
            _refuse_twins(list(X.columns), name)
        if has_categories(X):
            X = self._check_cells(X, fitting)
            columns = raw_columns(X)
        else:
            X, dtype = super()._check_rows(X, fitting=fitting)
            columns = list(X.T.astype(np.float64))
        if fitting:
            kinds = [self._all_categories or column.dtype.kind == "O" for column in columns]
            self.categories_ = [
                categories_of(c) if is_text else None for c, is_text in zip(columns, kinds, strict=True)
            ]
        coded = np.column_stack([self._code(column, j) for j, column in enumerate(columns)])
        if self._takes_nan:
            missing.admit(coded, name, columns=fitting)
        else:
            missing.refuse(coded, name, self._hole_policies)
        coded[self._unseen(coded, columns)] = np.nan
        self._check_range(coded)
        return coded, dtype

    def _check_range(self, coded: np.ndarray) -> None:
        """Numbers whose squares fit, column by column, as they are scaled one by one."""
        for j, found in enumerate(self.categories_):
            column = coded[:, j]
            largest = 0.0 if found else float(np.max(np.abs(column), where=~np.isnan(column), initial=0.0))
            if largest and not 1e-140 < largest < 1e140:
                raise ValueError(
                    f"{type(self).__name__}: the largest value of column {self._name(j)} is {largest:.1e}, and its "
                    "square is out of range. Multiply it by a constant first."
                )

    def _check_cells(self, X: Any, fitting: bool) -> Any:
        """scikit-learn's bookkeeping for tables that are not arrays of floats."""
        name = type(self).__name__
        missing.refuse_disguised(X, name)
        X = X if is_frame(X) else as_cells(X)
        refuse_dates(X, name)
        with said_by(name):
            validate_data(self, X, reset=fitting, skip_check_array=True)
        if len(X) < (self._min_rows if fitting else 1):
            raise ValueError(f"{name}: X must have at least {self._min_rows} rows; got {len(X)} sample(s).")
        return X

    def _code(self, column: np.ndarray, j: int) -> np.ndarray:
        return code_column(column, self.categories_[j], self._name(j), type(self).__name__)

    def _unseen(self, coded: np.ndarray, columns: list[np.ndarray]) -> np.ndarray:
        """Cells whose category was not seen at fit: treated as missing, with or without a warning, or an error."""
        owner, names = type(self).__name__, [self._name(j) for j in range(len(columns))]
        unseen = unseen_cells(coded, self.categories_)
        if unseen.any() and self.unknown == "error":
            raise ValueError(
                f"{owner}: {name_unseen(unseen, columns, names)}. Set unknown='warn' or 'ignore' to treat them as "
                "missing."
            )
        if self.unknown == "warn":
            warn_of_unseen(coded, columns, self.categories_, names, then=_THEN, owner=owner)
        return unseen

    def _name(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(j) if names is None else repr(str(names[j]))

    def _needs(self, X: Any) -> dict[str, int]:
        n, d = np.shape(X)
        if "categories_" in self.__dict__ and len(self.categories_) == d:
            width = len(Layout.of(self.categories_).parents)
        elif has_categories(X) or self._all_categories:
            kinds = [self._all_categories or c.dtype.kind == "O" for c in raw_columns(X)]
            width = sum(len(categories_of(c)) if k else 1 for c, k in zip(raw_columns(X), kinds, strict=True))
        else:
            width = d
        return self._memory(int(n), int(width), 8, None)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        axes = 7 * d * d if n >= d else 5 * n * n + 7 * n * d
        return {"weighted table": 5 * n * d * 8, "axes": axes * 8}

    # ---- fit, transform, inverse transform ---------------------------------------------------------------------

    def _embed(self, X: np.ndarray) -> None:
        name, layout = type(self).__name__, Layout.of(self.categories_)
        D, holes = layout.spread(X), np.isnan(X)
        ridge = 0.0 if self.missing == "em" else self.ridge
        self.n_iter_, self.converged_, self.coded_ = 1, True, None
        if holes.any():
            run = self._fill(X, D, layout, ridge)
            D, self.n_iter_, self.converged_ = run.state, run.n_iter, run.converged
            self.coded_ = np.where(holes, layout.gather(D), X)
        axes = find_axes(D, layout, None, name, self.n_jobs)
        k = self._keep(axes, layout, len(D), ridge)
        self.row_coordinates_ = axes.table(D) @ axes.V[:, :k] / self._stretch()

    def _embed_batches(self, batches: Any) -> None:
        """Two passes over complete blocks; row coordinates are what `transform` gives."""
        name = type(self).__name__
        found = found_in(batches, name, self._all_categories, self._min_rows)
        self.categories_ = list(found.categories)
        self.n_features_in_ = len(self.categories_)
        if found.names is not None:
            self.feature_names_in_ = np.asarray(found.names, dtype=object)
        layout = Layout.of(self.categories_)
        sums = sums_in(batches, self._coded_block, layout, name, self._min_rows)
        self.n_iter_, self.converged_, self.coded_ = 1, True, None
        self._keep(axes_of(sums, layout, name), layout, int(sums.weight), 0.0 if self.missing == "em" else self.ridge)

    def _coded_block(self, block: Any) -> np.ndarray:
        return self._check_rows(block, fitting=False)[0]

    def _keep(self, axes: Axes, layout: Layout, n: int, ridge: float) -> int:
        """The attributes of the axes and the columns; the number of axes kept."""
        k = count_axes(axes, n, self.n_components, type(self).__name__)
        self._warn_of_constants(axes, layout)
        self.n_components_ = self._n_features_out = k
        self.mean_, self.scale_, self.components_ = axes.mean, axes.scale, axes.V[:, :k].T
        self.shrinkage_ = shrinkage(axes, n, k, layout, ridge)
        self.explained_variance_ratio_ = axes.values[:k] / axes.total
        self.contributions_ = 100 * axes.V[:, :k] ** 2
        width = len(self.categories_)
        self.column_names_ = layout.names(getattr(self, "feature_names_in_", [f"x{j}" for j in range(width)]))
        self._columns(axes, layout, k)
        return k

    def _fill(self, X: np.ndarray, D: np.ndarray, layout: Layout, ridge: float) -> Run[np.ndarray]:
        """Complete the weighted columns D of X; the callback sees the table itself."""
        holes, categories = np.isnan(X), self.categories_

        def show(D: np.ndarray) -> np.ndarray:
            return decode(np.where(holes, layout.gather(D), X), categories)

        settings = FillSettings(
            ridge=ridge,
            max_iter=self.max_iter,
            tol=self.tol,
            owner=type(self).__name__,
            n_jobs=self.n_jobs,
            callback=self.callback,
            verbose=self.verbose,
        )
        return fill(D, layout, self._most(D, layout), settings, show)

    def _most(self, D: np.ndarray, layout: Layout) -> int:
        """Axes that the completion may use: one fewer than there are, or missing cells would not be determined."""
        return max(1, min(self.n_components, min(len(D) - 1, D.shape[1] - layout.n_questions) - 1))

    def _warn_of_constants(self, axes: Axes, layout: Layout) -> None:
        single = [found is not None and len(found) < 2 for found in self.categories_]
        flat = layout.numeric & (np.abs(axes.V).max(axis=1, initial=0.0) < 1e-14) & (axes.scale == 1.0)
        if any(single) or flat.any():
            warn(
                f"{type(self).__name__}: {sum(single) + int(flat.sum())} of {len(single)} columns are constant; they "
                "are ignored."
            )

    def _stretch(self) -> float:
        """What coordinates are divided by."""
        return 1.0

    def _extend(self, X: np.ndarray) -> np.ndarray:
        T = (Layout.of(self.categories_).spread(X) - self.mean_) / self.scale_
        return place(T, self.components_.T, self.shrinkage_) / self._stretch()

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        D = self.mean_ + (Z * self._stretch()) @ self.components_ * self.scale_
        return Layout.of(self.categories_).gather(D)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _refuse_twins(names: list[Any], owner: str) -> None:
    """Results are reported by the names of the columns."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"{owner}: the columns of X must have different names; {names.count(twice)} are called {twice!r}. Rename "
            "all but one, or leave them out."
        )
