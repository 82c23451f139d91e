"""Feed-forward networks on numpy arrays: stored, run and differentiated without any other library.

A network is a list of layers a -> f(a W + b). Its parameters are one flat vector, so that an optimiser, a model file
and a checkpoint hold the same numbers; derivatives of f are functions of its value, so that a forward pass stores
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from lowdim._core.runtime import threads

Array = np.ndarray
Layers = Sequence[tuple[Array, Array]]
ROWS = 512  # of a forward pass on one thread
BLOCK = 32 * ROWS  # whose reconstruction errors are computed at a time


class Activation(NamedTuple):
    """A function of one number, with its first two derivatives as functions of its value."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    bend: Callable[[Array], Array]


def _softplus_slope(a: Array) -> Array:
    return -np.expm1(-a)


ACTIVATIONS = {
    "linear": Activation(lambda x: x, np.ones_like, np.zeros_like),
    "tanh": Activation(np.tanh, lambda a: 1 - a * a, lambda a: -2 * a * (1 - a * a)),
    "sigmoid": Activation(expit, lambda a: a * (1 - a), lambda a: a * (1 - a) * (1 - 2 * a)),
    "relu": Activation(lambda x: np.maximum(x, 0.0), lambda a: (a > 0).astype(a.dtype), np.zeros_like),
    "elu": Activation(
        lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))),
        lambda a: np.where(a > 0, 1.0, a + 1.0),
        lambda a: np.where(a > 0, 0.0, a + 1.0),
    ),
    "softplus": Activation(
        lambda x: np.logaddexp(x, 0.0),
        _softplus_slope,
        lambda a: _softplus_slope(a) * np.exp(-a),
    ),
}


@dataclass(frozen=True)
class Network:
    """Sizes of the layers, the input first, and the activation of each layer after it."""

    sizes: tuple[int, ...]
    activations: tuple[str, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], activation: str, last: str = "linear") -> Network:
        """The same activation in all layers but the last."""
        return cls(tuple(sizes), (activation,) * (len(sizes) - 2) + (last,))

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Of the weight matrices."""
        return list(zip(self.sizes[:-1], self.sizes[1:], strict=True))

    @property
    def lengths(self) -> list[int]:
        """Numbers of parameters: weights and biases of each layer in turn."""
        return [length for a, b in self.shapes for length in (a * b, b)]

    @property
    def n_parameters(self) -> int:
        return sum(self.lengths)

    def layers(self, flat: Array) -> list[tuple[Array, Array]]:
        """Views of the flat vector as weights and biases; works for arrays and, by `split`, for tensors alike."""
        parts = self._split(flat)
        pairs = zip(parts[::2], parts[1::2], self.shapes, strict=True)
        return [(weights.reshape(shape), biases) for weights, biases, shape in pairs]

    def _split(self, flat: Any) -> Any:
        if isinstance(flat, np.ndarray):
            return np.split(flat, np.cumsum(self.lengths)[:-1])
        return flat.split(self.lengths)  # one operation, whose derivative is one concatenation

    def weights_mask(self) -> Array:
        """1 for weights, 0 for biases, which weight decay leaves out."""
        parts = [np.full(length, 1.0 - i % 2) for i, length in enumerate(self.lengths)]
        return np.concatenate(parts)

    def initial(self, rng: np.random.Generator) -> Array:
        """Random weights that keep the variance from layer to layer (Glorot and Bengio, 2010); biases 0."""
        parts = []
        for (a, b), activation in zip(self.shapes, self.activations, strict=True):
            gain = 2.0 if activation in ("relu", "elu", "softplus") else 1.0
            limit = np.sqrt(6.0 * gain / (a + b))
            parts += [rng.uniform(-limit, limit, a * b), np.zeros(b)]
        return np.concatenate(parts)

    def forward(self, layers: Layers, A: Array) -> list[Array]:
        """The values of all layers, the input first."""
        values = [A]
        for (W, b), name in zip(layers, self.activations, strict=True):
            values.append(ACTIVATIONS[name].value(values[-1] @ W + b))
        return values

    def __call__(self, layers: Layers, A: Array) -> Array:
        """The output alone."""
        for (W, b), name in zip(layers, self.activations, strict=True):
            A = ACTIVATIONS[name].value(A @ W + b)
        return A

    def backward(self, layers: Layers, values: list[Array], G: Array) -> tuple[Array, Array]:
        """From the derivative of a loss by the output: by the flat parameters, and by the input."""
        parts: list[Array] = []
        for (W, _), before, after, name in reversed(
            list(zip(layers, values[:-1], values[1:], self.activations, strict=True))
        ):
            G = G if name == "linear" else G * ACTIVATIONS[name].slope(after)
            parts += [G.sum(axis=0), (before.T @ G).ravel()]
            G = G @ W.T
        return np.concatenate(parts[::-1]), G

    def curvature(
        self, layers: Layers, values: list[Array], J: Array, G: Array, observed: Array
    ) -> tuple[Array, Array, Array]:
        """Of sum (observed (x - output)²) / 2 by the variables that J = d input / d variables belongs to.

        G is its derivative by the output. Returns the derivative by the input, and the gradient and the exact second
        derivatives by the variables, one block for each row: the sum over the layers of P' diag(adjoint f'') P, where
        P are the derivatives of the layer's sums by the variables, plus J'J of the observed outputs. The curvature of
        the input itself is left to the caller, who has the derivative by it.
        """
        sums = []
        for (W, _), after, name in zip(layers, values[1:], self.activations, strict=True):
            P = np.einsum("nik,ij->njk", J, W)
            sums.append(P)
            J = P if name == "linear" else P * ACTIVATIONS[name].slope(after)[:, :, None]
        gradient = np.einsum("nj,njk->nk", G, J)
        H = np.einsum("nj,njk,njl->nkl", observed, J, J)
        for (W, _), after, P, name in reversed(list(zip(layers, values[1:], sums, self.activations, strict=True))):
            if name != "linear":
                H = H + np.einsum("nj,njk,njl->nkl", G * ACTIVATIONS[name].bend(after), P, P)
                G = G * ACTIVATIONS[name].slope(after)
            G = G @ W.T
        return G, gradient, H


# ---- fitted networks ----------------------------------------------------------------------------------------


def weights_and_biases(layers: Layers) -> tuple[list[Array], list[Array]]:
    """Copies of the weights and of the biases of each layer, as estimators keep them."""
    return [W.copy() for W, _ in layers], [b.copy() for _, b in layers]


def run(net: Network, weights: list[Array], biases: list[Array], A: Array, n_jobs: int | None) -> Array:
    """The output of a fitted network for the rows of A, in double precision."""
    layers = list(zip(weights, biases, strict=True))
    return np.concatenate(threads.map_rows(lambda rows: net(layers, A[rows]), len(A), ROWS, n_jobs))


def row_errors(X: Array, Z: Array, invert: Callable[[Array], Array]) -> Array:
    """Mean squared reconstruction error of each row's observed cells."""
    blocks = threads.blocks(len(X), BLOCK)
    return np.concatenate([np.nanmean(np.square(invert(Z[block]) - X[block]), axis=1) for block in blocks])
