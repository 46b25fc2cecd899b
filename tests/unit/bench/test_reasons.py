import json
from pathlib import Path

import msgspec
import pytest

from crscore import bench
from crscore.bench.reasons import read_decisions, write_decisions
from crscore.bench.records import Change, Finding, Problem, make_set
from crscore.bench.report import lay_out, render_short
from crscore.bench.results import BenchResult, Pair
from crscore.errors import InputError
from crscore.reports import layout

LOCK = "The lock is never released on the early return after a failed parse."
NULL = "`load` returns null for an unknown user, which throws in `render`."
GOLDEN = make_set(
    "g",
    "",
    [
        Change(
            id="r#1",
            problems=(
                Problem(text=LOCK, severity="high", path="a.go", line=9),
                Problem(text=NULL, severity="critical", path="b.go", line=4),
            ),
        ),
        Change(id="r#2", problems=(Problem(text="The file is never closed."),)),
    ],
)
FINDINGS = [
    Finding(change="r#1", bot="b", text="The mutex stays locked if parsing fails.",
            path="a.go", line=10),
    Finding(change="r#1", bot="b", text="Rename `load`; the name says nothing.",
            path="c.go", line=1),
]  # fmt: skip


def pairs_of(result: BenchResult) -> dict[str, Pair]:
    return {
        change.problems[pair.problem].text: pair
        for change in result.changes
        for pair in change.pairs
    }


def test_missed_problem_has_its_nearest_finding_and_the_reason() -> None:
    pairs = pairs_of(bench.score(GOLDEN, FINDINGS, resamples=0))
    assert pairs[LOCK].outcome == "hit"
    assert pairs[LOCK].finding == FINDINGS[0]
    assert "same place" in pairs[LOCK].why
    assert pairs[NULL].outcome == "missed"
    assert pairs[NULL].finding == FINDINGS[1]
    assert pairs[NULL].why == "same names, another claim; both say load; another file"
    assert pairs["The file is never closed."].finding is None


def test_decisions_change_the_result_and_are_noted(tmp_path: Path) -> None:
    first = bench.score(GOLDEN, FINDINGS, resamples=0)
    name = pairs_of(first)[NULL].id
    answers = {name: True, "unknown": False}
    second = bench.score(GOLDEN, FINDINGS, resamples=0, answers=answers)
    assert (second.before[0].hits, second.bots[0].hits) == (1, 2)
    recalls = [row.recall.value for row in (second.before[0], second.bots[0])]
    assert recalls == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert pairs_of(second)[NULL].why.startswith("judged by hand")
    assert not pairs_of(second)[NULL].is_unsure
    assert "judged by hand: 1 pair; decisions about pairs not in these files: 1" in second.notes
    assert second.signature != first.signature
    assert first.signature == bench.score(GOLDEN, FINDINGS, resamples=0, answers={}).signature
    path = tmp_path / "decisions.jsonl"
    path.write_text(write_decisions(second, answers), encoding="utf-8")
    assert read_decisions(path) == answers
    hit = pairs_of(first)[LOCK].id
    third = bench.score(GOLDEN, FINDINGS, resamples=0, answers={hit: False})
    assert (third.before[0].hits, third.bots[0].hits) == (1, 0)


def test_unsure_pairs_are_written_to_be_filled_in() -> None:
    result = bench.score(GOLDEN, FINDINGS, resamples=0)
    unsure = [pair for change in result.changes for pair in change.pairs if pair.is_unsure]
    rows = [json.loads(line) for line in write_decisions(result, {}).splitlines()]
    assert [row["id"] for row in rows] == [pair.id for pair in unsure]
    assert result.bots[0].unsure == len(unsure)
    assert all(row["same"] is None for row in rows)


@pytest.mark.parametrize(
    "content",
    [
        '{"same": true}',
        '{"id": "a", "same": "yes"}',
        '{"id": "a", "same": true}\n{"id": "a", "same": false}',
    ],
)
def test_wrong_answers_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"expected a text id|two different answers"):
        read_decisions(path)


def test_page_and_markdown_list_what_a_bot_missed() -> None:
    result = bench.score(GOLDEN, FINDINGS, resamples=0, answers={"x": True})
    report = lay_out(result)
    for text in (layout.to_html(report), render_short(result), layout.to_text(report)):
        assert "2 missed problems" in text
        assert "same names" in text
        assert "1 unlisted finding" in text
        assert "1 → 1" in text


def test_finding_counts_for_only_one_problem_with_a_note() -> None:
    other = "Nobody can close the dialog with the keyboard."
    problems = (Problem(text=LOCK), Problem(text=other))
    golden = make_set("g", "", [Change(id="1", problems=problems)])
    finding = Finding(change="1", bot="b", text="The mutex stays locked if parsing fails.")
    id_ = pairs_of(bench.score(golden, [finding], resamples=0))[other].id
    decided = bench.score(golden, [finding], resamples=0, answers={id_: True})
    assert (decided.before[0].hits, decided.bots[0].hits) == (1, 1)
    assert "decisions moved findings from one problem to another" in decided.notes
    assert pairs_of(decided)[LOCK].why.startswith("matched with another problem")
    decided = bench.score(golden, [finding], resamples=0, answers={id_: False})
    assert "decisions moved findings from one problem to another" not in decided.notes


def test_improbable_finding_in_another_file_is_not_shown() -> None:
    problem = Problem(text=LOCK, path="a.go", line=9)
    golden = make_set("g", "", [Change(id="1", problems=(problem,))])
    far = Finding(change="1", bot="b", text="Add a docstring here.", path="web/b.ts", line=1)
    scored = bench.score(golden, [far], resamples=0)
    assert pairs_of(scored)[LOCK].finding == far
    missed = layout.to_text(lay_out(scored)).split("Unlisted findings")[0]
    assert "nothing near" in missed
    assert "docstring" not in missed
    near = msgspec.structs.replace(far, path="a.go")
    missed = layout.to_text(lay_out(bench.score(golden, [near], resamples=0)))
    assert "docstring" in missed.split("Unlisted findings")[0]


def test_unlisted_findings_are_ordered_by_their_text_and_the_columns_say_so() -> None:
    text = layout.to_text(lay_out(bench.score(GOLDEN, FINDINGS, resamples=0)))
    assert "Importance judged from the text" in text
    assert "Unlisted, critical or major" in text
