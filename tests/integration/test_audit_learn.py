"""`crscore audit learn` with the shipped reader, and `crscore triage` with what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crscore import cli
from crscore.audit.signals import Signal
from crscore.audit.store.database import Store
from crscore.audit.store.rows import SignalRow, comment_key
from crscore.hosts.records import RemarkKind
from tests.helpers import audit_rows as rows

ROOT = Path(__file__).parents[2]
RENAME = "Rename this variable."
LEAK = "The file is never closed."


def fill(file: Path, count: int) -> None:
    """Fill a store of a team that closes files, and keeps its names, which authors seldom do."""
    with Store(file) as store:
        bodies = [store.add_text(text) for text in (RENAME, LEAK)]
        store.put([rows.repository()])
        for number in range(1, count + 1):
            key = comment_key(RemarkKind.LINE, number)
            signal = {"signal": Signal.ACTED_ON, "night": "2026-03-02", "rules": 3}
            store.put(
                [rows.pull(number), rows.comment(number, "otter", number, body=bodies[number % 2])]
            )
            store.put([SignalRow(comment=key, value=number % 2, **signal)])


def test_triage_tells_what_the_team_acts_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "audit.db", 300)
    assert cli.run(["audit", "learn", "--store", "audit.db"]) == 0
    assert "Written to audit.db.team.json." in capsys.readouterr().out
    draft = tmp_path / "draft.json"
    draft.write_text(json.dumps([{"body": RENAME}, {"body": LEAK}]))
    arguments = [str(draft), str(ROOT / "examples" / "change.diff"), "-q", "--format", "json"]
    assert cli.run(["triage", *arguments, "--team", "audit.db.team.json"]) == 0
    rename, leak = json.loads(capsys.readouterr().out)["remarks"]
    assert leak["acted_on"] > 0.5 > rename["acted_on"]
    assert cli.run(["triage", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["remarks"][0]["acted_on"] is None


def test_short_history_is_told_and_teaches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "audit.db", 30)
    assert cli.run(["audit", "learn", "--store", "audit.db"]) == 3
    assert "of 30 comments it is known whether they were acted on" in capsys.readouterr().err
    assert not Path("audit.db.team.json").exists()
