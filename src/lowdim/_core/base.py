"""The one base class: checks rows, embeds them, places new rows, inverts.

A method writes `_embed` (fit, and return the embedding), `_extend` (coordinates of new rows) and, where the inverse
is exact, `_invert`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lowdim._core import params, streams, validate
from lowdim._core.distances import GOWER, Gower, with_params
from lowdim._core.distances.with_holes import METRICS
from lowdim._core.gpu.device_rows import on_host
from lowdim._core.incomplete.holes import Holes
from lowdim._core.reads_blocks import ReadsBlocks
from lowdim._core.renamed import current, refuse_unknown, renamed_of, with_known_parameters
from lowdim._core.runtime import memory, threads
from lowdim._core.runtime.notices import listening
from lowdim._core.runtime.rng import generator
from lowdim._core.stays_on_device import StaysOnDevice
from lowdim._core.tables.arrays import FLOATS, contiguous, extent, native
from lowdim._core.tables.equal_rows import placed_like
from lowdim._core.tables.form import canonical, remember_columns
from lowdim._core.tables.kinds import naming_text
from lowdim._core.tables.missing import has_holes
from lowdim._core.validate import Accepts
from lowdim._core.vocabulary import rules_of

# What a fit may leave beside the public attributes (which end in "_"); scikit-learn keeps private ones of its own.
_FITTED = (
    *("_classes", "_components", "_errors", "_extension", "_fitted_columns", "_holes", "_incomplete", "_inverse"),
    *("_mean_coef", "_mean_kernel", "_n_features_out", "_parts", "_precision", "_rows", "_running", "_sampled"),
)


class Reducer(StaysOnDevice, ReadsBlocks, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of every method; users meet its `fit`, `transform` and `inverse_transform`."""

    _rules: ClassVar[dict[str, params.Rule]] = {}  # of its own parameters; the others' are in `vocabulary`
    _sparse_rows: ClassVar[bool] = False  # takes scipy sparse rows
    _sparse_graphs: ClassVar[bool] = False  # takes precomputed distances as a sparse graph
    _unknown_distances: ClassVar[bool] = False  # takes precomputed distances of which some are unknown (NaN)
    _hole_policies: ClassVar[tuple[str, ...]] = tuple(METRICS)  # values of `missing` that take incomplete rows
    _holes: Any = None  # how missing cells are seen, where `missing` is not "error": by distances, or as a distribution
    _reads_holes: ClassVar[type[Holes]] = Holes  # the record that makes tables of incomplete rows
    _incomplete: Any = False  # during a fit: whether a cell is missing
    _missing_stays: ClassVar[bool] = False  # a map of single cells: missing cells of X are missing cells of Z
    _min_rows: ClassVar[int] = 2
    _keeps_embedding: ClassVar[bool] = True  # linear methods have no need to
    _ways_out: ClassVar[str] = ""  # what to do when the data is too large
    _block_rows: ClassVar[int] = 2048  # new rows placed at a time
    _reproduces_rows: ClassVar[bool] = False  # a network, which in other libraries takes the rows to reproduce as y

    # ---- what a method writes -------------------------------------------------------------------------------

    _embed: Any  # (X, **options) -> Z: set the fitted attributes, place the rows of X (unless they are not kept)
    _extend: Any  # X -> Z: place new rows, each on its own
    _rows: Any = None  # the fitted rows, where new rows or the learned inverse need them
    _memory: Any  # (n, d, itemsize, stored) -> {name: bytes} at the peak; stored: values of a sparse X, else None
    _places_rows: Any = True  # whether the fitted model can place new rows; some are of affinities or graphs alone
    _judge_map: Any = staticmethod(lambda Z, X: None)  # warn of a map that shows nothing
    _invert: Any = None  # Z -> rows, where the method has an exact inverse

    @property
    def _takes_nan(self) -> bool:
        """Whether rows with missing cells are taken as they are (a class attribute where the model always does)."""
        return getattr(self, "missing", "error") != "error"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        init = cls.__init__
        if init is not object.__init__ and not hasattr(init, "answers"):
            cls.__init__ = with_known_parameters(init)  # type: ignore[method-assign]

    # ---- fit ------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Reducer:
        """Fit to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows: numpy, pandas, polars, lists; or a Dask array or data frame or a pyarrow data set, of which
            methods on moments read every block, and the others fit a random sample (`lowdim.config(sample_rows=...)`).
            Tensors of PyTorch are seen as arrays; those on a GPU stay there, with the results, if `device` is a GPU.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self : object
            The fitted model.
        """
        self._warn_ignored(X, y)
        self._fit_rows(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit to the rows of X and return their embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The embedding.
        """
        self._refuse_stream(X)
        self._warn_ignored(X, y)
        return self._fit_rows(X) if self._keeps_embedding else self.fit(X).transform(X)

    def _warn_ignored(self, X: Any, y: Any) -> None:
        """Labels are ignored without a warning, as pipelines pass them to every step; other rows are not labels."""
        if self._reproduces_rows and y is not None and y is not X:
            validate.warn_of_other_rows(X, y, type(self).__name__)

    @threads.on_one_blas_thread
    def _fit_rows(self, X: Any, **options: Any) -> Any:
        """Check, embed, keep. After any failure (Ctrl-C included) the model is as it was before."""
        before = dict(self.__dict__)
        try:
            self._forget()
            self._check_parameters()
            Z = self._fit_stream(X, **options) if self._is_in_blocks(X, options) else self._fit_table(X, **options)
            # In the memory order that a model file keeps, so that a loaded model multiplies them the same way.
            self.__dict__.update(contiguous({k: v for k, v in self.__dict__.items() if v is not before.get(k)}))
            return Z
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit_table(self, X: Any, **options: Any) -> Any:
        (X, dtype), name = self._check_rows(X, fitting=True), type(self).__name__
        validate.refuse_absurd(X, getattr(self, "n_components", None), name)
        memory.check(name, self._needs(X), self._ways_out)
        if hasattr(self, "metric"):
            validate.warn_of_equal_distances(X, self.metric, self._distance(), name)
        with listening() as said:
            Z = self._embed(X, **options)
        self.__dict__.pop("_incomplete", None)
        if self._keeps_embedding:
            validate.refuse_overflow(Z, dtype, name, validate.leaves_rows_out(self))
            self.embedding_ = Z = np.asarray(Z, dtype=dtype)
            self._n_features_out = Z.shape[1]
            self._judge_map(Z, X)
        validate.warn_of_one_place(Z if self._keeps_embedding else X, name, said)
        return Z

    def _check_parameters(self) -> None:
        """Each parameter follows its rule; those that are numbers of numpy become Python's, equal in value."""
        params.check(type(self).__name__, vars(self), rules_of(type(self)))
        self.__dict__.update({name: params.plain(getattr(self, name)) for name in params.names_of(type(self))})

    def _forget(self) -> None:
        """Drop what an earlier fit left, so that nothing stale survives a second one."""
        for name in [n for n in self.__dict__ if n in _FITTED or (n.endswith("_") and not n.startswith("_"))]:
            del self.__dict__[name]

    def set_params(self, **params: Any) -> Reducer:
        """Set parameters by name; names of an earlier release are taken with a warning, unknown ones are an error.

        Parameters
        ----------
        **params : dict
            Parameters and their values.

        Returns
        -------
        self : object
            The estimator.
        """
        params = current(type(self).__name__, params, renamed_of(type(self)))
        known = self.get_params(deep=False)
        refuse_unknown(type(self), (name for name in params if "__" not in name), known, known)
        return super().set_params(**params)

    # ---- new rows and inverse -------------------------------------------------------------------------------

    @threads.on_one_blas_thread
    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of new rows. Each row is treated on its own: the result does not depend on the rows beside it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"`` their distances to the fitted rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Their coordinates in the embedding.
        """
        check_is_fitted(self)
        if streams.is_lazy(X):
            return streams.placed_lazily(self, "transform", X, self.get_feature_names_out())
        return self._extended(*self._check_rows(X, fitting=False))

    def _extended(self, X: Any, dtype: np.dtype, **options: Any) -> np.ndarray:
        """Coordinates of checked rows, with `options` for `_extend`; rows with the cells of fitted ones are these."""
        if (there := self._placed_there(X, dtype)) is not None:
            return there
        Z = threads.into_one_array(lambda rows: self._extend(X[rows], **options), X.shape[0], self._block_rows, dtype)
        by_landmarks = getattr(self, "landmarks_", None) is not None  # fitted rows were placed as new ones are
        if self._rows is not None and getattr(self._holes, "partly_seen", False) and not by_landmarks:
            Z = placed_like(Z, X, self._rows, self._fitted_places())
        return validate.in_precision(Z, dtype, type(self).__name__)

    @threads.on_one_blas_thread
    def inverse_transform(self, Z: Any, *, return_outside: bool = False) -> Any:
        """Rows from coordinates in the embedding.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates.
        return_outside : bool
            Also return how far outside the fitted data each point is: its distance to the nearest fitted point over
            the typical distance between neighbours there. Above 1 the row is extrapolated. Only for learned inverses.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows; under ``metric="gower"`` numbers and the most likely categories, as objects.
        outside : ndarray of shape (n_samples,)
            Only with ``return_outside=True``.
        """
        check_is_fitted(self)
        if streams.is_lazy(Z):
            return self._inverted_lazily(Z, return_outside)
        if (there := self._inverted_there(Z, return_outside)) is not None:
            return there
        finite: Any = "allow-nan" if self._missing_stays and self._takes_nan else True
        name = type(self).__name__
        Z = validate.coordinates(Z, self._n_features_out, name, finite)
        if self._invert is not None and return_outside:
            raise ValueError(f"{name}: return_outside needs a learned inverse; this one is exact.")
        if self._invert is not None:
            return validate.in_precision(self._invert(Z), Z.dtype, name, "rows")
        X, outside = self._learned_inverse()(Z)
        mixed = isinstance(self._holes, Gower)
        X = self._holes.decoded(X) if mixed else validate.in_precision(X, Z.dtype, name, "rows")
        return (X, outside) if return_outside else X

    def _learned_inverse(self) -> Any:
        """Fitted on first use, then kept: many users never call it."""
        from lowdim._core.inverse import LearnedInverse

        if "_inverse" not in self.__dict__:
            self._inverse = LearnedInverse.fit(*self._placed_rows())
        return self._inverse

    def _fitted_places(self) -> np.ndarray:
        """The embedding of the rows that were kept."""
        return self.embedding_ if self._sampled is None else self.embedding_[self._sampled]

    # ---- input ----------------------------------------------------------------------------------------------

    def _own_rows(self, X: Any) -> Any:
        """The rows to keep for `transform`, or None where only distances were given.

        A copy, so that a later change of the table does not change the model.
        """
        return None if self._precomputed() else X.copy()

    def _precomputed(self) -> bool:
        """Whether X holds distances or similarities instead of rows."""
        kernel = getattr(self, "kernel", None)
        return "precomputed" in (getattr(self, "metric", None), kernel) or bool(getattr(kernel, "pairwise", False))

    def _accepts(self, fitting: bool) -> Accepts:
        metric = getattr(self, "metric", None)
        distances = isinstance(metric, str) and metric == "precomputed"
        return Accepts(
            type(self).__name__,
            distances=distances,
            similarities=self._precomputed() and not distances,
            by_function=callable(metric),
            nan=bool(self._takes_nan),
            unknown_distances=self._unknown_distances,
            policies=validate.possible_policies(self, metric, self._metric()),
            mixed=hasattr(self, "metric") and not distances,
            sparse_rows=self._sparse_rows,
            sparse_graphs=self._sparse_graphs,
            min_rows=self._min_rows if fitting else 1,
        )

    def _check_rows(self, X: Any, *, fitting: bool) -> tuple[Any, np.dtype]:
        """Rows as a float array (or CSR where sparse rows are meant), checked; the precision of the answer."""
        accepts, metric = self._accepts(fitting), self._metric()
        if (there := self._checked_there(X, accepts, fitting)) is not None:
            return there
        if self._is_mixed():
            return self._check_mixed(X, accepts, fitting)
        X = validate.refuse_foreign(on_host(X), accepts)
        X = self._items(X, accepts, fitting) if accepts.distances else X
        if not self._is_plain(X, fitting):
            with naming_text(X, accepts.owner, way=", or metric='gower' here" if accepts.mixed else ""):
                X = validate_data(
                    self,
                    native(X),
                    reset=fitting,
                    accept_sparse="csr" if self._sparse_rows else False,
                    dtype=FLOATS,
                    ensure_all_finite=False,
                    ensure_min_samples=accepts.min_rows,
                )
        X = validate.alike(canonical(X), None if fitting else self._rows)
        if accepts.distances:
            X = self._check_distances(X, accepts) if fitting else validate.check_new_distances(X, accepts)
        else:
            validate.check_measurable(X, metric, accepts, fitting=fitting)
        checked = validate.check_cells(X, accepts, fitting=fitting)
        if fitting and accepts.nan and not accepts.distances:
            self._incomplete = checked.incomplete  # for `_embed`, which would have to look at every cell again
        return self._with_holes(checked.rows, fitting), checked.dtype

    def _is_mixed(self) -> bool:
        """Whether X is a table of numbers and categories, compared by Gower's distance."""
        return isinstance(getattr(self, "metric", None), str) and self.metric == GOWER

    def _check_mixed(self, X: Any, accepts: Accepts, fitting: bool) -> tuple[np.ndarray, np.dtype]:
        """Numbers and categories as the finite table in which Gower's distance is measured."""
        policy, name = getattr(self, "missing", "error"), accepts.owner
        X = validate.check_mixed(X, policy, accepts)
        remember_columns(self, X, reset=fitting)
        dtype = np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
        if fitting:
            self._holes, table = Gower.of(X, name, complete=policy == "error")
            return table, dtype
        return self._holes.table(X, name, complete=policy == "error"), dtype

    def _is_plain(self, X: Any, fitting: bool) -> bool:
        """Whether X is what `validate_data` would return: of a small table it takes longer than the fit."""
        if not validate.is_plain(X, self._min_rows if fitting else 1):
            return False
        if fitting:
            self.n_features_in_ = X.shape[1]
        return self.n_features_in_ == X.shape[1] and not hasattr(self, "feature_names_in_")

    def _items(self, X: Any, accepts: Accepts, fitting: bool) -> Any:
        """Dissimilarities as a table whose columns are the items in order."""
        return validate.expanded(X, accepts, getattr(self, "feature_names_in_", None), fitting=fitting)

    def _check_distances(self, D: Any, accepts: Accepts) -> Any:
        """The dissimilarities to fit on."""
        return validate.check_fitted_distances(D, accepts)

    def _with_holes(self, X: Any, fitting: bool) -> Any:
        """The table in which rows with missing cells are compared, under `missing="pairwise"` or "expected"."""
        policy, name = getattr(self, "missing", "error"), type(self).__name__
        if policy not in METRICS or sparse.issparse(X):
            return X
        if fitting:
            validate.refuse_other_metric(self._metric(), policy, name)
            self._holes = self._reads_holes.of(X, policy, generator(self.random_state), self.n_jobs, name)
        return self._holes.table(X)

    def _distance(self) -> Any:
        """The metric that rows are measured with."""
        return self._metric() if self._holes is None else self._holes.metric

    def _metric(self) -> Any:
        """The metric between complete rows, with its parameters; None where the method measures none."""
        given = getattr(self, "metric", None)
        return None if given is None else with_params(given, getattr(self, "metric_params", None), type(self).__name__)

    def estimate_memory(self, X: Any, device: str = "cpu", *, step: str = "fit") -> int:
        """Bytes that `fit` would need at its peak, beside X itself.

        Meant to be within 30 % or 50 MB. `transform` of as many rows needs no more than that and a copy of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a shape
            The data, or only its shape such as ``(1_000_000, 100)``; then float64 is assumed. Of a collection of Dask,
            bytes on one worker that does one task at a time, beside the program; what comes to the client is a fit to
            ``(sample_rows, n_features)``.
        device : {"cpu", "cuda"}
            "cuda": bytes on a GPU, the copy of X included, for methods that run there.

        step : {"fit", "transform"}
            Of a collection of Dask: what the worker does; "transform" needs a fitted model.

        Returns
        -------
        size : int
            Bytes.
        """
        self._check_parameters()
        from lowdim._core.memory_needs import needed

        return needed(self, X, device, step)

    def _needs(self, X: Any) -> dict[str, int]:
        """The large arrays of a fit on X: name -> bytes."""
        return self._memory(*extent(X))

    def _has_missing_cells(self, X: Any) -> bool:
        """Known during a fit, looked for before it; False where missing cells are not taken."""
        return bool(self._incomplete if "_incomplete" in vars(self) else self._takes_nan and has_holes(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse_rows and not self._is_mixed()
        tags.input_tags.pairwise = self._precomputed()
        tags.input_tags.allow_nan = bool(self._takes_nan)
        tags.input_tags.string = tags.input_tags.categorical = self._is_mixed()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
