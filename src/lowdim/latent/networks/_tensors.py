"""Networks on tensors: the same layers as `_network`, for PyTorch to differentiate."""

from __future__ import annotations

from typing import Any

from lowdim.latent.networks._network import Network

EXACT_CODES = 16  # up to so many, every row of a Jacobian is computed; beyond, mini-batches take a random direction

SLOPES: dict[str, Any] = {
    "linear": None,
    "tanh": lambda a: 1 - a * a,
    "sigmoid": lambda a: a * (1 - a),
    "relu": lambda a: (a > 0).to(a.dtype),
    "elu": lambda a: (a + 1).clamp(max=1.0),
    "softplus": lambda a: -(-a).expm1(),
}


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


def decay(layers: Any) -> Any:
    """Sum of squared weights; biases are free."""
    return sum(W.square().sum() for W, _ in layers)


def contraction(net: Network, layers: Any, values: list[Any], probe: Any = None) -> Any:
    """Mean over the rows of the squared Frobenius norm of the Jacobian of a network's output by its input.

    One layer: sum_j f'(a_j)² |W_j|². In general the rows of the Jacobian are led back through the layers, all of them,
    or with `probe` (random signs) one random sum of them, whose squared norm has the right mean.
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
