"""What the server gives away, and to whom: only the study, only to this machine, only to who has its address."""

import http.client
import json
import shutil
import socket
import threading
import time

import pytest

from lowdim.app.serving.answers import Answers
from lowdim.app.serving.server import IDLE, MOST_AT_ONCE, StudyServer
from lowdim.report.tiles import Atlas

SQUARE = "map=0&level=0&x=0&y=0"


def test_the_study_is_answered(ask, at, study):
    status, headers, body = ask(at())
    assert status == 200
    assert b"<title>study</title>" in body
    assert "connect-src 'self'" in headers["content-security-policy"]
    about = json.loads(ask(at("study.json"))[2])
    assert about["rows"] == 800
    assert about["files"] == ["report.html"]
    assert [one["name"] for one in about["maps"]] == ["a", "b"]
    for name in (f"tile?{SQUARE}", f"points?{SQUARE}&half=1", f"tile?{SQUARE}&colour=0&mark=class%3A0%3A1"):
        status, headers, body = ask(at(name))
        assert (status, int(headers["content-length"])) == (200, len(body)), name
        assert len(body) > 1000
    assert ask(at("report.html"))[2] == (study / "report.html").read_bytes()
    row = json.loads(ask(at("near?map=0&x=0.5&y=0.5&reach=1"))[2])
    assert json.loads(ask(at(f"row?row={row['row']}"))[2]) == row
    assert json.loads(ask(at("find?text=Row-7%20"))[2])
    assert json.loads(ask(at("near?map=0&x=7&y=7&reach=0.01"))[2]) is None


def test_head_is_get_without_a_body(ask, at):
    for name in ("", "report.html", f"tile?{SQUARE}"):
        status, headers, body = ask(at(name), method="HEAD")
        assert status == 200
        assert body == b""
        assert headers["content-length"] == str(len(ask(at(name))[2]))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"])
def test_other_methods_are_refused(ask, at, method):
    status, headers, body = ask(at("study.json"), method=method)
    assert status == 405
    assert headers["allow"] == "get, head"
    assert b"rows" not in body


@pytest.mark.parametrize("host", [
    "example.com", "example.com:80", "127.0.0.1.example.com", "127.0.0.1@example.com", "localhost.example.com",
    "evil.localhost", "127.0.0.2", "0.0.0.0", "192.168.0.1", "127.0.0.1:x", "127.0.0.1:123456", "[::1", "localhost:",
    "127.0.0.1, example.com", "localhost\u00e9", " ", "2130706433", "0x7f.1",
])  # fmt: skip
def test_names_that_only_lead_here_are_refused(ask, at, host):
    status, _, body = ask(at("study.json"), host=host)
    assert status == 403
    assert b"rows" not in body


def test_a_host_must_be_named_once(ask, at):
    assert ask(at("study.json"), host="")[0] == 403
    assert ask(at("study.json"), headers=["Host: example.com"])[0] == 403
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:9", "[::1]:80"):
        assert ask(at("study.json"), host=host)[0] == 200, host


@pytest.mark.parametrize(("site", "dest", "status"), [
    ("same-origin", "empty", 200), ("none", "document", 200), ("cross-site", "document", 200),
    ("cross-site", "empty", 403), ("cross-site", "script", 403), ("cross-site", "image", 403),
    ("same-site", "empty", 403), ("cross-site", "iframe", 403),
])  # fmt: skip
def test_other_pages_cannot_ask(ask, at, site, dest, status):
    assert ask(at("study.json"), headers=[f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Dest: {dest}"])[0] == status


@pytest.mark.parametrize("name", ["", "study.json", "report.html", f"tile?{SQUARE}", "points.tiles"])
def test_nothing_is_found_without_the_key(ask, server, name):
    wrong = "A" * len(server.key)
    for key in ("", wrong, server.key[:-1], server.key + "x", server.key.swapcase(), f"{server.key}/."):
        status, _, body = ask(f"/{key}/{name}")
        assert status == 404
        assert b"study" not in body
    with StudyServer(server.answers) as other:
        assert server.key != other.key
    assert len(server.key) >= 22  # 128 bits


UP = (
    "..",
    "%2e%2e",
    "%2E.",
    ".%2e",
    "%252e%252e",
    "..%00",
    "..%c0%af",
    "%c0%ae%c0%ae",
    "..;",
    "....",
    "%uff0e%uff0e",
    "\\..",
)
SLASHES = ("/", "%2f", "%5c", "\\", "%252f", "//", "%c0%af", "/./")


@pytest.mark.parametrize("up", UP)
@pytest.mark.parametrize("slash", SLASHES)
def test_paths_lead_nowhere(ask, server, up, slash):
    for path in (f"/{server.key}/{up}{slash}secret.txt", f"/{up}{slash}{up}{slash}etc{slash}passwd",
                 f"/{server.key}/report.html{slash}{up}{slash}{up}{slash}secret.txt"):  # fmt: skip
        status, _, body = ask(path)
        assert status in (400, 404), path
        assert b"SECRET" not in body
        assert b"root:" not in body


@pytest.mark.parametrize("name", [
    "secret.txt", "notes.txt", "points.tiles", "scores.json", "embeddings.csv", "embeddings.parquet", "maps", ".",
    "/etc/passwd", "file:///etc/passwd", "REPORT.HTML", "report.html/", "report.html%00", "report%2ehtml",
    "./report.html", "/report.html", "C:\\secret.txt", "report.html::$DATA", "__class__", "study.json/..",
])  # fmt: skip
def test_files_that_are_not_the_studys(ask, at, name):
    """Among them a link to elsewhere (scores.json), a folder, and a file that no command wrote."""
    status, _, body = ask(at(name))
    assert status in (400, 404), name
    assert b"SECRET" not in body


def test_a_link_that_appears_later_is_not_followed(ask, at, study):
    link = study / "embeddings.parquet"
    link.symlink_to(study.parent / "secret.txt")
    try:
        assert ask(at("embeddings.parquet"))[0] == 404
    finally:
        link.unlink()


def test_absolute_addresses_are_not_for_us(ask, server):
    assert ask(f"http://127.0.0.1:{server.server_port}/{server.key}/study.json")[0] == 404
    assert ask("*")[0] == 404


@pytest.mark.parametrize("query", [
    "", "map=0", "map=9&level=0&x=0&y=0", "map=0&level=99&x=0&y=0", "map=0&level=1&x=2&y=0", "map=0&level=0&x=-1&y=0",
    "map=x&level=0&x=0&y=0", f"{SQUARE}&colour=99", f"{SQUARE}&colour=x", f"{SQUARE}&mark=loop:0:1",
    f"{SQUARE}&mark=x",
    "map=1e9&level=0&x=0&y=0", f"{SQUARE}&" + "&".join(f"f{k}=1" for k in range(20)), "map=" + "9" * 5000, "=&=&=",
    "map=0&level=0&x=0&y=" + "9" * 400,
])  # fmt: skip
def test_questions_that_make_no_sense(ask, at, query):
    assert ask(at(f"tile?{query}"))[0] == 400
    assert ask(at(f"points?{query}&half=1"))[0] == 400


@pytest.mark.parametrize("name", [
    "near?map=0&x=nan&y=0&reach=1", "near?map=0&x=0&y=0&reach=inf", "near?map=0&x=0&y=0&reach=0", "near?map=0", "row",
    "near?map=0&x=1e300&y=0&reach=1", "row?row=-1", "row?row=800", "row?row=a", "find", "marked?mark=loop:0:",
])  # fmt: skip
def test_rows_that_are_none(ask, at, name):
    assert ask(at(name))[0] == 400


def test_huge_requests_end_early(ask, at):
    assert ask(at("x" * 70_000))[0] == 414
    assert ask(at(), headers=[f"X-{k}: 1" for k in range(200)])[0] == 431
    assert ask(at(), headers=["X: " + "1" * 70_000])[0] == 431


@pytest.mark.parametrize("raw", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET %s\r\n\r\n", b"GET %s HTTP/9.9\r\n\r\n",
                                 b"GET %s HTTP/1.1 x\r\n\r\n", b"\r\n\r\n", b"GET\r\n\r\n"])  # fmt: skip
def test_what_is_not_quite_http(server, at, raw):
    """A greeting of TLS, and requests of the first or of no version, which cannot name a host."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(raw.replace(b"%s", at("study.json").encode()))
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"rows" not in answer


@pytest.mark.parametrize(
    "header", ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: -1", "Content-Length: 0, 5"]
)
def test_requests_have_no_body(ask, at, header):
    """What follows a body could be taken for another request."""
    assert ask(at("study.json"), headers=[header])[0] == 400


def test_nothing_may_be_kept_embedded_or_guessed(ask, at):
    for name in ("", "study.json", "report.html", f"tile?{SQUARE}", "nothing"):
        headers = ask(at(name))[1]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "deny"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
    assert "sandbox" in ask(at("report.html"))[1]["content-security-policy"]


def test_only_this_machine_can_connect(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.address.startswith("http://127.0.0.1:")


def test_silent_connections_leave_room_for_others(ask, at, server):
    """Connections that say nothing are bounded, and the server goes on when they end."""
    silent = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(MOST_AT_ONCE + 8)]
    for one in silent:
        one.close()
    for _ in range(200):
        try:
            assert ask(at("study.json"))[0] == 200
            break
        except (OSError, IndexError, ValueError):
            time.sleep(0.05)
    else:
        pytest.fail("no answer after the silent connections were closed")
    assert IDLE <= 60


def test_a_broken_file_is_an_error_and_not_the_end(study, tmp_path):
    """Rows and classes that do not exist, as a file from elsewhere may have them, are answered with an error."""
    path = tmp_path / "points.tiles"
    data = bytearray((study / "points.tiles").read_bytes())
    atlas = Atlas(path.parent / shutil.copy(study / "points.tiles", path))
    listed = atlas._file.header["maps"][0]["rows"]
    at = atlas._file._start + listed["at"]
    data[at : at + 4 * listed["length"]] = b"\xee" * (4 * listed["length"])
    path.write_bytes(data)
    with StudyServer(Answers(Atlas(path), ("", ""))) as broken:
        threading.Thread(target=broken.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        for name, status in ((f"tile?{SQUARE}&colour=0", 500), ("study.json", 200)):
            connection = http.client.HTTPConnection("127.0.0.1", broken.server_port, timeout=20)
            connection.request("GET", f"/{broken.key}/{name}")
            assert connection.getresponse().status == status
            connection.close()
        broken.shutdown()
