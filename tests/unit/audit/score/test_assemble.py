from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crscore.audit.score.assemble import assemble, move_to_head
from crscore.diff.parse import DiffLimits
from crscore.errors import HostError
from crscore.hosts.records import Change
from crscore.records import Diff
from tests.helpers.audits import Audit, add, module

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.audit.score.assemble import ScoringTask

LIMITS = DiffLimits()
HUNK = "@@ -4,4 +4,9 @@\n import time\n \n \n def load_old(client):\n+    data = client.get('/old')"


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path, pulls=1)


def task_of(audit: Audit, host_id: int = 0, **facts: object) -> ScoringTask:
    """Return the task; if `host_id` is not 0, with one more comment that has this id."""
    if host_id:
        with audit.open() as store, store.transaction():
            add(store, host_id, 1, "bo", "Why is this not capped?", path="shop/m0.py", **facts)
    (task,) = audit.tasks()
    return task


def test_change_comes_from_the_clone_with_whole_files(audit: Audit) -> None:
    record = assemble(task_of(audit), LIMITS)
    (file,) = record.diff.files
    assert (file.path, file.new_source) == ("shop/m0.py", module(1, is_changed=True))
    assert record.url == "https://host.example/acme/shop/pull/1"
    assert [message.login for message in record.messages][-1] == "ada"
    assert not record.missing


def test_outdated_comment_has_the_hunk_of_its_commit(audit: Audit) -> None:
    older = audit.history.commit({"shop/m0.py": module(9, is_changed=True)}, parents=[audit.base])
    shown = audit.history.git("diff", audit.base, older).decode()
    start = shown[shown.index("@@") :]
    hunk = "\n".join(start.split("\n")[:6])
    audit.clone()
    task = task_of(audit, 900, outdated=1, commit_id=older, line=8, hunk=hunk)
    (file,) = assemble(task, LIMITS).originals[900].files
    (only,) = file.hunks
    assert len(only.lines) > 5
    assert any("timeout=29" in line.text for line in only.lines)


def test_outdated_comment_on_a_lost_commit_has_the_stored_part_of_its_hunk(audit: Audit) -> None:
    task = task_of(audit, 900, outdated=1, commit_id="f" * 40, line=8, hunk=HUNK)
    (file,) = assemble(task, LIMITS).originals[900].files
    assert [len(hunk.lines) for hunk in file.hunks] == [5]


def test_line_of_an_older_commit_is_converted_to_the_head(audit: Audit) -> None:
    hunk = "@@ -1,2 +1,3 @@\n import json\n+        if data is not None:"
    task = task_of(audit, 900, commit_id="f" * 40, line=3, start_line=2, hunk=hunk)
    record = assemble(task, LIMITS)
    (message,) = [message for message in record.messages if message.id == 900]
    lines = module(1, is_changed=True).split("\n")
    assert message.line is not None
    assert lines[message.line - 1] == "        if data is not None:"
    assert message.start_line == message.line - 1
    assert not message.outdated


def test_line_that_is_gone_from_the_change_is_outdated(audit: Audit) -> None:
    task = task_of(audit, 900, commit_id="f" * 40, line=3, hunk="@@ -1 +1 @@\n+gone")
    (message,) = [message for message in assemble(task, LIMITS).messages if message.id == 900]
    assert message.outdated


def test_comment_on_the_head_stays_where_it_is(audit: Audit) -> None:
    task = task_of(audit)
    empty = Diff(files=(), sha256="")
    assert all(move_to_head(message, task.pull.head, empty) is message for message in task.messages)


def test_without_the_commits_the_change_from_the_api_or_a_reason_is_used(audit: Audit) -> None:
    task = replace(task_of(audit), clone=audit.folder / "none")
    with pytest.raises(HostError, match="no clone"):
        assemble(task, LIMITS)
    with pytest.raises(HostError, match=r"no clone.*; it was pushed to"):
        assemble(replace(task, change="it was pushed to"), LIMITS)
    change = Change(Diff(files=(), sha256="", notes=()), ("A file is missing.",), ())
    record = assemble(replace(task, change=change), LIMITS)
    assert (record.diff, record.missing) == (change.diff, ("A file is missing.",))


def paths(audit: Audit, **facts: object) -> list[str]:
    """Return the paths of the change if the pull request has these other values."""
    audit.clone()
    task = task_of(audit)
    task = replace(task, pull=replace(task.pull, **facts))
    return [file.path for file in assemble(task, LIMITS).diff.files]


def test_base_that_contains_the_head_is_not_used(audit: Audit) -> None:
    head = task_of(audit).pull.head
    merged = audit.history.commit({"shop/m0.py": "x"}, parents=[audit.base, head])
    assert paths(audit, base=merged, merge_commit=merged) == ["shop/m0.py"]


def test_squashed_pull_is_compared_with_what_it_was_merged_into(audit: Audit) -> None:
    squashed = audit.history.commit({"shop/m0.py": "x"}, parents=[audit.base])
    assert paths(audit, base=squashed, merge_commit=squashed) == ["shop/m0.py"]


def test_what_the_head_merged_from_the_base_is_not_of_the_change(audit: Audit) -> None:
    old = {"shop/m0.py": module(0, is_changed=False)}
    new = {**old, "other.py": "of somebody else\n"}
    tip = audit.history.commit(new, parents=[audit.base])
    own = {**new, "shop/m0.py": module(1, is_changed=True)}
    head = audit.history.commit(own, parents=[task_of(audit).pull.head, tip])
    audit.history.git("update-ref", "refs/heads/main", tip)
    assert paths(audit, head=head) == ["shop/m0.py"]
    merge = audit.history.commit(own, parents=[tip, head])
    assert paths(audit, head=head, merge_commit=merge) == ["shop/m0.py"]


def test_name_of_a_branch_is_not_read_as_an_option(audit: Audit) -> None:
    for name in ("--all", "../../HEAD", "main\n--all", "no such"):
        assert paths(audit, base_ref=name) == ["shop/m0.py"]
