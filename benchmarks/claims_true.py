r"""Check claims against both versions of the files, without a parser and without the generator.

    python benchmarks/claims_true.py COMMITS [--repositories a,b] [--no-files] [--show 40]
        [--kinds renamed,calls] [--claims structural]

COMMITS is a file of commits, one JSON object a line, with repository, commit, diff and files. Every
claim is one English sentence. Its names and its quoted code are looked up in the old and in the new
version by words, lines and regular expressions; declarations are found by a scanner of brackets,
indentation and declaring lines. A sentence that says several things holds when all of them do. With
--no-files the generator sees the diff alone; the check still reads the whole files.

Printed are the number of claims, of those that can be checked, and the share of these that hold; the
same by kind of sentence, for renames alone, and by repository; with --show that many of those that
do not hold, each with the reason.
"""

# ruff: noqa: ARG001, C901, E501, SIM102 - one table of patterns; every check has the same arguments
from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crscore import plugins
from crscore.diff import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Region = list[tuple[int, int]]
"""Inclusive ranges of lines."""

# ------------------------------------------------------------------------------------- languages

FAMILIES = {
    "py": "python", "pyi": "python", "go": "go", "java": "java", "kt": "java", "cs": "cs",
    "js": "js", "jsx": "js", "mjs": "js", "cjs": "js", "ts": "js", "tsx": "js", "mts": "js",
    "php": "php", "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "c": "c", "h": "c", "cc": "c",
    "cpp": "c", "cxx": "c", "hpp": "c", "hh": "c", "m": "c",
}  # fmt: skip
NEVER_NAMES = frozenset(
    [
        "if",
        "else",
        "elif",
        "for",
        "while",
        "switch",
        "case",
        "catch",
        "try",
        "return",
        "do",
        "typeof",
        "sizeof",
        "throw",
        "throws",
        "finally",
        "static",
        "const",
        "void",
        "public",
        "private",
        "protected",
        "abstract",
        "final",
        "async",
        "await",
        "yield",
        "import",
        "package",
        "using",
        "the",
        "an",
        "of",
        "to",
        "and",
        "or",
        "not",
        "this",
        "self",
    ]
)
"""Keywords and small words that no declaration is named."""
CONTROL = frozenset(
    [
        "if",
        "else",
        "elif",
        "for",
        "foreach",
        "while",
        "switch",
        "case",
        "catch",
        "try",
        "return",
        "do",
        "using",
        "lock",
        "fixed",
        "synchronized",
        "new",
        "throw",
        "when",
        "until",
        "unless",
        "select",
        "match",
        "defer",
        "go",
        "with",
        "sizeof",
        "typeof",
        "await",
        "yield",
        "function",
        "defined",
        "elseif",
        "and",
        "or",
        "not",
        "in",
        "super",
        "this",
        "assert",
    ]
)
"""Words before a parenthesis that declare nothing."""


def family(path: str) -> str:
    return FAMILIES.get(path.rpartition(".")[2].lower(), "")


def mask(source: str, kind: str) -> tuple[str, str]:
    """Return a text with its comments blanked, and with its comments and strings blanked.

    Both are as long as the text and have its line ends. Code inside of interpolated strings stays.
    """
    code, bare = list(source), list(source)
    size = len(source)

    def blank(low: int, high: int, *targets: list[str]) -> None:
        for target in targets:
            for at in range(low, min(high, size)):
                if target[at] not in "\n\r":
                    target[at] = " "

    def string(at: int, opening: int, end: str, *, lines: bool, escape: str, hole: str) -> int:
        """Blank a string's inside; return the place after it, or 0 if it does not end."""
        inside = at + opening
        place = inside
        holes: list[tuple[int, int]] = []
        while place < size:
            if escape and source.startswith(escape, place):
                place += len(escape) + (1 if escape == "\\" else 0)
                continue
            if source.startswith(end, place):
                start = inside
                for low, high in holes:
                    blank(start, low, bare)
                    start = high
                blank(start, place, bare)
                return place + len(end)
            if source[place] == "\n" and not lines:
                return 0
            if hole and source.startswith(hole, place):
                if hole == "{" and source.startswith("{{", place):
                    place += 2
                    continue
                depth, low = 1, place + len(hole)
                place = low
                while place < size and depth:
                    depth += (source[place] == "{") - (source[place] == "}")
                    place += 1
                holes.append((low, place - 1))
                continue
            place += 1
        return 0

    at = 0
    while at < size:
        char = source[at]
        two = source[at : at + 2]
        if (kind in {"python", "ruby"} and char == "#") or (
            kind == "php" and char == "#" and two != "#["
        ):
            if char == "#":
                end = source.find("\n", at)
                end = size if end < 0 else end
                blank(at, end, code, bare)
                at = end
                continue
        if kind == "ruby" and source.startswith("=begin", at) and source[at - 1 : at] in {"", "\n"}:
            end = source.find("\n=end", at)
            end = size if end < 0 else end + 5
            blank(at, end, code, bare)
            at = end
            continue
        if kind == "ruby" and (found := re.match(r"<<[~-](['\"]?)([A-Za-z_]{2,})\1", source[at:])):
            low = source.find("\n", at)
            ending = re.compile(rf"^[ \t]*{found[2]}\b", re.MULTILINE).search(source, low + 1)
            if low > 0 and ending:
                blank(low + 1, ending.end(), bare)
                rest = source[at + found.end() : low]
                at = ending.end() if not re.search(r"['\"]", rest) else at + found.end()
                continue
        if kind not in {"python", "ruby", ""}:
            if two == "//":
                end = source.find("\n", at)
                end = size if end < 0 else end
                blank(at, end, code, bare)
                at = end
                continue
            if two == "/*":
                end = source.find("*/", at + 2)
                end = size if end < 0 else end + 2
                blank(at, end, code, bare)
                at = end
                continue
        if (
            kind == "ruby"
            and char == "/"
            and re.search(
                r"(?:[(,=~!|&\[{]|\b(?:if|unless|when|match|split|and|or))\s*$",
                source[max(0, at - 20) : at],
            )
        ):
            found = re.match(r"/(?:\\.|#\{[^}]*\}|[^/\\\n])+/\w*", source[at:])
            if found:
                blank(at + 1, at + found.end() - 1, bare)
                at += found.end()
                continue
        if kind == "js" and char == "/":
            before = source[max(0, at - 40) : at].rstrip()
            word = re.search(r"(\w+)$", before)
            if (
                not before
                or before[-1] in "(,=:[!&|?{};+~^%<>"
                or (word and word[1] in {"return", "typeof", "case"})
            ):
                found = re.match(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*", source[at:])
                if found:
                    blank(at + 1, at + found.end() - 1, bare)
                    at += found.end()
                    continue
        if char in "\"'`" and kind:
            before = source[max(0, at - 3) : at].lower()
            raw = three = ""
            if source[at : at + 3] in {'"""', "'''"} and kind in {"python", "java", "cs"}:
                three = source[at : at + 3]
            if kind == "python":
                prefix = re.search(r"(?<!\w)[rbfu]{1,2}$", source[max(0, at - 3) : at].lower())
                hole = "{" if prefix and "f" in prefix[0] else ""
                after = string(
                    at, 3 if three else 1, three or char, lines=bool(three), escape="\\", hole=hole
                )
            elif kind == "cs" and char == '"' and not three:
                verbatim = "@" in before[-2:]
                after = string(
                    at, 1, '"', lines=verbatim, escape='""' if verbatim else "\\",
                    hole="{" if "$" in before[-2:] else "",
                )  # fmt: skip
            elif three:
                after = string(at, 3, three, lines=True, escape="\\", hole="")
            elif kind == "c" and char == "'" and re.search(r"[0-9a-fA-F]$", before):
                after = at + 1
            elif kind == "c" and char == '"' and before.endswith("r"):
                found = re.match(r'"([^(\s]{0,16})\(', source[at:])
                raw = f'){found[1]}"' if found else ""
                after = string(
                    at, 1, raw or '"', lines=bool(raw), escape="" if raw else "\\", hole=""
                )
            elif char == "`":
                lines = kind in {"js", "go"}
                after = (
                    string(at, 1, "`", lines=True, escape="" if kind == "go" else "\\",
                           hole="${" if kind == "js" else "")
                    if lines
                    else at + 1
                )  # fmt: skip
            else:
                hole = "#{" if kind == "ruby" and char == '"' else ""
                after = string(at, 1, char, lines=kind == "php", escape="\\", hole=hole)
            at = after or at + 1
            continue
        at += 1
    return "".join(code), "".join(bare)


# ---------------------------------------------------------------------------------- declarations


class Declared(NamedTuple):
    """One declaration."""

    name: str
    outer: tuple[str, ...]
    """Names around it, outermost first, without namespaces."""
    line: int
    """Line of its name."""
    end: int
    """Its last line."""
    body: bool
    """False for a prototype."""
    top: int = 0
    """Line where its statement begins, with its annotations; 0 if unknown."""


_TYPE_WORD = re.compile(
    r"\b(?:class|struct|interface|enum|record|trait|union|module)(?:\s+(?:class|struct))?\s+"
    r"(?:\[\[\w+\]\]\s*)?(?:[A-Z_]{4,}\s+)?([A-Za-z_$][\w$]*(?:::\w+)*)\s*(?:final\s*)?"
    r"(<[^{}]*>)?\s*(?:\([^{}]*\))?\s*"
    r"(?:(?:extends|implements|permits|where|:|<)[^{}]*)?$"
)
_GENERIC = r"<(?:[^<>()]|<(?:[^<>()]|<[^<>()]*>)*>)*>"


def declarations(source: str, bare: str, kind: str) -> list[Declared]:
    """Return what a text declares."""
    if kind == "python":
        return list(
            _by_indent(bare.split("\n"), re.compile(r"^(\s*)(?:async\s+)?(?:def|class)\s+(\w+)"))
        )
    if kind == "ruby":
        head = re.compile(
            r"^(\s*)(?:private\s+|protected\s+|public\s+|module_function\s+)?"
            r"(?:def|class|module)\s+((?:self\.)?[\w:]+[?!=]?)"
        )
        return list(_by_indent(bare.split("\n"), head))
    if kind:
        return _by_braces(source, bare, kind)
    return []


def _by_indent(lines: list[str], head: re.Pattern[str]) -> Iterator[Declared]:
    stack: list[tuple[int, str]] = []
    depths, open_brackets = [], 0
    for line in lines:
        inside = open_brackets > 0 or not line.strip()
        depths.append((-2 if line.strip() else -1) if inside else len(line) - len(line.lstrip()))
        open_brackets += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        open_brackets = max(0, open_brackets)
        if (
            re.match(r"\s*(?:async\s+)?(?:def|class|module)\s", line)
            and depths[-1] < 0
            and line.strip()
        ):
            depths[-1], open_brackets = (
                len(line) - len(line.lstrip()),
                max(0, line.count("(") - line.count(")")),
            )
    for at, line in enumerate(lines):
        if depths[at] < 0:
            continue
        found = head.match(line)
        if not found:
            continue
        indent = depths[at]
        while stack and stack[-1][0] >= indent:
            stack.pop()
        # A head may take several lines, whose last one begins with the closing bracket.
        end = at
        depth, last = 0, at
        for number in range(at, len(lines)):
            depth += sum(map(lines[number].count, "([{")) - sum(map(lines[number].count, ")]}"))
            last = number
            if depth <= 0:
                break
        for number in range(last + 1, len(lines)):
            if depths[number] == -2:
                end = number
            elif depths[number] >= 0:
                if depths[number] <= indent:
                    if lines[number].strip() == "end":
                        end = number
                    break
                end = number
        name = found[2].rpartition("::")[2]
        yield Declared(name, tuple(one for _, one in stack), at + 1, max(end, last) + 1, True)
        stack.append((indent, name))


def _by_braces(source: str, bare: str, kind: str) -> list[Declared]:
    starts = [0, *(match.end() for match in re.finditer("\n", bare))]

    def line_of(place: int) -> int:
        return bisect_right(starts, place)

    if kind == "c":
        # Directives end at their line's end and open no block.
        lines = bare.split("\n")
        inside = False
        for at, line in enumerate(lines):
            if inside or re.match(r"\s*#", line):
                inside = line.endswith("\\")
                lines[at] = " " * len(line)
        text = "\n".join(lines)
    else:
        text = bare
    found: list[Declared] = []
    stack: list[
        tuple[str, int, int, bool, int]
    ] = []  # name, index in found, paren depth, type?, begin
    begin, parens = 0, 0
    saved: list[tuple[int, int, list[tuple[int, int]]]] = []
    holes: list[tuple[int, int]] = []
    """Blocks inside of the head that is being read."""

    def head_until(at: int) -> str:
        out, start = [], begin
        for low, high in holes:
            out += [text[start:low], re.sub(r"[^\n]", " ", text[low:high])]
            start = high
        return "".join(out) + text[start:at]

    def outer() -> tuple[str, ...]:
        return tuple(name for name, _, _, _, _ in stack if name)

    def add(name: str, place: int, *, body: bool, around: str = "") -> int:
        end = line_of(place)
        names = (*outer(), *filter(None, around.split("::")))
        first = begin + len(text[begin:place]) - len(text[begin:place].lstrip())
        found.append(Declared(name, names, line_of(place), end, body, line_of(first)))
        return len(found) - 1

    for at, char in enumerate(text):
        if char in "([":
            parens += 1
        elif char in ")]":
            parens = max(0, parens - 1)
        elif char == "{":
            head = head_until(at)
            name, index, is_type = "", -1, False
            told = _declares(source, head, begin, kind, stack)
            if kind == "js" and re.search(r"\)\s*:(?:[^=;]*[|&<])?\s*$", head):
                told, index = None, -2  # A type that is written as an object; the head goes on.
            if told is not None:
                name, place, is_type, around = told
                if name:
                    index = add(name, place, body=True, around=around)
                    name = "::".join(filter(None, (around, name)))
            stack.append((name, index, parens, is_type, begin))
            saved.append((parens, at, holes))
            parens, begin, holes = 0, at + 1, []
        elif char == "}":
            opened, index = 0, -1
            if kind == "c" and text[at - 1 : at] == "\n":
                # Both branches of an #if may open a block; this one ends at the margin all the same.
                while len(stack) > 1 and (stack[-2][0] or not stack[-2][3]):
                    stack.pop()
                    saved.pop()
            if stack:
                _, index, _, is_type, before = stack.pop()
                if index >= 0:
                    found[index] = found[index]._replace(end=line_of(at))
                parens, opened, holes = saved.pop()
            if parens or index == -2:
                # The statement goes on: an object or a function among arguments or parameters.
                begin = before
                holes.append((opened + 1, at))
            else:
                begin, holes = at + 1, []
        elif char == ";" or (
            char == "," and kind == "js" and not parens
            and not re.search(r"\b(?:class|interface)\b|<[^<>=]*$", text[begin:at])
        ):  # fmt: skip
            if not parens:
                head = head_until(at)
                if char == ";" or "=>" in head:
                    told = _declares(source, head, begin, kind, stack, body=False)
                    if told is not None and told[0]:
                        index = add(told[0], told[1], body=False, around=told[3])
                        found[index] = found[index]._replace(end=line_of(at))
                begin, holes = at + 1, []
        elif char == "\n" and kind == "go" and not parens:
            head = text[begin:at]
            if not stack or not stack[-1][3]:
                found_type = re.match(r"\s*type\s+(\w+)\s+\S", head)
                if found_type:
                    add(found_type[1], begin + found_type.start(1), body=True)
            else:
                method = re.match(r"\s*(\w+)\(", head)
                if method:
                    add(method[1], begin + method.start(1), body=False)
            begin, holes = at + 1, []
    if kind == "c":
        for macro in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", bare, re.MULTILINE):
            line = end = line_of(macro.start(1))
            lines = bare.split("\n")
            while end < len(lines) and lines[end - 1].endswith("\\"):
                end += 1
            found.append(Declared(macro[1], (), line, end, True))
        tests = r"\b(?:TYPED_)?TEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)"
        for test in re.finditer(tests, bare):
            line = line_of(test.start())
            end = next((one.end for one in found if one.line == line and one.body), line)
            found.append(Declared(test[2], (test[1],), line, end, True))
    if kind == "js":
        for alias in re.finditer(
            r"^\s*(?:export\s+)?type\s+(\w+)\s*(?:<[^=]*>)?\s*=", bare, re.MULTILINE
        ):
            line = line_of(alias.start(1))
            found.append(Declared(alias[1], (), line, line, True))
    return found


def _declares(
    source: str, head: str, begin: int, kind: str, stack: list, *, body: bool = True
) -> tuple[str, int, bool, str] | None:
    """Return name, place, whether it is a type, and a qualifier, of what a head declares."""
    if not head.strip():
        return None
    plain = re.sub(r"\[[^\]]*\]", lambda one: " " * len(one[0]), head) if kind == "cs" else head
    if kind in {"c", "cs", "php"} and re.search(
        r"(?:^|[\s;])(?:inline\s+)?namespace\b[^()]*$", plain
    ):
        return ("", 0, True, "")
    if kind == "go":
        found = re.search(
            r"\bfunc\s+(?:\(\s*(?:\w+\s+)?\*?(\w+)(?:\[[^\]]*\])?\s*\)\s*)?(\w+)\s*[\[(]", plain
        )
        if found:
            return found[2], begin + found.start(2), False, found[1] or ""
        found = re.search(
            r"(?:\btype\s+|^\s*)(\w+)(?:\[[^\]]*\])?\s+(?:struct|interface)\s*$", plain
        )
        if found:
            return found[1], begin + found.start(1), True, ""
        return None
    if kind in {"java", "js"}:
        plain = re.sub(
            r"@(?!interface\b)\w+(?:\.\w+)*(?:[ \t]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?",
            lambda one: re.sub(r"[^\n]", " ", one[0]),
            plain,
        )
    found = _TYPE_WORD.search(plain)
    if found and body and not re.search(r"=(?!=)[^<>]*$", plain[: found.start()]):
        if kind != "c" or not re.search(r"\)\s*(?:const|noexcept)?\s*$", plain[: found.end()]):
            name = found[1] + (re.sub(r"\s", "", found[2]) if found[2] and kind == "c" else "")
            return name, begin + found.start(1), True, ""
    if kind == "js":
        if body:
            opening = next(reversed(list(_test_heads(plain))), None)
            if opening is not None:
                title = re.match(
                    r"\s*(['\"`])((?:\\.|(?!\1).)*)\1", source[begin + opening :], re.DOTALL
                )
                if title:
                    place = begin + opening + title.start(2)
                    return title[2], place, True, ""
        found = None
        for pattern in (
            r"\bfunction\s*\*?\s*([\w$]+)\s*(?:<[^(]*>)?\(",
            r"([\w$]+)\s*(?::[^=]*)?=\s*(?:[\w.]+\()*\s*(?:async\s*)?(?:function\s*\*?\s*[\w$]*\s*\(|\([^=]*(?:=[^>=][^=]*)*=>|[\w$]+\s*=>|<\w[^(]*>\()",
            r"([\w$]+)\s*:\s*(?:async\s+)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)",
        ):
            found = next(reversed(list(re.finditer(pattern, plain))), None)
            if found:
                return found[1], begin + found.start(1), False, ""
        found = re.search(
            r"(?:^|[\s*])(?:static\s+|async\s+|get\s+|set\s+|public\s+|private\s+|protected\s+|readonly\s+|override\s+|abstract\s+)*"
            r"(#?[\w$]+)\s*(?:<[^(]*>)?\((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*\)\s*(?::\s*[^=;]+)?$",
            plain,
        )
        if found and found[1] not in CONTROL and (body or (stack and stack[-1][3])):
            if body or re.search(r"\)\s*:", plain):
                before = plain[: found.start(1)]
                if not re.search(r"[.=(,?&|]\s*$|\b(?:new|return|await)\s+$", before):
                    return found[1], begin + found.start(1), False, ""
        return None
    # C, C++, C#, Java, PHP: modifiers, a type, a name, parameters.
    plain = re.sub(
        r"^\s*(?:(?:public|private|protected)\s*:(?!:))+", lambda one: " " * len(one[0]), plain
    )
    plain = re.sub(
        r"@\w+(?:\.\w+)*(?:\s*\((?:[^()]|\([^()]*\))*\))?", lambda one: " " * len(one[0]), plain
    )
    if kind == "php":
        found = re.search(r"\bfunction\s+&?\s*(\w+)\s*\(", plain)
        return (found[1], begin + found.start(1), False, "") if found else None
    if kind == "c":
        plain = re.sub(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>", lambda one: " " * len(one[0]), plain)
        plain = re.sub(r"\b(?:__attribute__|alignas|noexcept|decltype|__declspec)\s*\(\(?[^()]*\)?\)",
                       lambda one: " " * len(one[0]), plain)  # fmt: skip
    found = re.search(
        rf"((?:[A-Za-z_]\w*(?:{_GENERIC})?\s*(?:::|\.)\s*)*)(~?[A-Za-z_]\w*|operator\s*[^\s\w(]+)\s*"
        rf"(?:{_GENERIC})?\s*\(",
        plain,
    )
    if found is None:
        if (kind == "cs" and body) or "=>" in plain:
            found = re.search(
                r"^\s*(?:[\w<>\[\]?,.]+\s+)+((?:\w+\.)*)(\w+)\s*(?:=>.*)?$", plain, re.DOTALL
            )
            if found and found[2] not in CONTROL and "=" not in plain[: found.start(2)]:
                words = plain[: found.start(2)].split()
                if words and not CONTROL & set(words):
                    return found[2], begin + found.start(2), False, ""
        return None
    name, place = found[2], found.start(2)
    before = re.sub(r"(?<=[\w>])(\s*[&*]+\s*)$", " ", plain[: found.start()])
    if name in CONTROL or name in {"public", "private", "protected"}:
        return None
    words = re.findall(r"[\w]+", before)
    if CONTROL & set(words) - {"new"} or re.search(
        r"[=+|&?({,]\s*$|=(?!=)|->|\b(?:new|delegate)\s+$", re.sub(r"\boperator\S*", "", before)
    ):
        return None
    inside = bool(stack) and not stack[-1][3]
    if kind == "c" and stack and stack[0][0] == "" and not stack[-1][0]:
        inside = bool(stack) and not stack[-1][3] and stack[-1][1] >= 0
    if not body:
        if "=>" not in plain and (inside or not words):
            return None
        if not words:
            return None
    elif not words and kind in {"cs", "java"}:
        # A constructor without a modifier, or a call with a block.
        if not (stack and stack[-1][0] == name):
            return None
    if body and inside and kind in {"java"} and not words:
        return None
    around = re.sub(r"\s|<[^<>]*>", "", found[1]).rstrip(":.") if kind == "c" else ""
    return name, begin + place, False, around


def _test_heads(head: str) -> Iterator[int]:
    for found in re.finditer(
        r"\b(?:describe|it|test|context|suite|specify|scenario)(?:\.\w+(?:\([^()]*\))?)*\s*\(", head
    ):
        rest = head[found.end() :]
        if rest.count(")") <= rest.count("("):
            yield found.end()


# ------------------------------------------------------------------------------------------ text


def squeeze(code: str) -> str:
    return re.sub(r"\s+", "", code.replace("`", "'"))


def words_of(text: str) -> list[str]:
    return re.findall(r"[\w$]+", text)


@dataclass
class Text:
    """One version of a file."""

    path: str
    source: str
    changed: set[int] = field(default_factory=set)
    """Numbers of its changed lines."""

    @cached_property
    def kind(self) -> str:
        return family(self.path)

    @cached_property
    def lines(self) -> list[str]:
        return self.source.split("\n")

    @cached_property
    def masked(self) -> tuple[str, str]:
        return mask(self.source, self.kind)

    @cached_property
    def code(self) -> list[str]:
        return self.masked[0].split("\n")

    @cached_property
    def bare(self) -> list[str]:
        return self.masked[1].split("\n")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words_of(self.source))

    @cached_property
    def declared(self) -> list[Declared]:
        return declarations(self.source, self.masked[1], self.kind)

    @property
    def solid(self) -> set[int]:
        """Changed lines that are not blank."""
        return {
            one for one in self.changed if one <= len(self.lines) and self.lines[one - 1].strip()
        }

    def everything(self) -> Region:
        return [(1, len(self.lines))]

    def text(self, region: Region, which: str = "code") -> str:
        lines = {"code": self.code, "bare": self.bare, "raw": self.lines}[which]
        return "\n".join("\n".join(lines[low - 1 : high]) for low, high in region)

    def comments(self, region: Region) -> str:
        """Return the text that is no code; of Python all text, where strings are comments too."""
        if self.kind in {"python", ""}:
            return self.text(region, "raw")
        out = []
        for number in self.numbers(region):
            raw, code = self.lines[number - 1], self.code[number - 1]
            out.append("".join(" " if b.strip() else a for a, b in zip(raw, code, strict=False)))
        return "\n".join(out)

    def numbers(self, region: Region) -> list[int]:
        return sorted(
            {n for low, high in region for n in range(max(1, low), min(high, len(self.lines)) + 1)}
        )

    def places(self, region: Region, code: str, which: str = "code") -> list[set[int]]:
        """Return the lines of each occurrence of some code, white space aside."""
        wanted = squeeze(code)
        if not wanted:
            return []
        lines = {"code": self.code, "bare": self.bare, "raw": self.lines}[which]
        text, owner = [], []
        for number in self.numbers(region):
            piece = squeeze(lines[number - 1])
            text.append(piece)
            owner += [number] * len(piece)
        whole = "".join(text)
        found = []
        at = whole.find(wanted)
        while at >= 0:
            before, after = whole[at - 1 : at] if at else "", whole[at + len(wanted) :][:1]
            low, high = owner[at], owner[at + len(wanted) - 1]
            if _apart(before, wanted[0], owner, at - 1, at, lines) and _apart(
                wanted[-1], after, owner, at + len(wanted) - 1, at + len(wanted), lines
            ):
                found.append({low, high} | set(range(low, high + 1)))
            at = whole.find(wanted, at + 1)
        return found


def _apart(left: str, right: str, owner: list[int], one: int, two: int, lines: list[str]) -> bool:
    """Return False where two characters are inside of one word."""
    if not (left and right) or not (re.match(r"[\w$]", left) and re.match(r"[\w$]", right)):
        return True
    if owner[one] != owner[two]:
        return True
    # Both on one line: they are one word unless white space was between them.
    number = owner[one]
    first = next(at for at, n in enumerate(owner[: one + 1]) if n == number) if one < 4000 else None
    if first is None:
        first = one
        while first and owner[first - 1] == number:
            first -= 1
    line, seen = lines[number - 1], -1
    for at, char in enumerate(line):
        if not char.isspace():
            seen += 1
            if seen == one - first:
                return line[at + 1 : at + 2].isspace()
    return True


class Pair:
    """Both versions of a file, and how their lines correspond."""

    def __init__(
        self, path: str, old: str | None, new: str | None, old_path: str | None = None
    ) -> None:
        self.path, self.old_path = path, old_path or path
        self.is_new, self.is_gone = old is None, new is None
        self.old = Text(self.old_path, old or "")
        self.new = Text(path, new or "")
        self.blocks: list[tuple[int, int, int]] = []
        """Runs of equal lines: first old line, first new line, length."""

    def side(self, name: str) -> Text:
        return self.old if name == "old" else self.new

    def mapped(self, region: Region, *, to: str) -> Region:
        """Return the lines of the other version that correspond to some lines."""
        found: Region = []
        for low, high in region:
            hit = []
            for old, new, length in self.blocks:
                here, there = (new, old) if to == "old" else (old, new)
                first, last = max(low, here), min(high, here + length - 1)
                if first <= last:
                    hit += [there + first - here, there + last - here]
            if hit:
                found.append((min(hit), max(hit)))
        return found


_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def pairs_of(row: dict) -> dict[str, Pair]:
    """Read a commit: for each path its two versions with the changed lines of its diff."""
    pairs: dict[str, Pair] = {}
    old_path = path = ""
    old = new = 0
    left_old = left_new = 0
    current: Pair | None = None
    for line in row["diff"].split("\n"):
        if left_old > 0 or left_new > 0:
            if line.startswith("+"):
                if current:
                    current.new.changed.add(new)
                new, left_new = new + 1, left_new - 1
                continue
            if line.startswith("-"):
                if current:
                    current.old.changed.add(old)
                old, left_old = old + 1, left_old - 1
                continue
            if line.startswith("\\"):
                continue
            old, new, left_old, left_new = old + 1, new + 1, left_old - 1, left_new - 1
            continue
        if line.startswith("diff --git "):
            current, old_path, path = None, "", ""
        elif line.startswith("--- "):
            old_path = _path(line[4:])
        elif line.startswith("rename from "):
            old_path = line[12:].strip().strip('"')
        elif line.startswith("rename to "):
            key = line[10:].strip().strip('"')
            both = row["files"].get(key, (None, None))
            current = pairs[key] = Pair(key, both[0], both[1], old_path)
        elif line.startswith("+++ "):
            path = _path(line[4:])
            key = path or old_path
            both = row["files"].get(key)
            if both is not None:
                current = pairs[key] = Pair(key, both[0], both[1], old_path)
        elif found := _HUNK.match(line):
            old, new = int(found[1]), int(found[3])
            left_old, left_new = int(found[2] or 1), int(found[4] or 1)
    for key, both in row["files"].items():
        if key not in pairs:
            pairs[key] = Pair(key, both[0], both[1])
    for pair in pairs.values():
        _align(pair)
    return pairs


def _path(text: str) -> str:
    text = text.rstrip("\t\r")
    text = text[1:-1] if text.startswith('"') else text
    return "" if text == "/dev/null" else re.sub(r"^[ab]/", "", text)


def _align(pair: Pair) -> None:
    old = new = 1
    while old <= len(pair.old.lines) and new <= len(pair.new.lines):
        while old in pair.old.changed:
            old += 1
        while new in pair.new.changed:
            new += 1
        start = (old, new)
        while (
            old not in pair.old.changed and new not in pair.new.changed
            and old <= len(pair.old.lines) and new <= len(pair.new.lines)
        ):  # fmt: skip
            old, new = old + 1, new + 1
        if old > start[0]:
            pair.blocks.append((*start, old - start[0]))
        elif old > len(pair.old.lines) or new > len(pair.new.lines):
            break


# ------------------------------------------------------------------------------------- sentences


class UntrueError(Exception):
    """A statement does not hold."""


class UnsureError(Exception):
    """A statement cannot be checked."""


def need(held: object, why: str) -> None:
    if not held:
        raise UntrueError(why)


@dataclass
class Item:
    """One quoted piece of a sentence."""

    text: str
    prose: bool

    @property
    def cut(self) -> bool:
        return self.text.endswith("…")


class Sentence:
    """A sentence with its quoted pieces set aside: `«0»` for code, `‹0›` for prose."""

    def __init__(self, text: str) -> None:
        self.items: list[Item] = []
        out, at = "", 0
        while at < len(text):
            if text[at] == "`" and (end := text.find("`", at + 1)) > 0:
                out += f"«{len(self.items)}»"
                self.items.append(Item(text[at + 1 : end], False))
                at = end + 1
            elif text[at] == "“":
                end = _closing(text, at)
                out += f"‹{len(self.items)}›"
                self.items.append(Item(text[at + 1 : end], True))
                at = end + 1
            else:
                out += text[at]
                at += 1
        self.skeleton = (out[:1].lower() + out[1:]).rstrip(".")

    def of(self, part: str) -> list[Item]:
        return [self.items[int(one)] for one in re.findall(r"[«‹](\d+)[»›]", part)]


def _closing(text: str, at: int) -> int:
    """Return the place of the quotation mark that ends a title, which may hold some itself."""
    for found in re.finditer("”", text[at:]):
        if re.match(
            r"”(?:$|[.,]| in [`]| of [`]| and | now | no | is | has | takes| checks| catches| calls| raises| returns| in )",
            text[at + found.start() :],
        ):
            return at + found.start()
    return len(text)


ONE = r"[«‹]\d+[»›]"
LIST = rf"{ONE}(?:, {ONE})*(?:,? and (?:{ONE}|\d+ more))?"
LABEL = rf"(?:the (?:[a-z][a-z ]*? )?{ONE}(?: (?:in|of) {ONE})?|{ONE}|the code)"


@dataclass
class Case:
    """A claim with all that its check looks at."""

    sentence: Sentence
    topic: object
    spans: tuple
    pair: Pair
    pairs: dict[str, Pair]

    def __post_init__(self) -> None:
        topic = self.topic
        self.name = topic.name
        self.is_file = topic.noun == "file" or topic.name in {
            self.pair.path,
            self.pair.old_path,
            "",
        }
        self.last = tail(self.name)
        self.around = "" if self.is_file else outer_of(self.name)
        if self.is_test and (label := re.search(r"‹\d+›", self.sentence.skeleton)):
            title = self.sentence.of(label[0])[0].text
            self.last = title if " " in title else tail(title)
            self.around = outer_of(self.name) if " " not in self.name else ""
        self.first = self.last
        """Its name in the old version."""

    @property
    def is_test(self) -> bool:
        return self.topic.noun in {"test", "test suite"}

    def declared(self, side: str, name: str, around: str | None = None) -> list[Declared]:
        text = self.pair.side(side)
        found = [one for one in text.declared if same_name(one.name, name)]
        if around is not None:
            found = [one for one in found if same_outer(one, around)]
        return found

    def region(self, side: str, *, near: bool = True) -> Region:
        """Return the lines of the unit in one version."""
        text = self.pair.side(side)
        if self.topic.noun == "section":
            return [(n, n) for n in sorted(text.changed) if n <= len(text.lines)]
        if self.is_file:
            return text.everything()
        place = self.topic.place
        own = str(place.side) == side
        here = [(place.start, place.end)] if own and place.start else []
        name = self.last if side == "new" else self.first
        named = self.declared(side, name, self.around)
        if not named and side == "old":
            # The name around it may have changed: then it is where its lines come from.
            inside = set(text.numbers(self.pair.mapped([(place.start, place.end)], to=side)))
            named = [
                one for one in self.declared(side, name) if one.line in inside or one.end in inside
            ]
        found = [(_above_of(text, one.top or one.line), one.end) for one in named]
        if not own and not found:
            found = self.pair.mapped([(place.start, place.end)], to=side)
        elif not own and near and len(found) > 1 and not all(one.body for one in named):
            found = [
                (_above_of(text, one.top or one.line), one.end) for one in named if one.body
            ] or found
        return sorted({*here, *found})

    @cached_property
    def new_region(self) -> Region:
        return self.region("new")

    @cached_property
    def old_region(self) -> Region:
        return self.region("old")

    @cached_property
    def old(self) -> Text:
        return self.pair.old

    @cached_property
    def new(self) -> Text:
        return self.pair.new

    def both(self, side: str) -> tuple[Text, Region]:
        return self.pair.side(side), self.new_region if side == "new" else self.old_region


def _above_of(text: Text, line: int) -> int:
    """Return the first line of the comment and the annotations above a declaration."""
    at = line
    while at > 1 and line - at < 80:
        before = text.lines[at - 2].strip()
        if not before or (before[-1] in "{};" and before[0] not in "@[*/#"):
            break
        at -= 1
    return at


def tail(name: str) -> str:
    """Return the last name of a qualified one; a title stays whole."""
    if " " in re.sub(r"<[^<>]*>", "", name):
        return name
    return re.split(r"(?:\.|::|->|#)(?![^<>]*>)", name)[-1] or name


def outer_of(name: str) -> str:
    name = re.sub(r"<[^<>]*>(?=[.:])", "", name)
    pieces = [one for one in re.split(r"\.|::", name) if one] if " " not in name else [name]
    return pieces[-2] if len(pieces) > 1 else ""


def same_name(one: str, other: str) -> bool:
    def plain(name: str) -> str:
        return re.sub(r"^self\.|[?!=]$|(?<=\w)<.*>$|\\", "", name.strip())

    if other.endswith("…"):
        return " ".join(one.split()).startswith(" ".join(other[:-1].split()))
    if one == other or plain(one) == plain(other):
        return True
    return " " in other and " ".join(plain(one).split()).startswith(" ".join(plain(other).split()))


def same_outer(one: Declared, around: str) -> bool:
    last = one.outer[-1] if one.outer else ""
    last = re.sub(r"<.*", "", last).rpartition("::")[2] or last
    return last == re.sub(r"<.*", "", around)


# -- single statements


def call_pattern(name: str) -> re.Pattern[str]:
    last = tail(name)
    word = re.escape(last.strip("?!")) + (r"[?!]" if last[-1:] in "?!" else "")
    edge = r"(?<![\w$])" if re.match(r"\w|\$", last) else ""
    return re.compile(
        rf"{edge}{word}(?:\?\.)?!?\s*(?:<[\w\s,.<>\[\]?:*&|'\"{{}}]*>|\[[\w\s,.*\[\]]*\]|::<[^>]*>)?\s*\("
    )


def is_called(
    text: Text, region: Region, name: str, lines: set[int] | None = None, *, loose: bool
) -> bool:
    last = tail(name)
    bare = text.text(region, "bare" if not loose else "code")
    for found in call_pattern(name).finditer(bare):
        before = bare[max(0, found.start() - 30) : found.start()]
        # A declaration is no call.
        if re.search(r"\b(?:def|function|func|class)\s+(?:\([^)]*\)\s*)?(?:self\.)?$", before):
            continue
        return True
    extra = [rf"\bnew\s+(?:[\w.\\]+(?:\.|\\|::))?{re.escape(last)}\b"]
    if text.kind == "c":
        extra.append(rf"\b{re.escape(last)}\s*\{{")
    if text.kind in {"ruby"}:
        extra.append(rf"(?<![\w@:]){re.escape(last)}(?![\w?!=])")
    if text.kind in {"python", "java", "js"}:
        extra.append(rf"@(?:\w+\.)*{re.escape(last)}\b")
    if text.kind == "js":
        extra.append(rf"\b{re.escape(last)}\s*(?:<[^()]*>)?\s*`")
    if text.kind == "cs" and loose:
        extra.append(rf"\b{re.escape(last)}\b\s*(?:<[^()]*>)?\s*\(")
    return any(re.search(one, bare) for one in extra)


def check_name(name: str) -> None:
    last = tail(name).strip("?!")
    need(
        last not in NEVER_NAMES or last == "self", f"`{last}` is a keyword or a small word, no name"
    )


def calls_now(case: Case, items: Iterable[Item], side: str, *, absent: bool = True) -> None:
    text, region = case.both(side)
    other, others = case.both("old" if side == "new" else "new")
    if case.is_file and not text.kind:
        raise UnsureError
    for item in items:
        if item.cut:
            raise UnsureError
        if "." not in item.text:
            check_name(item.text)
        need(
            is_called(text, region, item.text, loose=True),
            f"{side} version does not call `{item.text}`",
        )
        if absent and others:
            need(
                not is_called(other, others, item.text, loose=False),
                f"the other version calls `{item.text}` too",
            )


def find_code(text: Text, region: Region, code: Item, *, changed: bool = True) -> list[set[int]]:
    """Return where quoted code stands, on changed lines only if asked."""
    found = text.places(region, code.text.rstrip("…")) or text.places(
        region, code.text.rstrip("…"), "raw"
    )
    return [one for one in found if not changed or one & text.changed]


def code_moved(
    case: Case, item: Item, side: str, *, what: str = "code", absent: bool = True
) -> None:
    """Check that code is in one version, on changed lines, and less often in the other one."""
    text, region = case.both(side)
    other, others = case.both("old" if side == "new" else "new")
    here = find_code(text, region, item, changed=False)
    need(here, f"{what} `{item.text}` is not in the {side} version")
    there = other.places(others, item.text.rstrip("…"))
    # An unchanged line may have come from another unit.
    need(
        any(one & text.changed for one in here) or (others and not there),
        f"{what} `{item.text}` is on no changed line of the {side} version",
    )
    if absent and others:
        need(
            len(there) < len(here),
            f"{what} `{item.text}` stands in the other version as often ({len(there)}, {len(here)})",
        )


def gone_or_come(case: Case, item: Item, side: str, what: str) -> None:
    """Check that code is in one version, on changed lines, and not in the other one."""
    code_moved(case, item, side, what=what, absent=False)
    other, others = case.both("old" if side == "new" else "new")
    if others and not item.cut:
        there = other.places(others, item.text)
        need(not there, f"{what} `{item.text}` stands in the other version too")


def apart(one: Item, two: Item) -> bool:
    """Return whether neither of two pieces of code contains the other one."""
    first, second = squeeze(one.text), squeeze(two.text)
    return first not in second and second not in first


def differ(one: Item, two: Item) -> None:
    need(one.text != two.text, f"says `{one.text}` instead of `{two.text}`")


def has_prose(text: str, prose: str) -> bool:
    wanted = re.findall(r"\w+", prose.rstrip(" …"))
    if not wanted:
        raise UnsureError
    plain = re.sub(r"</?\w+/?>|\s@\w+", " ", text)
    for version in (text, plain, re.sub(r"</?[\w:]+[^>\n]*>", " ", text)):
        held = " " + " ".join(re.findall(r"\w+", version)) + " "
        if f" {' '.join(wanted)} " in held:
            return True
        if prose.endswith("…") and f" {' '.join(wanted)}" in held:
            return True
    return False


def assigned(text: Text, region: Region, name: str, value: Item | None) -> list[set[int]]:
    """Return the lines where a name gets a value."""
    lines, owner = [], []
    for number in text.numbers(region):
        raw = (
            value is not None
            and re.search(r"#|//|/\*", value.text)
            and not re.search(r"https?:", value.text)
        )
        piece = text.lines[number - 1] if raw else text.code[number - 1]
        lines.append(piece + "\n")
        owner += [number] * (len(piece) + 1)
    whole = "".join(lines).replace("`", "'")
    edge = r"(?<![\w$])" if re.match(r"[\w$]", name) else ""
    target = r"\s*".join(re.escape(one) for one in re.findall(r"[\w$]+|[^\w\s$]", name))
    right = ""
    if value is not None:
        tokens = re.findall(r"[\w$]+|[^\w\s$]", value.text.rstrip("…"))
        right = r"\s*".join(re.escape(one) for one in tokens)
        if not value.cut and tokens and re.match(r"[\w$]", tokens[-1]):
            right += r"(?![\w$])"
    between = (
        r"['\"\]]?(?:\s*(?:\[[^\]=]*\])+)?\s*(?:[?!]?\s*:\s*[^=;\n]{1,120}?)?\s*"
        r"(?:[-+*/|&^%.?<>]{0,3}=(?!=)>?|:=|>|:(?!:)|\(|\{|<-|\s|,[^=;]{1,160}?=)\s*"
    )
    return [
        set(range(owner[found.start()], owner[max(found.start(), found.end() - 1)] + 1))
        for found in re.finditer(edge + target + between + right, whole)
    ]


def argument_lists(text: Text, region: Region, name: str) -> list[tuple[list[str], set[int]]]:
    """Return the squeezed arguments of each call of a name, and its lines."""
    code, bare = text.text(region), text.text(region, "bare")
    numbers = [n for low, high in region for n in range(low, min(high, len(text.lines)) + 1)]
    starts = [0, *(one.end() for one in re.finditer("\n", bare))]
    found = []
    for call in call_pattern(name).finditer(bare):
        depth, items, start = 0, [], call.end()
        for at in range(call.end(), len(bare)):
            char = bare[at]
            if char in "([{":
                depth += 1
            elif char in ")]}":
                if depth == 0:
                    items.append(code[start:at])
                    lines = {
                        numbers[bisect_right(starts, place) - 1]
                        for place in (call.start(), at)
                        if bisect_right(starts, place) - 1 < len(numbers)
                    }
                    lines |= set(range(min(lines), max(lines) + 1))
                    found.append(([squeeze(one) for one in items if one.strip()], lines))
                    break
                depth -= 1
            elif char == "," and depth == 0:
                items.append(code[start:at])
                start = at + 1
    if text.kind == "cs":
        for call in re.finditer(rf"\bnew\s+(?:\w+\.)*{re.escape(tail(name))}\s*\{{", bare):
            found.append(([], {numbers[bisect_right(starts, call.start()) - 1]}))
    if text.kind == "ruby":
        for call in re.finditer(rf"(?<![\w]){re.escape(tail(name))}[ \t]+([^\n=][^\n]*)", code):
            number = numbers[bisect_right(starts, call.start()) - 1]
            items = re.split(
                r",(?![^(\[{]*[)\]}])", re.sub(r"\s+(?:if|unless|do)\b.*$", "", call[1])
            )
            found.append(([squeeze(one) for one in items], {number}))
    return found


def matches(shown: Item, squeezed: str) -> bool:
    wanted = squeeze(shown.text.rstrip("…"))
    return squeezed.startswith(wanted) if shown.cut else squeezed.rstrip(";,") == wanted


def head_of(case: Case, side: str) -> str:
    """Return the declaring lines of a unit, up to its body."""
    text, region = case.both(side)
    name = case.last if side == "new" else case.first
    heads = []
    for low, high in region:
        lines = text.code[low - 1 : high]
        start = next(
            (
                at
                for at, line in enumerate(lines)
                if re.search(rf"(?<![\w$]){re.escape(tail(name))}(?![\w$])", line)
            ),
            None,
        )
        if name == "constructor" and start is None:
            start = 0
        if start is None:
            continue
        depth, out = 0, []
        first = start
        while first > 0 and re.match(
            r"\s*[@\[#]|\s*(?:template|static|public|private|virtual|inline|SDL_\w+)\b[^;{}]*$",
            lines[first - 1],
        ):
            first -= 1
        for line in lines[first : start + 60]:
            out.append(line)
            depth += line.count("(") - line.count(")")
            if (
                len(out) > start - first
                and depth <= 0
                and re.search(r"[{;:]\s*$|=>|\)\s*$|^\s*def\b.*$", line)
            ):
                break
        heads.append("\n".join(out))
    if not heads:
        raise UnsureError
    return "\n".join(heads)


def place_holds_name(case: Case) -> None:
    """Check that the unit stands where its topic says."""
    place = case.topic.place
    text = case.pair.side(str(place.side))
    lines = text.lines[max(0, place.start - 1) : place.end]
    if case.topic.noun == "section":
        lines = text.lines
    need(lines, "its place has no lines")
    if case.last in {"constructor", "default", "(anonymous)"}:
        return
    plain = "\n".join(lines)
    if case.is_test or case.topic.noun == "section":
        wanted = re.sub(r"\W+", "", case.last.rstrip("…"))
        need(
            wanted in re.sub(r"\\.|\W+", "", plain) or wanted in re.sub(r"\W+", "", plain),
            "its title is not in its place",
        )
        return
    name = re.sub(r"<.*", "", case.last)
    need(name in plain, f"`{name}` is not in its place")


def counts(
    case: Case, shown: int | None = None, added: int | None = None, removed: int | None = None
) -> None:
    """Check the stated numbers of changed lines."""
    if shown is not None:
        need(shown == case.topic.lines, f"says {shown} lines, its topic has {case.topic.lines}")
    inside = {}
    for side in ("old", "new"):
        text, region = case.both(side)
        inside[side] = text.solid & set(text.numbers(region))
    total = len(inside["old"]) + len(inside["new"])
    if shown is not None:
        need(shown <= total, f"says {shown} lines, it has {total} changed lines")
    for told, side in ((added, "new"), (removed, "old")):
        if told is not None:
            need(
                told <= len(inside[side]), f"says {told} lines, it has {len(inside[side])} ({side})"
            )


# -- whole sentences


def check_new(case: Case, found: re.Match[str]) -> None:
    counts(case, int(found["lines"]))
    if case.is_file:
        need(case.pair.is_new or not case.pair.old.source.strip(), "the file was there before")
    else:
        check_name(case.last)
        place_holds_name(case)
        need(str(case.topic.place.side) == "new", "its place is in the old version")
        old = case.declared("old", case.last, case.around)
        need(
            not old,
            f"the old version declares `{case.last}` too (line {old[0].line if old else 0})",
        )
        if not case.is_test and not case.declared("old", case.last) and case.new.kind:
            new = case.declared("new", case.last)
            need(
                new
                or case.last in {"constructor", "default"}
                or case.topic.noun not in {"function", "method", "class"},
                f"the new version does not declare `{case.last}`",
            )
    check_contents(case, found)


def check_contents(case: Case, found: re.Match[str]) -> None:
    """Check what a new unit is said to consist of."""
    sentence = case.sentence
    rest = found["rest"]
    said = re.split(r"(?:^|,| and) (?=takes|calls|raises|has|returns|defines|holds)", rest)
    for part in filter(None, (one.strip(" ,") for one in said)):
        verb, _, listing = part.partition(" ")
        items = sentence.of(listing)
        if verb == "takes":
            head = head_of(case, "new")
            for item in items:
                name = re.findall(r"[\w$]+", item.text)
                need(all(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", head) for one in name[:1]),
                     f"its head does not take `{item.text}`")  # fmt: skip
                check_name(item.text) if item.text not in {"this", "self"} else None
        elif verb == "calls":
            calls_now(case, items, "new", absent=False)
        elif verb == "raises":
            raised(case, items, "new", absent=False)
        elif verb in {"has", "defines", "holds", "returns"}:
            for item in items:
                text, region = case.both("new")
                wanted = re.sub(r"\W+", "", item.text.rstrip("…"))
                need(
                    find_code(text, region, item, changed=False)
                    or (
                        (item.prose or item.cut)
                        and wanted in re.sub(r"\\.|\W+", "", text.text(region, "raw"))
                    )
                    or (item.prose and wanted in re.sub(r"\W+", "", text.text(region, "raw")))
                    or (verb == "defines" and tail(item.text) in text.words),
                    f"the new code has no `{item.text}`",
                )
                if verb == "defines":
                    check_name(item.text)


def check_message(case: Case, found: re.Match[str]) -> None:
    raised(case, case.sentence.of(found["error"]), "new", absent=False)
    message = case.sentence.of(found["message"])[0].text
    text, region = case.both("new")
    need(has_prose(text.text(region, "raw"), message), "no such message")
    other, others = case.both("old")
    need(
        not others or not has_prose(other.text(others, "raw"), message),
        "the old version has that message too",
    )


def check_overload(case: Case, found: re.Match[str]) -> None:
    """Check that one more declaration of the name came, and that it takes what is said."""
    before = case.declared("old", case.last, case.around)
    after = case.declared("new", case.last, case.around)
    need(before, f"the old version does not declare `{case.last}`: it is no overload")
    need(
        len(after) > len(before), f"`{case.last}` is declared {len(before)} and {len(after)} times"
    )
    came = [one for one in after if one.line in case.new.changed]
    need(came, "no declaration of it is on a changed line")
    for one in came:
        head = case.new.text([(one.line, min(one.line + 30, max(one.line, one.end)))])
        if all(
            re.search(rf"(?<![\w$]){re.escape(item.text)}(?![\w$])", head)
            for item in case.sentence.of(found["items"])
        ):
            return
    raise UntrueError("no new overload takes that")


def check_removed(case: Case, found: re.Match[str]) -> None:
    counts(case, int(found["lines"]))
    if case.is_file:
        need(case.pair.is_gone or not case.pair.new.source.strip(), "the file is still there")
        return
    check_name(case.last)
    place_holds_name(case)
    need(str(case.topic.place.side) == "old", "its place is in the new version")
    here = case.declared("new", case.last, case.around)
    if case.around:
        # A type of the same name elsewhere is another one.
        here = [
            one for one in here if one.outer or not case.declared("old", case.last, case.around)
        ]
    need(
        not here, f"the new version declares `{case.last}` too (line {here[0].line if here else 0})"
    )


def _bag(text: Text, one: Declared) -> Counter[str]:
    return Counter(
        word
        for word in re.findall(r"[\w$]+|[^\w\s]", text.text([(one.line, one.end)]))
        if word != one.name
    )


def _alike(one: Counter[str], two: Counter[str]) -> float:
    return 2 * (one & two).total() / max(1, one.total() + two.total())


def check_renamed(case: Case, found: re.Match[str]) -> None:
    first, last = case.sentence.of(found["first"])[0], case.sentence.of(found["last"])[0]
    one, two = tail(first.text), tail(last.text)
    if one.endswith("…") or two.endswith("…"):
        raise UnsureError
    check_name(one)
    check_name(two)
    old, new = case.pair.old, case.pair.new
    before, after = case.declared("old", one), case.declared("new", two)
    first_word, last_word = one.rstrip("?!="), two.rstrip("?!=")
    need(first_word in old.words and before, f"the old version does not declare `{one}`")
    need(last_word in new.words and after, f"the new version does not declare `{two}`")
    need(first_word not in new.words, f"`{one}` is still a word of the new version")
    need(
        last_word not in old.words or (two != last_word and two not in old.source),
        f"`{two}` is a word of the old version",
    )
    # The body must not agree better with another declaration that came.
    best = max(_alike(_bag(old, a), _bag(new, b)) for a in before for b in after)
    was = {item.name for item in old.declared}
    for other in new.declared:
        if (
            other.name != two
            and other.name not in was
            and other.body
            and other.name not in old.words
        ):
            closer = max(_alike(_bag(old, a), _bag(new, other)) for a in before)
            need(
                closer <= best + 0.1,
                f"`{other.name}` is closer to `{one}` ({closer:.2f}, {best:.2f})",
            )


def check_replaced(case: Case, found: re.Match[str]) -> None:
    first = case.sentence.of(found["first"])[0].text
    one = tail(first)
    check_name(one)
    check_name(case.last)
    before = outer_of(first)
    need(
        one != case.last or (before and before != case.around),
        f"`{case.name}` takes the place of its own name `{first}`",
    )
    need(case.declared("old", one, before or None), f"the old version does not declare `{first}`")
    need(case.declared("new", case.last), f"the new version does not declare `{case.last}`")
    old = case.declared("old", case.last, case.around)
    need(not old, f"the old version declares `{case.last}` too")
    new = case.declared("new", one, before or case.around)
    need(not new, f"the new version declares `{one}` too")


def check_moved(case: Case, found: re.Match[str]) -> None:
    first, last = (one.text for one in case.sentence.of(found["first"] + found["last"]))
    for shown, side in ((first, "old"), (last, "new")):
        pair = _find(case.pairs, shown, side)
        need(pair is not None, f"`{shown}` is no file of the change")
        if case.is_file:
            continue
        held = [one for one in pair.side(side).declared if same_name(one.name, case.last)]
        held = [one for one in held if same_outer(one, case.around)]
        need(held, f"`{shown}` does not declare `{case.last}` in the {side} version")
        gone = [
            one
            for one in pair.side("new" if side == "old" else "old").declared
            if same_name(one.name, case.last)
        ]
        gone = [one for one in gone if same_outer(one, case.around)]
        need(not gone, f"`{shown}` declares `{case.last}` in both versions")


def _find(pairs: dict[str, Pair], shown: str, side: str) -> Pair | None:
    for pair in pairs.values():
        path = pair.old_path if side == "old" else pair.path
        if path == shown or (shown.endswith("…") and path.startswith(shown[:-1])):
            return pair
    return None


def _changed_text(case: Case, which: str) -> tuple[str, str]:
    out = []
    for side in ("old", "new"):
        text = case.pair.side(side)
        lines = set(text.numbers(case.both(side)[1])) & text.changed
        if case.topic.noun == "section":
            spans = [(one.start, one.end) for one in case.spans if str(one.side) == side]
            lines &= set(text.numbers(spans))
        source = {"code": text.code, "raw": text.lines}[which]
        out.append("\n".join(source[n - 1] for n in sorted(lines) if n <= len(source)))
    return out[0], out[1]


def check_layout(case: Case, found: re.Match[str]) -> None:
    one, two = _changed_text(case, "raw")
    if squeeze(one) != squeeze(two):
        one, two = (
            "".join(squeeze(text.text(region, "raw")))
            for text, region in (case.both("old"), case.both("new"))
        )
        need(one == two, "more than white space has changed")
    if case.new.kind == "python":
        old, new = _logical(case, "old"), _logical(case, "new")
        need(old == new, "the indentation of statements has changed")


def _logical(case: Case, side: str) -> list[str]:
    """Return the indentation of the statements of a unit in Python, as levels."""
    text, region = case.both(side)
    out: list[str] = []
    depth = 0
    levels: list[int] = []
    for number in text.numbers(region):
        line = text.bare[number - 1]
        if line.strip() and depth == 0:
            indent = len(line) - len(line.lstrip())
            while levels and levels[-1] >= indent:
                levels.pop()
            levels.append(indent)
            first = re.match(r"\s*\w*", line)
            out.append(f"{len(levels)} {first[0].strip() if first else ''}")
        depth = max(0, depth + sum(map(line.count, "([{")) - sum(map(line.count, ")]}")))
    return out


def check_comments_only(case: Case, found: re.Match[str]) -> None:
    one, two = _changed_text(case, "code")
    if case.new.kind == "python":
        one, two = (re.sub(r"(?s)[rRuU]?(\"\"\"|''').*?\1", "", part) for part in (one, two))
    if not case.new.kind:
        raise UnsureError
    if squeeze(one) != squeeze(two):
        texts = []
        for side in ("old", "new"):
            text, region = case.both(side)
            code = text.text(region)
            if text.kind == "python":
                code = re.sub(r"(?s)^[ \t]*[rRuU]?(\"\"\"|''').*?\1", "", code, flags=re.MULTILINE)
            texts.append(squeeze(code))
        need(texts[0] == texts[1], "code has changed, not only comments")


def check_described(case: Case, found: re.Match[str]) -> None:
    prose = case.sentence.of(found["prose"])[0].text
    place = case.topic.place
    text = case.pair.side(str(place.side))
    raw = text.text([(place.start, place.end)], "raw")
    if case.is_file:
        need(has_prose(text.source, prose), "no comment says so")
        return
    need(has_prose(raw, prose), "no comment of it says so")
    # Above the head, at its end, or at the start of the body (a docstring).
    name = re.escape(re.sub(r"<.*|…$", "", case.last))[:60]
    head = next(
        (
            n
            for n in range(place.start, place.end + 1)
            if re.search(name, text.code[n - 1])
            or (case.last == "constructor" and text.code[n - 1].strip())
        ),
        None,
    )
    if head is None:
        raise UnsureError
    last, depth = head, 0
    for last in range(head, place.end + 1):
        line = text.bare[last - 1]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if depth <= 0 or line.rstrip().endswith("{"):
            break
    end = last
    if text.kind == "python":
        end = last + 1
        while end <= place.end and not text.lines[end - 1].strip():
            end += 1
        quote_mark = re.match(
            r"\s*[rRuU]?(\"\"\"|''')", text.lines[end - 1] if end <= len(text.lines) else ""
        )
        if quote_mark:
            if text.lines[end - 1].count(quote_mark[1]) < 2:
                end = next(
                    (
                        n
                        for n in range(end + 1, place.end + 1)
                        if quote_mark[1] in text.lines[n - 1]
                    ),
                    end,
                )
        elif not re.match(r"\s*['\"]", text.lines[end - 1] if end <= len(text.lines) else ""):
            end = last
    need(
        has_prose(text.text([(place.start, end)], "raw"), prose),
        "the comment is inside of it, it describes a step or a member",
    )


def check_comment_says(case: Case, found: re.Match[str]) -> None:
    prose = case.sentence.of(found["prose"])[0].text
    text, region = case.both("new")
    lines = text.numbers(region)
    near = (
        [n for n in lines if any(abs(n - c) <= 6 for c in text.changed)]
        if len(lines) < 4000
        else lines
    )
    held = "\n".join(text.lines[n - 1] for n in near)
    need(has_prose(held, prose), "the new version does not say so near a changed line")
    other, others = case.both("old")
    if others:
        low = max(1, min(n for n, _ in others) - 12)
        raw = other.comments([(low, others[0][0]), *others])
        need(not has_prose(raw, prose), "the old version says so too")


def check_instead(case: Case, found: re.Match[str]) -> None:
    """`X` in S is now `V` instead of `W`."""
    name, new, old = (case.sentence.of(found[part])[0] for part in ("name", "new", "old"))
    differ(new, old)
    if name.cut:
        raise UnsureError
    text, region = case.both("new")
    other, others = case.both("old")
    here = assigned(text, region, name.text, new)
    need(here, f"`{name.text}` does not get `{new.text}` in the new version")
    there = assigned(other, others, name.text, old)
    need(there, f"`{name.text}` does not get `{old.text}` in the old version")
    need(
        any(one & text.changed for one in here) or any(one & other.changed for one in there),
        f"`{name.text}` gets `{new.text}` on no changed line",
    )
    was, now = assigned(other, others, name.text, new), assigned(text, region, name.text, old)
    if (
        not new.cut
        and not old.cut
        and not new.text.startswith(old.text)
        and not old.text.startswith(new.text)
    ):
        need(len(was) < len(here), f"`{name.text}` gets `{new.text}` in the old version as often")
        need(len(now) < len(there), f"`{name.text}` gets `{old.text}` in the new version as often")


def check_default(case: Case, found: re.Match[str]) -> None:
    name, new, old = (case.sentence.of(found[part])[0] for part in ("name", "new", "old"))
    differ(new, old)
    for side, value in (("new", new), ("old", old)):
        head = squeeze(head_of(case, side))
        need(
            re.search(
                rf"(?<![\w$]){re.escape(name.text)}\??(?::[^=]+)?=?>?{re.escape(squeeze(value.text.rstrip('…')))}",
                head,
            ),
            f"`{name.text}` has not the default `{value.text}` in the {side} head",
        )


def check_type(case: Case, found: re.Match[str]) -> None:
    name, new, old = (case.sentence.of(found[part])[0] for part in ("name", "new", "old"))
    differ(new, old)
    for side, value in (("new", new), ("old", old)):
        head = squeeze(head_of(case, side))
        one, two = re.escape(squeeze(name.text)), re.escape(squeeze(value.text.rstrip("…")))
        need(
            re.search(rf"{one}\??:?{two}|{two}[&*]*{one}(?![\w$])|{one}(?:,\w+)+{two}", head),
            f"`{name.text}` has not the type `{value.text}` in the {side} head",
        )


def check_parameters(case: Case, found: re.Match[str]) -> None:
    groups = found.groupdict()
    heads = {side: head_of(case, side) for side in ("new", "old")}

    def takes(side: str, name: str) -> bool:
        pieces = re.findall(r"[\w$]+", name)
        return all(
            re.search(rf"(?<![\w$]){re.escape(one)}(?![\w$])", heads[side]) for one in pieces
        )

    for part, side, other in (("came", "new", "old"), ("gone", "old", "new")):
        for item in case.sentence.of(groups.get(part) or ""):
            if item.cut:
                raise UnsureError
            need(takes(side, item.text), f"the {side} head does not take `{item.text}`")
            # The name may stand in the head as a type or a default.
            pattern = (
                rf"(?<![\w$.]){re.escape(item.text.lstrip('*&'))}(?=\s*[,):=\[?]|\s*$|\s+[\w*\[])"
            )
            need(
                not re.search(pattern, _inside(heads[other])),
                f"the {other} head takes `{item.text}` too",
            )


def _inside(head: str) -> str:
    at = head.find("(")
    return head[at:] if at >= 0 else head


def check_declared_as(case: Case, found: re.Match[str]) -> None:
    side, other = ("old", "new") if "no longer" in found[0] else ("new", "old")
    one, two = words_of(_above(case, side)), words_of(_above(case, other))
    for item in case.sentence.of(found["items"]):
        for word in words_of(item.text):
            need(word in one, f"the {side} head has no `{word}`")
            need(word not in two, f"the {other} head has `{word}` too")


def _above(case: Case, side: str) -> str:
    """Return the head of a unit with the lines of annotations above it."""
    text, region = case.both(side)
    head = head_of(case, side)
    above = []
    for low, _ in region:
        at = low - 1
        while at > 0 and re.match(r"\s*[@\[]", text.code[at - 1]):
            above.append(text.code[at - 1])
            at -= 1
    return "\n".join([*above, head])


def raised(case: Case, items: Iterable[Item], side: str, *, absent: bool = True) -> None:
    _thrown(
        case,
        items,
        side,
        r"(?:raise|throw|panic|rethrow)\b[\s(]*(?:new\s+)?(?:[\w.\\:]*[.\\:])?",
        absent=absent,
    )


def caught(case: Case, items: Iterable[Item], side: str, *, absent: bool = True) -> None:
    _thrown(
        case, items, side, r"(?:catch|except\*?|rescue|recover)\b[^\n{]*?(?<![\w$])", absent=absent
    )


def _thrown(case: Case, items: Iterable[Item], side: str, word: str, *, absent: bool) -> None:
    text, region = case.both(side)
    other, others = case.both("old" if side == "new" else "new")
    for item in items:
        if item.cut:
            raise UnsureError
        name = tail(item.text.rstrip("()"))
        if item.text == "..." or not name:
            continue
        check_name(item.text)
        # A list of errors may go over several lines.
        pattern = re.compile(rf"\b{word}(?:\([^()]*?)?{re.escape(name)}(?![\w$])", re.DOTALL)
        need(
            pattern.search(text.text(region, "bare")),
            f"the {side} version does not do so with `{item.text}`",
        )
        if absent and others:
            need(
                not pattern.search(other.text(others, "bare")),
                f"the other version does so with `{item.text}` too",
            )


def check_exchanged(case: Case, found: re.Match[str]) -> None:
    check = {"calls": calls_now, "raises": raised, "catches": caught}[found["verb"]]
    groups = found.groupdict()
    new, old = case.sentence.of(groups.get("new") or ""), case.sentence.of(groups.get("old") or "")
    for one in new:
        for two in old:
            differ(one, two)
    check(case, new, "new")
    check(case, old, "old")
    for item in case.sentence.of(groups.get("message") or ""):
        need(has_prose(case.new.text(case.new_region, "raw"), item.text), "no such message")


def check_catches(case: Case, found: re.Match[str]) -> None:
    caught(case, case.sentence.of(found["items"]), "new", absent=False)


_BEFORE_CONDITION = re.compile(
    r"(?:[(!;{}?:&|=,\[>]|\b(?:if|elif|elsif|elseif|unless|while|until|when|case|switch|match|for|"
    r"assert|and|or|not|in|return|catch|guard|else|then|do))\s*$|^\s*$"
)


def condition(case: Case, item: Item, side: str, *, changed: bool = True) -> None:
    text, region = case.both(side)
    if item.cut:
        raise UnsureError
    need(
        not re.fullmatch(r"(?:true|false|True|False|1|0|nil|null|None)", item.text),
        f"`{item.text}` is no condition",
    )
    where = find_code(text, region, item, changed=False)
    need(where, f"`{item.text}` is not in the {side} version")
    other, others = case.both("old" if side == "new" else "new")
    need(
        not changed
        or any(one & text.changed for one in where)
        or (others and not other.places(others, item.text)),
        f"`{item.text}` is on no changed line",
    )


def check_checks(case: Case, found: re.Match[str]) -> None:
    groups = found.groupdict()
    if "longer" in found[0].split("checks")[0]:
        for item in case.sentence.of(groups["items"]):
            condition(case, item, "old")
            gone_or_come(case, item, "old", "condition")
    elif "now" in found[0].split("checks")[0]:
        for item in case.sentence.of(groups["items"]):
            condition(case, item, "new")
            gone_or_come(case, item, "new", "condition")
    else:
        for item in case.sentence.of(groups["items"]):
            condition(case, item, "new", changed=False)


def check_condition_now(case: Case, found: re.Match[str]) -> None:
    old, new = case.sentence.of(found["old"])[0], case.sentence.of(found["new"])[0]
    if ("not " in found["old"]) == ("not " in found["new"]):
        differ(new, old)
    condition(case, old, "old")
    condition(case, new, "new")
    code_moved(case, old, "old", what="condition", absent=apart(old, new))
    code_moved(case, new, "new", what="condition", absent=apart(old, new))


def _returned(case: Case, item: Item, side: str, *, other: bool = True) -> None:
    if item.cut:
        raise UnsureError
    text, region = case.both(side)
    away, others = case.both("old" if side == "new" else "new")

    def find(text: Text, region: Region) -> list[set[int]]:
        found = []
        for lead in (
            "return",
            "=>",
            "->",
            "return(",
            "=>(",
            "lambda:",
            "return await ",
            "co_return ",
        ):
            found += text.places(region, lead + item.text)
        return found

    here = find(text, region)
    if not here and text.kind in {"ruby", "js", "java"}:
        here = find_code(text, region, item, changed=False)
    need(here, f"the {side} version does not return `{item.text}`")
    need(
        any(one & text.changed for one in here) or (others and not find(away, others)),
        f"`{item.text}` is returned on no changed line ({side})",
    )
    if other and others:
        need(
            len(find(away, others)) < len(here), f"the other version returns `{item.text}` as often"
        )


def check_returns(case: Case, found: re.Match[str]) -> None:
    groups = found.groupdict()
    new, old = case.sentence.of(groups.get("new") or ""), case.sentence.of(groups.get("old") or "")
    for one in new:
        for two in old:
            differ(one, two)
    for item in new:
        _returned(case, item, "new")
    for item in old:
        _returned(case, item, "old")


def check_passes(case: Case, found: re.Match[str]) -> None:
    groups = found.groupdict()
    sentence = case.sentence
    call = sentence.of(groups["call"])[0]
    if call.cut:
        raise UnsureError
    new, old = sentence.of(groups.get("new") or ""), sentence.of(groups.get("old") or "")
    for one in new:
        for two in old:
            differ(one, two)
    after = argument_lists(case.new, case.new_region, call.text)
    before = argument_lists(case.old, case.old_region, call.text)
    if case.new.kind == "ruby" and not (before and after):
        raise UnsureError
    need(after, f"the new version does not call `{call.text}`")
    need(before, f"the old version does not call `{call.text}`")
    given = {squeeze(one.text) for one in new}
    why = "no call has these arguments in the new version"
    for now, lines in after:
        left = list(now)
        for item in new:
            hit = next((one for one in left if matches(item, one)), None)
            if hit is None:
                break
            left.remove(hit)
        else:
            why = "no call of the old version has the other arguments"
            for then, old_lines in before:
                rest = list(then)
                if not (lines & case.new.changed or old_lines & case.old.changed):
                    continue
                for item in old:
                    hit = next((one for one in rest if matches(item, one)), None)
                    if hit is None:
                        break
                    rest.remove(hit)
                else:
                    if set(rest) == set(left) or set(rest) == {
                        one for one in left if one not in given
                    }:
                        return
    if case.new.kind == "ruby":
        raise UnsureError
    raise UntrueError(why)


def check_sets(case: Case, found: re.Match[str]) -> None:
    text, region = case.both("new")
    other, others = case.both("old")
    for target, value in re.findall(rf"({ONE}) to ({ONE})", found["items"]):
        name, item = case.sentence.of(target)[0], case.sentence.of(value)[0]
        if name.cut:
            raise UnsureError
        here = assigned(text, region, name.text, item)
        need(here, f"`{name.text}` is not set to `{item.text}` in the new version")
        need(
            not assigned(other, others, name.text, item),
            f"the old version sets `{name.text}` to `{item.text}` too",
        )
        need(
            others or any(one & text.changed for one in here),
            f"`{name.text}` is set to `{item.text}` on no changed line",
        )


def check_has(case: Case, found: re.Match[str]) -> None:
    side = "old" if "no longer" in found[0] else "new"
    for item in case.sentence.of(found["items"]):
        if re.fullmatch(r"[\w$]+", item.text):
            check_name(item.text)
        gone_or_come(case, item, side, "code")


_IMPORTING = re.compile(
    r"^\s*(?:export\s+.*\bfrom\b|import\b|from\b|using\b|use\b|#\s*(?:include|import)\b|require|"
    r"(?:const|let|var)\b.*\brequire\b|load\b|autoload\b|\}\s*from\b|package\b|global using\b|.*\brequire\()"
)


def _statements(text: Text) -> list[tuple[str, set[int]]]:
    """Return the importing statements, on one line each, with their lines."""
    found: list[tuple[str, set[int]]] = []
    inside, prefix = "", ""
    for number, line in enumerate(text.code, start=1):
        if inside:
            found[-1] = (f"{found[-1][0]} {line.strip()}", found[-1][1] | {number})
            if inside in line:
                inside = ""
        elif _IMPORTING.match(line):
            found.append((line.strip(), {number}))
            for opening, closing in ("()", "{}"):
                if line.count(opening) > line.count(closing):
                    inside = closing
    del prefix
    return found


def _imports(text: Text, name: str) -> set[int]:
    """Return the lines that import a name: as it is written, or of a module that is named too."""
    lines: set[int] = set()
    module, _, last = name.rpartition(".")
    if " from " in name:
        last, _, module = name.rpartition(" from ")
        module = module.strip("\"'")
    plain = re.compile(r"(?<![\w$/.@:-])" + re.escape(name) + r"(?![\w$/-]|\.\w)")
    for statement, numbers in _statements(text):
        if plain.search(statement):
            words = plain
        elif module and re.search(r"(?<![\w$/@])" + re.escape(module) + r"(?![\w$/])", statement):
            wanted = words_of(last)
            held = words_of(statement.replace(module, " ", 1))
            if not wanted or any(word not in held for word in wanted):
                continue
            words = re.compile(rf"(?<![\w$]){re.escape(wanted[-1])}(?![\w$])")
        else:
            continue
        hit = {n for n in numbers if words.search(text.code[n - 1])}
        lines |= hit or numbers
    return lines


def check_imports(case: Case, found: re.Match[str]) -> None:
    side = "old" if "no longer" in found[0] else "new"
    text, region = case.both(side)
    other, others = case.both("old" if side == "new" else "new")
    for item in case.sentence.of(found["items"]):
        if item.cut:
            raise UnsureError
        name = item.text.strip("\"'<>")
        here = _imports(text, name) & set(text.numbers(region))
        if not here:
            whole = find_code(text, region, item)
            need(whole, f"the {side} version does not import `{item.text}`")
            here = set().union(*whole)
        need(here & text.changed, f"`{item.text}` is imported on no changed line")
        need(
            not _imports(other, name) & set(other.numbers(others)),
            f"the other version imports `{item.text}` too",
        )


def check_another(case: Case, found: re.Match[str]) -> None:
    call = case.sentence.of(found["call"])[0]
    if call.cut:
        raise UnsureError
    after = argument_lists(case.new, case.new_region, call.text)
    before = argument_lists(case.old, case.old_region, call.text)
    bare = (case.new.text(case.new_region, "bare"), case.old.text(case.old_region, "bare"))
    word = re.compile(rf"(?<![\w$]){re.escape(tail(call.text))}(?![\w$])")
    many = [len(word.findall(text)) for text in bare]
    need(
        many[1] or before, f"the old version does not call `{call.text}`, so it is not another call"
    )
    need(
        len(after) > len(before) or many[0] > many[1],
        f"the new version does not call `{call.text}` more often",
    )
    for item in case.sentence.of(found["given"] or ""):
        if item.cut:
            raise UnsureError
        need(
            any(matches(item, ",".join(args)) and lines & case.new.changed for args, lines in after)
            or (
                (not after or case.new.kind == "ruby")
                and find_code(case.new, case.new_region, item)
            )
            or any(
                squeeze(item.text).rstrip(",") == ",".join(args).rstrip(",")
                and lines & case.new.changed
                for args, lines in after
            ),
            f"no call of `{call.text}` with these arguments on a changed line",
        )


def check_new_call(case: Case, found: re.Match[str]) -> None:
    """Check that a call with these arguments came."""
    call = case.sentence.of(found["call"])[0]
    given = case.sentence.of(found["given"] or "")
    if call.cut or any(one.cut for one in given):
        raise UnsureError
    check_name(call.text) if "." not in call.text else None

    def calls(text: Text, region: Region) -> list[set[int]]:
        lists = argument_lists(text, region, call.text)
        wanted = squeeze(given[0].text).rstrip(",") if given else None
        return [lines for args, lines in lists if wanted in {None, ",".join(args).rstrip(",")}]

    here, there = calls(case.new, case.new_region), calls(case.old, case.old_region)
    if re.search(r"\.|->|::", call.text):
        # The same name may be called on something else.
        wanted = f"{call.text}({given[0].text if given else ''}"
        full = case.new.places(case.new_region, wanted)
        if full:
            here, there = full, case.old.places(case.old_region, wanted)
    if not here and given and case.new.kind == "js":
        wanted = call.text + given[0].text  # A tag before a template.
        here, there = (
            text.places(lines, wanted) for text, lines in (case.both("new"), case.both("old"))
        )
    if not here and (case.new.kind == "ruby" or not given):
        need(
            is_called(case.new, case.new_region, call.text, loose=True),
            f"`{call.text}` is not called",
        )
        raise UnsureError
    need(here, f"no call of `{call.text}` has these arguments in the new version")
    need(len(there) < len(here), f"the old version has this call of `{call.text}` as often")
    need(
        any(one & case.new.changed for one in here) or not there,
        f"no such call of `{call.text}` is on a changed line",
    )


def check_imports_from(case: Case, found: re.Match[str]) -> None:
    side, away = ("old", "new") if "no longer" in found[0] else ("new", "old")
    text, region = case.both(side)
    other, others = case.both(away)
    module = case.sentence.of(found["module"])[0].text
    for item in case.sentence.of(found["items"]):
        if item.cut or module.endswith("…"):
            raise UnsureError
        names = [f"{item.text} from {module}", item.text]
        here = set().union(*(_imports(text, name) for name in names)) & set(text.numbers(region))
        need(here, f"the {side} version does not import `{item.text}` from `{module}`")
        need(here & text.changed, f"`{item.text}` is imported on no changed line")
        there = _imports(other, names[0]) & set(other.numbers(others))
        need(not there, f"the other version imports `{item.text}` from `{module}` too")


def check_imports_many(case: Case, found: re.Match[str]) -> None:
    """Check `a` and `b` from `m` and `c` from `n`."""
    start = "no longer imports" if "no longer" in found[0] else "now imports"
    for part in re.finditer(
        rf"(?P<items>(?:{ONE}(?:, | and )?)+) from (?P<module>{ONE})", found["groups"]
    ):
        again = re.fullmatch(rf"{start} (?P<items>.*) from (?P<module>{ONE})", f"{start} {part[0]}")
        check_imports_from(case, again)


def check_part(case: Case, found: re.Match[str]) -> None:
    """Check a part of a value, or of a returned value, that is another one now."""
    old, new = case.sentence.of(found["old"])[0], case.sentence.of(found["new"])[0]
    differ(old, new)
    code_moved(case, new, "new", absent=False)
    code_moved(case, old, "old", absent=False)


def check_says(case: Case, found: re.Match[str]) -> None:
    prose = case.sentence.of(found["prose"])[0].text
    text, region = case.both("new")
    lines = [
        n
        for n in text.numbers(region)
        if any(abs(n - c) <= 1 for c in text.changed & {n - 1, n, n + 1})
    ]
    need(has_prose("\n".join(text.lines[n - 1] for n in lines), prose), "no changed line says so")
    other = case.pair.old
    need(not has_prose(other.source, prose), "the old version says so too")


def check_file_moved(case: Case, found: re.Match[str]) -> None:
    first, last = case.sentence.of(found["first"])[0].text, case.sentence.of(found["last"])[0].text
    need(case.pair.old_path == first and case.pair.path == last, "the paths are others")


def check_has_instead(case: Case, found: re.Match[str]) -> None:
    old, new = case.sentence.of(found["old"])[0], case.sentence.of(found["new"])[0]
    differ(old, new)
    need(squeeze(old.text) != squeeze(new.text), "they differ in white space only")
    code_moved(case, old, "old", absent=apart(old, new))
    code_moved(case, new, "new", absent=apart(old, new))


def check_line(case: Case, found: re.Match[str]) -> None:
    """Check lines that came and lines that went, each as a whole."""
    groups = found.groupdict()
    new, old = case.sentence.of(groups.get("new") or ""), case.sentence.of(groups.get("old") or "")
    for one in new:
        for two in old:
            differ(one, two)
    for items, side, away in ((new, "new", "old"), (old, "old", "new")):
        text, region = case.both(side)
        other, others = case.both(away)
        for item in items:
            if item.cut:
                raise UnsureError

            def hold(text: Text, region: Region, item: Item = item) -> set[int]:
                wanted = squeeze(item.text).rstrip(";,")
                return {
                    n
                    for n in text.numbers(region)
                    if squeeze(text.lines[n - 1]).rstrip(";,") == wanted
                }

            here, there = hold(text, region), hold(other, others)
            need(
                here or find_code(text, region, item),
                f"the {side} version has no line `{item.text}`",
            )
            need(not here or here & text.changed, f"the line `{item.text}` is not changed")
            need(
                len(there) < max(1, len(here)),
                f"the other version has the line `{item.text}` as often",
            )


def check_text(case: Case, found: re.Match[str]) -> None:
    old, new = case.sentence.of(found["old"])[0], case.sentence.of(found["new"])[0]
    differ(old, new)
    for item, side in ((old, "old"), (new, "new")):
        code_moved(case, item, side, what="text")


def check_changed(case: Case, found: re.Match[str]) -> None:
    numbers = {
        "added": re.search(r"(\d+) lines? added", found[0]),
        "removed": re.search(r"(\d+)(?: lines?)? removed", found[0]),
    }
    counts(case, **{key: int(one[1]) if one else 0 for key, one in numbers.items()})
    if not case.is_file:
        if case.topic.noun != "section":
            check_name(case.last)
        place = case.topic.place
        around = [
            one
            for one in case.declared(str(place.side), case.last)
            if one.line <= place.end and place.start <= one.end
        ]
        if place.start and not around:
            place_holds_name(case)
    for item in case.sentence.of(found.groupdict().get("items") or ""):
        held = " ".join(_changed_text(case, "raw"))
        need(tail(item.text.rstrip("…")) in held, f"the changed lines do not mention `{item.text}`")
        need(tail(item.text) not in NEVER_NAMES, f"`{item.text}` is no name")


def check_file(case: Case, found: re.Match[str]) -> None:
    if "deleted" in found[0] or "removed" in found[0]:
        need(case.pair.is_gone, "the file is still there")
    elif "added" in found[0]:
        need(case.pair.is_new, "the file was there before")
    else:
        raise UnsureError


def check_tests(case: Case, found: re.Match[str]) -> None:
    """Check several new tests that are told together."""
    for item in case.sentence.of(found["items"]):
        title = item.text
        new, old = case.declared("new", title), case.declared("old", title)
        need(new, f"the new version has no test “{title}”")
        need(any(one.line in case.new.changed for one in new), f"the head of “{title}” is not new")
        need(len(old) < len(new), f"the old version has the test “{title}” too")


def check_tests_have(case: Case, found: re.Match[str]) -> None:
    for item in case.sentence.of(found["items"]):
        wanted = call_pattern(item.text).search(case.new.text(case.new.everything(), "bare"))
        need(
            wanted if found["verb"] == "call" else find_code(case.new, case.new.everything(), item),
            f"no changed line has `{item.text}`",
        )


IN = rf"(?: in {LABEL})"
KINDS: list[tuple[str, str, Callable[[Case, re.Match[str]], None]]] = [
    (
        "new",
        rf"the new (?:file )?(?:[a-z][a-z ]*? )?{ONE}(?: in {ONE})? \((?P<lines>\d+) lines?\)(?P<rest>.*)",
        check_new,
    ),
    (
        "renamed",
        rf"the [a-z ]+ (?P<first>{ONE})(?: in {ONE})? has been renamed to (?P<last>{ONE})",
        check_renamed,
    ),
    (
        "removed",
        rf"(?:the file |the [a-z ]+ )?{ONE}(?: in {ONE})? \((?P<lines>\d+) lines?\) has been removed.*",
        check_removed,
    ),
    (
        "takes the place of",
        rf"{LABEL}(?: in {ONE})? takes the place of (?P<first>{ONE})",
        check_replaced,
    ),
    (
        "moved",
        rf"{LABEL} has (?:been )?moved from (?P<first>{ONE}) to (?P<last>{ONE})",
        check_moved,
    ),
    ("only layout", rf"only the layout of {LABEL}(?: in {ONE})? has changed", check_layout),
    ("only comments", rf"only comments have changed in {LABEL}(?: in {ONE})?", check_comments_only),
    (
        "has changed",
        rf"{LABEL}(?: in {ONE})? has changed \([^)]*\)(?:, around (?P<items>{LIST})|(?:;| has)[ ]the sections are .*)?",
        check_changed,
    ),
    ("imports", rf"{LABEL} (?:now|no longer) imports (?P<items>{LIST})", check_imports),
    (
        "imports",
        rf"{LABEL} (?:now|no longer) imports (?P<items>{LIST}) from (?P<module>{ONE})",
        check_imports_from,
    ),
    ("imports", rf"{LABEL} (?:now|no longer) imports (?P<groups>.* from .*)", check_imports_many),
    ("part", rf"{ONE}{IN} now has (?P<new>{ONE}) instead of (?P<old>{ONE})", check_part),
    (
        "part",
        rf"{LABEL} now returns a value with (?P<new>{ONE}) instead of (?P<old>{ONE})",
        check_part,
    ),
    (
        "new call",
        rf"{LABEL} has a new call of (?P<call>{ONE})(?: with (?P<given>{ONE}))?",
        check_new_call,
    ),
    (
        "another call",
        rf"{LABEL} has another call of (?P<call>{ONE})(?: with (?P<given>{ONE}))?",
        check_another,
    ),
    ("says", rf"{LABEL} now says (?P<prose>{ONE})", check_says),
    (
        "file moved",
        rf"the file (?P<first>{ONE}) has (?:been )?moved to (?P<last>{ONE})",
        check_file_moved,
    ),
    ("described", rf"{LABEL} is described as (?P<prose>{ONE})", check_described),
    ("comment", rf"a comment in {LABEL} now says (?P<prose>{ONE})", check_comment_says),
    (
        "default",
        rf"the default of (?P<name>{ONE}){IN} is now (?P<new>{ONE}) instead of (?P<old>{ONE})",
        check_default,
    ),
    (
        "type",
        rf"the parameter (?P<name>{ONE}) of {LABEL} now has the type (?P<new>{ONE}) instead of (?P<old>{ONE})",
        check_type,
    ),
    (
        "condition",
        rf"the condition (?P<old>(?:that not )?{ONE}){IN} is now (?P<new>(?:that not )?{ONE})",
        check_condition_now,
    ),
    ("text", rf"the text (?P<old>{ONE}){IN} is now (?P<new>{ONE})", check_text),
    (
        "passes",
        rf"the call to (?P<call>{ONE}){IN} (?:now passes (?P<new>{LIST}) instead of (?P<old>{LIST}))",
        check_passes,
    ),
    ("passes", rf"the call to (?P<call>{ONE}){IN} now also passes (?P<new>{LIST})", check_passes),
    ("passes", rf"the call to (?P<call>{ONE}){IN} no longer passes (?P<old>{LIST})", check_passes),
    (
        "value",
        rf"(?P<name>{ONE}){IN} is now (?P<new>{ONE}) instead of (?P<old>{ONE})",
        check_instead,
    ),
    (
        "parameter",
        rf"{LABEL} now takes (?P<came>{LIST}) instead of (?P<gone>{LIST})",
        check_parameters,
    ),
    (
        "parameter",
        rf"{LABEL} (?:now )?takes the new (?:optional )?parameters? (?P<came>{LIST})",
        check_parameters,
    ),
    ("parameter", rf"{LABEL} no longer takes the parameters? (?P<gone>{LIST})", check_parameters),
    ("declared", rf"{LABEL} is (?:now|no longer) declared (?P<items>{LIST})", check_declared_as),
    (
        "calls",
        rf"{LABEL} now (?P<verb>calls) (?P<new>{LIST}) and no longer (?P<old>{LIST})",
        check_exchanged,
    ),
    ("calls", rf"{LABEL} now (?P<verb>calls) (?P<new>{LIST})", check_exchanged),
    ("calls", rf"{LABEL} no longer (?P<verb>calls) (?P<old>{LIST})", check_exchanged),
    (
        "raises",
        rf"{LABEL} now (?P<verb>raises) (?P<new>{LIST}) instead of (?P<old>{LIST})",
        check_exchanged,
    ),
    (
        "raises",
        rf"{LABEL} now (?P<verb>raises) (?P<new>{LIST})(?: with the message (?P<message>{ONE}))?",
        check_exchanged,
    ),
    ("raises", rf"{LABEL} no longer (?P<verb>raises) (?P<old>{LIST})", check_exchanged),
    (
        "catches",
        rf"{LABEL} now (?P<verb>catches) (?P<new>{LIST}) instead of (?P<old>{LIST})",
        check_exchanged,
    ),
    ("catches", rf"{LABEL} now (?P<verb>catches) (?P<new>{LIST})", check_exchanged),
    ("catches", rf"{LABEL} no longer (?P<verb>catches) (?P<old>{LIST})", check_exchanged),
    ("catches", rf"{LABEL} catches (?P<items>{LIST})", check_catches),
    (
        "contents",
        rf"{LABEL} (?P<rest>(?:calls|raises|returns|takes|has|defines|holds) {LIST})",
        check_contents,
    ),
    (
        "raises",
        rf"{LABEL} (?P<verb>raises) (?P<error>{ONE}) with the new message (?P<message>{ONE})",
        check_message,
    ),
    (
        "overload",
        rf"{LABEL} has a new overload that takes (?P<items>{LIST}|no parameters|nothing)",
        check_overload,
    ),
    ("checks", rf"{LABEL} (?:now |no longer )?checks (?P<items>.*)", check_checks),
    ("returns", rf"{LABEL} now returns (?P<new>{LIST}) instead of (?P<old>{LIST})", check_returns),
    ("returns", rf"{LABEL} now returns (?P<new>{LIST})", check_returns),
    ("returns", rf"{LABEL} no longer returns (?P<old>{LIST})", check_returns),
    ("sets", rf"{LABEL} now sets (?P<items>.*)", check_sets),
    (
        "line",
        rf"{LABEL} now has the lines? (?P<new>{LIST})(?: instead of (?P<old>{LIST}))?",
        check_line,
    ),
    ("line", rf"{LABEL} no longer has the lines? (?P<old>{LIST})", check_line),
    (
        "has instead",
        rf"{LABEL} now has (?P<new>{ONE}) instead of (?P<old>{ONE})",
        check_has_instead,
    ),
    ("has", rf"{LABEL} (?:now|no longer) has (?:the texts? )?(?P<items>{LIST})", check_has),
    (
        "new tests",
        rf"the (?:\d+|two|three|four|five) new tests in {ONE} \(\d+ lines\) are (?P<items>.*)",
        check_tests,
    ),
    (
        "new tests",
        rf"the (?:\d+|two|three|four|five) new tests in {ONE} (?P<verb>check|return|call|raise|catch)s? (?P<items>.*)",
        check_tests_have,
    ),
    (
        "file",
        rf"(?:the (?:new )?(?:binary )?file )?{ONE} (?:has been|is) (?:added|deleted|removed).*",
        check_file,
    ),
]
_KINDS = [(name, re.compile(pattern), check) for name, pattern, check in KINDS]


class Verdict(NamedTuple):
    """Outcome of the check of one claim."""

    kind: str
    held: bool | None
    """None if it could not be checked."""
    why: str


def verdict(claim: object, pairs: dict[str, Pair]) -> Verdict:
    """Check one claim against the files of its change."""
    topic = claim.topic
    sentence = Sentence(claim.text)
    path = topic.place.path if topic is not None else ""
    pair = pairs.get(path) or next((one for one in pairs.values() if one.old_path == path), None)
    for kind, pattern, check in _KINDS:
        found = pattern.fullmatch(sentence.skeleton)
        if not found:
            continue
        if pair is None:
            return Verdict(kind, None, f"no file {path}")
        case = Case(sentence, topic, claim.spans, pair, pairs)
        if topic.state == "renamed" or kind == "takes the place of":
            first = found.groupdict().get("first")
            if first:
                case.first = tail(sentence.of(first)[0].text)
            else:
                was = _renamed_from.get((id(pairs), path, topic.name))
                case.first = was or case.first
        try:
            check(case, found)
        except UntrueError as error:
            return Verdict(kind, False, str(error))
        except UnsureError:
            return Verdict(kind, None, "cannot be checked")
        return Verdict(kind, True, "")
    return Verdict("unknown", None, sentence.skeleton)


_renamed_from: dict[tuple[int, str, str], str] = {}
"""Old names of renamed topics, from their own sentences."""


def judge(claims: Iterable[object], pairs: dict[str, Pair]) -> list[Verdict]:
    """Check all claims of one change."""
    claims = list(claims)
    _renamed_from.clear()
    for claim in claims:
        sentence = Sentence(claim.text)
        for kind, pattern, _ in _KINDS:
            if kind in {"renamed", "takes the place of"} and (
                found := pattern.fullmatch(sentence.skeleton)
            ):
                first = tail(sentence.of(found["first"])[0].text)
                _renamed_from[id(pairs), claim.topic.place.path, claim.topic.name] = first
    return [verdict(claim, pairs) for claim in claims]


# ------------------------------------------------------------------------------------------ main


def rows(data: Path, wanted: set[str]) -> Iterator[dict]:
    with gzip.open(data, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if not wanted or row["repository"] in wanted or row["commit"][:9] in wanted:
                yield row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--repositories", default="", help="names, or first nine digits of commits")
    parser.add_argument("--no-files", action="store_true", help="the generator sees the diff alone")
    parser.add_argument("--show", type=int, default=0, help="violations to print")
    parser.add_argument("--kinds", default="", help="kinds of sentences to print")
    parser.add_argument("--unknown", action="store_true", help="print the sentences that it skips")
    parser.add_argument("--claims", default="structural", help="claim generator")
    asked = parser.parse_args()
    generator = plugins.create("claims", asked.claims)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    repositories: dict[str, Counter[str]] = defaultdict(Counter)
    shown: list[str] = []
    only = set(filter(None, asked.kinds.split(",")))
    for row in rows(asked.data, set(filter(None, asked.repositories.split(",")))):
        diff = parse.parse_diff(row["diff"])
        if not asked.no_files:
            diff = parse.with_sources(
                diff, {path: tuple(both) for path, both in row["files"].items()}
            )
        try:
            claims = generator.generate([diff])[0].references
        except Exception as error:  # noqa: BLE001 - a failure of one change is reported
            print(
                f"{row['repository']} {row['commit'][:9]}: the generator failed: {error!r}",
                file=sys.stderr,
            )
            continue
        claims = [one for one in claims if str(one.kind) == "claim"]
        for claim, found in zip(claims, judge(claims, pairs_of(row)), strict=True):
            for table in (kinds[found.kind], repositories[row["repository"]]):
                table["all"] += 1
                table["checked"] += found.held is not None
                table["held"] += found.held is True
            show = found.held is False or (asked.unknown and found.held is None)
            if show and (not only or found.kind in only):
                where = f"{row['repository']} {row['commit'][:9]}"
                shown.append(f"[{found.kind}] {where}\n    {claim.text}\n    -> {found.why}")
    total = sum(kinds.values(), Counter())
    for line in shown[: asked.show]:
        print(line)
    print(f"claims {total['all']}, checked {total['checked']}, held {_share(total)}")
    print(f"renames {kinds['renamed']['checked']}, held {_share(kinds['renamed'])}")
    for title, table in (("kind", kinds), ("repository", repositories)):
        print(f"\n{title:32}{'claims':>8}{'checked':>9}{'held':>7}{'share':>8}")
        for name, one in sorted(table.items(), key=lambda item: -item[1]["all"]):
            print(f"{name:32}{one['all']:8}{one['checked']:9}{one['held']:7}{_share(one):>8}")


def _share(table: Counter[str]) -> str:
    return f"{table['held'] / table['checked']:.3f}" if table["checked"] else "-"


if __name__ == "__main__":
    main()
