"""`lowdim score`: how faithful an embedding is, whoever made it."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

import lowdim
from lowdim.app import sources
from lowdim.app.arguments import read_options, scale
from lowdim.app.console import print_note, print_notes, print_scores
from lowdim.app.embedding_files import matching_rows, read_embedding

if TYPE_CHECKING:
    from lowdim.app.embedding_files import EmbeddingTable
    from lowdim.app.input_table import InputTable
    from lowdim.study.reference_choice import ReferenceChoice


def score(arguments: Namespace) -> None:
    """Score one embedding."""
    how = read_options(arguments, missing="keep", takes_distances=True)
    table = sources.load(arguments.source, how, seed=arguments.seed)
    embedding = read_embedding(arguments.embedding, arguments.map, tuple(arguments.embedding_columns))
    table = matching_rows(embedding, table, arguments.embedding)
    print_notes(table)
    for note in embedding.notes:
        print_note(note)
    print_scores(*_scored(table, embedding, arguments), embedding, as_json=arguments.json)


def _scored(
    table: InputTable, embedding: EmbeddingTable, arguments: Namespace
) -> tuple[dict[str, Any], ReferenceChoice]:
    """The measures of an embedding, and what it was compared with; prints the notes."""
    from lowdim.study.columns import Wishes
    from lowdim.study.data import data_of, data_of_distances
    from lowdim.study.labels import labels_of
    from lowdim.study.reference_choice import choose_reference
    from lowdim.study.scoring import score_each

    if table.distances is not None:
        data = data_of_distances(table.distances, "score")
    else:
        data = data_of(table.table, Wishes(owner="score"), scale(arguments))
    against = choose_reference(
        arguments.reference, data, graph_neighbors=arguments.graph_neighbors, n_jobs=arguments.n_jobs, owner="score"
    )
    name = embedding.name
    labels = None if table.labels is None else labels_of(table.labels, table.n_rows, table.label_name, "score")
    with lowdim.config(memory_limit=arguments.limit_memory):
        scored, notes = score_each(
            {name: embedding.Z}, against, scale={name: arguments.has_scale}, labels=labels, n_jobs=arguments.n_jobs,
            seed=arguments.seed,
        )  # fmt: skip
    for note in (*data.notes, *notes, *([labels.note] if labels is not None and labels.note else [])):
        print_note(note)
    return scored[name].scores, against
