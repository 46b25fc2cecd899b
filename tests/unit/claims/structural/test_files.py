"""Claims about whole files, and about files without a grammar: keys, sections, prose, lines."""

import pytest

from crscore.diff.parse import parse_diff
from tests.helpers.changes import change, claims, texts

JSON = '{\n  "name": "a",\n  "engines": {\n    "node": "1"\n  }\n}\n'
JOBS = "jobs:\n  build:\n    run: one\n    image: small\n  test:\n    run: two\n    image: large\n"
DOC = "# A\n\nSome words here.\n\n## Use\n\nRun it twice a day.\n"

# Situation -> path, old, new, sentence, near miss (another new version), what it must not bring
ROWS: dict[str, tuple[str, str, str, str, str, str]] = {
    "value of JSON": ("a.json", f"{JSON}",
        '{\n  "name": "a",\n  "engines": {\n    "node": "2"\n  }\n}\n',
        '`node` in the section “engines” of `a.json` is now `"2"` instead of `"1"`.',
        '{\n  "name": "a",\n  "engines": {\n    "node":  "1"\n  }\n}\n', "is now"),
    "key of JSON": ("a.json", f"{JSON}",
        '{\n  "name": "a",\n  "engines": {\n    "node": "1",\n    "npm": "3"\n  }\n}\n',
        "The section “engines” of `a.json` now has `npm`.",
        '{\n  "name": "a",\n  "engines": {\n    "node": "2"\n  }\n}\n', "now has"),
    "key gone from TOML": ("a.toml", "[a]\nb = 1\nc = 2\n", "[a]\nb = 1\n",
        "The section “a” of `a.toml` no longer has `c`.", "[a]\nc = 2\nb = 1\n", "no longer"),
    "layout of JSON": ("a.json", f"{JSON}",
        '{\n  "name": "a",\n  "engines": {\n      "node": "1"\n  }\n}\n',
        "Only the formatting of the section “engines” of `a.json` has changed.",
        '{\n  "name": "a ",\n  "engines": {\n      "node": "1"\n  }\n}\n',
        "formatting of `a.json`"),
    "layout of prose": ("a.md", f"{DOC}",
        "# A\n\nSome\nwords here.\n\n## Use\n\nRun it twice a day.\n",
        "Only the formatting of the section “A” of `a.md` has changed.",
        "# A\n\nSomewords here.\n\n## Use\n\nRun it twice a day.\n", "formatting"),
    "indentation of YAML": ("a.yaml", "a:\n  c:\n    d: 1\n    e: 2\n",
        "a:\n  c:\n    d: 1\n    e: 3\n",
        "`e` in the section “a” of `a.yaml` is now `3` instead of `2`.",
        "a:\n  c:\n    d: 1\n  e: 2\n", "formatting"),
    "line of rules": (".gitignore", "one\n!two\nthree\nfour\nfive six\n",
        "one\n!two\nthree\nfour\nfive seven\n",
        "`.gitignore` now has the line `five seven` instead of `five six`.",
        "!two\nthree\nfour\none\nfive six\n", "formatting"),
    "same key in two places": ("ci.yml", f"{JOBS}",
        "jobs:\n  build:\n    run: three\n    image: small\n  test:\n    run: two\n"
        "    image: large\n",
        "`run` in the section “jobs” of `ci.yml` is now `three` instead of `one`.",
        "jobs:\n  build:\n    image: small\n  test:\n    run: two\n    image: large\n"
        "    run: six\n", "`run` in"),
    "pinned package": ("requirements-dev.txt", "# for tests\nflask==2.0\n",
        "# for tests\nflask==2.1\n",
        "`flask` in `requirements-dev.txt` is now `==2.1` instead of `==2.0`.",
        "# for tests\nflask-login==2.1\n", "is now"),
    "module of Go": ("go.mod", "module a\n\nrequire b.com/x v1.2.0\n",
        "module a\n\nrequire b.com/x v1.3.0\n",
        "`b.com/x` in `go.mod` is now `v1.3.0` instead of `v1.2.0`.",
        "module a\n\nrequire b.com/y v1.3.0\n", "is now"),
    "package of NuGet": ("A.csproj", '<A>\n  <PackageReference Include="B" Version="2" />\n</A>\n',
        '<A>\n  <PackageReference Include="B" Version="3" />\n</A>\n',
        "`B` in `A.csproj` is now `3` instead of `2`.",
        '<A>\n  <PackageReference  Include="B" Version="2"/>\n</A>\n', "is now"),
    "rule of CSS": ("a.css", ".a {\n  color: red;\n}\n", ".a {\n  color: blue;\n}\n",
        "`color` in the section “.a” of `a.css` is now `blue` instead of `red`.",
        ".a {\n  background: blue;\n}\n", "is now"),
    "prose": ("a.md", f"{DOC}", "# A\n\nSome words here.\n\n## Use\n\nRun it once a day.\n",
        "The section “Use” of `a.md` now says “Run it once a day”.",
        "# A\n\n## Use\n\nRun it twice a day.\n\nSome words here.\n", "now says"),
    "comment in a block of code is no heading": ("a.md",
        "# A\n\n```sh\n# install it\nmake one\n```\n",
        "# A\n\n```sh\n# install it\nmake one two three\n```\n",
        "The section “A” of `a.md` now says “make one two three”.",
        "# A\n\n```sh\n# install it\nmake two\n```\n", "“install it”"),
    "new document": ("a.md", "", f"{DOC}",
        "The new file `a.md` (7 lines) has the sections “A” and “Use”.", "Some words here.\n",
        "sections"),
    "underlined title": ("a.rst", "Title\n=====\n\nSome words here.\n",
        "Title\n=====\n\nSome more words here.\n",
        "The section “Title” of `a.rst` now says “Some more words here”.",
        "Title\n=====\n\nSome\nwords here.\n", "now says"),
    "file without a known language": ("Dockerfile", "FROM python:3.10\n", "FROM python:3.12\n",
        "`Dockerfile` now has the line `FROM python:3.12` instead of `FROM python:3.10`.",
        "FROM  python:3.10\n", "the line"),
    "comment of configuration": ("a.yaml", "# one word of it\na: 1\n", "# two words of it\na: 1\n",
        "A comment in `a.yaml` now says “two words of it”.", "#  one word of it\na: 1\n",
        "comment"),
    "many sections": ("a.yaml",
        "k0:\n  v: 1\nk1:\n  v: 1\nk2:\n  v: 1\nk3:\n  v: 1\nk4:\n  v: 1\nk5:\n  v: 1\nk6:\n"
        "  v: 1\nk7:\n  v: 1\n",
        "k0:\n  v: 2\nk1:\n  v: 2\nk2:\n  v: 2\nk3:\n  v: 2\nk4:\n  v: 2\nk5:\n  v: 2\nk6:\n"
        "  v: 2\nk7:\n  v: 2\n", "`a.yaml` now has the line `v: 2` instead of `v: 1`.",
        "k0:\n  v: 2\nk1:\n  v: 2\nk2:\n  v: 2\nk3:\n  v: 2\nk4:\n  v: 2\nk5:\n  v: 2\nk6:\n"
        "  v: 1\nk7:\n  v: 1\n", "8 lines"),
    "removed": ("a.yaml", "a: 1\nb: 2\n", "", "The file `a.yaml` (2 lines) has been removed.",
        "b: 2\n", "file"),
    "lock file": ("yarn.lock", "a\nb\n", "a\nc\n",
        "The lock file `yarn.lock` has changed (1 line added, 1 removed).", "a\nd\n", "the line"),
    "generated file": ("a.min.js", "", "a\n",
        "The generated or vendored file `a.min.js` (1 line) has been added.", "a()\n", "calls"),
    "snapshot": ("__snapshots__/a.snap", "a\n", "",
        "The snapshot `__snapshots__/a.snap` (1 line) has been removed.", "b\n", "the line"),
    "minified file": ("a.js", "a;\n",
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();"
        "a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();a();\n",
        "The minified or data file `a.js` has changed (1 line added, 1 removed).", "a();\n",
        "minified"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_change_has_its_sentence_and_a_near_miss_does_not(row: str) -> None:
    path, old, new, sentence, miss, never = ROWS[row]
    assert sentence in texts(change(path, old, new))
    for sources in (True, False):
        sentences = texts(change(path, old, miss, sources=sources))
        assert sentences
        assert not [text for text in sentences if never in text]


# Lines of git about a file -> the only claim
HEADERS = {
    "new file mode 100644\nindex 0..1\nBinary files /dev/null and b/x differ\n":
        "The binary file `x` has been added.",
    "deleted file mode 100644\nindex 0..1\nBinary files a/x and /dev/null differ\n":
        "The binary file `x` has been removed.",
    "index 0..1 100644\nBinary files a/x and b/x differ\n": "The binary file `x` has been changed.",
    "old mode 100644\nnew mode 100755\n": "`x` is now executable.",
    "old mode 100755\nnew mode 100644\n": "`x` is no longer executable.",
    "old mode 100644\nnew mode 120000\n": "`x` has another mode.",
    "new file mode 100644\nindex 0..1\n": "The empty file `x` has been added.",
    "deleted file mode 100644\nindex 0..1\n": "The empty file `x` has been removed.",
    "similarity index 100%\nrename from a/x\nrename to x\n": "The file `a/x` has moved to `x`.",
    "similarity index 100%\ncopy from a/x\ncopy to x\n": "The file `x` is a copy of `a/x`.",
    "index 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    f"-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n":
        "The submodule `x` has been changed.",
    "new file mode 160000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n"
    f"+Subproject commit {'1' * 40}\n": "The submodule `x` has been added.",
}  # fmt: skip


@pytest.mark.parametrize(("header", "sentence"), HEADERS.items())
def test_change_of_a_file_as_a_whole_is_one_sentence(header: str, sentence: str) -> None:
    former = "a/x" if "from a/x" in header else "x"
    (claim,) = claims(parse_diff(f"diff --git a/{former} b/x\n{header}"))
    assert claim.text == sentence
    assert claim.topic is not None
    assert claim.topic.lines == 0


def test_symbolic_link_is_described_by_its_target() -> None:
    diff = parse_diff(
        "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n"
        "+../lib/real\n\\ No newline at end of file\n"
    )
    assert texts(diff) == ["The new file `x` (1 line) has been added."]


def test_renamed_file_has_claims_about_name_and_content() -> None:
    diff = parse_diff(
        "diff --git a/a.py b/b.py\nsimilarity index 90%\nrename from a.py\nrename to b.py\n"
        "--- a/a.py\n+++ b/b.py\n@@ -1,2 +1,2 @@\n def f(a):\n-    return a\n+    return a + 1\n"
    )
    assert texts(diff) == [
        "The function `f` in `b.py` now returns `a + 1`.",
        "The file `a.py` has moved to `b.py`.",
    ]
    assert {span.path for span in claims(diff)[0].spans} == {"b.py"}
