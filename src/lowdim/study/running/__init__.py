"""Running the methods of a comparison: one after the other, in processes of their own, and again after a stop."""

from lowdim.study.running.all_methods import Progress, Runner, Steps
from lowdim.study.running.checkpoint import Checkpoint
from lowdim.study.running.isolated import Limits
from lowdim.study.running.one_method import Outcome, plain_parameters, run

__all__ = ["Checkpoint", "Limits", "Outcome", "Progress", "Runner", "Steps", "plain_parameters", "run"]
