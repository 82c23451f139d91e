"""The only module that imports PyTorch (when the first model is fitted), and networks on its tensors.

The layers are those of `_network`; here PyTorch differentiates them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lowdim._core.runtime.background import imported
from lowdim._core.runtime.threads import can_start, n_threads
from lowdim.latent.networks._network import Network

BETAS, TINY = (0.9, 0.999), 1e-8  # of Adam (Kingma and Ba, 2015)
EXACT_CODES = 16  # up to so many, every row of a Jacobian is computed; beyond, mini-batches take a random direction

SLOPES: dict[str, Any] = {
    "linear": None,
    "tanh": lambda a: 1 - a * a,
    "sigmoid": lambda a: a * (1 - a),
    "relu": lambda a: (a > 0).to(a.dtype),
    "elu": lambda a: (a + 1).clamp(max=1.0),
    "softplus": lambda a: -(-a).expm1(),
}


def load(owner: str) -> Any:
    """PyTorch, or an error that says how to install it. Ctrl-C leaves a running import to finish in the background."""
    try:
        return imported("torch")
    except ImportError as error:
        raise ImportError(f"{owner}: PyTorch is needed; install it with: pip install 'lowdim[latent]'") from error


def device(name: str, owner: str, *, full_batch: bool = False) -> str:
    """The device to train on: "auto" is the GPU where there is one, else "cpu", "cuda", "cuda:1", "mps".

    With `full_batch` (all rows at once, in double precision) a GPU is no faster, and "auto" is the CPU.
    """
    torch = load(owner)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() and not full_batch else "cpu"
    try:
        found = torch.device(name)
        float(torch.zeros(1, device=found))  # some devices, such as "meta", hold no numbers
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise ValueError(
            f"{owner}: device must be 'auto', 'cpu' or a GPU that PyTorch finds here; got {name!r} ({error})."
        ) from error
    return str(found)


def stream(rng: np.random.Generator, owner: str) -> Any:
    """A generator of PyTorch on the CPU, seeded from one of numpy; PyTorch's global generator is not used."""
    torch = load(owner)
    return torch.Generator(device="cpu").manual_seed(int(rng.integers(2**62)))


@contextmanager
def cores(n_jobs: int | None, owner: str) -> Iterator[None]:
    """PyTorch's number of threads inside the block; the caller's setting is restored afterwards.

    One where no other can be started: OpenMP would end the process.
    """
    torch = load(owner)
    before, wanted = torch.get_num_threads(), n_threads(n_jobs)
    torch.set_num_threads(wanted if wanted == 1 or can_start() else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# ---- networks on tensors ------------------------------------------------------------------------------------


def activate(torch: Any, name: str, x: Any) -> Any:
    """An activation by its name."""
    if name == "linear":
        return x
    functions = torch.nn.functional
    return getattr(functions if name in ("relu", "elu", "softplus") else torch, name)(x)


def forward(torch: Any, net: Network, layers: Any, A: Any) -> list[Any]:
    """The values of all layers, the input first."""
    values = [A]
    for (W, b), name in zip(layers, net.activations, strict=True):
        values.append(activate(torch, name, torch.addmm(b, values[-1], W)))
    return values


def split(torch: Any, rows: Any, incomplete: bool) -> tuple[Any, Any]:
    """Rows with 0 in the place of missing cells, and which cells are observed; None where all are."""
    if not incomplete:
        return rows, None
    seen = ~rows.isnan()
    return torch.where(seen, rows, torch.zeros_like(rows)), seen


def mean_square(errors: Any, seen: Any) -> Any:
    """Mean squared error of the observed cells."""
    return errors.square().mean() if seen is None else (errors.square() * seen).sum() / seen.sum().clamp(min=1)


def adam(x: Any, slope: Any, first: Any, second: Any, rate: float, step: int) -> None:
    """One step, in place."""
    first.lerp_(slope, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(slope, slope, value=1 - BETAS[1])
    size = second.sqrt().div_(math.sqrt(1 - BETAS[1] ** step)).add_(TINY)
    x.addcdiv_(first, size, value=-rate / (1 - BETAS[0] ** step))


def squared_weights(layers: Any) -> Any:
    """Sum of squared weights, for weight decay; biases are not penalised."""
    return sum(W.square().sum() for W, _ in layers)


def contraction(net: Network, layers: Any, values: list[Any], probe: Any = None) -> Any:
    """Mean over the rows of the squared Frobenius norm of the Jacobian of a network's output by its input.

    One layer: sum_j f'(a_j)² |W_j|². In general the rows of the Jacobian are propagated back through the layers, all
    of them, or with `probe` (random signs) one random sum of them, whose squared norm has the right expectation.
    """
    slopes = [SLOPES[name] and SLOPES[name](after) for name, after in zip(net.activations, values[1:], strict=True)]
    W = layers[-1][0]
    if len(layers) == 1:
        norms = W.square().sum(dim=0)
        return norms.sum() if slopes[0] is None else (slopes[0].square() @ norms).mean()
    if probe is not None:
        J = (probe if slopes[-1] is None else probe * slopes[-1]) @ W.T
    elif slopes[-1] is None:
        J = W.T.expand(len(values[0]), -1, -1)
    else:
        J = slopes[-1][:, :, None] * W.T
    for (weights, _), slope in zip(reversed(layers[:-1]), reversed(slopes[:-1]), strict=True):
        if slope is not None:
            J = J * (slope if probe is not None else slope[:, None, :])
        J = J @ weights.T
    return J.square().sum() / len(values[0])
