"""Where code is said to stand, what calls get, and what names are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crscore.pipeline import sentences_of, split_comment
from crscore.records import Comment, Verdict
from crscore.verdicts.judge import judge_statements
from crscore.verdicts.statements import Statement, mask
from tests.helpers.changes import change, together

if TYPE_CHECKING:
    from crscore.records import Receipt

PYTHON = """\
LIMIT = 50


def load(path, retries=3):
    if not path:
        return None
    with open_file(path, "rb") as stream:
        data = parse_bytes(stream.read(), strict=True)
    return Cache.store.fetch(data)


def save(path, data):
    for part in data:
        write_part(path, part)
    finish(path)
"""
GO = """\
package store

func Open(name string) error {
	if name != "" && len(name) < maxName {
		return connect(name, defaultPort)
	}
	return errors.New("no name")
}
"""
TYPESCRIPT = """\
export function render(view: View) {
  if (view.ready) {
    view.items.forEach(drawItem)
  } else {
    console.warn("not ready")
  }
  flush(view.queue)
}
"""
DIFF = together(
    change("app/load.py", "", PYTHON),
    change("store/open.go", "", GO),
    change("web/render.ts", "", TYPESCRIPT),
)


def judge(text: str, *, sources: bool = True) -> Receipt | None:
    diff = DIFF if sources else change("app/load.py", "x = 1\n", PYTHON, sources=False)
    comment = Comment(body=text)
    sentences = sentences_of([split_comment(comment, diff, "markdown")])
    return judge_statements([Statement(sentences=sentences, comment=comment)], diff, ())[0]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('Line 7 of load.py opens `open_file(path, "rb")` for reading.', [7]),
        ("On line 14 `save` calls `write_part(path, part)`.", [14]),
        ("render.ts:3 hands `drawItem` to `view.items.forEach`.", [3]),
        ("open.go:5 gives `defaultPort` to `connect`, so the port is fixed.", [5]),
        ("`Open` calls `connect(name, defaultPort)`.", [5]),
        ("`load` still calls `Cache.store.fetch(data)`.", [9]),
        ("app/load.py uses `stream.read()`.", [8]),
    ],
)
def test_confirmed(text: str, lines: list[int]) -> None:
    receipt = judge(text)

    assert receipt
    assert receipt.verdict is Verdict.CONFIRMED
    assert [line.start for line in receipt.lines] == lines


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "`load` finishes in `parse_bytes(stream.read(), strict=False)`.",
            "`parse_bytes(stream.read(), strict=False)` is in neither version; "
            "line 8 is `data = parse_bytes(stream.read(), strict=True)`.",
        ),
        (
            "This calls `Cache.store.remove` for each file.",
            "`Cache.store.remove` is in neither version; "
            "line 9 is `return Cache.store.fetch(data)`.",
        ),
    ],
)
def test_refuted(text: str, fact: str) -> None:
    receipt = judge(text)

    assert receipt
    assert receipt.verdict is Verdict.REFUTED
    assert fact in receipt.fact
    assert receipt.lines


@pytest.mark.parametrize(
    "text",
    [
        # Proposed, denied, or hedged.
        "Please call `parse_bytes(stream.read(), strict=False)` here.",
        "`load` should call `write_part`.",
        "Line 7 could open `open_text(path)` instead.",
        "`LIMIT` was 100.",
        # True of one thing, but the remark denies another.
        "`load` calls `parse_bytes(stream.read(), strict=True)`. It never looks at `data`.",
        # More than its code is claimed, and nothing proves the rest.
        "`Open` calls `connect(name, defaultPort)`, so `maxName` is too low.",
        "`load` uses `stream.read()`, but `save` has `data`.",
        "`load` still calls `parse_bytes(stream.read(), strict=True)` for `pages_of_text`.",
        # Two pieces on two lines, and one without a place.
        "`load` uses `Cache.store.fetch` with `stream.read()`.",
        "Why does `Cache.store.fetch(data)` stay silent?",
        # Shortened code is no other code.
        "`load` calls `parse_bytes(stream.read())`.",
        # One line further than said.
        "Line 8 of load.py calls `open_file`.",
        # A name of parts that are there apart.
        "This uses `app.load.parse_bytes` for that.",
        "This uses `$app->load.parse_bytes` for that.",
        # Units that are not in the change.
        "`upload` calls `write_part`.",
        "`load<<` calls `write_part`.",
        # The value of another kind.
        "`LIMIT` is 50 bytes long.",
        "`load` ignores `LIMIT`.",
    ],
)
def test_unproven(text: str) -> None:
    assert judge(text) is None


def test_denied_call_that_is_absent_is_confirmed() -> None:
    receipt = judge("`load` never calls `write_part`.")
    assert receipt is not None
    assert receipt.verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    "text",
    [
        "`save` ends with `parse_bytes(stream.read(), strict=True)`.",
        "This calls `Cache.store.remove` for each file.",
    ],
)
def test_not_absent_from_hunks(text: str) -> None:
    assert judge(text, sources=False) is None


def test_mask_takes_calls_with_several_arguments() -> None:
    assert mask("Deferred panicRecovery(w, log) runs first.").masked == "Deferred §0§ runs first."


@pytest.mark.parametrize(
    "text",
    [
        "The data is read with `parse_bytes(stream.read(), strict=False)`, so errors are lost.",
        "The data comes out of `parse_bytes(stream.read(), strict=False)`, which is lax.",
        "The condition is spelled `len(name) <= maxName`, one more than allowed.",
    ],
)
def test_code_that_is_quoted_wrongly_is_refuted(text: str) -> None:
    receipt = judge(text)
    assert receipt is not None
    assert receipt.verdict is Verdict.REFUTED
    assert "neither version" in receipt.fact


def test_quoted_code_of_the_old_version_is_refuted() -> None:
    old = "def run(job):\n    job.start(now=True)\n"
    diff = change("run.py", old, old.replace("now=True", "later=1"))
    comment = Comment(body="The job is started with `job.start(now=True)`, which blocks.")
    sentences = sentences_of([split_comment(comment, diff, "markdown")])
    receipt = judge_statements([Statement(sentences=sentences, comment=comment)], diff, ())[0]
    assert receipt is not None
    assert receipt.fact == "Only the old version has `job.start(now=True)`."


@pytest.mark.parametrize("state", ["earlier", "outdated"])
def test_comment_on_an_older_version_is_not_judged(state: str) -> None:
    old = "def run(job):\n    job.start(now=True)\n"
    diff = change("run.py", old, old.replace("now=True", "later=1"))
    body = "The job is started with `job.start(now=True)`, which blocks."
    comment = Comment(body=body, path="run.py", line=2, **{state: True})
    sentences = sentences_of([split_comment(comment, diff, "markdown")])
    assert judge_statements([Statement(sentences=sentences, comment=comment)], diff, ()) == [None]


@pytest.mark.parametrize(
    "text",
    [
        "I'd write `parse_bytes(stream.read(), strict=False)`.",
        "`parse_bytes(stream.read(), strict=False)` instead of the strict form, please.",
        "A call such as `write_part(path, None)` raises a TypeError.",
        "`write_part(path, None)` would be the end of it.",
        "Why not `len(name) <= maxName`?",
        "The correct check is `len(name) <= maxName`.",
        "The loop needs `len(name) <= maxName` as its bound.",
        "`parse_bytes(stream.read(), strict=False)` is insufficient.",
        "This works with `parse_bytes(stream.read(), strict=False)`.",
        "The upstream version uses `parse_bytes(stream.read(), strict=False)`.",
        "`guide.py:12` says that `parse_bytes(stream.read(), strict=False)` is called.",
        "The data comes out of `parse_bytes(stream.read(), ..., strict=False)`, which is lax.",
        "docs/load.md says that `parse_bytes(stream.read(), strict=False)` is called.",
        "The malformed part is lost; `parse_bytes(stream.read(), strict=False)` fixes it.",
        "I assume you intended `parse_bytes(stream.read(), strict=False)`.",
        "The generated client reconnects whenever `len(name) <= maxName`.",
        "Same gap as before with `parse_bytes(stream.read(), strict=False)`.",
        "Redirects from `/app/load/` end in `/app//load/`.",
    ],
)
def test_examples_and_wishes_are_no_quotations(text: str) -> None:
    receipt = judge(text)
    assert receipt is None or receipt.verdict is Verdict.CONFIRMED
