"""Count lines of code by room: `python benchmarks/size.py [REVISION]`.

A line counts when it holds code: blank lines, comments and the docstrings of modules, classes and
functions do not. Without a revision the working tree is read, else that commit.
"""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent


def code_lines(source: str) -> int:
    """Count the lines of one module that hold code."""
    documented = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in documented
        for number, line in enumerate(source.splitlines(), 1)
    )


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def sources(revision: str | None) -> dict[str, str]:
    """Read the package's modules by path."""
    if revision is None:
        found = sorted(ROOT.glob("crscore/**/*.py"))
        return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in found}
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
    inner = sum(n for room, n in lines.items() if room.split("/")[0] in {"claims", "syntax"})
    print(f"{'claims and syntax':24} {inner:6} lines")
    print(f"{'everything else':24} {lines.total() - inner:6} lines")
    print(f"{'crscore':24} {lines.total():6} lines {files.total():4} files")


if __name__ == "__main__":
    main()
