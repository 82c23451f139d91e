"""Plots of embeddings and of how faithful they are.

Every function draws on the given Axes, or on new ones, and returns them. The colours are safe for colour-blind readers,
maps have the same scale on both axes, and nothing is shown or saved. matplotlib is imported when the first plot is
drawn; ``pip install 'lowdim[app]'`` installs it.
"""

from __future__ import annotations

from lowdim.plot._curves import component_choice, rnx_curves, scree
from lowdim.plot._factor_maps import correlation_circle, factor_map
from lowdim.plot._imputation import imputation
from lowdim.plot._kernels import kernel_choice
from lowdim.plot._maps import comparison, embedding, shepard
from lowdim.plot._style import COLORS as COLORS

__all__ = [
    "comparison",
    "component_choice",
    "correlation_circle",
    "embedding",
    "factor_map",
    "imputation",
    "kernel_choice",
    "rnx_curves",
    "scree",
    "shepard",
]
