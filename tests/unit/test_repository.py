"""Rules that hold for the repository as a whole."""

import ast
import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


@functools.cache
def tree(path: Path) -> ast.AST:
    return ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("target", ["make demo", "make demo-pr", "make test"])
def test_readme_names_the_commands_that_do_all_the_set_up(target: str) -> None:
    assert target in (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_of_the_documents_lead_somewhere() -> None:
    for page in tracked("*.md"):
        if "tests/data" in page.as_posix():
            continue
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            if not re.match(r"\w+:", link):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_files_that_the_documents_name_exist() -> None:
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in tracked()]
    pages = [ROOT / "docs" / "flow.md", *tracked("docs/design/*.md")]
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
        for name in re.findall(r"`((?:[\w.-]+/)*[\w-]+\.py)`", text):
            if name == "crscore.py":  # a stranger's file, as an example
                continue
            assert any(file.endswith(f"/{name}") for file in files), f"{page.name}: {name}"


def test_private_modules_are_used_in_their_room_alone() -> None:
    for path in tracked("crscore/**.py"):
        room = path.relative_to(ROOT).parts[1]
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "crscore."
            ):
                continue
            names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
            private = [name for name in names if name.startswith("_") and not name.endswith("__")]
            assert not private or names[1] == room, f"{path}: {private}"


VAGUE = frozenset(
    [
        "alike",
        "anything",
        "asked",
        "behind",
        "came",
        "chosen",
        "done",
        "drawn",
        "each",
        "elsewhere",
        "everything",
        "found",
        "given",
        "gone",
        "got",
        "heard",
        "held",
        "here",
        "hers",
        "his",
        "how",
        "it",
        "its",
        "kept",
        "known",
        "look",
        "looks",
        "made",
        "meant",
        "mine",
        "much",
        "named",
        "nothing",
        "one",
        "ones",
        "other",
        "others",
        "ours",
        "own",
        "put",
        "said",
        "same",
        "saw",
        "say",
        "says",
        "seen",
        "several",
        "shown",
        "some",
        "something",
        "spoke",
        "stuff",
        "taken",
        "tell",
        "tells",
        "theirs",
        "there",
        "thing",
        "things",
        "told",
        "two",
        "wanted",
        "was",
        "were",
        "what",
        "whatever",
        "where",
        "who",
        "why",
    ]
)
VAGUE_BUT_MEANT = {
    "crscore/audit/store/database.py: put": "store interface: get and put",
    "crscore/cache.py: put": "cache interface: get and put",
    "crscore/bench/results.py: why": "reason of a decision, in the JSON",
    "crscore/readers/answers.py: why": "field of the guide",
    "crscore/readers/requests.py: shown": "comment as the model sees it",
    "crscore/records.py: why": "field of the guide",
    "crscore/records.py: ELSEWHERE": "subject of a sentence, next to CLAIM, CHANGE, SURROUNDINGS",
    "crscore/records.py: NOTHING": "effect of a suggestion that changes nothing",
    "crscore/pull_request/overview.py: says": "what a remark says, next to the fact",
    "crscore/records.py: says": "what a remark says, next to the fact",
    "crscore/records.py: OTHER": "kind of a sentence, next to REQUEST and the others",
}


def bindings(tree: ast.AST) -> Iterator[str]:
    """Yield the name of every variable, parameter, function, class and alias."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.alias(asname=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def test_names_say_what_they_hold() -> None:
    vague = {
        f"{path.relative_to(ROOT).as_posix()}: {name}"
        for path in tracked("crscore/**.py")
        for name in bindings(tree(path))
        if name.strip("_").lower() in VAGUE
    }
    assert vague == VAGUE_BUT_MEANT.keys()


def test_example_is_the_one_the_readme_shows() -> None:
    shipped = {path.relative_to(ROOT / "examples").parts[0] for path in tracked("examples")}
    files = {"change.diff", "review.md"}
    files |= {"emit_evaluation.py", "log_to_mlflow.py", "promptfoo_assert.py"}
    assert shipped == files | {"bench", "source", "workflows"}


def test_tests_can_be_interrupted() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_tests_can_be_interrupted_whatever_the_shell_does() -> None:
    # A background job of a shell begins with the interrupt ignored.
    program = "import signal, tests.conftest; print(signal.getsignal(signal.SIGINT).__name__)"
    command = f"trap '' INT; exec {sys.executable} -c '{program}'"
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "default_int_handler\n", done.stderr
