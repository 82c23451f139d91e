"""The error of a decoder from codes, at one level or at several: components 1, 1 and 2, 1 to 3, ...

A circular component is a point on the unit circle, (cos, sin) of an angle: two inputs of the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lowdim.latent.networks._network import Layers, Network

Array = np.ndarray


class Levels(NamedTuple):
    """The weight of each level's error, and which of the decoder's inputs it uses; the others are 0."""

    weights: Array
    masks: Array

    @classmethod
    def of(cls, k: int, hierarchical: bool, weights: Sequence[float] | None, circular: bool) -> Levels:
        """One level with all k components, or k nested ones; weights are normalised to sum 1."""
        masks = np.tril(np.ones((k, k))) if hierarchical else np.ones((1, k))
        shares = np.ones(len(masks)) if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(shares / shares.sum(), np.repeat(masks, 2, axis=1) if circular else masks)


def misfit(
    net: Network, layers: Layers, C: Array, X: Array, observed: Array, levels: Levels
) -> tuple[float, Array, Array]:
    """Sum of squared errors of the observed cells over the levels; its gradients by the parameters and by the codes."""
    loss, slopes, by_codes = 0.0, np.zeros(net.n_parameters), np.zeros_like(C)
    for weight, mask in zip(*levels, strict=True):
        values = net.forward(layers, C * mask)
        R = (values[-1] - X) * observed
        loss += float(weight) * float(np.einsum("ij,ij->", R, R))
        by_layers, by_input = net.backward(layers, values, 2 * weight * R)
        slopes += by_layers
        by_codes += by_input * mask
    return loss, slopes, by_codes


def on_circles(angles: Array) -> Array:
    """(cos, sin) of each angle, side by side."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(angles), -1)


def along_circles(angles: Array, slopes: Array) -> Array:
    """Gradient by the angles, from the gradient by (cos, sin)."""
    pairs = slopes.reshape(*angles.shape, 2)
    return pairs[:, :, 1] * np.cos(angles) - pairs[:, :, 0] * np.sin(angles)


def onto_circles(pairs: Array) -> tuple[Array, Array]:
    """Points divided by their distances from the centre, and these distances."""
    P = pairs.reshape(len(pairs), -1, 2)
    radius = np.sqrt(np.square(P).sum(axis=2, keepdims=True) + 1e-24)
    return (P / radius).reshape(pairs.shape), radius


def off_circles(codes: Array, radius: Array, slopes: Array) -> Array:
    """Gradient by the points before `onto_circles`, from the gradient by those after it."""
    U, G = codes.reshape(len(codes), -1, 2), slopes.reshape(len(codes), -1, 2)
    return ((G - U * (U * G).sum(axis=2, keepdims=True)) / radius).reshape(codes.shape)


def angles_of(codes: Array) -> Array:
    """The angle of each pair, from -pi to pi."""
    return np.arctan2(codes[:, 1::2], codes[:, ::2])
