"""The one door to PyTorch: loaded when the first model is fitted, with a word on how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def load(owner: str) -> Any:
    """PyTorch, or an error that says how to install it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{owner}: PyTorch is needed; install it with: pip install 'lowdim[latent]'") from error
    return torch


def device(name: str, owner: str) -> Any:
    """Where to compute: "auto" is the GPU where there is one, else "cpu", "cuda", "cuda:1", "mps"."""
    torch = load(owner)
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
        float(torch.zeros(1, device=found))  # a device that holds no numbers is none
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise ValueError(
            f"{owner}: device must be 'auto', 'cpu' or a GPU that PyTorch finds here; got {name!r} ({error})."
        ) from error
    return found


def stream(rng: np.random.Generator, owner: str, where: Any = "cpu") -> Any:
    """A generator of PyTorch that continues a stream of numpy; the global one is left alone."""
    torch = load(owner)
    return torch.Generator(device=where).manual_seed(int(rng.integers(2**62)))


@contextmanager
def cores(n_jobs: int | None, owner: str) -> Iterator[None]:
    """PyTorch's threads for one computation, put back afterwards; None leaves them as they are."""
    from lowdim._core.runtime.threads import n_threads

    torch = load(owner)
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads(n_jobs))
    try:
        yield
    finally:
        torch.set_num_threads(before)
