"""`crscore read`: writes the requests for a language-model reader to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import io
from crscore.commands import _terminal
from crscore.commands._inputs import CodeOptions, code_options, is_pull_request, read_inputs
from crscore.commands._options import host_options, option
from crscore.commands._settings import FILE, load_settings, setting_options
from crscore.commands._target import find_target
from crscore.errors import CRScoreError
from crscore.text import count_noun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.hosts.site import Connection
    from crscore.settings import Config


@click.command(
    name="read",
    cls=_terminal.GroupedCommand,
    groups={"Code": ("language", "path", "source_root")},
    short_help="Write the requests for a language-model reader to a file.",
)
@click.argument("diff", type=FILE, metavar="DIFF")
@click.argument("review", required=False, type=FILE, metavar="REVIEW")
@option(
    "--requests FILE",
    "File to write the requests to, one JSON object per line; - for standard output.",
    to="target", required=True,
)  # fmt: skip
@code_options
@host_options(wait_budget_s=300)
@setting_options("analyzers", "tools_dir", "cache_dir", "cache", "offline", "config")
def command(
    diff: str,
    review: str | None,
    *,
    target: str,
    config_file: Path | None,
    code: CodeOptions,
    connection: Connection,
    **flags: Any,
) -> int:
    """Write requests about REVIEW, a review of DIFF, or about many pairs, for a language model.

    A single argument PAIRS.jsonl has one pair per line, as for crscore score; OWNER/REPO#N is a
    pull request, which is read with the settings and checkout that crscore pr uses. Another
    program or a batch service answers the requests. `--reader replay:FILE` then reads the answers,
    one JSON object per line with the `id` of a request and the `answer`. Score with the same
    analyzers and --source-root, because the requests depend on them.

    Examples:
        crscore read change.diff review.md --requests requests.jsonl --source-root .
        crscore read pairs.jsonl --requests requests.jsonl
        crscore read --requests requests.jsonl acme/shop#7
    """
    settings = load_settings(config_file, flags)
    output = None if target == io.DASH else target
    # The output is checked first, because reading many pairs takes minutes, which would be lost if
    # the output could not be written.
    io.check_output(output)
    from crscore.reports import escape  # noqa: PLC0415

    failed, lines, tokens = 0, [], 0
    for name, requests in _list_requests(settings, diff, review, code, connection, flags):
        if isinstance(requests, CRScoreError):
            _terminal.print_message(str(requests))
            failed += 1
            continue
        for request in requests:
            row = {"pair": name, "id": request.id, "comments": [request.entry.comment_index]}
            lines.append(escape.write_json(row | request.document(), indent=None))
            tokens += request.tokens
    io.write_text("".join(lines), output)
    _terminal.print_note(f"{count_noun(len(lines), 'request')}, about {tokens:,} tokens.")
    return _terminal.EXIT_FAILED if failed else 0


def _list_requests(
    settings: Config,
    diff: str,
    review: str | None,
    code: CodeOptions,
    connection: Connection,
    flags: dict[str, Any],
) -> Iterator[tuple[str, list[Any] | CRScoreError]]:
    """Yield the name of each review, and its requests or, if it cannot be read, the error."""
    from crscore.commands._many import read_pairs  # noqa: PLC0415
    from crscore.scorer import Scorer  # noqa: PLC0415

    if review is not None:
        scorer, change, comments, source = read_inputs(settings, diff, review, code)
        yield source, scorer.requests([(change, comments)])[0]
    elif any(code):
        raise click.UsageError("--language, --path, --source-root and --sarif need a REVIEW")
    elif is_pull_request(diff) and not Path(diff).exists():
        from crscore.pull_request import run  # noqa: PLC0415
        from crscore.readers.model import collect_into  # noqa: PLC0415

        subject, requests = find_target(diff, connection.api_url), list[Any]()
        request = run.Request(
            repository=subject.repository, number=subject.number, flags=flags, folder=Path(),
            is_folder_explicit=False,
        )  # fmt: skip
        # The pull request is scored with a reader that collects the requests and answers none.
        run.read_and_score(subject.site.make_host(connection), request, collect_into(requests))
        yield subject.name, requests
    else:
        scorer = Scorer(settings)
        for name, pair in read_pairs(scorer, diff)[0]:
            yield name, pair if isinstance(pair, CRScoreError) else scorer.requests([pair])[0]
