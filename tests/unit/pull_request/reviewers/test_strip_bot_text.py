"""What is cut out of a body, rule by rule."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.hosts.records import MessageKind
from crscore.pull_request.reviewers.profile import Cut, Exclusion, Profile, profiles
from crscore.pull_request.reviewers.strip_bot_text import cut, find_exclusion, remove_commands
from tests.helpers.growth import growth

"""Of processor time, under coverage; a step for each pair of pieces would take minutes."""

PIECES = [
    "<details>",
    "</details>",
    "<summary>tip</summary>",
    "<!-- a -->",
    "```",
    "# tips",
    "> ",
    "`",
    "\n",
    "text",
    "[start]",
    "[end]",
    "tail",
]
RULES = Cut(
    between=(("[start]", "[end]"),),
    details=("tip",),
    sections=("tips",),
    lines=("tail*",),
    unquote=True,
    plain_pre=True,
)


def words(body: str, **rules: object) -> str:
    return " ".join(cut(body, Cut(**rules)).split())  # type: ignore[arg-type]


def test_no_rule_cuts_nothing() -> None:
    body = "# a\n\n> b\n\n<details>c</details>\n\n```suggestion\nd\n```"
    assert cut(body, Cut()) == body


def test_text_between_two_markers_is_removed_each_time() -> None:
    assert words("a [b] c [d] e", between=(("[", "]"),)) == "a c e"


def test_start_marker_without_an_end_is_kept() -> None:
    assert words("a [b", between=(("[", "]"),)) == "a [b"


def test_folded_part_is_removed_with_its_content() -> None:
    body = "a <details><summary>Tips</summary>b <details>c</details> d</details> e"
    assert words(body, details=("tips",)) == "a e"


def test_unclosed_part_is_kept() -> None:
    assert "b" in cut("a <details><summary>Tips</summary>b", Cut(details=("tips",)))


def test_section_goes_up_to_the_next_of_its_level() -> None:
    assert words("## Tips\na\n### b\n## c\nd", sections=("tips",)) == "## c d"


def test_kept_part_stays_in_a_removed_section() -> None:
    body = "## Tips\na\n<details><summary>Missed</summary>b</details>\nc"
    actual = words(body, sections=("tips",), keep=("missed*",))
    assert actual == "<details><summary>Missed</summary>b</details>"


def test_kept_part_inside_of_a_cut_part_stays_once() -> None:
    kept = "<details><summary>keep</summary>a</details>"
    body = f"<details><summary>cut</summary>b {kept} c {kept} d</details> e"
    assert words(body, details=("cut",), keep=("keep",)) == f"{kept}{kept} e"


def test_kept_part_keeps_its_removed_parts() -> None:
    tip = "<details><summary>cut</summary>a</details>"
    kept = f"<details><summary>keep</summary>{tip} b {tip}</details>"
    body = f"{kept} c {tip} d"
    assert words(body, details=("cut",), keep=("keep",)) == f"{kept} c d"


def test_part_that_is_both_removed_and_kept_is_kept() -> None:
    kept = "<details><summary>keep</summary>a</details>"
    assert words(f"b {kept} c", details=("keep",), keep=("keep",)) == f"b {kept} c"


def test_line_is_removed_even_in_a_quote() -> None:
    assert words("> _a_ | _b_\n> c", lines=("_*_ | _*_",)) == "> > c"


def test_quote_stays_valid_when_a_line_is_removed() -> None:
    assert cut("> [!NOTE]\n> tip\n> c", Cut(lines=("tip",))) == "> [!NOTE]\n> \n> c"


def test_line_of_code_stays() -> None:
    body = "```\ntip\n```"
    assert cut(body, Cut(lines=("tip",))) == body


def test_quotes_and_preformatted_prose_of_the_bot_are_its_words() -> None:
    assert words("> a\n> <pre>b\n> c</pre>", unquote=True, plain_pre=True) == "a b c"


def test_suggestion_stays_as_it_was() -> None:
    body = "a\n```suggestion\n    b\n```"
    assert cut(body, Cut(lines=("b",))) == body


def test_commands_are_removed_and_the_rest_is_kept() -> None:
    assert remove_commands("This leaks.\n/crscore again\n`/crscore`") == "This leaks.\n\n`/crscore`"


@pytest.mark.parametrize("body", ["/crscored it", "see /crscore", "```\n/crscore\n```"])
def test_text_that_only_looks_like_a_command_is_kept(body: str) -> None:
    assert remove_commands(body) == body


def octo(*rules: Exclusion) -> Profile:
    return Profile(title="Octo", name="octo", not_review=rules)


def test_post_with_a_line_of_a_notice_is_no_review() -> None:
    bot = octo(Exclusion(description="a", lines=("limit*",)))
    assert find_exclusion("> [!NOTE]\n> **Limit** reached", MessageKind.REVIEW, bot)
    assert not find_exclusion("The limit is wrong", MessageKind.REVIEW, bot)


def test_post_of_a_kind_is_no_review_whatever_it_says() -> None:
    bot = octo(Exclusion(description="a", kinds=(MessageKind.CONVERSATION,)))
    assert find_exclusion("a", MessageKind.CONVERSATION, bot)
    assert not find_exclusion("a", MessageKind.LINE, bot)


def test_notice_of_another_kind_does_not_count() -> None:
    bot = octo(Exclusion(description="a", kinds=(MessageKind.LINE,), lines=("a",)))
    assert not find_exclusion("a", MessageKind.REVIEW, bot)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_cut_adds_no_text(text: str) -> None:
    left = iter(text)
    assert all(letter in left for letter in cut(text, RULES) if not letter.isspace())


@pytest.mark.growth
@pytest.mark.parametrize(
    "piece",
    [
        "<details>",
        "<details><summary>Tips</summary>",
        "<details><summary>Tips</summary></details>\n",
        "<!-- tips_start -->",
        "<!-- tips_start -->\n",
        "<code>🐞",
        "> ",
        "_a_ | ",
        "[[](",
        "\n",
        "a\n",
        "`",
        "# Pull request overview\n",
        "<pre>",
        "*",
    ],
)
def test_hostile_body_takes_linear_time(piece: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = (piece * size)[:size]
        return lambda: [
            (cut(text, bot.cut), find_exclusion(text, MessageKind.REVIEW, bot))
            for bot in profiles()
        ]

    assert growth(prepare, 1_000) < 12
