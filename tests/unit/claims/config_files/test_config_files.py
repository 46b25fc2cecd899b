from __future__ import annotations

import difflib
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crscore.claims.config_files import claims_of
from crscore.diff.parse import parse_diff, with_sources
from crscore.records import ChangedFile, LineKind, PseudoReference, ReferenceKind, Side


def changed(path: str, old: str, new: str, *, context: int = 20) -> ChangedFile:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), "a/" + path, "b/" + path,
        n=context,
    )  # fmt: skip
    return parse_diff("".join(lines)).files[0]


def told(path: str, old: str, new: str) -> list[str]:
    return [claim.text for claim in claims_of(changed(path, old, new))]


WORKFLOW = """\
name: CI
jobs:
  test:
    runs-on: ubuntu-20.04
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@v3
      - name: Run tests
        run: |
          pip install .
          pytest
"""
TABLE = "CREATE TABLE users (\n  id int,\n  name text\n);\n"
POM = """\
<project>
  <dependencies>
    <dependency>
      <groupId>org.spring</groupId>
      <artifactId>spring-core</artifactId>
      <version>5.3.1</version>
    </dependency>
  </dependencies>
</project>
"""
CASES = {
    "yaml value": (
        "app.yml", "server:\n  timeout: 10\n", "server:\n  timeout: 30\n",
        "The value of the key `timeout` in `server` changes from `10` to `30`.",
    ),
    "yaml note after value": (
        "app.yml", "a: 1 # one\n", "a: 2 # two\n",
        "The value of the key `a` in `app.yml` changes from `1` to `2`.",
    ),
    "yaml key renamed": (
        "app.yml", "a:\n  retry: 17\n", "a:\n  retries: 17\n",
        "The key `retry` in `a` is renamed to `retries`.",
    ),
    "yaml list item": (
        "app.yml", "hosts:\n  - one\n", "hosts:\n  - one\n  - two\n",
        "The value `two` is added to `hosts`.",
    ),
    "yaml comment": (
        "app.yml", "# old words here\na: 1\n", "# new words here\na: 1\n",
        "The comment in `app.yml` now says 'new words here' instead of 'old words here'.",
    ),
    "yaml section": (
        "app.yml", "a: 1\n", "a: 1\ncache:\n  ttl: 5\n  size: 9\n",
        "The section `cache` is added to `app.yml`, with `ttl` set to `5` and `size` set to `9`.",
    ),
    "workflow step": (
        "ci.yml", WORKFLOW, WORKFLOW.replace("pytest", "pytest -q"),
        "The command `pytest` in the step `Run tests` of the job `test` becomes `pytest -q`.",
    ),
    "workflow action": (
        "ci.yml", WORKFLOW, WORKFLOW.replace("@v3", "@v4"),
        "The value of the key `uses` in the step `actions/checkout` of the job `test` changes "
        "from `actions/checkout@v3` to `actions/checkout@v4`.",
    ),
    "workflow job": (
        "ci.yml", WORKFLOW, WORKFLOW.replace("ubuntu-20.04", "ubuntu-22.04"),
        "The value of the key `runs-on` in the job `test` changes from `ubuntu-20.04` to "
        "`ubuntu-22.04`.",
    ),
    "workflow permission": (
        "ci.yml", WORKFLOW, WORKFLOW.replace("contents: read", "contents: write"),
        "The permission `contents` is widened to writing, a security risk.",
    ),
    "json value": (
        "a.json", '{\n  "a": {\n    "b": 1\n  }\n}\n', '{\n  "a": {\n    "b": 2\n  }\n}\n',
        "The value of the key `b` in `a` changes from `1` to `2`.",
    ),
    "json removed key": (
        "a.json", '{\n  "a": 5,\n  "b": 1\n}\n', '{\n  "b": 1\n}\n',
        "The key `a` is removed from `a.json`, which was `5`.",
    ),
    "json removed key implies": (
        "a.json", '{\n  "a": 5,\n  "b": 1\n}\n', '{\n  "b": 1\n}\n',
        "What still reads `a` no longer finds it and falls back on a default or fails.",
    ),
    "json flat list": (
        "a.json", '{"a": ["x"]}\n', '{"a": ["x", "y"]}\n',
        'The value of the key `a` in `a.json` changes from `["x"]` to `["x", "y"]`.',
    ),
    "json named object": (
        "a.json",
        '[\n  {\n    "name": "one",\n    "size": 1\n  }\n]\n',
        '[\n  {\n    "name": "one",\n    "size": 2\n  }\n]\n',
        "The value of the key `size` in `one` changes from `1` to `2`.",
    ),
    "json comment": (
        "a.json", "{\n // x\n 1: 5\n}\n", "{\n // x\n 1: 6\n}\n",
        "The value `5` is removed from `a.json`.",
    ),
    "package.json upgrade": (
        "package.json", '{\n "dependencies": {\n  "react": "17.0.0"\n }\n}\n',
        '{\n "dependencies": {\n  "react": "18.1.0"\n }\n}\n',
        "The dependency `react` is upgraded from `17.0.0` to `18.1.0` in `package.json`.",
    ),
    "package.json major": (
        "package.json", '{\n "dependencies": {\n  "react": "17.0.0"\n }\n}\n',
        '{\n "dependencies": {\n  "react": "18.1.0"\n }\n}\n',
        "The new major version of `react` may contain breaking changes for the code that uses it.",
    ),
    "pyproject dependency": (
        "pyproject.toml", '[project]\ndependencies = [\n  "numpy",\n]\n',
        '[project]\ndependencies = [\n  "numpy",\n  "requests==2.32",\n]\n',
        "A dependency `requests` pinned to `2.32` is added to `pyproject.toml`.",
    ),
    "cargo table": (
        "Cargo.toml", '[dependencies]\nserde = "1.0.2"\n', '[dependencies]\nserde = "1.0.1"\n',
        "The dependency `serde` is downgraded from `1.0.2` to `1.0.1` in `Cargo.toml`.",
    ),
    "downgrade implies": (
        "Cargo.toml", '[dependencies]\nserde = "1.0.2"\n', '[dependencies]\nserde = "1.0.1"\n',
        "The downgrade of `serde` gives up its later fixes.",
    ),
    "toml section": (
        "x.toml", 'a = 1\n', 'a = 1\n\n[tool.ruff]\nline-length = 100\n',
        "The section `tool.ruff` is added to `x.toml`, with `line-length` set to `100`.",
    ),
    "ini list": (
        "setup.cfg", "[options]\ninstall_requires =\n    flask\n",
        "[options]\ninstall_requires =\n    flask\n    attrs>=23\n",
        "A dependency `attrs` with the version `>=23` is added to `setup.cfg`.",
    ),
    "properties": (
        "a.properties", "db.url=one\n", "db.url=two\n",
        "The value of `db.url` in `a.properties` changes from `one` to `two`.",
    ),
    "security switch": (
        "a.ini", "[http]\nverify_ssl = true\n", "[http]\nverify_ssl = false\n",
        "With `verify_ssl` off, a check is missing, which may be a security risk.",
    ),
    "debug switch": (
        "a.ini", "[http]\ndebug = off\n", "[http]\ndebug = on\n",
        "With `debug` on, more is allowed or exposed than before.",
    ),
    "default value": (
        "a.ini", "default_size = 1\n", "default_size = 2\n",
        "Whoever relied on the default `default_size` gets another behaviour.",
    ),
    "requirement pinned": (
        "requirements-dev.txt", "flask\n", "flask\nclick==8.1\n",
        "A dependency `click` pinned to `8.1` is added to `requirements-dev.txt`.",
    ),
    "requirement loosened": (
        "requirements.txt", "click==8.1\n", "click>=8.1\n",
        "Without the exact pin, later versions of `click` can be installed untested.",
    ),
    "requirement removed": (
        "requirements.txt", "click==8.1\nx\n", "x\n", "What still uses `click` fails without it.",
    ),
    "requirement option": (
        "requirements.txt", "x\n# a\n", "x\n# a\n-r base.txt\n",
        "The value `-r base.txt` is added to `requirements.txt`.",
    ),
    "go module": (
        "go.mod", "go 1.20\n\nrequire (\n\tgithub.com/a/b v1.2.0\n)\n",
        "go 1.20\n\nrequire (\n\tgithub.com/a/b v1.3.0\n)\n",
        "The dependency `github.com/a/b` is upgraded from `v1.2.0` to `v1.3.0` in `go.mod`.",
    ),
    "go version": (
        "go.mod", "go 1.20\n", "go 1.21\n",
        "The value of `go` in `go.mod` changes from `1.20` to `1.21`.",
    ),
    "maven upgrade": (
        "pom.xml", POM, POM.replace("5.3.1", "5.3.2"),
        "The dependency `spring-core` is upgraded from `5.3.1` to `5.3.2` in `pom.xml`.",
    ),
    "maven addition": (
        "pom.xml", POM, POM.replace("  </dependencies>", "    <dependency>\n      "
        "<artifactId>junit</artifactId>\n      <version>5</version>\n    </dependency>\n"
        "  </dependencies>"),
        "A dependency `junit` with the version `5` is added to `pom.xml`.",
    ),
    "nuget reference": (
        "x.csproj", '<P>\n<PackageReference Include="Moq" Version="4.1" />\n</P>\n',
        '<P>\n<PackageReference Include="Moq" Version="4.2" />\n</P>\n',
        "The dependency `Moq` is upgraded from `4.1` to `4.2` in `x.csproj`.",
    ),
    "xml text": (
        "a.xml", "<app>\n<!-- n --><size>1</size>\n</app>\n",
        "<app>\n<!-- n --><size>2</size>\n</app>\n",
        "The value of `size` in `app` changes from `1` to `2`.",
    ),
    "html attribute": (
        "a.html", '<form>\n<input type="text">\n</form>\n',
        '<form>\n<input type="email">\n</form>\n',
        "The value of the attribute `type` in `<input>` changes from `text` to `email`.",
    ),
    "html element": (
        "a.html", '<form id="f">\n</form>\n',
        '<form id="f">\n<button type="submit">Save</button>\n</form>\n',
        "An element `<button>` is added to `<form f>`, with `type` set to `submit` and the text "
        "'Save'.",
    ),
    "html text": (
        "a.html", "<p>Hello you</p>\n", "<p>Hello all</p>\n",
        "The text in `<p>` now says 'Hello all' instead of 'Hello you'.",
    ),
    "css property": (
        "a.css", ".button {\n  color: blue;\n}\n", ".button {\n  color: red;\n}\n",
        "The property `color` in the rule `.button` is now `red` instead of `blue`.",
    ),
    "css rule": (
        "a.scss", "/* x */\n@include y;\n",
        "/* x */\n@include y;\n// z\n.card {\n  border: 0;\n}\n",
        "The rule `.card` is added to `a.scss`, with `border` set to `0`.",
    ),
    "heading with text": (
        "README.md", "# Tool\n\nText.\n", "# Tool\n\nText.\n\n## Install\n\nUse pip.\n",
        "A section 'Install' is added to the section 'Tool', with the text 'Use pip.'.",
    ),
    "heading renamed": (
        "README.md", "# Tool\n\n## Install\n", "# Tool\n\n## Installing\n",
        "The heading 'Install' is renamed to 'Installing'.",
    ),
    "underlined heading": (
        "a.rst", "Title\n=====\n\nOne two three.\n", "Title\n=====\n\nOne two four.\n",
        "The text in the section 'Title' now says 'One two four.' instead of 'One two three.'.",
    ),
    "list items": (
        "README.md", "# Use\n\n", "# Use\n\n- fast\n- small\n",
        "The items 'fast' and 'small' are added to the section 'Use'.",
    ),
    "fenced code": (
        "README.md", "# Use\n\n```sh\nrun it now\n```\n", "# Use\n\n```sh\nrun it all\n```\n",
        "The code example in the section 'Use' now says `run it all` instead of `run it now`.",
    ),
    "base image": (
        "Dockerfile", "FROM python:3.11\n", "FROM python:3.12 AS build\n",
        "The base image of the container changes from `python:3.11` to `python:3.12`.",
    ),
    "base image major": (
        "Dockerfile", "FROM node:18\n", "FROM node:20-slim\n",
        "The new major version of `node` may contain breaking changes for the code that uses it.",
    ),
    "docker environment": (
        "Dockerfile", "ENV A=1 B=2\n", "ENV A=1 B=3\n",
        "The value of `B` in `ENV` changes from `2` to `3`.",
    ),
    "docker command": (
        "Dockerfile", "RUN pip install x \\\n  # note\n  y\n",
        "RUN pip install -q x \\\n  # note\n  y\n",
        "The command `RUN pip install x y` in `Dockerfile` now has `-q`.",
    ),
    "docker root": (
        "Dockerfile", "USER app\n", "USER root\n",
        "The container runs as root, with more rights than it needs.",
    ),
    "make variable": (
        "Makefile", "CC := gcc\n", "CC := clang\n",
        "The value of the variable `CC` in `Makefile` changes from `gcc` to `clang`.",
    ),
    "make target": (
        "Makefile", "a:\n\tx\n", "a:\n\tx\nclean: b\n\trm -rf out\n",
        "The target `clean` that depends on `b` is added to `Makefile`, with the command "
        "`rm -rf out`.",
    ),
    "make needs": (
        "Makefile", "test: build\n", "test: build lint\n",
        "The target `test` in `Makefile` changes from `build` to `build lint`.",
    ),
    "shell command": (
        "a.sh", "build() {\n  make\n}\n", "build() {\n  make -j4\n}\n",
        "The command `make` in `build` becomes `make -j4`.",
    ),
    "shell variable": (
        "a.sh", "export NAME=x\n", "export NAME=y\n",
        "The value of the variable `NAME` in `a.sh` changes from `x` to `y`.",
    ),
    "shell function": (
        "a.sh", "# x\n", "# x\nfunction load {\n  curl x\n}\n",
        "The function `load` is added to `a.sh`, with the command `curl x`.",
    ),
    "shell permissions": (
        "a.sh", "a\n", "a\nchmod 777 out\n",
        "`chmod 777` gives more permissions than may be needed, a security risk.",
    ),
    "sql column": (
        "a.sql", TABLE, TABLE.replace("text\n", "text,\n  email text NOT NULL\n"),
        "The column `email` is added to the table `users` as `text NOT NULL`.",
    ),
    "sql column type": (
        "a.sql", TABLE, TABLE.replace("id int", "id bigint"),
        "The definition of the column `id` of the table `users` changes from `int` to `bigint`.",
    ),
    "sql table": (
        "a.sql", "-- x\n", "-- x\n" + TABLE,
        "The table `users` is created, with the column `id` and the column `name`.",
    ),
    "sql added column": (
        "a.sql", "-- x\n", "-- x\nALTER TABLE users ADD COLUMN email text NOT NULL;\n",
        "A statement that adds the column `email` to `users` is added to `a.sql`.",
    ),
    "sql not null": (
        "a.sql", "-- x\n", "-- x\nALTER TABLE users ADD COLUMN email text NOT NULL;\n",
        "A new column that must not be null and has no default fails on a table with rows.",
    ),
    "sql drop": (
        "a.sql", "-- x\n", "-- x\nDROP TABLE users;\n",
        "Once a statement drops the table `users`, its data is lost and what still uses it fails.",
    ),
    "sql query": (
        "a.sql", "SELECT a FROM t;\n", "SELECT a, b FROM t;\n",
        "The statement that selects from `t` now has `b`.",
    ),
    "ignored patterns": (
        ".gitignore", "*.pyc\n", "*.pyc\n*.log\nbuild/\n",
        "The patterns `*.log` and `build/` are added to `.gitignore`.",
    ),
    "ignored pattern": (
        ".gitignore", "build/\n", "build/out/\n",
        "The pattern `build/` in `.gitignore` becomes `build/out/`.",
    ),
    "csv row": (
        "a.csv", "a,b\n1,2\n", "a,b\n1,3\n",
        "The row in `a.csv` now says `1,3` instead of `1,2`.",
    ),
    "moved key": (
        "a.yml", "a:\n  x: hello\nb:\n  y: 1\n", "a:\nb:\n  y: 1\n  x: hello\n",
        "The key `x` moves from `a` to `b`.",
    ),
    "unknown call": (
        "a.rs", "fn load() {\n    a();\n}\n",
        "fn load() {\n    a();\n    parse_header(strict);\n}\n",
        "The code in `load` now calls `parse_header` with `strict`.",
    ),
    "unknown removed": (
        "a.kt", "a\nretry + backoff\n", "a\n",
        "Lines dealing with `retry` and `backoff` are removed.",
    ),
    "unknown condition": (
        "a.swift", "func f() {\n  if x > 1 {\n", "func f() {\n  if x > 2 {\n",
        "The condition in `f` now checks `x > 2` instead of `x > 1`.",
    ),
    "unknown return": (
        "a.swift", "func f() {\n  return a\n", "func f() {\n  return b\n",
        "The code in `f` now returns `b` instead of `a`.",
    ),
    "unknown value": (
        "a.rs", "let limit = 1;\n", "let limit = 2;\n",
        "`limit` is now set to `2;` instead of `1;`.",
    ),
    "unknown definition": (
        "a.rs", "fn a() {}\n", "fn a() {}\nfn b() {}\n", "The function `b` is added.",
    ),
    "unknown signature": (
        "a.rs", "fn a() {\n", "fn a(x: u8) {\n",
        "The declaration of the function `a` changes to `fn a(x: u8) {`.",
    ),
    "unknown import": (
        "a.rs", "use std::fs;\n", "use std::fs;\nuse std::io;\n",
        "An import of `std::io` is added.",
    ),
    "unknown rename": (
        "a.kt", "old + 1\nx(old)\n", "new_name + 1\nx(new_name)\n",
        "`old` is renamed to `new_name`.",
    ),
    "unknown comment": (
        "a.kt", "// one\n", "// two\n", "A comment now says 'two' instead of 'one'.",
    ),
    "unknown added comment": (
        "a.kt", "x\n", "x\n// two\n", "A comment is added: 'two'.",
    ),
    "unknown rewrite": (
        "a.rs", "fn f() {\n    load(1);\n    save(2);\n}\n",
        "fn f() {\n    if x {\n        c(3);\n    }\n}\n",
        "The changed code in `f` now checks `x` and calls `c` with `3`, in place of code with "
        "`load` and `save`.",
    ),
    "sql clauses": (
        "a.sql", "SELECT a\nFROM t\nWHERE b = 1\nORDER BY a;\n",
        "SELECT a\nFROM t\nJOIN u ON u.id = t.id\nWHERE b = 2\nORDER BY a;\n",
        "The statement that selects from `t` now has `JOIN u ON u.id = t.id` and `WHERE b = 2` "
        "and no longer has `WHERE b = 1`.",
    ),
    "yaml changed item": (
        "a.yml", "ports:\n  - 80:80\n", "ports:\n  - 8080:80\n",
        "A value in `ports` changes from `80:80` to `8080:80`.",
    ),
    "check switch": (
        "a.json", '{\n"strict": true\n}\n', '{\n"strict": false\n}\n',
        "With `strict` off, mistakes that it caught can pass unseen.",
    ),
    "unknown test in parentheses": (
        "a.kt", "if (x) return\n", "if (x && y) return\n",
        "The condition now checks `x && y` instead of `x`.",
    ),
    "unknown declaration": (
        "a.kt", "fun load(a: Int) {\n  a()\n}\n", "fun load(b: Int) {\n  save()\n}\n",
        "The changed code now declares `fun load(b: Int)` and calls `save`.",
    ),
    "unknown space": ("a.kt", "a  b\n", "a b\n", "Only the white space changes."),
    "unknown punctuation": ("a.kt", "x\n", "x\n)\n", "The line `)` is added."),
    "unknown insertion": (
        "a.kt", "run fast\n", "run fast twice\n", "The line `run fast` now also has `twice`.",
    ),
    "unknown deletion": (
        "a.kt", "run fast twice\n", "run fast\n",
        "The line `run fast twice` no longer has `twice`.",
    ),
    "unknown replacement": (
        "a.kt", "run fast now\n", "run slow now\n",
        "`fast` is replaced by `slow` in the line `run slow now`.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new", "said"), CASES.values(), ids=CASES)
def test_change_is_told_in_a_sentence(path: str, old: str, new: str, said: str) -> None:
    assert said in told(path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.yml", "a:\n  b: 1\n", "a:\n    b: 1\n"),
        ("a.json", '{"a": 1,\n"b": 2}\n', '{\n"a": 1,\n"b": 2}\n'),
        ("a.toml", "a = 1\nb = 2\n", "b = 2\na = 1\n"),
    ],
)
def test_layout_alone_is_told_as_such(path: str, old: str, new: str) -> None:
    (claim,) = claims_of(changed(path, old, new))
    assert claim.text.startswith("Only the layout or the order")
    assert claim.weight < 0.3


def test_line_that_no_reader_knows_is_told_as_a_line() -> None:
    assert told("go.mod", "go 1.20\n", "go 1.20\nretract everything\n") == [
        "Lines dealing with `retract` and `everything` are added."
    ]


def test_file_without_hunks_has_no_claims() -> None:
    assert claims_of(replace(changed("a.yml", "a: 1\n", "a: 2\n"), hunks=())) == ()


def test_whole_file_names_what_the_hunk_does_not_show() -> None:
    old = "outer:\n" + "".join(f"  k{n}: {n}\n" for n in range(20))
    new = old.replace("k15: 15", "k15: 16")
    file = changed("a.yml", old, new, context=0)
    parsed = parse_diff("--- a/a.yml\n+++ b/a.yml\n@@ -17 +17 @@\n-  k15: 15\n+  k15: 16\n")
    whole = with_sources(parsed, {"a.yml": (old, new)}).files[0]
    assert "`outer`" not in claims_of(file)[0].text
    assert "`k15` in `outer`" in claims_of(whole)[0].text


def test_heading_of_a_yaml_hunk_names_what_is_around() -> None:
    text = "--- a/a.yml\n+++ b/a.yml\n@@ -9,2 +9,2 @@ outer:\n   a: 1\n-  b: 1\n+  b: 2\n"
    assert "`b` in `outer`" in claims_of(parse_diff(text).files[0])[0].text


def test_heading_of_a_stylesheet_hunk_is_not_trusted() -> None:
    text = (
        "--- a/a.css\n+++ b/a.css\n@@ -9,2 +9,2 @@ body {\n   margin: 1;\n-  top: 1;\n+  top: 2;\n"
    )
    assert "body" not in claims_of(parse_diff(text).files[0])[0].text


def test_related_lines_are_one_claim() -> None:
    old = "a: 1\n"
    assert len(told("a.yml", old, old + "b: 2\nc: 3\nd: 4\n")) == 1


def test_upgrades_side_by_side_are_one_claim() -> None:
    old = "a==1.1\nb==2.1\nc==3.1\n"
    (claim,) = told("requirements.txt", old, old.replace(".1", ".2"))
    assert all(part in claim for part in ("`a`", "`b`", "`c`", "==3.1 → ==3.2"))


def test_claims_are_ordered_by_weight() -> None:
    old = "# one two\n[project]\ndependencies = [\n]\n"
    new = "# one three\n[project]\ndependencies = [\n  'x==1',\n]\n"
    weights = [claim.weight for claim in claims_of(changed("a.toml", old, new))]
    assert weights == sorted(weights, reverse=True)
    assert all(0 < weight <= 1 for weight in weights)


def test_spans_are_the_changed_lines() -> None:
    (claim,) = claims_of(changed("a.yml", "x: 1\na: 1\nb: 2\n", "x: 1\na: 5\nb: 2\n"))
    spans = [(span.side, span.start, span.end) for span in claim.spans]
    assert spans == [(Side.OLD, 2, 2), (Side.NEW, 2, 2)]


def test_identifiers_lead_with_the_key() -> None:
    (claim,) = claims_of(changed("a.yml", "s:\n  a: 1\n", "s:\n  a: 5\n"))
    assert claim.identifiers == ("a", "s")


def test_renamed_file_has_its_old_path_on_old_lines() -> None:
    header = "diff --git a/o.yml b/n.yml\nrename from o.yml\nrename to n.yml\n"
    text = header + "@@ -1 +1 @@\n-a: 1\n+a: 2\n"
    (claim,) = claims_of(parse_diff(text).files[0])
    assert [span.path for span in claim.spans] == ["o.yml", "n.yml"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_claim_stands_on_changed_lines_and_speaks_one_sentence(
    case: tuple[str, str, str, str],
) -> None:
    file = changed(*case[:3])
    for claim in claims_of(file):
        _check(claim, file)
        assert claim.text.endswith(".")
        assert "\n" not in claim.text


def _check(claim: PseudoReference, file: ChangedFile) -> None:
    lines = [line for hunk in file.hunks for line in hunk.lines]
    old = {line.old for line in lines if line.kind is LineKind.REMOVED}
    new = {line.new for line in lines if line.kind is LineKind.ADDED}
    assert claim.spans
    assert claim.source == "structural"
    assert claim.kind in (ReferenceKind.CLAIM, ReferenceKind.IMPLICATION)
    for span in claim.spans:
        assert set(range(span.start, span.end + 1)) <= (old if span.side is Side.OLD else new)


PATHS = [
    "a.yml", "a.json", "a.toml", "a.ini", "a.xml", "pom.xml", "a.html", "a.css", "a.md", "a.rst",
    "a.sql", "a.sh", "Dockerfile", "Makefile", "requirements.txt", "go.mod", ".gitignore", "a.csv",
    "a.rs", "nothing", "package.json",
]  # fmt: skip
PIECES = st.sampled_from(
    [
        "a: 1", "  b: 2", "- x", "- name: y", "    run: |", '"k": 1,', '"k": {', "}", "]", "[s]",
        "k = [", "<a>", "</a>", '<b c="d">', "<!--", "-->", "x { y: z; }", "# h", "===", "```",
        "CREATE TABLE t (", "  id int,", ");", "DROP TABLE t;", "FROM x:1", "RUN a \\", "t: d",
        "\tc", "f() {", "pkg==1.0", "example.com/x v1.2.3", "fn f(x) {", "return x", "if y {",
        "", " ", '"', "'", "\\", ":", "=", "dependencies:", "steps:", "jobs:",
        "<version>1</version>",
        "<dependency>", "<artifactId>q</artifactId>",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map(
    lambda lines: "".join(line.replace("\n", " ").replace("\r", " ") + "\n" for line in lines)
)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(PATHS), TEXTS, TEXTS)
def test_any_change_is_told_without_fault(path: str, old: str, new: str) -> None:
    before = [f"-{line}\n" for line in old.split("\n")[:-1]]
    after = [f"+{line}\n" for line in new.split("\n")[:-1]]
    if not before and not after:
        return
    start = f"-{min(1, len(before))},{len(before)} +{min(1, len(after))},{len(after)}"
    text = f"--- a/{path}\n+++ b/{path}\n@@ {start} @@\n{''.join(before + after)}"
    parsed = parse_diff(text)
    for file in (parsed.files[0], with_sources(parsed, {path: (old, new)}).files[0]):
        claims = claims_of(file)
        assert claims == claims_of(file)
        for claim in claims:
            _check(claim, file)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "line",
    ["key_{}: value {}", "[" * 90_000, '"a{}": "b{}",', "<" * 900 + "{}{}", "{}: " + "- " * 900,
     "x" * 90_000, " " * 90_000 + "a", '\\"' * 900],
    ids=["keys", "brackets", "pairs", "tags", "dashes", "wide", "blank", "quotes"],
)  # fmt: skip
def test_large_change_is_told_in_time(path: str, line: str) -> None:
    count = 1_000 if len(line) < 100 else 30
    old = "".join("-" + line.format(n, n) + "\n" for n in range(count))
    new = "".join("+" + line.format(n, n + 1) + "\n" for n in range(count))
    header = f"--- a/{path}\n+++ b/{path}\n@@ -1,{count} +1,{count} @@\n"
    file = parse_diff(header + old + new).files[0]
    start = time.process_time()
    claims_of(file)
    assert time.process_time() - start < 5
