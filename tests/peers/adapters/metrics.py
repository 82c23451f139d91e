"""Metrics with parameters: here a function of two rows holds them."""

from functools import partial

from scipy.spatial import distance

from tests.peers import adapter


def metric_of(metric, p, params):
    """The metric of ours that a name with parameters means."""
    params = dict(params or {})
    if metric == "minkowski":
        p = params.pop("p", p)
        metric = {1: "manhattan", 2: "euclidean"}.get(p) or partial(distance.minkowski, p=p)
    elif isinstance(metric, str) and params:
        metric = partial(getattr(distance, metric), **params)
    elif callable(metric) and params:
        metric = partial(metric, **params)
    return {"metric": metric}


def rows_of(X):
    """X, counted as a question to one of our estimators."""
    adapter.used[0] += 1
    return X
