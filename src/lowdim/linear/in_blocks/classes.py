"""LDA of labelled rows that come in blocks: moments, or the QR decomposition, of the rows of each label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from lowdim._core.incomplete.patterns import ByPattern
from lowdim._core.runtime import memory
from lowdim._core.spectrum import Moments, Triangle, triangle
from lowdim._core.tables.form import said_by
from lowdim.linear import _discriminant as discriminant
from lowdim.linear._covariance_estimator import refuse_estimator
from lowdim.linear._discriminant import encode, refuse_one
from lowdim.linear.in_blocks import many_passes, wide_classes
from lowdim.linear.in_blocks.many_passes import complete_rows
from lowdim.linear.in_blocks.sums import Sums, pair_of, rows_of

RECORDS = 9  # of blocks that one task adds, and their sum


class LabelledBlocks:
    """The part of LDA that reads blocks."""

    n_features_in_: int
    classes_: np.ndarray
    covariance_: Any  # None where it is not formed
    solver_: str

    def partial_fit(self: Any, X: Any, y: Any, classes: Any = None) -> Any:
        """Fit to one more batch of labelled rows: the same numbers as one fit to all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; they are not kept, only sums over them.
        y : array-like of shape (n_samples,)
            Their labels. Until there are two classes, and more rows than columns, rows are counted, and the model
            is not fitted.
        classes : array-like or None
            All labels that may come, given with the first batch; another one is an error then. None: any may come.

        Returns
        -------
        self : LDA
            The model fitted to all batches so far.
        """
        allowed = allowed_labels(y, classes, vars(self).get("_classes"))
        self._fit_further(X, (X, y))
        self._classes = allowed
        return self

    def _waits(self, total: Any) -> bool:
        return is_too_small(total)

    def _embed_batches(self: Any, batches: Any) -> None:
        refuse_estimator(self.covariance_estimator, self.shrinkage, {"a stream of batches": True})
        if batches.rereadable and self._in_many_passes(batches.width) and self._kept_wide(batches):
            return
        if self.solver == "svd":
            self._keep_triangles(batches)
            return
        make, cells = partial(Sums.of, owner="LDA", n_jobs=self.n_jobs), {"policies": self._hole_policies}
        parts, dtype = self._gathered(batches, make, nan=self._takes_nan, **cells)
        parts = [part.moments() for part in parts]
        if any(isinstance(part, ByPattern) for part in parts):
            self._embed_incomplete(*labelled_table(parts), dtype)
            return
        again = partial(self._keep_triangles, batches) if batches.rereadable and self.solver == "auto" else None
        classes = self._weigh(np.array([p.weight for p in parts]), np.array([p.mean for p in parts]))
        self._from_scatters((p.scatter for p in parts), classes, dtype, None, again=again)
        self._keep_distribution(classes)

    def _in_many_passes(self: Any, d: int) -> bool:
        return bool(d > many_passes.WIDE and self.solver == "auto" and self.missing == "error")

    def _keep_triangles(self: Any, batches: Any) -> None:
        """From the QR decomposition of the rows of each class: nothing is squared."""
        parts, dtype = self._gathered(batches, partial(Triangle.of, owner="LDA"))
        classes = self._weigh(np.array([p.weight for p in parts]), np.array([p.mean for p in parts]))
        roots = np.sqrt(classes.shares / classes.counts)
        inside = triangle([np.vstack([root * part.R for root, part in zip(roots, parts, strict=True)])])
        scale = self._scale(np.square(inside).sum(axis=0), classes, dtype)
        space = discriminant.whiten_inside(inside / scale, int(classes.counts.sum()), classes, scale, dtype)
        self.solver_ = "svd"
        self._separate(space, classes, scale, None)
        self._keep_distribution(classes)

    def _kept_wide(self: Any, batches: Any) -> bool:
        """From products of the covariance within the classes, where one for each class takes too much memory."""
        parts, dtype = self._gathered(batches, partial(many_passes.column_sums, owner="LDA"), sparse_ok=True)
        if RECORDS * 8 * len(parts) * batches.width**2 <= memory.limit() / 2:
            return False
        classes = self._weigh(np.array([p.weight for p in parts]), np.array([p.mean for p in parts]))
        within = np.array([p.squares for p in parts]).T @ (classes.shares / classes.counts)
        scale = self._scale(within, classes, dtype)
        self.solver_ = "covariance"
        if self.shrinkage == "auto":
            raise ValueError(
                "LDA: shrinkage must be a number such as 0.1 for blocks of more than "
                f"{many_passes.WIDE} columns; got 'auto', which cannot be estimated from a stream."
            )
        self.shrinkage_ = float(self.shrinkage or 0.0)
        self._keep(wide_classes.separate(batches, self.classes_, classes, scale, self.shrinkage_), classes, scale)
        return True

    def _gathered(self: Any, batches: Any, make: Any, **how: Any) -> tuple[list[Any], np.dtype]:
        """What `make` makes of the rows of each class, in their order, and the precision of the rows."""
        found: ClassSums | None = batches.gather(partial(class_sums, make=make, **how))
        labels = {} if found is None else found.classes
        self.classes_ = refuse_one(sorted_labels(labels))
        assert found is not None  # there are two classes
        self.n_features_in_ = found.width
        return [labels[name] for name in self.classes_.tolist()], found.dtype

    def _keep_distribution(self: Any, classes: Any) -> None:
        """The classes as normal distributions, for incomplete new rows."""
        if self._takes_nan:
            n = float(classes.counts.sum()) - len(classes.counts)
            self._holes = discriminant.joint(self.means_, self.covariance_, n)


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Sums over the rows of each label; `a + b` are those of both."""

    goes_on: ClassVar[bool] = True

    width: int
    dtype: np.dtype
    classes: dict[Any, Any]  # `Sums` or `Triangle`

    def __add__(self, other: ClassSums) -> ClassSums:
        if other.width != self.width:
            raise ValueError(f"LDA: every batch of X must have {self.width} columns; got {other.width}.")
        both = dict(self.classes)
        for name, part in other.classes.items():
            both[name] = both[name] + part if name in both else part
        return ClassSums(self.width, np.promote_types(self.dtype, other.dtype), both)


def class_sums(
    batch: Any,
    make: Callable[[Any], Any],
    nan: bool = False,
    policies: tuple[str, ...] = (),
    sparse_ok: bool = False,
) -> ClassSums:
    """What `make` makes of the rows of each label in a pair (X_batch, y_batch)."""
    X_batch, y_batch = pair_of(batch, "LDA", "y")
    X = complete_rows(X_batch, "LDA") if sparse_ok else rows_of(X_batch, "LDA", None, nan=nan, policies=policies)
    names, codes = encode(y_batch, X.shape[0])
    return ClassSums(X.shape[1], X.dtype, {name: make(X[codes == i]) for i, name in enumerate(names.tolist())})


def allowed_labels(y: Any, classes: Any, before: Any) -> Any:
    """The labels that may come, given now or before (None: any); an error for another one in y."""
    with said_by("LDA"):
        allowed = before if classes is None else np.unique(np.asarray(classes))
    if allowed is not None and (unknown := np.setdiff1d(np.asarray(y), allowed)).size:
        raise ValueError(f"LDA: y must hold labels of `classes`; got {unknown[0]!r}.")
    return allowed


def is_too_small(total: ClassSums) -> bool:
    """Whether sums are of one class, or of too few rows for a covariance within the classes."""
    within = sum(part.weight for part in total.classes.values()) - len(total.classes)
    return len(total.classes) < 2 or within < total.width


def labelled_table(parts: list[Moments | ByPattern]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, class numbers and weights with the same moments of each class and pattern of missing cells."""
    tables = [(part if isinstance(part, ByPattern) else ByPattern("LDA").joined(part)).table() for part in parts]
    codes = np.repeat(np.arange(len(tables)), [len(rows) for rows, _ in tables])
    return np.vstack([rows for rows, _ in tables]), codes, np.concatenate([weights for _, weights in tables])


def sorted_labels(labels: Any) -> np.ndarray:
    """The labels of all batches in order, which labels of one kind have."""
    kinds = {"text" if isinstance(label, str) else "numbers" for label in labels}
    if len(kinds) > 1:
        text = next(label for label in labels if isinstance(label, str))
        number = next(label for label in labels if not isinstance(label, str))
        raise ValueError(
            f"LDA: the labels of all batches must be of one kind, text or numbers; got {text!r} and {number!r}. Turn "
            "them all into text (y.astype(str)), or all into numbers."
        )
    return np.array(sorted(labels))
