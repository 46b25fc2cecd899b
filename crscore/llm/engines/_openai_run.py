"""All chats of one call: so many at once, one patience, and an end when nothing can come of it."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from crscore.llm.engines._openai_reply import Fault, Good, Next, read_reply, reply_text, too_long
from crscore.llm.engines._openai_wire import LostError, SilentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.llm.engines._openai_shape import Shape
    from crscore.llm.engines._openai_wire import Reply, Wire
    from crscore.llm.engines.base import Answer, Message, Sampling

TRIES = 5
"""Most tries of one chat that meets failures of the server."""
CONNECTING = 3
"""Most tries of a chat that finds no server; then all end."""
UNREACHED = "unreached"
"""Kind of the fault that there is no server."""
FIRST_WAIT_S = 0.5
"""Seconds before the second try; doubled for each further one, half of it by chance."""
MOST_WAIT_S = 30.0
"""Longest wait that the server did not ask for."""
WAITING_S = 300.0
"""Most seconds that a run stands still because the server asks to wait."""
SHAPES = 6
"""Most times that one chat is asked in another way."""
SILENT = 3
"""Chats without an answer in time, before any had one, after which no more are asked."""


class Patience:
    """When the next request may go out: one clock for all chats of a run."""

    def __init__(self, waiting_s: float = WAITING_S) -> None:
        self._left_s = waiting_s
        self._until = 0.0

    def pause(self, wait_s: float) -> bool:
        """Hold back all requests; False, and no pause, when the run has no such time left."""
        now = asyncio.get_running_loop().time()
        more_s = now + wait_s - max(now, self._until)
        if more_s > self._left_s:
            return False
        if more_s > 0:
            self._left_s -= more_s
            self._until = now + wait_s
        return True

    async def wait(self) -> None:
        """Wait until requests may go out."""
        loop = asyncio.get_running_loop()
        while (rest_s := self._until - loop.time()) > 0:
            # Spread: all of them at once would be too many requests again.
            await asyncio.sleep(rest_s * random.uniform(1.0, 1.2))


class Run:
    """Asks chats and keeps what came of each.

    Args:
        wire: The connections.
        shape: How requests are written.
        model: The model's name.
        sampling: How to draw.
    """

    def __init__(self, wire: Wire, shape: Shape, model: str, sampling: Sampling) -> None:
        self._wire = wire
        self._shape = shape
        self._model = model
        self._sampling = sampling
        self._patience = Patience()
        self._stopped: Fault | None = None
        self._silent = 0
        self._answered = False
        self.served: set[str] = set()
        """Models that answered, as the server names them."""

    async def all(
        self, chats: Sequence[Sequence[Message]], at_once: int
    ) -> tuple[Answer | Fault, ...]:
        """Ask all chats, so many at once, and return what came of each, in order."""
        results: list[Answer | Fault | None] = [None] * len(chats)
        waiting = iter(range(len(chats)))

        async def work() -> None:
            for index in waiting:
                results[index] = await self._one(chats[index])

        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_once, len(chats))):
                group.create_task(work())
        return tuple(result for result in results if result is not None)

    async def _one(self, chat: Sequence[Message]) -> Answer | Fault:
        tries = waits = 0
        while True:
            await self._patience.wait()
            if self._stopped is not None:
                return self._stopped
            result = await self._ask(chat)
            if isinstance(result, Good):
                self._answered = True
                if result.model is not None:
                    self.served.add(result.model)
                return result.answer
            tries += result.next is Next.RETRY
            if not await self._may_retry(result, tries, waits):
                return result
            waits += 1

    async def _ask(self, chat: Sequence[Message]) -> Good | Fault:
        """Ask once, in the server's shape."""
        for _ in range(SHAPES):
            sent = self._shape.body(self._model, chat, self._sampling)
            try:
                reply = await self._wire.ask(sent)
            except LostError as exc:
                return _lost(exc)
            except SilentError:
                return self._unheard()
            if not self._other_shape(sent, reply):
                break
        return read_reply(reply)

    def _other_shape(self, sent: dict[str, Any], reply: Reply) -> bool:
        if reply.status < 300 or too_long(reply):
            return False
        return self._shape.adapt(sent, reply.status, reply_text(reply))

    def _unheard(self) -> Fault:
        """Note a chat without an answer in time: a model may be slow, a host may hang."""
        self._silent += 1
        fault = Fault(kind="time", text="no answer in time", next=Next.GIVE_UP)
        if not self._answered and self._silent >= SILENT:
            self._stopped = fault
        return fault

    async def _may_retry(self, fault: Fault, tries: int, waits: int) -> bool:
        """Wait as the fault asks; False when the chat ends with it."""
        gone = fault.kind == UNREACHED and tries >= CONNECTING
        if gone or fault.next is Next.STOP:
            self._stopped = self._stopped or fault
            return False
        if fault.next is Next.GIVE_UP or tries >= TRIES:
            return False
        wait_s = min(MOST_WAIT_S, FIRST_WAIT_S * 2.0**waits) * random.uniform(0.5, 1.0)
        if fault.next is Next.RETRY and fault.retry_after_s is None:
            await asyncio.sleep(wait_s)
            return True
        if not self._patience.pause(fault.retry_after_s or wait_s):
            self._stopped = fault
            return False
        return True


def _lost(error: LostError) -> Fault:
    if error.connected:
        return Fault(kind="lost", text=str(error), next=Next.RETRY)
    return Fault(kind=UNREACHED, text=f"the server is {error}", next=Next.RETRY)
