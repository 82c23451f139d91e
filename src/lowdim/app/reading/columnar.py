"""Parquet and Arrow, by polars."""

from __future__ import annotations

import polars as pl

from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded
from lowdim.app.reading.source import Source


def read_parquet(source: Source, how: ReadOptions) -> Loaded:
    return Loaded(pl.read_parquet(source.content), tuple(source.notes))


def read_arrow(source: Source, how: ReadOptions) -> Loaded:
    return Loaded(pl.read_ipc(source.content), tuple(source.notes))


def read_arrow_stream(source: Source, how: ReadOptions) -> Loaded:
    return Loaded(pl.read_ipc_stream(source.content), tuple(source.notes))
