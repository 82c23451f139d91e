"""Multiple correspondence analysis: principal components of categories."""

from __future__ import annotations

import numpy as np

from lowdim._core.base import Reducer
from lowdim._core.tables.indicators import Layout
from lowdim.linear.mixed._mixed import MixedTable
from lowdim.linear.mixed._weighted import Axes


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
    ridge : float
        Multiplies the noise variance that "regularized" shrinks by.
    unknown : {"warn", "error", "ignore"}
        A category of a new row that was not seen at fit: a missing cell, with a warning that names it; an error; or a
        missing cell without a word.
    missing : {"regularized", "em", "error"}
        Missing cells (NaN), at fit and in new rows: completed iteratively from the axes of the completed table, shrunk
        by the noise ("regularized") or not ("em"); or an error. To keep "no answer" as an answer, write it
        into the table.
    max_iter : int
        Maximum number of iterations of the completion.
    tol : float
        Convergence tolerance: relative change of the squared error of the observed cells.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. `state` is the completed table so far.
        Complete tables need no iterations, and it is not called.
    random_state : int, generator or None
        Seed; the same int gives the same result. Not used, as nothing here is random; there for pipelines.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    row_coordinates_ : ndarray of shape (n_samples, n_components_)
        Coordinates of the fitted rows.
    column_coordinates_ : ndarray of shape (n_columns, n_components_)
        Coordinates of the categories.
    column_names_ : list of str
        "column=category": the rows of the other column attributes.
    contributions_ : ndarray of shape (n_columns, n_components_)
        Share of each category in each axis, in percent.
    cos2_ : ndarray of shape (n_columns, n_components_)
        Share of each category's squared distance to the origin, 1/p - 1, that lies along each axis.
    relations_ : ndarray of shape (n_features_in_, n_components_)
        Correlation ratio of each question with each axis; their mean is the eigenvalue.
    eigenvalues_ : ndarray of shape (n_components_,)
        Variances along the axes kept. They look small: most of the total is an artefact of the coding.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their share of the total, for the same reason an understatement.
    adjusted_eigenvalues_ : ndarray of shape (n_above,)
        (Q/(Q-1))^2 (lambda - 1/Q)^2 for each lambda above 1/Q, of all axes: without the artefact of the coding.
    benzecri_ratio_, greenacre_ratio_ : ndarray of shape (n_above,)
        Their share of their own sum (an overestimate) and of the mean inertia of pairs of questions (recommended).
    components_, mean_, scale_ : ndarray
        Axes, and what is subtracted from and divided by in each 0/1 column.
    categories_ : list
        For each column of the table its categories.
    shrinkage_ : ndarray of shape (n_components_,)
        The part of each axis that goes into a filled cell.
    coded_ : ndarray of shape (n_samples, n_features_in_) or None
        The completed table with categories as positions in `categories_`; None where no cell was missing.
    completed_ : ndarray of shape (n_samples, n_features_in_) or None
        The same with the categories themselves.
    n_components_, n_iter_, converged_ : int, int, bool
        Axes kept, iterations of the completion, whether it reached `tol`.

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
        self.eigenvalues_ = values[:k] / Q
        self.column_coordinates_ = V * np.sqrt(values[:k]) / axes.scale[:, None]
        lengths = np.maximum(1 / axes.scale**2 - 1, 0.0)[:, None]
        self.cos2_ = self.column_coordinates_**2 / np.where(lengths > 0, lengths, 1.0)
        self.relations_ = np.zeros((Q, k))
        np.add.at(self.relations_, layout.parents, values[:k] * V**2)
        self._adjust(values / Q, Q, len(axes.mean))

    def _adjust(self, values: np.ndarray, Q: int, J: int) -> None:
        """Inertias without what the coding adds (Benzecri, 1979), and their shares (Greenacre, 2007)."""
        above = values[values > 1 / Q * (1 + 1e-12)] if Q > 1 else values[:0]
        self.adjusted_eigenvalues_ = (Q / max(Q - 1, 1)) ** 2 * (above - 1 / Q) ** 2
        pairs = Q / max(Q - 1, 1) * (float((values**2).sum()) - (J - Q) / Q**2)
        self.benzecri_ratio_ = self.adjusted_eigenvalues_ / (self.adjusted_eigenvalues_.sum() or 1.0)
        self.greenacre_ratio_ = self.adjusted_eigenvalues_ / (pairs if pairs > 0 else 1.0)
