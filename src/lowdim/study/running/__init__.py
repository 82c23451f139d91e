"""Running the methods of a comparison: one after the other, in processes of their own, and again after a stop."""

from lowdim.study.running.all_methods import NO_VERDICT, STOPPED, Progress, Runner, Steps
from lowdim.study.running.baselines import expected_runs
from lowdim.study.running.checkpoint import Checkpoint
from lowdim.study.running.isolated import Limits
from lowdim.study.running.one_method import Outcome, diagnostics, fitted, plain_parameters, run

__all__ = [
    "NO_VERDICT",
    "STOPPED",
    "Checkpoint",
    "Limits",
    "Outcome",
    "Progress",
    "Runner",
    "Steps",
    "diagnostics",
    "expected_runs",
    "fitted",
    "plain_parameters",
    "run",
]
