"""Sentences for tool findings, as a reviewer would write them."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from crscore.records import Severity
from crscore.static_analysis.analyzer import Manifest
from crscore.static_analysis.reports import RawFinding

MAX_MESSAGE = 2_000
"""Maximum characters of a tool's message, or of a line of its errors, that patterns search."""
MAX_NAME = 80
"""Maximum characters of a name taken from the code; longer names are cut."""
_SLOT = re.compile(r"\{(\w+)\}")


class Worded(NamedTuple):
    """Finding in English."""

    text: str
    """Finding as one sentence."""
    severity: Severity
    """Severity of the finding."""


def word_finding(finding: RawFinding, manifest: Manifest) -> Worded:
    """Return a finding as a sentence that a reviewer would write.

    Args:
        finding: Finding as printed by the tool.
        manifest: Manifest with sentences; the first whose rule and message match is filled in.
            Otherwise the tool's own message is used.

    Returns:
        The sentence and the severity.
    """
    severity = _severity(finding, manifest)
    for sentence in manifest.sentences:
        if not sentence.rule.compiled.fullmatch(finding.rule):
            continue
        match = sentence.message.compiled.search(finding.message[:MAX_MESSAGE])
        if match is not None:
            names = {key: _short(value) for key, value in match.groupdict().items()}
            text = _filled(sentence.text, names)
            if text is not None:
                return Worded(text, sentence.severity or severity)
    return Worded(shorten(finding.message) or _nameless(finding.rule), severity)


def _filled(text: str, names: Mapping[str, str]) -> str | None:
    """Fill in names; return None when one is empty, as in "Unused import ``."."""
    names_used = _SLOT.findall(text)
    if not all(names[name] for name in names_used):
        return None
    return _SLOT.sub(lambda slot: names[slot[1]], text)


def _nameless(rule: str) -> str:
    return f"This breaks the rule `{_short(rule)}`." if _short(rule) else "Something is wrong here."


def _severity(finding: RawFinding, manifest: Manifest) -> Severity:
    table = manifest.severity
    level = finding.level or ""
    if level in table:
        return table[level]
    severity = level if level in set(Severity) else table.get("default", Severity.WARNING)
    return Severity(severity)


def _short(value: str | None) -> str:
    # The sentence itself puts names in backticks.
    text = " ".join((value or "").replace("`", " ").split())
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


MAX_SENTENCE: Final = 300
"""Maximum characters of a sentence, including the ellipsis of a cut."""
_READ_CHARS: Final = 4_000
"""Maximum characters read of a message, enough for its first sentence."""

_FENCE: Final = re.compile(r"(?:```|~~~)")
_CODE_SPAN: Final = re.compile(r"(`{1,3})(?!`)([^`\n]{1,400})\1(?!`)")
_IMAGE: Final = re.compile(r"!\[[^\]\n]{0,300}\]\([^)\s]{0,1000}\)")
# `[text](1)`, `[text](https://host/page)`, `[text](#part)`, but not the call `table[0](x)`
_LINK: Final = re.compile(
    r"(?<![\w)\]\\])\[((?:\\.|[^\[\]\\\n]){1,400})\]"
    r"\((?:\d{1,9}|#[^\s()]{1,200}|\.{0,2}/[^\s()]{0,1000}|[a-z][a-z0-9+.-]{1,20}:[^\s()]{0,1000})\)",
    re.IGNORECASE,
)
_LITERAL_LINK: Final = re.compile(r"\\\[((?:[^\[\]\\\n]){0,400})\\\](?=\()")
_TAG: Final = re.compile(r"</?(?:b|br|code|em|i|li|p|pre|strong|tt|ul)\s?/?>", re.IGNORECASE)
# "*a*", "**a**", "***a***", but not "2 * 3 * 4"
_STRONG: Final = re.compile(r"(?<!\*)\*{1,3}(?=\S)([^*\n]{1,300})(?<=\S)\*{1,3}(?!\*)")
# "# a", "> a", "- a", "1. a"
_OPENING: Final = re.compile(r"^(?:#{1,6}|>|[-*+•]|\d{1,2}[.)])\s+")
# A line that starts a list, a heading or a quote ends the preceding text.
_NEW_PART: Final = re.compile(r"\n\s*(?:\n|(?=(?:#{1,6}|>|[-*+•]|\d{1,2}[.)])\s))")
# 'name', "name", ‘name’ and "pkg.name()", but not the apostrophe of a word
_QUOTED_NAME: Final = re.compile(
    r"(?<![\w`])(?:'([A-Za-z_$][\w$.:<>\[\]()-]{0,79})'|\"([A-Za-z_$][\w$.:<>\[\]()-]{0,79})\""
    r"|\u2018([A-Za-z_$][\w$.:<>\[\]()-]{0,79})\u2019)(?![\w`])"
)
# A full stop, then a capital, a digit or a quotation; "e.g. a", "3.11" and "os.path" have none.
_END: Final = re.compile(r"[.!?][\"')\]]?(?=\s+[\"'(\[`\x02]?[A-Z0-9\x02`]|\s*$)")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|resp|incl|[A-Z])\.$"
)
# "unused", "don't", but not "os.path", "main()", "useEffect" or "max_len"
_PLAIN_WORD: Final = re.compile(r"[a-z]+(?:['’-][a-z]+)*(?=[,;:.!?]?(?:\s|$))")
_HOLD: Final = "\x02"


def resolve_links(text: str) -> str:
    r"""Replace embedded links by their text.

    Example:
        >>> resolve_links("It depends on a [user's value](1), see [CWE-79](https://x.example/79).")
        "It depends on a user's value, see CWE-79."
        >>> resolve_links(r"The call `table[0](x)` and the literal \[a\](b).")
        'The call `table[0](x)` and the literal [a](b).'
    """
    text = _LINK.sub(lambda match: re.sub(r"\\([\[\]\\])", r"\1", match[1]), text)
    return _LITERAL_LINK.sub(r"[\1]", text)


def shorten(message: str) -> str:
    r"""Convert the first sentence of a tool's message to plain English.

    Markdown is resolved, code spans are kept, names in quotation marks become code spans, line
    ends become spaces. The sentence is capitalized, unless it starts with a name, and ends with a
    full stop.

    Args:
        message: Any text; may be Markdown or several lines.

    Returns:
        One line of at most `MAX_SENTENCE` characters, cut at a word with `…`; "" for a message
        without any text.

    Example:
        >>> shorten("**Unused** variable 'x'.\n\nSee [the rule](https://x.example/r).")
        'Unused variable `x`.'
        >>> shorten("variable 'y' is assigned, e.g. in a loop, but never used")
        'Variable `y` is assigned, e.g. in a loop, but never used.'
        >>> shorten("os.system() is not safe")
        'os.system() is not safe.'
    """
    text = message[:_READ_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    # Control characters could forge a placeholder, and move the cursor of a terminal.
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", text)
    text = _first_part(text)
    spans: list[str] = []

    def hold(match: re.Match[str]) -> str:
        # Replaced by a placeholder: code is not Markdown and does not end sentences.
        spans.append(match[2].strip())
        return f"{_HOLD}{len(spans) - 1}{_HOLD}"

    text = _CODE_SPAN.sub(hold, text)
    text = resolve_links(_IMAGE.sub("", text))
    text = _STRONG.sub(r"\1", _TAG.sub(" ", text))
    text = _QUOTED_NAME.sub(lambda match: f"`{match[1] or match[2] or match[3]}`", text)
    text = _CODE_SPAN.sub(hold, text)
    text = _first_sentence(" ".join(text.split()))
    for _ in range(2):  # the second pass above may hold what the first one held
        text = re.sub(f"{_HOLD}(\\d+){_HOLD}", lambda match: f"`{spans[int(match[1])]}`", text)
    return _finished(text)


def _first_part(text: str) -> str:
    """Remove everything after the first paragraph with text."""
    before, *_ = _FENCE.split(text.strip(), maxsplit=1)
    text = before.strip() or text.strip().strip("`~").strip()
    text = _OPENING.sub("", text)
    parts = [part for part in _NEW_PART.split(text) if part.strip()]
    return parts[0] if parts else ""


def _first_sentence(line: str) -> str:
    for end in _END.finditer(line):
        if not _ABBREVIATION.search(line[: end.end()]):
            return line[: end.end()]
    return line


def _finished(text: str) -> str:
    text = text.strip().rstrip(" ,;:")
    if not re.search(r"\w", text):
        return ""
    first = _PLAIN_WORD.match(text)
    if first:
        text = text[0].upper() + text[1:]
    if len(text) > MAX_SENTENCE:
        return _cut(text)
    return text if text[-1] in ".!?…" else text + "."


def _cut(text: str) -> str:
    """Cut at a word, and before a code span that would remain open."""
    head = text[: MAX_SENTENCE - 1]
    head = head.rpartition(" ")[0] or head
    if head.count("`") % 2:
        head = head[: head.rindex("`")] or head.replace("`", "")
    return head.rstrip(" ,;:.") + "…"
