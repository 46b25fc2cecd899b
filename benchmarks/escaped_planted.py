"""Check whether an audit finds which pull requests later fixes repair, on simulated histories.

    python -m benchmarks.escaped_planted [--histories 100] [--first 1] [--wrong]

Each history is a bare repository of about 90 days, made by `git fast-import`. Changes that add or
edit code are squashed, merged, rebased or pushed directly. Later changes fix their lines, or edit
them for another reason; in between, code is moved, renamed, reformatted or shifted. The truth is
known because each simulated line has an identity: the fix of a line belongs to the pull request
that wrote the line, if both are within 30 days. Some fixes do not call themselves fixes, and some
features sound like fixes. Prints precision and recall of the pairs of a fix and a pull request that
the audit finds, and of all pairs of a commit and a pull request whose lines the commit changes.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.planted_code import (
    FUNCTIONS,
    NAMES,
    Line,
    edit_line,
    function,
    git,
    reformat,
    source,
    statement,
)
from crscore.audit.score.escaped import DAYS, find_escaped
from crscore.audit.store.database import Store
from crscore.audit.store.rows import LaterChange, Pull
from crscore.statistics.intervals import wilson

START = datetime(2026, 1, 1, tzinfo=UTC)
NIGHT = "2026-06-30"
FIXES = (
    "Fix crash when the {name} is empty",
    "fix({name}): wrong {other} total",
    "Fixes the timeout of a slow {name}",
    "Hotfix: {name} without {other}",
    "bugfix for negative {other}",
    "Handle a missing {other} in {name}\n\nCloses #{n}",
    "Return an error instead of nothing\n\nResolves acme/shop#{n}",
    "Prevent double {name}s (fixes #{n})",
    "Fix regression in {name} of last week\n\nThe {other} was read twice.",
)
SILENT_FIXES = ("Correct the limit of {name}", "Handle {name} without {other}", "Oops, {other}")
"""Messages of fixes that do not call themselves fixes."""
CHANGES = (
    "Add {other} to {name}",
    "feat: {other} option for {name}",
    "Improve prefix of {name}",
    "refactor({name}): simplify",
    "Rename a parameter of {name}",
    "Speed up {name}",
    "Use fixtures for {other}",
    "Support several {other}s\n\nPart of #{n}",
    "feat({name}): {other}s\n\nCloses #{n}",
)
LOUD_CHANGES = ("Add a {name} option\n\nCloses #{n}", "Add {other} and fix the log of {name}")
"""Messages of features that sound like a fix."""
COSMETIC = ("Fix typo in {name}", "fix lint", "Fix formatting of {name}", "Fix flaky tests")


@dataclass(eq=False)
class Change:
    """Commits that reach the main branch together."""

    title: str
    author: str
    steps: list = field(default_factory=list)
    """Message of each commit, with the files after it."""
    landed: list[int] = field(default_factory=list)
    """Its commits on the main branch, if it was rebased or pushed."""
    number: int | None = None
    """Number of the pull request; None if it was pushed."""
    merge: int = 0
    """Last commit on the main branch."""
    head: int = 0
    """Last commit of the pull request's branch."""
    at: datetime = START


class Planted:
    """Simulated history. A line keeps its identity when it is moved or reformatted."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.git_dir = folder / f"{seed}.git"
        self.language = self.rng.choice(sorted(FUNCTIONS))
        self.files = {
            f"src/{name}.{self.language}": source(self.rng, self.language, self.rng.randint(3, 6))
            for name in self.rng.sample(NAMES, 4)
        }
        self.owners: dict[Line, Change] = {}
        self.changes: list[Change] = []
        self.truth: set[tuple[int, int]] = set()
        """Commit of a fix, and number of the pull request that it fixes."""
        self.touched: set[tuple[int, int]] = set()
        """Commit, and number of a pull request whose lines it changes."""
        self.kinds: dict[int, str] = {}
        self.stream: list[bytes] = []
        self.commits = 0
        self.now = START
        self.main = self.commit(self.files, [], "Start", "root", START)

    def commit(self, files, parents, message, author, written, landed=None) -> int:
        self.commits += 1
        add, data = self.stream.append, message.encode()
        add(b"commit refs/made/%d\nmark :%d\n" % (self.commits, self.commits))
        add(b"author A <%s@example.org> %d +0000\n" % (author.encode(), written.timestamp()))
        add(b"committer H <host@example.org> %d +0000\n" % (landed or written).timestamp())
        add(b"data %d\n%s\n" % (len(data), data))
        for at, parent in enumerate(parents):
            add(b"%s :%d\n" % (b"merge" if at else b"from", parent))
        add(b"deleteall\n")
        for path, lines in sorted(files.items()):
            text = "".join(f"{line.text}\n" for line in lines).encode()
            add(b"M 644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text))
        return self.commits

    def say(self, texts) -> str:
        name, other = self.rng.sample(NAMES, 2)
        return self.rng.choice(texts).format(name=name, other=other, n=self.rng.randint(100, 999))

    def change(self, kind, title, *edits, is_defect=False) -> None:
        """Make a change of some edits, each a commit, and add it to the main branch."""
        rng = self.rng
        self.now += timedelta(hours=rng.randint(6, 60))
        change = Change(title=title, author=rng.choice(("ada", "grace", "linus")), at=self.now)
        before = {path: list(lines) for path, lines in self.files.items()}
        touched: list[set[Change]] = []
        snapshots = []
        for at, edit in enumerate(edits):
            owners = edit(change)
            # Lines that this change wrote itself do not count.
            touched.append({owner for owner in owners or () if owner is not change})
            message = title if not at else rng.choice(("Fix what review says", "More", "wip"))
            copy = {path: [Line(row.text) for row in rows] for path, rows in self.files.items()}
            snapshots.append((message, copy))
        if self.files == before:
            return
        self.land(change, snapshots)
        for step, owners in enumerate(touched):
            commit = change.landed[step] if change.landed else change.merge
            self.kinds.setdefault(commit, kind)
            for owner in owners:
                if owner.number and self.now - owner.at <= timedelta(days=DAYS):
                    self.touched.add((commit, owner.number))
                    if is_defect:
                        self.truth.add((commit, owner.number))
        self.changes.append(change)

    def land(self, change, snapshots) -> None:
        rng, first = self.rng, self.main
        way = rng.choice(("squash", "squash", "merge", "rebase", "push"))
        if way != "push":
            change.number = len(self.changes) + 1
        title = (
            change.title
            if way == "push"
            else f"{change.title.partition(chr(10))[0]} (#{change.number})"
        )
        rest = change.title.partition("\n")[2]
        tip = first
        for at, (message, files) in enumerate(snapshots):
            written = self.now - timedelta(hours=5, minutes=-at)
            tip = self.commit(files, [tip], message, change.author, written)
        change.head = tip
        files = snapshots[-1][1]
        if way == "squash":
            text = f"{title}\n{rest}" if rest else title
            self.main = self.commit(files, [first], text, change.author, self.now, self.now)
        elif way == "merge":
            text = f"Merge pull request #{change.number} from acme/{rng.choice(NAMES)}"
            text += f"\n\n{change.title}"
            self.main = self.commit(files, [first, tip], text, change.author, self.now, self.now)
        else:
            for at, (message, files_then) in enumerate(snapshots):
                written = self.now - timedelta(hours=5, minutes=-at)
                arguments = (message, change.author, written, self.now)
                self.main = self.commit(files_then, [self.main], *arguments)
                change.landed.append(self.main)
        change.merge = self.main

    def lines_of(self, change) -> list[tuple[str, Line]]:
        return [
            (path, line)
            for path, lines in self.files.items()
            for line in lines
            if self.owners.get(line) is change and sum(map(str.isalnum, line.text)) > 5
        ]

    def code_file(self) -> str:
        return self.rng.choice(
            [path for path in sorted(self.files) if not path.startswith(("tests", "README"))]
        )

    # Edits: each changes the files and returns the `Change`s whose lines it edited.

    def add_code(self, change):
        path = self.code_file()
        lines = self.files[path]
        at = self.rng.choice([at for at, line in enumerate(lines) if not line.text] or [0])
        new = [Line(""), *function(self.rng, self.language)]
        lines[at:at] = new
        self.owners |= dict.fromkeys(new, change)

    def edit_old(self, change):
        """Edit two lines of any change."""
        path = self.code_file()
        lines = [line for line in self.files[path] if sum(map(str.isalnum, line.text)) > 5]
        return {self.edit(change, path, line) for line in self.rng.sample(lines, 2)} - {None}

    def edit(self, change, path, line):
        lines, owner = self.files[path], self.owners.get(line)
        at, new = lines.index(line), Line(edit_line(self.rng, line.text))
        lines[at] = new
        self.owners[new] = change
        return owner

    def polish(self, change):
        """Edit a line that the change itself wrote, before it is merged."""
        own = self.lines_of(change)
        if own:
            self.edit(change, *self.rng.choice(own))

    def edit_target(self, target):
        """Return an edit that replaces or removes lines of a change, or adds a line near them."""

        def apply(change):
            own = self.lines_of(target)
            if not own:
                return set()
            way, (path, line) = self.rng.random(), self.rng.choice(own)
            lines = self.files[path]
            at = lines.index(line)
            if way < 0.25:
                new = statement(self.rng, line)
                lines.insert(at + self.rng.randint(0, 1), new)
                self.owners[new] = change
            elif way < 0.35:
                del lines[at]
            else:
                nearby = [
                    row for row in own if row[0] == path and abs(lines.index(row[1]) - at) < 3
                ]
                for row in self.rng.sample(nearby, min(len(nearby), self.rng.choice((1, 1, 2)))):
                    self.edit(change, *row)
            return {target}

        return apply

    def undo(self, target):
        def apply(_):
            own = self.lines_of(target)
            for path, line in own:
                self.files[path].remove(line)
            return {target} if own else set()

        return apply

    def edit_next_to(self, target):
        """Return an edit of a line near those of a change, but not of that change."""

        def apply(change):
            for path, line in self.lines_of(target):
                lines = self.files[path]
                at = lines.index(line)
                for other in lines[max(0, at - 3) : at + 4]:
                    if self.owners.get(other) is target or len(other.text.strip()) < 6:
                        continue
                    if self.rng.random() < 0.7:
                        return {self.edit(change, path, other)} - {None}
                    new = statement(self.rng, other)
                    lines.insert(lines.index(other) + self.rng.randint(0, 1), new)
                    self.owners[new] = change
                    return {self.owners.get(other)} - {None}
            path = self.code_file()
            lines = [row for row in self.files[path] if self.owners.get(row) is not target]
            return {self.edit(change, path, next(row for row in lines if len(row.text) > 9))} - {
                None
            }

        return apply

    def wrap(self, _):
        """Reformat a file; the lines keep their identities."""
        path = self.code_file()
        new = []
        for line in self.files[path]:
            if line.text.strip() and self.rng.random() < 0.6:
                parts = reformat(self.rng, line)
                owner = self.owners.get(line)
                self.owners |= dict.fromkeys(parts, owner) if owner else {}
                new += parts
            else:
                new.append(line)
        self.files[path] = new

    def rename(self, _):
        path = self.code_file()
        folder = self.rng.choice(("lib", "core", "app"))
        self.files[f"{folder}/{self.rng.randint(10, 99)}_{Path(path).name}"] = self.files.pop(path)

    def move(self, _):
        """Move a function to another place or file."""
        path, target = self.code_file(), self.code_file()
        lines = self.files[path]
        blanks = [at for at, line in enumerate(lines) if not line.text]
        if len(blanks) < 3:
            return
        at = self.rng.randrange(len(blanks) - 1)
        block = lines[blanks[at] : blanks[at + 1]]
        del lines[blanks[at] : blanks[at + 1]]
        others = self.files[target]
        place = self.rng.choice([at for at, line in enumerate(others) if not line.text] or [0])
        others[place:place] = block

    def tests_and_docs(self, _):
        self.files.setdefault(f"tests/test_it.{self.language}", [Line("")]).append(
            statement(self.rng, Line(""))
        )
        self.files.setdefault("README.md", []).append(Line(self.say(FIXES).partition("\n")[0]))

    def run(self) -> None:  # noqa: C901  (one branch for each kind)
        rng = self.rng
        while self.now < START + timedelta(days=90):
            recent = [row for row in self.changes if row.number and self.lines_of(row)]
            recent = [row for row in recent if self.now - row.at < timedelta(days=27)]
            kind = rng.choices(
                ("feature", "fix", "silent fix", "loud feature", "other change", "cosmetic", "wrap",
                 "rename", "move", "fix next to it", "revert", "old fix"),
                (26, 24, 1, 1, 14, 4, 6, 4, 6, 6, 3, 4),
            )[0]  # fmt: skip
            if kind == "feature" or not recent:
                edits = [self.add_code, *rng.choice(((), (self.polish,), (self.edit_old,)))]
                self.change("feature", self.say(CHANGES), *edits)
                continue
            target = rng.choice(recent)
            edit = self.edit_target(target)
            if kind == "fix":
                more = [self.tests_and_docs] if rng.random() < 0.4 else []
                self.change(kind, self.say(FIXES), edit, *more, is_defect=True)
            elif kind == "silent fix":
                self.change(kind, self.say(SILENT_FIXES), edit, is_defect=True)
            elif kind == "revert":
                title = f'Revert "{target.title.partition(chr(10))[0]}"'
                self.change(kind, title, self.undo(target), is_defect=True)
            elif kind == "old fix":
                old = [row for row in self.changes if row not in recent and self.lines_of(row)]
                if old:
                    fix = self.edit_target(rng.choice(old))
                    self.change(kind, self.say(FIXES), fix, is_defect=True)
            elif kind == "fix next to it":
                self.change(kind, self.say(FIXES), self.edit_next_to(target), is_defect=True)
            elif kind == "cosmetic":
                self.change(kind, self.say(COSMETIC), edit)
            elif kind in ("loud feature", "other change"):
                self.change(kind, self.say(LOUD_CHANGES if kind[0] == "l" else CHANGES), edit)
            else:
                edit = {"wrap": self.wrap, "rename": self.rename, "move": self.move}[kind]
                title = {"wrap": ("Run the formatter", "Fix style"), "rename": ("Move a file",)}
                self.change(kind, rng.choice(title.get(kind, ("Move a function",))), edit)

    def write(self) -> dict[str, int]:
        """Make the repository; return hash -> number of each commit."""
        git("init", "-q", "--bare", self.git_dir)
        marks = self.git_dir / "made"
        command = ("-C", self.git_dir, "fast-import", "--quiet", f"--export-marks={marks}")
        git(*command, input_text=b"".join(self.stream))
        pairs = (line.split() for line in marks.read_text().splitlines())
        names = {int(mark[1:]): name for mark, name in pairs}
        git("-C", self.git_dir, "update-ref", "refs/heads/main", names[self.main])
        return {name: number for number, name in names.items()}


def rows(planted, repository, names):
    commits = {number: name for name, number in names.items()}
    for change in planted.changes:
        if change.number:
            at = f"{change.at:%Y-%m-%dT%H:%M:%SZ}"
            yield Pull(
                repository=repository, number=change.number, node="", title=change.title,
                state="merged", created=at, updated=at, merged=at, base_ref="main",
                base=commits[1], head=commits[change.head], merge_commit=commits[change.merge],
                pending=0, final=1,
            )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--histories", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument(
        "--wrong", action="store_true", help="print each pair that is false or missed"
    )
    arguments = parser.parse_args()
    totals: Counter = Counter()
    by_kind: Counter = Counter()
    seconds = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(arguments.first, arguments.first + arguments.histories):
            planted = Planted(seed, folder)
            planted.run()
            names = planted.write()
            with Store(folder / f"{seed}.db") as store:
                with store.transaction():
                    store.put(rows(planted, seed, names))
                start = time.perf_counter()
                find_escaped(store, folder, night=NIGHT)
                seconds += time.perf_counter() - start
                changes = store.select(LaterChange)
            joined = {(names[row.commit_id], row.number) for row in changes if row.fixes}
            touched = {(names[row.commit_id], row.number) for row in changes}
            totals["pulls"] += sum(1 for row in planted.changes if row.number)
            for label, true, measured in (
                ("fix", planted.truth, joined), ("lines", planted.touched, touched)
            ):  # fmt: skip
                totals[label, "tp"] += len(true & measured)
                totals[label, "fp"] += len(measured - true)
                totals[label, "fn"] += len(true - measured)
            for what, pairs in (
                ("right", planted.truth & joined), ("false", joined - planted.truth),
                ("missed", planted.truth - joined),
            ):  # fmt: skip
                for commit, number in pairs:
                    kind = planted.kinds.get(commit, "commit of a pull request")
                    by_kind[kind, what] += 1
                    if arguments.wrong and what != "right":
                        found = "lines found" if (commit, number) in touched else "not found"
                        where = f"seed {seed} commit {commit} pull request {number}"
                        print(f"{where}: {kind}, {what}, {found}")
            for path in planted.git_dir.rglob("*.pack"):
                path.unlink()
    print(f"{arguments.histories} histories from seed {arguments.first}, {totals['pulls']:,} pull "
          f"requests, {seconds:.0f} s")  # fmt: skip
    for label, title in (("fix", "fixes"), ("lines", "any change of lines")):
        right = totals[label, "tp"]
        print(f"{title}: {right + totals[label, 'fn']:,} simulated, {right:,} found, "
              f"{totals[label, 'fp']:,} found falsely")  # fmt: skip
        for word, other in (("precision", "fp"), ("recall", "fn")):
            share, low, high = wilson(right, right + totals[label, other])
            print(f"  {word:9}  {share:.3f}  ({low:.3f} to {high:.3f})")
    print("kind                       right  false  missed")
    for kind in sorted({kind for kind, _ in by_kind}):
        numbers = (by_kind[kind, what] for what in ("right", "false", "missed"))
        print(f"{kind:25}" + "".join(f"{number:7}" for number in numbers))


if __name__ == "__main__":
    main()
