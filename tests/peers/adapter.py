"""An estimator with the names of a peer that computes with one of ours."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

used = [0]  # how often something of ours was asked for: a test that never does says nothing about us


class Lacks(NotImplementedError):
    """The peer has it, and there is nothing of the same meaning here."""


class Adapter(TransformerMixin, BaseEstimator):
    """Base of the adapters; `adapter` makes one.

    Parameters are those of the peer. At every `fit` they are translated into those of a new model of ours, which then
    answers for everything.
    """

    _ours: ClassVar[type]
    _translate: ClassVar[Callable[[dict[str, Any], Any], dict[str, Any]]]
    _attributes: ClassVar[Mapping[str, Any]] = {}  # name there -> name here, or a function of our model
    _fitted: Any = None

    def _build(self, X: Any = None) -> Any:
        used[0] += 1
        model = self._ours(**type(self)._translate(self.get_params(deep=False), X))
        if getattr(model, "random_state", 0) is None:
            model.set_params(random_state=0)  # a test holds or not, whatever is drawn
        return model

    def _rows(self, X: Any, *rest: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What our `fit` is given for what the peer's was."""
        return (X, *rest), options

    def fit(self, X, *rest, **options):
        model = self._build(X)
        args, options = self._rows(X, *rest, **options)
        model.fit(*args, **options)
        self._fitted, self._n_rows = model, np.shape(X)[0]
        return self

    def fit_transform(self, X, *rest, **options):
        model = self._build(X)
        args, options = self._rows(X, *rest, **options)
        Z = model.fit_transform(*args, **options)
        self._fitted, self._n_rows = model, np.shape(X)[0]
        return Z

    def transform(self, X, *rest, **options):
        return self._model().transform(X, *rest, **options)

    def _model(self) -> Any:
        return self._build() if self._fitted is None else self._fitted

    def __sklearn_tags__(self):
        return self._build().__sklearn_tags__()

    def __sklearn_is_fitted__(self):
        return self._fitted is not None

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        found = type(self)._attributes.get(name, name)
        if callable(found):
            if self._fitted is None:
                raise AttributeError(name)
            return found(self._fitted)
        return getattr(self._model() if hasattr(self._ours, found) else self._fitted, found)


def adapter(
    peer: type, ours: type, *bases: type, translate: Callable, attributes: Mapping = (), **members: Any
) -> type:
    """A class with the signature of `peer` that computes with `ours`."""
    signature = inspect.signature(peer.__init__)

    @wraps(peer.__init__)
    def __init__(self, *args, **given):
        bound = signature.bind(self, *args, **given)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name != "self":
                setattr(self, name, value)

    members |= {
        "__init__": __init__,
        "_ours": ours,
        "_translate": staticmethod(translate),
        "_attributes": dict(attributes),
        "__doc__": f"{peer.__module__}.{peer.__name__}, computed by lowdim.{ours.__name__}.",
    }
    return type(peer.__name__, (*bases, Adapter), members)


def translation(same: str = "", /, **rules: Any) -> Callable[..., dict[str, Any]]:
    """Parameters of a peer as ours: those named in `same` as they are, the others by a rule each.

    A rule is the name here, a dictionary from value to our parameters, or a function of the value that returns our
    parameters; None says that the parameter has nothing to do here.
    """
    kept = same.split()

    def translate(given: dict[str, Any], X: Any = None) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in given.items():
            rule = name if name in kept else rules[name]
            if isinstance(rule, str):
                made[rule] = value
            elif isinstance(rule, Mapping):
                if isinstance(value, str | bool | None) and value in rule:
                    made |= rule[value]
                else:
                    raise Lacks(f"{name}={value!r}")
            elif rule is not None:
                made |= rule(value)
        return made

    return translate
