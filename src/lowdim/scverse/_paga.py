"""Where a map begins when groups of cells have been placed already."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.runtime.rng import generator


def around_groups(adata: Any, random_state: Any, owner: str) -> np.ndarray:
    """Each cell beside its group: spread towards the group that is connected best, and as far.

    Parameters
    ----------
    adata : AnnData
        With ``uns["paga"]``: "groups", a column of `obs`, "connectivities" between groups and "pos", their places.
    random_state : int, generator or None
        Seed of the spread.
    owner : str
        Who asks, for messages.

    Returns
    -------
    ndarray of shape (n_cells, 2)
    """
    paga = adata.uns.get("paga", {})
    if "pos" not in paga:
        raise KeyError(f"{owner}: init_pos='paga' needs places of groups in uns['paga']['pos']; scanpy.pl.paga does.")
    places, column = np.asarray(paga["pos"], dtype=np.float64), adata.obs[paga["groups"]]
    codes = np.asarray(column.cat.codes)
    if len(places) <= codes.max(initial=-1) or codes.min(initial=0) < 0:
        raise ValueError(
            f"{owner}: init_pos='paga' needs a place for each group of obs[{paga['groups']!r}], and a group for each "
            f"cell; there are {len(places)} places and {len(column.cat.categories)} groups."
        )
    links = paga["connectivities"]
    links = np.asarray(links.toarray() if hasattr(links, "toarray") else links)
    nearest = np.where(links.max(axis=1) > 0, links.argmax(axis=1), np.arange(len(links)))
    reach = (places - places[nearest])[codes]
    return places[codes] + reach * (generator(random_state).random(reach.shape) - 0.5)
