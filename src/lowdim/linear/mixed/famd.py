"""Factor analysis of mixed data: principal components of numbers and categories together."""

from __future__ import annotations

import numpy as np

from lowdim._core.base import Reducer
from lowdim._core.tables.indicators import Layout
from lowdim.linear.mixed._mixed import MixedTable
from lowdim.linear.mixed._weighted import Axes


class FAMD(MixedTable, Reducer):
    """Factor analysis of mixed data: principal components of a table of numbers and categories.

    Numbers are standardised; a category with proportion p becomes a column (1 or 0, less p) / sqrt(p). With T the table
    of all of them, the axes v solve T'T/n v = lambda v and a row has the coordinates V't. Each axis has the largest
    sum, over the columns, of squared correlations (numbers) and correlation ratios (categories), so that neither kind
    weighs more because of its units or its number of categories.

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
        by the noise ("regularized") or not ("em"); or an error.
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
        Numbers: their correlation with each axis. Categories: the mean of the rows that have them.
    column_names_ : list of str
        "column" for numbers, "column=category" for categories: the rows of the other column attributes.
    contributions_ : ndarray of shape (n_columns, n_components_)
        Share of each column in each axis, in percent.
    cos2_ : ndarray of shape (n_columns, n_components_)
        Share of each column's squared length that lies along each axis; near 1 it is well represented.
    relations_ : ndarray of shape (n_features_in_, n_components_)
        Squared correlation or correlation ratio of each column of the table with each axis.
    eigenvalues_ : ndarray of shape (n_components_,)
        Variances along the axes kept.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their share of the total.
    components_, mean_, scale_ : ndarray
        Axes, and what is subtracted from and divided by in each weighted column.
    categories_ : list
        For each column of the table its categories; None where it holds numbers.
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
    Pages, Analyse factorielle de donnees mixtes, 2004. Audigier, Husson and Josse, A principal component method to
    impute missing values for mixed data, 2016.

    Examples
    --------
    >>> import lowdim
    >>> table = [[1.0, "red"], [2.0, "red"], [4.0, "blue"], [5.5, "blue"], [None, "blue"]]
    >>> model = lowdim.FAMD(1, tol=1e-3).fit(table)
    >>> model.completed_[4].tolist() == [model.completed_[4, 0], "blue"], model.column_names_
    (True, ['x0', 'x1=blue', 'x1=red'])
    """

    def _columns(self, axes: Axes, layout: Layout, k: int) -> None:
        V, values = axes.V, axes.values
        means = V * values / axes.scale[:, None]  # of the rows with a category; scale is the root of its proportion
        self.eigenvalues_ = values[:k]
        self.column_coordinates_ = np.where(layout.numeric[:, None], V * np.sqrt(values), means)[:, :k]
        lengths = np.where(layout.numeric, 1.0, (means**2).sum(axis=1))[:, None]
        self.cos2_ = self.column_coordinates_**2 / np.where(lengths > 0, lengths, 1.0)
        # lambda v^2 summed over the 0/1 columns of a question is its correlation ratio.
        self.relations_ = np.zeros((len(layout.categories), k))
        np.add.at(self.relations_, layout.parents, values[:k] * V[:, :k] ** 2)
