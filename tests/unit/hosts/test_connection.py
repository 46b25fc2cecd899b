"""Bodies are read as they arrive, so that a limit of time can be noticed."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import requests
import urllib3

from crscore.hosts.connection import read_chunks

PACKED = gzip.compress(b"second")


@pytest.fixture
def address():
    """Address of a host that sends the second part of a body once the first was read."""
    is_read = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.send_response(200)
            if self.path == "/packed":
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(5 + len(PACKED) + (self.path == "/cut")))
            self.end_headers()
            self.wfile.write(b"" if self.path == "/packed" else b"first")
            is_read.wait(20)
            self.wfile.write(PACKED)

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", is_read
        is_read.set()
        server.shutdown()


def test_part_of_a_body_arrives_before_the_next_is_sent(address) -> None:
    url, is_read = address
    with requests.get(f"{url}/", stream=True, timeout=10) as response:
        chunks = read_chunks(response)
        assert next(chunks) == b"first"
        is_read.set()
        assert b"".join(chunks) == PACKED


def test_body_that_ends_early_is_an_error(address) -> None:
    url, is_read = address
    is_read.set()
    with (
        requests.get(f"{url}/cut", stream=True, timeout=10) as response,
        pytest.raises(urllib3.exceptions.ProtocolError),
    ):
        list(read_chunks(response))


def test_packed_body_is_unpacked(address) -> None:
    url, is_read = address
    is_read.set()
    with requests.get(f"{url}/packed", stream=True, timeout=10) as response:
        chunks = read_chunks(response)
        assert next(chunks) == b"second"
