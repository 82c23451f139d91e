"""Column selection: the columns themselves, instead of mixtures of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.labels import Target, target_of
from lowdim.linear.columns import _criteria as criteria
from lowdim.linear.in_blocks.sums import moments_of_stream


class ColumnSelection(OneToOneFeatureMixin, Reducer):
    """Column selection: keeps the columns that are best by a criterion, as they are.

    A filter scores every column alone: its variance, or its mutual information I(x; y) with labels. A wrapper asks a
    model: recursive feature elimination fits a linear model to the standardised columns, removes the column of the
    smallest squared weight, and repeats. An embedded method reads the importance off a fitted model: how much the
    splits by each column decrease the impurity in a random forest. Labels are used by `fit` alone; select inside a
    pipeline, so that cross-validation does not see the labels of the rows it tests on.

    Parameters
    ----------
    n_components : int
        Number of columns to keep.
    criterion : {"variance", "mutual-information", "rfe", "forest-importance"}
        What the best columns have most of. All but "variance" need `y`. "variance" depends on the units of the
        columns, and is an error where all have the same variance, as after standardising. "mutual-information": of
        each column, taken as continuous, with `y`, from 3 nearest neighbours. "rfe": recursive feature elimination by
        logistic (L2 penalty, C = 1) or ridge (penalty 1) regression. "forest-importance": mean decrease in impurity,
        which favours columns of many different values.
    target : {"auto", "classes", "quantity"}
        What `y` holds. "auto": text, true/false and whole numbers with at most 30 different values are classes, other
        numbers a quantity.
    step : int
        Number of columns that "rfe" removes at a time until `n_components` are left.
    n_trees : int
        Number of trees of "forest-importance".
    random_state : int, generator or None
        Seed; the same int gives the same result. For the trees, and for the noise of "mutual-information" (1e-10) that
        breaks ties.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    selected_ : ndarray of shape (n_components_,)
        Numbers of the columns kept, the best first; of columns with equal scores, the first in the table.
    scores_ : ndarray of shape (n_features,)
        The criterion of every column, larger is better: the variance (divisor n - 1), the mutual information in nats,
        the number of columns eliminated before it, or the importance.
    offset_ : ndarray of shape (n_features,)
        Constants of the inverse transform.
    coef_ : ndarray of shape (n_components_, n_features)
        Weights of the inverse transform, x = offset_ + (z - offset_[selected_]) coef_: columns that were not kept are
        least-squares predictions from those that were; those that were kept come back as they are.
    target_ : str or None
        "classes" or "quantity": what `y` was taken for; None for "variance".
    n_components_ : int
        Number of columns kept.

    Notes
    -----
    "variance" and "mutual-information" take missing cells (NaN): each column is scored over its observed cells, and
    missing cells stay missing in the result. The other two need complete rows. Rows without a label (NaN or None) do
    not take part in the choice, with a warning.

    References
    ----------
    Guyon and Elisseeff, An introduction to variable and feature selection, 2003. Guyon, Weston, Barnhill and Vapnik,
    Gene selection for cancer classification using support vector machines, 2002. Kraskov, Stögbauer and Grassberger,
    Estimating mutual information, 2004. Ross, Mutual information between discrete and continuous data sets, 2014.
    Breiman, Random forests, 2001.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = lowdim.ColumnSelection(2, criterion="rfe").fit(X, X[:, 3] - 2 * X[:, 1])
    >>> model.selected_, model.transform(X).shape
    (array([1, 3]), (200, 2))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "criterion": params.one_of("variance", "mutual-information", "rfe", "forest-importance"),
        "target": params.one_of("auto", "classes", "quantity"),
        "step": params.whole(1),
        "n_trees": params.whole(1),
    }
    _keeps_embedding = False
    _missing_stays = True
    _block_rows = 65536
    _ways_out = "Select on a part of the rows; criterion='variance' needs the least memory."

    def __init__(
        self,
        n_components=2,
        *,
        criterion="variance",
        target="auto",
        step=1,
        n_trees=200,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.criterion = criterion
        self.target = target
        self.step = step
        self.n_trees = n_trees
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _takes_nan(self) -> bool:
        return self.criterion in ("variance", "mutual-information")

    def fit(self, X: Any, y: Any = None) -> ColumnSelection:
        """Choose columns of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Labels: classes or a quantity. Ignored by "variance", required by the other criteria.

        Returns
        -------
        self : ColumnSelection
            The fitted model.
        """
        self._fit_rows(X, y=None if self.criterion == "variance" else y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Choose columns of X and return them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Labels; ignored by "variance".

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            The columns kept, the best first.
        """
        self._refuse_stream(X)
        return self.fit(X, y).transform(X)

    def _embed(self, X: np.ndarray, y: Any = None) -> None:
        k = self._wanted(X.shape[1])
        target = None if self.criterion == "variance" else self._target(y, len(X))
        self.target_ = None if target is None else ("classes" if target.classes else "quantity")
        self.scores_ = self._scores(X, target, k)
        self.selected_ = criteria.best_first(self.scores_, k)
        self.offset_, self.coef_ = criteria.regression(X, self.selected_)
        self.n_components_ = self._n_features_out = k

    @property
    def _embed_batches(self) -> Any:
        """The variance is a sum over the blocks; the other criteria need their rows together."""
        return self._by_sums if self.criterion == "variance" else None

    def _by_sums(self, batches: Any) -> None:
        moments, dtype = moments_of_stream(batches, "ColumnSelection", self._min_rows, self.n_jobs)
        self.n_features_in_, self.target_ = len(moments.mean), None
        k = self._wanted(self.n_features_in_)
        self.scores_ = criteria.variance_of(moments, k, dtype, "ColumnSelection")
        self.selected_ = criteria.best_first(self.scores_, k)
        self.offset_, self.coef_ = criteria.regression_of(moments, self.selected_)
        self.n_components_ = self._n_features_out = k

    def _wanted(self, d: int) -> int:
        if self.n_components > d:
            warn(f"ColumnSelection: n_components={self.n_components} is more than the {d} columns of X; keeping {d}.")
        return min(int(self.n_components), d)

    def _target(self, y: Any, n: int) -> Target:
        if y is None:
            raise ValueError(
                f"ColumnSelection: y must hold a label for each row with criterion={self.criterion!r}; got None. "
                "ColumnSelection requires y to be passed, but the target y is None; without labels use "
                "criterion='variance'."
            )
        target = target_of(y, n, self.target, "ColumnSelection")
        without = n - int(target.labelled.sum())
        if without:
            warn(
                f"ColumnSelection: {without} of {n} rows have no label; columns are chosen by the other "
                f"{n - without} rows."
            )
        return target

    def _scores(self, X: np.ndarray, target: Target | None, k: int) -> np.ndarray:
        """The criterion of every column; all but the variance see standardised columns of the rows with a label."""
        if target is None:
            return criteria.by_variance(X, k, "ColumnSelection")
        Y = criteria.standardized(X[target.labelled])
        if self.criterion == "rfe":
            return criteria.by_elimination(Y, target, k, int(self.step))
        seed = int(generator(self.random_state).integers(2**31 - 1))
        if self.criterion == "mutual-information":
            return criteria.by_mutual_information(Y, target, seed, self.n_jobs, "ColumnSelection")
        return criteria.by_forest(Y, target, int(self.n_trees), seed, self.n_jobs)

    def _extend(self, X: np.ndarray) -> np.ndarray:
        return X[:, self.selected_]

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        X = self.offset_ + (Z - self.offset_[self.selected_]) @ self.coef_
        X[:, self.selected_] = Z
        return X

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns kept, the best first.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of all columns; None: those of the fitted table, or x0, x1, ...

        Returns
        -------
        names : ndarray of str
            The names.
        """
        return super().get_feature_names_out(input_features)[self.selected_]

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        k = min(int(self.n_components), d)
        regression = {"regression on the chosen columns": 8 * (5 * n * (k + 1) + 4 * min(n * d, 2**20))}
        if self.criterion == "variance":
            return regression
        forest = {"trees": 64 * n * self.n_trees} if self.criterion == "forest-importance" else {}
        return {"standardised columns": 3 * n * d * 8, **regression, **forest}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.criterion != "variance"
        return tags
