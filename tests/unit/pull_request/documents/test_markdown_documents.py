"""What the comment and the job summary have in common: nothing of the input acts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from crscore.pull_request.documents import for_people
from crscore.records import Verdict
from tests.helpers import overviews

READER = MarkdownIt("commonmark", {"html": True}).enable(["table"])
OUR_HTML = re.compile(
    r"<br>|</?sub>|</details>"
    r"|<details><summary>(\d+ more not addressed|Notes, and what the numbers mean)</summary>"
)


def short(actual: overviews.Overview) -> str:
    return for_people.render_comment(actual)


def long(actual: overviews.Overview) -> str:
    return for_people.render_summary([actual])


BOTH = pytest.mark.parametrize("write", [short, long])


def tokens(document: str) -> list[Token]:
    flat = []
    for token in READER.parse(document):
        flat.append(token)
        flat.extend(token.children or [])
    return flat


def cells(document: str) -> list[list[str]]:
    table: list[list[str]] = []
    for token in READER.parse(document):
        if token.type == "tr_open":
            table.append([])
        elif token.type == "inline" and token.level >= 4 and table:
            table[-1].append("".join(child.content for child in token.children or []))
    return table


@BOTH
def test_unaddressed_topics_are_listed_once(write) -> None:
    shown = write(overviews.topics())
    assert (
        "- `HostAuthorization`, new, 110 lines: `HostAuthorization` is new. "
        f"[`src/shop/client.py:12-122`]({overviews.URL}/files#diff-"
    ) in shown
    assert shown.count("HostAuthorization`, new") == 1
    assert "- The value of `timeout` is 30. [`config/settings.toml:2`](" in shown
    assert "Client.fetch" not in shown


@BOTH
def test_input_adds_no_html(write) -> None:
    for token in tokens(write(overviews.hostile())):
        if token.type in ("html_block", "html_inline"):
            assert OUR_HTML.fullmatch(token.content.strip()), token.content


@BOTH
def test_links_lead_to_the_pull_request_and_nowhere_else(write) -> None:
    actual = [token for token in tokens(write(overviews.hostile())) if token.type == "link_open"]
    assert len(actual) >= 4
    for token in actual:
        address = str(token.attrs["href"])
        assert address == overviews.URL or address.startswith(
            (f"{overviews.URL}/files#diff-", f"{overviews.URL}/commits/")
        )


@BOTH
def test_input_adds_no_other_markup(write) -> None:
    kinds = [token.type for token in tokens(write(overviews.hostile()))]
    assert not set(kinds) & {"image", "em_open", "fence", "code_block", "hr", "ordered_list_open"}
    # Our own: the heading, and bold for the partial result, the row of all and the lists.
    assert kinds.count("heading_open") == 1
    assert kinds.count("strong_open") == 3 + len(cells(write(overviews.hostile()))[0])


@BOTH
def test_input_adds_no_mention_or_reference(write) -> None:
    for token in tokens(write(overviews.hostile())):
        if token.type == "text":
            text = token.content.replace("octo/shop#12", "")
            assert not re.search(r"@\w|#\d|GH-\d|https?://|www\.|[0-9a-f]{7}", text), text


@BOTH
def test_document_cannot_command_a_runner_or_a_terminal(write) -> None:
    shown = write(overviews.hostile())
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
    assert "##[" not in shown
    assert not set(shown) & set("\x1b\x9b\x07\u202e\u200b\u2028\ud800\x00")


@BOTH
def test_rows_stay_complete_with_any_name(write) -> None:
    rows = cells(write(overviews.hostile()))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows) == 5


@BOTH
def test_undefined_is_a_dash_with_its_reason(write) -> None:
    row = cells(write(overviews.hostile()))[-1]
    assert row[0] == "|"
    assert "- No score for " in write(overviews.hostile())
    assert row[1:4] == ["–", "–", "–"]


@BOTH
def test_bots_and_people_get_the_same_words(write) -> None:
    def of(*, is_bot: bool) -> str:
        row = overviews.reviewer("kit", is_bot=is_bot)
        return write(overviews.replace(overviews.review(), reviewers=(row,)))

    def visible(text: str) -> str:
        return re.sub(r"<!--.*?-->", "", text)

    assert visible(of(is_bot=True)).replace("kit (bot)", "kit") == visible(of(is_bot=False))


@BOTH
def test_partial_result_is_reported_before_the_numbers(write) -> None:
    actual = overviews.replace(overviews.review(), missing=("2 files could not be read.",) * 7)
    shown = write(actual)
    assert shown.index("This is a partial result") < shown.index("| Reviewer ")
    assert "> - and 2 more, in the notes\n" in shown
    assert shown.count("2 files could not be read.") == 7
    assert "partial" not in write(overviews.review())


@BOTH
def test_single_reviewer_has_one_row(write) -> None:
    actual = overviews.review()
    shown = write(overviews.replace(actual, reviewers=actual.reviewers[:1]))
    assert [row[0] for row in cells(shown)] == ["Reviewer", "mira"]
    assert "The review addresses 4 of 7 points" in shown


@BOTH
def test_no_review_yet(write) -> None:
    shown = write(overviews.nobody())
    assert "There is no review to score yet; it should address 2 points." in shown
    assert cells(shown) == []
    assert "The value of `timeout` in `http` changes from 10 to 30." in shown


@BOTH
def test_short_signature_is_the_last_thing(write) -> None:
    shown = write(overviews.review()).rstrip()
    assert shown.endswith(f" `{overviews.results.SHORT_SIGNATURE}`</sub>")
    assert f"- Signature: `{overviews.results.SIGNATURE}`\n" in shown


@BOTH
def test_same_overview_gives_the_same_text(write) -> None:
    assert write(overviews.review()) == write(overviews.review())


@BOTH
def test_finder_and_severity_of_an_issue_are_named(write) -> None:
    actual = overviews.replace(overviews.review(), open=(overviews.point(line=3, end_line=3),))
    assert "[`src/a.py:3`](" in write(actual)
    assert "R3) (ruff, warning)\n" in write(actual)


@BOTH
def test_point_on_the_old_side_says_so_and_links_there(write) -> None:
    point = overviews.point(path="README.md", side=overviews.Side.OLD, line=3, end_line=5)
    shown = write(overviews.replace(overviews.review(), open=(point,)))
    # GitHub's own name for this path in links that people have pasted in public.
    digest = "b335630551682c19a781afebcf4d07bf978fb1f8ac04c6bf87428ed5106870f5"
    assert f"[`README.md:3-5 (before)`]({overviews.URL}/files#diff-{digest}L3-L5)" in shown


@BOTH
def test_point_of_a_renamed_file_links_to_where_the_host_lists_it(write) -> None:
    point = overviews.point(path="old.md", listed="README.md", side=overviews.Side.OLD, line=3)
    shown = write(overviews.replace(overviews.review(), open=(point,)))
    digest = "b335630551682c19a781afebcf4d07bf978fb1f8ac04c6bf87428ed5106870f5"
    assert f"[`old.md:3 (before)`]({overviews.URL}/files#diff-{digest}L3)" in shown


@BOTH
def test_review_without_a_score_says_why(write) -> None:
    whole = overviews.replace(
        overviews.review().together, reason="no sentence in <b>", **overviews.NOTHING
    )
    shown = write(overviews.replace(overviews.review(), together=whole))
    assert "No score for this review: no sentence in &lt;b>." in shown
    assert cells(shown)[1][1:4] == ["–", "–", "–"]


@BOTH
def test_point_on_one_line_links_to_one_line(write) -> None:
    point = overviews.point(line=7, end_line=7)
    assert re.search(
        r"\[`src/a\.py:7`\]\(\S+/files#diff-[0-9a-f]{64}R7\)",
        write(overviews.replace(overviews.review(), open=(point,))),
    )


@BOTH
def test_point_on_a_file_links_to_the_file(write) -> None:
    shown = write(overviews.replace(overviews.review(), open=(overviews.point(),)))
    assert re.search(r"\[`src/a\.py`\]\(\S+/files#diff-[0-9a-f]{64}\)", shown)


@BOTH
def test_verdict_comes_first_and_the_table_has_usefulness(write) -> None:
    shown = write(overviews.useful_review())
    verdict = f"Useful: 83 (63 to 93), better than 83 % of {overviews.results.AGAINST}"
    verdict += ", 41 % of the bots'. "
    assert verdict + "83 points = 42 for remark 1 (critical)" in shown
    assert "(minor) + 9 for 3 others. Together, 2 reviewers" in shown
    rows = cells(shown)
    assert rows[0][1:4] == ["Useful", "About", "Importance"]
    assert [row[1:4] for row in rows[1:3]] == [
        ["83 (63–93) useful", "91", "78"],
        ["12 (0–22) little use", "91", "20"],
    ]
    assert (
        "<sub>Scores are from 0 to 100. Published scores of all reviewers: conciseness 67, "
        "comprehensiveness 57, relevance 62 of 100.</sub>"
    ) in shown
    assert "in four of five cases, the brackets contain the value" in shown
    assert "published scores" not in write(overviews.review())


@BOTH
def test_useful_review_that_abstained_says_why(write) -> None:
    lost = overviews.replace(
        overviews.useful_review().together, reason="no points in <b>", **overviews.NOTHING
    )
    shown = write(overviews.replace(overviews.useful_review(), together=lost))
    assert "No published score for this review: no points in &lt;b>." in shown
    assert "Published scores of all reviewers: none, as no points in &lt;b>.</sub>" in shown


RISKY = st.text("ab1 `*_~[]()<>!|\\\"'#@:/-=+.&;$\n\t\u202e\u200b\x1b{}", min_size=1, max_size=60)


@BOTH
@given(name=RISKY, text=RISKY, path=RISKY, why=RISKY)
def test_no_text_escapes_from_its_element(write, name, text, path, why) -> None:
    rows = (
        overviews.reviewer(name, usefulness=overviews.useful(word=why)),
        overviews.reviewer(name, reason=why, **overviews.NOTHING),
    )
    actual = overviews.replace(
        overviews.review(),
        reviewers=rows,
        title=text,
        signature=why,
        notes=(text, why),
        open=(overviews.point(text, path=path, source=name, line=2, end_line=3),) * 4,
        together=overviews.replace(
            overviews.review().together,
            unaddressed=4,
            points=8,
            usefulness=overviews.useful(word=name, verdict=text),
        ),
    )
    shown = write(actual)
    assert [len(row) for row in cells(shown)] == [len(cells(shown)[0])] * 4
    for token in tokens(shown):
        if token.type in ("html_block", "html_inline"):
            assert OUR_HTML.fullmatch(token.content.strip()), token.content
        elif token.type == "link_open":
            assert str(token.attrs["href"]).startswith(overviews.URL)
        else:
            assert token.type not in ("image", "em_open", "fence", "code_block", "hr"), shown
    assert sum(token.type == "list_item_open" for token in tokens(shown)) == 8


@BOTH
def test_refuted_remark_comes_first_with_what_the_code_says(write) -> None:
    shown = write(overviews.decided())
    assert "The code decides 2 of 6 remarks: 1 confirmed, 1 refuted. Together" in shown
    remarks = shown.split("**Remarks, refuted ones first, then the most valuable (6)**\n\n")[1]
    first, second, *_ = remarks.split("\n")
    assert first.startswith("- Why three retries? [`src/shop/client.py:13-15`](")
    lines = (
        rf"\(\[`src/shop/client\.py:13`\]\({re.escape(overviews.URL)}/files#diff-\w{{64}}R13\)\)"
    )
    assert re.search(
        "<br>refuted · asks for a change · adds nothing · mira<br>says that `fetch` tries three "
        f"times; the code says: `fetch` tries `retries` times in line 13 {lines}$",
        first,
    )
    assert "<br>confirmed: `fetch` catches `Exception` ([`src/shop/client.py:15`](" in second


@BOTH
def test_all_places_of_a_proof_are_named(write) -> None:
    places = (overviews.place(), overviews.place(line=9, end_line=9))
    remark = overviews.remark(
        receipt=overviews.proof("`a` is used.", Verdict.CONFIRMED, *places), facts="x"
    )
    shown = write(overviews.replace(overviews.review(), remarks=(remark,)))
    assert "**Remarks, the most valuable first (1)**" in shown
    assert re.search(
        r"<br>confirmed: `a` is used \(\[`src/a\.py:3-4`\]\(\S+\), \[`src/a\.py:9`\]\(\S+\)\)\n",
        shown,
    )
