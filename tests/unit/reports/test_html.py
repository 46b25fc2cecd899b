import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from msgspec.structs import replace

from crscore.records import Flag, Result
from crscore.reports import html
from tests.helpers import results

VOID = {"meta", "link", "col", "br"}
# fmt: off
KNOWN_TAGS = {
    "html", "head", "body", "meta", "link", "title", "style", "header", "nav", "main", "article",
    "section", "footer", "div", "p", "span", "ul", "li", "a", "b", "strong", "code", "pre",
    "h1", "h2", "h3", "table", "caption", "colgroup", "col", "thead", "tbody", "tr", "th", "td",
    "svg", "rect", "br",
}
KNOWN_ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "rel", "href", "id", "class", "title",
    "role", "scope", "tabindex", "colspan", "aria-label", "aria-hidden", "viewbox",
    "preserveaspectratio", "focusable", "width", "height",
}
# fmt: on


@dataclass
class Reader(HTMLParser):
    """Elements, attributes and text of a page; refuses tags that do not close."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack[-1:] != ["style"]:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def render(*inputs: Result) -> str:
    return html.create()(inputs)


def read(*inputs: Result) -> Reader:
    reader = Reader()
    reader.feed(render(*inputs))
    reader.close()
    assert reader.stack == []
    return reader


def text(reader: Reader) -> str:
    return " ".join(" ".join(reader.texts).split())


def attributes(reader: Reader, name: str) -> list[str]:
    return [actual[name] for _, actual in reader.elements if name in actual]


MAKERS = [
    results.review,
    results.hostile,
    results.abstained,
    results.small,
    results.flagged,
    lambda: results.learned(results.hostile(), (Flag.HIDDEN,) * 5),
    results.hostile_useful,
    results.decided,
    results.hostile_decided,
]


def test_every_element_and_attribute_is_from_the_templates() -> None:
    for make in MAKERS:
        reader = read(make())
        assert {tag for tag, _ in reader.elements} <= KNOWN_TAGS
        assert {name for _, actual in reader.elements for name in actual} <= KNOWN_ATTRIBUTES
        assert reader.comments == []


def test_ids_and_classes_are_made_from_positions_only() -> None:
    for make in MAKERS:
        reader = read(make())
        for value in attributes(reader, "id") + attributes(reader, "class"):
            assert re.fullmatch(r"[a-z0-9 -]+", value), value


def test_links_have_targets_on_the_page() -> None:
    for make in MAKERS:
        reader = read(make())
        ids = attributes(reader, "id")
        assert len(ids) == len(set(ids))
        for value in attributes(reader, "href"):
            assert value == "data:," or value.removeprefix("#") in ids, value


def test_links_of_several_results_are_distinct() -> None:
    reader = read(results.review(), results.review())
    ids = attributes(reader, "id")
    assert len(ids) == len(set(ids))
    assert {"x1-r0", "x2-r0"} <= set(ids)
    assert "Change 2 of 2" in text(reader)


def test_style_sheet_is_allowed_by_its_hash_and_nothing_else_is() -> None:
    page = render(results.hostile())
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(v for t, v in read(results.hostile()).elements if "http-equiv" in v)["content"]
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_scores_are_with_their_counts() -> None:
    for name, value, basis in [
        ("Relevance", "62", "harmonic mean of the two below"),
        ("Conciseness", "67", "mean of 6 sentences, 4 on topic"),
        ("Comprehensiveness", "57", "mean of 7 pseudo-references; 4 of 7 points addressed"),
    ]:
        # By hand: 4 of 6, 4 of 7, harmonic mean 8/13.
        assert f"{name} {value} of 100 {basis}" in text(read(results.review()))


def test_verdict_is_above_its_explanation() -> None:
    shown = text(read(results.useful(results.review())))
    assert (
        f"Useful: 83 (63 to 93), better than 83 % of {results.AGAINST}, "
        "41 % of the bots'. "
        "83 points = 42 for remark 1 (critical) "
        "+ 21 for remark 2 (major) + 11 for remark 3 (minor) + 9 for 3 others. "
        f"Usefulness 83 of 100 better than this share of {results.AGAINST} About this change "
        "91 of 100 likely" in shown
    )
    assert "Published scores conciseness 67, comprehensiveness 57, relevance 62 of 100" in shown
    assert "review-bot 12 (0–22) little use 91 20 1 of 2 12" in shown
    assert "mira on config/settings.toml:2" in shown
    assert "Useful: 61 (41 to 71), better than 61 % of" in shown


def test_remarks_come_first_then_their_sentences() -> None:
    page = render(results.useful(results.review()))
    shown = text(read(results.useful(results.review())))
    assert "Why three retries? asks for a change · The method fetch of Client now" in shown
    assert "Remarks, the most valuable first (6) 1 Catching Exception here" in shown
    assert "only. C1 mira on src/shop/client.py:13-15 critical · asks for a change · adds" in shown
    assert '<rect class="fill" width="78.0" height="4"/>' in page


def test_baselines_are_shown_separately_from_the_scores() -> None:
    shown = text(read(results.review()))
    assert "Baselines, never in the scores 48 words, 31 % of the diff's tokens repeated" in shown


def test_abstention_shows_dashes_and_the_reason() -> None:
    shown = text(read(results.abstained()))
    assert "Relevance –" in shown
    assert "No score: there are no sentences to compare with." in shown


def test_comment_has_the_lines_that_it_is_about() -> None:
    page = render(results.review())
    assert page.count('<table class="lines"') == 3
    first = page.split('<table class="lines"')[1].split("</table>")[0]
    assert first.count('class="added"') == 5
    assert '<td class="no">15</td><td class="sign">+</td>' in first


def test_long_line_is_cut() -> None:
    file = results.changed("a.js", results.hunk(1, 1, "+" + "x" * 5_000))
    comment = results.Comment(body="b", path="a.js", line=1)
    page = render(
        results.make(results.diff_of(file), (), (results.Said(comment, ("Too long.",)),), [])
    )
    assert "… (+4,000 characters)" in page


def test_unaddressed_are_listed_with_their_place() -> None:
    shown = text(read(results.review()))
    assert (
        "Not addressed (3) fetch returns None when all attempts fail, so callers must handle "
        "a missing answer. src/shop/client.py:17 R3" in shown
    )


def test_unaddressed_topic_is_listed_with_its_lines() -> None:
    shown = text(read(results.topics()))
    assert (
        "Not addressed (3) HostAuthorization , new, 110 lines: HostAuthorization is new. "
        "src/shop/client.py:12-122 R2 old_fetch , removed" in shown
    )
    assert "part of Client.fetch , changed, 9 lines" in shown


def test_review_that_misses_nothing_says_so() -> None:
    result = results.small()
    matched = tuple(replace(match, matched=True) for match in result.reference_matches)
    shown = text(read(replace(result, reference_matches=matched)))
    assert "a sentence addresses each topic" in shown


def test_reviewers_have_a_table_when_there_are_several() -> None:
    shown = text(read(results.review()))
    assert "review-bot 22 50 14 1 of 2 12" in shown


def test_tables_of_degrees_show_no_sum_of_them() -> None:
    shown = text(read(results.learned(results.review())))
    # By hand: of review-bot's two, half of 0.8644 is over 0.35; (0.4322 + 0.10055) / 2 = 0.27,
    # over seven pseudo-references 0.1006 + 0.0411 + 0.1661 + 0.4322 + 0.0595 + 0.0506 + 0.1006.
    assert "review-bot 18 27 14 1 of 2 12" in shown


def test_flagged_sentence_has_its_flag_instead_of_a_match() -> None:
    shown = text(read(results.flagged()))
    assert "Looks great overall! ⚑ repeats an earlier sentence C4" in shown
    assert "✗ 0 Why three retries? ⚑ is no sentence" in shown
    assert "three times? ⚑ restates the change addresses R5 The" in shown


def test_hardly_addressed_are_listed() -> None:
    shown = text(read(results.learned(results.small())))
    # A consequence comes before an issue.
    assert "Not or hardly addressed (2) fetch returns" in shown
    assert shown.index("fetch returns") < shown.index("The broad")


def test_single_reviewer_has_no_table() -> None:
    assert "Reviewers" not in text(read(results.small()))


def test_reference_over_the_limit_says_that_it_does_not_count() -> None:
    assert "not counted: over the limit" in text(read(results.review()))


def test_suggested_code_is_kept_apart() -> None:
    page = render(results.review())
    assert '<pre class="suggestion"><code>            except requests.RequestException:' in page


def test_hostile_text_is_shown_as_text() -> None:
    shown = text(read(results.hostile()))
    assert '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">' in shown
    assert "{{ 7*7 }} {% x %}" in shown
    assert "⟨U+202E⟩txt.exe" in shown


def test_notes_and_signature_are_shown() -> None:
    shown = text(read(results.review()))
    assert "One binary file was left out." in shown
    assert shown.endswith(f"same score: {results.SIGNATURE}")


def test_empty_result_makes_a_page() -> None:
    empty = results.make(results.diff_of(), (), (), [])
    shown = text(read(empty))
    assert "No comment." in shown


def test_sentence_without_any_reference_says_so() -> None:
    comments = (results.Said(results.Comment(body="b"), ("A sentence.",)),)
    shown = text(read(results.make(results.diff_of(results.LEGACY), (), comments, [])))
    assert "no pseudo-reference to compare with" in shown


def test_receipt_names_its_lines() -> None:
    page = render(results.decided())
    shown = text(read(results.decided()))
    assert "Remarks, refuted ones first, then the most valuable (6) 1 Why three retries?" in shown
    assert (
        "says that fetch tries three times ; the code says: fetch tries retries times in line 13 "
        "( src/shop/client.py:13 )"
    ) in shown
    assert '<span class="fair flag">says that </span>' in page
    assert '<span class="place">src/shop/client.py:13</span>' in page
