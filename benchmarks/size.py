"""Count lines of code by room (a package of `crscore`), and classes, functions and comments.

python benchmarks/size.py [REVISION]    # default: the working tree
python benchmarks/size.py --lower       # lower the ceilings in size.toml to the present numbers

Blank lines, comments and docstrings, also those below fields and constants, are not lines of code.
Comments, except those for tools, are counted per 100 lines of any kind.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
CEILINGS = Path(__file__).parent / "size.toml"
TOP = "top"
RESEARCH = "research"


def code_lines(source: str) -> int:
    """Count the lines of one module that hold code."""
    documentation = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt | ast.mod)
        for statement in getattr(node, "body", ())
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        for line in range(statement.lineno, (statement.end_lineno or 0) + 1)
    }
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in documentation
        for number, line in enumerate(source.splitlines(), 1)
    )


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def sources(revision: str | None = None) -> dict[str, str]:
    """Return path -> text of the modules of the package and of research, without its tests."""
    if revision is None:
        paths = [path for top in ("crscore", RESEARCH) for path in (ROOT / top).glob("**/*.py")]
        found = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    else:
        listed = git("ls-tree", "-r", "--name-only", revision, "crscore", RESEARCH).splitlines()
        found = {name: git("show", f"{revision}:{name}") for name in listed if name.endswith(".py")}
    tests = f"{RESEARCH}/tests/"
    return {name: found[name] for name in sorted(found) if not name.startswith(tests)}


def room(path: str) -> str:
    """Return the room of a module: the package in `crscore`, `top` for none, or `research`."""
    top, *parts = path.split("/")
    if top == RESEARCH:
        return RESEARCH
    return parts[0] if len(parts) > 1 else TOP


def lines_by_room(modules: dict[str, str]) -> Counter[str]:
    lines: Counter[str] = Counter()
    for path, source in modules.items():
        lines[room(path)] += code_lines(source)
    return lines


def describe(modules: dict[str, str]) -> list[str]:
    """Return lines of text about the package's classes, functions and comments."""
    lines = sum(map(code_lines, modules.values()))
    nodes = [node for source in modules.values() for node in ast.walk(ast.parse(source))]
    functions = [
        node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    private = sum(name.startswith("_") and not name.startswith("__") for name in functions)
    classes = sum(isinstance(node, ast.ClassDef) for node in nodes)
    comments = sum(
        token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:"))
        for source in modules.values()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
    )
    all_lines = sum(len(source.splitlines()) for source in modules.values())
    packages = {path.rpartition("/")[0] for path in modules}
    return [
        f"packages                 {len(packages)}",
        f"deepest below crscore    {max(package.count('/') for package in packages)}",
        f"classes per 1,000 lines  {1000 * classes / lines:.1f}",
        f"private functions        {100 * private / len(functions):.0f} % of {len(functions)}",
        f"comments per 100 lines   {100 * comments / all_lines:.1f}",
    ]


def lower() -> None:
    """Lower each ceiling in size.toml to the present number of lines; keep the comments."""
    lines = lines_by_room(sources())

    def lowered(match: re.Match[str]) -> str:
        return match[1] + str(min(int(match[3]), lines.get(match[2], int(match[3]))))

    text = CEILINGS.read_text("utf-8")
    CEILINGS.write_text(re.sub(r"(?m)^((\w+) = )(\d+)", lowered, text), "utf-8")


def main() -> None:
    if sys.argv[1:] == ["--lower"]:
        lower()
        return
    modules = sources(sys.argv[1] if sys.argv[1:] else None)
    package = {path: source for path, source in modules.items() if path.startswith("crscore/")}
    lines, files = lines_by_room(modules), Counter(map(room, modules))
    ceilings = tomllib.loads(CEILINGS.read_text("utf-8"))["rooms"]
    for name in sorted(lines):
        ceiling = f" of at most {ceilings[name]:6}" if name in ceilings else ""
        print(f"{name:24} {lines[name]:6} lines {files[name]:4} files{ceiling}")
    print(*describe(package), sep="\n")
    total = lines.total() - lines[RESEARCH]
    print(f"{'crscore':24} {total:6} lines {len(package):4} files")


if __name__ == "__main__":
    main()
