from html.parser import HTMLParser

from crscore.pull_request.documents import for_people
from tests.helpers import overviews, results


class Read(HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def review() -> str:
    return for_people.render_page(overviews.review(), results.review())


def test_overview_is_above_the_report() -> None:
    shown = review()
    assert shown.index("2 reviewers address 4 of 7 points") < shown.index('id="review"')
    assert "<title>Review of octo/shop#12</title>" in shown


def test_report_adds_what_the_overview_leaves_out() -> None:
    ids = [attributes.get("id") for _, attributes in Read(review()).tags]
    assert {"top", "review", "references"} <= set(ids)
    named = [item for item in ids if item]
    assert len(named) == len(set(named))


def test_points_link_to_the_pull_request() -> None:
    links = [
        attributes["href"]
        for tag, attributes in Read(review()).tags
        if tag == "a" and str(attributes["href"]).startswith("http")
    ]
    assert f"{overviews.URL}/commits/{overviews.HEAD}" in links
    assert sum(f"{overviews.URL}/files#diff-" in str(link) for link in links) == 2
    assert all(str(link).startswith(overviews.URL) for link in links)


def test_unaddressed_topics_are_listed_once() -> None:
    shown = Read(for_people.render_page(overviews.topics(), results.topics())).text
    overview = " ".join(shown.split("Measured at")[0].split())
    assert overview.count("HostAuthorization, new, 110 lines: HostAuthorization is new") == 1
    assert "src/shop/client.py:12-122" in overview
    assert "Client.fetch" not in overview


def test_input_adds_no_markup() -> None:
    read = Read(for_people.render_page(overviews.hostile(), results.hostile()))
    assert not {tag for tag, _ in read.tags} & {"script", "img", "b1", "iframe", "form"}
    assert '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">' in read.text
    for _, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on")]


def test_page_cannot_command_a_runner() -> None:
    shown = for_people.render_page(overviews.hostile(), results.hostile())
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
    assert "##[" not in shown


def test_verdict_and_usefulness_are_reported() -> None:
    result = results.useful(results.review())
    text = " ".join(Read(for_people.render_page(overviews.useful_review(), result)).text.split())
    overview = text.split("Measured at")[0]
    assert "(minor) + 9 for 3 others. Together, 2 reviewers" in overview
    assert "Together83 (63–93) useful9178" in overview
    assert "mira12 (0–22) little use9120" in overview
    assert "Published scores of all reviewers: conciseness 67" in overview


def test_partial_result_and_reasons_are_reported() -> None:
    actual = overviews.replace(
        overviews.review(),
        missing=("2 files could not be read.",),
        reviewers=(overviews.reviewer("kit", reason="no text", **overviews.NOTHING),),
    )
    text = Read(for_people.render_page(actual, results.review())).text
    assert "This is a partial result." in text
    assert "No score for kit: no text." in text


def test_no_review_yet() -> None:
    result = results.make(results.diff_of(results.SETTINGS), results.REFERENCES[4:6], (), [[], []])
    text = Read(for_people.render_page(overviews.nobody(), result)).text
    assert "There is no review to score yet; it should address 2 points." in text


def test_points_over_the_limits_are_counted() -> None:
    actual = overviews.review()
    whole = overviews.replace(actual.together, unaddressed=112, points=116)
    points = tuple(overviews.point(f"Point {index}.") for index in range(12))
    actual = overviews.replace(actual, together=whole, open=points)
    text = Read(for_people.render_page(actual, results.review())).text
    assert "109 more not addressed" in text
    assert "The last 100 of them are not listed." in text


def test_headline_table_and_lists_are_written_once() -> None:
    result = results.useful(results.review())
    shown = for_people.render_page(overviews.useful_review(), result)
    assert shown.count("better than") == 1 + sum(c.usefulness is not None for c in result.comments)
    assert shown.count(">All reviewers<") + shown.count(">Reviewers<") == 1
    assert not {"missing", "remarks"} & {a.get("id") for _, a in Read(shown).tags}


def test_proof_links_to_the_pull_request() -> None:
    tags = Read(for_people.render_page(overviews.decided(), results.decided())).tags
    links = [str(attributes["href"]) for tag, attributes in tags if tag == "a"]
    assert sum(link.endswith("R13") for link in links) == 1
