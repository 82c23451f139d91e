"""Maps of very many rows as tiles: a file of points in the order of a quadtree, and what a page asks of it.

`write` makes the file of a `Scatter`; `Atlas` opens it and answers: the density of a square, a fair sample of its
points, the row nearest to a place, the rows inside a loop. Nothing but the part that is asked for is read.
"""

from lowdim.report.tiles.atlas import Atlas
from lowdim.report.tiles.scatter import Colour, Places, Scatter
from lowdim.report.tiles.store import write

__all__ = ["Atlas", "Colour", "Places", "Scatter", "write"]
