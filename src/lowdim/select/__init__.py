"""Choose settings from the data: the number of components, the intrinsic dimension, the kernel and its width.

Every choice comes with the curve of the criterion behind it.

    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> lowdim.select.n_components(X, rules=["share", "drop"]).choices
    {'share 0.85': 3, 'share 0.9': 3, 'drop': None}
"""

from lowdim.select.components import ComponentChoice, n_components
from lowdim.select.dimensions import DimensionChoice, n_dimensions
from lowdim.select.intrinsic import IntrinsicDimension, intrinsic_dimension
from lowdim.select.widths import KernelChoice, WidthCurve, kernel_width

__all__ = [
    "ComponentChoice",
    "DimensionChoice",
    "IntrinsicDimension",
    "KernelChoice",
    "WidthCurve",
    "intrinsic_dimension",
    "kernel_width",
    "n_components",
    "n_dimensions",
]
