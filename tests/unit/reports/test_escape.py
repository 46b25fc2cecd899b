import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from crscore.reports import escape
from tests.helpers.growth import slowness
from tests.helpers.results import EVIL

COMMONMARK = MarkdownIt("commonmark", {"html": True}).enable("table")


def rendered_text(source: str) -> str:
    """What a Markdown reader shows of one paragraph, without the spaces that defuse."""
    inline = [token for token in COMMONMARK.parse(source) if token.type == "inline"]
    assert len(inline) == 1
    children = inline[0].children or []
    assert {child.type for child in children} <= {"text", "code_inline", "text_special"}
    return "".join(child.content for child in children).replace("\u200b", "")


def test_text_with_terminal_codes_is_cleaned() -> None:
    for raw, shown in [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;https://evil.example\x07text\x1b]8;;\x1b\\", "text"),
        ("\x1b]0;never closed", "0;never closed"),
        ("\x1bPpayload\x1b\\after", "after"),
        ("\x1b(Bcharset\x1bc", "charset"),
        ("bell\x07 null\x00 delete\x7f", "bell null delete"),
        ("a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"),
        ("zero\u200bwidth\u200d\ufeff\u00ad", "zerowidth"),
        ("tag\U000e0041", "tag"),
        ("half\ud800", "half\ufffd"),
        ("a\r\nb\rc\u2028d\x0be", "a\nb\nc\nd\ne"),
        ("plain ä 字 ✓\tkept", "plain ä 字 ✓\tkept"),
    ]:
        assert escape.clean(raw) == shown


def test_line_ends_and_runs_of_space_become_one_space() -> None:
    assert escape.one_line("  a \n\t b\r\n\r\nc ") == "a b c"


def test_long_text_is_cut_and_the_rest_counted() -> None:
    assert escape.one_line("x" * 1_500, limit=1_000) == "x" * 1_000 + "… (+500 characters)"


def test_code_line_keeps_its_indent() -> None:
    assert escape.code_line("\tif x:  \x1b[1my") == "    if x:  y"


def test_long_code_line_is_cut() -> None:
    assert escape.code_line("y" * 30, limit=10) == "y" * 10 + "… (+20 characters)"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Call `run` now.", [("Call ", False), ("run", True), (" now.", False)]),
        ("``a ` b``", [("``a ` b``", False)]),
        ("` `", [("` `", False)]),
        ("`a``b`", [("`a``b`", False)]),
        ("`open", [("`open", False)]),
    ],
)
def test_prose_is_split_at_whole_code_spans(text: str, parts: list[tuple[str, bool]]) -> None:
    assert [*escape.split_code_spans(text)] == parts


def test_hundred_thousand_backticks_are_split_in_bounded_time() -> None:
    assert len(escape.split_code_spans("`" * 100_000)) == 1


@pytest.mark.parametrize(
    "raw", ["::error::x", "   ::set-output name=a::b", "\x1b[31m::error::x", "a ##[error]b"]
)
def test_runner_commands_are_broken(raw: str) -> None:
    line = escape.no_commands("before\n" + raw).split("\n")[1]
    assert not line.strip().replace("\x1b[31m", "").startswith("::")
    assert "##[" not in line


def test_double_colons_inside_a_line_are_kept() -> None:
    assert escape.no_commands("use std::move::x") == "use std::move::x"


@pytest.mark.parametrize(
    "raw",
    [
        "**bold** _it_ ~~no~~ `code` [a](b) ![c](d) <b>x</b> &amp; \\* | #",
        "# heading",
        "- item",
        "1. item",
        "23) item",
        "+ item",
        ":: x ::y",
        "> quote",
        "---",
        "    indented",
        "```fence",
        "| a | b |",
        "[ref]: https://evil.example",
        "===",
        EVIL,
    ],
)
def test_escaped_markdown_renders_as_the_text_itself(raw: str) -> None:
    assert rendered_text(escape.markdown(raw)) == escape.one_line(raw)


def test_mentions_references_and_addresses_are_not_linked() -> None:
    for raw in [
        "@someone",
        "(@org/team)",
        "#12",
        "see GH-12",
        "o/r#3",
        "https://a.b",
        "1https://a.b",
        "_http://a.b",
        "éhttps://a.b",
        "xwww.a.b",
        "www.a.b",
        "a@b.c",
    ]:
        shown = COMMONMARK.render(escape.markdown(raw))
        assert "\u200b" in shown
        assert raw not in shown


def test_commit_hash_is_not_linked() -> None:
    assert "&#8203;" in escape.markdown("since 0a1b2c3d")


def test_code_span_holds_its_text() -> None:
    for raw in ["a", "`", "a`b", "``", "`a`", "x ``` y", "@someone #1", "*a*"]:
        inline = COMMONMARK.parseInline(escape.markdown_code(raw))[0].children or []
        assert [(token.type, token.content) for token in inline] == [("code_inline", raw)]


@pytest.mark.parametrize("raw", ["a|b", "a\\", "##[error]x"])
def test_text_that_a_code_span_cannot_hold_is_escaped_instead(raw: str) -> None:
    escaped = escape.markdown_code(raw, in_table=True)
    assert "|" not in escaped
    assert "##[" not in escaped
    assert rendered_text(escaped) == raw


def test_prose_keeps_code_spans_in_markdown() -> None:
    assert escape.markdown_prose("Use `a_b` *now*") == "Use `a_b` \\*now\\*"


def test_json_escapes_keep_the_value() -> None:
    value = {"text": EVIL + "\U000e0041 😀"}
    replaced = {"text": value["text"].replace("\ud800", "\N{REPLACEMENT CHARACTER}")}
    assert json.loads(escape.write_json(value)) == replaced


def test_json_escapes_characters_that_a_terminal_acts_on() -> None:
    escaped = escape.write_json(EVIL)
    assert not set(escaped) & set("\x1b\x9b\x07\u202e\u200b\u2028\ud800")
    assert "##[" not in escaped


# Characters that mean something to Markdown, HTML, a terminal or a runner, and some that do not.
RISKY = st.text(
    st.sampled_from(
        "\\`*_{}[]()#+-.!~^=>:<&|$@/ \n\t\r'\"0123456789abcdefgwGHx\x1b\x9b\u202e\u200bé字;m"
    ),
    max_size=60,
)


@given(RISKY)
def test_any_text_renders_in_markdown_as_itself(raw: str) -> None:
    shown = escape.one_line(raw)
    escaped = escape.markdown(raw)
    if shown:
        assert rendered_text(f"- {escaped}") == shown
        assert rendered_text(escaped) == shown


@given(RISKY)
def test_any_prose_renders_in_markdown_as_its_pieces(raw: str) -> None:
    escaped = escape.markdown_prose(raw)
    if escaped:
        pieces = "".join(words for words, _ in escape.split_code_spans(raw))
        assert rendered_text(f"- {escaped}") == pieces.strip()


@given(RISKY)
def test_any_text_in_a_table_cell_stays_one_cell(raw: str) -> None:
    cell = escape.markdown_code(raw, in_table=True)
    document = f"| a | b |\n|--|--|\n| {cell} | end |\n"
    cells = [t.content for t in COMMONMARK.parse(document) if t.type == "inline"]
    assert len(cells) == 4
    assert cells[3] == "end"


@given(RISKY)
def test_cleaning_twice_changes_nothing(raw: str) -> None:
    assert escape.clean(escape.clean(raw)) == escape.clean(raw)


@pytest.mark.growth
@pytest.mark.parametrize("opener", ["\x9d", "\x90", "\x1b]", "\x1bP", "\x9b", "\x1b"])
def test_many_openers_of_sequences_take_linear_time(opener: str) -> None:
    started = time.perf_counter()
    escape.one_line(opener * 200_000, 100)
    assert time.perf_counter() - started < 5 * slowness()
