"""Changes that try to break the rules of consequences, or to keep them busy."""

from __future__ import annotations

import time

import pytest

from crscore.claims.structural import plugin
from crscore.records import PseudoReference, ReferenceKind
from tests.helpers.changes import change
from tests.helpers.growth import slowness

MAX_SECONDS = 6.0
COUNT = 400
LARGE = {
    "conditions of one function": (
        "def f(a):\n" + "".join(f"    if a > {i}:\n        g{i}(a)\n" for i in range(COUNT)),
        "def f(a):\n" + "".join(f"    if a >= {i} and b:\n        g{i}(a)\n" for i in range(COUNT)),
    ),
    "functions that lose a guard": (
        "".join(
            f"def f{i}(a):\n    if a is None:\n        return\n    g{i}(a)\n\n\n"
            for i in range(COUNT)
        ),
        "".join(f"def f{i}(a):\n    g{i}(a)\n\n\n" for i in range(COUNT)),
    ),
    "functions with another number": (
        "".join(f"def f{i}(a):\n    return g{i}(a, 1)\n\n\n" for i in range(3 * COUNT)),
        "".join(f"def f{i}(a):\n    return g{i}(a, 2)\n\n\n" for i in range(3 * COUNT)),
    ),
}


def implications(path: str, old: str, new: str) -> list[PseudoReference]:
    (claims,) = plugin.create().generate([change(path, old, new)])
    return [item for item in claims.references if item.kind is ReferenceKind.IMPLICATION]


@pytest.mark.growth
@pytest.mark.parametrize("name", LARGE)
def test_large_change_takes_little_time(name: str) -> None:
    before = time.process_time()
    implications("a.py", *LARGE[name])

    assert time.process_time() - before < MAX_SECONDS * slowness()


def test_version_of_thousands_of_digits_is_no_error() -> None:
    old, new = (
        f'{{"dependencies": {{\n  "a": "{v}.0",\n  "b": "1.0"\n}}}}\n' for v in ("1", "9" * 5000)
    )

    assert implications("package.json", old, new) == []


def test_unit_with_a_very_long_line_brings_no_question() -> None:
    old = 'def f(a):\n    if not a:\n        return\n    g(a, "x")\n    h(a)\n'
    new = old.replace("    if not a:\n        return\n", "")

    assert implications("a.py", old, new)
    assert implications("a.py", old, new.replace('"x"', f'"{"x" * 400}"')) == []


def test_handler_whose_new_body_is_not_known_is_not_called_empty() -> None:
    old = (
        "def f(a):\n    try:\n        g(a)\n    except ValueError:\n        log(a)\n    return 1\n"
    )
    new = old.replace("log(a)\n    return 1", "report(a)\n        raise")

    assert not [item for item in implications("a.py", old, new) if "no longer does" in item.text]
