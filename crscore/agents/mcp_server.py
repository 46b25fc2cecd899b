"""Server of the Model Context Protocol with two tools: score a review, and triage its remarks.

Tool: the official SDK `mcp` (extra `crscore[mcp]`, tested: 2.3.0). The server speaks over standard
input and output, reads no file and opens no connection; the encoder is loaded at the first call.
"""

from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from crscore.agents.evaluation import MEASURES, evaluate
from crscore.agents.triage import triage
from crscore.errors import CRScoreError, DependencyError
from crscore.text import replace_surrogates
from crscore.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from crscore.scorer import Scorer

MAX_END_S = 600
"""Maximum seconds that the answers may take after the end of the input."""
INSTRUCTIONS = (
    "Judge code reviews. `triage_review` says for each remark whether to fix, answer or "
    "skip it, and what in the code confirms or refutes it. `score_review` says how useful a review "
    "is. Pass a unified diff, and the review as text or as JSON of comments (body, path, line)."
)


def serve(scorer: Scorer) -> None:
    """Serve an agent over standard input and output, until the input ends and all is answered.

    Raises:
        DependencyError: The package `mcp` is not installed.
    """
    server = make_server(scorer)._lowlevel_server
    import anyio  # noqa: PLC0415
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    # The SDK drops lines that are no message, and requests on which it still works when the input
    # ends: an agent would wait for ever.
    unanswered: set[object] = set()

    async def read(source: Any, requests: Any, target: Any) -> None:
        async with requests:
            async for item in source:
                if isinstance(item, Exception):
                    await target.send(_refuse(item))
                    continue
                fields = item.message.model_dump()
                if fields.get("method") == "notifications/cancelled":
                    # A cancelled request gets no answer.
                    unanswered.discard((fields["params"] or {}).get("requestId"))
                elif "method" in fields and "id" in fields:
                    unanswered.add(fields["id"])
                await requests.send(item)
            # The SDK ends as soon as this stream does, so it stays open until all is answered.
            with anyio.move_on_after(MAX_END_S):
                while unanswered:
                    await anyio.sleep(0.02)

    async def write(answers: Any, target: Any) -> None:
        async for item in answers:
            await target.send(item)
            unanswered.discard(getattr(item.message, "id", None))

    async def run() -> None:
        requests, read_stream = anyio.create_memory_object_stream[Any]()
        write_stream, answers = anyio.create_memory_object_stream[Any]()
        async with stdio_server() as (source, target), anyio.create_task_group() as tasks:
            tasks.start_soon(read, source, requests, target)
            tasks.start_soon(write, answers, target)
            options = server.create_initialization_options()
            await server.run(read_stream, write_stream, options)
            tasks.cancel_scope.cancel()
            target.close()

    anyio.run(run)


def _refuse(error: Any) -> Any:
    """Return the answer to a line that is no message, with its id if it has one."""
    from mcp.shared.message import SessionMessage  # noqa: PLC0415
    from mcp_types import ErrorData, JSONRPCError  # noqa: PLC0415

    faults = error.errors()
    is_json = faults[0]["type"] != "json_invalid"
    # Pydantic reports a fault for each kind of message that the line is not: some with the whole
    # line as the input, others with one of its fields.
    values = [fault["input"] for fault in faults]
    with contextlib.suppress(ValueError, RecursionError):
        # Unlike the SDK's, this parser reads half of a surrogate pair.
        values = values if is_json else [json.loads(values[0])]
    ids = (value.get("id") for value in values if isinstance(value, dict))
    number = next((candidate for candidate in ids if type(candidate) in (int, str)), None)
    reason = f"no JSON message in UTF-8, without halves of surrogate pairs: {faults[0]['msg']}"
    # https://www.jsonrpc.org/specification#error_object: an invalid request, or a parse error.
    data = ErrorData(code=-32600 if is_json else -32700, message=reason)
    number = replace_surrogates(number) if isinstance(number, str) else number
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=data))


def make_server(scorer: Scorer) -> MCPServer[Any]:
    """Make the server.

    Args:
        scorer: Scorer of all calls.

    Raises:
        DependencyError: The package `mcp` is not installed.
    """
    try:
        from mcp.server import MCPServer  # noqa: PLC0415
        from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("mcp", "pip install 'crscore[mcp]'") from exc
    server: MCPServer[Any] = MCPServer("crscore", instructions=INSTRUCTIONS, version=__version__)
    # The SDK runs tools in threads; one call at a time keeps the memory bounded.
    lock = threading.Lock()

    @server.tool()
    def triage_review(diff: str, review: str, posted: str = "") -> dict[str, Any]:
        """Decide for each remark of a code review: fix, answer or skip, with the reason.

        Args:
            diff: Unified diff of the change, as git prints it.
            review: The review: text, Markdown, or JSON of comments with body, path and line.
            posted: Comments that others have already posted, as text or JSON; repetitions are
                marked.
        """
        with lock:
            try:
                change = scorer.read_diff(diff)
                comments, existing = scorer.read_review(review), scorer.read_review(posted)
                decided = triage(scorer, change, comments, posted=existing)
            except CRScoreError as exc:
                raise ToolError(str(exc)) from exc
        document: dict[str, Any] = msgspec.to_builtins(decided)
        return document

    @server.tool()
    def score_review(diff: str, review: str) -> dict[str, Any]:
        """Score how useful a code review is to the author of the change, each from 0 to 1.

        Args:
            diff: Unified diff of the change, as git prints it.
            review: The review: text, Markdown, or JSON of comments with body, path and line.
        """
        with lock:
            try:
                result = scorer.score(diff, review)
            except CRScoreError as exc:
                raise ToolError(str(exc)) from exc
        evaluations = {measure: evaluate(result, measure) for measure in MEASURES}
        return {
            **{measure: evaluation.score for measure, evaluation in evaluations.items()},
            "word": evaluations["usefulness"].label,
            "explanation": evaluations["usefulness"].explanation,
            "signature": result.signature,
        }

    return server
