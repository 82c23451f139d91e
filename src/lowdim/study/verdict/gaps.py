"""Where maps by t-SNE and UMAP draw gaps that the data do not have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from lowdim.neighbor_embedding.tsne import TSNE
from lowdim.neighbor_embedding.umap import UMAP
from lowdim.trust.fractures import Fractures, fractures

if TYPE_CHECKING:
    from lowdim.study.verdict.evidence import Attempts, Case

NO_LOSS = "among the maps that are compared there is none by t-SNE or UMAP, whose rows have losses of their own"


def gaps(case: Case, maps: dict[str, np.ndarray], attempt: Attempts) -> dict[str, Fractures]:
    """Both scores of every row, for each map by t-SNE or UMAP; a map that has none is listed with the reason."""
    names = [name for name in maps if isinstance(case.outcome(name).estimator, (TSNE, UMAP))]
    if not names:
        attempt.skipped["gaps"] = NO_LOSS
    found = {name: attempt(f"gaps of {name}", partial(_of_map, case, name, maps[name])) for name in names}
    return {name: each for name, each in found.items() if each is not None}


def _of_map(case: Case, name: str, Z: np.ndarray) -> Fractures:
    if not case.in_this_process:
        raise ValueError("each method runs under limits in a process of its own")
    if case.targets.get(name):
        raise ValueError("a map that was made with labels has no loss of its own")
    model = case.outcome(name).estimator
    X = case.data.seen_by(model)
    if not hasattr(model, "embedding_"):  # a map kept from an earlier run: the same seed makes it again
        model = clone(model).fit(X)
        if not np.array_equal(model.embedding_, Z):
            raise ValueError("its map is from an earlier run, and made again it is another one; make all of them again")
    return fractures(model, X, n_jobs=case.n_jobs)
