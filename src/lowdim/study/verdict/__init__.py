"""From scores to answers: which map for which question, and what must not be read from it."""

from lowdim.study.verdict.evidence import Evidence, gather
from lowdim.study.verdict.rules import verdict_of
from lowdim.study.verdict.sentence import Sentence, Verdict

__all__ = ["Evidence", "Sentence", "Verdict", "gather", "verdict_of"]
