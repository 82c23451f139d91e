"""Multiple correspondence analysis: principal components of categories."""

from __future__ import annotations

import numpy as np

from lowdim._core.base import Reducer
from lowdim.linear.mixed._mixed import MixedTable
from lowdim.linear.mixed._weighted import Axes, Layout


class MCA(MixedTable, Reducer):
    """Multiple correspondence analysis: a map of rows and categories, for questionnaires and the like.

    Each category with proportion p is a column (1 or 0, less p) / sqrt(p); with T the table of all of them and Q
    questions, the axes v solve T'T/(nQ) v = lambda v and a row has the coordinates V't / sqrt(Q). Rows that share rare
    answers are close; a category lies at the mean of its rows, divided by sqrt(lambda). Every column counts as
    categories, numbers too: for numbers beside categories use :class:`FAMD`.

    Parameters
    ----------
    n_components : int
        Axes to keep.
    missing : {"regularized", "em", "error"}
        Cells that are not there: filled, iteratively, with what the axes of the filled table say, shrunk by the noise
        ("regularized") or not ("em"); or refused. To keep "no answer" as an answer, write it into the table.
    ridge : float
        Multiplies the noise that "regularized" shrinks by.
    unknown : {"error", "ignore"}
        A category that was not there at fit: an error, or as good as missing.
    tol : float
        Filling stops when the error of the cells that are there changes by less than this part.
    max_iter : int
        Most steps of filling.
    random_state : int, generator or None
        Not used: nothing here is random. There for pipelines.
    n_jobs : int or None
        Threads for the sums; None means all cores. Results do not depend on it.

    Attributes
    ----------
    row_coordinates_ : ndarray of shape (n_samples, n_components_)
        Where the fitted rows are.
    column_coordinates_ : ndarray of shape (n_columns, n_components_)
        Where the categories are.
    column_names_ : list of str
        "column=category": the rows of the other column attributes.
    contributions_ : ndarray of shape (n_columns, n_components_)
        Share of each category in each axis, in percent.
    cos2_ : ndarray of shape (n_columns, n_components_)
        Share of each category's squared distance to the middle, 1/p - 1, that lies along each axis.
    relations_ : ndarray of shape (n_features_in_, n_components_)
        Correlation ratio of each question with each axis; their mean is the eigenvalue.
    eigenvalues_ : ndarray
        Variances along all axes. They look small: most of the total is a product of the coding.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their share of the total, for the same reason an understatement.
    adjusted_eigenvalues_ : ndarray
        (Q/(Q-1))^2 (lambda - 1/Q)^2 for each lambda above 1/Q: the part that is no product of the coding.
    benzecri_ratio_, greenacre_ratio_ : ndarray
        Their share of their own sum (too optimistic) and of the mean inertia of pairs of questions (fair).
    components_, mean_, scale_ : ndarray
        Axes, and what is subtracted from and divided by in each 0/1 column.
    categories_ : list
        For each column of the table its categories.
    shrinkage_ : ndarray of shape (n_components_,)
        What cells that are not there are filled with keeps this part of each axis.
    coded_ : ndarray of shape (n_samples, n_features_in_) or None
        The filled table with positions in `categories_`; None where it had no holes. `completed_` is the same in words.
    n_components_, n_iter_, converged_ : int, int, bool
        Axes kept, steps of filling, whether it reached `tol`.

    References
    ----------
    Greenacre, Correspondence Analysis in Practice, 2007. Josse, Chavent, Liquet and Husson, Handling missing values
    with regularized iterative multiple correspondence analysis, 2012.

    Examples
    --------
    >>> import lowdim
    >>> answers = [["tea", "milk"], ["tea", "lemon"], ["coffee", "milk"], ["coffee", "black"], ["tea", "lemon"]]
    >>> model = lowdim.MCA(2).fit(answers)
    >>> model.row_coordinates_.shape, model.column_names_[:2]
    ((5, 2), ['x0=coffee', 'x0=tea'])
    """

    _all_categories = True

    def _stretch(self) -> float:
        return float(np.sqrt(len(self.categories_)))

    def _columns(self, axes: Axes, layout: Layout, k: int) -> None:
        V, values, Q = axes.V[:, :k], axes.values, layout.n_questions
        self.eigenvalues_ = values / Q
        self.column_coordinates_ = V * np.sqrt(values[:k]) / axes.scale[:, None]
        lengths = np.maximum(1 / axes.scale**2 - 1, 0.0)[:, None]
        self.cos2_ = self.column_coordinates_**2 / np.where(lengths > 0, lengths, 1.0)
        self.relations_ = np.zeros((Q, k))
        np.add.at(self.relations_, layout.parents, values[:k] * V**2)
        self._adjust(Q, len(axes.mean))

    def _adjust(self, Q: int, J: int) -> None:
        """Inertias freed of what the coding adds (Benzecri, 1979), and their shares (Greenacre, 2007)."""
        above = self.eigenvalues_[self.eigenvalues_ > 1 / Q * (1 + 1e-12)] if Q > 1 else self.eigenvalues_[:0]
        self.adjusted_eigenvalues_ = (Q / max(Q - 1, 1)) ** 2 * (above - 1 / Q) ** 2
        pairs = Q / max(Q - 1, 1) * (float((self.eigenvalues_**2).sum()) - (J - Q) / Q**2)
        self.benzecri_ratio_ = self.adjusted_eigenvalues_ / (self.adjusted_eigenvalues_.sum() or 1.0)
        self.greenacre_ratio_ = self.adjusted_eigenvalues_ / (pairs if pairs > 0 else 1.0)
