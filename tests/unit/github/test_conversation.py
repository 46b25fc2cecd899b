"""Everything that was said, as GitHub really tells it: over HTTP, with its traps."""

from collections import Counter

import msgspec
import pytest

from crscore.errors import UnavailableError
from crscore.github import conversation
from crscore.github.client import Client
from crscore.github.conversation import Conversation, LineItem
from crscore.hosts.records import HostMessage, MessageKind
from crscore.records import Side
from tests.helpers.github import faults
from tests.helpers.github.faults import At, Fault, Kind, Places
from tests.unit.github.shops import NAME, NUMBER, pull_of, shop


def read(host: Client) -> Conversation:
    return conversation.read_conversation(host, NAME, NUMBER, settings=f"{'0' * 40}:pyproject.toml")


def saying(conversation: Conversation, text: str) -> HostMessage:
    (message,) = [message for message in conversation.messages if text in message.body]
    return message


@pytest.fixture(scope="module")
def whole() -> Conversation:
    with shop() as (_, host):
        return read(host)


def test_three_kinds_of_comments_are_read(whole: Conversation) -> None:
    kinds = Counter(message.kind for message in whole.messages)
    assert kinds == {MessageKind.LINE: 12, MessageKind.REVIEW: 10, MessageKind.CONVERSATION: 4}
    assert whole.unlisted == 0


def test_messages_are_sorted_by_time(whole: Conversation) -> None:
    assert [message.created for message in whole.messages] == sorted(
        message.created for message in whole.messages
    )


def test_pending_review_and_its_comments_are_left_out(whole: Conversation) -> None:
    bodies = " ".join(message.body for message in whole.messages)
    assert "Not sent yet" not in bodies
    assert "Draft:" not in bodies


def test_own_pending_review_is_left_out() -> None:
    with shop() as (server, host):
        server.world.viewer = next(
            review.author for review in pull_of(server).reviews if review.state == "PENDING"
        )
        conversation = read(host)
    assert "Draft:" not in " ".join(message.body for message in conversation.messages)
    assert conversation.unlisted == 0


def test_minimised_comment_is_marked(whole: Conversation) -> None:
    assert saying(whole, "cheap watches").minimized == "hidden"
    assert sum(message.minimized == "hidden" for message in whole.messages) == 1


def test_comment_is_resolved_if_its_thread_is(whole: Conversation) -> None:
    assert saying(whole, "Money is a float").resolved is True
    assert saying(whole, "Right, I round").resolved is True
    assert saying(whole, "shared by all carts").resolved is False
    assert saying(whole, "gift cards").resolved is None


def test_outdated_comment_keeps_its_original_line_commit_and_hunk(whole: Conversation) -> None:
    message = saying(whole, "Money is a float")
    assert (message.outdated, message.line, message.side) == (True, 17, Side.NEW)
    assert message.commit is not None
    assert (message.hunk or "").startswith("@@ -0,0 +1,")


def test_current_comment_has_its_line_and_range(whole: Conversation) -> None:
    message = saying(whole, "This can be one line")
    assert (message.outdated, message.start_line, message.line) == (False, 21, 24)


def test_comment_on_the_old_side_has_the_old_line(whole: Conversation) -> None:
    assert saying(whole, "Who else called").side is Side.OLD


def test_comment_on_a_file_has_no_line_and_is_not_outdated(whole: Conversation) -> None:
    message = saying(whole, "giving this file a name")
    assert (message.line, message.outdated) == (None, False)


def test_reply_belongs_to_the_thread_of_its_root(whole: Conversation) -> None:
    root, reply = saying(whole, "shared by all carts"), saying(whole, "+1, we had")
    assert (root.thread, reply.thread) == (root.id, root.id)


def test_deleted_account_has_no_login(whole: Conversation) -> None:
    assert saying(whole, "invoice job").login is None


def test_edited_comment_has_its_latest_body(whole: Conversation) -> None:
    assert "subtracts them as well" in saying(whole, "gift cards").body


def test_states_are_found_for_ids_beyond_32_bits(whole: Conversation) -> None:
    assert min(message.id for message in whole.messages) > 2**31
    assert all(message.minimized is not None for message in whole.messages)


def test_own_comments_are_marked(whole: Conversation) -> None:
    assert saying(whole, "lint-report").is_own is True
    assert saying(whole, "gift cards").is_own is False


def test_small_pages_give_the_same_comments(whole: Conversation) -> None:
    with shop(page_limit=2) as (server, host):
        server.rules.graph_page_limit = 3
        conversation = read(host)
    assert conversation.messages == whole.messages


@pytest.mark.parametrize("path", ["pulls/7/comments", "pulls/7/reviews", "issues/7/comments"])
def test_item_repeated_on_the_next_page_counts_once(whole: Conversation, path: str) -> None:
    with shop(page_limit=2) as (server, host):
        server.faults = Places([At(pattern=path, fault=Fault(kind=Kind.REPEATED))])
        conversation = read(host)
    assert len({(message.kind, message.id) for message in conversation.messages}) == len(
        conversation.messages
    )


@pytest.mark.parametrize("path", ["pulls/7/comments", "pulls/7/reviews", "issues/7/comments"])
def test_reordered_pages_give_the_same_comments(whole: Conversation, path: str) -> None:
    with shop(page_limit=2) as (server, host):
        server.faults = Places([], shuffled=path)
        conversation = read(host)
    assert conversation.messages == whole.messages


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("graphql", Kind.STATUS),
        ("pulls/7/comments.*page=2", Kind.EMPTY),
        ("pulls/7/comments.*page=2", Kind.STATUS),
        ("pulls/7/reviews.*page=2", Kind.STATUS),
        ("issues/7/comments.*page=2", Kind.STATUS),
    ],
)
def test_request_that_always_fails_is_an_error(pattern: str, kind: Kind) -> None:
    with shop(page_limit=2) as (server, host):
        server.faults = Places([At(pattern=pattern, fault=Fault(kind=kind))])
        with pytest.raises(UnavailableError):
            read(host)


def test_transient_faults_do_not_change_the_result(whole: Conversation) -> None:
    with shop() as (server, host):
        server.faults = faults.Script(
            {
                k: Fault(kind=kind)
                for k, kind in enumerate([Kind.STATUS, Kind.CUT_INSIDE, Kind.HALF_JSON])
            }
        )
        conversation = read(host)
    assert conversation.messages == whole.messages


def test_thread_longer_than_one_page_is_read_to_its_end(whole: Conversation) -> None:
    with shop() as (server, host):
        server.rules.graph_page_limit = 1
        conversation = read(host)
    assert conversation.messages == whole.messages


LINE = LineItem(
    id=10, path="a.py", diff_hunk="@@ -1 +1 @@\n-a\n+b", line=9, start_line=7, original_line=4,
    original_start_line=2, side="RIGHT", start_side="RIGHT", subject_type="line",
    original_commit_id="a" * 40,
)  # fmt: skip


@pytest.mark.parametrize(("original", "lines"), [(False, (7, 9)), (True, (2, 4))])
def test_lines_are_at_the_head_or_at_the_original_commit(original, lines) -> None:
    message = conversation.read_line_comment(LINE, original=original)
    assert (message.start_line, message.line, message.commit) == (*lines, "a" * 40)


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        ({"subject_type": "file"}, (None, None)),
        ({"start_side": "LEFT"}, (None, 9)),
        ({"start_line": 10}, (None, 9)),
        ({"start_line": None}, (None, 9)),
    ],
)
def test_comment_without_a_range_on_one_side_has_no_first_line(changed, lines) -> None:
    message = conversation.read_line_comment(msgspec.structs.replace(LINE, **changed))
    assert (message.start_line, message.line) == lines


def test_authors_chosen_by_the_repository_are_trusted(whole: Conversation) -> None:
    trust = {message.login: message.is_trusted for message in whole.messages}
    assert trust == {
        "coderabbitai[bot]": True,
        "github-actions[bot]": True,
        "jonas-w": True,
        "mira-k": True,
        "nadia": False,
        None: False,
    }


def test_trust_is_unknown_if_the_host_gives_no_association() -> None:
    item = conversation.CommentItem(id=1, user=conversation.User(login="ada"))
    assert conversation.read_comment(item).is_trusted is None
