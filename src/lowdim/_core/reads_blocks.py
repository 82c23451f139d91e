"""The part of every estimator that reads rows in blocks: batches, data sets of Arrow, collections of Dask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from lowdim._core import streams, validate
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.tensors import take_foreign


class ReadsBlocks:
    """A part of `Reducer`, whose methods it calls."""

    _embed_batches: Any = None  # a stream of blocks -> fitted attributes, where sums over the blocks are enough
    _sampled: Any = None  # numbers of the kept rows among all rows of the embedding, where these are some
    _fit_graph: Any = None  # of rows of Dask, where a method maps their neighbour graph
    _pick: Any = None  # what a method on landmarks chooses from a stream
    _fit_marked: Any
    _keeps_embedding: ClassVar[bool]
    _invert: Any
    _fit_table: Any
    _precomputed: Any
    _learned_inverse: Any
    transform: Any
    _fit_rows: Any
    _min_rows: ClassVar[int]
    embedding_: Any
    n_features_in_: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        take_foreign(cls)

    def _in_many_passes(self, d: int) -> bool:
        """Whether blocks of d columns that can be read again are, instead of adding up a matrix of pairs of columns."""
        return False

    def _comes_in_blocks(self, X: Any) -> bool:
        """Whether X is read in blocks."""
        return streams.is_stream(X)

    def _is_in_blocks(self, X: Any, options: dict[str, Any]) -> bool:
        """The same; without weights and targets also of a mapped file larger than memory, if one pass is enough."""
        alone = all(value is None for value in options.values())
        return self._comes_in_blocks(X) or (alone and self._takes_one_pass() and streams.larger_than_memory(X))

    def _takes_one_pass(self) -> bool:
        """Whether sums over blocks that are read once give the fit of all rows."""
        return False

    def _refuse_stream(self, X: Any) -> None:
        if isinstance(X, Iterator) or streams.is_dataset(X):
            validate.refuse_second_reading(type(self).__name__)

    def _fit_stream(self, X: Any, **options: Any) -> Any:
        """From blocks of rows: by sums over all of them where the method can, else from a sample, of Dask or Arrow."""
        name, reads_blocks = type(self).__name__, self._embed_batches is not None
        pick = None if self._pick is None else self._pick()
        if isinstance(X, streams.Running):
            return self._embed_batches(X)
        if isinstance(X, Iterator):
            validate.refuse_stream(name, options, can_stream=reads_blocks or pick is not None)
            blocks = streams.blocks_of(X, name)
            return self._fit_sums(blocks) if pick is None else self._fit_marked(X, blocks, pick)
        target = validate.target_beside_blocks(options, name, distances=self._precomputed())
        blocks = streams.blocks_of(X, name, options.get(target))
        if self._fit_graph is not None and streams.is_lazy(X):
            Z = self._fit_graph(X, blocks, options.get(target))
            if Z is not None:
                return Z
        if pick is not None:
            return self._fit_marked(X, blocks, pick)
        if not reads_blocks:
            return self._fit_sample(X, blocks, target)
        self._fit_sums(blocks)
        if (names := streams.column_names(X)) is not None:
            self.feature_names_in_ = names
        return None

    def _fit_sums(self, blocks: Any) -> None:
        """From sums over the blocks, which are kept where `partial_fit` can go on from them."""
        remembered = streams.Remembered(blocks)
        self._embed_batches(remembered)
        if hasattr(self, "partial_fit") and remembered.total is not None:
            self._running = remembered.total

    def _fit_further(self, X: Any, batch: Any) -> Any:
        """Fit to `batch` (the rows X, or a pair with them) and to all that came before, by their sums; the model.

        Too few rows, or classes, are kept until more of them come.
        """
        name, names = type(self).__name__, streams.column_names(X)
        if streams.is_stream(X):
            raise TypeError(f"{name}: partial_fit must get rows in memory; `fit` reads iterators, Arrow and Dask.")
        streams.checked_block(batch, name)
        before = vars(self).get("_running")
        if before is None and hasattr(self, "_n_features_out"):
            raise ValueError(
                f"{name}: partial_fit must follow partial_fit, or a fit to blocks of rows; this model was fitted to "
                "rows in memory (or its file has no sums over them). sklearn.base.clone(model).partial_fit(X) is the "
                "same fit, and keeps the sums."
            )
        if before is not None:
            self._check_columns(X, names)
        running, waits = streams.Running(batch, before), False
        try:
            self._fit_rows(running)
        except ValueError:
            waits = running.total is not None and self._waits(running.total)
            if not waits:
                raise
        self._running = running.total
        if names is not None:
            self.feature_names_in_ = names
        return self

    def _check_columns(self, X: Any, names: Any) -> None:
        """An error for a batch that has other columns than those before, in number or by name."""
        name, width = type(self).__name__, getattr(self, "n_features_in_", None)
        if width is not None and getattr(X, "ndim", 0) == 2 and X.shape[1] != width:
            raise ValueError(f"{name}: X has {X.shape[1]} features, but {name} is expecting {width} features as input.")
        before = getattr(self, "feature_names_in_", None)
        if before is not None and names is not None and list(names) != list(before):
            raise ValueError(
                f"{type(self).__name__}: every batch must have the same feature names; got {list(names)[:5]} after "
                f"{list(before)[:5]}."
            )

    def _waits(self, total: Any) -> bool:
        """Whether sums are of too few rows to be fitted."""
        return bool(total.weight < self._min_rows)

    def _fit_sample(self, X: Any, blocks: Any, target: str) -> Any:
        """From some rows of Dask or Arrow, or all where they are few; of Dask, the embedding of all of them is lazy."""
        seed = getattr(self, "random_state", 0)  # methods without random numbers draw the same rows each time
        numbers, rows, targets = blocks.sample(memory.sample_rows(), generator(seed))
        self._fit_table(rows, **({} if targets is None else {target: targets}))
        self.sample_indices_ = numbers
        if numbers is not None:
            validate.warn_of_sample(len(numbers), type(self).__name__)
        if not (self._keeps_embedding and streams.is_lazy(X)):
            return None
        whole = numbers is None and hasattr(X, "chunks")
        return blocks.in_rows(self.embedding_) if whole else self.transform(X)

    def _inverted_lazily(self, Z: Any, return_outside: bool) -> Any:
        """Rows from the blocks of a collection of Dask; a learned inverse is fitted first, once for all workers."""
        if return_outside:
            raise ValueError(f"{type(self).__name__}: return_outside must be False for a collection of Dask.")
        if self._invert is None:
            self._learned_inverse()
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return streams.placed_lazily(self, "inverse_transform", Z, names)
