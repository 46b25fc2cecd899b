"""What must be said of each kind of change in each language."""

import pytest

from tests.helpers.changes import change, said, texts

CASES: dict[str, dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "main.py": {
        "import": ("import os\n", "import os\nimport sys\n", ("import", "`sys`", "added")),
        "import source": (
            "from a import load\n",
            "from b import load\n",
            ("import", "`from b import load`"),
        ),
        "decorator": (
            "def f():\n    pass\n",
            "@cache\ndef f():\n    pass\n",
            ("decorator", "`@cache`", "`f`"),
        ),
        "type": (
            "def f(a: int):\n    pass\n",
            "def f(a: str):\n    pass\n",
            ("type", "`a`", "`int`", "`str`"),
        ),
        "async": ("def f():\n    pass\n", "async def f():\n    pass\n", ("`f`", "`async`")),
        "except": (
            "try:\n    f()\nexcept ValueError:\n    g()\n",
            "try:\n    f()\nexcept Exception:\n    g()\n",
            ("catches", "`Exception`", "instead of", "`ValueError`"),
        ),
        "raise": (
            "def f(x):\n    return x\n",
            "def f(x):\n    if not x:\n        raise ValueError('empty')\n    return x\n",
            ("`f`", "not x", "raises `ValueError`", "'empty'"),
        ),
        "loop": (
            "def f(xs):\n    for x in xs:\n        g(x)\n",
            "def f(xs):\n    for x in sorted(xs):\n        g(x)\n",
            ("loop", "`f`", "over `sorted(xs)` instead of `xs`"),
        ),
        "new loop": (
            "def f(xs):\n    pass\n",
            "def f(xs):\n    for x in xs:\n        send(x)\n",
            ("loop over `xs`", "calls `send`", "`f`"),
        ),
        "class": (
            "import os\n",
            "import os\n\n\nclass Reader(Base):\n    def read(self):\n        return 1\n",
            ("new class `Reader`", "`Base`"),
        ),
        "base": (
            "class A(B):\n    x = 1\n",
            "class A(C):\n    x = 1\n",
            ("class `A`", "based on `C`", "instead of `B`"),
        ),
        "constant": ("LIMIT = 10\n", "LIMIT = 20\n", ("constant `LIMIT`", "`20`", "`10`")),
        "docstring": (
            'def f():\n    """Load it."""\n',
            'def f():\n    """Load it quickly."""\n',
            ("docstring", "`f`", "Load it quickly", "instead of", "Load it"),
        ),
        "comment": ("x = 1\n", "# The first\nx = 1\n", ("comment", "added", "The first")),
        "dropped call": (
            "def f():\n    a()\n    close()\n",
            "def f():\n    a()\n",
            ("`f` no longer calls `close`",),
        ),
        "log": (
            "def f():\n    a()\n",
            "def f():\n    a()\n    logging.info('done %s', 1)\n",
            ("`f`", "logs the message 'done %s'"),
        ),
        "print": (
            "def f():\n    a()\n",
            "def f():\n    a()\n    print('done')\n",
            ("prints", "done"),
        ),
        "with": (
            "def f(p):\n    g(p)\n",
            "def f(p):\n    with open(p) as h:\n        g(h)\n",
            ("uses", "open(p) as h", "calls `g`"),
        ),
        "assertion": (
            "def f(a):\n    g(a)\n",
            "def f(a):\n    assert a > 0\n    g(a)\n",
            ("`f`", "asserts", "a > 0"),
        ),
        "moved": (
            "def a():\n    send(x, y, z)\n\n\ndef b():\n    pass\n",
            "def a():\n    pass\n\n\ndef b():\n    send(x, y, z)\n",
            ("send", "moved", "`a`", "`b`"),
        ),
        "removed check": (
            "def f(a):\n    if a is None:\n        return 0\n    return a\n",
            "def f(a):\n    return a\n",
            ("check", "`a is None`", "removed", "`f`"),
        ),
    },
    "Main.java": {
        "import": (
            "import a.B;\nclass A {}\n",
            "import a.B;\nimport a.C;\nclass A {}\n",
            ("import", "`a.C`"),
        ),
        "field": (
            "class A {\n  int a;\n}\n",
            "class A {\n  int a;\n  private String name;\n}\n",
            ("new field `name`", "`String`", "class `A`"),
        ),
        "annotation": (
            "class A {\n  void f() {}\n}\n",
            "class A {\n  @Override\n  void f() {}\n}\n",
            ("annotation", "`@Override`", "`f`"),
        ),
        "visibility": (
            "class A {\n  private void f() {}\n}\n",
            "class A {\n  public void f() {}\n}\n",
            ("`f`", "`public`", "`private`"),
        ),
        "return type": (
            "class A {\n  int f() { return x; }\n}\n",
            "class A {\n  long f() { return x; }\n}\n",
            ("return type", "`f`", "`int`", "`long`"),
        ),
        "else if": (
            "class A {\n  void f(int a) {\n    if (a > 10) {\n      g();\n    }\n  }\n}\n",
            "class A "
            "{\n  void f(int a) {\n    if (a > 10 && a < limit) {\n      g();\n    }\n  }\n}\n",
            ("condition", "`f`", "also requires", "limit"),
        ),
        "catch": (
            "class A "
            "{\n  void f() {\n    try {\n      g();\n    } finally {\n      h();\n    }\n  }\n}\n",
            "class A "
            "{\n  void f() {\n    try {\n      g();\n    } catch (IOException e) {\n      h();\n"
            "    } finally {\n      h();\n    }\n  }\n}\n",
            ("`f`", "catches `IOException`"),
        ),
        "enum value": ("enum A {\n  X,\n}\n", "enum A {\n  X,\n  Y,\n}\n", ("enum value `Y`",)),
        "constructor": (
            "class A {\n  int a;\n}\n",
            "class A {\n  int a;\n  A(int a) {\n    this.a = a;\n  }\n}\n",
            ("constructor `A`", "`a`"),
        ),
        "rename class": (
            "class Old {\n  int a;\n}\n",
            "class New {\n  int a;\n}\n",
            ("class `Old`", "renamed", "`New`"),
        ),
    },
    "main.js": {
        "import": (
            "import a from 'a';\n",
            "import a from 'a';\nimport b from 'b';\n",
            ("import", "from 'b'"),
        ),
        "default": (
            "function f(a, b = 1) {}\n",
            "function f(a, b = 2) {}\n",
            ("default", "`b`", "`1`", "`2`"),
        ),
        "entry": (
            "const a = {\n  b: 1,\n};\n",
            "const a = {\n  b: 1,\n  c: 'x',\n};\n",
            ("entry `c`", "'x'"),
        ),
        "arrow": (
            "const f = (a) => {\n  return a;\n};\n",
            "const g = (a) => {\n  return a;\n};\n",
            ("function `f`", "renamed", "`g`"),
        ),
        "console": (
            "function f() {\n  console.log('old text');\n}\n",
            "function f() {\n  console.log('new text');\n}\n",
            ("message logged", "`f`", "new text", "old text"),
        ),
        "method": (
            "class A {\n  a() {}\n}\n",
            "class A {\n  a() {}\n  b(x) { return x; }\n}\n",
            ("method `b`", "class `A`", "`x`"),
        ),
        "await": (
            "async function f() {\n  const x = load();\n}\n",
            "async function f() {\n  const x = await load();\n}\n",
            ("`x`", "`f`", "await"),
        ),
    },
    "main.ts": {
        "interface": (
            "interface A {\n  a: string;\n}\n",
            "interface A {\n  a: string;\n  b: number;\n}\n",
            ("property `b`", "`number`", "interface `A`"),
        ),
        "type": (
            "function f(a: string): void {}\n",
            "function f(a: number): void {}\n",
            ("type", "`a`", "`string`", "`number`"),
        ),
        "optional": (
            "class A {\n  f(a: string) {}\n}\n",
            "class A {\n  f(a: string, b?: number) {}\n}\n",
            ("parameter `b`", "`number`", "`f`"),
        ),
    },
    "view.tsx": {
        "element": (
            "export const A = () => (\n  <div>\n    <p>a</p>\n  </div>\n);\n",
            "export const A = () => (\n  <div>\n    <p>a</p>\n    <Logo size={3} />\n  "
            "</div>\n);\n",
            ("renders", "Logo"),
        ),
    },
    "main.go": {
        "function": (
            "package a\n",
            "package a\n\nfunc Load(path string, size int) error {\n\treturn open(path)\n}\n",
            ("function `Load`", "`path`", "`size`", "`error`"),
        ),
        "parameter": (
            "package a\n\nfunc (s *S) Load(a int) error {\n\treturn nil\n}\n",
            "package a\n\nfunc (s *S) Load(a int, b string) error {\n\treturn nil\n}\n",
            ("parameter `b`", "`string`", "method `Load`"),
        ),
        "error check": (
            "package a\n\nfunc f() error {\n\terr := g()\n\treturn nil\n}\n",
            "package a\n\nfunc f() error {\n\terr := g()\n\tif err != nil {\n\t\treturn err\n\t}\n"
            "\treturn nil\n}\n",
            ("condition", "`f`", "err != nil", "returns `err`"),
        ),
        "constant": (
            "package a\n\nconst Limit = 10\n",
            "package a\n\nconst Limit = 20\n",
            ("constant `Limit`", "`20`", "`10`"),
        ),
        "field": (
            "package a\n\ntype S struct {\n\tA int\n}\n",
            "package a\n\ntype S struct {\n\tA int\n\tB string\n}\n",
            ("field `B`", "`string`", "struct `S`"),
        ),
        "import": (
            'package a\n\nimport (\n\t"fmt"\n)\n',
            'package a\n\nimport (\n\t"fmt"\n\t"os"\n)\n',
            ("import", "os"),
        ),
        "loop": (
            "package a\n\nfunc f(xs []int) {\n}\n",
            "package a\n\nfunc f(xs []int) {\n\tfor _, x := range xs {\n\t\tg(x)\n\t}\n}\n",
            ("loop over `xs`", "calls `g`", "`f`"),
        ),
        "log": (
            "package a\n\nfunc f() {\n}\n",
            'package a\n\nfunc f() {\n\tlog.Printf("done")\n}\n',
            ("`f`", "prints the message 'done'"),
        ),
    },
    "main.c": {
        "function": (
            "int a;\n",
            "int a;\n\nint load(const char *path) {\n  return open(path);\n}\n",
            ("function `load`", "`path`", "`int`"),
        ),
        "macro": (
            "#define LIMIT 10\n",
            "#define LIMIT 20\n",
            ("macro `LIMIT`", "`20`", "`10`"),
        ),
        "include": (
            "#include <a.h>\n",
            "#include <a.h>\n#include <b.h>\n",
            ("import", "<b.h>"),
        ),
        "condition": (
            "int f(int a) {\n  if (a > 1) {\n    return 1;\n  }\n  return 0;\n}\n",
            "int f(int a) {\n  if (a >= 1) {\n    return 1;\n  }\n  return 0;\n}\n",
            ("condition", "function `f`", "`a >= 1`", "`a > 1`"),
        ),
        "struct field": (
            "struct s {\n  int a;\n};\n",
            "struct s {\n  int a;\n  char *name;\n};\n",
            ("field `name`", "struct `s`"),
        ),
        "call": (
            "void f(int a) {\n  send(a);\n}\n",
            "void f(int a) {\n  send(a, 1);\n}\n",
            ("call to `send`", "`f`", "passes `1`"),
        ),
    },
    "main.cpp": {
        "class": (
            "int a;\n",
            "int a;\n\nclass Reader : public Base {\n public:\n  int read();\n};\n",
            ("class `Reader`", "Base"),
        ),
        "method": (
            "class A {\n  int a();\n};\n",
            "class A {\n  int a();\n  void stop(int code);\n};\n",
            ("method `stop`", "class `A`", "`code`"),
        ),
        "throw": (
            'int f(int a) {\n  throw std::runtime_error("x");\n}\n',
            'int f(int a) {\n  throw std::logic_error("x");\n}\n',
            ("throws `std::logic_error`", "instead of `std::runtime_error`"),
        ),
        "range": (
            "void f(V xs) {\n}\n",
            "void f(V xs) {\n  for (auto& x : xs) {\n    g(x);\n  }\n}\n",
            ("loop over `xs`", "calls `g`"),
        ),
        "default": (
            "void f(int a, int b = 1) {\n}\n",
            "void f(int a, int b = 2) {\n}\n",
            ("default", "`b`", "`1`", "`2`"),
        ),
    },
    "Main.cs": {
        "property": (
            "class A {\n  int a;\n}\n",
            "class A {\n  int a;\n  public int Size { get; set; }\n}\n",
            ("property `Size`", "`int`", "class `A`"),
        ),
        "method": (
            "class A {\n  void F() {}\n}\n",
            "class A {\n  void F() {}\n  public async Task<int> Load(string path) {\n"
            "    return await Open(path);\n  }\n}\n",
            ("method `Load`", "`path`", "`Task<int>`"),
        ),
        "using": (
            "using System;\nclass A {}\n",
            "using System;\nusing System.Linq;\nclass A {}\n",
            ("import", "`System.Linq`"),
        ),
        "attribute": (
            "class A {\n  void F() {}\n}\n",
            "class A {\n  [Obsolete]\n  void F() {}\n}\n",
            ("attribute", "`Obsolete`", "`F`"),
        ),
        "foreach": (
            "class A {\n  void F(int[] xs) {\n  }\n}\n",
            "class A "
            "{\n  void F(int[] xs) {\n    foreach (var x in xs) {\n      G(x);\n    }\n  }\n}\n",
            ("loop over `xs`", "calls `G`", "`F`"),
        ),
        "catch": (
            "class A {\n  void F() {\n    G();\n  }\n}\n",
            "class A {\n  void F() {\n    try {\n      G();\n    } catch (IOException e) {\n"
            "      Stop(e);\n    }\n  }\n}\n",
            ("error handling", "`IOException`", "`F`"),
        ),
    },
    "main.rb": {
        "method": (
            "class A\n  def a\n  end\nend\n",
            "class A\n  def a\n  end\n\n  def load(path)\n    File.open(path)\n  end\nend\n",
            ("method `load`", "class `A`", "`path`"),
        ),
        "parameter": (
            "def load(path)\n  a\nend\n",
            "def load(path, mode = 'r')\n  a\nend\n",
            ("parameter `mode`", "'r'", "`load`"),
        ),
        "condition": (
            "def f(a)\n  if a > 1\n    b\n  end\nend\n",
            "def f(a)\n  if a >= 1\n    b\n  end\nend\n",
            ("condition", "`f`", "`a >= 1`", "`a > 1`"),
        ),
        "raise": (
            "def f(a)\n  a\nend\n",
            "def f(a)\n  raise ArgumentError, 'empty' unless a\n  a\nend\n",
            ("`f`", "`a`", "raises `ArgumentError`"),
        ),
        "require": ("require 'a'\n", "require 'a'\nrequire 'b'\n", ("import", "'b'")),
        "spec": (
            "describe 'Reader' do\n  it 'reads' do\n    a\n  end\nend\n",
            "describe 'Reader' do\n  it 'reads' do\n    a\n    expect(b).to eq(2)\n  end\nend\n",
            ("the test 'reads'", "checks"),
        ),
        "constant": ("LIMIT = 10\n", "LIMIT = 20\n", ("constant `LIMIT`", "`20`", "`10`")),
        "rescue": (
            "def f\n  g\nrescue IOError => e\n  h\nend\n",
            "def f\n  g\nrescue StandardError => e\n  h\nend\n",
            ("catches `StandardError`", "instead of `IOError`"),
        ),
    },
    "main.php": {
        "method": (
            "<?php\nclass A {\n  function a() {}\n}\n",
            "<?php\nclass A {\n  function a() {}\n  public function load(string $path): array {\n"
            "    return open($path);\n  }\n}\n",
            ("method `load`", "`path`", "`array`"),
        ),
        "property": (
            "<?php\nclass A {\n  private $a;\n}\n",
            "<?php\nclass A {\n  private $a;\n  private ?int $size = 3;\n}\n",
            ("property `$size`", "`3`"),
        ),
        "use": ("<?php\nuse A\\B;\n", "<?php\nuse A\\B;\nuse A\\C;\n", ("import", "A\\C")),
        "foreach": (
            "<?php\nfunction f($xs) {\n}\n",
            "<?php\nfunction f($xs) {\n  foreach ($xs as $x) {\n    send($x);\n  }\n}\n",
            ("loop over `$xs`", "calls `send`", "`f`"),
        ),
        "throw": (
            "<?php\nfunction f($a) {\n  throw new A('x');\n}\n",
            "<?php\nfunction f($a) {\n  throw new B('x');\n}\n",
            ("throws `B`", "instead of `A`"),
        ),
        "condition": (
            "<?php\nfunction f($a) {\n  if ($a > 1) {\n    g();\n  }\n}\n",
            "<?php\nfunction f($a) {\n  if ($a >= 1) {\n    g();\n  }\n}\n",
            ("condition", "`f`", "`$a >= 1`", "`$a > 1`"),
        ),
    },
}
PAIRS = [(path, name) for path, cases in CASES.items() for name in cases]


@pytest.mark.parametrize("sources", [True, False], ids=["sources", "patch"])
@pytest.mark.parametrize(("path", "name"), PAIRS)
def test_change_is_told_with_its_names(path: str, name: str, sources: bool) -> None:
    old, new, words = CASES[path][name]
    made = change(path, old, new, sources=sources)
    assert said(made, *words), "\n" + "\n".join(texts(made))


@pytest.mark.parametrize(("path", "name"), PAIRS)
def test_change_inside_a_long_file_is_told_the_same_way(path: str, name: str) -> None:
    """Far from the file's ends, the whole file gives what the small one gave."""
    old, new, words = CASES[path][name]
    mark = "#" if path.endswith((".py", ".rb")) else "//"
    kept = old.index("\n") + 1 if path.endswith((".php", ".go")) else 0
    filler = f"{mark} filler\n" * 8
    made = change(path, *(text[:kept] + filler + text[kept:] for text in (old, new)))
    assert said(made, *words), "\n" + "\n".join(texts(made))
