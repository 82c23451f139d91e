"""PCA of rows that come in blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim._core.incomplete.patterns import ByPattern
from lowdim._core.runtime.rng import generator
from lowdim._core.tables import missing
from lowdim.linear._decompose import Spectrum, decompose_moments, divisors
from lowdim.linear.in_blocks import many_passes, triangles
from lowdim.linear.in_blocks.sums import stream_of_rows, triangle_of_stream
from lowdim.linear.pca._component_rule import choose_r

BY_MOMENTS = ("regularized", "em")  # values of `missing` that need the moments of each pattern of missing cells alone


class PCAInBlocks:
    """A part of `PCA`: fitted to sums over blocks, to products with them, or to their QR decomposition."""

    scale: bool
    ddof: int
    n_features_in_: int
    device_: str

    def partial_fit(self: Any, X: Any, y: Any = None) -> Any:
        """Fit to one more batch: the same numbers as one fit to all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; they are not kept, only sums over them.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self : PCA
            The model fitted to all batches so far.
        """
        return self._fit_further(X, X)

    def _embed_batches(self: Any, batches: Any) -> None:
        self._refuse_for_blocks(batches)
        self.device_ = "cpu"
        if batches.rereadable and self._in_many_passes(batches.width):
            self.n_features_in_ = batches.width
            settings: dict[str, Any] = {"scale": self.scale, "ddof": self.ddof, "tol": self.tol}
            settings["rng"] = generator(self.random_state)
            self._keep_spectrum(many_passes.decompose(batches, self.n_components, self._min_rows, **settings))
        elif self.solver == "svd":
            self._embed_triangle(batches)
        else:
            self._embed_moments(batches)

    def _takes_one_pass(self: Any) -> bool:
        return bool(self.solver in ("auto", "covariance", "svd") and self.missing != "nipals")

    def _refuse_for_blocks(self: Any, batches: Any) -> None:
        passes = batches.rereadable and not self._needs_spectrum()
        if self.solver not in ("auto", "covariance", "svd", *(("randomized",) if passes else ())):
            raise ValueError(
                f"PCA: solver must be 'covariance', 'svd' or 'auto' for a stream of batches; got {self.solver!r}."
            )
        if self.missing == "nipals":
            raise ValueError(
                "PCA: missing='nipals' reads the rows many times, and a stream of batches is read once. Stack the "
                "batches first (np.concatenate), or use another `missing` for batches of complete rows."
            )

    def _embed_triangle(self: Any, batches: Any) -> None:
        found = triangle_of_stream(batches, "PCA", self._min_rows)
        self.n_features_in_ = found.width
        divide = None
        if self.scale:
            variance = found.squares() / (found.weight - self.ddof)
            divide = divisors(variance, found.mean, found.weight, np.dtype(found.dtype))
        k = self._wanted(min(int(found.weight), found.width))
        self._keep_spectrum(triangles.decompose(found, k, divide, self.ddof, "PCA"))

    def _embed_moments(self: Any, batches: Any) -> None:
        settings: dict[str, Any] = {"policies": BY_MOMENTS, "nan": self._takes_nan}
        moments, dtype = stream_of_rows(batches, "PCA", self._min_rows, self.n_jobs, **settings)
        if isinstance(moments, ByPattern):
            self._embed_patterns(*moments.table())
            return
        self.n_features_in_ = len(moments.mean)
        k = self._wanted(min(int(moments.weight), len(moments.mean)))
        found = decompose_moments(moments, k, scale=self.scale, ddof=self.ddof, dtype=dtype)
        self._keep_spectrum(self._refined(found, k, batches, dtype) if self.solver == "auto" else found)

    def _refined(self: Any, found: Spectrum, k: int, batches: Any, dtype: Any) -> Spectrum:
        """From the rows themselves, read again, where squaring them lost the smallest components asked for."""
        rule = self.n_components, self.max_error, found.most, found.divisor + found.ddof
        wanted = choose_r(found.variances, found.total_variance, *rule)
        return triangles.refined(found, wanted, k, batches, dtype, "PCA")

    def _in_many_passes(self: Any, d: int) -> bool:
        """Whether blocks that can be read again are, instead of adding up a matrix of all pairs of columns."""
        if self._needs_spectrum():
            return False
        return bool(self.solver == "randomized" or (self.solver == "auto" and d > many_passes.WIDE))

    def _embed_patterns(self: Any, X: np.ndarray, weights: np.ndarray) -> None:
        """From weighted rows that have the moments of a stream of incomplete ones, which are not completed."""
        missing.admit(X, "PCA")
        self.n_features_in_, self._incomplete = X.shape[1], True
        found = self._fit_incomplete(X, weights)
        del self._incomplete
        share = float(weights @ np.isnan(X).mean(axis=1) / weights.sum())
        self._keep(replace(found, completed=None, completed_variance=None, agreement=None, missing_share=share))
