"""`lowdim datasets` and `lowdim reproduce`: built-in data sets, published experiments."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from lowdim.app import sources
from lowdim.app.console import print_json, print_line, print_pairs, print_reproduced, print_reproduction, progress
from lowdim.app.errors import UserError
from lowdim.app.exports import export
from lowdim.app.file_formats import check_extension
from lowdim.app.output_paths import check_writable


def datasets(arguments: Namespace) -> None:
    """List the built-in data sets, or write one to a file."""
    if arguments.name is None:
        if arguments.out:
            raise UserError("--out needs the name of a data set: lowdim datasets NAME --out FILE.")
        if arguments.json:
            print_json(sources.descriptions())
        else:
            print_pairs(sources.descriptions().items())
        return
    data = sources.generate(arguments.name, n_samples=arguments.n_samples, noise=arguments.noise, seed=arguments.seed)
    if arguments.out is None:
        for line in str(data).splitlines():
            print_line(line)
        return
    check_extension(arguments.out)
    check_writable(arguments.out)
    path = export(arguments.out, sources.frame_of(data, coordinates=arguments.coordinates))
    if arguments.json:
        print_json({"data": str(path), "rows": len(data.X)})
    else:
        print_line(f"data: {path}")


def reproduce(arguments: Namespace) -> None:
    """Repeat a published experiment and print our results beside the published ones."""
    from lowdim.study import reproductions

    if arguments.name is None:
        print_pairs((name, reproductions.title_of(name)) for name in reproductions.EXPERIMENTS)
        return
    with progress() as advance:
        settings = {"repeats": arguments.repeats, "random_state": arguments.seed}
        found = reproductions.reproduce(arguments.name, **settings, advance=advance, tell=print_reproduced)
    if arguments.json:
        print_json(asdict(found))
    else:
        print_reproduction(found)
