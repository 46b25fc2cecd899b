import re

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from crscore.records import Result, Stance, Subject
from crscore.reports import markdown
from crscore.reports.markdown_blocks import Part, fit_parts
from tests.helpers import results

READER = MarkdownIt("commonmark", {"html": True}).enable(["table"])
OUR_HTML = {
    "<br>",
    "<sub>",
    "</sub>",
    "</details>",
    "<details><summary>Each sentence and what it addresses</summary>",
    "<details><summary>Notes</summary>",
}
MORE = re.compile(r"<details><summary>\d+ more (?:not addressed|remarks)</summary>")


def render(*inputs: Result) -> str:
    return markdown.create()(inputs)


def tokens(document: str) -> list[Token]:
    flat = []
    for token in READER.parse(document):
        flat.append(token)
        flat.extend(token.children or [])
    return flat


def html_of(document: str) -> set[str]:
    return {
        token.content.strip()
        for token in tokens(document)
        if token.type in ("html_block", "html_inline")
    }


def cells(document: str) -> list[list[str]]:
    table: list[list[str]] = []
    for token in READER.parse(document):
        if token.type == "tr_open":
            table.append([])
        elif token.type == "inline" and token.level >= 4 and table:
            table[-1].append("".join(child.content for child in token.children or []))
    return table


def test_scores_are_a_table() -> None:
    rows = cells(render(results.review()))
    # By hand: 4 of 6, 4 of 7, harmonic mean 8/13.
    assert rows[1] == ["Relevance", "62", "harmonic mean of the two below"]
    assert rows[2] == ["Conciseness", "67", "mean of 6 sentences, 4 on topic"]
    assert rows[3] == [
        "Comprehensiveness",
        "57",
        "mean of 7 pseudo-references; 4 of 7 points addressed",
    ]


def test_scores_of_degrees_are_named_as_means() -> None:
    # By hand: halves of the columns' and rows' largest in the helper's matrix.
    shown = render(results.learned(results.small()))
    assert cells(shown)[2] == ["Conciseness", "26", "mean of 2 sentences, 1 on topic"]
    assert "about the change in 1 of 2 sentences and addresses 1 of 3 points" in shown
    assert "threshold" not in shown


def test_verdict_comes_first_then_the_published_scores() -> None:
    shown = render(results.useful(results.review()))
    assert shown.startswith(
        f"### Review score\n\n**Useful:** 83 (63 to 93), better than 83 % of {results.AGAINST}, "
        "41 % of the bots'.\n\n"
        "<sub>83 points = 42 for remark 1 (critical) + 21 for remark 2 (major) + 11 for "
        "remark 3 (minor) + 9 for 3 others.</sub>\n\n"
        "| Score | of 100 | |\n|:--|--:|:--|\n"
        "| About this change | 91 | likely about this change and no other |\n"
        "| Importance | 78 | critical: its most important remark |\n\n"
        "<sub>Published scores: conciseness 67, comprehensiveness 57, relevance 62 "
        "of 100.</sub>\n\n"
    )
    assert ["review-bot", "12 (0–22) little use", "91", "20", "1 of 2", "12"] in cells(shown)


def test_remark_says_what_it_does_and_what_it_is_about() -> None:
    other = results.make_reading(Stance.OTHER, 0.02, subject=Subject.ELSEWHERE)
    shown = render(results.useful(results.flagged(), results.make_reading(), other))
    assert (
        "- **1** Catching `Exception` here hides real bugs, please catch the network error only. "
        "mira on `src/shop/client.py:13-15`<br>critical · asks for a change · adds 43 points\n"
    ) in shown
    folded = shown.split("<summary>1 more remarks</summary>")[1]
    assert "- **6** Why three retries? mira on `src/shop/client.py:13-15`<br>" in folded
    assert "talks about something else · little to answer · ⚑ is no sentence\n" in folded


def test_flagged_sentences_are_counted_visibly() -> None:
    shown = render(results.flagged())
    assert "⚑ 4 sentences flagged: " in shown.split("<details>")[0]
    assert "⚑" not in render(results.review())


def test_title_of_the_unaddressed_says_that_some_are_addressed_in_part() -> None:
    assert "**Not addressed (3)**" in render(results.review())
    shown = render(results.learned(results.review()))
    assert "**Not or hardly addressed (4)**" in shown
    assert "<summary>1 more not or hardly addressed</summary>" in shown


def test_reviewers_are_a_table_when_there_are_several() -> None:
    rows = cells(render(results.review()))
    assert ["review-bot", "22", "50", "14", "1 of 2", "12"] in rows


def test_single_reviewer_has_no_table() -> None:
    assert "Reviewer" not in render(results.small())


def test_three_heaviest_unaddressed_are_listed_openly() -> None:
    shown = render(results.large(60))
    before_fold = shown.split("<details>")[0]
    assert [f"value_{i}_3" in before_fold for i in (1, 3, 5, 7)] == [True, True, True, False]
    assert "<summary>27 more not addressed</summary>" in shown


def test_unaddressed_reference_names_file_and_line() -> None:
    assert "added to `http`, empty by default. `config/settings.toml:3`" in render(results.review())


def test_unaddressed_topic_is_listed_with_its_lines() -> None:
    shown = render(results.topics()).split("<details>")[0]
    assert (
        "- `HostAuthorization`, new, 110 lines: `HostAuthorization` is new. "
        "`src/shop/client.py:12-122`\n"
        "- `old_fetch`, removed, 2 lines: `old_fetch` was removed. "
        "`src/shop/legacy.py:1-2 (before)`\n"
        "- The value of `timeout` is 30. `config/settings.toml:2`\n"
    ) in shown


def test_abstention_says_why() -> None:
    shown = render(results.abstained())
    assert "No score: there are no sentences to compare with." in shown
    assert cells(shown)[1][1] == "–"


def test_review_that_misses_nothing_has_no_such_list() -> None:
    result = results.small()
    matched = tuple(replace(match, matched=True) for match in result.reference_matches)
    assert "Not addressed" not in render(replace(result, reference_matches=matched))


def test_signature_is_short_and_its_full_form_is_folded() -> None:
    shown = render(results.review())
    assert f"<sub>`{results.SHORT_SIGNATURE}`</sub>" in shown
    assert shown.index("<details>") < shown.index(f"- Signature: `{results.SIGNATURE}`\n")


def test_several_results_are_numbered() -> None:
    headings = [
        token.content
        for token in tokens(render(results.small(), results.review()))
        if token.type == "inline" and token.content.startswith("Change")
    ]
    assert headings == ["Change 1 of 2", "Change 2 of 2"]


@pytest.mark.parametrize(
    "make", [results.hostile, results.hostile_useful, results.hostile_decided, results.review]
)
def test_input_adds_no_html(make) -> None:
    actual = {text for text in html_of(render(make())) if not MORE.fullmatch(text)}
    assert actual <= OUR_HTML


def test_input_adds_no_link_emphasis_or_heading() -> None:
    actual = tokens(render(results.hostile()))
    assert not {token.type for token in actual} & {
        "link_open",
        "image",
        "em_open",
        "fence",
        "code_block",
        "hr",
        "blockquote_open",
        "ordered_list_open",
    }
    # Our own bold: the heading of the list.
    assert sum(token.type == "strong_open" for token in actual) == 1
    assert sum(token.type == "heading_open" for token in actual) == 1


def test_input_adds_no_mention_or_issue_reference() -> None:
    shown = render(results.hostile()) + render(results.hostile_useful())
    shown += render(results.hostile_decided())
    for token in tokens(shown):
        if token.type == "text":
            assert not re.search(r"@\w|#\d|GH-\d|https?://|www\.|[0-9a-f]{7}", token.content)


def test_document_cannot_command_a_runner() -> None:
    shown = render(results.hostile())
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
    assert "##[" not in shown


def huge() -> Result:
    """Each sentence and pseudo-reference at its longest, 200 of each."""
    base = results.large(200)
    return replace(
        base,
        references=tuple(
            replace(item, text=f"{index} " + "word & <b> " * 200)
            for index, item in enumerate(base.references)
        ),
        sentences=tuple(replace(item, text="@me #1 " * 300) for item in base.sentences),
    )


HUGE = huge()


@pytest.mark.parametrize("copies", [1, 3])
def test_document_is_cut_by_whole_items_within_the_limit(copies: int) -> None:
    shown = render(*[HUGE] * copies)
    assert len(shown) <= markdown.MAX_CHARS
    assert shown.count("<details>") == shown.count("</details>")
    assert re.search(r"\*Shortened: [\d,]+ items left out", shown)


def test_each_of_several_long_results_gets_its_share() -> None:
    shown = render(HUGE, HUGE, HUGE)
    assert shown.count("\n<sub>") == 3


def test_results_beyond_the_limit_are_counted() -> None:
    shown = render(*[results.review()] * 400)
    assert len(shown) <= markdown.MAX_CHARS
    assert re.search(r"Shortened: 3\d\d changes left out", shown)


def test_document_is_nearly_as_long_as_the_limit_before_items_are_left_out() -> None:
    assert len(render(HUGE)) > markdown.MAX_CHARS - 6_000


def test_short_document_is_not_cut() -> None:
    assert "Shortened" not in render(results.review())


def test_item_that_does_not_fit_is_left_out_and_a_later_one_kept() -> None:
    fitted = fit_parts([Part("head\n", ("a" * 50 + "\n", "b\n"))], limit=20)
    assert fitted == ("head\nb\n", 1)


def test_part_whose_items_do_not_fit_is_left_out_whole() -> None:
    parts = [
        Part("first\n"),
        Part("head\n", ("a" * 50, "b" * 50)),
        Part("last\n", is_required=True),
    ]
    assert fit_parts(parts, limit=20) == ("first\nlast\n", 2)


def test_part_without_items_that_does_not_fit_counts_as_one() -> None:
    assert fit_parts([Part("a" * 99)], limit=20) == ("", 1)


def test_refuted_remark_comes_first_with_what_the_code_says() -> None:
    shown = render(results.decided())
    assert "<sub>The code decides 2 of 6 remarks: 1 confirmed, 1 refuted.</sub>\n" in shown
    remarks = shown.split("**Remarks, refuted ones first, then the most valuable (6)**\n\n")[1]
    assert remarks.startswith(
        "- **1** Why three retries? mira on `src/shop/client.py:13-15`<br>ref"
    )
    assert (
        "<br>says that `fetch` tries three times; the code says: `fetch` tries `retries` times in "
        "line 13 (`src/shop/client.py:13`)\n- **2** Catching"
    ) in remarks
    assert "<br>confirmed: `fetch` catches `Exception` (`src/shop/client.py:15`)\n" in remarks
