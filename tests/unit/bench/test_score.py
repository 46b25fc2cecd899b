import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from crscore import bench
from crscore.bench.pairs import assign, compare_locations
from crscore.bench.records import Change, Finding, Problem, make_set
from crscore.bench.report import lay_out, render_short, tabulate_bots
from crscore.bench.results import BenchResult
from crscore.errors import InputError
from crscore.reports import layout
from tests.helpers.languages import REMARKS

EXAMPLES = Path(__file__).parents[3] / "examples" / "bench"


@pytest.fixture(scope="module")
def result() -> BenchResult:
    return bench.score(EXAMPLES / "golden.jsonl", EXAMPLES / "findings.jsonl")


def test_example_ranks_the_careful_bot_first(result: BenchResult) -> None:
    assert result.bots[0].bot == "careful"
    outcomes = {
        decision.finding.text: decision.outcome
        for change in result.changes
        for decision in change.decisions
    }
    assert outcomes["Missing Javadoc comment."] == "unlisted"
    assert outcomes["Class Order overrides equals but not hashCode."] == "hit"


def test_order_and_other_bots_do_not_matter(result: BenchResult) -> None:
    golden = bench.read_golden(EXAMPLES / "golden.jsonl")
    findings = bench.read_findings(EXAMPLES / "findings.jsonl")
    random.Random(1).shuffle(findings)
    turned = dataclasses.replace(golden, changes=tuple(reversed(golden.changes)))
    again = bench.score(turned, findings)
    assert again.bots == result.bots
    assert again.comparisons == result.comparisons
    for row in result.bots:
        (alone,) = bench.score(golden, [f for f in findings if f.bot == row.bot]).bots
        beside = replace(row, best_rank=1, worst_rank=1)
        assert alone == beside


def test_repeated_point_counts_once() -> None:
    golden = bench.read_golden(EXAMPLES / "golden.jsonl")
    text = "The lock is never released on the early return after a failed parse."
    rows = [Finding(change="shop-3", bot="b", text=text) for _ in range(3)]
    (row,) = bench.score(golden, rows).bots
    assert (row.hits, row.duplicates, row.unlisted) == (1, 2, 0)


def test_hits_on_an_excluded_problem_count_neither_way() -> None:
    texts = ("The lock is never released after a failed parse.", "The retry loop has no limit.")
    lock, retry = (Problem(text=text) for text in texts)
    golden = make_set("g", "", [Change(id="1", problems=(replace(lock, excluded=True), retry))])
    both = [Finding(change="1", bot="b", text=text) for text in (texts[0], *texts)]
    (row,) = bench.score(golden, both, resamples=0).bots
    assert (row.precision.value, row.recall.value, row.hits, row.unlisted) == (1, 1, 1, 0)
    (row,) = bench.score(golden, both[:1], resamples=0).bots
    assert (row.precision.value, row.recall.value, row.silent) == (None, 0, 0)


def test_findings_of_other_changes_are_named() -> None:
    golden = bench.read_golden(EXAMPLES / "golden.jsonl")
    with pytest.raises(InputError, match="no finding is for a change"):
        bench.score(golden, [Finding(change="x", bot="b", text="Leaks.")])


def test_location_alone_never_matches() -> None:
    golden = bench.read_golden(EXAMPLES / "golden.jsonl")
    near = Finding(change="shop-9", bot="b", text="Missing comment.", path="Dates.java", line=8)
    assert bench.score(golden, [near]).bots[0].hits == 0


@pytest.mark.parametrize(
    ("path", "line", "expected"), [("src/a.py", 8, 1), ("a.py", 30, 0), ("b.py", 8, -1)]
)
def test_places(path: str, line: int, expected: int) -> None:
    finding = Finding(change="x", bot="b", text="x", path=path, line=line)
    assert compare_locations(finding, Problem(text="x", path="a.py", line=6)) == expected


def test_finding_is_matched_with_one_problem() -> None:
    matches = assign(np.array([[0.9, 0.8], [0.85, 0.1], [0.2, 0.3]]))
    assert list(matches.items()) == [(0, 0), (2, 1)]


def test_page_escapes_what_bots_say() -> None:
    golden = bench.read_golden(EXAMPLES / "golden.jsonl")
    rows = [Finding(change="shop-1", bot="<script>", text="<img src=x> is wrong.")]
    page = layout.to_html(lay_out(bench.score(golden, rows)))
    assert "<script>" not in page
    assert "<img src=x>" not in page


def test_raw_comment_is_divided_and_praise_is_no_finding() -> None:
    golden = bench.read_golden(EXAMPLES / "golden.jsonl")
    text = (
        "Nice cleanup overall!\n\n"
        "- The lock is never released on the early return after a failed parse.\n"
        "- Please rename `tmp2`, the name says nothing.\n"
    )
    rows = [Finding(change="shop-3", bot="b", text=text, raw=True)]
    scored = bench.score(golden, rows)
    (row,) = scored.bots
    assert (row.hits, row.unlisted, row.duplicates) == (1, 1, 0)
    assert row.silent == len(golden.changes) - 1
    assert scored.notes == (f"changes without a finding count as reviewed: b {row.silent}",)


def test_unlisted_findings_have_an_importance() -> None:
    golden = make_set(
        "g",
        "",
        [
            Change(
                id="a",
                problems=(Problem(text="The file is never closed when the header is invalid."),),
            )
        ],
    )
    texts = (
        "Anybody can run commands as root: the shell gets the user's input unescaped.",
        "Nit: rename `path`.",
    )
    rows = [Finding(change="a", bot="b", text=text, path="app.py", line=2) for text in texts]
    (row,) = bench.score(golden, rows, resamples=0).changes
    levels = [decision.importance for decision in row.decisions]
    assert levels[0] in ("critical", "major")
    assert levels[1] in ("nit", "minor")


def test_comparisons_are_corrected_and_ranks_are_ranges(result: BenchResult) -> None:
    p_values = [pair.p_value for pair in result.comparisons if pair.p_value is not None]
    assert len(result.comparisons) == 3
    assert all(0 <= p <= 1 for p in p_values)
    assert all(1 <= row.best_rank <= row.worst_rank <= 3 for row in result.bots)
    languages = {group.name for group in result.bots[0].groups if group.kind == "language"}
    assert "python" in languages


def test_changes_are_in_natural_order_and_the_terminal_has_no_empty_section() -> None:
    problems = (Problem(text="The file is never closed."),)
    golden = make_set("g", "", [Change(id=f"r#{n}", problems=problems) for n in (1, 10, 2)])
    report = lay_out(bench.score(golden, [Finding(change="r#2", bot="b", text="It leaks.")]))
    assert [table.caption for table in report.sections[-1].folded] == ["r#1", "r#2", "r#10"]
    text = layout.to_text(report)
    assert "of g: 1 bot\n" in text
    assert "Changes\n─" not in text
    assert not text.split("Comparisons")[-1].rstrip().endswith("Changes")


def test_unrelated_texts_in_another_language_do_not_match() -> None:
    pairs = {
        f"{name} {at}": (texts[at], texts[(at + step) % len(texts)])
        for name, texts in REMARKS.items()
        for at in range(len(texts))
        for step in (at % 7 + 1,)
    }
    changes = [Change(id=key, problems=(Problem(text=pair[0]),)) for key, pair in pairs.items()]
    findings = [Finding(change=key, bot="b", text=pair[1]) for key, pair in pairs.items()]
    result = bench.score(make_set("s", "", changes), findings, resamples=0)
    (row,) = result.bots
    assert (row.hits, row.unlisted, row.duplicates) == (0, 0, 0)
    note = (
        f"not in English, so only code and place count: {2 * len(pairs)} texts; "
        f"findings without a match, which count neither for nor against a bot: b {len(pairs)}"
    )
    assert result.notes[0] == note


@pytest.mark.parametrize(
    ("text", "line", "outcome"),
    [
        ("`charge` 没有释放锁，会死锁。", 4, "hit"),
        ("`charge` 没有释放 `lock`，会死锁。", None, "hit"),
        ("`charge` 没有释放 `lock`，会死锁。", 4, "hit"),
        ("`charge` 没有释放锁，会死锁。", 40, "unread"),
        ("没有释放锁，会死锁。", 4, "unread"),
    ],
)
def test_text_in_another_language_matches_by_its_code_and_location(
    text: str, line: int | None, outcome: str
) -> None:
    problem = Problem(text="`charge` never releases `lock`.", path="pay.py", line=5)
    golden = make_set("s", "", [Change(id="1", problems=(problem,))])
    finding = Finding(change="1", bot="b", text=text, path="pay.py", line=line)
    result = bench.score(golden, [finding], resamples=0)
    assert [decision.outcome for decision in result.changes[0].decisions] == [outcome]
    assert not result.changes[0].decisions[0].importance
    without = "; findings without a match, which count neither for nor against a bot: b 1"
    told = f"count: 1 text{without * (outcome == 'unread')}"
    assert result.notes[-1].endswith(told)


def test_comments_in_another_language_without_a_match_count_neither_way() -> None:
    leak = "The file is never closed."
    golden = make_set("s", "", [Change(id="1", problems=(Problem(text=leak),))])
    texts = [f"{REMARKS['de'][0]} {REMARKS['de'][1]}", REMARKS["de"][4], REMARKS["de"][4]]
    rows = [Finding(change="1", bot="b", text=text, raw=True) for text in texts]
    listed = Finding(change="1", bot="b", text=leak)
    result = bench.score(golden, [*rows, listed], resamples=0)
    (row,) = result.bots
    assert (row.hits, row.unlisted, row.duplicates, row.unread) == (1, 0, 0, 3)
    told = "findings without a match, which count neither for nor against a bot: b 3"
    assert told in render_short(result)
    assert told in lay_out(result).notes[-1]
    assert (row.precision.value, row.recall.value) == (1, 1)
    cells = lay_out(result).sections[-1].folded[0].rows
    assert [cell[0] for cell in cells] == ["hit", "unread", "unread", "unread"]
    # A bot that wrote only these has no precision, and was not silent.
    (row,) = bench.score(golden, rows, resamples=0).bots
    assert (row.precision.value, row.recall.value, row.silent) == (None, 0, 0)


def test_counts_of_a_bot_add_up_to_its_findings() -> None:
    leak = "The file is never closed."
    golden = make_set("s", "", [Change(id="1", problems=(Problem(text=leak),))])
    texts = {
        "a": [leak, leak, "The password is logged.", REMARKS["de"][0], REMARKS["de"][4]],
        "b": [REMARKS["zh"][0]],
        "c": [leak],
    }
    findings = [Finding(change="1", bot=bot, text=text) for bot in texts for text in texts[bot]]
    result = bench.score(golden, findings, resamples=0)
    counts = {row.bot: (row.hits, row.unlisted, row.duplicates, row.unread) for row in result.bots}
    assert counts == {"a": (1, 1, 1, 2), "b": (0, 0, 0, 1), "c": (1, 0, 0, 0)}
    assert {bot: sum(row) for bot, row in counts.items()} == {b: len(texts[b]) for b in texts}
    assert result.notes[-1].endswith("which count neither for nor against a bot: a 2, b 1")


def test_time_and_price_count_once_a_change_and_have_columns_where_known() -> None:
    golden = make_set(
        "g", "", [Change(id=name, problems=(Problem(text="The file is never closed."),))
                  for name in "abc"]
    )  # fmt: skip
    leak = Finding(change="a", bot="b", text="The file stays open.", seconds=4.0, cost=0.02)
    rows = [
        leak,
        replace(leak, text="Please rename `tmp2`, the name says nothing.", seconds=6.0),
        replace(leak, change="b", seconds=1.0, cost=None),
        replace(leak, change="c", seconds=None, cost=None),
    ]
    result = bench.score(golden, rows, resamples=0)
    assert (result.bots[0].seconds, result.bots[0].cost) == (3.5, 0.02)
    header, (row,) = tabulate_bots(result).header, tabulate_bots(result).rows
    assert (header[-2:], row[-2:]) == (("Seconds", "Cost"), ("3.5", "0.02"))
    result = bench.score(golden, [replace(leak, seconds=None, cost=None)], resamples=0)
    assert (result.bots[0].seconds, result.bots[0].cost) == (None, None)
    assert not {"Seconds", "Cost"} & {*tabulate_bots(result).header}


def test_problems_in_other_words_are_noted(result: BenchResult) -> None:
    texts = (
        "The lock is not released when parse() fails.",
        "If parse() raises, the lock stays held.",
        "The discount is applied twice.",
    )
    golden = make_set("g", "", [Change(id="r#1", problems=tuple(Problem(text=t) for t in texts))])
    scored = bench.score(golden, [Finding(change="r#1", bot="b", text=texts[0])], resamples=0)
    (note,) = (note for note in scored.notes if "alike" in note)
    assert note.startswith("problems 1 and 3 of r#1 look alike (0.9")
    assert note.endswith(f"): {texts[1]}; {texts[0]}")
    assert not any("alike" in note for note in result.notes)


def test_example_has_an_unsure_pair_and_a_list_of_each_bot(result: BenchResult) -> None:
    assert [row.unsure for row in result.bots] == [1, 0, 0]
    (missed,) = (part for part in lay_out(result, rows=10).sections if part.anchor == "missed")
    assert [table.caption for table in missed.folded] == [
        f"{bot}: {count} missed problems, of which the first 3"
        for bot, count in (("careful", 5), ("chatty", 9), ("linter", 12))
    ]
    assert "Bot" not in missed.folded[0].header
