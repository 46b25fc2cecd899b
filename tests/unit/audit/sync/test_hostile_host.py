"""Hosts whose responses contain the login, or invalid names of repositories."""

from __future__ import annotations

import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Repository
from crscore.audit.sync.clones import fetch_repository
from crscore.audit.sync.repositories import Messages, find_repositories
from crscore.errors import HostError
from crscore.github.client import Client
from crscore.github.feed import GitHubFeed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "ghs_averylongsecrettoken"


class Echo(BaseHTTPRequestHandler):
    """A git server whose error message has the login, both encoded and decoded."""

    def do_GET(self) -> None:
        encoded = self.headers.get("Authorization", "").partition(" ")[2]
        text = f"ERR no: {encoded} {base64.b64decode(encoded).decode()}\n".encode()
        service = b"# service=git-upload-pack\n"
        body = b"%04x%b0000%04x%b" % (len(service) + 4, service, len(text) + 4, text)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Do not print requests."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/acme/shop.git"
        server.shutdown()


def test_login_in_the_response_of_the_host_is_not_printed(url: str, tmp_path: Path) -> None:
    feed, shop = GitHubFeed(Client(token=TOKEN)), Repository(id=1, name="acme/shop", state="ok")
    with (
        Store(tmp_path / "audit.db") as store,
        pytest.raises(HostError) as raised,
    ):
        fetch_repository(store, feed, tmp_path, shop, url, TOKEN)
    assert "no: *** ***" in raised.value.reason
    for secret in (TOKEN, base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()):
        assert secret not in str(raised.value)


class Renaming:
    """A host that gives every repository another name."""

    page = None

    def __init__(self, name: str) -> None:
        self.name = name

    def find_repository(self, _: str) -> tuple[int, str]:
        return 5, self.name


@pytest.mark.parametrize("name", ["--x/../y\n::error::z", "acme/shop\x1b[31m", "", "a/b?c=d"])
def test_invalid_name_is_reported_and_not_stored(name: str, tmp_path: Path) -> None:
    messages = Messages()
    with Store(tmp_path / "audit.db") as store:
        host = Renaming(name)
        assert find_repositories(store, host, ["acme/shop"], [], "", messages) == {}
        assert "which is not a valid name" in messages.missing[0]
        assert "\n" not in messages.missing[0]
        assert store.find(Repository) == []
