"""The verdict on the page: answers are set apart from numbers, and no word is lost."""

import pytest

from lowdim.report.explained import weighed

CASES = [
    ("To see rows, look at tsne (it keeps 55 % (of all)); next is umap.", "To see rows, look at tsne "),
    ("There is structure: columns are related. The map keeps 80 %.", "There is structure: columns are related."),
    (
        "Groups in the tsne map (classes; 3 left out): none found; several in one.",
        "Groups in the tsne map : none found",
    ),
    ("Do not read far (0.69), nor near (0.1).", "Do not read far  nor near "),
    ("pca ) is 0.5", "pca ) is 0.5"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "claim"), CASES)
def test_the_answer_is_set_apart(text, claim):
    runs = [(role, "".join(piece for piece, _ in pieces)) for role, pieces in weighed(text)]
    assert "".join(run for _, run in runs) == text
    assert "".join(run for role, run in runs if role == "claim") == claim
    assert all(run.startswith("(") and run.endswith(")") for role, run in runs if role == "aside")


def test_a_word_is_explained_once_in_a_sentence():
    pieces = [piece for _, run in weighed("beyond chance (beyond chance); rank correlation") for piece in run]
    assert [word for word, why in pieces if why] == ["beyond chance", "rank correlation"]
