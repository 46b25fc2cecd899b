from __future__ import annotations

import pytest

from crscore.errors import ToolNotFoundError
from crscore_lab.languages import stubs


@pytest.mark.parametrize(
    ("prompt", "returned", "name", "types", "parameters"),
    [
        ("int add(int a, int b) {\n", "int", "add", ("int", "int"), ("a", "b")),
        (
            "// f(x) {\n#include <map>\nstd::map<int, std::string> f(const std::vector<int>& v) {",
            "std::map<int, std::string>",
            "f",
            ("const std::vector<int>&",),
            ("v",),
        ),
        (
            "class A {\n  public static Pair<Integer, Integer> g(HashMap<String,Integer> m, int n)"
            " throws Exception {\n",
            "Pair<Integer, Integer>",
            "g",
            ("HashMap<String,Integer>", "int"),
            ("m", "n"),
        ),
        ("long f(long a = 3) {", "long", "f", ("long",), ("a",)),
    ],
)
def test_last_function_of_a_prompt(prompt, returned, name, types, parameters):
    function = stubs.last_function(prompt)
    assert (function.returned, function.name) == (returned, name)
    assert (function.types, function.parameters) == (types, parameters)


def test_prompt_that_ends_in_no_function_has_none():
    assert stubs.last_function("int f() { return 1; }\n") is None


def test_functions_of_code_without_statements_and_main():
    code = (
        "int f(int a) { if (a) { return g(a); } else if (a > 1) { return 2; } }\n"
        "void g(S* s) {\n}\n"
        '// int no(int a) {\nconst char* t = "int no() {";\nint main() { return 0; }\n'
    )
    assert [function.name for function in stubs.find_functions(code)] == ["f", "g"]


def test_signature_holds_nothing_but_types():
    # What stands in it is compiled into the tests.
    code = "int f(int a, int b = exit(0)) {}\nint g(int a /* */) {}\ndecltype(exit(0)) h(int a) {}"
    assert [function.head for function in stubs.find_functions(code)] == ["int g(int a  )"]


def test_completion_is_closed_only_where_it_is_open():
    prompt = "class A {\n int f() {"
    whole = "class A {\n int f() { return '{'; // {\n }\n}\n"
    assert stubs.join_code(prompt, " return '{'; // {") == (
        "class A {\n int f() { return '{'; // {\n}\n}\n"
    )
    assert stubs.join_code(prompt, " return '{'; // {\n }\n}") == whole


def test_missing_program_is_an_error_that_names_the_package():
    with pytest.raises(ToolNotFoundError, match="apt-get install default-jdk-headless"):
        stubs.require_program("no-such-compiler", package="default-jdk-headless")
