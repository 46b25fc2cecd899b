"""Describes GitLab to `hosts.site`: the forms of names and addresses, and the clients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.hosts.records import MessageKind
from crscore.hosts.site import PAGE, Connection, Site
from crscore.settings import variable

if TYPE_CHECKING:
    from crscore.gitlab.client import Client
    from crscore.hosts.feed import Feed
    from crscore.hosts.host import Host


def _web_address(api_url: str | None) -> str:
    address = api_url or variable("GITLAB_URL", "CI_SERVER_URL") or "https://gitlab.com"
    return address.rstrip("/")


# The variables of a job (`CI_...`): https://docs.gitlab.com/ci/variables/predefined_variables/
def _token() -> str | None:
    token = variable("GITLAB_TOKEN", "CI_JOB_TOKEN")
    return token and token.strip()


def _make_client(connection: Connection) -> Client:
    from crscore.gitlab.client import Client  # noqa: PLC0415  (so that --help answers at once)

    return Client(
        token=_token(),
        is_job=variable("GITLAB_TOKEN") is None and variable("CI_JOB_TOKEN") is not None,
        url=_web_address(connection.api_url),
        certificates=variable("CI_SERVER_TLS_CA_FILE"),
        **connection.options(),
    )


def _make_host(connection: Connection) -> Host:
    from crscore.gitlab.host import GitLab  # noqa: PLC0415  (so that --help answers at once)

    return GitLab(_make_client(connection))


def _make_feed(connection: Connection) -> Feed:
    from crscore.gitlab.feed import GitLabFeed  # noqa: PLC0415  (so that --help answers at once)

    return GitLabFeed(_make_client(connection))


SITE: Final = Site(
    name="GitLab",
    form="GROUP/PROJECT!N",
    variable="GITLAB_URL",
    mark="!",
    pull_path="/-/merge_requests/",
    # `group/subgroup/project!7`, `https://host/path/group/project/-/merge_requests/7/diffs#note_1`
    target=re.compile(
        r"(?:https?://(?P<server>[\w.:-]+)/)?(?P<repository>[\w.-]+(?:/[\w.-]+){1,20}?)"
        rf"(?:!|/(?:-/)?merge_requests/)(?P<number>[1-9]\d{{0,8}}){PAGE}",
        re.ASCII,
    ),
    allows_nested_groups=True,
    commit_form="/diffs?commit_id={commit}",
    # The form has no lines, because an anchor needs both the old and the new number of a line.
    file_form="/diffs#{sha1}",
    comment_forms={
        MessageKind.LINE: "#note_{number}",
        # An approval has no anchor on the page of the merge request.
        MessageKind.REVIEW: "",
        MessageKind.CONVERSATION: "#note_{number}",
    },
    branch_commit_form="/-/commit/{commit}",
    web=_web_address,
    token=_token,
    aliases={"altssh.gitlab.com": "gitlab.com"},
    make_host=_make_host,
    make_feed=_make_feed,
)
