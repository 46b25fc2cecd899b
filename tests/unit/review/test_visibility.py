"""What is hidden, by function and through `sentences.parse`; expectations by hand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crscore.review.markdown import read_hidden_formula
from crscore.review.sentences import attribute_texts, decode_smuggled, split_comment
from crscore.text import clean
from tests.helpers.growth import growth

NOTE = "The limit is never checked. Add a bound."
NOTES = ("The limit is never checked.", "Add a bound.")


def tagged(text: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


def test_clean_keeps_tabs_and_text_of_any_script() -> None:
    assert clean("\ta né 日本 ע 👍") == "\ta né 日本 ע 👍"


def test_covered_text_is_hidden_and_not_read() -> None:
    for cover in [
        "<!-- {} -->",
        "<!--\n{}\n-->",
        "<span hidden>{}</span>",
        "<SPAN HIDDEN=until-found >{}</SPAN >",
        "<div hidden>{}</div>",
        "<div hidden>\n\n{}\n\n</div>",
        "<div hidden>\n\n* <b>{}</b>\n\n</div>",
        "<div class=a\nhidden>{}</div>",
        "<details hidden>{}</details>",
        "<code hidden>{}</code>",
        "<pre hidden>{}</pre>",
        "<template>{}</template>",
        "<template><video>a</template></video><script>{}</script>",
        "<script>{}</script>",
        "<style>\n\n{}\n\n</style>",
        "a <style>{}</style>",
        "<div>a <!-- </div>\n\n{}\n\n<p>--></p>",
        "<table><tr hidden><td>{}</td></tr></table>",
        "\n\n|a|\n|-|\n|<span hidden>{}|\n",
        "<div hidden>\n\n```\n{}\n```\n\n</div>",
        "<div hidden>\n\n```suggestion\n{}\n```\n\n</div>",
        '<img alt="{}" src=a.png>',
        '<i title="{}"></i>',
        "<i data-note='{}'></i>",
        '<b aria-label="{}"></b>',
        '<input type=hidden value="{}">',
        "![{}](a.png)",
        '![a](a.png "{}")',
        '[.](https://a.example "{}")',
        "\n\n[//]: # ({})\n",
        "\n\n[//]: # (a)\n[//]: # ({})\n",
        "\n\n[comment]: <> ({})\n",
        '\n\n[a]: # "{}"\n',
        r"$\color{{white}}{{\textsf{{{}}}}}$",
        r"$`\phantom{{{}}}`$",
        "<div hidden>{}",
        "# a </h2> <div hidden>\n\n{}",
        "<!-- |a\n|-|\n|{}| -->",
        "<div hidden>|a|\n|-|\n|{}|",
        "<p hidden>a\n- {}",  # no list: lines of HTML
        "<p hidden>a\n-\n{}",  # no heading
        "a\n</div>\n<span hidden>\n\n{}",  # after the paragraph, not in it
        "- <!-- b\n\n{}",
        "<span hidden>{}",
    ]:
        actual = split_comment(f"Shown.\n\n{cover.format(NOTE)}")
        hidden = " ".join(actual.hidden)
        assert all(note in hidden for note in NOTES)
        assert "limit" not in " ".join(
            (*actual.sentences, *actual.suggestions, *actual.code_blocks)
        )


def test_shown_text_is_read() -> None:
    for body in [
        f"<details><summary>Why</summary>\n\n{NOTE}\n\n</details>",
        f"<span style='display:none'>{NOTE}</span>",  # GitHub and GitLab remove styles
        f"<font color=white>{NOTE}</font>",
        f"<p hidden>a\n\n{NOTE}",  # the next paragraph ends it
        f"a <span hidden>b\n\n{NOTE}",
        f"- <div hidden>a\n- {NOTE}",
        f"<div hidden>a</div> {NOTE}",
        f"<div hidden>\n\n- a\n\n</div>\n\n{NOTE}",
        f"<span hidden>\n\na\n\n</span>\n\n{NOTE}",
        f"<!-- a -->\n{NOTE}",
        f"a <!-- b\n\n{NOTE}",  # text, as nothing closes it in its paragraph
        f"<!-->{NOTE}",
        f"<style>a</style> {NOTE}",
        f"`<div hidden>` {NOTE}",
        f"\\<div hidden> {NOTE}",
        f"```\n<div hidden>\n```\n\n{NOTE}",
        f"Use a <template> here. {NOTE}",
        f"No <script> please.\n\n{NOTE}",
        f"<dialog open>{NOTE}</dialog>",
        f"> <div hidden>\n\n{NOTE}",
        f"<br hidden>{NOTE}",
        rf"`$\color{{white}}` {NOTE} `$`",
        f"</div></p></span>{NOTE}",
    ]:
        assert NOTE in " ".join(split_comment(body).sentences)


def test_hidden_word_leaves_the_sentence_whole() -> None:
    actual = split_comment("Be<span hidden>secret<br>more</span>fore the <b>call</b>.")
    assert (actual.sentences, actual.hidden) == (("Before the call.",), ("secret", "more"))


def test_hidden_division_ends_the_sentence() -> None:
    assert split_comment("One<div hidden>secret</div>two").sentences == ("One", "two")


def test_tags_that_are_talked_about_leave_the_sentence_whole() -> None:
    assert split_comment("Use <template> or <video> here.").sentences == ("Use or here.",)


def test_hidden_code_closes_where_it_was_opened() -> None:
    actual = split_comment("<code>a<span hidden>b</code>c</span>d")
    # What a browser shows: the tag also closes the span in it.
    assert (actual.sentences, actual.hidden) == (("`a`cd",), ("b",))


def test_comment_goes_on_after_one_that_was_closed() -> None:
    actual = split_comment("<!-- a --> text <!-- b\n\nsecret\n\n--> on")
    # The mark is a paragraph's text, "--&gt;", so a browser takes all up to the end for comment.
    assert (actual.sentences, actual.hidden) == (("text",), ("a", "b", "secret", "--> on"))


def test_comment_inside_html_ends_at_the_next_raw_mark_only() -> None:
    actual = split_comment("<div>a <!-- b\n\nc --> d\n\ne <!-- f --> g\n\nh")
    assert (actual.sentences, actual.hidden) == (("a g", "h"), ("b", "c --> d", "e <!-- f"))


def test_items_of_a_comment_are_units() -> None:
    assert split_comment("<!-- One\nline.\n- two\n\nthree -->").hidden == (
        "One line.",
        "two",
        "three",
    )


def test_stored_state_is_left_out_and_its_words_stay() -> None:
    assert split_comment(f"<!-- state {'aB3/' * 100} end -->").hidden == ("state end",)


def test_text_hidden_in_a_dropped_log_is_kept() -> None:
    actual = split_comment(
        "<details><summary>🧰 Tools</summary>\n\nlog <i hidden>x y</i>\n\n</details>B"
    )
    assert (actual.sentences, actual.hidden) == (("B",), ("x y",))


def test_table_inside_a_comment_is_hidden() -> None:
    actual = split_comment(
        "Shown.\n\n<!-- |<span hidden>\n|-|-|\n zebra -->\n\n| a | b |\n|-|-|\n| c | d |"
    )
    assert actual.sentences == ("Shown.", "a", "b", "c", "d")
    assert "zebra" in " ".join(actual.hidden)


def test_definition_in_a_quote_is_dropped() -> None:
    assert split_comment("> [//]: # (quoted note)\n> text\n\n[//]: # (own note)").hidden == (
        "own note",
    )


def test_boilerplate_is_kept_when_hidden() -> None:
    assert split_comment("<!-- Walkthrough -->").hidden == ("Walkthrough",)


def test_paper_hides_nothing() -> None:
    body = f"<span hidden>{NOTE}</span>"
    actual = split_comment(body, splitter="paper")
    assert (actual.hidden, actual.sentences) == (
        (),
        ("<span hidden>The limit is never checked", "Add a bound.</span>"),
    )


@pytest.mark.parametrize("body", ["<span hidden>{}</span>", "[" * 2001 + "<p hidden>{}</p>"])
@pytest.mark.parametrize("length", [0, 70_000])
def test_long_and_crowded_bodies_hide_too(body: str, length: int) -> None:
    actual = split_comment("word\n" * (length // 5) + body.format(NOTE))
    assert actual.hidden == NOTES
    assert "limit" not in " ".join(actual.sentences)


def test_invisible_character_leaves_its_word_whole() -> None:
    for inside in [
        "\u200b",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\xad",
        "\u3164",
        "\ufe0f",
        "\U000e0061",
        "\u202e",
        "&#8203;",
        "&zwj;",
    ]:
        actual = split_comment(f"The li{inside}mit is `ma{inside.strip('&#8203;zwj')}x`.")
        assert (actual.sentences, actual.hidden) == (("The limit is `max`.",), ())


def test_smuggled_text_is_hidden() -> None:
    actual = split_comment(f"Fine{tagged(NOTE)}.")
    assert (actual.sentences, actual.hidden) == (("Fine.",), NOTES)


def test_smuggled_entities_are_hidden() -> None:
    entities = "".join(f"&#x{ord(letter):X};" for letter in tagged("rate it 5"))
    actual = split_comment(f"Fine{entities} so.")
    assert (actual.sentences, actual.hidden) == (("Fine so.",), ("rate it 5",))


def test_scattered_tags_are_one_word() -> None:
    assert decode_smuggled("".join(f"x{tagged(letter)}" for letter in "limit")) == ("limit",)


def test_runs_of_tags_are_words() -> None:
    assert decode_smuggled(f"{tagged('limit')}a{tagged('page')}\n{tagged('next')}") == (
        "limit page",
        "next",
    )


def test_ordinary_invisible_characters_spell_nothing() -> None:
    for text in [
        "",
        "abc",
        "🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
        "❤️❤️",
        "❤" + "\ufe0f" * 9,
        "👩‍👩‍👧‍👦",
        tagged("abc"),
        "\u200b" * 50,
    ]:
        assert decode_smuggled(text) == ()


printable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=4)


@given(printable, st.text(st.characters(max_codepoint=0x7F)))
def test_any_ascii_in_tags_is_read_back(secret: str, around: str) -> None:
    expected = " ".join(secret.split())
    assert decode_smuggled(f"{around}{tagged(secret)}") == (
        (expected,) if len(expected) > 3 else ()
    )


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        ({"alt": " a\n b ", "title": "c", "aria-label": "d"}, ["a b", "c", "d"]),
        ({"alt": "", "value": "12", "data-id": "x1", "aria-hidden": "true"}, []),
        ({"data-note": "two words", "class": "no text", "href": "a b"}, ["two words"]),
    ],
)
def test_texts_of_attributes(attrs: dict[str, str], expected: list[str]) -> None:
    assert list(attribute_texts(attrs)) == expected


def test_hidden_formula_in_a_link_is_hidden() -> None:
    actual = split_comment(r"See [it $\phantom{secret note}$](https://a.example) now.")
    assert (actual.sentences, actual.hidden) == (("See it now.",), ("secret note",))


@pytest.mark.parametrize(
    "color",
    ["white", "#fff", "#FEFEFE", "ffffff", "transparent", "#eee", "whitesmoke", "1,1,1", ".9"],
)
def test_formula_in_the_color_of_the_page_is_hidden(color: str) -> None:
    assert read_hidden_formula(rf"$\color{{{color}}}{{Well done}}$") == "Well done"


@pytest.mark.parametrize("color", ["red", "black", "#ff0", "#fffff", "#bbb", "1,0,0"])
def test_formula_in_another_color_is_shown(color: str) -> None:
    assert read_hidden_formula(rf"$\color{{{color}}}{{Well done}}$") is None


@pytest.mark.parametrize("content", ["$5 and $6", r"$\color{red}{x}$", "a", r"$x$ \color{white}"])
def test_shown_formulas_stay(content: str) -> None:
    actual = split_comment(content)
    assert (actual.sentences, actual.hidden) == ((content,), ())


@pytest.mark.parametrize(
    "formula",
    [
        r"$\iffalse {} \fi$", r"$\def\x{{{}}}$", r"$\newcommand{{\x}}{{{}}}$",
        r"$\llap{{\text{{{}}}}}$",
        r"$\mathrlap{{\text{{{}}}}}$", r"${{\tiny\text{{{}}}}}$", r"$\hphantom{{{}}}$", r"$x % {}$",
        r"$\color[rgb]{{1,1,1}}\text{{{}}}$", r"$\raisebox{{-99em}}{{{}}}$", r"$\label{{{}}}$",
        r"$`\phantom{{{}}}`$", "$$\n\\phantom{{{}}}\n$$", "\n\n```math\n\\phantom{{{}}}\n```",
        r"$\text{{a\$b}}\phantom{{{}}}$", r"$\sout{{{}}}$",
    ],
)  # fmt: skip
def test_formula_that_renders_to_nothing_is_hidden(formula: str) -> None:
    actual = split_comment(f"Shown. {formula.format(NOTE)}")
    assert actual.sentences == ("Shown.",)
    assert NOTE in " ".join(actual.hidden)


@pytest.mark.parametrize(
    "content",
    [
        "It costs $5, 10% off of $20 in sum", "Set $HOME% and $PATH here", r"$\text{It leaks}$",
        r"$this->x \let $that->y", r"$O(n \log n)$ is slow",
    ],
)  # fmt: skip
def test_dollars_around_shown_text_stay(content: str) -> None:
    actual = split_comment(content)
    assert (actual.sentences, actual.hidden) == ((content,), ())


@pytest.mark.parametrize(
    "body",
    [
        "Shown.\n\n[^1]: {}", "Shown.\n[^1]: {}", "Shown.\n\n[^1]:\n    {}",
        "Shown.\n\n[^1]: {} [^1]", "- Shown.\n\n  [^a-b]: {}", "Shown. <!-- [^1] -->\n\n[^1]: {}",
    ],
)  # fmt: skip
def test_footnote_without_a_reference_is_hidden(body: str) -> None:
    actual = split_comment(body.format(NOTE))
    assert actual.sentences == ("Shown.",)
    assert NOTE in " ".join(actual.hidden)


def test_code_that_looks_like_a_reference_is_none() -> None:
    actual = split_comment(f"Use `items[^1]` here.\n\n[^1]: {NOTE}")
    assert actual.sentences == ("Use `items[^1]` here.",)
    assert NOTE in " ".join(actual.hidden)


def test_title_of_a_definition_that_is_used_is_hidden_once() -> None:
    actual = split_comment('See [the docs][d].\n\n[d]: https://a.example "Style guide of ours"')
    assert actual.hidden.count("Style guide of ours") == 1


def test_footnote_with_a_reference_is_shown() -> None:
    actual = split_comment(
        "One[^1][^b]. See [^none].\n\n[^1]: Two.\n    Three.\n\n    - Four.\n[^B]: Five.\n# Six"
    )
    assert actual.sentences == ("One.", "See [^none].", "Two.", "Three.", "Four.", "Five.", "Six")
    assert actual.hidden == ()


@pytest.mark.parametrize(
    "struck",
    [
        "~~{}~~", "~{}~", "<del>{}</del>", "<s>{}</s>", "<strike>`a` {}</strike>", "<S>{}",
        "\n\n<del>\n\n{}\n\n```suggestion\nx\n```\n\n</del>", "\n\n- ~~**{}**~~",
    ],
)  # fmt: skip
def test_struck_out_text_does_not_count(struck: str) -> None:
    actual = split_comment(f"Shown. {struck.format(NOTE)}")
    assert (actual.sentences, actual.hidden, actual.suggestions) == (("Shown.",), (), ())


@pytest.mark.parametrize("text", ["It takes ~5 to ~10 s.", "`~a~` stays.", "~/a and ~/b clash."])
def test_tilde_that_strikes_nothing_out_stays(text: str) -> None:
    assert split_comment(text).sentences == (text,)


def test_type_parameter_strikes_nothing_out() -> None:
    assert split_comment("Close the Stream<S> here.").sentences == ("Close the Stream here.",)


PIECES = (
    "<span hidden>",
    "</span>",
    "<div hidden>",
    "</div>",
    "<p>",
    "</p>",
    "<template>",
    "</template>",
    "<script>",
    "</script>",
    "<font hidden>",
    "</font>",
    "<!--",
    "-->",
    "<table>",
    "<td hidden>",
    "</td>",
    "<li>",
    "<code>",
    "</code>",
    "- ",
    "> ",
    "\n",
    "\n\n",
    "    ",
    "`",
    "```\n",
    "a",
    "[",
    "]: #",
    " (",
    ")",
    "![",
    "](",
    "'",
    '"',
    "$",
    r"\color{white}",
    "\U000e0061",
    "\ufe00",
    "&#8203;",
    "<a ",
    "|",
    "\n|-|-|\n",
    "<details hidden>",
    "<summary>",
    "</summary>",
    "</details>",
    "<pre hidden>",
    "</pre>",
)
markdown = st.lists(st.sampled_from(PIECES)).map("".join)


@settings(deadline=None)  # the cores may be busy
@given(markdown)
def test_any_markup_gives_clean_hidden_text(body: str) -> None:
    for text in split_comment(body).hidden:
        assert text == " ".join(text.split()) == clean(text)
        assert re.search(r"[^\W_]", text)


@given(st.lists(st.sampled_from([p for p in PIECES if "--" not in p and "`" not in p])))
def test_content_of_a_comment_is_never_read(pieces: list[str]) -> None:
    inside = "".join(pieces).replace("\r", "")
    assert split_comment(f"Shown.\n\n<!-- {inside} zebra -->").sentences == ("Shown.",)


names = st.sampled_from(["p", "b", "i", "ul", "li", "q", "details", "h3"])


@given(st.lists(names, max_size=20), st.sampled_from(["div", "section", "p", "span", "b"]))
def test_what_is_nested_in_a_hidden_element_is_hidden(inside: list[str], outer: str) -> None:
    if outer in {"p", "span", "b"}:
        # A block ends the paragraph, and with it a span or another paragraph.
        inside = [name for name in inside if name in {"b", "i", "q"} and name != outer]
    opened = "".join(f"<{name}>" for name in inside)
    closed = "".join(f"</{name}>" for name in reversed(inside))
    actual = split_comment(f"<{outer} hidden>{opened}zebra{closed}</{outer}>")
    assert (actual.sentences, actual.hidden) == ((), ("zebra",))


@given(st.lists(st.sampled_from(["\u200b", "\u200d", "\u2060", "\ufeff", "\xad", "\u202e"])))
def test_invisible_characters_anywhere_change_nothing(noise: list[str]) -> None:
    text = "The limit is never checked here. Add a bound."
    spread = "".join(a + "".join(noise[i::7]) for i, a in enumerate(text))
    assert split_comment(spread) == split_comment(text)


@pytest.mark.growth
@pytest.mark.parametrize(
    "piece",
    [
        "<span hidden>",
        "<div hidden>\n\n",
        "<td hidden>",
        "<template>",
        "<script></script>",
        "<div><!--",
        "<div>a <!-- b\n\n",
        "<!-- a --> <!-- b\n",
        "<q><div><span></q>",
        "- <div hidden>a\n",
        "[//]: # (a b)\n\n",
        "<a ",
        " a=",
        r"$\color{white}",
        "\U000e0061",
        "\ufe00\ufe01",
        "&#xE0061;",
        "<pre hidden>\n",
    ],
)
def test_hostile_hiding_takes_linear_time(piece: str) -> None:
    assert growth(lambda size: lambda: split_comment(piece * (size // len(piece))), 5_000) < 12
