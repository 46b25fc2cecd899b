from __future__ import annotations

import time

import pytest

from crscore import Scorer
from tests.helpers.growth import slowness

# Quadratic work on such lines takes minutes; linear work takes 0.3 to 3 s.
REPEATED = [
    ("a.js", "`"),
    ("a.ts", "`"),
    ("a.jsx", '"'),
    ("a.cs", "!"),
    ("a.rb", "$"),
    ("a.py", "("),
]
MAX_CPU_SECONDS = 12


@pytest.mark.growth
@pytest.mark.parametrize(("path", "unit"), REPEATED)
def test_repeated_unit_in_a_long_line_is_scored_in_bounded_time(path: str, unit: str) -> None:
    body = unit * 48_000
    # With short lines, so that the file does not count as minified.
    sides = [
        "".join(f"{sign}{line}\n" for line in (f"{name} = {body}", *[f"{name} = 1;"] * 130))
        for sign, name in (("-", "x"), ("+", "y"))
    ]
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -1,131 +1,131 @@\n{''.join(sides)}"
    scorer = Scorer(encoder="hashing", analyzers="none", threshold=0.5)
    began = time.process_time()
    result = scorer.score(diff, "Why is it so long?")
    assert result.references
    assert time.process_time() - began < MAX_CPU_SECONDS * slowness()
