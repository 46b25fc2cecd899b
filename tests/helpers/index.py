"""A package index on this machine, with what pip downloads from the one in the user's settings."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def download(requirement: str, folder: Path) -> None:
    """Download a package without what it needs."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--dest", folder, requirement], check=True)


@contextmanager
def serve_packages(requirement: str, folder: Path) -> Iterator[str]:
    """Serve one package as an index of the standard form (PEP 503).

    Args:
        requirement: `name==version`.
        folder: Where its wheel is put; made here.

    Yields:
        The index's address, for `PIP_INDEX_URL`.
    """
    name = requirement.partition("==")[0]
    page = folder / "simple" / name
    page.mkdir(parents=True)
    download(requirement, page)
    links = "".join(f'<a href="{path.name}">{path.name}</a>' for path in page.glob("*.whl"))
    (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
