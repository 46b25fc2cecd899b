"""Analyzers of our own for tests: a real program that does what the text it reads says."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

from crscore.diff import parse
from crscore.static_analysis import analyzer
from crscore.static_analysis.suite import Suite

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.cache import Cache
    from crscore.records import Analysis, Diff
    from crscore.static_analysis.analyzer import Analyzer
    from crscore.static_analysis.reports import RawReport

PROGRAM = r"""
import json, os, re, sys, time

found, unread, code = [], [], 0
names = sys.argv[1:]
if names[:1] == ["--list"]:
    names = open(names[1]).read().splitlines()
for name in names:
    with open(name, encoding="utf-8", newline="") as file:
        text = file.read()
    for number, line in enumerate(text.split("\n"), 1):
        for rule, thing, end in re.findall(r"(BAD|ODD|POOR) ([^\s;]+)(?: to (\d+))?", line):
            found.append({
                "file": os.path.join(os.getcwd(), name), "line": number,
                "end": int(end or number), "rule": rule.lower(),
                "text": f"{thing} is {rule.lower()}", "level": line.count("!"),
            })
        if "PID" in line:
            found.append({"file": name, "line": number, "rule": "pid", "text": str(time.time_ns())})
        if "ENVIRON" in line:
            found.append({"file": name, "line": number, "rule": "environ",
                          "text": json.dumps(dict(os.environ), sort_keys=True)})
        if "ARGUMENTS" in line:
            found.append({"file": name, "line": number, "rule": "arguments",
                          "text": json.dumps([os.getcwd(), *sys.argv[1:]])})
        if "UNPARSED" in line:
            unread.append(name)
        if "SLEEP" in line:
            time.sleep(60)
        if "RAW" in line:
            sys.stdout.write(line.partition("RAW ")[2])
            sys.exit(1)
        if match := re.search(r"EXIT (\d+)", line):
            code = int(match[1])
print(json.dumps({"found": found, "unread": unread}))
sys.exit(code or (2 if unread else 1 if found else 0))
"""

MANIFEST = """
about = "Does what it reads."
suffixes = {suffixes}
[tool]
command = "{{python}}"
version = {version}
pattern = 'toy (\\S+)'
supported = ">=1,<2"
install = "pip install toy"
[run]
arguments = {arguments}
[exit_codes]
unparsed = [2]
[output]
format = "json"
unparsed_rules = ["syntax.*"]
[output.json]
path = "file"
findings = "found"
rule = "rule"
message = "text"
line = "line"
end_line = "end"
severity = "level"
unparsed = "unread"
[severity]
1 = "error"
2 = "note"
[limits]
seconds = 10
{more}
"""


def toy(
    folder: Path,
    more: str = "",
    *,
    name: str = "toy",
    program: str = PROGRAM,
    suffixes: tuple[str, ...] = (".py", ".txt"),
    arguments: tuple[str, ...] = ("-I", "-S", "{here}/tool.py", "{files}"),
    version: str = "print('toy 1.2.3')",
    replaced: tuple[str, str] = ("", ""),
    shipped: bool = False,
) -> Analyzer:
    """Write an analyzer's folder and read it; `replaced` changes a piece of its manifest."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "tool.py").write_text(program)
    text = MANIFEST.format(
        suffixes=list(suffixes),
        arguments=list(arguments),
        version=["-I", "-S", "-c", version],
        more=textwrap.dedent(more),
    )
    assert replaced[0] in text
    (home / "analyzer.toml").write_text(text.replace(*replaced))
    return analyzer.read_analyzer(home, shipped=shipped)


def suite(
    *analyzers: Analyzer,
    tools: Path | None = None,
    cache: Cache | None = None,
    reports: tuple[RawReport, ...] = (),
) -> Suite:
    return Suite(
        analyzers=analyzers,
        tools=tools or analyzers[0].folder.parent / "no-tools",
        path=os.environ["PATH"],
        cache=cache,
        reports=reports,
    )


def run(diff: Diff, *analyzers: Analyzer, **options: object) -> Analysis:
    return analyze(suite(*analyzers, **options), diff)[0]  # type: ignore[arg-type]


def analyze(tools: Suite, *diffs: Diff) -> tuple[Analysis, ...]:
    with tools.analyzing(diffs) as wait:
        return wait()


def added(**files: str) -> Diff:
    """A diff that adds files; `a_py` stands for `a.py`."""
    return added_files({name.replace("_", ".", 1): text for name, text in files.items()})


def added_files(files: dict[str, str]) -> Diff:
    parts = []
    for path, text in files.items():
        lines = text.removesuffix("\n").split("\n")
        parts.append(
            f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
            f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
        )
    return parse.parse_diff("".join(parts))


def finding_texts(analysis: Analysis) -> list[str]:
    return [finding.text for finding in analysis.findings]
