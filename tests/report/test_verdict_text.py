"""The verdict on the page: answers are set apart from numbers, and no word is lost."""

import pytest

from lowdim.report.explained import weighed

CASES = [
    ("To see which rows are similar, look at tsne (it keeps 55 % (of all)); next is umap.", "tsne "),
    ("To see the classes, look at umap; its lead is within chance.", "umap"),
    ("There is structure, clearly: columns are related. The map keeps 80 %.", "There is structure, clearly"),
    ("No structure was found: the pca map keeps 23 % beyond chance, noise 20 to 30 %.", "No structure was found"),
    ("There is structure, by a narrow lead. The map keeps 80 %.", "There is structure, by a narrow lead."),
    ("Groups in the tsne map (classes; 3 left out): none found; several in one.", " none found"),
    ("In the tsne map 3 of 4 rows can be trusted (better placed); 1 is misplaced.", "3 of 4 rows can be trusted "),
    ("2 columns cannot hold everything: the data have about 6.5 dimensions (4.1 to 8.6). Every map must tear.",
     "2 columns cannot hold everything"),
    ("No verdict: 12 rows are too few (at least 30).", "No verdict"),
    ("Do not read far (0.69), nor near (0.1).", "Do not read far  nor near "),
    ("pca ) is 0.5", "pca ) is 0.5"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "claim"), CASES)
def test_the_answer_is_set_apart(text, claim):
    runs = [(role, "".join(piece for piece, _ in pieces)) for role, pieces in weighed(text)]
    assert "".join(run for _, run in runs) == text
    assert "".join(run for role, run in runs if role == "claim") == claim
    assert all(run.startswith("(") and run.endswith(")") for role, run in runs if role == "aside")


def test_a_word_is_explained_once_in_a_sentence():
    pieces = [piece for _, run in weighed("beyond chance (beyond chance); rank correlation") for piece in run]
    assert [word for word, why in pieces if why] == ["beyond chance", "rank correlation"]
