"""Principal curves: a smooth line through the middle of the rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim.curves._hastie_stuetzle import HastieStuetzle
from lowdim.curves._init import completed, initial_curve
from lowdim.curves._polygon import polygonal_line
from lowdim.curves._polyline import Fit, Polyline
from lowdim.curves._segments import k_segments
from lowdim.curves._smoothers import Lowess, Spline, df_by_gcv

SMOOTHERS = ("spline", "lowess", "periodic", "segments", "polygon")


MOST_VERTICES = 10**6  # a step takes a second; the curve is smooth at far fewer


class PrincipalCurve(Reducer):
    """A curve through the middle of the rows: the nonlinear first principal component.

    A principal curve is the mean of the rows that project on it, f(t) = E[x | t(x) = t], where t(x) is the arc length
    of the curve up to its point nearest to x (the largest one, where several are equally near). Hastie and Stuetzle
    start with the first principal axis and alternate: project the rows, then smooth every column along the curve, until
    the mean squared distance D² converges. Two other algorithms build the curve of straight segments: k segments joined
    to one path, which also follows spirals and crossings, and a polygonal line to which vertices are added one by one.

    Parameters
    ----------
    smoother : {"spline", "lowess", "periodic", "segments", "polygon"}
        Cubic smoothing splines, local lines, or periodic splines for a closed curve (all by Hastie and Stuetzle's
        algorithm); k segments; a polygonal line.
    df : float or "auto"
        Degrees of freedom of a spline: 2 is a straight line, 5 bends once or twice, a spiral needs more. "auto": by
        generalised cross-validation of the columns as functions of the arc length along the curve of 5 degrees of
        freedom. (Along a curve that follows the noise, the arc length does too, and the criterion would be too small.)
    span : float
        Share of the rows that a local line of "lowess" is fitted to.
    n_segments : int or None
        Of "segments" and "polygon". None: chosen by the likelihood of the path, or by the number of rows and their
        distance from the curve.
    closed : bool
        Join the ends; "periodic" always does.
    bias_correction : bool
        Smoothing flattens bends and shrinks rings. True adds to every smooth curve the smoothed residuals from it
        (Banfield and Raftery).
    n_vertices : int
        Points at which a smooth curve is stored, joined by straight lines; at most 1,000,000.
    init : {"auto"} or array of shape (n_vertices, n_features)
        Initial curve: "auto", the first principal axis, or an ellipse along the first two where the curve is closed; or
        an array of vertices, such as the `curve_` of another fit. "segments" needs none.
    max_iter : int
        Maximum number of iterations (of projecting and smoothing).
    tol : float
        Convergence tolerance: relative change of D².
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. After each iteration (of "segments" and
        "polygon" for each number of segments); `loss` is D², `state` the vertices of the curve so far.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    curve_ : ndarray of shape (n_points, n_features)
        Vertices of the fitted curve in order.
    closed_ : bool
        Whether the last is joined to the first.
    length_ : float
        Of the curve.
    df_ : float or None
        Degrees of freedom of the spline; None for the other smoothers.
    embedding_ : ndarray of shape (n_samples, 1)
        Arc length of the curve up to the point nearest to each row. An open curve starts at the end with more rows.
    parameters_ : ndarray of shape (n_samples,)
        The same as a vector, in double precision.
    distance_ : ndarray of shape (n_samples,)
        Distance of each row from the curve, over its observed cells.
    reconstruction_error_ : float
        Mean squared error of the observed cells, in units of X.
    loss_curve_ : ndarray
        D² after each iteration (or each number of segments).
    n_iter_ : int
        Number of iterations (or of numbers of segments).
    converged_ : bool
        Whether D² converged; False where the callback stopped the fit. D² may rise, since smoothing minimises nothing:
        after 30 iterations without a lower value, or where it converges a tenth above its lowest, the fit ends with a
        warning and the best curve.

    References
    ----------
    Hastie and Stuetzle, Principal curves, 1989. Banfield and Raftery, Ice floe identification in satellite images using
    mathematical morphology and clustering about principal curves, 1992. Kégl, Krzyżak, Linder and Zeger, Learning and
    design of principal curves, 2000. Verbeek, Vlassis and Kröse, A k-segments algorithm for finding principal curves,
    2002.

    Examples
    --------
    >>> import lowdim
    >>> ring = lowdim.datasets.noisy_circle(300, random_state=0).X
    >>> model = lowdim.PrincipalCurve(smoother="periodic", bias_correction=True).fit(ring)
    >>> bool(abs(model.length_ - 2 * 3.14159) < 0.1)
    True
    >>> model.inverse_transform(model.transform(ring[:3])).shape
    (3, 2)
    """

    _rules: ClassVar = {
        "smoother": params.one_of(*SMOOTHERS),
        "df": params.real(2) | params.one_of("auto"),
        "span": params.real(0, 1, open_low=True),
        "n_segments": params.none() | params.whole(1),
        "closed": params.flag(),
        "bias_correction": params.flag(),
        "n_vertices": params.whole(10, MOST_VERTICES),
        "init": params.one_of("auto") | params.Rule("an array of vertices", lambda v: np.ndim(v) == 2),
    }
    _takes_nan = True
    _ways_out = "Fit on a sample of the rows and transform the others."

    def __init__(
        self,
        *,
        smoother="spline",
        df=5.0,
        span=0.3,
        n_segments=None,
        closed=False,
        bias_correction=False,
        n_vertices=500,
        init="auto",
        max_iter=100,
        tol=1e-3,
        callback=None,
        n_jobs=None,
        verbose=0,
    ):
        self.smoother = smoother
        self.df = df
        self.span = span
        self.n_segments = n_segments
        self.closed = closed
        self.bias_correction = bias_correction
        self.n_vertices = n_vertices
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> np.ndarray:
        if self.df != "auto" and self.df > max(len(X), 5):
            raise ValueError(
                f"PrincipalCurve: df must be at most n_samples={len(X)}; got {self.df:g}. A smoother has no more "
                "degrees of freedom than rows; 5 to 10 are usual."
            )
        rows = X.astype(np.float64, copy=False)
        self.df_: Any = None
        closed = bool(self.closed or self.smoother == "periodic")
        whole = completed(rows, X.dtype, self._incomplete, self.n_jobs)
        if self.smoother == "segments":
            fit = self._by_segments(whole, closed)
        else:
            start = initial_curve(whole, self.init, closed)
            fit = self._by_vertices(rows, start) if self.smoother == "polygon" else self._by_smoothing(rows, start)
        self.loss_curve_, self.n_iter_, self.converged_ = fit.losses, fit.n_iter, fit.converged

        curve = _oriented(fit.curve, rows, self.n_jobs)
        found = curve.project(rows, self.n_jobs)
        self.curve_, self.closed_, self.length_ = curve.vertices, curve.closed, float(curve.lengths[-1])
        self.parameters_, self.distance_ = found.parameters, np.sqrt(found.squared)
        self.reconstruction_error_ = float(found.squared.sum() / np.count_nonzero(~np.isnan(rows)))
        return found.parameters[:, None]

    def _by_smoothing(self, X: np.ndarray, start: Polyline) -> Fit:
        if self.smoother == "lowess":
            return self._alternated(X, start, Lowess(self.span))
        self.df_ = 5.0 if self.df == "auto" else float(self.df)
        fit = self._alternated(X, start, Spline(self.df_))
        if self.df != "auto":
            return fit
        period = float(fit.curve.lengths[-1]) if start.closed else None
        self.df_ = df_by_gcv(fit.curve.project(X, self.n_jobs).parameters, X, period)
        return self._alternated(X, fit.curve, Spline(self.df_))

    def _alternated(self, X: np.ndarray, start: Polyline, smoother: Any) -> Fit:
        alternation = HastieStuetzle(X, smoother, start.closed, self.bias_correction, self.n_vertices, self.n_jobs)
        settings: Any = {"tol": self.tol, "max_iter": self.max_iter, "callback": self.callback, "verbose": self.verbose}
        return alternation.fit(start, owner="PrincipalCurve", **settings)

    def _by_segments(self, whole: np.ndarray, closed: bool) -> Fit:
        paths = k_segments(whole, self.n_segments, closed, self.n_jobs, self.callback)
        losses = np.array([path.squared for path in paths.found])
        return Fit(paths.best(self.n_segments).curve, losses, len(losses), not paths.stopped)

    def _by_vertices(self, X: np.ndarray, start: Polyline) -> Fit:
        settings: Any = {"callback": self.callback, "n_jobs": self.n_jobs, "verbose": self.verbose}
        return polygonal_line(X, start, self.n_segments, **settings)

    def _extend(self, X: np.ndarray) -> np.ndarray:
        return Polyline(self.curve_, self.closed_).project(X, self.n_jobs).parameters[:, None]

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return Polyline(self.curve_, self.closed_).at(Z[:, 0].astype(np.float64))

    def distance(self, X: Any) -> np.ndarray:
        """Distance of rows from the curve.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; missing cells are ignored.

        Returns
        -------
        distance : ndarray of shape (n_samples,)
            Euclidean, over the observed cells of a row.
        """
        check_is_fitted(self)
        X, dtype = self._check_rows(X, fitting=False)
        return np.sqrt(Polyline(self.curve_, self.closed_).project(X, self.n_jobs).squared).astype(dtype)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        return {
            "rows in double precision": (6 if self.smoother == "lowess" else 1) * n * d * 8,
            "projection": 8 * n * 8,
            "basis": 0 if self.smoother in ("segments", "polygon", "lowess") else 6 * n * 8,
            "curve": 6 * self.n_vertices * d * 8,
        }


def _oriented(curve: Polyline, X: np.ndarray, n_jobs: int | None) -> Polyline:
    """Starting at the end with more rows, so that a rotation of the data does not reverse the curve."""
    if curve.closed:
        return curve
    t = curve.project(X, n_jobs).parameters
    from_mean = t - t.mean()
    from_mean /= 2.0 ** np.frexp(np.abs(from_mean).max(initial=0.0))[1]  # the cubes of large numbers overflow
    return curve.reversed() if (from_mean**3).sum() < 0 else curve
