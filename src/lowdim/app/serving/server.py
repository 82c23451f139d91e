"""The server of one study: this machine only, reading only, nothing but what `Answers` has.

Who could ask, and what holds them off:

- other machines: the socket is bound to 127.0.0.1;
- web pages in the same browser, by a name that resolves to 127.0.0.1 (DNS rebinding): the Host header must be a name of
  this machine; by requests across origins: browsers say so (Sec-Fetch-Site), and nothing may be embedded;
- other users of this machine: the address has a key of 128 random bits, and without it nothing is found.

Paths are compared as they are sent, with a short list of names: they are neither decoded nor joined to a folder.
"""

from __future__ import annotations

import hmac
import re
import secrets
import socketserver
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lowdim.app.serving.answers import Answer, Answers, NotHereError

LOOPBACK = "127.0.0.1"
HERE = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
MOST_AT_ONCE = 32  # connections; a browser opens six
IDLE = 60.0  # seconds after which a silent connection is closed
PIECE = 2**18
GUARDS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class StudyServer(ThreadingHTTPServer):
    """Answers requests from this machine until `shutdown`; `address` is what a browser opens."""

    daemon_threads = True
    request_queue_size = MOST_AT_ONCE  # those who find no place in the queue ask again only after a second or more

    def __init__(self, answers: Answers, port: int = 0) -> None:
        self.answers, self.key = answers, secrets.token_urlsafe(16)
        self._room = threading.BoundedSemaphore(MOST_AT_ONCE)
        super().__init__((LOOPBACK, port), _Handler)

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/{self.key}/"

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # the name of the machine, which may take long, is not looked up
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke off; errors of answers are sent as answers."""


class _Handler(BaseHTTPRequestHandler):
    server: StudyServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "lowdim", ""
    timeout = IDLE
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        refused = self._refused()
        if refused is not None:
            self.send_error(refused)
            return
        path, _, query = self.path.partition("?")
        key, _, name = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(key.encode(), self.server.key.encode()):
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            answer = self.server.answers.get(name, query)
        except NotHereError:
            self.send_error(HTTPStatus.NOT_FOUND)
        except (ValueError, OverflowError):
            self.send_error(HTTPStatus.BAD_REQUEST)
        except (OSError, MemoryError, IndexError, TypeError, KeyError):  # a damaged file
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            with answer:
                self._send(answer)

    do_HEAD = do_GET

    def _refused(self) -> HTTPStatus | None:
        """Why a request is not answered, whatever it asks for; None if it may be."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or HERE.fullmatch(hosts[0].strip()) is None:
            return HTTPStatus.FORBIDDEN
        if "Transfer-Encoding" in self.headers or self.headers.get("Content-Length", "0").strip() != "0":
            return HTTPStatus.BAD_REQUEST  # what is asked for has no body
        asked_by = self.headers.get("Sec-Fetch-Site", "none")
        opened = self.headers.get("Sec-Fetch-Dest") == "document"  # by the user, from a link elsewhere
        if asked_by not in ("none", "same-origin") and not opened:
            return HTTPStatus.FORBIDDEN
        return None

    def _send(self, answer: Answer) -> None:
        self.send_response(HTTPStatus.OK)
        for name, value in {**GUARDS, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(answer.size))
        self.end_headers()
        if self.command == "HEAD":
            return
        left = answer.size
        while left and (piece := answer.body.read(min(PIECE, left))):
            self.wfile.write(piece)
            left -= len(piece)
        if left:  # the file has become shorter: the reader must not wait for the rest
            self.close_connection = True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A short answer in plain text that repeats nothing of the request; the connection ends."""
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:  # another method
            status = HTTPStatus.METHOD_NOT_ALLOWED
        body = f"{status.phrase}\n".encode()
        self.close_connection = True
        self.send_response(status)
        for name, value in {**GUARDS, "Content-Type": "text/plain; charset=utf-8", "Connection": "close"}.items():
            self.send_header(name, value)
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed for a request."""
