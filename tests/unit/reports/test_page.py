from markupsafe import Markup

from crscore.reports import frame, html
from tests.helpers import results


def test_prose_is_escaped_and_code_set_as_code() -> None:
    for raw, shown in [
        ("Use `a<b>` & *c*", "Use <code>a&lt;b&gt;</code> &amp; *c*"),
        ("<i>`</i>", "&lt;i&gt;`&lt;/i&gt;"),
        ('"quoted"', "&#34;quoted&#34;"),
        ("", ""),
    ]:
        assert frame.prose(raw) == Markup(shown)


def test_shade_grows_with_what_decides() -> None:
    for value, level in [(-1.0, 0), (-0.05, 0), (0.05, 0), (0.5, 5), (0.99, 9), (1.0, 10)]:
        assert html.cell(value, None, matched=False).level == level
        assert html.cell(0.3, max(value, 0), matched=False).level == level


def test_negative_similarity_has_a_real_minus() -> None:
    assert html.cell(-0.0312, None, matched=False)[:2] == ("−0.03", "cosine −0.0312")


def test_cell_with_a_degree_shows_it_before_the_similarity() -> None:
    cell = html.cell(-0.0312, 0.41, matched=True)
    assert cell[:2] == ("41", "degree 0.4100, cosine −0.0312")


def test_suggested_code_is_cleaned_but_keeps_its_lines() -> None:
    comments = (results.Said(results.Comment(body="b"), ("s",), ("a\x1b[1m\n  b\n",)),)
    result = results.make(results.diff_of(), (), comments, [])
    page = html.create().render([result])
    assert '<pre class="suggestion"><code>a\n  b</code></pre>' in page
