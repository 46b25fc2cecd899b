from markupsafe import Markup

from crscore.reports import frame, html
from tests.helpers import results


def test_prose_is_escaped_and_code_is_marked_up() -> None:
    for raw, shown in [
        ("Use `a<b>` & *c*", "Use <code>a&lt;b&gt;</code> &amp; *c*"),
        ("<i>`</i>", "&lt;i&gt;`&lt;/i&gt;"),
        ('"quoted"', "&#34;quoted&#34;"),
        ("", ""),
    ]:
        assert frame.prose(raw) == Markup(shown)


def test_suggested_code_is_cleaned_but_keeps_its_lines() -> None:
    comments = (results.Said(results.Comment(body="b"), ("s",), ("a\x1b[1m\n  b\n",)),)
    result = results.make(results.diff_of(), (), comments, [])
    page = html.create()([result])
    assert '<pre class="suggestion"><code>a\n  b</code></pre>' in page
