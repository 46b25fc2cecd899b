"""Remarks on callers, tests and files beside the change."""

from __future__ import annotations

import pytest

from crscore.diff.checkout import Tree
from crscore.records import Comment, Receipt, Verdict
from crscore.review.read import parse_comment, sentences_of
from crscore.syntax.change import ParsedChange
from crscore.verdicts.judge import judge_remarks
from crscore.verdicts.repository import Repository
from tests.helpers.changes import change, together

OLD = """
def load_stock(path):
    return open(path)


def old_total(items):
    return sum(items)
"""
NEW = """
import json

LIMIT_OF_STOCK = 3


def load_stock(path, retries=3):
    return open_again(path, retries)


def open_again(path, retries):
    return open(path)


def idle_helper(items):
    return items


@hook
def on_config_change(config):
    return config


class Stock:
    def refresh_all(self):
        return self
"""
SHOP = """
from app.stock import load_stock

# open_again is not for us
def run_shop(path):
    return load_stock(path)
"""
TEST = """
from app.stock import load_stock


def test_load():
    assert load_stock("a")
    assert "LIMIT_OF_STOCK"
"""
FILES = {
    "app/shop.py": SHOP,
    "tests/test_stock.py": TEST,
    "app/other.py": "def create(): ...\ncreate()\n",
    "docs/shop.md": "Call `idle_helper`.\n",
}
DIFF = together(
    change("app/stock.py", OLD, NEW), change("app/create.py", "", "def create():\n    return 1\n")
)


def judge(
    text: str, files: dict[str, str] | None = None, reason: str | None = None
) -> Receipt | None:
    repository = None
    if files is not None:
        tree = Tree({path: content.encode() for path, content in files.items()}, reason)
        repository = Repository(lambda: tree)
    comment = Comment(body=text)
    units = sentences_of([parse_comment(comment, DIFF, "markdown")])
    return judge_remarks([units], [comment], [()], ParsedChange.of(DIFF), repository)[0]


REFUTED = (
    "Nobody calls `load_stock`.",
    "`load_stock` has no tests.",
    "`load_stock` is unused outside of `stock.py`.",
    "`load_stock` is only used in `app/stock.py`.",
    "`open_again` is dead code.",
    "`app/shop.py` also calls `open_again_later`, no: `app/other.py` calls `load_stock`.",
    "Other modules still import `old_total`.",
    "`app/nowhere.py` calls `load_stock` too.",
    "The same code is in `app/nowhere.py`.",
    "This can be removed: nobody calls `load_stock`.",
    "This should go, as nobody calls `load_stock`.",
    "`load_stock` has no callers, so this can be removed.",
    "Nobody calls `load_stock`, so errors of `open` are never seen.",
    "There is a test that checks it: `tests/test_stock.py` uses `idle_helper`.",
)
CONFIRMED = (
    "`idle_helper` is never called.",
    "No test calls `open_again`.",
    "`open_again` is untested.",
    "`idle_helper` has no callers in other modules.",
    "No other module uses `idle_helper`, does it need to be public?",
    "`app/shop.py` still calls `load_stock`.",
    "`load_stock` is also used in `app/shop.py`.",
    "Other modules use `load_stock`.",
)
UNPROVEN = (
    # A string, a hook, a method and a name that is everywhere prove nothing.
    "`LIMIT_OF_STOCK` is not tested.",
    "`on_config_change` is never called.",
    "`refresh_all` is never called.",
    "`create` is never used.",
    # No assertions.
    "Is `load_stock` unused?",
    "If nobody calls `load_stock`, drop it.",
    "Yes: nothing checks it before `load_stock` is called, so whatever is typed arrives here.",
    "Nothing checks `load_stock` for errors.",
    "The `if error: ...` in `load_stock` is dead code.",
    "Nobody reads it after `load_stock` is done.",
    "`load_stock` might be unused.",
    "Please add `app/nowhere.py` for this.",
    "Move this to `app/nowhere.py`.",
    # Another place than the repository.
    "`path` is unused here.",
    "`load_stock` is not used in `open_again`.",
    "Nothing in `app/shop.py` calls `load_stock`.",
    "`load_stock` is never called by `idle_helper`.",
    # On one path of a run.
    "`run_shop` may throw a `ValueError`, then `load_stock` is never called.",
    "If `run_shop` throws, `load_stock` is never called.",
    "`run_shop` raises before that, so `load_stock` is never called.",
    "The early return above means a loss: `load_stock` is never called.",
    "`load_stock` is never called when the list is empty.",
    "`load_stock` is never called if the first request fails.",
    "`load_stock` is never called, because `run_shop` raises first.",
    "The request can time out. Then `load_stock` is never called.",
    "An exception is possible here; in that case, `load_stock` is never called.",
    "On failure `load_stock` is never called, and the lock stays.",
    "`run_shop` could be slow, and then nothing calls `load_stock`.",
    "Otherwise `load_stock` is never used.",
    "With an empty list `load_stock` is never called.",
)


@pytest.mark.parametrize("text", REFUTED)
def test_false_remarks_are_refuted(text: str) -> None:
    receipt = judge(text, FILES)

    assert receipt is not None
    assert receipt.verdict is Verdict.REFUTED


@pytest.mark.parametrize("text", CONFIRMED)
def test_true_remarks_are_confirmed(text: str) -> None:
    receipt = judge(text, FILES)

    assert receipt is not None
    assert receipt.verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("text", UNPROVEN)
def test_uncertain_remarks_are_unproven(text: str) -> None:
    assert judge(text, FILES) is None


@pytest.mark.parametrize("text", [*REFUTED, *CONFIRMED])
def test_absence_is_not_proven_in_a_repository_that_is_not_read(text: str) -> None:
    for receipt in (judge(text), judge(text, FILES, "it is too large")):
        # What is left is proven by a line.
        assert receipt is None or receipt.lines


def test_the_line_of_another_file_is_the_proof() -> None:
    receipt = judge("Nobody calls `load_stock`.", FILES)

    assert receipt is not None
    assert (receipt.lines[0].path, receipt.lines[0].start) == ("app/shop.py", 6)
    assert receipt.fact == "Line 6 of `app/shop.py` uses `load_stock`."


def test_limits_are_noted_once_the_tree_is_read() -> None:
    repository = Repository(lambda: Tree({}, "it is too large"))

    assert repository.notes == ()
    assert not repository.is_whole
    assert "too large" in repository.notes[0]
