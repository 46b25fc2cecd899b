"""GitLab as a code host.

Reading order: merge request -> notes -> change (local checkout, else GitLab's newest version) ->
full files -> versions that outdated notes were written on. A failed request fails the run. Data
that GitLab itself withholds (a change that is too large, files that it does not have, notes that it
counts but does not list, data that the token may not read) is recorded in `missing`, which makes
the run partial: see docs/design/016-pull-request.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from crscore.diff import full_files
from crscore.diff.checkout import Checkout
from crscore.diff.parse import DiffLimits
from crscore.errors import (
    BadTokenError,
    CRScoreError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    UnavailableError,
)
from crscore.gitlab import notes, versions
from crscore.gitlab.client import Client
from crscore.gitlab.versions import DiffRefs, MergeRequest, read_file, read_version, request_path
from crscore.hosts import outdated_hunks, sticky
from crscore.hosts.host import SETTINGS_FILE, FindCheckout, Head, no_checkout
from crscore.hosts.listed_files import add_full_files
from crscore.hosts.records import Change, HostMessage, MessageKind, OwnMessages, PullRequest
from crscore.hosts.sticky import Posted
from crscore.records import ChangedFile, Diff
from crscore.text import count_noun

_REFUSED: Final = (BadTokenError, NotFoundError, PermissionDeniedError)
"""Errors for data that the token may not read; a job's token may read very little."""
# In a note, GitLab executes a line that starts with `/` as a quick action, with the rights of the
# note's author, and makes `!7` a link: https://docs.gitlab.com/user/project/quick_actions/
_COMMAND: Final = re.compile(r"^([ \t]*)/(?=\w)", re.M)
# "!7", a merge request; not "!important"
_REFERENCE: Final = re.compile(r"!(?=\d)")


class _Job(msgspec.Struct, frozen=True):
    user: notes.User


@dataclass(frozen=True, slots=True)
class GitLab:
    """`Host` of a GitLab server."""

    client: Client

    def read_pull(
        self,
        repository: str,
        number: int,
        *,
        limits: DiffLimits,
        find_checkout: FindCheckout = no_checkout,
    ) -> PullRequest:
        """Read a merge request: see `Host`."""
        path = request_path(repository, number)
        request = self.client.get(path, MergeRequest)
        # The lists may change while they are read; then everything is read a second time. If notes
        # are still unlisted after that, the run is partial. If commits are pushed during the
        # second reading, the run fails.
        for is_last in (False, True):
            refs = _get_refs(request)
            conversation, listed, knows_own, hints = self._read_conversation(path, request)
            entries = self.client.pages(f"{path}/versions", versions.Entry)
            checkout, reason = find_checkout(refs.start_sha, refs.head_sha)
            change = self._read_change(path, refs, entries, checkout, reason, limits)
            before, request = request, self.client.get(path, MergeRequest)
            unlisted = request.describe_unlisted(listed)
            if request.diff_refs == before.diff_refs and (is_last or not unlisted):
                break
            if is_last:
                reason = "new commits were pushed while it was read"
                raise UnavailableError(f"{repository}!{number}", reason)
        change = self._add_files(repository, refs.head_sha, change, limits)
        existing = sticky.find_own(conversation, self.client.comment_key)
        messages = tuple(
            outdated_hunks.mark_outdated(message, change.diff)
            for message in conversation
            if message not in existing
        )
        originals, older_notes = self._read_outdated(path, entries, messages, checkout, limits)
        return PullRequest(
            repository=repository,
            number=number,
            title=before.title,
            url=before.web_url,
            author=before.author.username if before.author else None,
            base=refs.start_sha,
            head=refs.head_sha,
            diff=change.diff,
            messages=messages,
            originals=originals,
            missing=(*change.missing, *[f"{unlisted}."] * bool(unlisted)),
            notes=(*change.notes, *hints, *older_notes),
            checkout=checkout,
            settings=self._read_settings(repository, before.target_branch),
            own_messages=OwnMessages(existing, knows_own and not unlisted),
        )

    def read_change(self, repository: str, number: int, *, head: str, limits: DiffLimits) -> Change:
        """Read only the change: see `Host`."""
        path = request_path(repository, number)
        refs = _get_refs(self.client.get(path, MergeRequest))
        if refs.head_sha != head:
            raise HostError(f"{repository}!{number}", "new commits were pushed after it was read")
        entries = self.client.pages(f"{path}/versions", versions.Entry)
        change = self._read_change(path, refs, entries, None, "", limits)
        return self._add_files(repository, head, change, limits)

    def read_head(self, repository: str, number: int) -> Head:
        """Read the current head: see `Host`."""
        request = self.client.get(request_path(repository, number), MergeRequest)
        return Head(repository, request.sha or "", request.web_url)

    def read_reviews(self, repository: str, number: int) -> tuple[Head, tuple[HostMessage, ...]]:
        """Read the notes, each with the newest commit at the time of writing: see `Host`.

        GitLab updates the position of a note with each push, so the response does not contain the
        commit that the note was written on.
        """
        path = request_path(repository, number)
        entries = self.client.pages(f"{path}/versions", versions.Entry)
        discussions = self.client.pages(f"{path}/discussions", notes.Discussion)
        # A version is created by a push, so its time shows which notes are later than the push.
        pushes = sorted((entry.created_at, entry.head_commit_sha) for entry in entries)
        url = f"{self.client.url}/{repository}/-/merge_requests/{number}"
        head = Head(repository, pushes[-1][1] if pushes else "", url)
        members, _ = self._read_members(path)
        triples = notes.read_notes(discussions, url=head.url, head=head.sha, members=members)
        messages = [
            replace(
                message,
                kind=MessageKind.REVIEW if message.path is None else message.kind,
                commit=next((sha for at, sha in reversed(pushes) if at <= message.created), None),
            )
            for discussion, note, message in triples
            # All but the first note of a discussion are replies.
            if note.id == discussion.notes[0].id
        ]
        return head, tuple(messages)

    def read_own(self, repository: str, number: int) -> OwnMessages:
        """Read crscore's own notes: see `Host`."""
        path = request_path(repository, number)
        request = self.client.get(path, MergeRequest)
        conversation, listed, knows_own, _ = self._read_conversation(path, request)
        current = self.client.get(path, MergeRequest)
        unlisted = current.describe_unlisted(listed)
        messages = sticky.find_own(conversation, self.client.comment_key)
        return OwnMessages(messages, knows_own and not unlisted)

    def post_to(self, repository: str, number: int, body: str, existing: OwnMessages) -> Posted:
        """Create or update crscore's note: see `Host`."""
        return sticky.post(self.client, repository, number, escape_commands(body), existing)

    def _read_conversation(
        self, path: str, request: MergeRequest
    ) -> tuple[list[HostMessage], int, bool, list[str]]:
        """Read the notes that people and bots wrote on a merge request.

        Returns:
            The messages; the number of notes that GitLab lists, including internal notes; whether
            it is known which messages are crscore's own; and sentences for the report about what
            could not be read or was left out.
        """
        discussions = self.client.pages(f"{path}/discussions", notes.Discussion)
        account, why_unknown = self._read_account()
        members, reason = self._read_members(path)
        hints = [reason] if reason else []
        items = [note for discussion in discussions for note in discussion.notes if not note.system]
        triples = notes.read_notes(
            discussions,
            url=request.web_url,
            head=request.sha or "",
            account=account,
            members=members,
        )
        messages = [message for *_, message in triples]
        if why_unknown and any(m.body.lstrip().startswith(sticky.MARKER) for m in messages):
            hints.append(f"crscore's own notes could not be identified ({why_unknown}).")
        # The result may be posted where people without access to internal notes can read it.
        internal = sum(map(notes.is_internal, items))
        if internal:
            left_out = count_noun(internal, "internal note")
            hints.append(f"Left out: {left_out}, because the result may be public.")
        messages.sort(key=lambda message: (message.created, message.kind.value, message.id))
        return messages, len(items), account is not None, hints

    def _read_members(self, path: str) -> tuple[frozenset[int] | None, str]:
        """Return the ids of the project's members and "", or None and a sentence with the reason.

        Source: https://docs.gitlab.com/api/project_members/
        """
        # `all` includes the members of the groups that the project is in.
        address = f"{path.partition('/merge_requests/')[0]}/members/all"
        try:
            members = self.client.pages(address, notes.User)
        except _REFUSED as exc:
            return None, (
                "In gates, comments by people who are not members count too, because the project's "
                f"members could not be read ({exc.reason})."
            )
        return frozenset(member.id for member in members), ""

    def _read_account(self) -> tuple[int | None, str]:
        """Return the id of the signed-in account and "", or None and why the id is unknown."""
        if not self.client.is_signed_in:
            return None, "there is no token"
        try:
            # A job acts as the user who started it; its token may read little else:
            # https://docs.gitlab.com/ci/jobs/ci_job_token/
            if self.client.is_job:
                return self.client.get("/job", _Job).user.id, ""
            return self.client.get("/user", notes.User).id, ""
        except _REFUSED as exc:
            return None, exc.reason

    def _read_change(
        self,
        path: str,
        refs: DiffRefs,
        entries: Sequence[versions.Entry],
        checkout: Checkout | None,
        reason: str,
        limits: DiffLimits,
    ) -> Change:
        """Read the change from the checkout or from GitLab's newest version.

        `reason` says why there is no checkout; "" if none was expected.
        """
        # If head and merge base are the same, the checkout has the change that GitLab shows.
        if checkout is not None and checkout.merge_base == refs.base_sha:
            try:
                diff, local_notes = checkout.change(limits)
                return Change(diff, (), local_notes)
            except CRScoreError as exc:
                reason = str(exc)
        elif checkout is not None:
            reason = "its merge base differs from GitLab's"
        unused = (f"The local checkout was not used: {reason}.",) if reason else ()
        # After the target branch moved, several versions have this head, with different bases.
        ids = [
            entry.id
            for entry in entries
            if (entry.head_commit_sha, entry.base_commit_sha) == (refs.head_sha, refs.base_sha)
        ]
        if not ids:
            raise UnavailableError(f"GET {path}/versions", "the newest version is not listed yet")
        version = read_version(self.client, path, max(ids))
        change = versions.convert_version(version, limits)
        return change._replace(notes=(*unused, *change.diff.notes))

    def _add_files(self, repository: str, head: str, change: Change, limits: DiffLimits) -> Change:
        """Add the full files at the head, unless a checkout has already provided them."""
        if any(file.new_source is not None for file in change.diff.files):
            return change
        texts: dict[str, str | None] = {}
        for path in full_files.list_needed(change.diff, limits)[0]:
            with suppress(NotFoundError):
                data = read_file(self.client, repository, path, head)
                texts[path] = None if b"\0" in data else data.decode("utf-8", "replace")
        full = add_full_files(change.diff, texts, limits)
        return Change(full.diff, (*change.missing, *full.missing), (*change.notes, *full.notes))

    def _read_settings(self, repository: str, branch: str) -> str | None:
        try:
            # The settings are read from the branch, because the base of the change can be older.
            return read_file(self.client, repository, SETTINGS_FILE, branch).decode()
        except NotFoundError:
            return None
        except UnicodeDecodeError as exc:
            raise HostError(f"{SETTINGS_FILE} of {branch}", "it is not a text file") from exc

    def _read_outdated(
        self,
        path: str,
        entries: Sequence[versions.Entry],
        messages: Sequence[HostMessage],
        checkout: Checkout | None,
        limits: DiffLimits,
    ) -> tuple[Mapping[int, Diff], tuple[str, ...]]:
        # GitLab lists the newest version first, so of several with one head the newest is used.
        ids = {entry.head_commit_sha: entry.id for entry in reversed(entries)}

        def read_files(commit: str) -> tuple[ChangedFile, ...]:
            if commit not in ids:
                raise NotFoundError(f"GET {path}/versions", "no version has this commit")
            version = versions.convert_version(read_version(self.client, path, ids[commit]), limits)
            return version.diff.files

        local = checkout.diff_to if checkout else None
        return outdated_hunks.read_outdated_hunks(messages, read_version=read_files, local=local)


def escape_commands(body: str) -> str:
    r"""Change commands and references in a text so that GitLab does not execute or link them.

    Example:
        >>> escape_commands("a /b\n/merge\n  /close see !7")
        'a /b\n\\/merge\n  \\/close see !\u200b7'
    """
    return _REFERENCE.sub("!\u200b", _COMMAND.sub(r"\1\\/", body))


def _get_refs(request: MergeRequest) -> DiffRefs:
    """Return the commits of the change, which GitLab computes some time after a push."""
    if request.diff_refs is None:
        raise HostError(request.web_url, "GitLab has not computed the change yet; try again later")
    return request.diff_refs
