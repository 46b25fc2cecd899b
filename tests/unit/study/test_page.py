import base64
import hashlib
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from crscore import Scorer
from crscore.study import compare, error_analysis, page, render, run, saved, study
from crscore.study.agreement import Agreement
from crscore.study.attacks.attack_set import make_attacks
from crscore.study.attacks.duels import score_duels, summarize_duels
from crscore.study.compare import Comparison
from crscore.study.measure import Metric
from crscore.study.results import Findings
from crscore.study.saved import ReviewKey, SavedReview, SavedRun
from tests.helpers import findings as helper
from tests.helpers import study as studies
from tests.helpers.results import EVIL

VOID = {"meta", "link"}
HARMLESS = {
    *("html", "head", "body", "title", "style", "header", "strong", "nav", "a", "main"),
    *("h1", "h2", "p", "section", "div", "figure", "figcaption", "ul", "li", "span", "footer"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre", "code"),
    *("svg", "g", "line", "circle", "rect", "text", "desc"),
}


class Reader(HTMLParser):
    """Elements and text of a page; refuses tags that do not close."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.stack: list[str] = []
        self.feed(document)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.stack:
            self.words += data.split()

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def all(self, name: str) -> list[str]:
        return [given[name] for _, given in self.elements if name in given]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return helper.made(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def attacked(found: Findings) -> Findings:
    scorer = Scorer(helper.SETTINGS, generator=study.recorded(found.study), analyzers="none")
    duels = score_duels(found.study, make_attacks(found.study, seed=0, drawn=1), scorer)
    report = summarize_duels(duels, resamples=10, seed=0)
    return replace(found, attacks=report)


def read(findings: Findings) -> Reader:
    return Reader(page.to_html(findings))


def section(findings: Findings, name: str) -> str:
    document = page.to_html(findings)
    start = document.index(f'<section id="{name}">')
    return document[start : document.index("</section>", start)]


def case(text: str, **fields: object) -> error_analysis.Case:
    given: dict = {"change": "py:1", "system": "s", "human": 1.0, "score": 0.9, "references": 2}
    return error_analysis.Case(text=text, **(given | fields))


def test_every_question_has_its_section_in_order(attacked: Findings) -> None:
    names = re.findall(r'<section id="(\w+)">', page.to_html(attacked))
    expected = "metrics parts levels systems addressed attacks length errors sweep claims people"
    assert names == [*expected.split(), "how"]


def test_what_is_absent_has_no_section(found: Findings) -> None:
    bare = replace(found, addressed=None, attacks=None, claims=(), agreement=(), sweep=())
    names = re.findall(r'<section id="(\w+)">', page.to_html(bare))
    assert names == ["metrics", "parts", "levels", "systems", "length", "errors", "how"]
    assert "#claims" not in read(bare).all("href")


def test_links_lead_somewhere_and_ids_are_unique(attacked: Findings) -> None:
    reader = read(attacked)
    ids = reader.all("id")
    assert len(ids) == len(set(ids))
    links = [one for one in reader.all("href") if one != "data:,"]
    assert len(links) == 12
    assert {one.removeprefix("#") for one in links} <= set(ids)


def test_every_drawing_is_told_in_words(attacked: Findings) -> None:
    reader = read(attacked)
    ids = set(reader.all("id"))
    drawn = [given for tag, given in reader.elements if tag == "svg" and given["class"] == "plot"]
    assert len(drawn) == 8
    assert all(given["role"] == "img" for given in drawn)
    assert all(set(given["aria-labelledby"].split()) <= ids for given in drawn)
    assert [tag for tag, _ in reader.elements].count("desc") == len(drawn)


def test_answer_stands_on_the_cards(found: Findings) -> None:
    text = read(found).text
    row = next(one for one in found.correlations if one.primary and one.dimension == "relevance")
    assert f"Spearman {row.spearman:.3f} relevance, 95 % interval {row.low:.3f} to" in text
    assert f"Kendall tau-b {row.kendall:.3f} relevance" in text
    assert "15 reviews of 3 changes by 5 systems · 2.3 pseudo-references a change" in text
    assert "3 reviews have no sentence and count as 0" in text
    assert re.search(r"Pairs in order \d+ % of \d+ pairs of reviews of one change", text)
    assert "Best trivial measure" in text


def test_every_metric_has_a_row_in_plot_and_table(found: Findings) -> None:
    shown = section(found, "metrics")
    names = ["published/hashing/recorded", "score without threshold", "words", "repeated tokens"]
    for name in names:
        assert shown.count(f">{name}</p>") == 1
        assert shown.count(f">{name}</th>") == 2
    assert shown.count('class="row trivial"><line') == 2
    assert shown.count('class="row main"><line') == 1


def test_numbers_of_the_plot_are_those_of_the_table(found: Findings) -> None:
    shown = section(found, "metrics")
    plotted = re.findall(r'<p class="row[^"]*">([-–\d.]+)</p>', shown)
    cells = re.findall(r'<th scope="row" class="txt">[^<]*</th><td class="num">([-–\d.]+)', shown)
    assert plotted == cells[: len(plotted)]
    assert len(plotted) == 4


def test_two_people_are_a_line_to_compare_with(found: Findings) -> None:
    assert "two people</text>" in section(found, "metrics")
    unknown = (Agreement(what="relevance", measure="Spearman", n=0, value=None, reason="none"),)
    assert "two people" not in section(replace(found, agreement=unknown), "metrics")


def test_parts_have_names_that_people_say(found: Findings) -> None:
    shown = section(found, "parts")
    for name in ("all reviews", "without junk systems", "language python", "annotator a"):
        assert f">{name}</th>" in shown
    assert ">all reviews (15)</p>" in shown


def test_levels_have_a_line_for_each_dimension(found: Findings) -> None:
    shown = section(found, "levels")
    keys = re.findall(r"</svg> (\w+)</li>", shown)
    assert keys == ["relevance", "conciseness", "comprehensiveness"]
    assert '<td class="num">6</td>' in shown  # reviews that people gave a 1, two on each change


def test_systems_stand_in_the_order_of_people(found: Findings) -> None:
    names = re.findall(r'<th scope="row" class="txt">([\w.]+)</th>', section(found, "systems"))
    # By hand: 4, 4, 2, 1 and 1; equal ones by name.
    assert names == ["gpt3.5", "llama3", "codereviewer", "knn", "lstm"]


def test_threshold_of_the_run_is_marked(found: Findings) -> None:
    assert "τ of this run, 0.30</text>" in section(found, "sweep")
    assert section(found, "sweep").count('<tr class="main">') == 1
    without = replace(found, settings=replace(found.settings, threshold=None))
    assert "of this run" not in section(without, "sweep")
    assert '<td class="txt">–</td>' in section(without, "how")


def test_attacks_say_whether_each_goal_is_reached(attacked: Findings) -> None:
    report = attacked.attacks
    assert report is not None
    row = report.kinds[0]
    kinds = (replace(row, reached=True), replace(row, reached=False), replace(row, reached=None))
    shown = section(replace(attacked, attacks=replace(report, kinds=kinds)), "attacks")
    assert shown.count('<td class="num reached">✓ reached</td>') == 1
    assert shown.count('<td class="num missed">✗ missed</td>') == 1
    assert shown.count('<td class="num">none</td>') == 1
    assert f"Goals missed: {row.kind.value}." in shown
    good = replace(attacked, attacks=replace(report, kinds=kinds[:1]))
    assert "Every kind reaches its goal." in section(good, "attacks")


def test_too_many_wrongly_flagged_honest_reviews_are_told(attacked: Findings) -> None:
    report = attacked.attacks
    assert report is not None
    honest = replace(report.honest, flagged=0.2, reached=False)
    shown = section(replace(attacked, attacks=replace(report, honest=honest)), "attacks")
    assert "20 % of 9 honest reviews are wrongly flagged" in shown
    assert "that is too many" in shown


def test_misjudged_texts_are_folded_and_keep_their_lines(found: Findings) -> None:
    errors = replace(found.errors, over_cases=(case("One.\nTwo & <b>three</b>."),), under_cases=())
    shown = section(replace(found, errors=errors), "errors")
    assert "<summary>Too high: 1 review</summary>" in shown
    assert "<summary>Too low" not in shown
    assert '<p class="said txt">One.\nTwo &amp; &lt;b&gt;three&lt;/b&gt;.</p>' in shown
    assert "score 0.900 · people 1 · py:1 · s · 2 pseudo-references" in shown


def test_many_and_long_misjudged_texts_are_cut_and_counted(found: Findings) -> None:
    errors = replace(found.errors, over_cases=(case("w" * 9_000),) * 60)
    shown = section(replace(found, errors=errors), "errors")
    assert shown.count("w" * 2_000 + "… (+7,000 characters)") == 50
    assert "… and 10 more in --format json" in shown


def test_run_without_a_bootstrap_shows_no_interval(tmp_path: Path) -> None:
    plain = helper.made(tmp_path, resamples=0)
    document = page.to_html(plain)
    assert "95 % interval" not in document
    assert 'class="interval"' not in document
    assert "There is no bootstrap" in document


def test_study_of_junk_alone_is_shown(tmp_path: Path) -> None:
    rows = studies.rows()
    for one in rows:
        one["reviews"] = [r for r in one["reviews"] if r["system"] in ("lstm", "knn")]
    assert "without junk systems" not in page.to_html(helper.made(tmp_path, rows))


def test_variants_and_notes_are_told(tmp_path: Path) -> None:
    def lengths(measured, _encoder) -> run.Beside:
        values = np.arange(float(len(measured.rows)))
        return run.Beside((Metric(name="chrF", values=values, variant="nc:6"),), ("No METEOR.",))

    made = helper.made(tmp_path, extra=(lengths,))
    assert '<th scope="row" class="txt">chrF</th><td class="txt">nc:6</td>' in page.to_html(made)
    assert '<p class="reason txt" role="note">No METEOR.</p>' in page.to_html(made)


def test_run_can_be_made_again_from_the_page(found: Findings) -> None:
    text = read(found).text
    assert found.study.sha256 in text
    assert text.endswith(found.settings.signature)
    command = re.search(r"<pre class=\"command\"><code>(.*)</code>", page.to_html(found))
    assert command
    words = shlex.split(command[1])
    assert words[:3] == ["crscore", "validate", "DATA"]
    assert {"--matcher": "published", "--encoder": "hashing", "--claims": "recorded"}.items() <= (
        dict(zip(words[3::2], words[4::2], strict=False)).items()
    )


def test_split_is_part_of_what_to_type(found: Findings) -> None:
    split = replace(found, settings=replace(found.settings, split="grouped-cv:5"))
    assert "--split grouped-cv:5 --resamples" in section(split, "how")
    assert "--split" not in section(found, "how")


def hostile(found: Findings) -> Findings:
    """Put a bad text wherever a run can carry one."""
    name = found.measured.primary.name

    def renamed(rows: tuple) -> tuple:
        return tuple(
            replace(r, metric=f"{EVIL}/{EVIL}" if r.metric == name else r.metric) for r in rows
        )

    metrics = tuple(
        replace(one, name=f"{EVIL}/{EVIL}" if one.primary else one.name, variant=EVIL)
        for one in found.measured.metrics
    )
    means = renamed(found.systems.means)
    return replace(
        found,
        measured=replace(found.measured, metrics=metrics),
        settings=replace(found.settings, signature=EVIL, split=EVIL),
        correlations=tuple(
            replace(r, slice=f"language:{EVIL}" if r.slice == "language:python" else r.slice)
            for r in renamed(found.correlations)
        ),
        same_diff=renamed(found.same_diff),
        systems=replace_systems(found, renamed(found.systems.ranking), means),
        levels=renamed(found.levels),
        claims=tuple(replace(one, language=EVIL) for one in found.claims),
        agreement=(
            Agreement(what=EVIL, measure=EVIL, n=1, value=0.5),
            Agreement(what="x", measure="y", n=0, value=None, reason=EVIL),
        ),
        errors=replace(found.errors, over_cases=(case(EVIL, change=EVIL, system=EVIL),)),
        notes=("::error::" + EVIL,),
    )


def replace_systems(found: Findings, ranking: tuple, means: tuple):
    evil = tuple(replace(r, system=EVIL if r.system == "gpt3.5" else r.system) for r in means)
    return found.systems._replace(ranking=ranking, means=evil)


def test_hostile_texts_are_harmless(found: Findings) -> None:
    document = page.to_html(hostile(found))
    reader = Reader(document)
    tags = {tag for tag, _ in reader.elements}
    assert tags <= HARMLESS | VOID
    assert not [name for _, given in reader.elements for name in given if name.startswith("on")]
    assert {one for one in reader.all("href") if one[:1] != "#"} == {"data:,"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", document)
    assert not re.search(r"^\s*::|##\[", document, re.MULTILINE)


def test_style_sheet_is_allowed_by_its_hash_and_nothing_else_is(found: Findings) -> None:
    document = page.to_html(hostile(found))
    style = re.search(r"<style>(.*?)</style>", document, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(v for _, v in Reader(document).elements if "http-equiv" in v)["content"]
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_page_is_the_same_every_time(found: Findings) -> None:
    assert page.to_html(found) == page.to_html(found)


RNG = np.random.default_rng(4)
KEYS = [ReviewKey(f"c{i}", system, 0) for i in range(30) for system in ("gpt3.5", "llama3", "lstm")]
HUMAN = RNG.integers(1, 6, (len(KEYS), 3)).astype(float)


def side(noise: float, name: str) -> SavedRun:
    values = HUMAN + RNG.normal(0, noise, HUMAN.shape)
    reviews = {
        key: SavedReview(tuple(human), tuple(mine))
        for key, human, mine in zip(KEYS, HUMAN, values, strict=True)
    }
    return SavedRun(name=name, metric="m", signature=f"sig {name}", sha256="00", reviews=reviews)


def compared(resamples: int = 100, name: str = "b.json") -> Comparison:
    return compare.compare(side(6, "a.json"), side(0.5, name), resamples=resamples, seed=0)


def test_comparison_answers_first() -> None:
    found = compared()
    text = Reader(page.comparison_to_html(found)).text
    one = found.differences[0]
    assert "B agrees better with people on relevance: Spearman" in text
    assert f"B − A +{one.difference:.3f} relevance, Spearman: [" in text
    assert f"A {one.first:.3f} m B {one.second:.3f} m Changes needed" in text
    assert f"Changes needed {one.changes_needed}" in text
    assert text.endswith("sig a.json sig b.json")


def test_comparison_shows_every_difference_in_plot_and_table() -> None:
    found = compared()
    document = page.comparison_to_html(found)
    assert document.count('class="interval"') == len(found.differences) == 15
    rows = re.findall(r'<th scope="row" class="txt">\w+: [^<]+</th>', document)
    assert len(rows) == 15
    better = [one.better for one in found.differences]
    assert document.count('<g class="row good">') == better.count("second") >= 12
    assert document.count('<g class="row bad">') == 0


def test_comparison_without_a_bootstrap_says_so() -> None:
    document = page.comparison_to_html(compared(resamples=0))
    assert "There is no bootstrap" in document
    assert 'class="interval"' not in document
    assert "not sure" in document


def test_hostile_names_of_runs_are_harmless() -> None:
    found = compared(name=EVIL)
    document = page.comparison_to_html(replace(found, warnings=(EVIL,)))
    assert {tag for tag, _ in Reader(document).elements} <= HARMLESS | VOID


def test_comparison_is_made_from_saved_runs(tmp_path: Path, found: Findings) -> None:
    path = tmp_path / "a.json"
    path.write_text(render.to_json(found), "utf-8")
    both = compare.compare(
        saved.read_saved_run(path), saved.read_saved_run(path), resamples=5, seed=0
    )
    text = Reader(page.comparison_to_html(both)).text
    assert "Both agree with people equally well on relevance." in text
    assert "both runs have the same signature" in text
