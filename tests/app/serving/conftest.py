"""A server of a small study on a free port, and raw requests to it."""

import socket
import threading

import pytest

from lowdim.app.serving.answers import Answers
from lowdim.app.serving.server import StudyServer
from lowdim.report.tiles import Atlas, write
from lowdim.report.view_page import view_page
from tests.report.tiles.decoded import scatter


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """The folder of a study, beside a file that is not its own, and with one that no command wrote."""
    top = tmp_path_factory.mktemp("home")
    (top / "secret.txt").write_text("SECRET")
    folder = top / "study"
    folder.mkdir()
    write(scatter(800), folder / "points.tiles", run="one")
    (folder / "report.html").write_text("<!doctype html><title>report</title>")
    (folder / "notes.txt").write_text("SECRET")
    (folder / "scores.json").symlink_to(top / "secret.txt")
    (folder / "embeddings.csv").mkdir()
    return folder


@pytest.fixture(scope="session")
def server(study):
    made = StudyServer(Answers(Atlas(study / "points.tiles"), view_page("study"), study))
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join(10)


@pytest.fixture
def ask(server):
    """Sends bytes as they are; the status, the headers in small letters, and the body of the answer."""

    def ask(path, method="GET", host=None, headers=(), version="HTTP/1.1", raw=None):
        host = f"127.0.0.1:{server.server_port}" if host is None else host
        lines = [f"{method} {path} {version}", *([f"Host: {host}"] if host else []), *headers, "Connection: close"]
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
            connection.sendall(raw if raw is not None else "\r\n".join([*lines, "", ""]).encode("latin-1"))
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        found = dict(line.lower().split(": ", 1) for line in rest if ": " in line)
        return int(first.split()[1]), found, body

    return ask


@pytest.fixture
def at(server):
    """The path of a name of the study."""
    return lambda name="": f"/{server.key}/{name}"
