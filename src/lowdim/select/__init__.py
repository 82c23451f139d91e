"""Choose settings from the data: the method, the number of neighbours, the number of components,
the intrinsic dimension, the kernel and its width.

Every choice comes with the curve of the criterion behind it.

    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> lowdim.select.n_components(X, rules=["share", "drop"]).choices
    {'share 0.85': 3, 'share 0.9': 3, 'drop': None}
"""

from lowdim.select._ceiling import Ceiling
from lowdim.select.components import ComponentChoice, n_components
from lowdim.select.dimensions import DimensionChoice, n_dimensions
from lowdim.select.intrinsic import IntrinsicDimension, intrinsic_dimension
from lowdim.select.methods import MethodChoice, method
from lowdim.select.settings import SettingChoice, n_neighbors
from lowdim.select.widths import KernelChoice, WidthCurve, kernel_width

__all__ = [
    "Ceiling",
    "ComponentChoice",
    "DimensionChoice",
    "IntrinsicDimension",
    "KernelChoice",
    "MethodChoice",
    "SettingChoice",
    "WidthCurve",
    "intrinsic_dimension",
    "kernel_width",
    "method",
    "n_components",
    "n_dimensions",
    "n_neighbors",
]
