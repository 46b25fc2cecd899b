from __future__ import annotations

from dataclasses import replace
from difflib import unified_diff

import pytest

from crscore.diff import parse
from crscore.pipeline import sentences_of, split_comment
from crscore.records import Comment, Diff, Receipt, Verdict
from crscore.verdicts.checks import presence
from crscore.verdicts.checks.base import Ground
from crscore.verdicts.code import Code
from crscore.verdicts.statements import Statement


def diff_of(path: str, old: str, new: str) -> Diff:
    """Return a change of one whole file."""
    lines = unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    diff = parse.parse_diff(f"diff --git a/{path} b/{path}\n" + "\n".join(lines) + "\n")
    return replace(diff, files=(replace(diff.files[0], old_source=old, new_source=new),))


def receipt_of(remark: str, diff: Diff) -> Receipt | None:
    comment = Comment(body=remark)
    sentences = sentences_of([split_comment(comment, diff, "markdown")])
    ground = Ground(Code(diff), Statement(sentences=sentences, comment=comment))
    receipts = (
        check(phrase, ground) for phrase in ground.statement.phrases for check in presence.CHECKS
    )
    return next(filter(None, receipts), None)


def verdict_of(remark: str, diff: Diff) -> Verdict:
    receipt = receipt_of(remark, diff)
    return receipt.verdict if receipt else Verdict.UNPROVEN


ORDERS = diff_of(
    "shop/orders.py",
    """\
from shop.rates import legacy_rate, rate
import json


def total(order):
    amount = sum(order.prices) * legacy_rate(order)
    return charge(amount, order)


def label(order):
    return "order number " + str(order.number)


def save(order, path):
    try:
        path.write_text(json.dumps(order.fields))
    except Exception:
        pass
""",
    """\
from shop.rates import rate
import json


def total(order):
    amount = sum(order.prices) * rate(order)
    return charge(amount, order.customer)


def label(order):
    return "nubmer " + str(order.number)


def save(order, path):
    try:
        path.write_text(json.dumps(order.fields))
    except Exception:
        pass
    notify(order, 250)
    notify(order, 250)
""",
)


@pytest.mark.parametrize(
    "remark",
    [
        "`total` still multiplies with `legacy_rate`.",
        "There's a leftover `legacy_rate(order)` call in `total`.",
        "orders.py still imports legacy_rate.",
        "The text 'order number' remains in `label`.",
        "Is `legacy_rate` still needed in `total`?",
        "There is trailing whitespace in `save`.",
        "`total` has a bare except.",
    ],
)
def test_code_that_is_not_there_is_refuted(remark: str) -> None:
    assert verdict_of(remark, ORDERS) is Verdict.REFUTED


@pytest.mark.parametrize(
    "remark",
    [
        "`save` catches bare `Exception`.",
        "`notify(order, 250)` is in `save` twice.",
    ],
)
def test_code_that_is_there_is_confirmed(remark: str) -> None:
    assert verdict_of(remark, ORDERS) is Verdict.CONFIRMED


@pytest.mark.parametrize(
    "remark",
    [
        "`total` could still use `legacy_rate`.",
        "`total` no longer uses `legacy_rate`, fine.",
        "`legacy_rate(order)` was left in `total` before.",
        "`total` still is slow.",
        "`save` still calls `os.replace` on Windows.",
        "The check is duplicated: `path.write_text(json.dumps(order.fields))` does the same.",
        "`label` uses only `order.number`.",
        "Two threads can reach `path.write_text(json.dumps(order.fields))` twice; take a lock.",
        "`save` calls `path.write_text(json.dumps(order.fields))` twice when it is retried.",
    ],
)
def test_other_words_stay_open(remark: str) -> None:
    assert verdict_of(remark, ORDERS) is Verdict.UNPROVEN


def test_receipt_shows_the_lines_of_the_old_version() -> None:
    receipt = receipt_of("`total` still multiplies with `legacy_rate`.", ORDERS)
    assert receipt is not None
    assert receipt.fact == "The new version of `total` has no `legacy_rate`."
    assert [(line.path, line.start) for line in receipt.lines] == [("shop/orders.py", 6)]


def test_hunks_alone_decide_nothing() -> None:
    hunks = replace(ORDERS, files=(replace(ORDERS.files[0], old_source=None, new_source=None),))
    assert verdict_of("`total` still uses `legacy_rate`.", hunks) is Verdict.UNPROVEN
