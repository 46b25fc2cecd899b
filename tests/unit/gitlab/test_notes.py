"""Notes of a merge request as messages."""

import msgspec
import pytest

from crscore.gitlab import client, host, notes, versions
from crscore.gitlab.notes import Discussion, NoteItem
from crscore.hosts.records import HostMessage, MessageKind
from crscore.records import Side
from tests.helpers.gitlab.description import ENTITIES, deviations

HEAD = "a" * 40
PAGE = "https://git.example/a/b/-/merge_requests/7"
PLACE = {"head_sha": HEAD, "old_path": "old.py", "new_path": "new.py", "position_type": "text"}


def read(*items: dict) -> list[HostMessage]:
    rows = [{"id": number, "body": "b", **item} for number, item in enumerate(items, 1)]
    discussion = msgspec.convert({"id": "d", "notes": rows}, Discussion)
    read = notes.read_notes([discussion], url=PAGE, head=HEAD, account=5)
    return [message for *_, message in read]


def test_removed_line_is_of_the_old_file() -> None:
    (message,) = read({"position": PLACE | {"old_line": 3}})
    assert (message.path, message.line, message.side) == ("old.py", 3, Side.OLD)


def test_unchanged_line_is_of_the_new_file() -> None:
    (message,) = read({"position": PLACE | {"old_line": 3, "new_line": 5}})
    assert (message.path, message.line, message.side) == ("new.py", 5, Side.NEW)


def test_range_has_its_first_line() -> None:
    start = {"new_line": 4, "type": "new"}
    place = PLACE | {"new_line": 6, "line_range": {"start": start, "end": {}}}
    (message,) = read({"position": place})
    assert (message.start_line, message.line) == (4, 6)


def test_range_of_an_old_gitlab_has_only_its_last_line() -> None:
    of_old = {"start_line_code": "ab_0_1", "start_line_type": "new", "end_line_code": "ab_0_6"}
    (message,) = read({"position": PLACE | {"new_line": 6, "line_range": of_old}})
    assert (message.start_line, message.line) == (None, 6)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("fence", ["```suggestion", "~~~suggestion", "- ```suggestion"])
def test_block_without_offsets_replaces_the_last_line_of_a_range(fence: str, end: str) -> None:
    start = {"new_line": 4, "type": "new"}
    place = PLACE | {"new_line": 6, "line_range": {"start": start, "end": {}}}
    (message,) = read({"position": place, "body": f"{fence}{end}x{end}```"})
    assert message.body.startswith(f"{fence}:-0+0{end}")
    assert (message.start_line, message.line) == (4, 6)


def test_offsets_of_a_block_do_not_move_its_note() -> None:
    body = "```suggestion:-1+2\nx\n```"
    (message,) = read({"position": PLACE | {"new_line": 6}, "body": body})
    assert (message.start_line, message.line, message.body) == (None, 6, body)


def test_note_on_an_older_version_is_outdated() -> None:
    (message,) = read({"position": PLACE | {"head_sha": "b" * 40, "new_line": 5}})
    assert message.outdated
    assert message.commit == "b" * 40


def test_note_on_an_image_is_on_the_file() -> None:
    (message,) = read({"position": PLACE | {"position_type": "image", "x": 1.5, "y": 2}})
    assert (message.kind, message.line) == (MessageKind.LINE, None)


def test_system_and_internal_notes_are_left_out() -> None:
    assert read({"system": True}, {"internal": True}, {"confidential": True}) == []


def test_replies_are_in_the_thread_of_the_first_and_resolved_with_it() -> None:
    place = {"position": PLACE | {"new_line": 5}, "resolvable": True, "resolved": True}
    first, reply = read(place, place)
    assert (first.thread, reply.thread) == (1, 1)
    assert first.resolved


@pytest.mark.parametrize(
    ("login", "is_bot"),
    [
        ("project_12_bot", True),
        ("project_12_bot_4ffca233d8298ea1", True),
        ("group_7_bot_ab", True),
        ("GitLabDuo", True),
        ("service_account_group_345_6018816a18e5", True),
        ("service_account_4fca233d8298ea1b", True),
        ("duo-code-review-bot", True),
        ("GitLab-Security-Bot", True),
        ("ghost", False),
        ("robotics", False),
        ("project_bot", False),
        ("accountservice", False),
        ("my_service_account_fan", False),
    ],
)
def test_bots_are_recognised_by_their_user_names(login: str, is_bot: bool) -> None:
    (message,) = read({"author": {"id": 9, "username": login}})
    assert message.is_bot is is_bot


def test_own_notes_are_those_of_the_account() -> None:
    mine, other, deleted = read(
        {"author": {"id": 5, "username": "me"}}, {"author": {"id": 6, "username": "me"}}, {}
    )
    assert (mine.is_own, other.is_own, deleted.is_own) == (True, False, False)


@pytest.mark.parametrize(
    ("kind", "entity"),
    [
        (NoteItem, "Note"),
        (Discussion, "Discussion"),
        (notes.Position, "Position"),
        (notes.User, "MergeRequestAuthor"),
        (versions.Entry, "MergeRequestDiff"),
        (versions.Version, "MergeRequestDiffFull"),
        (versions.FileRow, "Diff"),
        (versions.MergeRequest, "MergeRequest"),
        (versions.DiffRefs, "DiffRefs"),
        (versions._File, "File"),
        (host._Job, "Job"),
    ],
)
def test_fields_that_are_read_are_in_gitlabs_documentation(kind: type, entity: str) -> None:
    assert {field.name for field in msgspec.structs.fields(kind)} <= ENTITIES[entity].keys()


def test_description_finds_what_is_not_as_described() -> None:
    note = {"id": "1", "text": "x", "author": {"id": 1, "bot": True}}
    path = "/projects/a/b/merge_requests/7/notes"
    assert sorted(deviations(path, [note], is_list=True)) == [
        f"{path}[].author.bot is not described",
        f"{path}[].id is str",
        f"{path}[].text is not described",
    ]
    assert deviations("/projects/a/b/secrets", {}, is_list=True) != []


def test_client_never_shows_its_token() -> None:
    shown = repr(client.Client(token="glpat-secret-token", url="https://git.example"))
    assert "secret" not in shown
