"""An OpenAI-compatible server on loopback that says what a test tells it to, well or badly.

    with serve(well("[]")) as server:
        ... server.url, server.asked

What it says is one `Say` for all, or a function of what was asked. `python -m
tests.helpers.scripted_llm` runs one in a process of its own, which prints its address: for
measurements, so that the server's work is not counted as the client's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REASONS = {200: "OK", 307: "Temporary Redirect", 401: "Unauthorized", 429: "Too Many Requests"}
CHUNK = b"x" * 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as the server got it."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]
    """The JSON sent; {} for a request without one."""
    at: float
    """`time.monotonic()` when it had come in."""
    before: int
    """How often the same messages had come before."""

    @property
    def text(self) -> str:
        """The last message of the chat."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """What the server does with one request."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    """Waits so long before it answers."""
    drip_s: float = 0.0
    """Waits so long after every byte."""
    cut_at: int | None = None
    """Sends so many bytes of the body it announced, then drops the connection."""
    gone: bool = False
    """Drops the connection without a byte."""
    endless: bool = False
    """Sends on and on after the body."""


def well(text: str | None = "[]", **changes: Any) -> Say:
    """Answer as a good server does; `changes` replace parts of the choice."""
    choice = {"index": 0, "finish_reason": "stop"}
    choice |= {"message": {"role": "assistant", "content": text}} | changes
    return completion([choice])


def completion(choices: object, **changes: Any) -> Say:
    """Answer with these choices; `changes` replace parts around them."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny-2026"}
    whole |= {"choices": choices, "usage": usage} | changes
    return Say(body=json.dumps(whole).encode())


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any) -> Say:
    """Answer with an error as OpenAI words it."""
    body = {"error": {"message": message, "type": "error"} | more}
    return Say(status=status, body=json.dumps(body).encode(), headers=headers or {})


class Server:
    """A running server."""

    def __init__(self, script: Say | Callable[[Asked], Say]) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._now = 0
        self._seen: dict[str, int] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()

    def chats(self) -> list[Asked]:
        """Return the requests for an answer."""
        return [asked for asked in self.asked if asked.path.endswith("/chat/completions")]

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stopped = asyncio.Event()
        listening = await asyncio.start_server(self._talk, "127.0.0.1", 0, backlog=256)
        self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stopped.wait()
        listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (asked := await self._read(reader)) is not None:
                self._now += 1
                self.most_at_once = max(self.most_at_once, self._now)
                try:
                    say = self.script if isinstance(self.script, Say) else self.script(asked)
                    if not await _answer(say, writer):
                        return
                finally:
                    self._now -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Asked | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.strip().split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        body = json.loads(raw) if raw else {}
        chat = json.dumps(body.get("messages"))
        before = self._seen.get(chat, 0)
        self._seen[chat] = before + 1
        path = first.split(" ")[1]
        now = time.monotonic()
        asked = Asked(path=path, headers=headers, body=body, at=now, before=before)
        self.asked.append(asked)
        return asked


async def _answer(say: Say, writer: asyncio.StreamWriter) -> bool:
    """Send it; False when the connection is to be dropped."""
    if say.after_s:
        await asyncio.sleep(say.after_s)
    if say.gone:
        return False
    length = {} if say.endless else {"content-length": str(len(say.body))}
    headers = {"content-type": "application/json"} | length | dict(say.headers)
    lines = [f"HTTP/1.1 {say.status} {REASONS.get(say.status, 'Other')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    if say.drip_s:
        writer.write(head)
        for byte in say.body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(say.drip_s)
        return True
    writer.write(head + say.body[: say.cut_at])
    await writer.drain()
    while say.endless:
        writer.write(CHUNK)
        await writer.drain()
    return say.cut_at is None


@contextlib.contextmanager
def serve(script: Say | Callable[[Asked], Say] | None = None) -> Iterator[Server]:
    """Run a server in a thread."""
    server = Server(script or well())
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def serve_apart(text: str = "[]", after_s: float = 0.0) -> Iterator[str]:
    """Run a server in a process of its own, which answers well.

    Args:
        text: What it says to everyone.
        after_s: How long it thinks, in seconds.

    Yields:
        Its address, to be given as `base_url`.
    """
    command = [sys.executable, "-m", "tests.helpers.scripted_llm", text, str(after_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        try:
            yield run.stdout.readline().strip()
        finally:
            run.stdin.close()  # it ends with its input, so that none is left behind


def _main(text: str, after_s: float) -> None:
    say = well(text)
    with serve(Say(body=say.body, after_s=after_s)) as server:
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _main(sys.argv[1], float(sys.argv[2]))
