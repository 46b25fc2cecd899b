"""Changed constants with each kind of consequence, and changed constants without one."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

# Path, old, new, sentence
ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("a.py", "def f():\n    load(timeout=20)  # s\n", "def f():\n    load(timeout=10)  # short\n",
        "`timeout` is now `10` instead of `20`: does the slowest normal case still finish in"
        " time?"),
    ("a.py", "MAX_SIZE = 64 * 1024 * 1024\n", "MAX_SIZE = 128 * 1024 * 1024\n",
        "`MAX_SIZE` is now `128 * 1024 * 1024` instead of `64 * 1024 * 1024`: does everything that"
        " handles it cope with that much?"),
    ("a.py", "class A:\n    cache_ttl: float = Field(default=60)\n",
        "class A:\n    cache_ttl: float = Field(default=90)\n",
        "`cache_ttl` is now `90` instead of `60`: may what it keeps live that long?"),
    ("a.go", "func f() {\n\tc := Config{\n\t\tRetries: 5,\n\t}\n\tg(c)\n}\n",
        "func f() {\n\tc := Config{\n\t\tRetries: 2,\n\t}\n\tg(c)\n}\n",
        "`Retries` is now `2` instead of `5`: which failures are final now that another attempt"
        " would have cured?"),
    ("A.java", "class A {\n  private static final int POLL_INTERVAL = 60;\n}\n",
        "class A {\n  private static final int POLL_INTERVAL = 5;\n}\n",
        "`POLL_INTERVAL` is now `5` instead of `60`: is the load of the higher rate acceptable?"),
    ("a.c", "static const int schema_version = 4;\n", "static const int schema_version = 5;\n",
        "`schema_version` is now `5` instead of `4`: can what an older version stored or sent still"
        " be read?"),
    ("a.rb", "def f\n  sleep(5)\nend\n", "def f\n  sleep(1)\nend\n",
        "`sleep` is now `1` instead of `5`: is what it waits for always ready by then?"),
    ("nginx.conf", "a b;\nclient_max_body_size 8M;\n", "a b;\nclient_max_body_size 64M;\n",
        "`client_max_body_size` is now `64M` instead of `8M`: does everything that handles it cope"
        " with that much?"),
    ("a.go", "func f() {\n\tg(os.Getenv(\"OLD_TOKEN\"))\n}\n",
        "func f() {\n\tg(os.Getenv(\"NEW_TOKEN\"))\n}\n",
        "the environment variable `NEW_TOKEN` replaces `OLD_TOKEN`: do set-ups that define only the"
        " old one still work?"),
    ("a.go", "type A struct {\n\tUser string `json:\"user\"`\n}\n",
        "type A struct {\n\tUser string `json:\"name\"`\n}\n",
        "the tag `json:\"name\"` replaces `json:\"user\"`: is what was stored or sent before still"
        " read alike?"),
    ("a.go", "func f() {\n\tg(c.Get(\"X-Extra-Use\"))\n}\n",
        "func f() {\n\tg(c.Get(\"X-Use\"))\n}\n",
        "the key `X-Use` replaces `X-Extra-Use`: does everything that reads or writes it, stored"
        " data included, know the new name?"),
    ("A.java", "record A(\n    @JsonProperty(\"user_id\") String user\n) {\n}\n",
        "record A(\n    @JsonProperty(\"uid\") String user\n) {\n}\n",
        "the key `uid` replaces `user_id`: does everything that reads or writes it, stored data"
        " included, know the new name?"),
    ("a.py", "def f(row):\n    return g(row['model_name'])\n",
        "def f(row):\n    return g(row['llm_name'])\n",
        "the key `llm_name` replaces `model_name`: does everything that reads or writes it, stored"
        " data included, know the new name?"),
    ("a.php", "<?php\nreturn [\n    'label_hidden' => false,\n];\n",
        "<?php\nreturn [\n    'label_sr_only' => false,\n];\n",
        "the key `label_sr_only` replaces `label_hidden`: does everything that reads or writes it,"
        " stored data included, know the new name?"),
    ("a.ts", "function f(kind) {\n  if (kind === 'oauth2') {\n    g();\n  }\n}\n",
        "function f(kind) {\n  if (kind === 'oauth') {\n    g();\n  }\n}\n",
        "in a comparison, `oauth` replaces `oauth2`: is the old value still sent or stored"
        " anywhere?"),
    ("a.js", "app.get('/user/list', show);\n", "app.get('/api/users', show);\n",
        "the path `/api/users` replaces `/user/list`: do server, clients and stored links agree on"
        " it?"),
    ("a.py", "URL = 'https://a.example/v1'\n", "URL = 'https://b.example/v1'\n",
        "the address `https://b.example/v1` replaces `https://a.example/v1`: what still has or"
        " allows only the old one, such as stored settings?"),
)  # fmt: skip

# Situation -> path, old, new
NOTHING: dict[str, tuple[str, str, str]] = {
    "moved": ("a.py", "def f():\n    timeout = 20\n    g()\n    h()\n",
        "def f():\n    g()\n    h()\n    timeout = 20\n"),
    "reformatted": ("a.py", "def f():\n    load(timeout = 20)\n",
        "def f():\n    load(timeout=20)\n"),
    "other quotes": ("a.py", "def f(a):\n    return a['user']\n",
        "def f(a):\n    return a[\"user\"]\n"),
    "same value": ("a.py", "TIMEOUT = 1000\n", "TIMEOUT = 1_000\n"),
    "other unit": ("a.ts", "const TIMEOUT = '5m';\n", "const TIMEOUT = '300s';\n"),
    "renamed": ("a.py", "MAX_SIZE = 64\n", "LIMIT = 65\n"),
    "two lines of one form": ("a.go",
        "var a = []T{\n\t{timeout: 1},\n\t{timeout: 2},\n}\n",
        "var a = []T{\n\t{timeout: 2},\n\t{timeout: 3},\n}\n"),
    "layout": ("a.css", "a {\n  max-width: 10px;\n}\n", "a {\n  max-width: 12px;\n}\n"),
    "no quantity": ("a.py", "COLUMN = 3\n", "COLUMN = 4\n"),
    "comment": ("a.py", "def f():\n    # timeout = 5\n    g()\n",
        "def f():\n    # timeout = 6\n    g()\n"),
    "test": ("tests/test_a.py", "TIMEOUT = 5\n", "TIMEOUT = 6\n"),
    "message": ("a.py", "def f(a):\n    print('timeout: 5 s')\n",
        "def f(a):\n    print('timeout: 6 s')\n"),
    "still read": ("a.py", "def f(a):\n    return a['user']\n",
        "def f(a):\n    return a['name'] or a.get('user')\n"),
    "still read elsewhere": ("a.py", "def f(a):\n    return a['user']\n\n\ndef h(a):\n    g(a)\n",
        "def f(a):\n    return a['name']\n\n\ndef h(a):\n    g(a['user'])\n"),
    "another entry": ("a.go", "var a = M{\n\t\"limit\": {\n\t\tType: 1,\n\t},\n}\n",
        "var a = M{\n\t\"channel\": {\n\t\tType: 1,\n\t},\n}\n"),
    "import": ("a.go", "import (\n\t\"errors\"\n)\n", "import (\n\t\"strings\"\n)\n"),
    "list": ("tsconfig.json", "{\n  \"lib\": [\"ES2022\"]\n}\n", "{\n  \"lib\": [\"ES2023\"]\n}\n"),
    "choice": ("a.js", "function f(a) {\n  g(a ? 'left' : 'right');\n}\n",
        "function f(a) {\n  g(a ? 'start' : 'right');\n}\n"),
    "translation": ("lang/de/a.php", "<?php\nreturn [\n    'open' => 'Auf',\n];\n",
        "<?php\nreturn [\n    'opened' => 'Auf',\n];\n"),
    "passed switch": ("a.py", "def f(a):\n    g(a, deep=True)\n",
        "def f(a):\n    g(a, deep=False)\n"),
    "division": ("a.c", "int f(int a) {\n  return a / 2 / b;\n}\n",
        "int f(int a) {\n  return a / 3 / b;\n}\n"),
    "passed on": ("a.py", "def f(timeout):\n    g(timeout)\n", "def f(timeout):\n    h(timeout)\n"),
}  # fmt: skip


def _consequences(path: str, old: str, new: str) -> list[str]:
    references = claims(change(path, old, new))
    return [row.text for row in references if row.kind is ReferenceKind.IMPLICATION]


@pytest.mark.parametrize(("path", "old", "new", "text"), ROWS)
def test_sentence(path: str, old: str, new: str, text: str) -> None:
    assert [found.lower() for found in _consequences(path, old, new)] == [text.lower()]


@pytest.mark.parametrize(("path", "old", "new"), NOTHING.values(), ids=NOTHING)
def test_nothing(path: str, old: str, new: str) -> None:
    assert _consequences(path, old, new) == []


def test_default_of_a_parameter_is_a_quantity() -> None:
    texts = _consequences("a.py", "def f(timeout=20):\n    g()\n", "def f(timeout=10):\n    g()\n")
    assert texts == [
        "`timeout` is now `10` instead of `20`: does the slowest normal case still finish in time?"
    ]


@pytest.mark.growth
@pytest.mark.parametrize("text", ['"\\' * 140, "'\"`" * 90, "/" * 290, "(/" * 140, "1." * 140])
def test_long_lines_are_read_in_time(text: str) -> None:
    lines = "".join(f"a{index} = {text}{index}\n" for index in range(50))
    assert _consequences("a.py", lines, lines.replace("= ", "=  1")) is not None
