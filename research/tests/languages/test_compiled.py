"""Java, JavaScript and C++ programs in the real sandbox, tested from another process."""

from __future__ import annotations

import pytest

from crscore.code.execution.programs import Completion, Problem
from crscore.code.execution.runner import run_programs
from crscore.sandbox.run import network_denied

pytestmark = pytest.mark.skipif(not network_denied(), reason="no sandbox on this system")
needs = {"cpp": pytest.mark.research, "java": pytest.mark.research}  # compilers


def run(language, prompt, code, tests, *, timeout=5.0, solution=None):
    problem = Problem(id="p", language=language, prompt=prompt, tests=tests, solution=solution)
    completion = Completion(problem="p", code=code, index=0)
    (outcome,) = run_programs({"p": problem}, [completion], allowed=True, timeout=timeout)
    return outcome.result


JS_TESTS = """const assert = require('node:assert');
function test() {
  let candidate = f;
  assert.deepEqual(candidate([1, 2.5], {a: null}), [[1, 2.5], {a: null}, 'é', true]);
}
test();
"""


@pytest.mark.parametrize(
    ("code", "tests", "result"),
    [
        ("function f(a, b) { return [a, b, 'é', true]; }", JS_TESTS, "passed"),
        ("const f = (a, b) => [a, b, 'é', true];", JS_TESTS, "passed"),
        ("module.exports = {f: (a, b) => [a, b, 'é', true]};", JS_TESTS, "passed"),
        ("function f(a, b) { console.log(a); return [a]; }", JS_TESTS, "failed: AssertionError"),
        ("function f(a, b) { return [a", JS_TESTS, "failed: Error: SyntaxError"),
        ("function g() {}", JS_TESTS, "failed: ReferenceError: f is not defined"),
        ("function f(a) { a.push(3); }", "const a = [1]; f(a); if (a[1] !== 3) throw 1;", "passed"),
        (
            "function f() { return [NaN, -0, Infinity, undefined, 5n,"
            " new Map([[1, new Set([2])]])]; }",
            "require('node:assert').deepStrictEqual(f(),"
            " [NaN, -0, Infinity, undefined, 5n, new Map([[1, new Set([2])]])]);",
            "passed",
        ),
        (
            "async function f() { return 5; }",
            "f().then((x) => { if (x !== 5) throw 1; })",
            "passed",
        ),
        (
            "async function f() { return 6; }",
            "f().then((x) => { if (x !== 5) throw new Error('not 5'); })",
            "failed: Error: not 5",
        ),
        (
            "function f() { throw new RangeError('far'); }",
            "require('node:assert').throws(f, RangeError)",
            "passed",
        ),
        ("function f() { return () => 1; }", "f()", "failed: TypeError: a function cannot"),
        ("function f() { for (;;); }", "f()", "timed out"),
    ],
)
def test_javascript(code, tests, result):
    assert run("javascript", "", code, tests, timeout=2.0).startswith(result)


CPP_PROMPT = """#include <assert.h>
#include <bits/stdc++.h>
// Doc.
std::tuple<long, std::optional<std::string>> f(
    std::vector<float> v, std::map<std::string, bool> m) {
"""
CPP_TESTS = """}
int main() {
    auto candidate = f;
    assert(candidate((std::vector<float>({0.1f, 2})),
                     (std::map<std::string, bool>({{"a b", true}})))
           == (std::make_tuple(2, std::optional<std::string>("a b"))));
    assert(candidate((std::vector<float>()), (std::map<std::string, bool>()))
           == (std::make_tuple(0, std::optional<std::string>())));
}
"""
CPP_CODE = """    std::cout << "printed";
    if (m.empty()) return std::make_tuple(0, std::nullopt);
    return std::make_tuple(v[0] == 0.1f ? 2 : 0, m.begin()->first);"""


@pytest.mark.research
@needs["cpp"]
@pytest.mark.parametrize(
    ("prompt", "code", "tests", "result"),
    [
        (CPP_PROMPT, CPP_CODE, CPP_TESTS, "passed"),
        (CPP_PROMPT, CPP_CODE + "\n}\n", CPP_TESTS, "passed"),
        (CPP_PROMPT, "return {v.at(2), std::nullopt};", CPP_TESTS, "failed: "),
        (CPP_PROMPT, "return 5", CPP_TESTS, "failed: "),
        (CPP_PROMPT, "for (;;);", CPP_TESTS, "timed out"),
        (
            "",
            "void order(std::vector<int>& v) { sort(v.begin(), v.end()); }\n"
            "int other() { return 0; }",
            "int main() { vector<int> v{3, 1}; order(v); assert(v[0] == 1); }",
            "passed",
        ),
        (
            "",
            "int add(int a, int b) {\n  return a + b;\n}\nlong add(long a, long b) { return 0; }",
            "int main() { assert(add(2, 3) == 5); }",
            "passed",
        ),
        ("", "int f(int* a) { return 1; }", "int main() { f(0); }", "failed: the tests cannot"),
    ],
)
def test_cpp(prompt, code, tests, result):
    assert run("cpp", prompt, code, tests).startswith(result)


JAVA_PROMPT = """import java.util.*;
import org.javatuples.*;
class Problem {
    // Doc.
    public static Pair<Integer, Optional<String>> f(ArrayList<Float> v, HashMap<String,Boolean> m) {
"""
JAVA_TESTS = """    }
    public static void main(String[] args) {
    assert(f((new ArrayList<Float>(Arrays.asList(0.1f))),
             (new HashMap<String,Boolean>(Map.of("a b", true))))
        .equals((Pair.with(1, Optional.of("a b é")))));
    assert(f((new ArrayList<Float>()), (new HashMap<String,Boolean>()))
        .equals((Pair.with(0, Optional.empty()))));
    }
}
"""
JAVA_CODE = """        System.out.println("printed");
        if (m.isEmpty()) return Pair.with(0, Optional.empty());
        return new Pair<>(v.size(), m.keySet().stream().findFirst().map(s -> s + " \\u00e9"));"""


@pytest.mark.research
@needs["java"]
@pytest.mark.parametrize(
    ("prompt", "code", "tests", "result"),
    [
        (JAVA_PROMPT, JAVA_CODE, JAVA_TESTS, "passed"),
        (JAVA_PROMPT, JAVA_CODE + "\n    }\n}\n", JAVA_TESTS, "passed"),
        (JAVA_PROMPT, "return Pair.with(2, null);", JAVA_TESTS, "failed: java.lang.AssertionError"),
        (JAVA_PROMPT, "return v.get(5);", JAVA_TESTS, "failed: "),
        (JAVA_PROMPT, "while (true);", JAVA_TESTS, "timed out"),
        (
            "",
            "public class Solution {\n  public int[] f(int[] a, List<int[]> b) {\n"
            "    a[0] = 7; return b.get(0);\n  }\n}",
            "class Main { public static void main(String[] x) {\n"
            "  int[] a = {1}; int[] found = new Solution().f(a, List.of(new int[] {2, 3}));\n"
            "  assert a[0] == 7 && found[1] == 3; } }",
            "passed",
        ),
    ],
)
def test_java(prompt, code, tests, result):
    assert run("java", prompt, code, tests).startswith(result)


TWO_FUNCTIONS = {
    "cpp": (
        "int f() { return 1; }\nint g(int x) { return x; }",
        "int main() { assert(g(f()) == 1); }",
    ),
    "javascript": (
        "function f() { return 1; }\nfunction g(x) { return x; }",
        "if (g(f()) !== 1) throw new Error('no')",
    ),
}


@pytest.mark.parametrize(
    "language", [pytest.param(n, marks=needs.get(n, ())) for n in TWO_FUNCTIONS]
)
def test_solution_decides_which_functions_are_tested(language):
    code, tests = TWO_FUNCTIONS[language]
    assert run(language, "", code, tests, solution=code) == "passed"
    assert "give an entry_point or a solution" in run(language, "", code, tests)


def test_helper_of_a_javascript_prompt_is_the_tests_own():
    prompt = "function near(a, b) { return Math.abs(a - b) < 1; }\nconst f = (a) => {\n"
    tests = "if (!near(f(2), 4)) throw new Error('far')"
    assert run("javascript", prompt, "  return 2 * a;\n};", tests) == "passed"
    hostile = "  return 9;\n};\nnear = () => true;"
    assert run("javascript", prompt, hostile, tests) == "failed: Error: far"


@needs["cpp"]
def test_missing_compiler_names_its_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Exception, match=r"g\+\+ is not installed; get it with: apt-get install"):
        run("cpp", CPP_PROMPT, CPP_CODE, CPP_TESTS)
