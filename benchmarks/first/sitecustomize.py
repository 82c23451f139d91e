"""Lets PYTHONPATH decide which lowdim is imported, also where one is installed in editable mode.

Such an installation puts a finder of its own before that of the path. Python reads this file at its start where the
folder is on its path, which it is for comparisons of two checkouts only.
"""

import sys
from importlib.machinery import PathFinder

sys.meta_path.insert(0, PathFinder)
