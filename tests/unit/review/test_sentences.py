"""Expected units were written by hand, in the golden files and here."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crscore.errors import ConfigError
from crscore.records import Position
from crscore.review.sentences import SPLITTERS, identity, split_comment
from tests.helpers.growth import growth, slowness

REVIEWS = Path(__file__).parents[2] / "data" / "reviews"
KINDS = ("sentences", "suggestions", "code_blocks", "diffs")
NAMES = sorted(path.stem for path in REVIEWS.glob("*.md"))


def units(body: str) -> list[str]:
    return list(split_comment(body).sentences)


@pytest.mark.parametrize("name", NAMES)
def test_golden_review_splits_as_written_beside_it(name: str) -> None:
    expected: dict[str, list[str]] = {kind: [] for kind in KINDS}
    expected |= json.loads((REVIEWS / f"{name}.json").read_text(encoding="utf-8"))
    actual = split_comment((REVIEWS / f"{name}.md").read_text(encoding="utf-8"))
    assert {kind: list(getattr(actual, kind)) for kind in KINDS} == expected


def test_sentences_have_the_position_of_their_block() -> None:
    parsed = split_comment("# Title\n\nOne. Two.\n\n- Three.\n- **Four.**")
    assert parsed.sentences == ("Title", "One.", "Two.", "Three.", "Four.")
    assert parsed.positions == (
        Position(0, is_heading=True),
        Position(1),
        Position(1),
        Position(2),
        Position(3, is_heading=True),
    )


def test_dropped_block_counts() -> None:
    parsed = split_comment("One.\n\n---\n\n`src/app.py:12`\n\nTwo.")
    assert parsed.positions == (Position(0), Position(2))


def test_paper_reads_no_layout() -> None:
    assert split_comment("# One\n\nTwo.", splitter="paper").positions == ()


def test_one_sentence_stays_whole() -> None:
    for sentence in [
        "Use a frozen type here, e.g. `frozenset`, instead.",
        "Use e.g. Redis for that.",
        "The cache is skipped, i.e. every call reads the disk.",
        "Check ids, names, etc. before saving.",
        "Upgrade to v1.2 first.",
        "Section 1. 2 says otherwise.",
        "Call foo.bar() and baz.qux(a.b) first.",
        "See https://example.com/a.b?c=d!e#F for it.",
        "Use System.Collections and React.Component here.",
        "Is obj?.Name or obj!.Name set before MyClass.Run() ends?",
        "Wait... is this right?",
        "Wait… is this right?",
        "Rename a.py to b.test.js here.",
        "What is this?!",
        "Mr. Smith and Dr. Jones wrote this.",
        "Compare a mutex vs. a spinlock here.",
        "It takes approx. 20 ms.",
        "Allow max. 5 retries.",
        'He said "Stop." and left.',
        "The U.S. locale breaks this.",
        "This is line no. 5 of the file.",
        "See Fig. 3 for the flow.",
        "The .NET build reads .env files.",
        "Run it at 3 p.m. every day.",
        "See RFC 2616 sec. 4.2 for that.",
        "The call `a. B? C! D` fails.",
        "Could `x ?? y. Z` work?",
        "The array a[i] holds (see the docs) them all.",
    ]:
        assert units(sentence) == [sentence]


def test_two_sentences_are_split() -> None:
    for first, second in [
        ("Why?", "Because."),
        ("Done.", "Next."),
        ("Stop!", "Go."),
        ("Really?!", "Yes."),
        ("We use gRPC, HTTP, etc.", "That is fine."),
        ("Use Python 3.11.", "It is faster."),
        ("Call foo.bar().", "Then stop."),
        ("Use `a.b`.", "`c` too."),
        ("It waits 0.5 s.", "That is short."),
        ("Set it to x.", "Then return."),
        ("We drop this.", "also that."),
        ("See https://a.example/b.", "It says so."),
        ("Could be simpler...", "Use a loop."),
        ("Is it below the max.", "Then skip it."),
        ("(See above.)", "It fails."),
        ('He said "Stop."', "Then he left."),
        ("Don't do this.", "It can't work."),
    ]:
        assert units(f"{first} {second}") == [first, second]


def test_line_break_in_a_paragraph_is_a_space() -> None:
    assert units("The lock is held\nwhile it writes.") == ["The lock is held while it writes."]


@pytest.mark.parametrize("body", ["Drop this  \nand that", "Drop this\\\nand that"])
def test_hard_break_ends_a_unit(body: str) -> None:
    assert units(body) == ["Drop this", "and that"]


def test_remarks_on_separate_lines_are_split() -> None:
    assert units("Rename this\nDrop that\n`x` is unused") == [
        "Rename this",
        "Drop that",
        "`x` is unused",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        [
            "a/b.py:3: error: incompatible type of the value that is returned here",
            "a/b.py:4:1: bad",
        ],
        ["C:\\a\\b.cs(3,5): error CS1002: ; expected", "C:\\a\\b.cs(9,1): warning CS0168: unused"],
    ],
)
def test_messages_of_a_linter_are_split(lines: list[str]) -> None:
    assert units("\n".join(lines)) == lines


def test_place_without_a_message_may_start_a_wrapped_line() -> None:
    assert units("It fails in\na/b.py:3 at once.") == ["It fails in a/b.py:3 at once."]


def test_break_where_the_next_word_no_longer_fits_is_a_wrap() -> None:
    # 66 columns and a word of 8: over 72
    first = "The report is built from the rows that were read by the class of"
    assert units(f"{first} Reporting only.") == units(f"{first}\nReporting only.")


def test_break_after_column_100_is_on_purpose() -> None:
    long = "A remark " + "that goes on and on " * 5 + "without a full stop"
    assert units(f"{long}\nAnother remark") == [long, "Another remark"]


def test_break_after_a_comma_is_a_wrap() -> None:
    assert units("First,\nSecond") == ["First, Second"]


def test_list_items_are_units() -> None:
    assert units("- [ ] one\n- [x] two. Three\n  1) four\n\n5. five") == [
        "one",
        "two.",
        "Three",
        "four",
        "five",
    ]


def test_headings_are_units() -> None:
    assert units("# Leak\n\nIt leaks\n\nOther\n---\n") == ["Leak", "It leaks", "Other"]


def test_numbers_before_sentences_are_dropped() -> None:
    assert units("1\\. Drop this. 2. Keep that. (3) Go on.") == [
        "Drop this.",
        "Keep that.",
        "Go on.",
    ]


def test_table_cells_are_units() -> None:
    assert units("|a|`b`|\n|-|-|\n|c d||\n") == ["a", "`b`", "c d"]


def test_code_spans_keep_their_backticks() -> None:
    assert units("Use ``a`b`` and <code>c. D</code> now.") == ["Use `a`b` and `c. D` now."]


def test_unclosed_code_tag_ends_with_its_unit() -> None:
    assert units("Use <code>a<code>b\n\nNext</code>") == ["Use `ab`", "Next"]


def test_emphasis_and_links_leave_their_text() -> None:
    assert units("**Do** _not_ use [this *one*](https://a.example) ![no](x.png)!") == [
        "Do not use this one !"
    ]


def test_entities_are_decoded() -> None:
    assert units("a &lt; b &amp; c&nbsp;d") == ["a < b & c d"]


def test_invisible_characters_are_removed() -> None:
    body = "a\u200bb\u202ec\x00d\x1be\ufefff\ud800g\u00adh &#8203;i &#x202e;j"
    assert units(body) == ["abcdefgh i j"]


def test_other_line_ends_are_line_ends() -> None:
    assert units("# a\r\nb\r\r# c\u2028d") == ["a", "b", "c", "d"]


def test_nothing_to_read_gives_no_unit() -> None:
    for body in [
        "",
        " \n\t",
        "!!",
        "---",
        "🎉 👍",
        ":tada: :+1:",
        "https://a.example/b",
        "<https://a.example>, www.b.example",
        "![a](b.png)",
        "<!-- a -->",
        "<!-- a\n\nb",
        "> quoted",
        "<br>",
        "[//]: # (note)",
        "<style>a\n\nb",
        "<script>\na()\n\n</script>",
        "\x02",
        "[![badge](a.svg)](https://a.example)",
    ]:
        assert units(body) == []


def test_text_after_a_comment_is_read() -> None:
    assert units("<!-- a\n\nb --> *Real* text.") == ["Real text."]


def test_comment_in_indented_code_stays_code() -> None:
    assert split_comment("a\n\n    <!-- b\n").code_blocks == ("<!-- b",)


def test_comment_ends_a_paragraph() -> None:
    assert units("Before\n<!-- hidden -->\nAfter") == ["Before", "After"]


def test_inline_comment_is_dropped() -> None:
    assert units("Be <!-- hidden -->fore") == ["Be fore"]


def test_tags_are_dropped_and_their_text_is_kept() -> None:
    assert units("<p>One <b>bold</b> word</p><div>Two</div>Three<br>Four") == [
        "One bold word",
        "Two",
        "Three",
        "Four",
    ]


def test_type_that_looks_like_a_tag_ends_no_sentence() -> None:
    assert units("`x` of a Func<Task> waits, and List<string>s leak.") == [
        "`x` of a Func waits, and Lists leak."
    ]


def test_preformatted_html_is_code() -> None:
    actual = split_comment("<pre>\na &lt; b\n\n<b>c</b>\n</pre>\n\nText")
    assert (actual.sentences, actual.code_blocks) == (("Text",), ("a < b\n\nc",))


def test_word_that_starts_like_a_raw_tag_is_text() -> None:
    assert units("<prefix>a</prefix>") == ["a"]


def test_quote_is_dropped_with_its_code() -> None:
    actual = split_comment("> a\n> > b\n>\n> ```\n> c\n> ```\n\nReply")
    assert (actual.sentences, actual.code_blocks) == (("Reply",), ())


@pytest.mark.parametrize("quote", ["> a", "> a\n> b", "> - a", "> > a"])
def test_line_below_a_quote_is_an_answer(quote: str) -> None:
    assert units(f"{quote}\nIt leaks.\n{quote}\n\nIt fails.") == ["It leaks.", "It fails."]


def test_quote_of_code_only_is_dropped() -> None:
    assert split_comment(">     code").code_blocks == ()


def test_alert_is_the_authors_own() -> None:
    assert units("> [!WARNING]\n> This breaks callers.") == ["This breaks callers."]


def test_empty_quote_is_dropped() -> None:
    assert units(">") == []


def test_fenced_and_indented_code_is_kept_apart() -> None:
    actual = split_comment("a\n\n```py\nb\n```\n\n    c\n\n~~~\nd")
    assert (actual.sentences, actual.code_blocks) == (("a",), ("b", "c", "d"))


def test_blank_code_is_dropped() -> None:
    assert split_comment("```\n\n```").code_blocks == ()


@pytest.mark.parametrize("info", ["suggestion", "Suggestion", "suggestion:-0+1"])
def test_suggestion_is_kept_apart_from_code(info: str) -> None:
    actual = split_comment(f"```{info}\n  x = 1\n```")
    assert (actual.suggestions, actual.code_blocks) == (("  x = 1",), ())


@pytest.mark.parametrize(("info", "is_diff"), [("diff", True), ("Diff", True), ("py", False)])
def test_diff_is_kept_apart_from_other_code(info: str, is_diff: bool) -> None:
    actual = split_comment(f"```{info}\n-x = 1\n```")
    assert (actual.diffs, actual.code_blocks)[:: 1 if is_diff else -1] == (("-x = 1",), ())


def test_empty_suggestion_deletes_lines_and_stays() -> None:
    assert split_comment("```suggestion\n```").suggestions == ("",)


def test_details_are_read() -> None:
    assert units("<details><summary>Why it fails</summary>\n\nIt *leaks*.\n\n</details>") == [
        "Why it fails",
        "It leaks.",
    ]


def test_hidden_section_is_dropped_but_its_suggestion_is_kept() -> None:
    actual = split_comment(
        "A\n<details>\n<summary>🧰 Tools</summary>\n\nlog\n\n<details>\nmore\n</details>\n\n"
        "```\ncode\n```\n```diff\n-x\n```\n```suggestion\nnew\n```\n</details>\n\nB"
    )
    assert (actual.sentences, actual.suggestions) == (("A", "B"), ("new",))
    assert actual.code_blocks == actual.diffs == ()


def test_hidden_section_that_never_ends_is_read() -> None:
    assert units("<details>\n<summary>🤖 Prompt for AI Agents</summary>\n\nIt leaks.")[1:] == [
        "It leaks."
    ]


@pytest.mark.parametrize("body", ["a</details>", "<summary>a</summary>", "a</summary>"])
def test_unbalanced_sections_are_read(body: str) -> None:
    assert units(body) == ["a"]


def test_boilerplate_unit_of_two_sentences_is_dropped() -> None:
    assert units("Was this helpful? React with 👍 or 👎.\n\nIt leaks.") == ["It leaks."]


def test_sentence_longer_than_the_window_keeps_its_words() -> None:
    words = " ".join(f"word{i}" for i in range(2000))
    actual = units(f"{words}. Next one. Last one.")
    assert (" ".join(actual), actual[-2:]) == (
        f"{words}. Next one. Last one.",
        ["Next one.", "Last one."],
    )


def test_sentence_across_windows_stays_whole() -> None:
    sentence = "This is the same short sentence."
    assert set(units(" ".join([sentence] * 500))) == {sentence}


def test_block_of_many_brackets_has_no_links() -> None:
    assert units("[" * 2001 + "a *b* [c](d)")[-1].endswith("[a b [c](d)")


@pytest.mark.growth
@pytest.mark.parametrize(
    "piece",
    [">", "[", "*", "`", "![", "](", "_", "<", "<a ", "<!--", "&", "|a", "“", "'", "- ", "1. ",
     "#", "# a\n", "> a\n", "a\n\n", "~~", "`` ` ", "<details>", "…", ". ", "$", "(a. ",
     "[^1]: a\n", "[^1]", "[^1]: [^2]: ", "\n[^1]:\n    ",
     "!", "?", "...", "?!", "<b>\n\n", "<p>", "<table><td>", "<i><div></i></div>"],
)  # fmt: skip
def test_hostile_body_takes_linear_time(piece: str) -> None:
    assert growth(lambda size: lambda: split_comment(piece * (size // len(piece))), 5_000) < 12


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["<pre>a", "<div>a", "<blockquote>"])
def test_largest_body_of_nested_blocks_is_read_in_three_seconds(piece: str) -> None:
    # The longest body that GitHub allows. HTML's own algorithm searches all open elements at every
    # block: quadratic, but quick; a second on an idle core.
    body = piece * (65_536 // len(piece))
    started = time.process_time()
    split_comment(body)
    assert time.process_time() - started < 3 * slowness()


@pytest.mark.growth
def test_many_addresses_in_a_row_take_linear_time() -> None:
    assert growth(lambda count: lambda: split_comment("https://a.:" * count + " x"), 1_000) < 12


def test_deeply_nested_lists_end() -> None:
    body = "".join("  " * depth + "- a\n" for depth in range(400))
    assert set(units(body)) == {"a"}


@settings(deadline=None)  # the cores may be busy
@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_sentences_that_say_something(body: str) -> None:
    for splitter in SPLITTERS:
        actual = split_comment(body, splitter=splitter)
        assert all(sentence.strip() for sentence in actual.sentences)


MARKUP = (
    "a", "b.", "C?", " ", "    ", "\n", "\n\n", "`", "```", "~~~", ">", "- ", "*", "**", "_", "[",
    "](", ")", "![", "<", "<b>", "</b>", "<details>", "</details>", "<summary>", "</summary>",
    "<!--", "-->", "<code>", "</code>", "<pre>", "</pre>", "|", "\n|-|-|\n", "# ", "\\", "&",
    "&amp;", "1. ", "\t", "\x02", "\x03", "> [!NOTE]\n", "https://a.b.c/d?", "suggestion", "- [x] ",
    "🧰 Tools", "etc. ", "“", "'", "(", "...", "\x0c", "\r\n", "\u202e", "&#8203;", "\ud800",
)  # fmt: skip
markdown = st.lists(st.sampled_from(MARKUP))


@settings(deadline=None)  # the cores may be busy
@given(markdown.map("".join))
def test_any_markdown_gives_clean_sentences(body: str) -> None:
    actual = split_comment(body)
    assert all(
        sentence == " ".join(sentence.split()) and re.search(r"[^\W_]", sentence)
        for sentence in actual.sentences
    )
    assert not re.search(r"[\x00-\x1f]", "".join(actual.sentences))


words = st.from_regex(r"[A-Za-z]{4,9}[.,?!]?", fullmatch=True).filter(str.isascii)


@settings(deadline=None)  # the cores may be busy
@given(st.lists(st.lists(words, min_size=1), min_size=1))
def test_words_of_the_prose_survive_in_order(paragraphs: list[list[str]]) -> None:
    expected = [w.rstrip(".,?!") for paragraph in paragraphs for w in paragraph]
    # single words such as "Major" can be a bot's label
    body = "\n\n".join(" ".join(["zebra", *paragraph]) for paragraph in paragraphs)
    actual = [w.rstrip(".,?!") for s in units(body) for w in s.split()]
    assert [w for w in actual if w != "zebra"] == [w for w in expected if w != "zebra"]


@settings(deadline=None)  # the cores may be busy
@given(st.text())
def test_same_body_gives_the_same_sentences(body: str) -> None:
    assert split_comment(body) == split_comment(body)


def test_paper_splits_at_lines_and_two_delimiters() -> None:
    # By hand from the published rule: the delimiter goes, the last full stop stays.
    actual = split_comment("Why? Use e.g. this. Done.\n\n  \n`a. b`! Ok?", splitter="paper")
    assert actual.sentences == ("Why", "Use e.g", "this", "Done.", "`a", "b`! Ok?")


def test_paper_keeps_code_in_the_sentences() -> None:
    actual = split_comment("```suggestion\nx\n```", splitter="paper")
    assert (actual.sentences, actual.suggestions) == (("```suggestion", "x", "```"), ())


def test_paper_drops_the_blank_piece_after_a_last_delimiter() -> None:
    assert split_comment("Why? ", splitter="paper").sentences == ("Why",)


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_empty_review_has_no_sentence(splitter: str) -> None:
    assert split_comment("", splitter=splitter).sentences == ()


def test_unknown_splitter_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="'nltk' is not one of markdown, paper"):
        split_comment("a", splitter="nltk")


@pytest.mark.parametrize("label", ["**src/app.py**", "`src/a-b/app.test.tsx:12`:", "### lib/x.rb"])
def test_path_alone_is_no_sentence(label: str) -> None:
    assert split_comment(f"{label}\n\nThis fails.").sentences == ("This fails.",)


def test_path_in_a_remark_stays() -> None:
    assert split_comment("src/app.py is gone").sentences == ("src/app.py is gone",)


def test_identity_of_the_paper_splitter_is_its_name() -> None:
    assert identity("paper") == "paper"


def test_identity_of_the_markdown_splitter_names_the_libraries() -> None:
    assert re.fullmatch(
        r"markdown-\d+\(markdown-it-py-[\d.]+,selectolax-[\d.]+,sentencex-[\d.]+\)",
        identity("markdown"),
    )
