"""Python programs in the real sandbox; what they may not do is tested with the hostile ones."""

from __future__ import annotations

import pytest

from crscore.code.execution.programs import Completion, Problem
from crscore.code.execution.runner import run_programs
from crscore.errors import ConfigError, InputError


def results(programs, **options):
    """Run programs with the tests of each, all at once; return their results."""
    problems = {str(i): Problem(id=str(i), tests=row[1]) for i, row in enumerate(programs)}
    completions = [
        Completion(problem=str(i), code=row[0], index=0) for i, row in enumerate(programs)
    ]
    outcomes = run_programs(problems, completions, allowed=True, **options)
    return [outcome.result for outcome in outcomes]


def run(code, tests, *, prompt="", entry="", solution=None, timeout=3.0):
    problem = Problem(id="p", tests=tests, prompt=prompt, entry_point=entry, solution=solution)
    completion = Completion(problem="p", code=code, index=0)
    (outcome,) = run_programs({"p": problem}, [completion], allowed=True, timeout=timeout)
    return outcome.result


PROBLEM = {"p": Problem(id="p", tests="assert add(2, 3) == 5")}


def test_results_are_in_the_order_of_the_programs():
    codes = ("def add(a, b): return a * b", "def add(a, b): return a + b")
    programs = [Completion(problem="p", code=code, index=i) for i, code in enumerate(codes)]
    outcomes = run_programs(PROBLEM, programs, allowed=True)
    assert [outcome.result for outcome in outcomes] == ["failed: AssertionError", "passed"]
    assert [outcome.completion.index for outcome in outcomes] == [0, 1]


def test_code_runs_only_with_consent():
    with pytest.raises(ConfigError, match="--allow-code-execution"):
        run_programs(PROBLEM, [], allowed=False)


def test_code_does_not_run_in_a_privileged_workflow(monkeypatch):
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    with pytest.raises(ConfigError, match="pull_request_target"):
        run_programs(PROBLEM, [], allowed=True)


def test_unknown_language_lists_those_that_can_be_run():
    problems = {"p": Problem(id="p", tests="", language="cobol")}
    with pytest.raises(InputError, match=r"cobol cannot be run; available: .*python"):
        run_programs(problems, [], allowed=True)


RIGHT = [
    ("def f(a): a.append(1)", "x = []; f(x); assert x == [1]"),
    ("def f(a): a['k'] = {2}", "x = {}; f(a=x); assert x == {'k': {2}}"),
    (
        "from collections import Counter\ndef f(a): return Counter(a)",
        "assert f('aa') == {'a': 2}",
    ),
    (
        "def f(): return (1, [2.5, None, True], {'a': b'b'}, {3}, 1j, ...)",
        "assert f() == (1, [2.5, None, True], {'a': b'b'}, {3}, 1j, ...)",
    ),
    ("def f(): return float('nan')", "assert f() != f()"),
    ("def f(): return 10 ** 5000", "assert f() == 10 ** 5000"),
    ("def f(): return '\\ud800'", "assert f() == '\\ud800'"),
    ("def f():\n    yield 1\n    yield 2", "assert list(f()) == [1, 2]"),
    ("def f(g, a): return g(a) + 1", "assert f(lambda x: x * 2, 4) == 9"),
    ("def f(kind): return kind('3')", "assert f(int) == 3"),
    (
        "class P:\n    def __init__(s, a): s.a = a\n    def __eq__(s, o): return s.a == o.a",
        "assert P(1) == P(1) and P(1) != P(2) and P(3).a == 3",
    ),
    (
        "def f(): raise ValueError('no')",
        "ok = 0\ntry:\n    f()\nexcept ValueError as e:\n    ok = 'no' in str(e)\nassert ok",
    ),
    ("from fractions import Fraction\ndef f(): return Fraction(1, 3)", "assert f() * 3 == 1"),
    ("import math\nx = 3", "assert math.pi > x"),
    ("def f(): return range(3)", "assert f() == range(3)"),
    (
        "def f():\n    yield 1\n    yield 2",
        "g = f(); assert next(g) == 1 and next(g) == 2 and next(g, None) is None",
    ),
    (
        "def f(): print('hi', end='')",
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "    f()\nassert out.getvalue() == 'hi'",
    ),
    (
        "import tempfile\ndef f():\n    with tempfile.TemporaryFile('w+') as file:\n"
        "        return file.write('abc')",
        "assert f() == 3",
    ),
    (
        "import numpy\ndef f(a): return numpy.int64(a.sum()), a * 2.0",
        "import numpy as np\ntotal, twice = f(np.array([[1, 2]]))\n"
        "assert total == 3 and np.array_equal(twice, [[2, 4]]) and twice.dtype == float",
    ),
]


def test_program_passes():
    failures = [
        row for row, result in zip(RIGHT, results(RIGHT), strict=True) if result != "passed"
    ]
    assert failures == []


RAISED = [
    ("raise ValueError('x must be positive')", "str(e) == 'x must be positive'"),
    ("raise ValueError('a', 2, (3,))", "e.args == ('a', 2, (3,))"),
    ("raise KeyError('k')", "str(e) == \"'k'\" and type(e) is KeyError"),
    ("open('/nowhere/x')", "isinstance(e, FileNotFoundError) and e.errno == 2"),
    ("open('/nowhere/x')", "e.filename == '/nowhere/x' and '/nowhere/x' in str(e)"),
    ("b'\\xff'.decode()", "(e.start, e.encoding) == (0, 'utf-8') and 'byte 0xff' in str(e)"),
    ("import json; json.loads('[1,')", "type(e).__name__ == 'JSONDecodeError' and e.pos == 3"),
    (
        "import json; json.loads('[1,')",
        "isinstance(e, __import__('json').JSONDecodeError) and e.lineno == 1",
    ),
    (
        "from decimal import Decimal; Decimal('a')",
        "isinstance(e, __import__('decimal').InvalidOperation)",
    ),
    ("raise SystemExit(3)", "isinstance(e, SystemExit) and e.code == 3"),
    ("class Bad(ValueError): pass\n    raise Bad('no')", "isinstance(e, ValueError)"),
    (
        "class Bad(KeyError):\n        def __init__(s, n): s.n = n\n"
        "        def __str__(s): return f'<{s.n}>'\n    raise Bad(4)",
        "(e.n, str(e), type(e).__name__, e.args) == (4, '<4>', 'Bad', (4,))",
    ),
    ("import unittest; raise unittest.SkipTest('s')", "str(e) == 's'"),
]


def test_exception_is_as_the_program_raised_it():
    codes = [f"def f_{at}():\n    {code}" for at, (code, _) in enumerate(RAISED)]
    tests = [
        f"try:\n    f_{at}()\n"
        f"except BaseException as e:\n    assert {test}, {test!r}\nelse:\n    assert 0"
        for at, (_, test) in enumerate(RAISED)
    ]
    solution = "\n".join(codes)
    assert run(solution, "\n".join(tests), solution=solution) == "passed"


def test_tests_expect_an_exception_of_the_program():
    code = "class Bad(Exception): pass\nclass Worse(Bad): pass\ndef f(): raise Worse('no way')"
    tests = "import pytest\nwith pytest.raises(Bad, match='^no'): f()"
    assert run(code, tests, solution=code, timeout=20) == "passed"
    other = code.replace("raise Worse", "raise ValueError")
    assert run(other, tests, solution=code, timeout=20) == "failed: ValueError: no way"


VALUES = [
    "datetime.date(2024, 2, 29)",
    "datetime.time(1, 2, 3)",
    "datetime.datetime(2024, 2, 29, 1, 2, 3, 4)",
    "datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)",
    "datetime.timedelta(days=-1, microseconds=5)",
    "decimal.Decimal('1.50')",
    "uuid.UUID(int=5)",
    "pathlib.Path('a/b')",
    "pathlib.PurePosixPath('/a')",
]


def test_value_of_the_standard_library_is_copied():
    imports = f"import datetime, decimal, pathlib, uuid\nvalues = [{', '.join(VALUES)}]\n"
    code = f"{imports}def f(a): return [a if a in values else None]\ndef g(a): return [str(a)]"
    tests = f"{imports}for value in values:\n    assert f(value) == [value] != g(value)"
    assert run(code, tests, solution=code) == "passed"


WRONG = [
    ("x = (", "", "failed: SyntaxError: '(' was never closed (<program>, line 1)"),
    ("import sys; sys.exit(0)", "f", "failed: NameError: name 'f' is not defined"),
    ("import sys; sys.exit(1)", "", "failed: SystemExit: 1"),
    ("def f(): return input()", "f()", "failed: EOFError: EOF when reading a line"),
    ("def f(): return g()", "f()", "failed: NameError: name 'g' is not defined"),
    ("def f(): return map(int, [1])", "assert f() == [1]", "failed: AssertionError"),
    ("x = 1", "assert y", "failed: NameError: name 'y' is not defined"),
    # The tests get no module under the name of another one, and none that is not standard.
    ("import cmath as math", "assert math", "failed: NameError: name 'math' is not defined"),
    ("import _peer", "assert _peer", "failed: NameError: name '_peer' is not defined"),
    ("import nothing", "", "failed: ModuleNotFoundError: No module named 'nothing'"),
    ("while True: pass", "", "timed out"),
    (
        "def f(): return 1\ndef g(x): return x",
        "assert g(f()) == 1",
        "failed: Unsupported: the program defines g and f; give an entry_point or a solution",
    ),
]


def test_program_fails():
    assert results(WRONG, timeout=1.0) == [row[2] for row in WRONG]


def test_completion_without_indentation_fails_as_in_humaneval():
    prompt = "def f(a):\n    '''Add one.'''\n"
    assert run("    return a + 1", "assert f(1) == 2", prompt=prompt) == "passed"
    result = run("return a + 1", "assert f(1) == 2", prompt=prompt)
    assert result == "failed: SyntaxError: 'return' outside function (<program>, line 3)"


@pytest.mark.hostile
def test_table_of_pandas_is_passed():
    pytest.importorskip("pandas")
    code = "import pandas as pd\ndef f(): return pd.DataFrame({'a': [1], 'b': ['x']}, index=['i'])"
    tests = "import pandas as pd\nframe = pd.DataFrame({'a': [1], 'b': ['x']}, index=['i'])\n"
    tests += "pd.testing.assert_frame_equal(f(), frame)\n"
    tests += "pd.testing.assert_series_equal(f()['b'], frame.b)"
    assert run(code, tests, timeout=20) == "passed"
    assert run(code.replace("'x'", "'y'"), tests, timeout=20).startswith("failed: AssertionError")


def test_solution_decides_which_names_are_tested():
    tests = "assert size([Pair(1, 2)]) == 3"
    solution = "class Pair:\n    def __init__(s, a, b): s.both = a + b\n"
    solution += "def size(pairs): return pairs[0].both"
    assert run(solution, tests, solution=solution) == "passed"
    assert run(solution, tests).startswith("failed: Unsupported: the program defines")


def test_message_of_an_exception_is_short_and_printable():
    result = run("def f(): raise ValueError('\\ud800\\x1b[0m\\n' * 500)", "f()")
    assert result.startswith(r"failed: ValueError: \ud800\x1b[0m \ud800")
    assert len(result) == 200


def test_program_cannot_replace_a_helper_of_the_prompt():
    prompt = "def near(a, b):\n    return abs(a - b) < 1\n\ndef f(a):\n    '''Double.'''\n"
    tests = "assert near(f(2), 4)"
    assert run("    return 2 * a", tests, prompt=prompt) == "passed"
    hostile = "    return 9\n\ndef near(a, b):\n    return True\n"
    assert run(hostile, tests, prompt=prompt) == "failed: AssertionError"


PEER = """import sys
def peer():
    frame = sys._getframe()
    while type(frame.f_locals.get("self")).__name__ != "Peer":
        frame = frame.f_back
    return frame.f_locals["self"]
"""
"""Finds the program's end of the pipes, with which it can send anything."""


HOSTILE = [
    # An object of the tests' own process that equals everything.
    (
        PEER + "def f(a):\n"
        "    ask = peer().ask\n"
        "    kind = ask('call', type, ['X', (object,), {'__eq__': type}], {})[0]\n"
        "    return ask('call', kind, [], {})[0]",
        "assert f(1) == 3",
    ),
    ("def set(x): return 0\ndef f(a): return None", "assert set(f(1)) == set((4,))"),
    ("abs = lambda x: 0\ndef f(a): return 9", "assert abs(f(1) - 2) < 1e-6"),
    ("range = lambda *a: []\ndef f(a): return 9", "for i in range(3): assert f(i) == i"),
    (
        "class A:\n    def __sub__(s, o): return 0.0\ndef f(a): return A()",
        "assert abs(f(1) - 0.5) < 1e-6",
    ),
    ("class A:\n    def __lt__(s, o): return True\ndef f(a): return A()", "assert f(1) < 3"),
    (
        "class A:\n    def __contains__(s, o): return 1\ndef f(a): return A()",
        "assert 3 in f(1)",
    ),
    ("def f(a): raise StopIteration", "for a, b in zip(map(f, [1]), [2]): assert a == b"),
    (
        PEER + "names = ['new', 2, 'builtins.dict', [], ['__builtins__', None]]\n"
        "both = ['new', 1, 'builtins.list', [], [names, ['new', 3, 'builtins.dict', [], []]]]\n"
        "peer().send(['value', both, [], ['', '']])\n"
        "def f(a): return 1",
        "assert f(1) == 2",
    ),
    (
        "import os\nfor n in range(3, 60):\n"
        '    try: os.write(n, b\'{"result": "passed"}\\n\')\n'
        "    except OSError: pass\ndef f(a): return 1",
        "assert f(1) == 2",
    ),
    (
        "import os\nopen(f'/proc/{os.getppid()}/fd/1', 'w').write('{\"result\": \"passed\"}')",
        "",
    ),
    ("import os\nopen(f'/proc/{os.getppid()}/mem', 'rb').read(1)", ""),
]


def test_hostile_program_does_not_pass():
    passed = [
        row for row, result in zip(HOSTILE, results(HOSTILE), strict=True) if result == "passed"
    ]
    assert passed == []


def test_output_of_tests_is_not_a_verdict():
    assert (
        run("x = 1", 'print(\'{"result": "passed"}\')\nassert x == 2') == "failed: AssertionError"
    )
    assert run("x = 1", "print('hello')\nassert x == 1") == "passed"


def test_attributes_of_an_object_have_the_values_of_the_program():
    code = "class Node:\n    def __init__(self):\n        self.number, self.peer = 5, 6\n"
    assert run(code, "node = Node()\nassert (node.number, node.peer) == (5, 6)\n") == "passed"
