"""Contents of a GitHub: repositories, pull requests, reviews and comments."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from tests.helpers.github.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")

FIRST_ID = 3_000_000_001
"""Past 2**31, as the ids of GitHub's comments are: GraphQL's `databaseId` cannot hold them."""
START = 1_760_000_000
"""When the first thing was written, in seconds since 1970."""


@dataclass(frozen=True, kw_only=True)
class User:
    """An account; a deleted one is None wherever a user stands."""

    login: str
    id: int
    type: str = "User"
    association: str = "CONTRIBUTOR"


@dataclass(kw_only=True)
class Thumbs:
    """Reactions to a comment."""

    up: int = 0
    down: int = 0


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check run or a status of a commit."""

    head: str
    app: str
    """Slug of the app that ran it, or login of who set the status."""
    name: str
    outcome: str | None
    """Conclusion of a run, None while it runs, or state of a status; in upper case."""
    is_status: bool = False


@dataclass(kw_only=True)
class Review:
    """A review; a PENDING one is seen by its author only."""

    id: int
    author: User | None
    state: str
    body: str
    commit: str
    at: int
    minimized: str | None = None
    thumbs: Thumbs = field(default_factory=Thumbs)


@dataclass(kw_only=True)
class LineComment:
    """A comment on the diff; `line` counts in `side` of the diff up to `commit`."""

    id: int
    review: int
    author: User | None
    body: str
    path: str
    commit: str
    at: int
    edited: int
    side: str = "RIGHT"
    line: int | None = None
    """None for a comment on a whole file."""
    start_line: int | None = None
    reply_to: int | None = None
    minimized: str | None = None
    thumbs: Thumbs = field(default_factory=Thumbs)


@dataclass(kw_only=True)
class Note:
    """A comment in the conversation."""

    id: int
    author: User | None
    body: str
    at: int
    edited: int
    minimized: str | None = None
    thumbs: Thumbs = field(default_factory=Thumbs)


@dataclass(kw_only=True)
class Pull:
    """A pull request; its commits and files are in the repository's history."""

    number: int
    title: str
    body: str | None
    author: User | None
    base: str
    """Tip of the base branch."""
    heads: list[str]
    """Every head there was, the newest last."""
    head_repository: str | None
    """`owner/name` the branch is in; None when that fork is deleted."""
    base_ref: str = "main"
    head_ref: str = "change"
    state: str = "open"
    draft: bool = False
    at: int = START
    pushed_at: int = 0
    """Time of the newest push; 0 when there was none since it was opened."""
    closed_at: int | None = None
    merged_at: int | None = None
    merge_commit: str | None = None
    checks: list[Check] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    lines: list[LineComment] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    resolved: dict[int, User] = field(default_factory=dict)
    """Id of a thread's first comment -> who resolved it."""

    @property
    def head(self) -> str:
        return self.heads[-1]

    def pending(self, viewer: User) -> set[int]:
        """Ids of the reviews that the viewer cannot see yet."""
        return {
            review.id
            for review in self.reviews
            if review.state == "PENDING" and review.author != viewer
        }


@dataclass(kw_only=True)
class Repository:
    """A repository with its history and pull requests."""

    owner: str
    name: str
    id: int = 90_000_001
    owner_type: str = "Organization"
    private: bool = False
    default_branch: str = "main"
    language: str | None = None
    history: History = field(default_factory=History)
    pulls: dict[int, Pull] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    """Branch -> sha."""
    formerly: tuple[str, ...] = ()
    """Names it had before; they lead on to it."""

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def resolve(self, ref: str) -> str | None:
        """The commit that a branch or a sha names."""
        ref = ref.removeprefix("refs/heads/")
        return self.branches.get(ref) or (ref if ref in self.history else None)


@dataclass(kw_only=True)
class Rules:
    """GitHub's limits, to be made small in a test."""

    page_limit: int = 100
    """Most items a page."""
    graph_page_limit: int = 100
    """Most nodes of a GraphQL connection in one answer."""
    file_limit: int = 3_000
    """Most rows of a file list."""
    file_patch_lines: int = 20_000
    """A file with more changed lines has counts but no patch."""
    total_patch_lines: int = 20_000
    """Once this many patch lines were listed, rows show no patch and no changes at all."""
    compare_files: int = 300
    """Most files of a comparison, all on its first page."""
    requests: int = 5_000
    """Requests an hour."""
    blob_text_bytes: int = 512_000
    """GraphQL cuts the text of a blob here and says `isTruncated`."""
    web_line_ends: bool = False
    """Comments come back as the web's forms send them: CRLF, no blanks at the end."""
    refuse_checks: bool = False
    """The token may not read checks."""
    stale_heads: int = 0
    """How many pushes the file list lags behind."""


@dataclass(kw_only=True)
class World:
    """All there is behind one address."""

    repositories: list[Repository]
    viewer: User = field(
        default_factory=lambda: User(
            login="github-actions[bot]", id=41898282, type="Bot", association="NONE"
        )
    )
    """Whose token it is."""
    permissions: str = "write"
    """Rights of the token: `write` or `read`."""
    rules: Rules = field(default_factory=Rules)
    next_id: int = FIRST_ID
    now: int = START

    def new_id(self) -> int:
        self.next_id += 7
        return self.next_id

    def tick(self) -> int:
        """A minute later than the last thing that was written."""
        self.now += 60
        return self.now

    def by_id(self, number: int) -> Repository | None:
        return _first(repository for repository in self.repositories if repository.id == number)

    def repository(self, full_name: str) -> Repository | None:
        """By name, whatever its case, as on GitHub."""
        return _first(
            repository
            for repository in self.repositories
            if repository.full_name.lower() == full_name.lower()
        )

    def note(self, repository: Repository, note_id: int) -> tuple[Pull, Note] | None:
        return _first(
            (pull, note)
            for pull in repository.pulls.values()
            for note in pull.notes
            if note.id == note_id
        )


def iso(seconds: int) -> str:
    """A time as GitHub writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _first(found: Iterable[T]) -> T | None:
    return next(iter(found), None)
