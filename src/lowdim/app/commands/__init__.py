"""What each command does; `cli` parses the arguments.

Methods and measures are imported where they are used, so that an error in a file name comes at once.
"""

from lowdim.app.commands.built_in import datasets, reproduce
from lowdim.app.commands.compare import compare
from lowdim.app.commands.models import fit, transform
from lowdim.app.commands.score import score

__all__ = ["compare", "datasets", "fit", "reproduce", "score", "transform"]
