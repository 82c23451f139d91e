"""Plots of embeddings, of how faithful they are, and of what can be trusted in them.

Every function draws on the given Axes (``ax=``), or on new ones, and returns them; `comparison` and `component_choice`
draw several charts and return the figure. The colours are safe for colour-blind readers, and no verdict is told by
colour alone; maps have the same scale on both axes, and nothing is shown or saved. matplotlib is imported when the
first plot is drawn; ``pip install 'lowdim[app]'`` installs it.
"""

from __future__ import annotations

from lowdim.plot._curves import component_choice, rnx_curves, scree
from lowdim.plot._factor_maps import biplot, correlation_circle, factor_map
from lowdim.plot._imputation import imputation
from lowdim.plot._kernels import kernel_choice
from lowdim.plot._maps import comparison, embedding
from lowdim.plot._pairs import coranking, shepard, stress_per_point
from lowdim.plot._style import COLORS as COLORS
from lowdim.plot._trust import dimension, group_distances, groups, stability, structure

__all__ = [
    "biplot",
    "comparison",
    "component_choice",
    "coranking",
    "correlation_circle",
    "dimension",
    "embedding",
    "factor_map",
    "group_distances",
    "groups",
    "imputation",
    "kernel_choice",
    "rnx_curves",
    "scree",
    "shepard",
    "stability",
    "stress_per_point",
    "structure",
]
