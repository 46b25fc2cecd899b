"""Count lines of code by room: `python benchmarks/size.py [REVISION]`.

A line counts when it holds code: blank lines, comments and docstrings, also those below fields and
constants, do not. Without a revision the working tree is read, else that commit.
"""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent


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


def sources(revision: str | None) -> dict[str, str]:
    """Read the package's modules by path."""
    if revision is None:
        modules = sorted(ROOT.glob("crscore/**/*.py"))
        return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in modules}
    names = git("ls-tree", "-r", "--name-only", revision, "crscore").splitlines()
    return {name: git("show", f"{revision}:{name}") for name in names if name.endswith(".py")}


def main() -> None:
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path, source in sources(sys.argv[1] if sys.argv[1:] else None).items():
        parts = path.split("/")[1:]
        room = "/".join(parts[:-1][:2]) or "(top level)"
        lines[room] += code_lines(source)
        files[room] += 1
    for room in sorted(lines):
        print(f"{room:24} {lines[room]:6} lines {files[room]:4} files")
    print(f"{'crscore':24} {lines.total():6} lines {files.total():4} files")


if __name__ == "__main__":
    main()
