"""Parameters that the user gives to single methods of a comparison, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lowdim.study.methods import find
from lowdim.study.suggestions import did_you_mean


@dataclass(frozen=True)
class Parameters:
    """Method -> name -> value; remembers which methods have taken theirs."""

    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, given: Mapping[str, Mapping[str, Any]] | None) -> Parameters:
        """With the names of the methods as the table has them; an error for what is no such dictionary."""
        if given is None:
            return cls()
        if not isinstance(given, Mapping) or not all(isinstance(one, Mapping) for one in given.values()):
            raise TypeError(
                "compare: parameters must be a dictionary of dictionaries, such as "
                f'{{"umap": {{"n_neighbors": 30}}}}; got {given!r}.'
            )
        return cls({find(str(name)).name: dict(one) for name, one in given.items()})

    def use(self, name: str, estimator: Any) -> Mapping[str, Any]:
        """The parameters of a method; an error for one that its class does not have."""
        own = self.given.get(name, {})
        self.used.add(name)
        if own:
            known = estimator.get_params(deep=False)
            check_known(own, known, name)
        return own

    def check_used(self, running: Iterable[str]) -> None:
        """An error for parameters of a method that does not run."""
        for name in self.given:
            if name not in self.used:
                raise ValueError(
                    f"compare: parameters are given for {name}, which is not among the methods that run "
                    f"({', '.join(running)}). Name it among the methods too."
                )


def check_known(names: Iterable[str], known: Mapping[str, Any], owner: str) -> None:
    """An error for a parameter that a method does not have, with the nearest one and the list."""
    for name in names:
        if name not in known:
            raise ValueError(
                f"{owner} has no parameter {name!r}.{did_you_mean(name, known)} It has: {', '.join(known)}."
            )
