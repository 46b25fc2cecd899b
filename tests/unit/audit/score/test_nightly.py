from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace as with_settings

from crscore.audit.score.nightly import make_tasks
from crscore.audit.store.rows import AuditRun, Comment, CommentScore, Pull, Score
from crscore.errors import ConfigError, DependencyError
from crscore.github.host import GitHub
from crscore.hosts.records import MessageKind
from tests.helpers.audits import NIGHT, SETTINGS, Audit, add
from tests.unit.github.shops import pull_of, shop

if TYPE_CHECKING:
    from pathlib import Path

LATER = "2026-01-03"


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path, pulls=3)


def scores(audit: Audit, number: int = 1) -> dict[str, Score]:
    with audit.open() as store:
        rows = store.select(Score, "WHERE number = ?", number)
    return {row.reviewer: row for row in rows}


def counts(run: AuditRun) -> tuple[int, int]:
    return run.pulls, run.failed


def test_every_reviewer_and_all_together_have_a_row(audit: Audit) -> None:
    assert counts(audit.score()) == (3, 0)
    score_rows = scores(audit)
    assert set(score_rows) == {"", "coderabbit", "pr-agent", "sourcery", "ada"}
    assert (score_rows[""].comments, score_rows["ada"].comments) == (4, 1)
    assert [score_rows[name].is_bot for name in ("coderabbit", "ada", "")] == [1, 0, 0]
    assert all(row.relevance is not None for row in score_rows.values())


def test_scores_have_the_texts_of_their_comments(audit: Audit) -> None:
    audit.score()
    with audit.open() as store:
        comments = store.select(CommentScore, "ORDER BY comment")
    assert comments[2].text == "Nice work, this looks great!"


def test_nothing_new_is_not_scored_again(audit: Audit) -> None:
    audit.score()
    before = audit.tables()
    assert audit.score(night=LATER).pulls == 0
    assert audit.tables() == before


def test_new_comment_is_scored_beside_the_old_rows(audit: Audit) -> None:
    audit.score()
    with audit.open() as store, store.transaction():
        add(store, 900, 2, "bo", "Why is the sleep not capped?", kind=MessageKind.REVIEW)
    assert audit.score(night=LATER).pulls == 1
    with audit.open() as store:
        score_rows = store.select(Score, "WHERE number = 2 AND reviewer = ''")
    assert sorted((row.night, row.comments) for row in score_rows) == [(NIGHT, 4), (LATER, 5)]


def test_minimised_comments_are_left_out(audit: Audit) -> None:
    with audit.open() as store, store.transaction():
        add(store, 900, 2, "bo", "Why is the sleep not capped?", minimized="SPAM")
    audit.score()
    assert "bo" not in scores(audit, 2)


def test_pull_without_a_review_is_not_scored(audit: Audit) -> None:
    with audit.open() as store, store.transaction():
        store.change("UPDATE comments SET is_review = 0 WHERE number = 1")
        store.change("UPDATE pulls SET observed = NULL WHERE number = 2")
    assert audit.score().pulls == 1


def test_with_another_signature_everything_is_scored_again_and_old_rows_stay(audit: Audit) -> None:
    audit.score()
    old = audit.tables()["scores"]
    other_settings = with_settings(SETTINGS, threshold=0.2)
    assert audit.score(other_settings).pulls == 3
    assert set(old) < set(audit.tables()["scores"])
    assert len(audit.tables()["signatures"]) == 2


def test_failing_pull_request_gets_a_row_and_is_tried_again_on_another_date(audit: Audit) -> None:
    with audit.open() as store, store.transaction():
        (row,) = store.select(Pull, "WHERE number = 2")
        store.put([replace(row, head="f" * 40)])
    assert counts(audit.score()) == (3, 1)
    (failed,) = scores(audit, 2).values()
    assert (failed.reviewer, failed.standing) == ("", None)
    assert (failed.reason or "").startswith("failed: ")
    assert audit.score().pulls == 0
    shown = audit.score(night=LATER)
    assert (shown.pulls, shown.failed) == (1, 1)
    assert [row.night for row in scores(audit, 2).values()] == [LATER]


def test_without_a_clone_the_reason_says_so(audit: Audit) -> None:
    shutil.rmtree(audit.clones)
    assert audit.score().failed == 3
    assert "there is no clone" in (scores(audit)[""].reason or "")


def test_change_that_no_clone_has_is_read_from_the_api(audit: Audit) -> None:
    with shop() as (server, client):
        served = pull_of(server)
        with audit.open() as store, store.transaction():
            store.change("DELETE FROM comments")
            store.put([replace(audit.pull(7, served.head), base=served.base)])
            add(store, 900, 7, "bo", "Round to cents.", commit_id=served.head)
            store.put([replace(audit.pull(8, "f" * 40), base=served.base)])
            add(store, 901, 8, "bo", "Round to cents.", commit_id="f" * 40)
        assert counts(audit.score(host=GitHub(client))) == (2, 1)
    assert scores(audit, 7)["bo"].relevance is not None


def test_repeated_post_is_noise_and_counts_as_a_comment(audit: Audit) -> None:
    body = "The sleep of `2 ** attempt` also runs after the last attempt."
    with audit.open() as store, store.transaction():
        (row,) = store.select(Comment, "WHERE key = 800")
        place = {"commit_id": row.commit_id, "path": row.path, "line": 8}
        first = add(store, 900, 2, "bo", body, **place)
        again = add(store, 901, 2, "bo", body, **place)
    audit.score()
    with audit.open() as store:
        rows = {row.comment: row for row in store.select(CommentScore)}
    assert (rows[first].noise != "repeat", rows[again].noise) == (True, "repeat")
    assert scores(audit, 2)["bo"].comments == 2


def test_run_is_recorded(audit: Audit) -> None:
    summary = audit.score()
    with audit.open() as store:
        (run,) = store.select(AuditRun)
    assert (run.kind, run.night, run.pulls, run.failed) == ("score", NIGHT, 3, 0)
    assert run.signature == summary.signature
    assert run.finished is not None


def test_unknown_engine_is_one_clear_line(audit: Audit) -> None:
    with pytest.raises(ConfigError, match="ray"):
        audit.score(engine="cluster")
    with pytest.raises(ConfigError, match="at least 1"):
        audit.score(workers=0)


def test_missing_ray_names_the_extra(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(DependencyError, match="ray"):
        audit.score(engine="ray")


def test_run_that_is_stopped_has_counted_what_it_stored(audit: Audit, monkeypatch) -> None:
    calls = iter(range(9))

    def stop(*_: object) -> None:
        if next(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("crscore.audit.score.nightly.make_tasks", interrupted(stop))
    with pytest.raises(KeyboardInterrupt):
        audit.score()
    with audit.open() as store:
        (run,) = store.select(AuditRun)
        stored = len(store.select(Score, "WHERE reviewer = ''"))
    assert (run.pulls, run.finished) == (stored, None)
    assert stored == 1


def interrupted(stop):
    """Return `make_tasks` that calls `stop` before each task."""

    def make_until_stopped(*arguments, **options):
        for task in make_tasks(*arguments, **options):
            stop()
            yield task

    return make_until_stopped
