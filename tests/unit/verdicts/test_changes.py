"""What a change is said to remove, exchange, add, move, keep or open."""

from dataclasses import replace
from difflib import unified_diff

import pytest

from crscore.diff import parse
from crscore.pipeline import sentences_of, split_comment
from crscore.records import Comment, Diff, Verdict
from crscore.verdicts.checks import changes
from crscore.verdicts.checks.base import Ground
from crscore.verdicts.code import Code
from crscore.verdicts.statements import Statement

PYTHON = (
    "cart.py",
    """\
import decimal

LIMIT = 25


def total(items, rate=0.2):
    log.debug("adding up %s", items)
    if items is None:
        return None
    return sum(round_half(item.price) for item in items)


def ship(order):
    check_stock(order)
    carrier.send(order, timeout=30)
    return order.number


def label(order):
    return order.name.upper()
""",
    """\
import decimal

LIMIT = 40


def total(items, rate=0.2):
    log.warning("adding up %s", items)
    if items is None:
        return None
    return sum(item.price for item in items)


def ship(order):
    audit_trail(order)
    carrier.send(order, timeout=30)
    return order.number
""",
)
JAVA = (
    "src/Store.java",
    """\
class Store {
    private long size(String key) {
        Entry entry = find(key);
        entry.touch();
        return entry.length();
    }
    private void drop(String key) {
        entries.remove(key);
    }
}
""",
    """\
class Store {
    public int size(String key) {
        Entry entry = find(key);
        entry.touch();
        return entry.length();
    }
    private void drop(String key) {
        entries.remove(key);
    }
}
""",
)


def change_of(path: str, old: str, new: str) -> Diff:
    lines = unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}")
    diff = parse.parse_diff(f"diff --git a/{path} b/{path}\n" + "".join(lines))
    return replace(diff, files=(replace(diff.files[0], old_source=old, new_source=new),))


def verdict_on(remark: str, sources: tuple[str, str, str] = PYTHON) -> Verdict | None:
    diff = change_of(*sources)
    comment = Comment(body=remark)
    statement = Statement(
        sentences=sentences_of([split_comment(comment, diff, "markdown")]), comment=comment
    )
    ground = Ground(Code(diff), statement)
    receipts = (check(phrase, ground) for phrase in statement.phrases for check in changes.CHECKS)
    receipt = next(filter(None, receipts), None)
    assert receipt is None or (receipt.lines and receipt.fact.endswith("."))
    return receipt.verdict if receipt else None


@pytest.mark.parametrize(
    ("remark", "sources"),
    [
        ("Why did the `items is None` check have to go?", PYTHON),
        ("By rewriting this you drop the `carrier.send(order, timeout=30)` call.", PYTHON),
        ('You replaced "adding up %s" with something else.', PYTHON),
        ("This replaces `carrier.send` with `audit_trail`.", PYTHON),
        ("This comes with a new `import decimal`.", PYTHON),
        ("It used to call `entry.touch()`, that's gone.", JAVA),
    ],
)
def test_false_statement_is_refuted(remark: str, sources: tuple[str, str, str]) -> None:
    assert verdict_on(remark, sources) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("remark", "sources"),
    [
        ("This removes `check_stock(order)`.", PYTHON),
        ("The `round_half` call is gone.", PYTHON),
        ("`LIMIT` goes from 25 to 40.", PYTHON),
    ],
)
def test_true_statement_is_confirmed(remark: str, sources: tuple[str, str, str]) -> None:
    assert verdict_on(remark, sources) is Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("remark", "sources"),
    [
        ("Could you remove the `items is None` check?", PYTHON),
        ("When `order` is removed, `carrier.send` fails.", PYTHON),
        ("`ship` drops `order` after sending.", PYTHON),
        ("`decimal` was removed in Python 4.", PYTHON),
        ("Remove the `items is None` check, please.", PYTHON),
        ("I feel like we shold rename `total` to `sum_up`.", PYTHON),
        # The change is proven, and not what is concluded from it.
        ("This removes `check_stock`, which is risky.", PYTHON),
        ("Nit: drop `import decimal`.", PYTHON),
        ("Dropping `import decimal` would be nice.", PYTHON),
        ("Add `audit_trail` here.", PYTHON),
        ("Don't drop `carrier.send` yet.", PYTHON),
        ("This removes the `items` fallback.", PYTHON),
        ("Nothing keeps `label` from being called.", PYTHON),
        ("`carrier.send` in `ship` is now `async`.", PYTHON),
        ("Please use `round_up` instead of `carrier.send`.", PYTHON),
        ("The timeout goes from 25 to 40.", PYTHON),
        ("`size` moves from `Store` to `Entry`.", JAVA),
        ("`size` might become public.", JAVA),
        ("While this removes `check_stock`, `total` leaks.", PYTHON),
        ("Now that `check_stock(order)` is gone, `ship` ends with nothing.", PYTHON),
        ("`LIMIT` was carried over from `25` to `40`.", PYTHON),
    ],
)
def test_what_is_not_sure_is_left_open(remark: str, sources: tuple[str, str, str]) -> None:
    assert verdict_on(remark, sources) is None


def test_edit_that_keeps_a_name_does_not_shift_it() -> None:
    code = Code(change_of(*PYTHON))
    assert not code.find_shifted("items", changes.Side.OLD)
    assert [place.line for place in code.find_shifted("round_half", changes.Side.OLD)] == [10]
