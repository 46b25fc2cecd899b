"""A model hub on this machine: serves files as a hub does, and counts what is asked for."""

from __future__ import annotations

import hashlib
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def serve_model(
    repository: str,
    commit: str,
    files: Mapping[str, bytes],
    *,
    asked: list[str] | None = None,
    most: int | None = None,
) -> Iterator[str]:
    """Serve the files of one commit of one repository.

    Args:
        repository: `owner/name`.
        commit: The only revision there is.
        files: Name -> content; anything else is not found.
        asked: Gets the path of every file that is asked for.
        most: Bytes of a file after which the connection is dropped.

    Yields:
        The hub's address, for `HF_ENDPOINT`.
    """
    prefix = f"/{repository}/resolve/{commit}/"

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(send_body=False)

        def do_GET(self) -> None:
            self._answer(send_body=True)

        def _answer(self, *, send_body: bool) -> None:
            content = files.get(self.path.removeprefix(prefix))
            if not self.path.startswith(prefix) or content is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", commit)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if send_body:
                (asked if asked is not None else []).append(self.path)
                self.wfile.write(content[:most])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
