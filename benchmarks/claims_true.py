r"""Check whether structural claims are true, without the code that generates them.

    python benchmarks/claims_true.py COMMITS [--repositories a,b] [--no-files] [--show 40]

COMMITS is a file of commits, one JSON object per line, with repository, commit, diff and files. A
claim is about a unit of code (function, class, test). What the claim quotes is searched in both
versions of the unit, as sequences of tokens on changed lines. Units are found without a parser: by
lines that declare their name, and by indentation. A claim that says several things is true if all
of them are. With --no-files, the generator sees only the diff; the check still reads the files.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from crscore import plugins
from crscore.diff import parse
from crscore.records import LineKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


FAMILIES = {
    "python": "py pyi", "go": "go", "js": "js jsx mjs cjs ts tsx mts cts svelte vue", "php": "php",
    "ruby": "rb rake gemspec", "c": "c h cc cpp cxx hpp hh m", "java": "java kt", "cs": "cs",
}  # fmt: skip
FAMILY = {end: family for family, ends in FAMILIES.items() for end in ends.split()}
QUOTED = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
SLASHED = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
TEMPLATE = r"|`(?:\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`"
JS_REGEX = r"|(?<=[(,=:!&|?;])[ ]*/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+/"
HEREDOC = r"|<<[<~-]?[\"']?(?P<doc>[A-Za-z]+)[\"']?\n.*?^\s*(?P=doc)\b"
OPAQUE = {
    "python": r'"""(?:\\.|.)*?"""|' + r"'''(?:\\.|.)*?'''|#[^\n]*|" + QUOTED,
    "ruby": r"^=begin.*?^=end|(?<![\w&$])#(?!\{)[^\n]*|" + QUOTED + JS_REGEX + HEREDOC,
    "php": rf"{SLASHED}{HEREDOC}|#(?!\[)[^\n]*|{QUOTED}",
    "cs": rf'{SLASHED}|\$?"""+.*?"""+|[$]?@[$]?"(?:""|[^"])*"|{QUOTED}',
    "java": rf'{SLASHED}|""".*?"""|{QUOTED}',
    "c": rf'{SLASHED}|R"\((?:.*?)\)"|{QUOTED}',
    "go": rf"{SLASHED}|`[^`]*`|{QUOTED}",
    "js": SLASHED + "|" + QUOTED + TEMPLATE + JS_REGEX,
}
"""Family of languages -> pattern of its comments and strings."""
TOKEN = re.compile(r"[\w$]+|[^\w\s]")
SAME_QUOTES = str.maketrans("'`", '""')
CONTINUED = re.compile(
    r"(?:[{#.?:]|=>|->|&&|\|\||(?:where|throws|else|elif|rescue|ensure|except|finally|catch|default|"
    r"case|then)\b|(?:public |private |protected )?\w+\s*:$)"
)
DECLARING = {
    "python": r"^\s*(?:async\s+)?(?:def|class)\s+{n}\b|^\s*{n}\s*(?::[^=\n]*)?=(?!=)",
    "ruby": r"\b(?:def|class|module)\s+(?:[\w:]+(?:\.|::))?{n}(?![\w?!])",
    "go": r"^func\s+(?:\([^)\n]*\)\s*)?{n}\s*[(\[]|^\s*type\s+{n}\b|"
    r"^\s*(?:(?:var|const)\s+)?{n}\s+(?:struct|interface|func|=)|^\s+{n}\([^)\n]*\)[^{{\n.]*$",
}
BRACED = (
    r"\b(?:class|interface|enum|record|struct|union|trait|namespace|type|function\s*\*?|define|"
    r"const|let|var|delegate\s[^(\n]*)\s+&?(?:\w+::)*{n}(?![\w$])(?!\s*;)"
    r"|^[ \t]*(?:[\w$]+\.)*{n}\s*[:=]\s*(?:async\s*)?(?:function|\(|\w+\s*=>|\w+\()"
    r"|^[ \t]*(?P<kind>[\w$<>\[\],.?*&:~@ \t]*[\s*&:])?(?<![.\w$]){n}(?:<[^<>()\n]*>)?\s*"
    r"(?P<open>\()"
    r"|^[ \t]*(?:[\w<>?,.\[\]]+[ \t]+)+{n}\s*(?:\{{|=>|=(?!=))|^\}}\s*{n}\s*;"
)
NO_DECLARATION = re.compile(r"\b(?:return|new|throw|else|await|yield|case|in|of|goto|not|and|or)\b")
BEFORE_BODY = re.compile(
    r"\s*(?:(?:const|override|noexcept|final|async)\b\s*|throws\s[\w.,\s]+|->\s*[\w:<>*&]+\s*|"
    r"where\s[^{;]+|:\s[^;=]+?)*(?:\{|=>|(;))|[ \t]*:"
)
RECEIVER = re.compile(r"func\s*(?:\((?:\w+\s+)?\*?(\w+))?")
NO_NAMES = re.compile(r"(?:if|else|for|while|switch|case|catch|try|return|do|throw|await|import)")
TEST_WORD = re.compile(r"\b(?:it|test|describe|context|should|Run|suite|specify|scenario|TEST)")


def split_tokens(text: str) -> list[str]:
    return TOKEN.findall(text.translate(SAME_QUOTES))


def words_of(text: str) -> str:
    return f" {' '.join(re.findall(r'[A-Za-z0-9_]+', text))} "


def letters(text: str) -> str:
    return re.sub(r"\\.|\W+", "", text)


def flat(text: str) -> str:
    return re.sub(r"[\s\\]", "", text.translate(SAME_QUOTES))


def tail(name: str) -> str:
    """Return the last part of a qualified name; a test's title, which has spaces, is unchanged."""
    name = re.sub(r"(?<=\w)<[^<>]*>(?=$|[.:])", "", name)
    return name if " " in name else re.split(r"\.|::|->|#", name)[-1] or name


class Stream:
    """Tokens of some lines, joined to one text by spaces, so that a pattern can span lines."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        pieces, self.starts, self.numbers, at = [" "], [], [], 0
        for number, line in lines:
            self.starts.append(at)
            self.numbers.append(number)
            pieces += [f"{token} " for token in split_tokens(line)]
            at += sum(len(token) + 1 for token in split_tokens(line))
        self.text = "".join(pieces)

    def find(self, pattern: str) -> list[range]:
        """Return the numbers of the lines of each match."""
        ranges = []
        for match in re.finditer(f"(?<= ){pattern}", self.text):
            low = bisect_right(self.starts, match.start() - 1) - 1
            high = max(low, bisect_right(self.starts, match.end() - 2) - 1)
            ranges.append(range(self.numbers[low], self.numbers[high] + 1))
        return ranges


def pattern_of(code: str) -> str:
    """Return a pattern that finds code in a `Stream`; for code that ends with "…", its start."""
    end = "" if code.endswith("…") else "(?= )"
    return " ".join(map(re.escape, split_tokens(code.rstrip("…")))) + end


class Text:
    """One version of a file."""

    def __init__(self, path: str, source: str) -> None:
        self.family = FAMILY.get(path.rpartition(".")[2].lower(), "")
        self.source = source
        self.lines = source.split("\n")
        self.changed: set[int] = set()
        """Numbers of the changed lines."""

    @cache  # noqa: B019 - the texts of one commit live as long as their check
    def view(self, which: str) -> list[str]:
        """Return the lines: `raw`, `code` (without comments) or `bare` (also without strings)."""

        def blank(match: re.Match[str]) -> str:
            text = match[0]
            code = re.match(r"[$@R]*[\"'`]| */[^/*]|<<", text)
            hidden = re.sub(r"[^\n]", " ", text)
            if code and which == "bare":
                return code[0] + hidden[code.end() : -1] + (hidden if "\n" in text else text)[-1:]
            return text if code else hidden

        if which == "raw" or not self.family:
            return self.lines
        return re.sub(OPAQUE[self.family], blank, self.source, flags=re.S | re.M).split("\n")

    def of(self, region: Collection[int], which: str = "code") -> list[tuple[int, str]]:
        lines = self.view(which)
        return [(n, lines[n - 1]) for n in sorted(region) if 0 < n <= len(lines)]

    def joined(self, region: Collection[int], which: str = "code") -> str:
        return "\n".join(line for _, line in self.of(region, which))

    def heads(self, name: str, *, test: bool = False) -> list[int]:
        """Return the numbers of the lines that declare a name, or a test with this title."""
        lines = set()
        if test:
            title = flat(name.rstrip("…"))
            whole = title if name.endswith("…") else f'{title}"'
            forms = (whole, f"({title.replace('.', ',')})", f"({title},", f",{title})")
            for n, line in enumerate(self.lines, 1):
                near = flat(line + self.lines[n] if line.endswith("(") else line)
                if TEST_WORD.search(line) and any(form in near for form in forms):
                    lines.add(n)
        source, name = "\n".join(self.view("bare")), tail(name)
        if name in self.source and " " not in name:
            pattern = DECLARING.get(self.family, BRACED).format(n=re.escape(name))
            for match in re.finditer(pattern, source, re.M):
                if not match.groupdict().get("open") or _is_declared(source, match):
                    lines.add(source.count("\n", 0, match.end() - 1) + 1)
        return sorted(lines)

    def extent(self, head: int) -> range:
        """Return the lines of the unit that is declared at a line, with the comments above it.

        The unit ends at the first later line that is not indented more, unless this line continues
        the unit.
        """
        lines, start, end, depth = self.view("bare"), head, head, 0
        base = _indent(lines[head - 1])
        for n in range(head + 1, len(lines) + 1):
            depth += lines[n - 2].count("(") - lines[n - 2].count(")")
            line, inner = lines[n - 1].strip(), lines[n - 1][_indent(self.lines[n - 1]) :][:1]
            if not line or inner.isspace() or (line[0] == "#" and self.family in {"c", "cs"}):
                # The line is blank, a directive, or begins inside of a comment or string.
                continue
            if depth <= 0 and _indent(lines[n - 1]) <= base and not CONTINUED.match(line):
                follows = next((x.strip() for x in lines[n : n + 2] if x.strip()), "")
                closes = line[0] in ")]}" or re.match(r"end\b", line)
                opens = line.endswith(("{", "(", "[", ":", "=>")) or follows.startswith("{")
                end = n if closes else end
                if not (closes and opens):
                    break
            end = n
        depth = 0
        while start > 1 and (above := self.lines[start - 2].strip()):
            depth += sum((char in ")]") - (char in "([") for char in lines[start - 2])
            ends = above[-1] in "{};" and above[0] not in "@[*/#"
            if depth <= 0 and (ends or (above[0] == "#" and self.family == "c")):
                break
            start -= 1
        return range(start, end + 1)

    @cache  # noqa: B019
    def units(self, name: str, around: str = "", *, test: bool = False) -> list[range]:
        """Return the lines of each unit of a name, inside of the unit `around` if this exists."""
        heads = self.heads(name, test=test)
        if self.family == "go":
            of = {head: RECEIVER.match(self.lines[head - 1]) for head in heads}
            heads = [head for head in heads if not of[head] or (of[head][1] or "") == around]
        outer = {head: self.extent(head) for head in self.heads(around)} if around else {}
        inside = [h for h in heads if any(h in inner and h != at for at, inner in outer.items())]
        if around and self.family == "c":
            lines = {head: re.sub(r"<.*?>", "", self.lines[head - 1]) for head in heads}
            inside = [head for head in heads if f"{around}::{name}" in lines[head]] or inside
        if outer and (inside or self.family != "go"):
            heads = inside
        return [self.extent(head) for head in heads]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_declared(source: str, match: re.Match[str]) -> bool:
    """Return whether a name followed by a parenthesis is declared, not called."""
    kind, depth, at = match["kind"] or "", 0, match.start("open")
    for at in range(match.start("open"), len(source)):
        depth += (source[at] in "([{") - (source[at] in ")]}")
        if depth == 0:
            break
    after = BEFORE_BODY.match(source, at + 1)
    is_valid = after and (not after[1] or re.search(r"\w", kind))
    return bool(is_valid) and not NO_DECLARATION.search(kind)


class Pair:
    """Both versions of a file."""

    def __init__(self, path: str, old_path: str, old: str | None, new: str | None) -> None:
        self.path, self.old_path = path, old_path
        self.missing = {"old": old is None, "new": new is None}
        self.text = {"old": Text(old_path, old or ""), "new": Text(path, new or "")}
        self.kept: list[dict[str, int]] = []
        """Line numbers, in both versions, of the context lines of the diff."""

    def across(self, region: Collection[int], side: str) -> set[int]:
        """Return the lines of a version that correspond to a region of the other version."""
        hit = [both[side] for both in self.kept if both[OTHER[side]] in region]
        low, high = min(hit, default=0), max(hit, default=-1)
        while low - 1 in self.text[side].changed:
            low -= 1
        while high + 1 in self.text[side].changed:
            high += 1
        return set(range(low, high + 1))


def pairs_of(row: dict) -> dict[str, Pair]:
    """Return both versions of each file of a commit, with the changed lines."""
    pairs = {}
    for file in parse.parse_diff(row["diff"]).files:
        path = file.path or file.old_path or ""
        pair = pairs[path] = Pair(
            path, file.old_path or path, *row["files"].get(path, (None, None))
        )
        for line in file.lines():
            if line.kind is LineKind.CONTEXT:
                pair.kept.append({"old": line.old, "new": line.new})
            else:
                side, number = ("new", line.new) if line.old is None else ("old", line.old)
                pair.text[side].changed.add(number)
    return pairs


class UntrueError(Exception):
    """Raised if a claim is not true; the text says why."""


class UnsureError(Exception):
    """Raised if a claim cannot be checked."""


def require(held: object, why: str) -> None:
    """Raise UntrueError, with the reason, if a condition does not hold."""
    if not held:
        raise UntrueError(why)


OTHER = {"old": "new", "new": "old"}
PIECE = re.compile(r"`([^`]*)`|“((?:[^“”]|“[^“”]*”)*)”")


class Case:
    """Claim, split into its quoted parts and the sentence around them, with its unit of code."""

    def __init__(self, claim: object, pair: Pair, pairs: dict[str, Pair], former: str = "") -> None:
        self.topic, self.pair, self.pairs = claim.topic, pair, pairs
        self.spans, self.items = claim.spans, []
        self.within: set[str] = set()
        """Patterns that may also occur in the other version, where they are part of what the claim
        says of it."""

        def aside(match: re.Match[str]) -> str:
            self.items.append(match[1] if match[1] is not None else match[2])
            return f"«{len(self.items) - 1}»"

        text = PIECE.sub(aside, re.sub(r", and so in \d+ more places?\.$", "", claim.text))
        self.skeleton = (text[:1].lower() + text[1:]).rstrip(".")
        name, noun = self.topic.name, self.topic.noun
        self.is_test = noun in {"test", "test suite"}
        self.is_file = not name or noun in {"section", "tests"} or "file" in noun
        title = re.search(r"(?:test|test suite) «(\d+)»", self.skeleton)
        last = self.items[int(title[1])] if self.is_test and title else tail(name)
        self.last = {"new": last, "old": (former if self.is_test else tail(former)) or last}
        """Name of the unit in each version, without qualifiers."""
        around = "" if self.is_test else tail(name.removesuffix(last).rstrip(".:#"))
        self.around = {"new": around, "old": around}
        """Name of the enclosing unit in each version, "" if there is none."""
        if "." in former and not self.is_test:
            self.around["old"] = former.split(".")[-2]
        self.place = range(self.topic.place.start, self.topic.place.end + 1)
        self.side = str(self.topic.place.side)

    def of(self, part: str | None) -> list[str]:
        """Return the quoted parts that a part of the sentence refers to."""
        return [self.items[int(index)] for index in re.findall(r"«(\d+)»", part or "")]

    def units(self, side: str, name: str = "", pair: Pair | None = None) -> list[range]:
        name = name or self.last[side]
        return (pair or self.pair).text[side].units(name, self.around[side], test=self.is_test)

    @cache  # noqa: B019
    def region(self, side: str, *, head: bool = False) -> frozenset[int]:
        """Return the lines of the unit in one version; with `head`, only those that declare it."""
        text, own = self.pair.text[side], self.side == side
        if head:
            heads = text.heads(self.last[side], test=self.is_test)
            return frozenset().union(
                *(_declaring(text, n) for n in heads if n in self.region(side))
            )
        if self.is_file:
            return frozenset(range(1, len(text.lines) + 1))
        places = self.units(side)
        if self.is_test and (own or len(places) > 1):  # Several tests may have the same title.
            near = set(self.place) if own else self.pair.across(self.place, side)
            places = [place for place in places if near & set(place)] or places
        if not own and not places and self.topic.state not in {"new", "removed"}:
            return frozenset(self.pair.across(self.place, side))
        return frozenset().union(*places, self.place if own else ())

    @cache  # noqa: B019
    def stream(self, side: str, which: str = "code", *, head: bool = False) -> Stream:
        return Stream(self.pair.text[side].of(self.region(side, head=head), which))

    def text(self, side: str, which: str = "code") -> str:
        return self.pair.text[side].joined(self.region(side), which)

    def came(self, pattern: str, side: str, *, alone: bool = False, head: bool = False) -> None:
        """Check that code is on changed lines of a version, and less often in the other version.

        With `alone`, the other version must not have it at all; with `head`, only declarations are
        searched.
        """
        if not self.region(side):
            raise UnsureError
        here = self.stream(side, head=head).find(pattern)
        here = here or self.stream(side, "raw", head=head).find(pattern)
        there = self.stream(OTHER[side], head=head).find(pattern)
        require(here, f"it is not in the {side} version")
        touched = any(self.pair.text[side].changed.intersection(lines) for lines in here)
        away = self.region(OTHER[side]) and (not there or pattern in self.within)
        require(touched or away, f"it is on no changed line of the {side} version")
        fewer = len(there) < (1 if alone else len(here))
        require(fewer or pattern in self.within, f"the {OTHER[side]} version has it, too")

    def covered_lines(self, side: str) -> set[int]:
        """Return the changed lines of a version that the claim's spans contain."""
        own = [range(span.start, span.end + 1) for span in self.spans if str(span.side) == side]
        return self.pair.text[side].changed.intersection(*[set().union(*own)])


def _declaring(text: Text, head: int) -> range:
    """Return the lines of a declaration, without the body."""
    bare, start = text.view("bare"), head
    while re.match(r"\s*(?:@|\[|#|template|static|public|inline)", text.lines[start - 2]):
        start -= 1
    for end in range(head, len(bare)):
        so_far = "".join(bare[head - 1 : end])
        if 0 < so_far.count("(") <= so_far.count(")") or (end > head and "(" not in so_far):
            return range(start, end + 1)
    return range(start, len(bare) + 1)


Check = "Callable[[Case, re.Match[str]], None]"


def each(case: Case, match: re.Match[str], check: Callable[[str, str], object]) -> None:
    """Apply a check to each quoted part that a claim says of the new and of the old version."""
    groups = match.groupdict()
    items = {side: case.of(groups.get(side)) for side in OTHER}
    items["old" if "no longer" in match[0] else "new"] += case.of(groups.get("items"))
    for side, mine in items.items():
        whole = Stream([(1, "\n".join(items[OTHER[side]]))])
        case.within |= {pattern for pattern in map(pattern_of, mine) if whole.find(pattern)}
        for item in mine:
            try:
                check(item, side)
            except UntrueError as error:
                raise UntrueError(f"`{item}`: {error}") from None
    require(items["new"] != items["old"] or not items["new"], "it says the same of both versions")


def pieces(
    before: str = "", *, alone: bool = False, part: bool = False, head: bool = False
) -> Check:
    """Return a check of claims that code was added or removed.

    Args:
        before: Pattern of the code before each part; NAME and TAIL in it are replaced by the part
            called `first`.
        alone: Whether the other version must not have the code, if the claim is about one version.
        part: Whether the code may also occur elsewhere in both versions.
        head: Whether the code is in the declaration of the unit.
    """

    def check(case: Case, match: re.Match[str]) -> None:
        groups = match.groupdict()
        first = "".join(case.of(groups.get("first")))
        lead = before.replace("NAME", pattern_of(first)).replace("TAIL", pattern_of(tail(first)))
        single = alone and not (groups.get("old") and groups.get("new"))

        def check_item(item: str, side: str) -> None:
            if head and not case.region(side, head=True):
                raise UnsureError
            code = pattern_of(item.lstrip("*&.$") if head else item)
            ruby = case.pair.text[side].family == "ruby" and not first
            pattern = ("" if ruby else lead) + code
            if part or pattern_of(item) in case.within:
                case.within.add(pattern)
            case.came(pattern, side, alone=single, head=head)

        each(case, match, check_item)

    return check


VALUE = r"NAME(?: [^\s;=]+| [gs]et ;| init ;){0,30}? (?:[=:>({,|.<~+*/%&!?-] )*?"
CALLED = r"TAIL(?: [^\w\s]| [\w$]+ >)*? "
RETURNED = r"(?:return |= > )(?:\( |await )*"
TESTED = r"(?:if|elif|elsif|elseif|while|unless|until|return|=) (?:\( )*CODE(?= [):{;?]| then)"


def check_condition(case: Case, match: re.Match[str]) -> None:
    def check(item: str, side: str) -> None:
        code = pattern_of(item)
        count = [
            len(case.stream(side_name).find(TESTED.replace("CODE", code))) for side_name in OTHER
        ]
        if count[0] != count[1] and (count[0] > count[1]) == (side == "old"):
            case.within.add(code)  # The same code may occur elsewhere.
        elif code in case.within:  # A part of the other version's condition, but all of this one's.
            code = TESTED.replace("CODE", code)
            case.within.add(code)
        case.came(code, side)

    each(case, match, check)


STATEMENTS = {
    "raise": r"\b(?:raise|throws?|fail|panic|reject|abort)\b[^;]{0,80}?(?<![\w$])NAME(?![\w$])",
    "catch": r"(?:\b(?:except|catch|rescue|isinstance|instanceof|when|Is|As|suppress)\b"
    r"(?:[^:;{]|::){0,200}?|\|\s*)(?<![\w$])NAME(?![\w$])",
    "call": r"(?<!def )(?<!function )(?<!func )(?<![\w$])NAME(?![\w$])(?:\?\.)?!?\s*"
    r"(?:<[^;(){}]*>|\[[^\](]*\]|::<[^>]*>)?\s*[(`{]|(?:\bnew\s+[\w.\\:]*?|@[\w.]*)NAME(?![\w$])",
}


def states(case: Case, verb: str, item: str, side: str, which: str = "code") -> bool:
    """Return whether the unit, in one version, calls, raises or catches something."""
    if item.endswith("…"):
        raise UnsureError
    last, family = tail(item), case.pair.text[side].family
    loose = verb == "call" and family in {"ruby", ""}
    name = re.escape(last.strip("?!")) + (r"[?!]" if last[-1:] in "?!" and loose else "")
    form = r"(?<![\w$])NAME(?![\w$])" if loose else STATEMENTS[verb]
    return bool(re.search(form.replace("NAME", name), case.text(side, which)))


def check_statement(case: Case, match: re.Match[str]) -> None:
    verb = match["verb"][:5].rstrip("s")

    def check(item: str, side: str) -> None:
        require("." in item or not NO_NAMES.fullmatch(item), "it is a keyword")
        require(states(case, verb, item, side), f"the {side} version does not {verb} it")
        there = states(case, verb, item, OTHER[side], "bare")
        require(not there or "new message" in match[0], f"the other version does {verb} it, too")

    each(case, match, check)
    for message in case.of(match.groupdict().get("message")):
        case.came(pattern_of(message), "new")


def contents(case: Case, verb: str, items: list[str], side: str) -> None:
    """Check what the unit contains in one version; the other version does not matter."""
    for item in items:
        verb = re.sub(r"e?s$", "", verb) if verb[:4] in {"call", "rais", "catc"} else verb
        if verb.rstrip("e") in {"call", "rais", "catch"}:
            held = states(case, "raise" if verb[0] == "r" else verb, item, side)
        elif verb in {"holds", "defines", "with", "are", ":"}:
            held = letters(item.rstrip("…")) in letters(case.text(side, "raw"))
        else:
            head = verb == "takes" and bool(case.region(side, head=True))
            code = pattern_of(item.lstrip("*&.$")) if head else pattern_of(item)
            streams = [case.stream(side, which, head=head) for which in ("code", "raw")]
            held = any(stream.find(rf"\$?{code}") for stream in streams)
        require(held, f"`{item}`: the unit does not have it")


def check_contents(case: Case, match: re.Match[str]) -> None:
    contents(case, match["verb"], case.of(match["items"]), "new")


ITEMS = r"[^()]"
for _ in range(4):
    ITEMS = rf"(?:[^()]|\({ITEMS}*\))"
ITEMS = rf"(?<= )NAME (?:< [^();]*> )?[({{] {ITEMS}*\)?"


def check_passes(case: Case, match: re.Match[str]) -> None:
    """Check added and removed arguments of a call; Ruby's calls may have no parentheses."""
    name = pattern_of(tail(case.of(match["call"])[0]))
    arguments = {
        side: " ".join(re.findall(ITEMS.replace("NAME", name), case.stream(side).text))
        for side in OTHER
    }
    loose = "a value with" in match[0] or not all(arguments.values())

    def check(item: str, side: str) -> None:
        require(case.stream(side).find(name), f"the {side} version has no such call")
        require(case.stream(side).find(pattern_of(item)), f"the {side} version does not have it")
        edges = r"(?<=[(,{] )CODE(?= []),}])".replace("CODE", pattern_of(item))
        count = {side_name: len(re.findall(edges, arguments[side_name])) for side_name in OTHER}
        is_known = loose or item.endswith("…") or (count[side] and pattern_of(item) in case.within)
        fewer = is_known or count[side] > count[OTHER[side]]
        require(fewer, f"it is passed {count['old']} times, now {count['new']} times")

    each(case, match, check)


def check_imports(case: Case, match: re.Match[str]) -> None:
    """Check imported names on changed lines; names of a module may also occur elsewhere."""

    def check(item: str, side: str) -> None:
        codes = [
            pattern_of(re.split(r"\s+as\s+|\.\*$", code_text)[0])
            for code_text in (item, tail(item))
        ]
        if case.pair.text[side].family == "go":
            codes = [f'" {codes[0]} "']
        code = next(
            (candidate for candidate in codes if case.stream(side).find(candidate)), codes[0]
        )
        case.within |= {code} if " from " in match[0] else set()
        case.came(code, side)

    each(case, match, check)


def check_prose(case: Case, match: re.Match[str]) -> None:
    """Check what a comment or a document says; if the claim says "now", the old one does not."""
    (prose,) = case.of(match["prose"])
    wanted = words_of(prose.rstrip("…"))[: -1 if prose.endswith("…") else None]
    for side in OTHER if " now says " in match[0] else ["new"]:
        text = case.text(side, "raw")
        tagless = [re.sub(tag, " ", text) for tag in (r"</?\w+/?>", r"</?[\w:]+[^>\n]*>|\s@\w+")]
        held = any(wanted in words_of(prose) for prose in (text, *tagless))
        require(held == (side == "new"), f"the {side} version does {'' if held else 'not '}say so")


def check_size(case: Case, match: re.Match[str]) -> None:
    """Check numbers of lines: all lines of a new or removed unit, or the changed lines."""
    sizes = {side: len(case.pair.text[side].changed & case.region(side)) for side in OTHER}
    for side, pattern in (("new", r"(\d+) lines? added"), ("old", r"(\d+)(?: lines?)? removed\)")):
        for count_text in re.findall(pattern, match[0]):
            require(int(count_text) <= sizes[side], f"it has {sizes[side]} {side} changed lines")
    if whole := re.search(r"\((\d+) lines?\)", match[0]):
        lines = case.pair.text[case.side].of(case.place, "raw")
        low = sum(bool(line.strip()) for _, line in lines)
        high = max(len(lines), len(case.region(case.side)))
        low, high = (case.topic.lines,) * 2 if case.is_file else (low, high)
        require(low <= int(whole[1]) <= high, f"it has {low} to {high} lines")
    for item in case.of(match.groupdict().get("around")):
        held = [case.stream(side, "raw").find(pattern_of(tail(item))) for side in OTHER]
        require(any(held), f"`{item}` is not in it")


def check_new(case: Case, match: re.Match[str]) -> None:
    """Check that a unit or file is new or removed, and what it contains."""
    side = "old" if "removed" in match[0] else "new"
    check_size(case, match)
    if case.is_file:
        tests = case.topic.noun == "tests"
        require(tests or case.pair.missing[OTHER[side]], "the file is in both versions")
    else:
        name, text = case.last[side], case.pair.text[side]
        require(not NO_NAMES.fullmatch(name), f"`{name}` is a keyword")
        is_known = letters(name.rstrip("…")) in letters(text.joined(case.place, "raw"))
        require(is_known or name in {"constructor", "default"}, "its place has no such name")
        require(text.changed & set(case.place), "its place has no changed lines")
        there = len(case.units(OTHER[side], name))
        require(there <= (name == case.around[side]), f"`{name}` is declared in both versions")
    for verb, items in re.findall(rf"(\w+|:)(?: the tests?)? ({LIST})", match["rest"]):
        contents(case, verb, case.of(items), side)


def check_overload(case: Case, match: re.Match[str]) -> None:
    count = {side: len(case.units(side)) for side in OTHER}
    more = "old" if "less" in match[0] else "new"
    if not count[more]:
        raise UnsureError
    require(count[more] > count[OTHER[more]] > 0, f"it has {count} declarations")
    contents(case, "takes", case.of(match["items"]), more)


def alike(one: str, two: str) -> float:
    """Return the share of the tokens of the shorter text that the other text has, in [0, 1]."""
    left, right = Counter(split_tokens(one)), Counter(split_tokens(two))
    return (left & right).total() / max(1, min(left.total(), right.total()))


def check_renamed(case: Case, match: re.Match[str]) -> None:
    replaced = "takes the place" in match[0]
    require(len({*case.of(match["name"]), *case.of(match["new"])}) == 2, "both names are the same")
    if not replaced:
        case.last["new"] = tail(case.of(match["new"])[0])
    for side, name in case.last.items():
        require(not NO_NAMES.fullmatch(name), f"`{name}` is a keyword")
        here = case.units(side)
        there = case.pair.text[OTHER[side]].units(name, case.around[side], test=case.is_test)
        is_known = here or letters(name.rstrip("…")) in letters(case.text(side, "raw"))
        require(is_known, f"`{name}` is not in the {side} version")
        require(len(there) < max(1, len(here) * replaced), f"`{name}` is in the other version, too")
    bodies = [case.text(side) for side in OTHER]
    require(replaced or not all(bodies) or alike(*bodies) > 0.6, "their bodies are not alike")


def check_moved(case: Case, match: re.Match[str]) -> None:
    (former,), (now,) = case.of(match["old"]), case.of(match["new"])[-1:]
    if "the file" in match[0]:
        require((former, now) == (case.pair.old_path, case.pair.path), "it has other paths")
        return
    pairs = [pair for pair in case.pairs.values() if former in {pair.path, pair.old_path}]
    if not pairs:
        raise UnsureError
    name, text = case.of(match["name"])[0], pairs[0].text["old"]
    name = name if case.is_test else tail(name)
    here = case.units("old", name, pairs[0]) or text.units(name, test=case.is_test)
    require(here and now == case.pair.path, f"`{name}` was not in `{former}`, or is elsewhere")
    left = len(case.units("new", name, pairs[0]))
    require(left < len(here), f"`{name}` is still in `{former}`")
    bodies = [case.pair.text["new"].joined(case.place), case.text("new")]
    best = max(alike(text.joined(span), body) for span in here for body in bodies)
    require(best > (0.4 if "and changed" in match[0] else 0.8), "it was not the same")


def check_file(case: Case, match: re.Match[str]) -> None:
    missing = case.pair.missing
    require("added" not in match[0] or missing["old"], "the file was there before")
    require("removed" not in match[0] or missing["new"], "the file is still there")


def check_only(case: Case, match: re.Match[str]) -> None:
    """Check that only the formatting, or only comments have changed."""
    which = "code" if "comments" in match[0] else "raw"

    def plain(side: str, region: Collection[int]) -> list[str]:
        text = case.pair.text[side].joined(region, which)
        if which == "code" and case.pair.text[side].family == "python":
            text = re.sub(r'(?:^|(?<=\n))\s*[rub]*"""(?:.|\n)*?"""', "", text)
        return sorted(re.sub(r"[\s(),;\"\\{}*]", "", text.translate(SAME_QUOTES)))

    lines = {side: case.covered_lines(side) for side in OTHER}
    require(any(lines.values()), "it has no changed lines")
    is_same = plain("old", lines["old"]) == plain("new", lines["new"])
    unit = not case.is_file and plain("old", case.region("old")) == plain("new", case.region("new"))
    require(is_same or unit, "other code has changed, too")


ONE = r"«\d+»"
LIST = rf"{ONE}(?:, {ONE})*(?:,? and (?:{ONE}|\d+ more))?"
WHAT = rf"(?:(?:the (?:[a-z][a-z ]*? )?)?(?P<name>{ONE})(?: (?:in|of) {ONE})?|the code)"
PARTS = {
    "WHAT": WHAT,
    "WITHIN": rf" in {WHAT}",
    "REST": rf"(?P<rest>(?:,?(?: and)?(?: with)? ?\w*(?: the tests?)? {LIST})*)",
    "INSTEAD": f"(?P<new>{LIST})(?: instead of (?P<old>{LIST}))?",
    "LINES": r"\(\d+ lines?(?: removed)?\)",
    "KIND": "(?:[a-z][a-z ]* )?",
    "PARTLY": "(?:a value with )?",
    "NOW": "(?:now|no longer)",
    "NOT": "(?:that not )?",
    "ONE": ONE,
    "LIST": LIST,
    "VERB": "(?P<verb>calls?|raises?|catch(?:es)?|returns?|takes|has|defines|holds|checks?)",
    "STATES": "(?P<verb>raises|catches|calls)",
    "ANY": "(?:that not )?(?P<items>.*)",
}
"""Word of the templates in `KINDS` -> pattern."""
KINDS: list[tuple[str, str, Check]] = [
    ("new", "the new KIND<name>(?: in ONE)? LINES(?: has been added)?REST", check_new),
    ("new", "the new [a-z ]*<name> LINES has the sections .*(?P<rest>)", check_new),
    ("removed", "WHAT LINES has been removedREST", check_new),
    ("renamed", "WHAT has been renamed to <new>", check_renamed),
    ("takes the place of", "WHAT takes the place of <new>", check_renamed),
    ("moved", "WHAT has moved from <old> to (?P<new>ONE(?: in ONE)?).*", check_moved),
    ("moved", "the file <old> has moved to <new>", check_moved),
    ("file", "(?:the KIND)?ONE (?:has been|is|has another) [a-z ]+", check_file),
    (
        "only",
        "only (?:the (?:formatting|layout|place) of WHAT has|comments have) changed.*",
        check_only,
    ),
    ("changed", r"WHAT has changed \([^)]*\)(?:, around <around>|; the sections .*)?", check_size),
    ("overload", "WHAT has one more declaration LINES(?: takes <items>)?", check_overload),
    ("overload", "WHAT has one declaration less LINES(?P<items>)", check_overload),
    ("overload", "WHAT has a new overload that takes <items>", check_overload),
    ("new tests", r"the \d+ new tests in ONE LINES(?P<rest> are LIST)", check_new),
    ("new tests", r"WHAT has \d+ new tests LINES(?P<rest>: LIST)", check_new),
    ("contents", r"the \d+ new tests in ONE VERB ANY", check_contents),
    ("says", "(?:a comment in )?WHAT (?:is described as|now says) <prose>", check_prose),
    ("imports", "WHAT NOW imports ANY", check_imports),
    ("parameter", "the default of <first>WITHIN is now INSTEAD", pieces(VALUE, head=True)),
    ("parameter", "the parameter ONE of WHAT now has the type INSTEAD", pieces(head=True)),
    ("parameter", "WHAT now takes INSTEAD", pieces(r"\$?", head=True)),
    ("parameter", "WHAT takes the new(?: optional)? parameters? <new>", pieces(r"\$?", head=True)),
    ("parameter", "WHAT no longer takes the parameters? <old>", pieces(r"\$?", head=True)),
    (
        "passes",
        "the call to <call>WITHIN now(?: also)? passes (?P<part>PARTLY)INSTEAD",
        check_passes,
    ),
    ("passes", "the call to <call>WITHIN no longer passes <old>", check_passes),
    ("new call", "WHAT has a new call of <new>", pieces()),
    ("new call", "WHAT has a new call of <first> with <new>", pieces(CALLED)),
    ("condition", "the condition NOT<old>WITHIN is now NOT<new>", check_condition),
    ("condition", "WHAT NOW checks ANY", check_condition),
    ("text", "the text <old>WITHIN is now <new>", pieces(alone=True)),
    ("value", "<first>WITHIN is now INSTEAD", pieces(VALUE)),
    ("value", "WHAT now sets <first> to <new>", pieces(VALUE)),
    ("states", "WHAT now STATES <new>(?: and no longer <old>)?", check_statement),
    ("states", "WHAT now STATES INSTEAD(?: with the message <message>)?", check_statement),
    ("states", "WHAT no longer STATES <old>", check_statement),
    ("states", "WHAT STATES <new> with the new message <message>", check_statement),
    ("contents", "WHAT VERB ANY", check_contents),
    ("part", "WHAT now returns a value with <new> instead of <old>", pieces(part=True)),
    ("returns", "WHAT now returns INSTEAD", pieces(RETURNED)),
    ("returns", "WHAT no longer returns <old>", pieces(RETURNED)),
    ("line", "WHAT now has the line INSTEAD", pieces(alone=True)),
    ("line", "WHAT no longer has the line <old>", pieces(alone=True)),
    ("part", "(?:ONE in )?WHAT now has <new> instead of <old>", pieces(part=True)),
    ("has", "WHAT now has (?:the texts? )?<new>", pieces()),
    ("has", "WHAT no longer has (?:the texts? )?<old>", pieces(alone=True)),
]


@cache
def pattern_for(template: str) -> re.Pattern[str]:
    """Return the pattern of a template; `<old>` in it is a list of quoted parts with this name."""
    template = re.sub(r"(?<!\?P)<(\w+)>", r"(?P<\1>LIST)", template)
    return re.compile(re.sub(r"[A-Z]{3,}", lambda match: PARTS[match[0]], template))


def verdict(claim: object, pairs: dict[str, Pair], former: str) -> tuple[str, bool | None, str]:
    """Return the kind of a claim, whether it is true (None if unknown), and why it is not."""
    path = claim.topic.place.path
    pair = pairs.get(path) or next(
        (other_pair for other_pair in pairs.values() if other_pair.old_path == path), None
    )
    if pair is None:
        return "unknown", None, f"no file {path}"
    case = Case(claim, pair, pairs, former)
    for kind, template, check in KINDS:
        if match := pattern_for(template).fullmatch(case.skeleton):
            try:
                check(case, match)
            except UntrueError as error:
                return kind, False, str(error)
            except UnsureError:
                return kind, None, "cannot be checked"
            return kind, True, ""
    return "unknown", None, case.skeleton


FORMER = re.compile(r"`([^`]*)` (?:in `[^`]*` )?has been renamed|takes the place of [`“](.*)[`”]\.")


def judge(claims: Iterable[object], pairs: dict[str, Pair]) -> list[tuple[str, bool | None, str]]:
    """Check all claims of one change; return the `verdict` of each."""
    # Claims that say that a unit was renamed give its name in the old version.
    former = {
        (claim.topic.place.path, claim.topic.name): match[1] or match[2]
        for claim in claims
        if (match := FORMER.search(claim.text))
    }
    topics = [(claim.topic.place.path, claim.topic.name) for claim in claims]
    former_names = [former.get(topic, "") for topic in topics]
    return [verdict(claim, pairs, name) for claim, name in zip(claims, former_names, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--repositories", default="", help="names, or first nine digits of commits")
    parser.add_argument("--no-files", action="store_true", help="give the generator only the diff")
    parser.add_argument("--show", type=int, default=0, help="number of untrue claims to print")
    parser.add_argument("--unknown", action="store_true", help="print unchecked claims, too")
    asked = parser.parse_args()
    generator = plugins.create("claims", "structural")
    wanted = set(filter(None, asked.repositories.split(",")))
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    shown: list[str] = []
    for row in map(json.loads, gzip.decompress(asked.data.read_bytes()).splitlines()):
        if wanted and not wanted & {row["repository"], row["commit"][:9]}:
            continue
        diff = parse.parse_diff(row["diff"])
        if not asked.no_files:
            files = {path: tuple(texts) for path, texts in row["files"].items()}
            diff = parse.with_sources(diff, files)
        claims = [
            claim for claim in generator.generate([diff])[0].references if claim.kind == "claim"
        ]
        for claim, (kind, held, why) in zip(claims, judge(claims, pairs_of(row)), strict=True):
            kinds[kind].update(all=1, checked=held is not None, held=held is True)
            if held is False or (asked.unknown and held is None):
                where = f"[{kind}] {row['repository']} {row['commit'][:9]}"
                shown.append(f"{where}\n    {claim.text}\n    -> {why}")
    print(*shown[: asked.show], sep="\n")
    rows = sorted(kinds.items(), key=lambda item: -item[1]["all"])
    print(f"{'kind':20}{'claims':>8}{'checked':>9}{'held':>7}{'share':>8}")
    for name, counts in [("all", sum(kinds.values(), Counter())), *rows]:
        share = f"{counts['held'] / counts['checked']:.4f}" if counts["checked"] else "-"
        print(f"{name:20}{counts['all']:8}{counts['checked']:9}{counts['held']:7}{share:>8}")


if __name__ == "__main__":
    main()
