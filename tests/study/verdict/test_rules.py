"""Each rule: its sentence appears where the numbers say so, and not elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from lowdim._core.ranks.ranking import Ranking
from lowdim.select.intrinsic import IntrinsicDimension
from lowdim.study.drawn import Drawn
from lowdim.study.reference_choice import ReferenceChoice
from lowdim.study.verdict import Evidence, verdict_of
from lowdim.study.verdict.against_noise import SampledRows
from lowdim.study.verdict.order import TableOrder
from lowdim.study.verdict.rankings import ClassesShown
from lowdim.study.verdict.rules import RULES
from lowdim.study.verdict.rules.words import percent
from lowdim.study.verdict.structure_found import FoundStructure, Nearer, Without
from lowdim.trust.fractures import Fractures
from lowdim.trust.groups import Group, GroupPair, GroupTrust
from lowdim.trust.stability import Stability

AMBIENT = ReferenceChoice("ambient", "straight distances", None, "euclidean", "ambient")


def ranked(question, values, ties, measure="area under R_NX"):
    best = next(iter(values))
    behind = {name: (values[best] - value, 0.0, 0.2) for name, value in values.items() if name != best}
    return Ranking(question, measure, values, behind, ties)


def evidence(**changes):
    neighbours = ranked("neighbours", {"tsne": 0.6, "umap": 0.5, "pca": 0.3}, ("tsne",))
    found = Evidence(
        ("tsne", "umap", "pca"), 2, 100, AMBIENT, "pca", {"neighbours": neighbours}, "tsne",
        structure=FoundStructure("tsne", 0.05, 32, 0.6, 0.2, 0.1, 100, 19),
    )  # fmt: skip
    return replace(found, **changes)


def text_about(topic, **changes):
    return " ".join(sentence.text for sentence in verdict_of(evidence(**changes)).about(topic))


def test_structure_and_none():
    found = text_about("structure")
    assert found.startswith(
        "There is structure, clearly: columns are related. The tsne map keeps 60 % of each row's 32 nearest"
    )
    assert "10 to 20 % (p = 0.05, the least that 19 tables can show; 100 rows)" in found
    assert "narrow" not in found
    noise = FoundStructure("tsne", 0.5, 8, 0.3, 0.31, 0.2, 100, 19)
    found = text_about("structure", structure=noise)
    assert found.startswith("No structure was found")
    assert "Do not read groups from any of these maps" in found
    assert text_about("structure", structure=None) == ""
    items = text_about("structure", reference=replace(AMBIENT, name="given", kind="precomputed"))
    assert "(the same distances, between other pairs)" in items
    assert "column" not in items
    both = FoundStructure("tsne", 0.05, 32, 0.6, 0.2, 0.1, 100, 19, ("pca", "tsne"))
    assert "100 rows; the maps by pca and tsne were tested together)" in text_about("structure", structure=both)
    assert "tested together" not in text_about("structure")


def beside_noise(share=0.21, null=0.02, lowest=-0.02, clear=True):
    return Nearer(16, share, null, lowest, clear)


ALONE = FoundStructure("tsne", 0.05, 64, 0.85, 0.45, 0.4, 100, 19)  # maps beside Gaussian rows, with a clear lead


def test_structure_that_shuffled_columns_hide_is_found_by_distances():
    """Principal components of groups: maps of shuffled columns are as good, but the rows of the data are nearer."""
    hidden = FoundStructure("tsne", 0.05, 64, 0.85, 0.87, 0.84, 100, 19, ("pca", "tsne"), 0.4, beside_noise())
    text = text_about("structure", structure=replace(hidden, gaussian=ALONE))
    assert text.startswith(
        "There is structure, clearly: columns are related. Each row's 16 nearest rows lie within a distance that is "
        "21 % shorter than in noise on average (in single tables of noise up to 2.0 %): 19 tables of noise, the same "
        "columns, each shuffled (p = 0.05, the least that 19 tables can show; 100 rows)."
    )
    assert "principal components" in text
    assert text.endswith("map keeps 85 % of each row's 64 nearest rows beyond chance, those of such noise 40 to 45 %.")
    for beside in (None, replace(ALONE, null=0.84)):
        text = text_about("structure", structure=replace(hidden, gaussian=beside))
        assert "the maps do not tell the rows from noise: the tsne map keeps 85 % of each row's 64 nearest" in text
        assert "beyond chance, those of noise 84 to 87 %. That happens where relations are weak" in text
        assert "principal components" not in text
    narrow = replace(hidden, p_value=0.04, n_null=99, nearer=beside_noise(0.03, 0.035, -0.04, clear=False))
    text = text_about("structure", structure=narrow)
    assert text.startswith("There is structure, by a narrow lead: columns are related. Each row's 16 nearest")
    assert "3 of the tables of noise stand out as much" in text


def test_distances_beside_maps():
    found = replace(evidence().structure, nearer=beside_noise(), map_p_value=0.05)
    assert "distances" not in text_about("structure", structure=found).partition("; 100 rows")[0]
    assert "; the map, and distances, were tested together)" in text_about("structure", structure=found)
    two = text_about("structure", structure=replace(found, methods=("pca", "tsne")))
    assert "; the maps by pca and tsne, and distances, were tested together)" in two
    narrow = text_about("structure", structure=replace(found, null=0.59))
    assert narrow.startswith("There is structure, clearly")
    assert "The lead of the map is narrow, that of the distances is not: each row's 16 nearest rows lie" in narrow
    assert "narrow" not in text_about("structure", structure=found)


def test_groups_that_single_columns_make_are_said_to_come_from_them():
    unrelated = FoundStructure("tsne", 0.4, 8, 0.8, 0.81, 0.78, 100, 19, (), 0.4, beside_noise(0.0, 0.02, -0.02, False))
    group = GroupTrust([Group("a", 50, "holds together", "")], [])
    found = verdict_of(evidence(structure=replace(unrelated, gaussian=ALONE), groups=group))
    text = found.about("structure")[0].text
    assert text.startswith("No relation between columns was found: the tsne map keeps 80 % of each row's 8 nearest")
    assert (
        "Single columns have several peaks (as principal components of groups do), few different values or values far "
        "out, and maps show that: the tsne map keeps 85 % of each row's 64 nearest rows beyond chance, those of 19 "
        "tables of Gaussian rows with the same covariance 40 to 45 %. Look at the columns one by one."
    ) in text
    assert "Do not read groups" not in text
    assert found.about("groups")  # they are gaps in the data all the same
    for beside in (None, replace(ALONE, p_value=0.3), replace(ALONE, null=0.84)):
        noise = verdict_of(evidence(structure=replace(unrelated, gaussian=beside), groups=group))
        assert noise.about("structure")[0].text.startswith("No structure was found")
        assert not noise.about("groups")


def test_structure_that_a_few_rows_make_is_said_to_be_theirs():
    found, group = evidence().structure, GroupTrust([Group("a", 50, "holds together", "")], [])
    noise = FoundStructure("pca", 0.5, 8, 0.3, 0.31, 0.2, 99, 19)
    alone = replace(found, without=Without(np.array([17]), 0, noise))
    said = verdict_of(evidence(structure=alone, groups=group))
    text = said.about("structure")[0].text
    assert text.startswith(
        "There is structure (p = 0.05) only with 1 row that stands far from all others, row 17. Without, none was "
        "found: the pca map keeps 30 % of each row's 8 nearest rows beyond chance, its maps of 19 tables of noise"
    )
    assert text.endswith("Do not read groups from any of these maps.")
    assert not said.about("groups")
    assert said.about("structure")[0].numbers["without_p_value"] == 0.5
    both = replace(found, without=Without(np.array([3, 9]), 40, noise))
    text = text_about("structure", structure=both, row_names=[f"r{i}" for i in range(100)])
    assert "only with 40 rows that repeat another one and 2 rows that stand far from all others, r3 and r9. Wi" in text
    clear = text_about("structure", structure=replace(found, without=Without(np.array([17]), 0, found)))
    assert clear == text_about("structure")  # the other rows have as much
    narrow = replace(found, without=Without(np.empty(0, int), 40, replace(found, p_value=0.04, n_null=99)))
    text = text_about("structure", structure=narrow)
    assert text.startswith("There is structure, clearly")
    assert text.endswith(" Without 40 rows that repeat another one the lead is narrow (p = 0.04).")


def test_an_order_of_the_table_is_said():
    series = TableOrder(0.9, 1e-9, 100)
    text = text_about("order", order=series)
    assert "for 90 % of 100 rows the next one is nearer than the one after it (by chance 50 %)" in text
    assert text_about("order", order=TableOrder(0.6, 0.01, 100)) == ""
    assert text_about("order", order=TableOrder(0.1, 1e-9, 100)) == ""
    assert text_about("order") == ""


def test_a_narrow_lead_is_called_narrow():
    first = FoundStructure("tsne", 0.01, 32, 0.85, 0.84, 0.7, 100, 99)
    text = text_about("structure", structure=first)
    assert text.startswith("There is structure, by a narrow lead: columns are related.")
    assert "99 tables of noise (the same columns, each shuffled) 70 to 84 % (p = 0.01, the least that 99" in text
    assert "The lead is less than tables of noise differ from each other: part of what the maps show is chance." in text
    beaten = text_about("structure", structure=replace(first, p_value=0.03))
    assert "2 of the tables of noise stand out as much: little of what the maps show is more than chance." in beaten
    assert "the least that" not in beaten
    one = text_about("structure", structure=replace(first, p_value=0.02, null=0.3, lowest=0.2))
    assert "1 of the tables of noise stands out as much:" in one  # at another size, or in the other map
    wide = text_about("structure", structure=replace(first, null=0.5, lowest=0.4))
    assert wide.startswith("There is structure, clearly")
    alike = text_about("structure", structure=replace(first, null=0.5, lowest=0.499))
    assert "each shuffled) 50 % (p" in alike


def test_noise_is_not_interpreted():
    noise = FoundStructure("tsne", 0.5, 8, 0.3, 0.31, 0.2, 100, 19)
    group = Group("a", 50, "holds together", "")
    found = verdict_of(evidence(structure=noise, groups=GroupTrust([group], []), curved=0.2, curved_noise=0.9))
    topics = {sentence.topic for sentence in found.sentences}
    assert topics == {"structure", "neighbours"}
    assert found.about("neighbours")[0].text.startswith("If a map is shown all the same")


def test_the_best_map_is_named_with_its_lead_or_its_ties():
    text = text_about("neighbours")
    assert "look at tsne (it keeps 60 % of the neighbours beyond chance, by straight distances in the data)" in text
    assert "next is umap, 10 points behind (95 % interval 0.0 to 20.0)" in text
    tied = ranked("neighbours", {"tsne": 0.6, "umap": 0.595, "pca": 0.3}, ("tsne", "umap"))
    assert "its lead over umap is within chance" in text_about("neighbours", rankings={"neighbours": tied})
    alike = ranked("neighbours", {"tsne": 0.6, "umap": 0.595}, ("tsne", "umap"))
    assert "no map is better than the others beyond chance" in text_about("neighbours", rankings={"neighbours": alike})


@pytest.mark.parametrize("name", ["ambient", "expected", "gower", "geodesic", "given"])
def test_every_reference_has_words(name):
    assert text_about("neighbours", reference=replace(AMBIENT, name=name)).count("distances") == 1


def test_distances_are_read_or_not():
    good = {"distances": ranked("distances", {"mds": 0.95, "pca": 0.9}, ("mds",))}
    assert "To see how far apart rows are, look at mds" in text_about("distances", rankings=good)
    assert "next is pca, 0.05 behind (95 % interval 0.000 to 0.200)" in text_about("distances", rankings=good)
    poor = {"distances": ranked("distances", {"mds": 0.6, "pca": 0.5}, ("mds",))}
    assert "Do not read distances from any of them" in text_about("distances", rankings=poor)
    assert text_about("distances", rankings={}) == ""


def test_what_must_not_be_read_from_the_recommended_map():
    far = {"distances": ranked("distances", {"pca": 0.9, "tsne": 0.4}, ("pca",))}
    text = text_about("not to be read", rankings=far, spread=0.1)
    assert text == (
        "Do not read from the tsne map how far apart rows are (rank correlation 0.40 with straight distances in the "
        "data), nor where rows are dense or a group is wide (rank correlation 0.10 with the data)."
    )
    assert "dense" not in text_about("not to be read", rankings=far, spread=0.8)
    assert "far apart" not in text_about("not to be read", spread=0.1)
    near = {"distances": ranked("distances", {"pca": 0.9, "tsne": 0.8}, ("pca",))}
    assert text_about("not to be read", rankings=near, spread=0.8) == ""
    tied = {"distances": ranked("distances", {"pca": 0.71, "tsne": 0.69}, ("pca", "tsne"))}
    assert text_about("not to be read", rankings=tied) == ""
    none = {"distances": ranked("distances", {"pca": 0.6, "tsne": 0.4}, ("pca",))}  # said of all maps already
    assert text_about("not to be read", rankings=none) == ""


def test_classes_are_seen_only_beyond_chance():
    by_class = {"labels": ranked("labels", {"tsne": 0.9, "pca": 0.6}, ("tsne",))}
    seen = ClassesShown(0.95, 0.5, (0.4, 0.3, 0.5))
    text = text_about("labels", rankings=by_class, classes=seen)
    assert text.startswith("To see the classes, look at tsne (90 % of the rows are nearest to a row of their class; ")
    assert "by chance 50 %, in the data 95 %)" in text
    assert "next is pca, 30 points behind" in text
    unseen = text_about("labels", rankings=by_class, classes=ClassesShown(None, 0.88, (0.02, -0.01, 0.05)))
    assert unseen.startswith("No map shows the classes beyond chance: in the best, tsne, 90 % of the rows")
    copies = text_about("labels", rankings=by_class, classes=ClassesShown(0.14, 0.33, (0.4, 0.3, 0.5)))
    assert copies.startswith(
        "Do not read classes from these maps: in the data only 14 % of the rows are nearest to a row"
    )
    assert copies.endswith("by chance 33 %, as where many rows are equal; in the best map, tsne, 90 %.")
    assert text_about("labels", rankings=by_class) == ""
    assert text_about("labels", classes=seen) == ""


def test_curved_only_beyond_noise():
    along = {"along the data": ranked("along the data", {"isomap": 0.95, "pca": 0.4}, ("isomap",))}
    text = text_about("along the data", rankings=along, curved=0.5, curved_noise=0.95)
    assert "look at isomap (rank correlation 0.95 along the data)" in text
    assert text_about("along the data", rankings=along, curved=0.5, curved_noise=0.55) == ""
    assert text_about("along the data", rankings=along, curved=0.5) == ""
    flat = text_about("along the data", rankings=along, curved=0.97, curved_noise=0.99)
    assert flat.startswith("There is little to unroll")
    none = {"along the data": ranked("along the data", {"isomap": 0.5, "pca": 0.4}, ("isomap",))}
    assert "No map unrolls them" in text_about("along the data", rankings=none, curved=0.5, curved_noise=0.95)
    assert "leave out" not in text
    cut = text_about("along the data", rankings=along, curved=0.5, curved_noise=0.95, cut=27)
    assert cut.endswith("leave out 27 links that seem short cuts from one part of the data to another.")
    one = text_about("along the data", rankings=along, curved=0.5, curved_noise=0.95, cut=1)
    assert "1 link that seems to be a short cut" in one
    assert "leave out" not in text_about("along the data", rankings=along, curved=0.97, curved_noise=0.99, cut=27)


def test_rows_are_counted_and_named():
    verdict = np.array(["trusted"] * 95 + ["unsure"] * 3 + ["misplaced"] * 2)
    p = np.linspace(0, 1, 100)
    text = text_about("rows", verdicts={"tsne": verdict}, p_values={"tsne": p})
    assert "95 of 100 rows can be trusted" in text
    assert "2 are misplaced: rows 99 and 98" in text
    named = text_about(
        "rows", verdicts={"tsne": verdict}, p_values={"tsne": p}, row_names=[f"r{i}" for i in range(100)]
    )
    assert "misplaced: r99 and r98." in named
    numbered = text_about("rows", verdicts={"tsne": verdict}, p_values={"tsne": p}, row_numbers=np.arange(100) + 1)
    assert "misplaced: rows 100 and 99." in numbered
    good = text_about("rows", verdicts={"tsne": np.full(100, "trusted")}, p_values={"tsne": p})
    assert "misplaced" not in good
    bad = text_about("rows", verdicts={"tsne": np.full(100, "unsure")}, p_values={"tsne": p})
    assert "read nothing about single rows" in bad
    wrong = text_about("rows", verdicts={"tsne": np.full(100, "misplaced")}, p_values={"tsne": p})
    assert "; 100 are misplaced. Most rows" in wrong  # not named: nothing can be said about single rows
    assert text_about("rows", verdicts={"umap": verdict}, p_values={"umap": p}) == ""


def test_rows_of_a_sample_stand_for_the_method_where_there_are_too_many():
    verdict = np.array(["trusted"] * 95 + ["unsure"] * 3 + ["misplaced"] * 2)
    text = text_about("rows", sampled=SampledRows("tsne", verdict, 70_000))
    assert text.startswith("In a tsne map of 100 of the 70,000 rows, drawn at random, 95 rows can be trusted (")
    assert text.endswith("and 2 are misplaced.")
    poor = text_about("rows", sampled=SampledRows("tsne", verdict[::-1][:5], 70_000))
    assert poor.endswith("read nothing about single rows.")
    own = text_about("rows", sampled=SampledRows("tsne", verdict, 70_000), verdicts={"tsne": verdict},
                     p_values={"tsne": np.linspace(0, 1, 100)})  # fmt: skip
    assert own.startswith("In the tsne map 95 of 100 rows")


def test_rows_that_a_map_draws_among_others_are_named():
    isolation = np.ones(100)
    assert text_about("rows", isolation=isolation) == ""
    isolation[[7, 3]] = 2.5, 3.1
    text = text_about("rows", isolation=isolation)
    assert text.startswith("The tsne map hides that 2 rows stand apart: ")
    assert "up to 3.1 times as far in the data as in the map (rows 3 and 7)" in text
    isolation[3] = np.inf  # beside copies
    assert "hides that 1 row stands apart" in text_about("rows", isolation=isolation)
    assert "(row 7)" in text_about("rows", isolation=isolation)
    assert "(rows 0, 1, 2, 3, 4 and 3 more)" in text_about("rows", isolation=np.where(np.arange(100) < 8, 3.0, 1.0))


def test_groups_by_verdict():
    table = [
        Group("a", 50, "holds together", ""),
        Group("b", 50, "torn", "", pieces_map=2),
        Group("c", 50, "torn", "", pieces_map=1, valley_map=0.0),
        Group("d", 50, "mixture", ""),
        Group("e", 50, "overlaps", ""),
        Group("f", 5, "too few rows", ""),
    ]
    text = text_about("groups", groups=GroupTrust(table, []), groups_are="classes of kind")
    assert text.startswith("Groups in the tsne map (classes of kind): 1 of 5 found to be a group of its own")
    assert "of its own in the data: a;" in text
    assert "in several places of the map, though no gap was found in the data: b;" in text
    assert "shown apart, though no gap was found in the data: c;" in text
    assert "several groups in one: d;" in text
    assert "without a gap to others: e." in text
    assert "Of these, 3 have fewer than 100 rows, too few to be sure." in text
    few = text_about("groups", groups=GroupTrust(table[-1:], []), groups_are="classes of kind")
    assert few == "Groups were not judged (classes of kind): none of 1 has 20 rows."
    assert text_about("groups") == ""
    large = text_about("groups", groups=GroupTrust([replace(table[4], size=200)], []))
    assert "none of 1 found to be a group of its own in the data;" in large
    assert "too few to be sure" not in large


def pair(verdict):
    return GroupPair("a", "b", 1.0, 1.0, 1.0, (0.9, 1.1), 1.0, verdict)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["yes", "yes"], "may be read: all 2 are right"),
        (["yes", "order only"], "only the order may be read: 1 of 2"),
        (["yes", "no"], "Do not read distances between groups in the tsne map: even the order is wrong for 1 of 2"),
        (["yes"] * 6 + ["no"], "for most pairs: 6 of 7 are right within 20 %, only the order is right for 0; do "
         "not read a to b."),
    ],
)  # fmt: skip
def test_distances_between_groups(verdicts, words):
    assert words in text_about("between groups", groups=GroupTrust([], [pair(v) for v in verdicts]))


def test_distances_between_clusters_need_groups():
    """Clusters of the map that are no groups of the data have no distance to be read; classes have."""
    table = [Group(name, 50, "holds together" if name != "d" else "overlaps", "") for name in "abcd"]
    pairs = [replace(pair("yes"), first=a, second=b) for a, b in ("ab", "ac", "bc", "ad", "bd", "cd")]
    found = GroupTrust(table, pairs)
    assert "all 6 are right" in text_about("between groups", groups=found)
    assert "all 3 are right" in text_about("between groups", groups=found, clusters=np.array(["a", "b"]))
    none = GroupTrust([replace(group, verdict="overlaps") for group in table], pairs)
    assert text_about("between groups", groups=none, clusters=np.array(["a", "b"])) == ""
    assert "all 6 are right" in text_about("between groups", groups=none)


def test_distances_that_cannot_be_judged_are_not():
    assert text_about("between groups", groups=GroupTrust([], [pair("yes")])) == ""  # nothing to compare it with
    few = GroupTrust([Group("b", 5, "too few rows", "")], [pair("no")] * 3)
    assert text_about("between groups", groups=few) == ""
    assert text_about("between groups") == ""


def dimension(value, low, high):
    return IntrinsicDimension(value, (low, high), {}, {}, np.empty(0), 0.0, 100, "")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (dimension(7, 5, 9), "2 columns cannot hold everything: the data have about 7.0 dimensions (5.0 to 9.0)"),
        (dimension(2, 1.9, 2.1), "2 columns can be enough: the data have about 2.0"),
        (dimension(3, 2, 4), "Whether 2 columns can be enough is open"),
    ],
)
def test_dimension(found, words):
    assert words in text_about("dimension", dimension=found)


def test_dimensions_are_no_more_than_there_are_rows_and_columns():
    found = dimension(60.0, 19.6, 83.3)
    said = text_about("dimension", dimension=found, most_dimensions=47)
    assert "the data have about 47.0 dimensions (19.6 to 47.0)" in said
    said = text_about("dimension", dimension=found, most_dimensions=4)
    assert "2 columns cannot hold everything: the data fill all 4 dimensions that so many rows and" in said
    said = text_about("dimension", dimension=found, most_dimensions=2)
    assert said.startswith("2 columns can hold everything: the data have no more. Look at the columns themselves")


def test_noise_around_few_dimensions_is_told_from_groups():
    branches = {4: (6.1, 4.7, 6.7), 8: (3.2, 2.5, 3.7), 16: (1.6, 1.2, 1.9), 32: (1.3, 1.0, 1.6)}
    found = replace(dimension(9.6, 6.9, 11.3), curve=branches)
    assert text_about("dimension", dimension=found).endswith(
        "lose neighbours or tear. On a larger scale, among 32 nearest rows, they have about 1.6 (1.2 to 1.9): 2 "
        "columns can be enough for what the noise lies around."
    )
    groups = {8: (6.5, 4.9, 7.1), 16: (5.2, 4.0, 5.6), 32: (0.5, 0.5, 0.6), 64: (0.5, 0.4, 0.6)}
    for curve in (groups, {}, {16: (1.6, 1.2, 1.9)}, {16: (2.6, 2.1, 3.0), 32: (1.4, 1.3, 1.5)}):
        assert "larger scale" not in text_about("dimension", dimension=replace(found, curve=curve))


def test_categories_are_no_dimensions():
    few, many = dimension(1.3, 1.2, 1.5), dimension(4.1, 3.4, 4.6)
    said = text_about("dimension", dimension=few, categories=True)
    assert said == (
        "Whether 2 columns can be enough is open: rows with nearly the same categories have about 1.3 dimensions (1.2 "
        "to 1.5), and categories add to them."
    )
    assert text_about("dimension", dimension=few).startswith("2 columns can be enough")
    assert text_about("dimension", dimension=many, categories=True).startswith("2 columns cannot hold everything")


def test_whether_a_linear_map_would_do():
    assert "not enough for neighbours: it keeps 30 % beyond chance, tsne 60 %." in text_about("linear")
    tied = ranked("neighbours", {"tsne": 0.6, "pca": 0.59}, ("tsne", "pca"))
    assert text_about("linear", rankings={"neighbours": tied}) == (
        "pca, the linear map, would do for neighbours, and its axes can be read: tsne keeps more, but within chance "
        "(60 % against 59 %; 95 % interval of the difference 0.0 to 20.0 points)."
    )
    close = ranked("neighbours", {"tsne": 0.6, "pca": 0.585}, ("tsne",))  # beyond chance, but hardly worth it
    assert "tsne keeps hardly more (60 % against 58 %; 95" in text_about("linear", rankings={"neighbours": close})
    first = ranked("neighbours", {"pca": 0.85, "tsne": 0.7}, ("pca",))
    assert text_about("linear", rankings={"neighbours": first}) == (
        "pca, the linear map, would do for neighbours: no other keeps more (85 % beyond chance), and its axes can be "
        "read."
    )
    assert text_about("linear", baseline=None) == ""


def test_stability_only_if_asked_for():
    assert text_about("stability") == ""
    steady = Stability(0.8, (0.75, 0.85), np.ones(100), np.zeros(100), 15, [""] * 20)
    assert "keeps 80 % of each row's 15 nearest rows beyond chance (95 % interval 75 % to 85 %; made 20 times)" in (
        text_about("stability", stability=steady)
    )
    twice = replace(steady, interval=(np.nan, np.nan), replicates=["", ""])
    assert "beyond chance (made 2 times)." in text_about("stability", stability=twice)
    assert "come and go" not in text_about("stability", stability=steady)
    assert "come and go" in text_about("stability", stability=replace(steady, overall=0.3))


def test_gaps_only_if_asked_for():
    assert text_about("gaps") == ""
    jumps, fracture = np.r_[np.full(98, 0.2), 4.0, np.nan], np.r_[np.inf, np.ones(99)]
    found = Fractures(jumps, fracture, jumps > 1, fracture > 2, 1.0, 10.0, "TSNE")
    said = text_about("gaps", gaps={"tsne": found})
    assert "half of the rows would go at most 2 % of the radius of the tsne map, the farthest 40 %; 1 stand out" in said
    assert "and 1 row is hardly held in place: gaps beside such rows" in said
    still = replace(found, overconfidence=np.full(100, np.nan), fractured=np.ones(100, bool))
    assert text_about("gaps", gaps={"umap": still}) == "In the umap map 100 rows are hardly held in place."


def test_what_is_left_open_is_said():
    assert text_about("not judged", skipped={"lle": "it leaves rows out"}) == "Not judged: lle (it leaves rows out)."
    assert text_about("not judged", skipped={"all": "8 rows are too few"}) == "No verdict: 8 rows are too few."


def test_every_sentence_names_a_section_of_the_page():
    from lowdim.report.render import PAGE

    page = (PAGE / "report.html").read_text() + (PAGE / "evidence.html").read_text()
    along = ranked("along the data", {"isomap": 0.95, "pca": 0.4}, ("isomap",))
    found = verdict_of(evidence(dimension=dimension(2, 1.9, 2.1), groups=GroupTrust([], [pair("yes")] * 2), curved=0.9,
                                rankings=evidence().rankings | {"along the data": along}))  # fmt: skip
    assert len(found.sentences) >= 5
    assert all(f'id="{sentence.evidence}"' in page for sentence in found.sentences)


def test_shares_are_all_only_if_all():
    assert [percent(share) for share in (1.0, 0.998, 0.5, 0.002, 0.0)] == [
        "100 %", "over 99 %", "50 %", "under 1 %", "0 %",
    ]  # fmt: skip


def test_measures_of_one_question_do_not_vote_twice():
    """The recommendation follows one measure; others of the same kind cannot outvote it."""
    neighbours = ranked("neighbours", {"tsne": 0.6, "pca": 0.5}, ("tsne",))
    asked = ("distances", "along the data", "labels")
    others = {question: ranked(question, {"pca": 0.9, "tsne": 0.1}, ("pca",), question) for question in asked}
    found = verdict_of(
        evidence(
            rankings={"neighbours": neighbours, **others}, curved=0.5, curved_noise=0.9,
            classes=ClassesShown(None, 0.1, (0.4, 0.3, 0.5)),
        )
    )  # fmt: skip
    assert found.recommended == "tsne"
    used = {s.topic: s.numbers["measure"] for s in found.sentences if "measure" in s.numbers}
    assert used == {"neighbours": "area under R_NX", **{question: question for question in asked}}


def test_words_of_the_field_are_explained_on_the_page():
    from lowdim.report.explained import explained

    pieces = explained("rank correlation 0.5 <b>, rank correlation 0.6 (p = 0.05)")
    assert "".join(piece for piece, _ in pieces) == "rank correlation 0.5 <b>, rank correlation 0.6 (p = 0.05)"
    assert [piece for piece, why in pieces if why] == ["rank correlation", "p = "]


NOISE = FoundStructure("tsne", 0.5, 8, 0.3, 0.31, 0.2, 100, 19)
CURVED = {"along the data": ranked("along the data", {"isomap": 0.95, "pca": 0.4}, ("isomap",))}
BY_CLASS = {"labels": ranked("labels", {"tsne": 0.9}, ("tsne",))}
GAPS = Fractures(np.linspace(0, 1, 20), np.ones(20), np.arange(20) > 15, np.arange(20) > 18, 0.1, 1.0, "TSNE")
BOTH = {
    # rule: (how its sentence begins, evidence with it, evidence without it)
    "drawn": ("The maps and all that is said about them are of", {"drawn": Drawn(1000, 100)}, {}),
    "structure": ("There is structure", {}, {"structure": None}),
    "order": ("Rows that follow each other", {"order": TableOrder(0.9, 1e-9, 50)}, {"order": TableOrder(0.5, 1.0, 50)}),
    "neighbours": ("To see which rows are similar", {}, {"rankings": {}}),
    "distances": ("To see how far apart", {"rankings": {"distances": ranked("distances", {"pca": 0.9}, ("pca",))}}, {}),
    "not_to_be_read": ("Do not read from the tsne map", {"spread": 0.1}, {"spread": 0.9}),
    "along": (
        "The data are curved",
        {"rankings": CURVED, "curved": 0.5, "curved_noise": 0.95},
        {"rankings": CURVED, "curved": 0.5, "curved_noise": 0.55},
    ),
    "labels": (
        "To see the classes",
        {"rankings": BY_CLASS, "classes": ClassesShown(0.9, 0.5, (0.4, 0.3, 0.5))},
        {"rankings": BY_CLASS},
    ),
    "rows": (
        "In the tsne map 100 of 100 rows",
        {"verdicts": {"tsne": np.full(100, "trusted")}, "p_values": {"tsne": np.zeros(100)}},
        {"verdicts": {"umap": np.full(100, "trusted")}, "p_values": {"umap": np.zeros(100)}},
    ),
    "apart": ("The tsne map hides", {"isolation": np.append(np.ones(99), 4.0)}, {"isolation": np.ones(100)}),
    "groups": (
        "Groups in the tsne map",
        {"groups": GroupTrust([Group("a", 50, "torn", "")], [])},
        {"groups": GroupTrust([Group("a", 50, "torn", "")], []), "structure": NOISE},
    ),
    "between": (
        "Distances between groups",
        {"groups": GroupTrust([], [pair("yes")] * 2)},
        {"groups": GroupTrust([], [pair("yes")])},
    ),
    "dimension": ("2 columns cannot hold everything", {"dimension": dimension(7, 5, 9)}, {}),
    "linear": ("pca, the linear map, is not enough", {}, {"structure": NOISE}),
    "stability": (
        "Made again",
        {"stability": Stability(0.8, (0.75, 0.85), np.ones(100), np.zeros(100), 15, [""] * 20)},
        {},
    ),
    "gaps": ("Moved a little in the data", {"gaps": {"tsne": GAPS}}, {}),
    "not_judged": ("Not judged: lle", {"skipped": {"lle": "it leaves rows out"}}, {}),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_speaks_and_is_silent(rule):
    beginning, with_it, without_it = BOTH[rule.__name__]
    assert rule(evidence(**with_it))[0].text.startswith(beginning)
    assert rule(evidence(**without_it)) == []
