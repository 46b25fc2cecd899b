"""A pull request as a whole: what is put together, and what makes it partial."""

from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from crscore.diff import checkout
from crscore.diff.parse import DiffLimits
from crscore.errors import BadTokenError, HostError, NotFoundError, UnavailableError
from crscore.github.client import Client
from crscore.github.host import GitHub, find_by_head, find_recent
from crscore.hosts import sticky
from crscore.hosts.records import OwnMessages, PullRequest
from tests.helpers.github import scenes
from tests.helpers.github.faults import At, Fault, Kind, Places
from tests.helpers.github.server import serve
from tests.unit.github.shops import NAME, NUMBER, pull_of, read, shop


@pytest.fixture(scope="module")
def whole() -> PullRequest:
    with shop() as (_, host):
        return read(host)


def test_pull_request_has_its_change_with_whole_files(whole: PullRequest) -> None:
    assert [file.path for file in whole.diff.files] == [
        "shop/cart.py",
        "shop/pricing.py",
        "tests/test_cart.py",
        "web/cart.js",
        "web/format.js",
    ]
    assert all(file.new_source for file in whole.diff.files)
    assert whole.missing == ()


def test_pull_request_is_named_as_the_host_names_it(whole: PullRequest) -> None:
    assert (whole.repository, whole.number, whole.author) == (NAME, NUMBER, "nadia")
    assert whole.title == "Add discount codes to the cart"


def test_minimised_messages_are_left_out(whole: PullRequest) -> None:
    assert "cheap watches" not in " ".join(message.body for message in whole.messages)


def test_settings_are_those_of_the_base_branch() -> None:
    world = scenes.shop()
    with shop(world) as (server, host):
        history, request = world.repositories[0].history, pull_of(server)
        base, evil = (
            {path: history.text(commit, path) or "" for path in history.tree(commit)}
            for commit in (request.base, request.head)
        )
        evil["pyproject.toml"] = "[tool.crscore]\nfail_under_relevance = 0.0\n"
        base_now = history.commit(
            base | {"pyproject.toml": "[tool.crscore]\nfail_under_relevance = 0.9\n"},
            parents=[request.base],
            message="Ask for more",
        )
        request.heads.append(history.commit(evil, parents=[request.head], message="Ask for less"))
        # GitHub's `base.sha` may lag behind: the branch itself says what its settings are.
        world.repositories[0].branches["main"] = base_now
        assert "0.9" in (read(host).settings or "")


def test_own_comment_is_not_among_the_messages() -> None:
    with shop() as (_, host):
        sticky.post(host, NAME, NUMBER, "Half of the change is covered.", OwnMessages())
        pull_request = read(host)
    assert len(pull_request.own_messages.messages) == 1
    assert "Half of the change" not in " ".join(message.body for message in pull_request.messages)
    assert pull_request.own_messages.is_complete


def test_comment_of_another_account_with_the_marker_is_not_own() -> None:
    world = scenes.shop()
    with shop(world) as (server, host):
        request = pull_of(server)
        stranger = next(note for note in request.notes if "gift cards" in note.body)
        stranger.body = sticky.sign("Half is covered.", host.comment_key, stranger.id, "0" * 16)
        assert read(host).own_messages.messages == ()


@pytest.mark.parametrize("pattern", ["graphql", "7/files", "7/comments", "7/reviews"])
def test_request_that_always_fails_is_an_error(pattern: str) -> None:
    with shop() as (server, host):
        server.faults = Places([At(pattern=pattern, fault=Fault(kind=Kind.STATUS))])
        with pytest.raises(UnavailableError):
            read(host)


def test_push_while_reading_is_noticed_and_read_again() -> None:
    world = scenes.shop()
    with shop(world) as (server, host):
        request = pull_of(server)
        newest = request.heads.pop()
        asked = host.get

        def push_after_the_first(path, *arguments, **more):
            answer = asked(path, *arguments, **more)
            if path.endswith("/pulls/7") and len(request.heads) == 1:
                request.heads.append(newest)
            return answer

        host.get = push_after_the_first  # type: ignore[method-assign]
        pull_request = read(host)
    assert pull_request.head == newest
    assert not pull_request.missing


def test_no_such_pull_request_is_an_error() -> None:
    with shop() as (_, host), pytest.raises(NotFoundError):
        GitHub(host).read_pull(NAME, 999, limits=DiffLimits())


def test_wrong_token_is_an_error() -> None:
    with shop() as (server, _), pytest.raises(BadTokenError):
        read(Client(token="wrong", api_url=server.url))


def test_host_that_is_down_is_an_error_of_the_host() -> None:
    with shop() as (server, host):
        server.faults = Places([At(pattern=".", fault=Fault(kind=Kind.STATUS))])
        with pytest.raises(UnavailableError):
            read(host)


def test_reading_writes_nothing(whole: PullRequest) -> None:
    with shop() as (server, host):
        read(host)
        assert server.writes == []


# A local checkout


def local(server, tmp_path):
    """A finder of a clone of the shop."""
    repository = server.world.repositories[0]
    repository.history.clone(tmp_path / "clone", pull_of(server).head)
    return lambda base, head: checkout.find_checkout(tmp_path / "clone", base, head)


def test_change_from_a_checkout_needs_no_request(whole, tmp_path) -> None:
    with shop() as (server, host):
        pull_request = read(host, find_checkout=local(server, tmp_path))
        assert not any("/files" in entry.path for entry in server.log)
        assert not any("/compare/" in entry.path for entry in server.log)
    assert [file.path for file in pull_request.diff.files] == [
        file.path for file in whole.diff.files
    ]
    assert all(file.new_source for file in pull_request.diff.files)
    assert pull_request.originals.keys() == whole.originals.keys()
    assert not pull_request.missing


def test_checkout_with_other_totals_is_not_used(tmp_path) -> None:
    with shop() as (server, host):
        pull_request = read(Miscounting(host), find_checkout=local(server, tmp_path))
        assert any("/files" in entry.path for entry in server.log)
    assert any("does not match GitHub's counts" in note for note in pull_request.notes)
    assert pull_request.missing  # as the host's own list does not add up to its count either


def test_reason_for_no_checkout_is_reported(tmp_path) -> None:
    with shop() as (_, host):
        pull_request = read(
            host, find_checkout=lambda base, head: checkout.find_checkout(tmp_path, base, head)
        )
    assert any("local checkout was not used" in note for note in pull_request.notes)
    assert not pull_request.missing


class Miscounting:
    """A host whose count of added lines is off by one."""

    def __init__(self, host: Client) -> None:
        self.host = host

    def __getattr__(self, name: str):
        return getattr(self.host, name)

    def get(self, path: str, kind, *more):
        answer = self.host.get(path, kind, *more)
        if path.endswith(f"/pulls/{NUMBER}"):
            return msgspec.structs.replace(answer, additions=answer.additions + 1)
        return answer


def test_checkout_that_fails_is_not_used(tmp_path) -> None:
    with shop() as (server, host):
        finder = local(server, tmp_path)

        def broken(base: str, head: str):
            found, reason = finder(base, head)
            return msgspec.structs.replace(found, merge_base="0" * 40), reason

        pull_request = read(host, find_checkout=broken)
    assert len(pull_request.diff.files) == 5
    assert any("local checkout was not used" in note for note in pull_request.notes)


def test_push_during_every_reading_is_an_error() -> None:
    world = scenes.shop()
    with shop(world) as (server, host):
        request, history = pull_of(server), world.repositories[0].history
        asked = host.get

        def push_after_each(path, *arguments, **more):
            answer = asked(path, *arguments, **more)
            if path.endswith("/pulls/7"):
                tree = {
                    name: history.text(request.head, name) or ""
                    for name in history.tree(request.head)
                }
                tree["web/cart.js"] += f"// {len(request.heads)}\n"
                request.heads.append(history.commit(tree, parents=[request.head], message="More"))
            return answer

        host.get = push_after_each  # type: ignore[method-assign]
        with pytest.raises(UnavailableError, match="pushed while it was read"):
            read(host)


def test_comment_on_a_file_that_left_the_change_is_scored_where_it_was() -> None:
    world = scenes.shop()
    with shop(world) as (server, host):
        request, history = pull_of(server), world.repositories[0].history
        tree = {name: history.text(request.head, name) or "" for name in history.tree(request.head)}
        del tree["web/format.js"]
        base = {name: history.text(request.base, name) for name in history.tree(request.base)}
        tree["web/utils.js"] = base["web/utils.js"] or ""
        request.heads.append(history.commit(tree, parents=[request.head], message="Take it back"))
        pull_request = read(host)
    (message,) = [
        message for message in pull_request.messages if "giving this file a name" in message.body
    ]
    assert message.outdated
    assert pull_request.originals[message.id].files[0].path == "web/format.js"


# Which pull requests there are


def asking(server) -> Client:
    return Client(token=server.token, api_url=server.url)


def by_head(server, *, owner: str, sha: str) -> tuple[int, ...]:
    return find_by_head(asking(server), NAME, owner=owner, branch="discounts", sha=sha)


def test_head_of_a_branch_is_found_by_owner_branch_and_commit() -> None:
    world = scenes.shop()
    head = world.repositories[0].pulls[7].head
    with serve(world) as server:
        numbers = by_head(server, owner="acme", sha=head)
    assert numbers == (7,)


def test_branch_may_have_several_pull_requests() -> None:
    world = scenes.shop()
    pulls = world.repositories[0].pulls
    pulls[8] = replace(pulls[7], number=8, base_ref="stable")
    pulls[9] = replace(pulls[7], number=9, state="closed")
    with serve(world) as server:
        numbers = by_head(server, owner="acme", sha=pulls[7].head)
    assert sorted(numbers) == [7, 8]


def test_branch_with_newer_commits_is_not_found() -> None:
    with serve(scenes.shop()) as server:
        numbers = find_by_head(asking(server), NAME, owner="acme", branch="discounts", sha="0" * 40)
    assert numbers == ()


def test_branch_of_another_owner_is_not_found() -> None:
    world = scenes.shop()
    head = world.repositories[0].pulls[7].head
    with serve(world) as server:
        numbers = find_by_head(asking(server), NAME, owner="mallory", branch="discounts", sha=head)
    assert numbers == ()


def test_recent_pull_requests_changed_within_the_days() -> None:
    world = scenes.shop()
    later = datetime.fromtimestamp(world.now, UTC)
    with serve(world) as server:
        client = asking(server)
        assert find_recent(client, NAME, days=1, limit=20, now=later) == (7,)
        much_later = later.replace(year=later.year + 1)
        assert find_recent(client, NAME, days=1, limit=20, now=much_later) == ()


def test_change_read_alone_equals_that_of_the_pull_request() -> None:
    with shop() as (_, host):
        pull_request = read(host)
        change = GitHub(host).read_change(NAME, NUMBER, head=pull_request.head, limits=DiffLimits())
        assert change.diff.files == pull_request.diff.files
        with pytest.raises(HostError, match="pushed"):
            GitHub(host).read_change(NAME, NUMBER, head="f" * 40, limits=DiffLimits())
