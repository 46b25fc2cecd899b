"""False claims of earlier versions, with a change for each that caused the claim."""

import pytest

from crscore.claims.structural.plugin import create
from crscore.diff.parse import parse_diff
from tests.helpers.changes import change, texts, together

WORDS = "word and more of it " * 9
NUMBERS = "1234, " * 30

# Falsehood -> path, old, new, what a claim must say, what none may say
CASES: dict[str, tuple[str, str, str, str, tuple[str, ...]]] = {
    "renamed to a name that stood there before": ("Cache.cs",
        "class Cache {\n  int Load(string key) {\n    var found = store.Find(key, depth);\n"
        "    if (found == null) { throw new KeyMissing(key); }\n    return found.Value;\n  }\n"
        "  int LoadAsync(string key) { return Load(key); }\n}\n",
        "class Cache {\n  int LoadAsync(string key, bool deep) {\n"
        "    var found = store.Find(key, depth);\n"
        "    if (found == null) { throw new KeyMissing(key); }\n    return found.Value;\n  }\n"
        "  int LoadAsync(string key) { return LoadAsync(key, true); }\n}\n",
        "overload that takes `key` and `deep`", ("renamed", "takes the place", "new method")),
    "annotation macro before a function's type": ("a.cpp", "int a;\n",
        "int a;\n\nFMT_API void report(int code) {\n  int shown = code + 1;\n  print(shown);\n}\n",
        "new function `report`", ("FMT_API",)),
    "annotation macro with an argument": ("a.cpp", "int a;\n",
        "int a;\n\nABSL_EXCLUDED(lock)\nvoid report(int code) {\n  int b = code;\n  print(b);\n"
        "}\n", "new function `report`", ("ABSL_EXCLUDED",)),
    "annotation macro behind the parameters": ("a.cpp", "int a;\n",
        "int a;\n\nvoid report(int code) GUARDED_BY(lock) {\n  int b = code;\n  print(b);\n}\n",
        "report", ("GUARDED_BY",)),
    "layout of a file with other changes": ("a.py", "A=1\nB=2\n\n\ndef h(x):\n    return k(x)\n",
        "A = 1\nB = 2\n\n\ndef h(x):\n    return k(x, 1)\n", "`k(x, 1)`",
        ("Only the formatting of `a.py` has changed.", "Only blank")),
    "comments of a file with other changes": ("a.py",
        "# one\nA = 1\n\n\ndef h(x):\n    return k(x)\n",
        "# two\nA = 1\n\n\ndef h(x):\n    return k(x, 1)\n", "`k(x, 1)`",
        ("Only comments have changed in `a.py`.",)),
    "blank lines beside code": ("a.py", "def f(a):\n    return a\n",
        "def f(a):\n\n    return a + 1\n", "`a + 1`", ("Only", "blank")),
    "forward declaration as a new function": ("a.c",
        "int a;\n\nint load(int n)\n{\n    return n;\n}\n",
        "int load(int n);\n\nint a;\n\nint load(int n)\n{\n    return n;\n}\n", "a.c",
        ("new function",)),
    "forward declaration as a new struct": ("a.c", "int a;\n", "struct node;\n\nint a;\n",
        "struct node", ("new struct", "defines")),
    "typing overloads as new functions": ("a.py", "def load(a):\n    return a\n",
        "@overload\ndef load(a: int) -> int: ...\n@overload\ndef load(a: str) -> str: ...\n"
        "def load(a):\n    return a\n", "`load`", ("new function",)),
    "overload as a new method": ("A.java", "class A {\n  void run(int a) {\n    go(a);\n  }\n}\n",
        "class A {\n  void run(int a) {\n    go(a);\n  }\n\n  void run(int a, String name) {\n"
        "    go(a);\n  }\n}\n", "overload that takes `a` and `name`",
        ("new method", "takes the new parameter", "where it took")),
    "constant of a struct as its definition": ("a.c", "int f(void)\n{\n    return 0;\n}\n",
        "int f(void)\n{\n    const struct timeval tv = {1, 0};\n    wait_for(&tv);\n"
        "    return 0;\n}\n", "`tv`", ("struct `timeval`", "new struct")),
    "parameter of a struct as its definition": ("a.c", "int a;\n",
        "int a;\n\nint f(const struct timeval *tv)\n{\n    return tv->tv_sec;\n}\n",
        "new function `f`", ("timeval",)),
    "condition that became a conjunction": ("a.js",
        "function f(a) {\n  if (a.ready) {\n    send(a);\n  }\n}\n",
        "function f(a) {\n  a.ready && send(a);\n}\n", "`a.ready && send(a)`", ("no longer",)),
    "condition that became part of markup": ("a.tsx",
        "function F({ busy }: P) {\n  if (busy) {\n    return <Spinner />;\n  }\n  return null;\n"
        "}\n", "function F({ busy }: P) {\n  return busy && <Spinner />;\n}\n",
        "`busy && <Spinner />`", ("no longer checks",)),
    "unset as an empty value": ("a.php",
        "<?php\nfunction f($conf) {\n    $conf['a'] = 1;\n    return $conf;\n}\n",
        "<?php\nfunction f($conf) {\n    unset($conf['a']);\n    return $conf;\n}\n",
        "unset($conf['a'])", ("is now", "empty", "``", "sets")),
    "exchange of two texts that are equal as far as they are quoted": ("a.js",
        f'function f() {{\n  run("{WORDS}old");\n'
        f"  const a = [{NUMBERS}5];\n}}\n",
        f'function f() {{\n  run("{WORDS}new");\n'
        f"  const a = [{NUMBERS}6];\n}}\n", "`f`", ("instead of", "…")),
    "default that is quoted in part": ("a.py", f"def f(a, b=('one', '{WORDS}')):\n    g(a)\n",
        f"def f(a, b=('two', '{WORDS}')):\n    g(a)\n", "`f`", ("…", "that omit")),
    "stop words as names": ("a.py", "def f(a):\n    return a\n",
        "def f(a):\n    # this is not in the list and has to be here\n    return a or the(a)\n",
        "`a or the(a)`", ("`is`", "`not`", "`this`", "`to`", "`or`", "`in`")),
    "clause of a package as a call": ("a.go", "package a\n\nvar A = 1\n",
        "package b\n\nvar A = 1\n", "`package b`", ("runs", "calls")),
    "clause of a namespace as a name": ("a.php",
        "<?php\nnamespace Guzzle;\n\nclass A\n{\n    public $a = 1;\n}\n",
        "<?php\nnamespace GuzzleHttp;\n\nclass A\n{\n    public $a = 2;\n}\n", "GuzzleHttp",
        ("runs", "calls", "new `namespace", "the namespace")),
    "branch as a function": ("a.js", "f();\n",
        "f();\n    if (a.b) {\n      go(a);\n    } else if (b.c) {\n      go(b);\n    }\n",
        "checks `a.b` and `b.c`", ("function `if`", "new function", "new method")),
    "new import as unused": ("a.py", "import os\n", "import os\nimport sys\n", "imports `sys`",
        ("used",)),
    "class in a module as a new module": ("lib/rack/mock.rb", "module Rack\n  VERSION = 1\nend\n",
        "module Rack\n  VERSION = 1\n\n  class Session\n    def get(path)\n"
        "      @app.call(path)\n    end\n  end\nend\n", "new class `Session`", ("module",)),
    "class in a module of a new file as a new module": ("lib/rack/mock.rb", "",
        "module Rack\n  class Session\n    def get(path)\n      @app.call(path)\n    end\n  end\n"
        "end\n", "new class `Session`", ("module", "`Rack`")),
    "function without a name as `default`": ("src/build-config.js", "",
        "import path from 'path';\n\nexport default async (config) => {\n"
        "  const root = path.resolve(config.root);\n  return { ...config, root };\n};\n",
        "new function `build-config`", ("`default`", "`config` (", "`async`")),
    "step in a member as the description of its class": ("a.py", "",
        "class Pool:\n    def run(self, job):\n        # Wait until a worker is free.\n"
        "        worker = self.take()\n        worker.send(job)\n", "new class `Pool`",
        ("described", "Wait until")),
    "the same in Java": ("Pool.java", "",
        "class Pool {\n  void run(Job job) {\n    // Wait until a worker is free.\n"
        "    Worker worker = take();\n    worker.send(job);\n  }\n}\n", "new class `Pool`",
        ("described", "Wait until")),
    "call of a method as another one where the object has changed": ("a.py",
        "def f(a):\n    self.client.load(a)\n", "def f(a):\n    self.api.client.load(a)\n",
        "self.api.client.load", ("no longer",)),
    "call beside the same one as no longer made": ("a.js",
        "function f(a) {\n  load(1);\n  a.load(2);\n}\n",
        "function f(a) {\n  wait(1);\n  a.load(2);\n}\n", "`wait`",
        ("no longer `load`", "no longer calls")),
    "parameter that got a type as removed": ("a.py", "def f(a, *args):\n    g(1)\n",
        "def f(a: int, *args: str):\n    g(1)\n", "`f`", ("no longer takes", "new parameter")),
    "value with only its quotation marks changed": ("a.js", "const a = 'one';\nf();\n",
        'const a = "one";\ng();\n', "`g`", ("one",)),
    "class of another receiver as its place": ("a.go",
        "package p\n\nfunc (a *Key) Put(path string) (*Answer, error) {\n"
        "\treturn a.inner.Put(path, a.headers(), defaultTime)\n}\n",
        "package p\n\nfunc (a *Basic) Put(path string) (*Answer, error) {\n"
        "\treturn a.inner.Put(path, a.headers(), defaultTime)\n}\n", "`Key.Put`",
        ("place of `Put`", "renamed to `Put`")),
    "first letter of prose": ("a.py", "def f(a):\n    g(a)\n",
        "def f(a):\n    # resolves the endpoint of a site.\n    g(a, 1)\n",
        "“resolves the endpoint of a site”", ("“esolves",)),
    "old sentence of a comment as what it says now": ("a.py",
        "def f(a):\n    # Resolves the endpoint of a site.\n    # It never waits.\n    g(a)\n",
        "def f(a):\n    # Resolves the endpoint of a site.\n    # It waits for a second.\n"
        "    g(a, 1)\n", "`1`", ("“Resolves",)),
    "template as code": ("views/button.blade.php",
        "<x-button\n    :tag=\"$url ? 'a' : 'button'\"\n    :color=\"$color\"\n/>\n",
        "<x-button\n    :tag=\"$url ? 'a' : 'button'\"\n    :color=\"$color ?? 'gray'\"\n/>\n",
        "now has the line", ("checks", "calls", "the text")),
    "type of a variable as its value": ("a.go", "package p\n\nfunc f(a int) {\n\tgo1(a)\n}\n",
        "package p\n\nfunc f(a int) {\n\tvar cause error\n\tcause = go1(a)\n\tlog(cause)\n}\n",
        "The function `f`", ("to `error`",)),
    "comments behind two lines as one": ("a.c",
        "int a; // The first of the numbers\nint b; // The second of the numbers\n",
        "int a; // The first of the numbers\nint b; // The second of the numbers\n"
        "int c; // The third of the numbers\n", "“The third of the numbers”", ("second",)),
    "word in a text as the mark of a test": ("A.java",
        'class A {\n  @Describe("Has the latest news.")\n  News find(Query query) {\n'
        "    return load(query);\n  }\n}\n",
        'class A {\n  @Describe("Has the latest news.")\n  News find(Query query) {\n'
        "    return load(query, now());\n  }\n}\n", "method `A.find`", ("test",)),
    "long line of prose as a data file": ("CHANGELOG.md", "# Changes\n\n- one\n",
        f"# Changes\n\n- The flag is required now. {WORDS * 3}\n- one\n", "section “Changes”",
        ("minified", "data file")),
    "two of several alike as renamed": ("a.py",
        "def drop_role(p):\n    p.skip()\n    name = p.text()\n    drop(name, 1)\n",
        "def show_user(p):\n    p.skip()\n    user = p.text()\n    show(user, 1)\n\n\n"
        "def show_agent(p):\n    p.skip()\n    agent = p.text()\n    show(agent, 1)\n",
        "new function `show_agent`", ("renamed",)),
    "condition that lives on beside the edited one": ("a.py",
        "def f(a):\n    if a.kind == 'MD5':\n        go(a)\n",
        "def f(a):\n    if a.kind == 'MD5' or a.kind is None:\n        go(a)\n"
        "    if a.kind == 'MD5-SESS':\n        end(a)\n", "`a.kind == 'MD5-SESS'`",
        ("is now `a.kind == 'MD5-SESS'`", "no longer checks")),
    "contrary of a condition that guards other code": ("a.c",
        "int f(int a)\n{\n    go(a);\n    if (a == 0) {\n        set(a);\n        end(a);\n    }\n"
        "    return a;\n}\n",
        "int f(int a)\n{\n    if (a != 0) {\n        return 1;\n    }\n    go(a);\n    set(a);\n"
        "    end(a);\n    return a;\n}\n", "`a != 0`", ("is now",)),
    "conditions of two objects as one": ("a.py",
        "class A:\n    def f(self):\n        if self.prefix:\n            go(self.prefix)\n"
        "            end(1)\n",
        "class A:\n    def f(self):\n        if self.bucket:\n            return None\n",
        "`self.bucket`", ("is now",)),
    "text beside its edited form": ("a.py",
        "def f(a):\n    log('Invalid file: %s', a)\n    go(a)\n",
        "def f(a):\n    log('Checked the path: %s', a)\n    log('Invalid table: %s', a)\n"
        "    go(a)\n",
        "`'Checked the path: %s'`", ("is now `'Checked",)),
    "branch of a macro as its value": ("a.h",
        "#if WIDE\n#define find wide_find\n#else\n#define find text_find\n#endif\n",
        "#if WIDE\n#define find wide_find\n#else\n#define find byte_find\n#endif\n", "byte_find",
        ("`find` in",)),
    "renamed fields as new ones": ("A.java",
        "class A {\n  Bar leftBar;\n  Bar rightBar;\n}\n",
        "class A {\n  Bar leftLine;\n  Bar rightLine;\n}\n", "instead of `leftBar` and `rightBar`",
        ("no longer has",)),
    "imports among the counted lines": ("a.py",
        "import os\n\n\ndef f(a):\n    go(\n        a)\n",
        "import os\nimport sys\n\n\ndef f(a):\n    go(\n        a\n    )\n", "`f`",
        ("(3 lines added",)),
    "type that a method returns as a modifier": ("A.java",
        "class A {\n  Page find(Query query) {\n    return load(query);\n  }\n}\n",
        "class A {\n  Flow<Page> find(Query query) {\n    return load(query, 1);\n  }\n}\n",
        "`A.find`", ("declared",)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_falsehood_is_not_reported(case: str) -> None:
    path, old, new, must, never = CASES[case]
    for sources in (True, False):
        sentences = texts(change(path, old, new, sources=sources))
        assert any(must in text for text in sentences), sentences
        assert not [text for text in sentences for words in never if words in text]


# Hunks that begin inside a statement -> what no claim may say
CUTS = {
    ("a.cpp", "   go();\n+  if (a > 1) {\n+    stop(a);\n+  } else if (b) {\n+    run(b);\n+  }\n"
              "   end();\n"): "function",
    ("A.java", "   go();\n-  stop();\n+  } catch (IOException e) {\n+    log(e);\n+    stop();\n"
               "+  }\n   end();\n"): "constructor",
    ("A.java", "   go();\n+  }\n+  finally {\n+    log(e);\n   end();\n"): "method",
    ("a.php", "   go();\n+  } elseif ($a > 1) {\n+    stop($a);\n   end();\n"): "function",
    ("a.ts", "   go();\n+  while (a.next()) {\n+    stop(a);\n+  }\n   end();\n"): "method",
}  # fmt: skip


@pytest.mark.parametrize(("cut", "never"), CUTS.items())
def test_statement_in_a_cut_hunk_is_no_declaration(cut: tuple[str, str], never: str) -> None:
    path, lines = cut
    old, new = (sum(line[0] != sign for line in lines.splitlines()) for sign in "+-")
    diff = parse_diff(f"@@ -10,{old} +10,{new} @@\n{lines}", path=path)
    sentences = [claim.text for claim in create().generate([diff])[0].references]
    assert sentences
    assert not [text for text in sentences if never in text]


# Falsehood of a hunk that begins inside something -> path, git's name of it, lines, must, never
CUT_HUNKS: dict[str, tuple[str, str, str, str, str]] = {
    "documentation of the next function as the former one's": ("a.js", "f.first = function (a) {",
        "  * header is not given.\n  *\n+ * Note that ranges are inclusive.\n  *\n  * @public\n",
        "comment", "first"),
    "comment above a new function as the former one's": ("a.js", "function first(a) {",
        "   });\n }\n \n+/**\n+ * Give the lines of it.\n+ */\n+\n+function second(a) {\n"
        "+  return go(a, 1);\n+}\n", "second", "function `first`"),
    "other lines of a class as all of it": ("A.java", "class A {",
        "     int b = 1;\n-    int c = go(1,\n-        2);\n+    int c = go(1, 2);\n     end(b);\n",
        "some lines of the class `A`", "outside"),
    "markup as a comparison": ("a.tsx", "",
        '       display="flex"\n     >\n-      {a}\n+      {env.BOX ? (\n'
        '+        <T c="d"> {env.BOX} </T>'
        "\n+      ) : (\n+        <T>none</T>\n+      )}\n     </B>\n", "a.tsx", '"flex" >'),
    "inside of a text as code": ("a.go", "const (",
        ' \tMODE\tname (e.g. "one" for it)\n `\n \tpath = `path of it`\n'
        "-\tkind = `kind of it. (local, check)\n+\tkind = `kind of it. (local, talk, check)\n"
        ' \t"local" (default)\n \t\tPrint it.\n', "a.go", "call"),
    "titles of another dialect as comments": ("a.js", "",
        "     end\n+    describe 'the body'\n+      it 'should be sent with its length'\n"
        "+        get('/').should.eql 1\n+      end\n+    end\n   end\n", "a.js", "comment"),
    "imports without their statement": ("a.go", "import (",
        ' \t"fmt"\n+\t"log"\n \t"os"\n )\n', "imports `log`", "text"),
    "spaces of blank lines as another place": ("a.py", "def f(a):",
        "     go(a)\n-    \n+\n     end(a)\n", "formatting", "place"),
    "size of a function that is cut": ("a.ts", "",
        "+function describe(a: string): string {\n+  const b = go(a);\n+  if (b) {\n   end();\n",
        "new function `describe`", "lines)"),
    "function with its type on the line above": ("a.c", "is_same(int a, int b)",
        "     if (a == b) {\n         return 1;\n     }\n+#endif\n     return 0;\n }\n",
        "function `is_same`", "file"),
}  # fmt: skip


@pytest.mark.parametrize("case", CUT_HUNKS)
def test_cut_hunk_is_read_as_what_it_is(case: str) -> None:
    path, section, lines, must, never = CUT_HUNKS[case]
    old, new = (sum(line[0] != sign for line in lines.splitlines()) for sign in "+-")
    diff = parse_diff(f"@@ -10,{old} +10,{new} @@ {section}\n{lines}", path=path)
    sentences = [claim.text for claim in create().generate([diff])[0].references]
    assert any(must in text for text in sentences), sentences
    assert not [text for text in sentences if never in text]


def test_name_in_another_hunk_of_a_class_is_not_gone() -> None:
    hunks = (
        "@@ -1,3 +1,4 @@\n import a\n+import b\n class A {\n   use It;\n"
        "@@ -20,3 +21,3 @@ class A {\n   go();\n-  $entry = one($it);\n"
        "+  $entry = two($it);\n   end();\n"
    )
    sentences = [c.text for c in create().generate([parse_diff(hunks, path="a.php")])[0].references]
    assert not [text for text in sentences if "no longer has" in text or "now has `$" in text]


def test_function_that_became_a_method_of_another_file_has_moved() -> None:
    body = "(a int) {\n\tl := listen(a)\n\tfor {\n\t\tc := l.next(a, 1)\n\t\tserve(c)\n\t}\n}\n"
    gone = change(
        "one.go", f"package p\n\nvar A = 1\n\nfunc Proxy{body}", "package p\n\nvar A = 1\n"
    )
    head = "package p\n\ntype S struct {\n\ta int\n}\n"
    moved = change("two.go", head, f"{head}\nfunc (s *S) proxy{body}")
    assert any("`Proxy` has moved" in text for text in texts(together(gone, moved)))
