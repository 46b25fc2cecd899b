"""Hunks that outdated comments were written on."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from crscore.errors import UnavailableError
from crscore.github.client import Client
from crscore.github.host import GitHub
from crscore.hosts.outdated_hunks import MAX_COMMITS, read_outdated_hunks
from crscore.hosts.records import HostMessage
from crscore.records import Diff, LineKind
from tests.helpers.github.faults import At, Fault, Kind, Places
from tests.unit.github.shops import NAME, pull_of, read, shop


def read_older(
    host: Client, base: str, messages: list[HostMessage], **more: Any
) -> tuple[Mapping[int, Diff], tuple[str, ...]]:
    read = partial(GitHub(host).read_older_files, NAME, base)
    return read_outdated_hunks(messages, read_version=read, **more)


def outdated(messages: tuple[HostMessage, ...]) -> HostMessage:
    return next(message for message in messages if message.outdated)


def test_outdated_comment_gets_the_whole_hunk_of_its_commit() -> None:
    with shop() as (_, host):
        pull_request = read(host)
    message = outdated(pull_request.messages)
    (file,) = pull_request.originals[message.id].files
    (hunk,) = file.hunks
    kept = (message.hunk or "").count("\n")
    assert (file.path, file.language) == ("shop/pricing.py", "python")
    assert len(hunk.lines) > kept
    assert hunk.lines[16].text == (message.hunk or "").split("\n")[-1][1:]


def test_comments_on_one_commit_take_one_request() -> None:
    with shop() as (server, host):
        read(host)
        assert sum("/compare/" in entry.path for entry in server.log) == 1


def test_commit_that_is_gone_leaves_the_stored_part_of_the_hunk() -> None:
    with shop() as (_, host):
        pull_request = read(host)
        message = replace(outdated(pull_request.messages), commit="f" * 40)
        hunks, notes = read_older(host, pull_request.base, [message])
    (hunk,) = hunks[message.id].files[0].hunks
    assert len(hunk.lines) == (message.hunk or "").count("\n")
    assert (hunk.new_start, hunk.new_length) == (1, 17)
    assert "For 1 outdated comment, only" in notes[0]


def test_older_version_that_cannot_be_read_is_an_error() -> None:
    with shop() as (server, host):
        server.faults = Places([At(pattern="/compare/", fault=Fault(kind=Kind.STATUS))])
        with pytest.raises(UnavailableError):
            read(host)


def test_hunk_of_another_change_at_that_line_is_not_taken() -> None:
    with shop() as (_, host):
        pull_request = read(host)
        message = outdated(pull_request.messages)
        other = replace(message, hunk="@@ -5,2 +5,2 @@\n context\n-before\n+after")
        hunks, _ = read_older(host, pull_request.base, [other])
    (hunk,) = hunks[message.id].files[0].hunks
    assert [line.kind for line in hunk.lines] == [
        LineKind.CONTEXT,
        LineKind.REMOVED,
        LineKind.ADDED,
    ]


def test_comment_without_a_hunk_that_can_be_read_has_none() -> None:
    for hunk in [None, "", "no hunk", "@@ -1 +1 @@", "@@ -0,4 +0,4 @@\n\x00"]:
        with shop() as (_, host):
            pull_request = read(host)
            message = replace(outdated(pull_request.messages), hunk=hunk, commit=None)
            assert read_older(host, pull_request.base, [message])[0] == {}


def test_local_checkout_is_asked_first() -> None:
    with shop() as (server, host):
        pull_request = read(host)
        asked = len(server.log)
        message = outdated(pull_request.messages)
        patch = (
            "diff --git a/shop/pricing.py b/shop/pricing.py\n--- a/shop/pricing.py\n"
            "+++ b/shop/pricing.py\n@@ -1 +1,20 @@\n-x\n" + "+y\n" * 20
        )
        hunks, _ = read_older(
            host,
            pull_request.base,
            [replace(message, hunk=None)],
            local=lambda _: patch.encode(),
        )
        assert len(server.log) == asked
    assert len(hunks[message.id].files[0].hunks[0].lines) == 21


def test_number_of_older_versions_is_limited() -> None:
    with shop() as (server, host):
        pull_request = read(host)
        message = outdated(pull_request.messages)
        many = [replace(message, id=k, commit=f"{k:040x}") for k in range(MAX_COMMITS + 5)]
        before = len(server.log)
        hunks, _ = read_older(host, pull_request.base, many)
        assert len(server.log) - before == MAX_COMMITS
    assert len(hunks) == len(many)


def test_pushed_change_makes_no_difference_to_what_was_commented() -> None:
    with shop() as (server, host):
        head = pull_of(server).heads[0]
        assert outdated(read(host).messages).commit == head
