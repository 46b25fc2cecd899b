"""Server of the Model Context Protocol with two tools: score a review, and triage its remarks.

Tool: the official SDK `mcp` (extra `crscore[mcp]`, tested: 2.3.0). The server communicates over
standard input and output, reads no file and opens no connection. It loads the encoder at the first
call. The SDK ignores lines that are not messages, and calls that are unfinished when the input
ends.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from crscore.agents.evaluation import MEASURES, evaluate
from crscore.agents.triage import triage
from crscore.errors import CRScoreError, requires
from crscore.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from crscore.scorer import Scorer

INSTRUCTIONS = (
    "Judge code reviews. `triage_review` says for each remark whether to fix, answer or "
    "skip it, and what in the code confirms or refutes it. `score_review` says how useful a review "
    "is. Pass a unified diff, and the review as text or as JSON of comments (body, path, line)."
)


def make_server(scorer: Scorer) -> MCPServer[Any]:
    """Create the server.

    Args:
        scorer: Scorer that is used for all calls.

    Raises:
        DependencyError: The package `mcp` is not installed.
    """
    with requires("mcp", "pip install 'crscore[mcp]'"):
        from mcp.server import MCPServer  # noqa: PLC0415
        from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415
    server: MCPServer[Any] = MCPServer("crscore", instructions=INSTRUCTIONS, version=__version__)
    # The SDK runs calls in threads. Only one call is processed at a time, to limit the memory.
    lock = threading.Lock()

    @server.tool()
    def triage_review(diff: str, review: str, posted: str = "") -> dict[str, Any]:
        """Decide for each remark of a code review: fix, answer or skip, with the reason.

        Args:
            diff: Unified diff of the change, as git prints it.
            review: The review: text, Markdown, or JSON of comments with body, path and line.
            posted: Comments that others have already posted, as text or JSON; remarks that repeat
                them are marked.
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
        """Score a code review by its usefulness to the author and three measures, each 0 to 1.

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
