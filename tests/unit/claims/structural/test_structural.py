import pytest

from crscore.records import ReferenceKind, Side
from tests.helpers.changes import change, claims, said, texts

CASES = {
    "renamed function": (
        "a.py",
        "def load(path):\n    return open(path)\n",
        "def read(path):\n    return open(path)\n",
        ("function", "`load`", "renamed", "`read`"),
    ),
    "new parameter with a default": (
        "a.py",
        "def load(path):\n    return open(path)\n",
        "def load(path, mode='r'):\n    return open(path, mode)\n",
        ("parameter", "`mode`", "default", "'r'", "`load`"),
    ),
    "changed default": (
        "a.py",
        "def load(path, size=10):\n    return path\n",
        "def load(path, size=20):\n    return path\n",
        ("default", "`size`", "`10`", "`20`"),
    ),
    "removed parameter": (
        "a.py",
        "def load(path, size):\n    return path\n",
        "def load(path):\n    return path\n",
        ("parameter", "`size`", "removed", "`load`"),
    ),
    "changed condition": (
        "a.py",
        "def load(x):\n    if x > 1:\n        return x\n",
        "def load(x):\n    if x >= 1:\n        return x\n",
        ("condition", "`load`", "`x >= 1`", "`x > 1`"),
    ),
    "changed return": (
        "a.py",
        "def load(x):\n    return x\n",
        "def load(x):\n    return x + 1\n",
        ("`load`", "returns", "`x + 1`", "instead of", "`x`"),
    ),
    "java method added": (
        "A.java",
        "class A {\n  int a() { return 1; }\n}\n",
        "class A {\n  int a() { return 1; }\n\n"
        "  int sum(int left, int right) {\n    return left + right;\n  }\n}\n",
        ("new method", "`sum`", "class `A`", "`left`", "`right`"),
    ),
    "java exception changed": (
        "A.java",
        'class A {\n  void a() {\n    throw new IllegalStateException("x");\n  }\n}\n',
        'class A {\n  void a() {\n    throw new IllegalArgumentException("x");\n  }\n}\n',
        ("throws", "`IllegalArgumentException`", "instead of", "`IllegalStateException`"),
    ),
    "javascript call in a test": (
        "a.js",
        "it('adds', () => {\n  run(1);\n});\n",
        "it('adds', () => {\n  run(1);\n  stop(2);\n});\n",
        ("the test 'adds'", "calls", "`stop`"),
    ),
    "javascript handler": (
        "a.js",
        "const go = (x) => {\n  send(x);\n};\n",
        "const go = (x) => "
        "{\n  try {\n    send(x);\n  } catch (err) {\n    console.log('failed', err);\n  }\n};\n",
        ("an error is caught", "logs", "failed"),
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sources", [True, False])
def test_change_is_told_in_a_sentence_that_names_it(case: str, sources: bool) -> None:
    path, old, new, words = CASES[case]
    assert said(change(path, old, new, sources=sources), *words), texts(change(path, old, new))


def test_claim_points_at_the_changed_lines_of_both_sides() -> None:
    old = "def load(x):\n    y = 1\n    return x\n"
    new = "def load(x):\n    y = 1\n    return x + y\n"
    first = next(item for item in claims(change("a.py", old, new)) if "returns" in item.text)
    assert [(span.path, span.side, span.start, span.end) for span in first.spans] == [
        ("a.py", Side.OLD, 3, 3),
        ("a.py", Side.NEW, 3, 3),
    ]


def test_new_required_parameter_implies_that_callers_change() -> None:
    made = change("a.py", "def load(a):\n    return a\n", "def load(a, b):\n    return a\n")
    implied = [item for item in claims(made) if item.kind is ReferenceKind.IMPLICATION]
    assert any("callers" in item.text and "`b`" in item.text for item in implied)


def test_same_diff_twice_gives_the_same_claims() -> None:
    path, old, new, _ = CASES["java method added"]
    assert claims(change(path, old, new)) == claims(change(path, old, new))


def test_heaviest_claim_comes_first() -> None:
    path, old, new, _ = CASES["new parameter with a default"]
    weights = [item.weight for item in claims(change(path, old, new))]
    assert weights == sorted(weights, reverse=True)
    assert all(0 < weight <= 1 for weight in weights)
