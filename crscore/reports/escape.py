"""Escapes untrusted text from a diff or a review for each output format.

Terminal sequences and invisible characters are dropped, and characters that reorder text are
replaced by their code points. The rest is escaped as the format requires. Every function takes time
linear in the length of the text.
"""

import json
import re

import msgspec

MAX_ITEM_CHARS = 2_000
"""Maximum characters of a sentence, pseudo-reference or note in a report for people."""

# Control sequences of ECMA-48: a terminal would obey those in a review (CWE-150).
# ESC [ 31m, ESC ] 8;;address BEL, ESC P ... ESC \, ESC c; also if a single C1 character replaces
# ESC and the character after it.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]?"
)
# Line ends of https://docs.python.org/3/library/stdtypes.html#str.splitlines, apart from "\n" and
# the separators "\x1c" to "\x1e".
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# Characters that make code look different from what it does (CVE-2021-42574,
# https://trojansource.codes).
_REORDERING = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
# Zero-width and soft hyphen, direction marks, fillers that draw nothing, tag characters.
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065"
    r"\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# "`run`", "``run``", "```x = 1```"; not "````".
_CODE_SPAN = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]{1,200})\1(?!`)")
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
# A runner executes `::name::` at the start of a line and `##[name]` anywhere as commands:
# https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
_COMMAND_LINE = re.compile(r"^((?:[^\S\n]|\x1b\[[0-9;]*m)*):(?=:)", re.MULTILINE)
# "##[error]", "##[group]"; not "## Title"
_OLD_COMMAND = re.compile(r"##(?=\[)")

# Only the first colon of "::" is escaped, which is enough to break a runner's command.
_MARKDOWN_PUNCTUATION = re.compile(r"([\\`*_\[\]~]|:(?=:))")
# Start of a list, a heading, a quote or a rule: `- `, `1. `, `2) `, `# `, `> `, `===`.
_MARKDOWN_OPENING = re.compile(r"^(?=[-+=#>])|^(\d+)(?=[.)])")
# https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
# A mention would notify somebody who is not involved; the number of an issue would add a link to
# that issue.
_MENTION = re.compile(r"@(?=[\w])")
# "#12", "GH-12"; not "# 1", "#a"
_ISSUE = re.compile(r"(#|\bGH-)(?=\d)", re.IGNORECASE)
# Not only at the start of a word: GitHub also links `1https://x.example`.
_ADDRESS = re.compile(r"(https?|ftp|mailto|xmpp)(:)|www(?=\.)", re.IGNORECASE)
# "a5c3785", up to all 40 digits.
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b", re.IGNORECASE)
# With `ensure_ascii=False`, `json` escapes only characters below U+0020, quotes and backslashes.
_JSON_RISKY = re.compile(
    r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
    r"|[\U000e0000-\U000e0fff]"
)
_ZERO_WIDTH_SPACE = "\u200b"


def clean(text: str) -> str:
    r"""Drop terminal sequences, controls and invisible characters; keep line ends and tabs.

    Characters that reorder the text around them are shown as `⟨U+202E⟩`, so that a reader can see
    them.

    Args:
        text: Any text.

    Returns:
        Text that a terminal, an editor or a browser shows in the order it is stored.

    Example:
        >>> clean("\x1b[31mred\x1b[0m and \u202eback")
        'red and ⟨U+202E⟩back'
    """
    if text.isascii() and text.isprintable():  # fast path for most texts
        return text
    # Sequences are removed before control characters, because "[31m" would remain as text if only
    # the ESC in front of it were removed.
    text = _SEQUENCE.sub("", text)
    text = _LINE_END.sub("\n", text)
    text = _CONTROL.sub("", text)
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    text = _REORDERING.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)
    return _INVISIBLE.sub("", text)


def one_line(text: str, limit: int = MAX_ITEM_CHARS) -> str:
    """Clean a text, replace each run of white space by one space, and truncate the text.

    Args:
        text: Any text.
        limit: Maximum characters of the result, without the note on the truncation.

    Returns:
        One line without leading or trailing space. If it was truncated, a note at its end counts
        the characters that were cut off.
    """
    # The text is truncated roughly first, so that only the start of a 1 MB sentence is cleaned.
    line = " ".join(clean(text[: limit * 4 + 4_000]).split())
    if len(line) <= limit:
        return line
    return f"{line[:limit]}… (+{max(len(line), len(text)) - limit:,} characters)"


def fragment(text: str, limit: int = MAX_ITEM_CHARS) -> str:
    """Clean part of a line like `one_line`, but preserve a space at either end."""
    line = one_line(text, limit)
    return (
        f"{' ' * text[:1].isspace()}{line}{' ' * text[-1:].isspace()}" if line else " " * bool(text)
    )


def code_line(text: str, limit: int = MAX_ITEM_CHARS) -> str:
    """Clean a line of code like `one_line`, but preserve spaces and replace tabs by four spaces."""
    line = clean(text[: limit * 4]).replace("\n", " ").replace("\t", "    ")
    return line if len(text) <= limit else f"{line[:limit]}… (+{len(text) - limit:,} characters)"


def split_code_spans(text: str, limit: int = MAX_ITEM_CHARS) -> tuple[tuple[str, bool], ...]:
    """Clean prose like `one_line`, and split it into plain text and code spans.

    Returns:
        For each piece of the text, the piece, without backticks, and whether it is a code span.

    Example:
        >>> split_code_spans("Call `run` now.")
        (('Call ', False), ('run', True), (' now.', False))
    """
    line = one_line(text, limit)
    parts: list[tuple[str, bool]] = []
    start = 0
    for span in _CODE_SPAN.finditer(line):
        if code := span[2].strip():
            parts += [(line[start : span.start()], False), (code, True)]
            start = span.end()
    return tuple((part, is_code) for part, is_code in (*parts, (line[start:], False)) if part)


def no_commands(text: str) -> str:
    r"""Break up the CI runner commands in a rendered text, so that no runner executes them.

    `::name::` is a command at the start of a line, `##[name]` anywhere.

    Example:
        >>> no_commands("  ::error::no\nstd::move ##[error]")
        '  : :error::no\nstd::move # #[error]'
    """
    return _OLD_COMMAND.sub("# #", _COMMAND_LINE.sub(r"\1: ", text))


def no_commands_html(document: str) -> str:
    r"""Break up the CI runner commands in a rendered web page, without a visible difference.

    Example:
        >>> no_commands_html("<pre>::error::\n ::error::</pre>##[x]")
        '<pre>::error::\n &#58;:error::</pre>&#35;#[x]'
    """
    return _OLD_COMMAND.sub("&#35;#", _COMMAND_LINE.sub(r"\1&#58;", document))


def markdown(text: str, limit: int = MAX_ITEM_CHARS) -> str:
    """Escape a text for a paragraph or a table cell in Markdown on GitHub.

    Mentions, references to issues and commits, and bare addresses get a zero-width space, so that
    GitHub neither links them nor notifies anybody.

    Returns:
        One line of Markdown that is rendered as the text itself.
    """
    return _markdown_plain(one_line(text, limit))


def _markdown_plain(line: str) -> str:
    # A backslash does not prevent a mention, a reference or a link, so zero-width spaces are
    # inserted. They become entities at the end, so that their `&` and `#` are not escaped again.
    line = _MENTION.sub("@" + _ZERO_WIDTH_SPACE, line)
    line = _ISSUE.sub(lambda match: match[0] + _ZERO_WIDTH_SPACE, line)
    line = _ADDRESS.sub(lambda match: match[0] + _ZERO_WIDTH_SPACE, line)
    # Every four digits of a commit are followed by a zero-width space, because GitHub links seven
    # digits in a row.
    line = _COMMIT.sub(lambda match: re.sub("(.{4})", r"\1" + _ZERO_WIDTH_SPACE, match[0]), line)
    line = _MARKDOWN_PUNCTUATION.sub(r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;"))
    line = _MARKDOWN_OPENING.sub(r"\1\\", line)
    # `$a$` is a formula on GitHub:
    # https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/writing-mathematical-expressions
    line = line.replace("|", "&#124;").replace("$", "&#36;")
    return line.replace(_ZERO_WIDTH_SPACE, "&#8203;")


def markdown_code(text: str, limit: int = MAX_ITEM_CHARS, *, in_table: bool = False) -> str:
    """Put a text into a Markdown code span that no backtick in the text closes.

    Returns:
        The span; escaped plain text if a span cannot hold the text. This is so for an empty text,
        for one with `##[` (a runner command) and, in a table, for one with a pipe or a backslash,
        because GitHub parses these before code spans.
    """
    line = one_line(text, limit)
    if not line or "##[" in line or (in_table and ("|" in line or "\\" in line)):
        return _markdown_plain(line)
    # A span ends at as many backticks as it starts with, and rendering removes one space at each
    # end:
    # https://spec.commonmark.org/0.31.2/#code-spans
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    space = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{space}{line}{space}{fence}"


def markdown_prose(text: str, limit: int = MAX_ITEM_CHARS) -> str:
    """Escape prose like `markdown`, but keep its code spans."""
    parts = (
        markdown_code(words) if is_code else _markdown_plain(words)
        for words, is_code in split_code_spans(text, limit)
    )
    return "".join(parts)


def write_json(document: object, *, indent: int | None = 2) -> str:
    r"""Write a document as JSON and a newline.

    Characters that a terminal or a CI runner could act on are escaped as `\uXXXX`, which any JSON
    parser decodes. A lone surrogate, which diffs and data of hosts can contain and strict parsers
    reject, becomes U+FFFD.

    Args:
        document: Values that `msgspec` can convert: structs, data classes, mappings, sequences.
        indent: Number of spaces for each level; None for one line.

    Example:
        >>> write_json({"text": "\u202e ##[x]"}, indent=None)
        '{"text":"\\u202e \\u0023#[x]"}\n'
    """
    text = json.dumps(
        msgspec.to_builtins(document),
        ensure_ascii=False,
        allow_nan=False,
        indent=indent,
        separators=(",", ":") if indent is None else None,
    )
    # RFC 8259, section 8.2, does not say what a parser does with a lone surrogate; some refuse the
    # file. The text can be replaced as a whole, because these characters occur only in strings.
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    # JSON escapes a character beyond 16 bits as a pair of surrogates, as UTF-16 encodes it.
    text = _JSON_RISKY.sub(
        lambda match: re.sub("(.{4})", r"\\u\1", match[0].encode("utf-16-be").hex()), text
    )
    return _OLD_COMMAND.sub(r"\\u0023#", text) + "\n"
