"""Pictures of embeddings and of how faithful they are.

Every function draws on the Axes it is given, or on new ones, and returns what it drew on. Colours can be told apart
with any kind of colour vision, maps have the same scale on both axes, and nothing is shown or saved by itself.
matplotlib is loaded when the first picture is drawn: ``pip install 'lowdim[app]'`` brings it.
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
