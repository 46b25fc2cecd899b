import base64
import hashlib
import re

import pytest

from crscore.reports.blocks import Table
from crscore.reports.layout import Bar, Report, Section, to_html, to_text
from tests.helpers.page import HARMLESS, VOID, Reader
from tests.helpers.results import EVIL

TABLE = Table(
    caption="Fruit",
    header=("Fruit", "n"),
    rows=(("pear", "1"), ("a whole lot of apples", "1,000")),
    main=frozenset({1}),
)
PROSE = Table(caption="How", header=("", ""), rows=(("seed", "0 or more"),), is_prose=True)


def report(*sections: Section, **fields: object) -> Report:
    values: dict = {
        "title": "T",
        "heading": "The heading",
        "facts": ("Three reviews.",),
        "notes": (),
        "cards": (("Spearman", "0.5", "relevance"),),
        "sections": sections,
        "signatures": ("crscore|version",),
    }
    return Report(**(values | fields))


def section(**fields: object) -> Section:
    return Section(anchor="fruit", short="Fruit", title="How many?", **fields)  # type: ignore[arg-type]


def test_text_starts_with_the_heading_and_the_cards() -> None:
    lines = to_text(report(section(), notes=("left out",))).splitlines()
    assert lines == [
        "The heading",
        "  Three reviews.",
        "  note: left out",
        "",
        "  Spearman  0.5  relevance",
        "",
        "crscore|version",
    ]


def test_section_of_plots_and_long_tables_alone_has_no_heading_in_the_text() -> None:
    assert "How many?" not in to_text(report(section(folded=(TABLE,), has_folded_in_text=False)))


def test_table_of_numbers_lines_up_in_the_text() -> None:
    lines = to_text(report(section(tables=(TABLE,), notes=("Counted.",)))).splitlines()
    start = lines.index("How many?")
    assert lines[start + 1 : start + 5] == [
        "  Fruit                      n",
        "  pear                       1",
        "  a whole lot of apples  1,000",
        "  Counted.",
    ]


def test_tables_are_distinguished_by_their_captions() -> None:
    shown = to_text(report(section(tables=(TABLE, PROSE))))
    assert "\n  Fruit:\n" in shown
    assert "\n  How:\n  seed  0 or more\n" in shown


def test_prose_is_wrapped_in_the_text() -> None:
    lines = to_text(report(section(intro=("word " * 60,)))).splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert sum(line.startswith("  word") for line in lines) == 4


def test_text_leaves_out_what_is_for_the_page() -> None:
    shown = to_text(report(section(folded=(TABLE,), has_folded_in_text=False, notes=("Counted.",))))
    assert "Counted." in shown
    assert "apples" not in shown


def test_long_folded_table_is_cut_and_the_rest_counted() -> None:
    rows = tuple((f"R{n}", "1") for n in range(203))
    rules = Table(caption="All", header=("R", "n"), rows=rows)
    document = to_html(report(section(folded=(rules,))))
    assert "<summary>All</summary>" in document
    assert "… and 3 more in --format json" in document
    assert "… and 3 more" in to_text(report(section(folded=(rules,))))


def test_page_shows_cells_by_what_they_are() -> None:
    goals = Table(caption="G", header=("", "goal"), rows=(("a", "✓ reached"), ("b", "✗ missed")))
    document = to_html(report(section(tables=(TABLE, PROSE, goals))))
    assert '<tr class="main"><th scope="row" class="txt">a whole lot of apples</th>' in document
    assert '<td class="num">1,000</td>' in document
    assert '<td class="txt">0 or more</td>' in document
    assert '<td class="num reached">✓ reached</td>' in document
    assert '<td class="num missed">✗ missed</td>' in document


def test_page_draws_the_plot_of_each_section() -> None:
    sections = [
        section(bars=(Bar(f"first {name}", 0.9, 0.8, 1.0, "90 %", tone="good"),))
        for name in ("wins", "losses")
    ]
    reader = Reader(to_html(report(*sections)))
    drawn = [values for tag, values in reader.elements if values.get("role") == "img"]
    assert [values["aria-label"] for values in drawn] == [
        "first wins: 90 % (from 0.8 to 1)",
        "first losses: 90 % (from 0.8 to 1)",
    ]


def test_links_have_targets_on_the_page() -> None:
    reader = Reader(to_html(report(section())))
    links = {item for item in reader.all("href") if item != "data:,"}
    assert links == {"#content", "#fruit"}
    assert {"content", "fruit"} <= set(reader.all("id"))


def hostile() -> Report:
    """Put a bad text wherever a run can carry one."""
    table = Table(caption=EVIL, header=("", "n"), rows=((EVIL, EVIL),))
    return report(
        section(
            intro=(EVIL,),
            bars=(Bar(EVIL, 1.0, None, None, "1"),),
            bars_title=EVIL,
            tables=(table,),
            notes=(EVIL,),
            folded=(table,),
        ),
        heading=EVIL,
        facts=(EVIL,),
        notes=("::error::" + EVIL,),
        cards=(("A", "1", EVIL),),
        signatures=(EVIL,),
    )


def test_hostile_texts_are_harmless_in_a_page() -> None:
    document = to_html(hostile())
    reader = Reader(document)
    assert {tag for tag, _ in reader.elements} <= HARMLESS | VOID
    assert not [name for _, values in reader.elements for name in values if name.startswith("on")]
    assert {item for item in reader.all("href") if item[:1] != "#"} == {"data:,"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", document)
    assert not re.search(r"^\s*::|##\[", document, re.MULTILINE)


@pytest.mark.parametrize("text", [EVIL, "::error::x", "\x1b[31mred ##[error]x"])
def test_hostile_texts_are_harmless_in_a_terminal(text: str) -> None:
    shown = to_text(report(section(), heading=text, facts=(text,), notes=(text,)))
    shown += to_text(hostile())
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert not re.search(r"^\s*::|##\[", shown, re.MULTILINE)


def test_style_sheet_is_allowed_by_its_hash_and_nothing_else_is() -> None:
    document = to_html(hostile())
    style = re.search(r"<style>(.*?)</style>", document, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(v for _, v in Reader(document).elements if "http-equiv" in v)["content"]
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
