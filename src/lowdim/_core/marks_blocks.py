"""The part of methods on landmarks that chooses these among all rows of a stream.

One pass over the blocks gives the landmarks and a random sample (`lowdim._core.landmarks.in_stream`); the model is
fitted to both. What a method can sum over all rows, it sums in a second pass over blocks that can be read again.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from lowdim._core import streams
from lowdim._core.runtime import memory
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator


class MarksBlocks:
    """A part of `Reducer`: `_marks` says how many landmarks a method takes and by which rule, or None.

    During a fit `_marked` is the record of what was chosen.
    """

    _marked: Any = None
    _sums_stream: ClassVar[bool] = False  # whether the method sums over all rows of blocks that can be read again
    _marks: Any
    _precomputed: Any
    _fit_table: Any
    _needs: Any
    _distance: Any
    _metric: Any
    embedding_: Any
    sample_indices_: Any
    transform: Any

    def _pick(self) -> Any:
        """What is chosen from a stream; None where landmarks are not wanted, or cannot be chosen by distances."""
        metric = self._metric()
        plain = not self._precomputed() and getattr(self, "missing", "error") == "error"
        found = self._marks() if plain and not (isinstance(metric, str) and metric == "gower") else None
        if found is None:
            return None
        from lowdim._core.landmarks.in_stream import Pick

        seed = int(generator(getattr(self, "random_state", None)).integers(2**62))
        m, method = found
        return Pick(m, method, metric or "euclidean", memory.sample_rows(), seed, type(self).__name__)

    def _comes_in_blocks(self, X: Any) -> bool:
        """Whether X is a stream, or a mapped file of which a fit would need more than the memory limit."""
        return streams.is_stream(X) or (streams.beyond_memory(X, self._needs) and self._pick() is not None)

    def _fit_marked(self, X: Any, blocks: Any, pick: Any) -> Any:
        """From landmarks and a sample of a stream; the embedding of all rows of Dask is lazy."""
        from lowdim._core.landmarks.in_stream import Cover, Marked

        cover = blocks.gather(partial(Cover.of, pick=pick), numbered=True)
        if cover is None:
            raise ValueError(f"{pick.owner}: X must have rows; got none.")
        numbers, Z = None, None
        if cover.n <= len(cover.sample.numbers):  # all rows are there
            self._fit_table(cover.sample.rows)
        else:
            self._marked = Marked.of(cover, blocks if blocks.rereadable else None)
            try:
                self._fit_table(self._marked.rows)
                numbers = self._marked.numbers
                self._say_what_was_read()
            finally:
                del self._marked
        self.sample_indices_ = numbers
        if streams.is_lazy(X):
            whole = numbers is None and hasattr(X, "chunks")
            Z = blocks.in_rows(self.embedding_) if whole else self.transform(X)
        return Z

    def _sums_all(self) -> bool:
        """Whether the fit depends on all rows, beside the landmarks, and not on the sample."""
        return self._sums_stream and self._marked.blocks is not None

    def _say_what_was_read(self) -> None:
        if self._sums_all():
            return
        marked = self._marked
        warn(
            f"{type(self).__name__}: {len(marked)} landmarks were chosen among all {marked.n_all} rows, and the rows "
            f"between them are a random sample: {len(marked.numbers)} rows in all. `transform` places the others. "
            "lowdim.config(sample_rows=...) takes more."
        )


def chooses_landmarks(estimator: Any) -> bool:
    """Whether a method would choose its landmarks among all rows of a stream."""
    return isinstance(estimator, MarksBlocks) and estimator._pick() is not None
