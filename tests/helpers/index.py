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
    page = folder / "simple" / requirement.partition("==")[0]
    page.mkdir(parents=True)
    download(requirement, page)
    with serve_folder(folder) as address:
        yield f"{address}/simple"


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve the files below a folder, and lists of them, which is all that an index is."""
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
