"""What a verdict is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowdim._core.runtime.printable import printable
from lowdim.study.json_values import plain


@dataclass(frozen=True)
class Sentence:
    """One answer with the numbers it rests on.

    Attributes
    ----------
    topic : str
        The question: "rows compared", "structure", "neighbours", "distances", "not to be read", "along the data",
        "labels", "rows", "groups", "between groups", "dimension", "linear", "stability", "gaps", "few rows" or
        "not judged".
    text : str
        The answer in words.
    numbers : dict
        The numbers in it, by name.
    evidence : str
        Where they stand on the page: the id of a section.
    """

    topic: str
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)
    evidence: str = "scores"

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "topic": self.topic, "text": self.text, "numbers": plain(self.numbers), "evidence": self.evidence,
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Which map to trust for which question, in words; the same numbers always give the same words.

    Attributes
    ----------
    sentences : tuple of Sentence
        The answers, the most important first.
    recommended : str or None
        The map to look at first: the best for neighbours; None if no map could be judged.
    rows : dict of str to ndarray of str
        Method -> for each row "trusted", "unsure" or "misplaced", for the maps that were judged against noise.
    p_values : dict of str to ndarray
        Method -> for each row the share of rows of noise that are at least as well placed.
    """

    sentences: tuple[Sentence, ...] = ()
    recommended: str | None = None
    rows: dict[str, np.ndarray] = field(default_factory=dict)
    p_values: dict[str, np.ndarray] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(printable(sentence.text) for sentence in self.sentences)

    def __repr__(self) -> str:
        return f"<Verdict: {len(self.sentences)} sentences>\n{self}"

    def about(self, topic: str) -> list[Sentence]:
        """The sentences that answer one question.

        Parameters
        ----------
        topic : str
            As in `Sentence`.
        """
        return [sentence for sentence in self.sentences if sentence.topic == topic]

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it, without the values of each row."""
        counts = {
            name: {kind: int((found == kind).sum()) for kind in ("trusted", "unsure", "misplaced")}
            for name, found in self.rows.items()
        }
        return {
            "recommended": self.recommended,
            "sentences": [sentence.to_dict() for sentence in self.sentences],
            "rows": counts,
        }
