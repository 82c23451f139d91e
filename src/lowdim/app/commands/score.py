"""`lowdim score`: how faithful an embedding is, whoever made it."""

from __future__ import annotations

from argparse import Namespace

import lowdim
from lowdim.app import sources
from lowdim.app.arguments import read_options, scale
from lowdim.app.console import print_note, print_notes, print_scores
from lowdim.app.embedding_files import matching_rows, read_embedding
from lowdim.study.columns import Wishes
from lowdim.study.data import data_of, data_of_distances
from lowdim.study.labels import labels_of


def score(arguments: Namespace) -> None:
    """Score one embedding."""
    from lowdim.study.reference_choice import choose_reference
    from lowdim.study.scoring import score_each

    how = read_options(arguments, missing="keep", takes_distances=True)
    table = sources.load(arguments.source, how, seed=arguments.seed)
    embedding = read_embedding(arguments.embedding, arguments.map, tuple(arguments.embedding_columns))
    table = matching_rows(embedding, table, arguments.embedding)
    print_notes(table)
    for note in embedding.notes:
        print_note(note)
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
    print_scores(scored[name].scores, against, embedding, as_json=arguments.json)
