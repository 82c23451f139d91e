"""Factor analysis of mixed data: principal components of numbers and categories together."""

from __future__ import annotations

import numpy as np

from lowdim._core.base import Reducer
from lowdim.linear.mixed._mixed import MixedTable
from lowdim.linear.mixed._weighted import Axes, Layout


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
    missing : {"regularized", "em", "error"}
        Cells that are not there: filled, iteratively, with what the axes of the filled table say, shrunk by the noise
        ("regularized") or not ("em"); or refused.
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
        Numbers: their correlation with each axis. Categories: the mean of the rows that have them.
    column_names_ : list of str
        "column" for numbers, "column=category" for categories: the rows of the other column attributes.
    contributions_ : ndarray of shape (n_columns, n_components_)
        Share of each column in each axis, in percent.
    cos2_ : ndarray of shape (n_columns, n_components_)
        Share of each column's squared length that lies along each axis; near 1 it is well seen.
    relations_ : ndarray of shape (n_features_in_, n_components_)
        Squared correlation or correlation ratio of each column of the table with each axis.
    eigenvalues_ : ndarray
        Variances along all axes.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their share of the total.
    components_, mean_, scale_ : ndarray
        Axes, and what is subtracted from and divided by in each weighted column.
    categories_ : list
        For each column of the table its categories; None where it holds numbers.
    shrinkage_ : ndarray of shape (n_components_,)
        What cells that are not there are filled with keeps this part of each axis.
    coded_ : ndarray of shape (n_samples, n_features_in_) or None
        The filled table with positions in `categories_`; None where it had no holes. `completed_` is the same in words.
    n_components_, n_iter_, converged_ : int, int, bool
        Axes kept, steps of filling, whether it reached `tol`.

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
        self.eigenvalues_ = values
        self.column_coordinates_ = np.where(layout.numeric[:, None], V * np.sqrt(values), means)[:, :k]
        lengths = np.where(layout.numeric, 1.0, (means**2).sum(axis=1))[:, None]
        self.cos2_ = self.column_coordinates_**2 / np.where(lengths > 0, lengths, 1.0)
        # lambda v^2 summed over the 0/1 columns of a question is its correlation ratio.
        self.relations_ = np.zeros((len(layout.categories), k))
        np.add.at(self.relations_, layout.parents, values[:k] * V[:, :k] ** 2)
