"""Writes a sentence about a tool's finding, as a reviewer would."""

import re
from typing import Final

from crscore.records import Severity
from crscore.static_analysis.analyzer import Manifest
from crscore.static_analysis.reports import RawFinding

MAX_MESSAGE = 2_000
"""Maximum characters of a tool's message, or of a line of its errors, that patterns read."""
MAX_NAME = 80
"""Maximum characters of a name from the code in a sentence; longer names are cut."""
_SLOT = re.compile(r"\{(\w+)\}")


def word_finding(finding: RawFinding, manifest: Manifest) -> tuple[str, Severity]:
    """Return the sentence about a finding and its severity.

    The first sentence of the manifest whose rule and message match the finding is filled in. If no
    sentence matches, the tool's message is shortened.

    Args:
        finding: Finding as the tool printed it.
        manifest: Manifest of the tool.
    """
    severity = _severity(finding, manifest)
    for sentence in manifest.sentences:
        if not sentence.rule.compiled.fullmatch(finding.rule):
            continue
        match = sentence.message.compiled.search(finding.message[:MAX_MESSAGE])
        if match is not None:
            names = {key: _short(value) for key, value in match.groupdict().items()}
            parts = _SLOT.split(sentence.text)  # every second part is a name
            parts[1::2] = [names[name] for name in parts[1::2]]
            # A sentence with an empty name, such as "Unused import ``.", is not used.
            if all(parts[1::2]):
                return "".join(parts), sentence.severity or severity
    rule = _short(finding.rule)
    nameless = f"This breaks the rule `{rule}`." if rule else "Something is wrong here."
    return shorten(finding.message) or nameless, severity


def _severity(finding: RawFinding, manifest: Manifest) -> Severity:
    for severity_of_rule, rules in manifest.severity_of_rules.items():
        if any(rule.compiled.fullmatch(finding.rule) for rule in rules):
            return severity_of_rule
    level, table = finding.level or "", manifest.severity
    default = level if level in set(Severity) else table.get("default", Severity.WARNING)
    return Severity(table.get(level, default))


def _short(value: str | None) -> str:
    # Backticks are removed, because the sentence has them around each name.
    text = " ".join((value or "").replace("`", " ").split())
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


MAX_SENTENCE: Final = 200
"""Maximum characters of a sentence, including the ellipsis if it is cut."""
_READ_CHARS: Final = 4_000
"""Maximum characters of a message in which its first sentence is looked for."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# `[text](1)`, `[text](https://host/page)`, `[text](#part)`, but not the call `table[0](x)`; or one
# of the escapes `\[`, `\]` and `\\`
_LINK: Final = re.compile(
    r"(?<![\w)\]\\])\[((?:\\.|[^\[\]\\\n]){1,400})\]"
    r"\((?:\d{1,9}|#[^\s()]{1,200}|\.{0,2}/[^\s()]{0,1000}|[a-z][a-z0-9+.-]{1,20}:[^\s()]{0,1000})\)"
    r"|\\[\[\]\\]",
    re.IGNORECASE,
)
# The first paragraph ends before an empty line, a code fence or a list.
_PARAGRAPH_END: Final = re.compile(r"\n\s*(?:\n|(?=(?:```|~~~|[-*+•]\s|\d{1,2}[.)]\s)))")
# "*a*", "**a**", "***a***", but not "2 * 3 * 4"
_STRONG: Final = re.compile(r"(?<!\*)\*{1,3}(?=\S)([^*\n]{1,300})(?<=\S)\*{1,3}(?!\*)")
# 'name', "name", ‘name’ and "pkg.name()", but not the apostrophe of a word
_QUOTED_NAME: Final = re.compile(
    r"(?<!\w)['\"\u2018]([A-Za-z_$][\w$.:<>\[\]()-]{0,79})['\"\u2019](?!\w)"
)
# The end of a sentence: a full stop before a capital, a digit or a quotation mark. "e.g. a", "3.11"
# and "os.path" do not match.
_END: Final = re.compile(r"[.!?][\"')\]]?(?=\s+[\"'(\[`]?[A-Z0-9`]|\s*$)")
# "e.g.", "etc.", "J."; not "it."
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|resp|incl|[A-Z])\.$"
)
# "unused", "don't", but not "os.path", "main()", "useEffect" or "max_len"
_PLAIN_WORD: Final = re.compile(r"[a-z]+(?:['’-][a-z]+)*(?=[,;:.!?]?(?:\s|$))")


def resolve_links(text: str) -> str:
    r"""Replace embedded links by their text, and unescape brackets that are not a link.

    A text is resolved only once, because an escaped link would be resolved by a second call. A
    backslash after the last `\](` escapes nothing: it may belong to a regular expression.

    Example:
        >>> resolve_links("It depends on a [user's value](1), see [CWE-79](https://x.example/79).")
        "It depends on a user's value, see CWE-79."
        >>> resolve_links("The call `table[0](x)`.")
        'The call `table[0](x)`.'
        >>> resolve_links(r"The literal text \[a\](1) and the pattern `\[a-z\]`.")
        'The literal text [a](1) and the pattern `\\[a-z\\]`.'
    """
    last = text.rfind(r"\](") + 2

    def unescape(match: re.Match[str]) -> str:
        is_literal = match[1] is None and match.end() > last
        return match[0] if is_literal else re.sub(r"\\([\[\]\\])", r"\1", match[1] or match[0])

    return _LINK.sub(unescape, text)


def shorten(message: str) -> str:
    r"""Return the first sentence of a tool's message, as a reviewer would write it.

    Emphasis of Markdown is removed, and names in quotation marks become code spans. The sentence is
    capitalized, unless it starts with a name, and ends with a full stop.

    Args:
        message: Any text whose links are resolved; may be Markdown or several lines.

    Returns:
        One line of at most `MAX_SENTENCE` characters. A longer sentence is cut after a word and
        gets `…`. The result is "" if the message has no letters or digits.

    Example:
        >>> shorten("**Unused** variable 'x'.\n\nSee the documentation.")
        'Unused variable `x`.'
        >>> shorten("variable 'y' is assigned, e.g. in a loop, but never used")
        'Variable `y` is assigned, e.g. in a loop, but never used.'
        >>> shorten("os.system() is not safe")
        'os.system() is not safe.'
    """
    # Control characters are removed, because they could move the cursor of a terminal.
    text = _CONTROL.sub("", message[:_READ_CHARS].replace("\r", "")).strip()
    text = _PARAGRAPH_END.split(text, maxsplit=1)[0]
    # Every second part is code in backticks, in which nothing is replaced.
    parts = " ".join(re.sub("`+", "`", text).split()).split("`")
    parts[::2] = [_QUOTED_NAME.sub(r"`\1`", _STRONG.sub(r"\1", part)) for part in parts[::2]]
    line = "`".join(parts)
    for end in _END.finditer(line):
        sentence = line[: end.end()]
        if sentence.count("`") % 2 == 0 and not _ABBREVIATION.search(sentence):
            line = sentence
            break
    line = line.strip().rstrip(" ,;:")
    if not re.search(r"\w", line):
        return ""
    if _PLAIN_WORD.match(line):
        line = line[0].upper() + line[1:]
    if len(line) <= MAX_SENTENCE:
        return line if line[-1] in ".!?…" else line + "."
    head = line[: MAX_SENTENCE - 1]
    head = head.rpartition(" ")[0] or head
    if head.count("`") % 2:
        # If the cut is in a code span, the whole code span is left out.
        head = head[: head.rindex("`")] or head.replace("`", "")
    return head.rstrip(" ,;:.") + "…"
