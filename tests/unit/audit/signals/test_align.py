from __future__ import annotations

import pytest

from crscore.audit.signals.align import Position, align


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f(a, b)", "    f(a,b)"),
        ("f(a, b)", "f(\n    a,\n    b,\n)"),
        ("f(\n    a,\n    b,\n)", "f(a, b)"),
        ("say('a')", 'say("a")'),
        ("x = 1", "y = 2\nx = 1"),
        ("x = 1\n\n\ny = 2", "x = 1\ny = 2"),
    ],
)
def test_reformatted_lines_stand(old, new):
    old_lines = old.split("\n")
    alignment = align(old_lines, new.split("\n"))
    assert all(place for place, line in zip(alignment, old_lines, strict=True) if line)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f(a, b)", "f(a, b, c)"),
        ("x = 1", "x = 1 + y"),
        ("x = 1", "self.x = 1"),
        ("return", "return None"),
        ("say('a b')", "say('ab')"),
        ("if a > b:", "if a >= b:"),
        ("x = 1", ""),
    ],
)
def test_edited_line_does_not_stand(old, new):
    assert align([old], new.split("\n")) == [None]


def test_edit_beside_a_wrapped_line_keeps_its_position():
    assert align(["f(a, b)", "x = 1"], ["f(", "  a,", "  b", ")", "x = 2"]) == [
        Position(0, 4),
        None,
    ]
