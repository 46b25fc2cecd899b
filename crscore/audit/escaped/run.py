"""Search for later commits that change lines of merged pull requests, night by night."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Final

from crscore.audit.escaped import history
from crscore.audit.escaped.history import Landing, Origin
from crscore.audit.escaped.mentions import Matcher, find_mentions
from crscore.audit.signals.trees import Trees, open_trees
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pulls_to_follow
from crscore.audit.store.rows import Followed, LaterChange, Pull
from crscore.audit.sync.clones import clone_path
from crscore.errors import HostError

DAYS: Final = 30
"""Days after the merge in which a later commit counts."""
MISSING: Final = "the merge is not on its branch"
MAX_CHARS: Final = 2_000
"""Characters of a commit's message that are stored."""
_MAX_REBASED: Final = 100
"""Commits before a merge among which those of a rebase are searched."""


def find_escaped(store: Store, clones: Path, *, night: str, matcher: Matcher | None = None) -> int:
    """Find the later commits that change lines of each merged pull request.

    A commit of more than `history.MAX_FILES` files of code is no single change and does not count.

    Args:
        store: The store.
        clones: Folder of the bare clones.
        night: Date of the run.
        matcher: Compares comments with the messages of the commits; None when there is none.

    Returns:
        Number of commits, counted once for each pull request whose lines they change.

    Raises:
        StoreError: The store cannot be read or written.
    """
    stored = 0
    pulls = pulls_to_follow(store, DAYS)
    for (repository, base_ref), group in groupby(pulls, lambda row: (row.repository, row.base_ref)):
        search = _Search(store, clone_path(clones, repository), list(group), matcher)
        try:
            stored += search.run(base_ref)
            reasons, tip = search.reasons, search.landings[0].commit
        except HostError as exc:
            reasons, tip = dict.fromkeys(range(len(search.pulls)), exc.reason), None
        with store.transaction():
            for index, pull in enumerate(search.pulls):
                # What cannot be followed is followed from the same commit another night.
                reason, before = reasons.get(index), search.followed.get(pull.number)
                last = tip if reason is None else before.tip if before else None
                key = {"repository": repository, "number": pull.number}
                store.put([Followed(**key, night=night, tip=last, reason=reason)])
    return stored


class _Search:
    """Search on one branch.

    Args:
        store: The store.
        git_dir: The clone.
        pulls: Pull requests that were merged into the branch, by time.
        matcher: Compares comments with messages.
    """

    def __init__(
        self, store: Store, git_dir: Path, pulls: Sequence[Pull], matcher: Matcher | None
    ) -> None:
        self.store, self.git_dir, self.pulls, self.matcher = store, git_dir, pulls, matcher
        followed = store.find(Followed, repository=pulls[0].repository)
        self.followed = {row.number: row for row in followed}
        self.reasons: dict[int, str] = {}
        """Why pull requests cannot be followed, by index."""
        self.landings: Sequence[Landing] = ()
        """Commits of the branch, the newest first."""
        self.owners: dict[str, int] = {}
        """Index of the pull request of a commit."""

    def run(self, base_ref: str) -> int:
        """Store what is new; return the number of commits, by pull request.

        Raises:
            HostError: git failed, or there is no such clone, branch or merge.
        """
        trees = open_trees(self.git_dir)
        if trees is None:
            raise HostError("git", "there is no clone")
        before = self._read(trees, base_ref)
        positions = {row.commit: at for at, row in enumerate(self.landings)}
        waiting = self._waiting(positions)
        reformatted: list[str] = []
        stored = 0
        first = max(positions[commit] for commit in self.owners)
        # From the oldest on: what only reformatted lines is known before what then changed them.
        later = self.landings[:first][::-1] if waiting else ()
        for landing, files in history.read_changes(self.git_dir, later):
            hunks = history.real_hunks(files)
            if not any(hunks):
                reformatted += [landing.commit] if files else []
                continue
            indices = waiting.get(positions[landing.commit])
            if not indices:
                continue
            bounds = history.Bounds(before, positions, reformatted)
            try:
                origins = history.find_origins(self.git_dir, landing, files, hunks, bounds)
            except HostError as exc:
                self.reasons |= dict.fromkeys(indices, exc.reason)
                continue
            lines: dict[int, list[Origin]] = defaultdict(list)
            for origin in origins:
                lines[self.owners.get(origin.commit, -1)].append(origin)
            for index in sorted(lines.keys() & indices):
                self._attribute(trees, self.pulls[index], landing, lines[index])
                stored += 1
            trees.forget()
        return stored

    def _read(self, trees: Trees, base_ref: str) -> str | None:
        """Read the branch; return the newest commit that is left out."""
        pulls, tip = self.pulls, history.branch_tips(self.git_dir).get(base_ref)
        if tip is None:
            raise HostError("git", "the branch is gone")
        stored = trees.find_known(name for row in pulls for name in (row.merge_commit, row.head))
        merges = {
            row.merge_commit: at for at, row in enumerate(pulls) if row.merge_commit in stored
        }
        if not merges:
            raise HostError("git", MISSING)
        before = history.ancestor(self.git_dir, next(iter(merges)) or "", _MAX_REBASED)
        self.landings = history.read_branch(self.git_dir, tip, before)
        self.owners = {
            row.commit: merges[row.commit] for row in self.landings if row.commit in merges
        }
        if not self.owners:
            raise HostError("git", MISSING)
        heads = history.read_signers(
            self.git_dir, {row.head for row in pulls if row.head in stored}
        )
        for at, landing in enumerate(self.landings):
            index = merges.get(landing.commit)
            # After a rebase, the host calls the last of its commits the merge.
            is_last = index is not None and heads.get(pulls[index].head) == landing.signer
            if index is None or not is_last or not landing.parent:
                continue
            head, base = pulls[index].head, landing.parent
            signers = history.read_signers(self.git_dir, [head], base).values()
            for earlier in self.landings[at + 1 :]:
                if earlier.signer not in signers:
                    break
                self.owners.setdefault(earlier.commit, index)
        return before

    def _waiting(self, positions: Mapping[str, int]) -> dict[int, set[int]]:
        """Return the pull requests that each commit is new to, by positions."""
        waiting: dict[int, set[int]] = defaultdict(set)
        for index, pull in enumerate(self.pulls):
            merge, followed = positions.get(pull.merge_commit or ""), self.followed.get(pull.number)
            if merge is None:
                self.reasons[index] = MISSING
                continue
            until = datetime.fromisoformat(pull.merged or "") + timedelta(days=DAYS)
            new = positions.get(followed.tip or "", merge) if followed else merge
            for at in range(min(new, merge)):
                if datetime.fromisoformat(self.landings[at].at) <= until:
                    waiting[at].add(index)
        return waiting

    def _attribute(
        self, trees: Trees, pull: Pull, landing: Landing, lines: Sequence[Origin]
    ) -> None:
        """Store a commit that changes lines of a pull request, with the comments on it."""
        message = landing.message[:MAX_CHARS]
        path, line = min((row.path, row.line) for row in lines)
        mentions = find_mentions(
            self.store, trees, pull, landing.commit, message, lines, self.matcher
        )
        with self.store.transaction():
            change = LaterChange(
                repository=pull.repository, number=pull.number, landed=landing.commit,
                at=landing.at, fixes=int(history.is_fix(landing.message)), path=path, line=line,
                message=self.store.add_text(message), lines=len(lines),
                compared=int(self.matcher is not None),
            )  # fmt: skip
            self.store.put([change, *mentions])
