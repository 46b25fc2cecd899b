"""Stores of audits made by rows, with a real bare repository as the clone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crscore.audit.score.nightly import find_unscored, make_tasks, score
from crscore.audit.score.pull_rows import make_scorer, score_task, signature_of
from crscore.audit.store.database import Store
from crscore.audit.store.rows import (
    AuditRun,
    Comment,
    CommentObservation,
    Pull,
    Repository,
    ThreadObservation,
    comment_key,
)
from crscore.hosts.records import MessageKind
from crscore.settings import Config
from tests.helpers.github.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.audit.score.assemble import ScoringTask
    from crscore.audit.score.pull_rows import Scored

SETTINGS: Final = Config(
    encoder="hashing", threshold=0.5, claims="structural", analyzers="none", cache=False
)
REPOSITORY = 7
NAME = "acme/shop"
NIGHT = "2026-01-02"
BOTS = ("coderabbitai[bot]", "qodo-merge-pro[bot]", "sourcery-ai[bot]")
WHEN = "2026-01-01T00:00:00Z"
_NOUNS = ("order", "invoice", "basket", "parcel", "voucher", "refund", "ticket", "stock")


def module(number: int, *, is_changed: bool, functions: int = 3) -> str:
    """Code of one module; the change adds a retry loop to each function."""
    parts = [f'"""Code of part {number}."""\n\nimport json\nimport time\n']
    for index in range(functions):
        noun = _NOUNS[(number + index) % len(_NOUNS)] + str(number * functions + index)
        body = f"    data = client.get('/{noun}', timeout=10)\n    return json.loads(data)\n"
        if is_changed:
            body = (
                f"    for attempt in range({index + 2}):\n"
                f"        data = client.get('/{noun}', timeout={20 + number})\n"
                "        if data is not None:\n"
                "            break\n"
                "        time.sleep(2 ** attempt)\n"
                f"    {noun}_count = len(data)\n"
                "    return json.loads(data)\n"
            )
        parts.append(f"\n\ndef load_{noun}(client):\n{body}")
    return "".join(parts)


class Audit:
    """A store with its clones.

    Args:
        folder: Where to make them.
        pulls: Pull requests, numbered from 1; each with the comments of `texts`.
        files: Changed files of each.
    """

    def __init__(self, folder: Path, *, pulls: int = 4, files: int = 1) -> None:
        self.folder = folder
        self.clones = folder / "clones"
        self.history = History()
        base = {f"shop/m{at}.py": module(at, is_changed=False) for at in range(files)}
        self.base = self.history.commit(base)
        with self.open() as store, store.transaction():
            store.put([Repository(id=REPOSITORY, name=NAME, state="ok")])
            for number in range(1, pulls + 1):
                changed = {
                    f"shop/m{at}.py": module(number * files + at, is_changed=True)
                    for at in range(files)
                }
                head = self.history.commit({**base, **changed}, parents=[self.base])
                store.put([self.pull(number, head)])
                self._comment(store, number, head, files)
        self.clone()

    def clone(self) -> None:
        """Copy the history to the clone."""
        target = self.clones / f"{REPOSITORY}.git"
        shutil.copytree(self.history.folder, target, dirs_exist_ok=True)

    def open(self) -> Store:
        return Store(self.folder / "audit.db")

    def pull(self, number: int, head: str, **facts: Any) -> Pull:
        row: dict[str, Any] = {
            "repository": REPOSITORY, "number": number, "node": f"P{number}",
            "title": f"Retry loading {number}", "author": "octo-cat", "state": "open",
            "created": WHEN, "updated": WHEN, "base_ref": "main", "base": self.base, "head": head,
            "pending": 0, "observed": NIGHT, "final": 0,
        }  # fmt: skip
        return Pull(**row | facts)

    def _comment(self, store: Store, number: int, head: str, files: int) -> None:
        for at, (who, body) in enumerate(texts(number)):
            path = f"shop/m{at % files}.py"
            add(store, number * 100 + at, number, who, body, commit_id=head, path=path, line=8)

    def score(self, settings: Config = SETTINGS, **options: Any) -> AuditRun:
        """Score what is new."""
        with self.open() as store:
            return score(store, self.clones, settings, **{"night": NIGHT, **options})

    def tasks(self, settings: Config = SETTINGS) -> list[ScoringTask]:
        """Return the tasks of what is new."""
        with self.open() as store:
            chosen = find_unscored(store, signature_of(make_scorer(settings)), NIGHT)
            web = "https://host.example"
            made = make_tasks(store, self.clones, settings, chosen, host=None, web=web, night=NIGHT)
            return list(made)

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return all rows that scoring writes, but the runs."""
        names = ("scores", "comment_scores", "last_scored", "signatures")
        with self.open() as store:
            return {name: sorted(store.query(f"SELECT * FROM {name}"), key=repr) for name in names}


def texts(number: int) -> list[tuple[str, str]]:
    """Comments of a pull request: a finding, a question, praise, one that restates."""
    noun = _NOUNS[number % len(_NOUNS)]
    return [
        (
            BOTS[0],
            "When every attempt fails, `data` is None and `len(data)` raises a TypeError for the "
            f"{noun}. Return early or raise after the loop.",
        ),
        (
            BOTS[1],
            "The sleep of `2 ** attempt` also runs after the last attempt, which only delays the "
            "failure. Please skip it there.",
        ),
        (BOTS[2], "Nice work, this looks great!"),
        ("ada", f"Why does the timeout of the {noun} rise to {20 + number} seconds?"),
    ]


def die_once(task: ScoringTask, settings: Config) -> Scored:
    """Score a task; the worker that first gets the third pull request is killed."""
    mark = Path(settings.cache_dir or "") / "died"
    if task.pull.number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return score_task(task, settings)


def die_always(task: ScoringTask, settings: Config) -> Scored:
    """Score a task; every worker that gets the second pull request is killed."""
    if task.pull.number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return score_task(task, settings)


def add(
    store: Store,
    host_id: int,
    number: int,
    who: str,
    body: str,
    *,
    kind: MessageKind = MessageKind.LINE,
    outdated: int = 0,
    minimized: str | None = None,
    hunk: str | None = None,
    **facts: Any,
) -> int:
    """Add a comment that starts a thread, with what was observed; return its key."""
    key = comment_key(kind, host_id)
    is_line = kind is MessageKind.LINE
    is_bot = int(who.endswith("[bot]"))
    row: dict[str, Any] = {
        "key": key, "repository": REPOSITORY, "number": number, "thread": key if is_line else None,
        "author": who, "is_app": is_bot, "reviewer": who, "is_bot": is_bot, "is_review": 1,
        "body": store.add_text(body), "hunk": None if hunk is None else store.add_text(hunk),
        "created": f"2026-01-01T{host_id // 60 % 24:02}:{host_id % 60:02}:00Z", "updated": WHEN,
        "state": "" if is_line else "COMMENTED", "side": "new" if is_line else None,
    }  # fmt: skip
    store.put([Comment(**row | facts)])
    if is_line:
        seen = {"night": NIGHT, "resolved": 0, "outdated": outdated}
        store.put([ThreadObservation(thread=key, **seen)])
    store.put([CommentObservation(comment=key, night=NIGHT, minimized=minimized)])
    return key


_SCRIPT = """
import sys
from pathlib import Path
from crscore.audit.score.nightly import score
from crscore.audit.store.database import Store
from tests.helpers.audits import NIGHT, SETTINGS

if __name__ == "__main__":
    with Store(Path(sys.argv[1])) as store:
        score(store, Path(sys.argv[2]), SETTINGS, night=NIGHT, workers=int(sys.argv[3]))
"""


def kill_scoring(folder: Path, waits: Iterable[float], *, workers: int) -> list[float]:
    """Kill runs of `score` after so many seconds, each on a fresh store, and run them again.

    Returns:
        The waits after which the store was another one than that of a run in peace.
    """
    audit = Audit(folder, pulls=8)
    shutil.copy(folder / "audit.db", folder / "fresh.db")
    audit.score()
    expected = audit.tables()
    script = folder / "run.py"
    script.write_text(_SCRIPT)
    command = [sys.executable, str(script), str(folder / "audit.db"), str(audit.clones)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    other = []
    for wait in waits:
        for suffix in ("", "-wal", "-shm"):
            (folder / f"audit.db{suffix}").unlink(missing_ok=True)
        shutil.copy(folder / "fresh.db", folder / "audit.db")
        process = subprocess.Popen([*command, str(workers)], env=environment)
        time.sleep(wait)
        process.kill()
        process.wait()
        audit.score(workers=workers)
        if audit.tables() != expected:
            other.append(wait)
    return other
