from __future__ import annotations

from pathlib import Path

import pytest

from crscore.audit.labels import Labels, find_label, load_labels
from crscore.audit.signals import Signal
from crscore.audit.store.database import Store
from crscore.audit.store.reviews import Scope
from crscore.audit.store.rows import SignalRow, comment_key
from crscore.hosts.records import RemarkKind
from tests.helpers import audit_rows as rows

POSTS = Path(__file__).parents[2] / "data" / "reviewers"
MARCH = Scope(1, "2026-03-01", "2026-03-31", "[1]")


@pytest.mark.parametrize(
    ("bot", "name", "level"),
    [
        ("augment", "medium", "minor"),
        ("bugbot", "medium", "minor"),
        ("coderabbit", "major", "major"),
        ("codex", "p1", "major"),
        ("cubic", "p1", "major"),
        ("gemini", "high", "major"),
        ("greptile", "p1", "major"),
        ("macroscope", "high", "major"),
    ],
)
def test_label_of_a_bot_is_read_from_its_post(bot: str, name: str, level: str) -> None:
    assert find_label((POSTS / bot / "line.md").read_text("utf-8")) == (name, level)


@pytest.mark.parametrize("bot", ["claude", "copilot", "graphite", "pr-agent", "sourcery"])
def test_post_without_a_label_has_none(bot: str) -> None:
    assert find_label((POSTS / bot / "line.md").read_text("utf-8")) is None


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("nit: `a` is a better name.", "nit"),
        ("[nitpick] Rename it.", "nit"),
        ("**nitpick (non-blocking):** Rename it.", "nit"),
        ("_🧹 Nitpick_ | _🔵 Trivial_", "nit"),
        ("🔴 **Critical Issue**: the lock is never released.", "critical"),
        ("**🔴 CRITICAL \N{EM DASH} SQL injection**\n\nThe name is not escaped.", "critical"),
        ("(minor) The loop never ends.", "minor"),
        ("High-severity: the loop never ends.", "major"),
        ("![security-critical](https://example.org/security-critical.svg)\n\nA text.", "critical"),
        ("The loop never ends.\n\n- **Severity**: high\n- **Category**: bugs", "major"),
        ("🟡 The loop never ends.", "minor"),
        ("P0 - the loop never ends.", "critical"),
    ],
)
def test_label_is_set_off_from_the_text(text: str, level: str) -> None:
    label = find_label(text)
    assert label is not None
    assert label.level == level


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Critical sections are not locked here.",
        "**Critical path** is blocked by this call.",
        "High memory usage: the list is copied.",
        "`low`: never assigned.",
        "P1 is undefined when the list is empty.",
        "The severity: high is never logged.",
        "This is critical: the lock is never released.",
        "A minor change.",
        "Sort them:\n\n- low\n- medium\n- high",
        "## Critical\n\nThe lock.\n\n## Minor\n\nThe name.",
        "Use the enum.\n\n```python\nHIGH\n```",
        "Agreed.\n\n> **Critical**: the lock is never released.",
        "It leaks.\n\n<details><summary>Prompt</summary>\n\nSeverity: high\n</details>",
        "It leaks. <!-- severity: high -->",
        "| Critical | 3 |",
    ],
)
def test_words_of_a_sentence_are_no_label(text: str) -> None:
    assert find_label(text) is None


def labels(texts: dict[str, int], *, level: str | None = "nit") -> Labels:
    """Return the labels of a reviewer with so many comments of each text, one on a pull request."""
    with Store(Path(":memory:")) as store:
        store.put([rows.repository()])
        store.signature_id("a")
        number = 0
        for text, count in texts.items():
            body = store.add_text(text)
            for _ in range(count):
                number += 1
                key = comment_key(RemarkKind.LINE, number)
                noise = None if level else "nothing"
                store.put([rows.pull(number), rows.score(number, "otter", 50)])
                store.put([rows.comment(number, "otter", number, body=body)])
                store.put([rows.comment_score(key, number, level=level, noise=noise)])
                acted = {"comment": key, "signal": Signal.ACTED_ON, "night": "2026-03-02"}
                store.put([SignalRow(**acted, rules=1, value=number % 2)])
        return load_labels(store, MARCH)["otter"]


def test_labels_stand_beside_what_is_read_and_done() -> None:
    value = labels({"nit: Rename it.": 2, "P1: It leaks.": 4, "It leaks.": 3})
    assert [(row.label, row.level, row.comments, row.read) for row in value.counts] == [
        ("p1", "major", 4, {"nit": 4}),
        ("nit", "nit", 2, {"nit": 2}),
    ]
    assert [(row.acted_on.count, row.acted_on.total) for row in value.counts] == [(2, 4), (1, 2)]
    assert (value.light.count, value.light.total) == (4, 4)


@pytest.mark.parametrize(
    ("texts", "level", "is_said"),
    [
        ({"Critical: Rename it.": 30}, "nit", True),
        ({"Critical: Thank you.": 30}, None, True),
        ({"Critical: It leaks.": 30}, "minor", False),
        ({"Critical: Rename it.": 19}, "nit", False),  # too few
        ({"Minor: Rename it.": 30}, "nit", False),
    ],
)
def test_inflation_is_said_where_the_numbers_carry_it(
    texts: dict[str, int], level: str | None, is_said: bool
) -> None:
    assert bool(labels(texts, level=level).inflation) is is_said
