"""A cluster of Dask that runs already (`dask.distributed`): work handed to it piece by piece, and files read on it.

Beside `dask_blocks` the only module that imports Dask. What is sent is a small record that says what to read; results
come back in order, and only as many as are asked for soon are on the way, so that neither side holds them all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from distributed import Client
from distributed.comm.addressing import get_address_host_port, normalize_address

AHEAD = 2  # pieces of work for each thread of the workers that are on the way


class Cluster:
    """The workers of a running scheduler."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def in_order(self, of: Callable[[Any, Any], Any], given: Any, items: Iterable[Any]) -> Iterator[Any]:
        """`of(given, item)` for each item, in their order; a lost worker's pieces are done again by the others."""
        shared = self._client.submit(_itself, given, pure=False)  # made again where its worker is lost
        on_the_way: deque[Any] = deque()
        most = AHEAD * max(1, sum(self._client.nthreads().values()))
        try:
            for item in items:
                on_the_way.append(self._client.submit(of, shared, item, pure=False))
                if len(on_the_way) >= most:
                    yield on_the_way.popleft().result()
            while on_the_way:
                yield on_the_way.popleft().result()
        finally:
            self._client.cancel(list(on_the_way))

    def see(self, path: Path) -> list[str]:
        """The workers that do not see a file or folder."""
        seen = self._client.run(path.exists, on_error="return")  # of a worker that is just lost: an exception
        return [name for name, there in seen.items() if there is False]

    def table(self, of: Callable[[Any, Any], Any], given: Any, items: list[Any], sizes: list[int], like: Any) -> Any:
        """The collection whose blocks are `of(given, item)`: data frames or arrays, as `like`, the first rows, is."""
        once, shared = dask.delayed(of, pure=False), dask.delayed(given, pure=False, traverse=False)
        parts = [once(shared, item) for item in items]
        if hasattr(like, "iloc"):
            return dd.from_delayed(parts, meta=like.iloc[:0], verify_meta=False)
        width, kind = like.shape[1], np.asarray(like).dtype
        blocks = [da.from_delayed(part, (n, width), dtype=kind) for part, n in zip(parts, sizes, strict=True)]
        return da.concatenate(blocks)


def _itself(given: Any) -> Any:
    return given


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The cluster at an address such as ``tcp://host:8786``; ConnectionError where none answers."""
    try:
        # First: a client that stumbles over an address stays the scheduler of all of Dask, and never answers.
        get_address_host_port(normalize_address(address))
        client = Client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as problem:
        raise ConnectionError(
            f"no scheduler of dask.distributed answers at {address}: {problem}. Start one with `dask scheduler` and "
            "`dask worker ADDRESS`, and give its address, such as tcp://host:8786."
        ) from problem
    try:
        if not client.nthreads():
            client.wait_for_workers(1, timeout=30)
        yield Cluster(client)
    except TimeoutError as problem:
        raise ConnectionError(
            f"the cluster at {address} has no workers. Start some: dask worker {address}"
        ) from problem
    finally:
        client.close()
