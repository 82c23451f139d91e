"""`lowdim view`: the maps of a study in the browser, however many rows there are."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
import webbrowser
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lowdim.app.console import print_json, print_line, print_note
from lowdim.app.errors import UserError
from lowdim.app.serving.answers import Answers
from lowdim.app.serving.scatter_files import TILES, read_scatter, table_of_study, tiles_of_study
from lowdim.app.serving.server import LOOPBACK, StudyServer
from lowdim.report.tiles import Atlas, write
from lowdim.report.view_page import view_page


def view(arguments: Namespace) -> int:
    """Serve a study to the browsers of this machine until Ctrl-C."""
    path = Path(arguments.study)
    if not path.exists():
        raise UserError(f"no such folder or table: {path}.")
    with _ended_by_signals(), _atlas(path, arguments) as atlas:
        answers = Answers(atlas, view_page(atlas.about()["title"]), path if path.is_dir() else None)
        with _server(answers, arguments.port) as server:
            _tell(server, atlas, arguments)
            with suppress(KeyboardInterrupt):
                server.serve_forever(poll_interval=0.2)
    print_line("stopped", error=True)
    return 0


@contextmanager
def _atlas(path: Path, arguments: Namespace) -> Iterator[Atlas]:
    """The tiles of a study, or tiles that are made of its table for as long as they are shown."""
    asked = tuple(arguments.embedding_columns)
    found = tiles_of_study(path) if path.is_dir() and not asked else None
    if found is not None:
        yield found
        return
    table = table_of_study(path) if path.is_dir() else path
    with tempfile.TemporaryDirectory(prefix="lowdim-view-", ignore_cleanup_errors=True) as folder:
        yield Atlas(write(read_scatter(table, asked), Path(folder) / TILES, seed=arguments.seed))


@contextmanager
def _server(answers: Answers, port: int) -> Iterator[StudyServer]:
    try:
        server = StudyServer(answers, port)
    except (OSError, OverflowError) as error:
        reason = "must be from 0 to 65535" if isinstance(error, OverflowError) else "is not free"
        raise UserError(f"--port {port} {reason}; leave it away, and a free one is taken.") from error
    with server:
        yield server


def _tell(server: StudyServer, atlas: Atlas, arguments: Namespace) -> None:
    """Print the address, and open it."""
    about = atlas.about()
    if arguments.json:
        print_json({"address": server.address, "rows": about["rows"], "maps": [one["name"] for one in about["maps"]]})
    else:
        maps = len(about["maps"])
        print_line(f"{about['title']}: {about['rows']:,} rows, {maps} map{'' if maps == 1 else 's'}")
        print_line(server.address)
        print_note(f"served to this machine alone ({LOOPBACK}); Ctrl-C ends it")
    sys.stdout.flush()
    if not arguments.no_open:
        threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """A closed terminal and a plain kill end the server as Ctrl-C does: nothing is left behind."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    kinds = [kind for name in ("SIGTERM", "SIGHUP") if (kind := getattr(signal, name, None)) is not None]
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {kind: signal.signal(kind, stop) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
