from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crscore.audit.facts import format_mattered, make_facts
from crscore.audit.overview import PairComparison, Reviewer
from crscore.audit.report.contents import bot_item
from crscore.audit.store.database import Store
from crscore.audit.store.rows import Check, CommentObservation, SignalRow, comment_key
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from crscore.hosts.records import MessageKind
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.audit.overview import Decision

overview_of = partial(
    make_overview, period=Period(since="2026-03-01", until="2026-03-31"), resamples=50
)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(Path(":memory:")) as opened:
        opened.signature_id("one")
        body = opened.add_text("Text.")
        assert body
        opened.put([rows.repository()])
        yield opened


def write(
    store: Store,
    kinds: Sequence[Sequence[str]],
    reviewer: str = "otter",
    *,
    acted_on: int | None = None,
    base: int = 20,
) -> None:
    """Store pull requests, spread over 25 days, each with a comment of each of its kinds.

    Of 100 comments in a row, `acted_on` are acted on; `base` is their base rate in percent.
    """
    body, host_id = store.add_text("Text."), 1
    for number, comments in enumerate(kinds, 1):
        store.put([rows.pull(number, day=number * 25 // len(kinds))])
        if comments:
            store.put([rows.score(number, reviewer, 50, comments=len(comments), words=40)])
        for kind in comments:
            key = comment_key(MessageKind.LINE, host_id)
            is_noise = kind in ("repeat", "restates", "praise", "nothing")
            value = {"noise": kind, "level": None} if is_noise else {"level": kind}
            store.put(
                [
                    rows.comment(number, reviewer, host_id, body=body),
                    rows.comment_score(key, number, **value),
                ]
            )
            if acted_on is not None:
                signal = {"comment": key, "night": "2026-03-02", "rules": 3, "signal": 1}
                value = int(host_id % 100 < acted_on)
                store.put([SignalRow(**signal, value=value, base_yes=base, base_all=100)])
            host_id += 1


def row_of(store: Store) -> Reviewer:
    (reviewer, *_) = overview_of(store).reviewers
    return reviewer


def decide(store: Store) -> Decision:
    decision = row_of(store).decision
    assert decision
    return decision


def test_bot_with_something_important_on_most_pull_requests_is_kept(store: Store) -> None:
    write(store, [("major",), ("critical", "nit")] * 15 + [()] * 2 + [("nit",)], acted_on=40)

    row, decision = row_of(store), decide(store)

    assert decision.verdict == "keep"
    # The two pull requests without a comment were merged between the first and the last post.
    assert (decision.gained.count, decision.gained.total, row.silent) == (30, 33, 2)
    assert (decision.important.count, decision.important.total) == (30, 46)
    assert decision.reason.startswith("Keep otter: 30 of 33 pull requests got a comment worth ")


@pytest.mark.parametrize("kind", ["restates", "nit", "nothing", ""])
def test_useless_bot_is_dropped(store: Store, kind: str) -> None:
    kinds = (kind,) if kind else ()
    write(store, [("nit",), *[kinds] * 58, ("nit",)])

    row = row_of(store)

    assert row.decision
    assert row.decision.verdict == "drop"
    assert row.silent == (0 if kind else 58)


def test_bot_that_never_comments_but_has_a_green_check_is_dropped(store: Store) -> None:
    for number in range(1, 41):
        store.put(
            [
                rows.pull(number),
                rows.comment(
                    number, "otter", number, is_review=0, skip="limit", path=None, line=None
                ),
                Check(
                    repository=1,
                    number=number,
                    head=rows.head(number),
                    app="otter",
                    name="review",
                    outcome="success",
                ),
            ]
        )

    assert (decide(store).verdict, decide(store).gained.total) == ("drop", 40)


def test_what_to_switch_off_is_named_with_what_would_be_lost(store: Store) -> None:
    write(
        store, [("major", "restates", "restates", "praise")] * 15 + [("nothing",)] * 30, acted_on=70
    )

    decision = decide(store)

    assert (decision.verdict, decision.switch_off) == (
        "tune",
        ("restates", "nothing", "praise"),
    )
    assert decision.reason.startswith(
        "Tune otter: have it stop: summaries of the change 30, empty comments 30, praise 15; 15 "
        "of its 90 comments are worth acting on; people fixed 15 of 15 comparable comments (3 by "
        "chance)."
    )


def test_nits_that_people_fix_are_not_to_be_switched_off(store: Store) -> None:
    write(store, [("major", "nit", "restates", "restates")] * 30, acted_on=70)

    assert decide(store).reason.startswith(
        "Tune otter: have it stop: summaries of the change 60, but not nits 30, which people fix; "
    )


def test_points_that_no_other_reviewer_made_would_be_lost(store: Store) -> None:
    body = store.add_text("Text.")

    def say(number: int, reviewer: str, host_id: int, point: int, **more: object) -> None:
        key, is_bot = comment_key(MessageKind.LINE, host_id), int(reviewer != "ada")
        person = {"is_app": is_bot, "is_bot": is_bot}
        first = comment_key(MessageKind.LINE, point)
        store.put(
            [
                rows.comment(number, reviewer, host_id, body=body, **person),
                rows.comment_score(key, number, point=first, **more),
                rows.score(number, reviewer, 50, comments=1, is_bot=is_bot),
            ]
        )

    for number in range(1, 31):
        store.put([rows.pull(number, day=number - 1)])
        say(number, "otter", 3 * number, 3 * number)
        say(number, "hare", 3 * number + 1, 3 * number + number % 2, level="minor")
    say(2, "ada", 200, 6)
    say(3, "ada", 201, 201)
    say(4, "otter", 202, 202, level="nit")  # no weight

    points = {row.name: row.points for row in overview_of(store).reviewers}

    otter, hare = points["otter"], points["hare"]
    assert otter
    assert hare
    assert (otter.total, otter.only, otter.people) == (30, 15, 1)
    # ada also made a point of the hare later, but the otter had made it before the hare.
    assert (hare.total, hare.only, hare.people) == (30, 15, 0)


def test_few_pull_requests_decide_nothing(store: Store) -> None:
    write(store, [("critical",)] * 12)

    assert decide(store).reason == (
        "Undecided about otter: it saw only 12 pull requests; 12 of its 12 comments are worth "
        "acting on, judged by their text; more pull requests like these would not decide."
    )


@pytest.mark.parametrize(("acted_on", "verdict"), [(60, "undecided"), (20, "drop")])
def test_what_authors_act_on_is_not_dropped(store: Store, acted_on: int, verdict: str) -> None:
    write(store, [("nit",)] * 100, acted_on=acted_on)

    decision = decide(store)

    assert decision.verdict == verdict
    # If authors fix nits, these are not to be switched off.
    assert decision.switch_off == (("nit",) if verdict == "drop" else ())
    said = "people fixed 60 of 100 comparable comments (20 by chance), 60 of these seemingly"
    assert (said in decision.reason) == (verdict == "undecided")
    quotes = [line for line in bot_item(row_of(store)).below if "nit, fixed, " in str(line)]
    assert len(quotes) == (3 if verdict == "undecided" else 0)


@pytest.mark.parametrize(
    ("count", "acted_on", "verdict", "needed"),
    # With twice as many as 25, it is clear that hardly any is fixed; with five times as many as
    # 100, that more are fixed than by chance.
    [(100, 20, "drop", None), (100, 32, "undecided", 400), (25, 6, "undecided", 24)],
)
def test_what_authors_surely_leave_alone_is_dropped(
    store: Store, count: int, acted_on: int, verdict: str, needed: int | None
) -> None:
    write(store, [("major",)] * count, acted_on=acted_on, base=25)

    decision = decide(store)

    assert decision.verdict == verdict
    fixed = decision.fixed
    assert decision.needed == needed
    assert f"people fixed {fixed.count} of {count} comparable comments" in decision.reason


def test_resolved_threads_without_a_fix_are_no_evidence(store: Store) -> None:
    write(store, [("major", "restates")] * 100, acted_on=20, base=25)
    signal = {"night": "2026-03-02", "rules": 3, "signal": 3}
    for host_id in range(1, 201, 2):
        store.put([SignalRow(comment=comment_key(MessageKind.LINE, host_id), **signal, value=1)])

    assert decide(store).verdict == "drop"


@pytest.mark.parametrize(("lines", "has_evidence"), [(1, False), (40, True)])
def test_chance_from_few_lines_is_uncertain(store: Store, lines: int, has_evidence: bool) -> None:
    write(store, [("major",)] * 5 + [()] * 20 + [("nit",)])
    for number in range(1, 6):
        signal = {"night": "2026-03-02", "rules": 3, "signal": 1, "base_yes": 0}
        key = comment_key(MessageKind.LINE, number)
        store.put([SignalRow(comment=key, **signal, value=int(number < 4), base_all=lines)])

    decision = decide(store)

    assert (decision.fixed.count, decision.fixed.total) == (3, 5)
    assert bool(decision.evidence) == has_evidence
    assert decision.chance == pytest.approx(3 / (lines + 1) / 5)


def test_fixes_on_few_pull_requests_are_no_evidence(store: Store) -> None:
    write(store, [("major",) * 20] * 4 + [()] * 20 + [("nit",)], acted_on=90)

    assert decide(store).evidence == ()


def test_formula_near_a_comment_is_no_other_point(store: Store) -> None:
    write(store, [("major",)] * 40, acted_on=100)
    body = store.add_text("Text.")
    for number in range(1, 41):
        key = comment_key(MessageKind.LINE, 100 + number)
        text = f"`run_{number}` in {rows.wording(number).split()[0]} never closes its connection."
        store.put([rows.comment(number, "hare", 100 + number, body=body)])
        store.put([rows.comment_score(key, number, text=text)])

    otter = next(row for row in overview_of(store).reviewers if row.name == "otter")

    # The third and later comments of the hare are formulas, which make no point.
    assert otter.comments.fixed == 38


@pytest.mark.parametrize("line", [9, 10])
@pytest.mark.parametrize(
    "other", [{}, {"person": True}, {"level": "nit"}, {"on_head": True}, {"is_copy": True}]
)
def test_fix_near_another_point_is_no_evidence(
    store: Store, other: dict[str, bool | str], line: int
) -> None:
    write(store, [("major",)] * 40, acted_on=100)
    body = store.add_text("Text.")
    for number in range(1, 41):
        key, beside = (comment_key(MessageKind.LINE, at) for at in (number, 100 + number))
        name = "ada" if "person" in other else "hare"
        if "on_head" in other:
            store.put([rows.comment(number, "otter", number, body=body, commit_id="0" * 40)])
        commit = {} if "on_head" in other else {"commit_id": "0" * 40}
        point = key if "is_copy" in other else beside
        level = other.get("level", "nit" if "person" in other else "major")
        store.put(
            [
                rows.comment_score(key, number, point=key),
                rows.comment(number, name, 100 + number, body=body, line=line, **commit),
                rows.comment_score(beside, number, point=point, level=level),
            ]
        )

    fixed = next(row for row in overview_of(store).reviewers if row.name == "otter")

    # The otter's comments are on line 3. Changes three lines away count for both comments, so they
    # may have the same reason if the other comment is on line 9, but not on line 10.
    is_shared = line == 9 and ("person" in other or not other)
    assert fixed.comments.fixed == (0 if is_shared else 40)
    assert fixed.decision
    assert fixed.decision.verdict == ("undecided" if is_shared else "keep")


def test_comment_posted_three_times_on_a_pull_request_counts_once(store: Store) -> None:
    write(store, [("major",) * 3] * 40, acted_on=100)
    for host_id in range(1, 121):
        number = (host_id + 2) // 3
        key = comment_key(MessageKind.LINE, host_id)
        store.put([rows.comment_score(key, number, text=rows.wording(number))])

    row = row_of(store)

    assert row.decision
    assert (row.comments.total, row.decision.fixed.total) == (120, 40)


@pytest.mark.parametrize("compared", [0, 4, 40])
def test_fixes_without_other_lines_do_not_lower_chance(store: Store, compared: int) -> None:
    write(store, [("major",)] * 100, acted_on=40, base=40)
    signal = {"night": "2026-03-03", "rules": 3, "signal": 1, "base_yes": 0, "base_all": 0}
    for number in range(compared + 1, 101):
        key = comment_key(MessageKind.LINE, number)
        # If these fixes counted with a chance of 0, the bot would be kept.
        store.put([SignalRow(comment=key, value=1, **signal)])

    decision = decide(store)

    assert decision.fixed.total == compared
    # The lines of the comments are counted with the 100 other lines of each change.
    assert decision.chance == (pytest.approx(0.4, abs=0.006) if compared else None)
    assert (decision.verdict, decision.evidence) == (
        ("keep", decision.evidence) if compared == 40 else ("undecided", ())
    )


def test_own_texts_alone_keep_no_bot(store: Store) -> None:
    write(store, [("critical",)] * 40)

    decision = decide(store)

    assert (decision.verdict, decision.evidence) == ("undecided", ())
    assert decision.reason.endswith(
        "judged by their text alone; none was fixed or resolved; more pull requests like these "
        "would not decide."
    )


def test_points_that_people_make_later_are_evidence(store: Store) -> None:
    write(store, [("major",)] * 40)
    for number in range(1, 41):
        key, after = (comment_key(MessageKind.LINE, at) for at in (number, 100 + number))
        store.put(
            [
                rows.comment_score(key, number, point=key),
                rows.comment(number, "ada", 100 + number, created=rows.at(0, 12)),
                rows.comment_score(after, number, point=key if number % 3 else after),
            ]
        )

    decision = decide(store)

    assert decision.evidence == ("people later made 27 of its 40 points",)
    assert decision.verdict == "keep"


@pytest.mark.parametrize(
    ("said", "judge"),
    [
        ("confirmed", "the code"),
        ("confirmed by a model", "a language model's reading with a quoted line"),
    ],
)
@pytest.mark.parametrize(("confirmed", "verdict"), [(12, "keep"), (4, "undecided")])
def test_confirmed_comments_are_evidence_that_names_the_judge(
    store: Store, confirmed: int, verdict: str, said: str, judge: str
) -> None:
    write(store, [("major",)] * 40)
    for number in range(1, confirmed + 1):
        key = comment_key(MessageKind.LINE, number)
        store.put([rows.comment_score(key, number, verdict=said)])

    decision = decide(store)

    assert decision.verdict == verdict
    text = f"{judge} confirms 12 of the 40 worth acting on"
    assert decision.evidence == ((text,) if verdict == "keep" else ())


def test_templated_comments_are_worth_nothing_from_the_third_on(store: Store) -> None:
    write(store, [("major",)] * 40, acted_on=100)
    for number in range(1, 41):
        text = f"`run_{number}` in {rows.wording(number).split()[0]} never closes its connection."
        store.put([rows.comment_score(comment_key(MessageKind.LINE, number), number, text=text)])

    decision = decide(store)

    row = row_of(store)
    assert row.comments.kinds == {"major": 2, "formula": 38}
    assert decision.verdict == "undecided"
    assert "(templated comments 38; people fixed 38 of the templated comments)" in row.facts[1].text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("deleted", "hidden or deleted"),
        ("edited", "edited"),
        ("edited by night", "edited"),
        ("old commit", "written after the fix"),
        ("closed", "written after the close"),
    ],
)
def test_bot_that_changes_its_comments_afterwards_is_not_kept(
    store: Store, change: str, said: str
) -> None:
    write(store, [("major",)] * 40, acted_on=100)
    for number in range(1, 41, 2):
        key = comment_key(MessageKind.LINE, number)
        values = {"body": store.add_text("Text."), "created": rows.at(0, 12)}
        if change == "deleted":
            gone = CommentObservation(comment=key, night="2026-03-09", minimized="deleted")
            store.put([gone])
        elif change == "edited by night":
            for night, text in (("2026-03-08", b"1" * 16), ("2026-03-09", b"2" * 16)):
                store.put([CommentObservation(comment=key, night=night, body=text)])
        elif change == "edited":
            store.put([rows.comment(number, "otter", number, updated=rows.at(0, 14), **values)])
        elif change == "closed":
            values["created"] = rows.at(29)
            store.put([rows.comment(number, "otter", number, **values)])
        else:
            store.put(
                [
                    rows.comment(number, "ada", 100 + number),
                    rows.comment(number, "otter", number, commit_id="0" * 40, **values),
                ]
            )

    decision = decide(store)

    assert (decision.afterwards.count, decision.afterwards.total) == (20, 40)
    assert (decision.verdict, decision.evidence) == ("undecided", ())
    assert f"of its 40 posts, 20 {said}; so its fixes show nothing" in decision.reason


@pytest.mark.parametrize(("gone", "is_reason"), [(2, False), (10, True)])
def test_few_deletions_are_reported_and_many_are_the_reason_even_on_few_pulls(
    store: Store, gone: int, is_reason: bool
) -> None:
    write(store, [("major",)] * 12, acted_on=100)
    for number in range(1, gone + 1):
        key = comment_key(MessageKind.LINE, number)
        store.put([CommentObservation(comment=key, night="2026-03-09", minimized="deleted")])

    facts = {fact.title: fact.text for fact in row_of(store).facts}

    said = f"f its 12 posts, {gone} hidden or deleted"
    assert said in facts["Present"]
    assert (said in decide(store).reason) == is_reason


def test_bot_whose_posts_all_come_after_the_fix_is_dropped(store: Store) -> None:
    write(store, [("major",)] * 40, acted_on=100)
    body = store.add_text("Text.")
    for number in range(1, 41):
        late = {"commit_id": "0" * 40, "created": rows.at(0, 12), "body": body}
        store.put([rows.comment(number, "ada", 100 + number)])
        store.put([rows.comment(number, "otter", number, **late)])

    decision = decide(store)

    assert decision.verdict == "drop"
    facts = {fact.title: fact.text for fact in row_of(store).facts}
    assert "of its 40 posts, 40 written after the fix, too late to matter; " in decision.reason
    assert "Of its 40 posts, 40 written after the fix." in facts["Present"]
    assert facts["Found"].startswith(
        "40 of 40 comments are worth acting on, and fixed or resolved, but too late to matter"
    )
    assert "people fix" not in facts["Certainty"]
    pair = PairComparison(
        first="hare",
        second="otter",
        verdict="unknown",
        difference=None,
        p_value=None,
        pulls=40,
        paired=True,
        needed=None,
        gained=(27, 32),
        text="",
    )
    compared = make_facts(row_of(store), decision, [pair])[3].text
    assert compared == (
        "Judged by the text alone, although most came too late: otter shows no clear difference "
        "from hare: on 32 against 27 of 40."
    )
    unpaired = make_facts(row_of(store), decision, [replace(pair, paired=False)])
    assert all(fact.title != "Compared" for fact in unpaired)
    assert format_mattered(row_of(store)) == "late"


def test_green_check_without_a_review_is_a_reason(store: Store) -> None:
    write(store, [("major",)] * 40, acted_on=100)
    check = {"repository": 1, "app": "otter", "name": "review", "outcome": "success"}
    for number in range(41, 61):
        store.put([rows.pull(number), Check(number=number, head=rows.head(number), **check)])

    reason = decide(store).reason
    assert reason.startswith("Keep otter only if its check stops being green without a review: 40")
    assert reason.endswith("; its check was green on 20 pull requests that it did not review.")


def test_account_that_does_more_than_review_is_not_silent_elsewhere(store: Store) -> None:
    write(store, [("major",), *[()] * 20, ("major",)], "github-actions")

    assert row_of(store).silent == 0


def test_review_without_a_score_yet_is_not_silence(store: Store) -> None:
    write(store, [("major",)] * 20)
    store.put([rows.pull(30, day=5), rows.comment(30, "otter", 99)])

    assert row_of(store).silent == 0


def test_refuted_comments_are_a_kind_and_reading_takes_minutes(store: Store) -> None:
    write(store, [("major", "minor", "nothing")] * 2)
    key = comment_key(MessageKind.LINE, 3)
    store.put([rows.comment_score(key, 1, verdict="refuted")])

    row = row_of(store)

    assert row.comments.kinds == {"major": 2, "minor": 2, "nothing": 1, "refuted": 1}
    assert row.comments.total == sum(row.comments.kinds.values())
    assert row.minutes == pytest.approx(0.4)


@pytest.mark.parametrize(("others", "verdict"), [("nit", "undecided"), ("restates", "keep")])
def test_resolved_threads_are_evidence_unless_all_are_resolved(
    store: Store, others: str, verdict: str
) -> None:
    write(store, [("major", others)] * 40)
    for host_id in range(1, 81):
        # If nits are resolved as well, people seem to resolve all threads.
        if host_id % 2 or others == "nit":
            signal = {"night": "2026-03-02", "rules": 3, "signal": 3}
            store.put(
                [SignalRow(comment=comment_key(MessageKind.LINE, host_id), **signal, value=1)]
            )

    decision = decide(store)

    assert decision.verdict == verdict
    assert (
        "people resolved 40 of its 40 threads worth acting on, and 0 of its 40 others"
        in (decision.reason)
    ) == (verdict == "keep")
    others_resolved = 40 if others == "nit" else 0
    assert (
        row_of(store)
        .facts[0]
        .text.endswith(
            ". People resolved 40 of these without a fix; they also resolved "
            f"{others_resolved} of 40 of its other threads."
        )
    )


def test_few_comments_are_no_evidence(store: Store) -> None:
    write(store, [("major",)] * 4 + [()] * 20 + [("nit",)], acted_on=100)

    assert decide(store).evidence == ()


def test_few_comparable_comments_are_counted_without_an_interval(store: Store) -> None:
    write(store, [("major",)] * 4 + [()] * 20 + [("nit",)], acted_on=3)

    said = "people fixed 2 of 4 comparable comments (1 by chance, too few to count)"
    assert said in decide(store).reason
    assert "people fix" not in row_of(store).facts[-1].text


def test_people_are_not_decided_about(store: Store) -> None:
    write(store, [("major",)] * 30, "ada")

    (ada,) = overview_of(store).reviewers
    assert isinstance(ada, Reviewer)
    assert ada.decision is None


@pytest.mark.parametrize("kind", ["repeat", "restates", "praise", "nothing"])
def test_what_asks_for_nothing_is_not_acted_on(store: Store, kind: str) -> None:
    write(store, [("major", kind)] * 30, acted_on=100)

    (reviewer,) = overview_of(store).reviewers

    assert reviewer.decision
    comments, decision = reviewer.comments, reviewer.decision
    assert (comments.fixed, comments.mattered) == (30, {"major": 30})
    assert (decision.fixed.count, decision.fixed.total) == (30, 30)
