"""Parameters that all methods of a comparison share, as far as each class has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowdim.study.data import Data
from lowdim.study.labels import Labels
from lowdim.study.methods import Method

NEIGHBORS, PERPLEXITY = 10, 30.0  # defaults of the methods; fewer rows get fewer
MEASURING = ("distances", "graph", "neighbors")  # groups of methods on distances
DIRECTIONS = ("classes", "a second table")  # targets that limit the number of components


@dataclass(frozen=True)
class Settings:
    """What a comparison sets.

    Attributes
    ----------
    n_components : int
        Components of every method given by name.
    n_rows : int
        Rows of the data; few rows allow few neighbours only.
    seed, n_jobs, verbose
        As in `compare`.
    incomplete : bool
        A cell is missing.
    mixed : bool
        The table has categories: distances are Gower's.
    n_classes : int
        Classes of the label; 0 if it has none.
    baseline : str
        The method that the others are compared with.
    distances : bool
        The data are distances between items.
    device : str or None
        As in `compare`.
    """

    n_components: int
    n_rows: int
    seed: int = 0
    n_jobs: int | None = None
    verbose: int = 0
    incomplete: bool = False
    mixed: bool = False
    n_classes: int = 0
    baseline: str = "pca"
    distances: bool = False
    device: str | None = None

    @classmethod
    def for_data(
        cls,
        data: Data,
        labels: Labels | None,
        n_components: int,
        seed: int,
        n_jobs: int | None,
        verbose: int = 0,
        device: str | None = None,
    ) -> Settings:
        """What this data asks for."""
        classes = 0 if labels is None or labels.classes is None else len(labels.classes)
        mixed = data.mixed is not None
        return cls(
            n_components, data.n, seed, n_jobs, verbose, data.incomplete, mixed, classes, data.baseline, data.distances,
            device,
        )  # fmt: skip

    def of(self, method: Method) -> dict[str, Any]:
        """For a method given by name; parameters that its class does not have are ignored there."""
        found: dict[str, Any] = {"random_state": self.seed, "n_jobs": self.n_jobs, "verbose": self.verbose}
        found["n_components"] = self._components(method)
        if self.device is not None:
            found["device"] = self.device
        if self.distances and self._measures(method):
            found["metric"] = "precomputed"
        elif self.mixed and self._measures(method):
            found |= {"metric": "gower"} | ({"missing": "pairwise"} if self.incomplete else {})
        elif self.incomplete:
            found["missing"] = method.for_holes()
        if self.n_rows <= 3 * PERPLEXITY:
            found["perplexity"] = max(1.0, min(PERPLEXITY, (self.n_rows - 1) / 3))
        if self.n_rows <= NEIGHBORS:
            found["n_neighbors"] = max(1, self.n_rows - 1)
        return found

    def _components(self, method: Method) -> int:
        """Two classes have one direction that separates them, and a label of numbers is one column."""
        most = self.n_classes - 1 if self.n_classes else 1
        return max(1, min(self.n_components, most)) if method.target in DIRECTIONS else self.n_components

    def _measures(self, method: Method) -> bool:
        return method.group in MEASURING

    def shared(self, own: dict[str, Any]) -> dict[str, Any]:
        """For an estimator with these parameters: those that it has left at None or 0."""
        common = {"random_state": self.seed, "n_jobs": self.n_jobs}
        found = {key: value for key, value in common.items() if own.get(key, 0) is None}
        if "verbose" in own and self.verbose > 0 and own["verbose"] in (None, 0):
            found["verbose"] = bool(self.verbose) if isinstance(own["verbose"], bool) else self.verbose
        return {key: value for key, value in found.items() if value is not None}
