from __future__ import annotations

import pytest

from crscore.code import metrics
from crscore.errors import InputError


@pytest.mark.parametrize(
    ("candidate", "reference", "score"),
    [
        ("def f(a): return a+1", "def f(b):\n    return b + 1  # add", 1),
        ("def f(a, b): return a - b", "def f(b, a): return b - a", 1),
        ("def f(a, b): return a - b", "def f(a, b): return b - a", 0),
        ("def f(a): return a.x", "def f(a): return a.y", 0),
        ("if a:\n    f()\ng()", "if a:\n    f()\n    g()", 0),
        ("x = 'a  b'", "x = 'a b'", 0),
    ],
)
def test_names_layout_and_comments_do_not_count(candidate, reference, score):
    metric = metrics.make("sketch")
    assert metric.sentence(candidate, ["other()", reference], language="python") == score


def test_language_without_a_grammar_is_refused():
    with pytest.raises(InputError, match="no grammar for cobol"):
        metrics.make("sketch").sentence("a", ["b"], language="cobol")
