"""What each command does; `cli` parses the arguments.

Methods and measures are imported where they are used, so that an error in a file name comes at once.
"""

from lowdim.app.commands.built_in import datasets, reproduce
from lowdim.app.commands.compare import compare
from lowdim.app.commands.models import fit, inverse, transform
from lowdim.app.commands.score import score
from lowdim.app.commands.tables import describe, impute

__all__ = ["compare", "datasets", "describe", "fit", "impute", "inverse", "reproduce", "score", "transform"]
