"""A merge request against the simulated GitLab."""

import json
from dataclasses import replace

import pytest

from crscore.commands import _target
from crscore.errors import ConfigError
from crscore.gitlab.client import Client
from crscore.gitlab.host import GitLab
from crscore.hosts.records import MessageKind
from crscore.hosts.sticky import MARKER, Outcome, Posted
from crscore.pull_request import run
from crscore.pull_request.documents import for_hosts
from crscore.pull_request.documents import json as report
from tests.helpers.github import scenes
from tests.helpers.github.faults import At, Fault, Kind, Places
from tests.helpers.gitlab import schedules
from tests.helpers.gitlab.server import serve
from tests.helpers.schedules import REQUEST, Clock


def post_again(host: GitLab, text: str) -> Posted:
    return host.post_to("acme/shop", 7, text, host.read_own("acme/shop", 7))


@pytest.mark.hosts
def test_faults_give_the_same_or_say_what_is_missing() -> None:
    tally = schedules.misbehave(range(10_001, 10_011))
    assert (tally.wrong, tally.second) == ([], [])
    assert tally.same > 0
    assert tally.met.total() > 10


@pytest.mark.hosts
def test_lost_message_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    schedules.in_peace()
    whole = GitLab.read_pull

    def loses_a_message(*given, **more):
        pull = whole(*given, **more)
        return replace(pull, messages=pull.messages[:-1])

    monkeypatch.setattr(GitLab, "read_pull", loses_a_message)
    assert schedules.misbehave(range(10_001, 10_011)).wrong


def test_reads_threads_and_writes_one_note_without_commands() -> None:
    clock = Clock()
    with serve(scenes.shop(), clock=clock.now) as server:
        host = schedules.host_of(server, clock, seed=0)
        measured = run.read_and_score(host, REQUEST)
        pull = measured.pull
        posted = [run.post(host, run.read_and_score(host, REQUEST)).outcome for _ in range(2)]
        post_again(host, "/merge")
    lines = [message for message in pull.messages if message.kind is MessageKind.LINE]
    assert pull.missing == ()
    assert not any(
        "Draft" in message.body or "Not sent" in message.body for message in pull.messages
    )
    assert any(message.resolved for message in lines)
    assert {message.id for message in lines if message.outdated} == set(pull.originals) != set()
    assert posted == [Outcome.CREATED, Outcome.UNCHANGED]
    assert server.commands == []
    assert [body.split("\n")[1] for body in schedules.ours(server)] == ["\\/merge"]
    rows = json.loads(for_hosts.render_code_quality(measured.overview))
    assert rows
    assert {row["location"]["path"] for row in rows} <= {f.path for f in pull.diff.files}
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    assert report.render_json(measured.overview, measured.reviewers.threads, measured.result)


def test_copies_of_the_note_by_the_same_account_are_left_alone() -> None:
    clock = Clock()
    with serve(scenes.shop(), clock=clock.now) as server:
        host, subject = schedules.host_of(server, clock, seed=0), ("acme/shop", 7)
        post_again(host, "First.")
        (own,) = schedules.ours(server)
        writer = host.client.notes(*subject)
        copies = [own, own.replace("First.", "Build 7 passed.")]
        for body in copies:
            writer.create({"body": body})
        outcome = post_again(host, "Second.").outcome
        bodies = schedules.ours(server)
    assert outcome is Outcome.UPDATED
    assert [body.partition("\n")[2] for body in bodies] == ["Second.", "First.", "Build 7 passed."]
    assert bodies[1:] == copies


def test_token_of_a_job_knows_its_own_notes() -> None:
    clock = Clock()
    with serve(scenes.shop(), clock=clock.now) as server:
        server.job_token = "a-job-token"
        host = GitLab(Client(token="a-job-token", is_job=True, url=server.url))
        first = run.post(host, run.read_and_score(host, REQUEST))
        server.may_write = False
        assert host.read_own("acme/shop", 7).is_complete
        measured = run.read_and_score(host, REQUEST)
        refused = post_again(host, "other")
    assert first.outcome is Outcome.CREATED
    assert len(measured.pull.own_messages.messages) == 1
    assert refused.outcome is Outcome.REFUSED


def test_marker_of_a_stranger_does_not_make_the_run_partial() -> None:
    clock = Clock()
    with serve(scenes.shop(), clock=clock.now) as server:
        server.pull.notes[0].body = f"{MARKER} v1 -->\nmine"
        refused = Fault(kind=Kind.STATUS, status=403)
        server.faults = Places([At(pattern="/user", fault=refused)])
        measured = run.read_and_score(schedules.host_of(server, clock, seed=0), REQUEST)
    assert measured.pull.missing == ()
    assert not measured.pull.own_messages.is_complete
    assert any("could not be identified" in note for note in measured.overview.notes)


def test_targets_are_on_the_configured_gitlab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITLAB_URL", "https://git.example/lab")
    page = "https://git.example/lab/a/b/c/-/merge_requests/7"
    rests = ("", "/diffs#note_1", "/diffs?diff_id=3&start_sha=1a2b#note_1", ".diff", "/commits")
    bare = page.removeprefix("https://").replace("/-/", "/")
    for text in ("a/b/c!7", bare, f"<{page}>", *(f"{page}{rest}" for rest in rests)):
        target = _target.find_target(text, None)
        assert (target.repository, target.number, target.site.name) == ("a/b/c", 7, "GitLab")
    with pytest.raises(ConfigError, match="GITLAB_URL"):
        _target.find_target("https://other.example/a/b/-/merge_requests/7", None)
