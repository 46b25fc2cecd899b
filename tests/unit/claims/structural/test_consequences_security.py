"""What a reviewer should ask about unsafe code, and code that brings no question."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

PYTHON = "def load(a):\n    first(a)\n{}    return a\n"
SCRIPT = "function load(a) {{\n  first(a);\n{}  return a;\n}}\n"
GO = "func load(a int) int {{\n\tfirst(a)\n{}\treturn a\n}}\n"
JAVA = "class Store {{\n  int load(int a) {{\n    first(a);\n{}    return a;\n  }}\n}}\n"
PHP = "<?php\nfunction load($a) {{\n  first($a);\n{}  return $a;\n}}\n"
RUBY = "def load(a)\n  first(a)\n{}  a\nend\n"

# Situation -> path, frame, line, what is shown, question
ROWS: dict[str, tuple[str, str, str, str, str]] = {
    "certificate, Python": ("a.py", PYTHON, "    get(a, verify=False)\n", "get(a, verify=False)",
        "switches a check of certificates or signatures off: is it limited to development?"),
    "certificate, Go": ("a.go", GO, "\tc := tls.Config{InsecureSkipVerify: true}\n",
        "c = tls.Config{InsecureSkipVerify: true}",
        "switches a check of certificates or signatures off: is it limited to development?"),
    "certificate, TypeScript": ("a.ts", SCRIPT, "  get(a, { rejectUnauthorized: false });\n",
        "get(a, { rejectUnauthorized: false })",
        "switches a check of certificates or signatures off: is it limited to development?"),
    "pickle": ("a.py", PYTHON, "    b = pickle.loads(a)\n", "pickle.loads(a)",
        "can run code that its input contains: who can write that input?"),
    "streams of objects": ("Store.java", JAVA, "    read(new ObjectInputStream(a));\n",
        "ObjectInputStream(a)", "can run code that its input contains: who can write that input?"),
    "unserialize": ("a.php", PHP, "  $b = unserialize($a);\n", "unserialize($a)",
        "can run code that its input contains: who can write that input?"),
    "shell, TypeScript": ("a.ts", SCRIPT, "  execSync(`ls ${a}`);\n", "execSync('ls ${a}')",
        "builds a shell command: can one of its parts contain shell syntax?"),
    "shell, Ruby": ("a.rb", RUBY, '  system("ls #{a}")\n', 'system("ls #{a}")',
        "builds a shell command: can one of its parts contain shell syntax?"),
    "shell, Python": ("a.py", PYTHON, '    subprocess.run(f"ls {a}", shell=True)\n',
        'subprocess.run(f"ls {a}", shell=True)',
        "builds a shell command: can one of its parts contain shell syntax?"),
    "HTML": ("a.js", SCRIPT, "  item.innerHTML = a;\n", "item.innerHTML = a",
        "puts text into HTML as it is: can it contain what a user wrote?"),
    "origins": ("a.py", PYTHON, '    add(allow_origins=["*"])\n', 'add(allow_origins=["*"])',
        "allows requests from any web site: is this meant for production?"),
    "mode": ("a.go", GO, "\tos.WriteFile(a, b, 0777)\n", "os.WriteFile(a, b, 0777)",
        "asks for the right of every user to write: is the owner's enough?"),
    "query": ("a.py", PYTHON, '    run(f"SELECT b FROM c WHERE d = {a}")\n',
        'f"SELECT b FROM c WHERE d = {a}"',
        "builds a query from values: can one of them come from a request?"),
    "random": ("a.js", SCRIPT, "  token = Math.random();\n", "token = Math.random()",
        "uses predictable random numbers: does security depend on it?"),
}  # fmt: skip

# Situation -> path, frame, line
NOTHING: dict[str, tuple[str, str, str]] = {
    "in a test": ("tests/test_a.py", PYTHON, "    get(a, verify=False)\n"),
    "in an example": ("examples/a.py", PYTHON, "    get(a, verify=False)\n"),
    "in a comment": ("a.py", PYTHON, "    # get(a, verify=False)\n"),
    "verified": ("a.py", PYTHON, "    get(a, verify=True)\n"),
    "safe loader": ("a.py", PYTHON, "    yaml.load(a, Loader=SafeLoader)\n"),
    "fixed command": ("a.ts", SCRIPT, "  execSync('ls');\n"),
    "pattern that is applied": ("a.ts", SCRIPT, "  pattern.exec(`a ${a}`);\n"),
    "fixed HTML": ("a.js", SCRIPT, "  item.innerHTML = '<b>a</b>';\n"),
    "sanitized HTML": ("a.js", SCRIPT, "  item.innerHTML = sanitize(a);\n"),
    "fixed query": ("a.py", PYTHON, '    run("SELECT b FROM c WHERE d = ?", a)\n'),
    "text that is no query": ("a.py", PYTHON, '    run(f"Select {a} from the list")\n'),
    "length of a secret": ("a.py", PYTHON, "    logging.info(len(a.password))\n"),
    "word for a secret": ("a.py", PYTHON, '    logging.info("no password given")\n'),
    "whether there is a secret": ("a.py", PYTHON, "    logging.info(password is None)\n"),
    "count of tokens": ("a.py", PYTHON, "    logging.info(max_tokens)\n"),
}  # fmt: skip

SECRETS = {
    "a.py": (PYTHON, '    logging.info(f"for {a.password}")\n', "logging.info", "a.password"),
    "a.ts": (SCRIPT, "  console.log(`for ${a.apiKey}`);\n", "console.log", "a.apiKey"),
    "a.go": (GO, '\tlog.Printf("%s", accessToken)\n', "log.Printf", "accessToken"),
    "Store.java": (JAVA, '    log.warn("{}", appSecret);\n', "log.warn", "appSecret"),
    "a.rb": (RUBY, '  logger.info("for #{api_key}")\n', "logger.info", "api_key"),
}


def _implications(path: str, old: str, new: str) -> list[str]:
    references = claims(change(path, old, new))
    return [claim.text for claim in references if claim.kind is ReferenceKind.IMPLICATION]


@pytest.mark.parametrize("situation", ROWS)
def test_unsafe_code_brings_a_question(situation: str) -> None:
    path, frame, line, shown, question = ROWS[situation]
    texts = _implications(path, frame.format(""), frame.format(line))
    assert any(text.startswith(f"`{shown}` in ") and text.endswith(question) for text in texts)


@pytest.mark.parametrize("path", SECRETS)
def test_a_logged_secret_brings_a_question(path: str) -> None:
    frame, line, call, secret = SECRETS[path]
    texts = _implications(path, frame.format(""), frame.format(line))
    assert any(
        text.startswith(f"`{call}` in ")
        and text.endswith(f" writes `{secret}` to the log: should it be masked?")
        for text in texts
    )


@pytest.mark.parametrize("situation", NOTHING)
def test_safe_code_brings_none(situation: str) -> None:
    path, frame, line = NOTHING[situation]
    assert _implications(path, frame.format(""), frame.format(line)) == []


def test_code_that_only_moved_brings_none() -> None:
    frame = "def load(a):\n{}\n\ndef store(a):\n{}"
    line, other = "    b(pickle.loads(a))\n", "    c(a)\n"
    assert _implications("a.py", frame.format(line, other), frame.format(other, line + other)) == []


def test_the_sentence_names_the_unit() -> None:
    line = "    get(a, verify=False)\n"
    assert _implications("a.py", PYTHON.format(""), PYTHON.format(line)) == [
        "`get(a, verify=False)` in the function `load` switches a check of certificates or "
        "signatures off: is it limited to development?"
    ]
