from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from crscore.audit.engines import make_engine
from crscore.audit.score.signals import CURSOR, RULES, find_signals
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pulls_to_observe
from crscore.audit.store.rows import (
    Comment,
    Pull,
    Signal,
    SignalRow,
    ThreadObservation,
    comment_key,
)
from crscore.hosts.records import MessageKind

BASE = "".join(f"line {at}\n" for at in range(20))
OPENED = BASE.replace("line 5\n", "line 5\none = 1\ntwo = 2\nthree = 3\n")
FIXED = OPENED.replace("one = 1", "one = 10")
FIRST, SECOND = comment_key(MessageKind.LINE, 10), comment_key(MessageKind.LINE, 11)


@pytest.fixture(scope="module")
def clones(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clones")
    subprocess.run(["git", "init", "-q", "--bare", folder / "1.git"], check=True)
    return folder


@pytest.fixture(scope="module")
def commits(clones):
    """Return commits: base, opened, fixed; and a line of the base removed, replaced, restored."""

    def git(*arguments, input_text=""):
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@x", *arguments]
        done = subprocess.run(
            command,
            cwd=clones / "1.git",
            input=input_text,
            text=True,
            capture_output=True,
            check=True,
        )
        return done.stdout.strip()

    created = []
    for text, message in (
        (BASE, "Base"),
        (OPENED, "Open"),
        (FIXED, "Address review feedback"),
        (BASE.replace("line 9\n", ""), "Remove"),
        (BASE.replace("line 9\n", "line nine\n"), "Replace"),
        (BASE, "Restore"),
    ):
        blobs = [
            git("hash-object", "-w", "--stdin", input_text=content)
            for content in (text, message[:4])
        ]
        names = ("app.py", "new.py")
        lines = "".join(f"100644 blob {b}\t{n}\n" for b, n in zip(blobs, names, strict=True))
        tree = git("mktree", input_text=lines)
        parents = ["-p", created[0]] if created else []
        created.append(git("commit-tree", tree, *parents, "-m", message))
    return created


@pytest.fixture
def store(tmp_path, commits):
    base, opened, fixed, *_ = commits
    with Store(tmp_path / "audit.db") as store_file:
        body = store_file.add_text("Too small.\n\n```suggestion\none = 10\n```\n")
        pull = Pull(
            repository=1, number=7, node="PR_7", title="Change", author="ada", state="open",
            created="2026-03-01T00:00:00Z", updated="2026-03-02T00:00:00Z",
            base_ref="main", base=base, head=fixed, pending=0, observed="2026-03-02", final=0,
        )  # fmt: skip
        comment = Comment(
            key=FIRST, repository=1, number=7, thread=FIRST, author="otter[bot]",
            is_app=1, reviewer="otter", is_bot=1, is_review=1, body=body,
            created="2026-03-01T10:00:00Z", updated="2026-03-01T10:00:00Z", state="",
            commit_id=opened, path="app.py", line=7, side="new",
        )  # fmt: skip
        other_comment = replace(
            comment, key=SECOND, thread=SECOND, line=8, body=store_file.add_text("Why two?")
        )
        store_file.put([pull, comment, other_comment])
        yield store_file


def rows(store, comment=FIRST):
    rows = store.select(SignalRow, "WHERE comment = ? ORDER BY signal, night", comment)
    return {Signal(row.signal): row for row in rows}


def test_lines_that_changed(store, clones):
    assert find_signals(store, clones, night="2026-03-02") == 2
    (row,) = rows(store).values()
    assert (row.signal, row.value, row.rules) == (Signal.ACTED_ON, 1, RULES)


def test_second_run_stores_nothing_and_a_change_adds_one_row(store, clones):
    find_signals(store, clones, night="2026-03-02")
    assert find_signals(store, clones, night="2026-03-03") == 0
    by = {"thread": FIRST, "outdated": 0}
    store.put([ThreadObservation(night="2026-03-03", resolved=1, resolved_by="ada", **by)])
    assert find_signals(store, clones, night="2026-03-04") == 1
    store.put([ThreadObservation(night="2026-03-05", resolved=0, **by)])
    assert find_signals(store, clones, night="2026-03-05") == 1
    last = store.select(SignalRow, "WHERE comment = ? AND signal = ? ORDER BY night", FIRST, 3)
    assert [(row.night, row.value) for row in last] == [("2026-03-04", 1), ("2026-03-05", 0)]


def test_final_pull_request_is_read_once_more(store, clones):
    store.change("UPDATE pulls SET final = 1")
    counts = []
    for night in ("2026-03-02", "2026-03-03", "2026-03-04"):
        counts.append(len(pulls_to_observe(store, CURSOR, RULES)))
        find_signals(store, clones, night=night)
    assert counts == [1, 1, 0]


def test_without_a_clone_it_is_unknown_whether_lines_changed(store, tmp_path):
    assert find_signals(store, tmp_path, night="2026-03-02") == 2
    assert {row.value for row in store.find(SignalRow)} == {None}


@pytest.mark.parametrize("change", ["comments SET commit_id", "pulls SET head"])
def test_missing_commits_make_the_signal_unknown(store, clones, change):
    store.change(f"UPDATE {change} = ?", "0" * 40)
    find_signals(store, clones, night="2026-03-02")
    assert rows(store)[Signal.ACTED_ON].value is None


@pytest.mark.parametrize(
    ("login", "value"),
    [("Ada", 1), ("grace", 1), ("otter", 0), ("any[bot]", 0), ("coderabbitai", 0), (None, None)],
)
def test_thread_is_resolved_by_a_person(store, clones, login, value):
    store.put(
        [
            ThreadObservation(
                thread=FIRST, night="2026-03-02", resolved=1, resolved_by=login, outdated=0
            )
        ]
    )
    find_signals(store, clones, night="2026-03-02")
    row = rows(store).get(Signal.RESOLVED)
    assert (row.value if row else 0) == value


def test_workers_find_what_one_process_finds(store, clones):
    find_signals(store, clones, night="2026-03-02", engine=make_engine("processes", 2))
    found = store.find(SignalRow, "comment", "signal")
    store.change("DELETE FROM signals")
    find_signals(store, clones, night="2026-03-02")
    assert store.find(SignalRow, "comment", "signal") == found
