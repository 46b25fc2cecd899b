from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest

from crscore.audit import learn
from crscore.audit.learn import FollowedUp
from crscore.audit.signals import Signal
from crscore.audit.store.database import Store
from crscore.audit.store.rows import SignalRow, comment_key
from crscore.errors import InputError
from crscore.hosts.records import RemarkKind
from crscore.usefulness import team
from crscore.usefulness.reading import OUTPUTS
from tests.helpers import audit_rows as rows


class Network:
    """Network whose outputs are chance, but for one that tells whether a text is on tests."""

    def read(self, texts: list[str]) -> np.ndarray:
        outputs = np.random.default_rng(len(texts)).normal(size=(len(texts), len(OUTPUTS)))
        outputs[:, OUTPUTS.index("clear")] += [6.0 * text.startswith("Test") for text in texts]
        return outputs.astype(np.float32)


@dataclass
class Reader:
    network: Network
    identity: str = "reader@1"


def history(count: int, *, follows_tests: bool) -> list[FollowedUp]:
    """Comments, three on a pull request; the team acts on those about tests, or on every second."""
    return [
        FollowedUp(
            f"1#{index // 3}",
            ("Test this." if (is_test := index % 7 < 3) else "Name this."),
            is_test if follows_tests else index % 2 == 0,
        )
        for index in range(count)
    ]


def test_habit_of_a_team_is_learned_and_kept_in_a_file(tmp_path: Path) -> None:
    learned = learn.learn(history(400, follows_tests=True), lambda: Reader(Network()))
    assert learned.low > 0
    assert learned.auc > 0.95
    assert abs(learned.shipped_auc - 0.5) < 0.2
    assert learned.comments + learned.held_out == 400
    assert 80 <= learned.held_out <= 82  # not within a pull request
    assert learn.describe(learned).endswith(": better.")
    test, name = (learned.judge(Network(), [text])[0] for text in ("Test it.", "Name it."))
    assert test > 0.5 > name
    file = tmp_path / "team.json"
    file.write_bytes(msgspec.json.encode(learned))
    assert team.read_team(file, "reader@1") == learned
    with pytest.raises(InputError, match="run crscore audit learn again"):
        team.read_team(file, "reader@2")
    file.write_text("{}")
    with pytest.raises(InputError, match="no weights of a team"):
        team.read_team(file, "reader@1")


def test_what_is_no_habit_is_not_better() -> None:
    learned = learn.learn(history(400, follows_tests=False), lambda: Reader(Network()))
    assert learned.low <= 0
    assert learn.describe(learned).endswith(": not surely better.")


@pytest.mark.parametrize(
    ("comments", "reason"),
    [
        (history(299, follows_tests=True), "of 299 comments .* it takes 300"),
        ([FollowedUp(str(at), "Test it.", True) for at in range(300)], "acted on, and others"),
    ],
)
def test_too_little_history_is_told_in_a_line(comments: list[FollowedUp], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        learn.learn(comments, lambda: Reader(Network()))


def test_only_decided_review_comments_on_closed_pulls_are_read() -> None:
    with Store(Path(":memory:")) as store:
        store.put(
            [rows.repository(), rows.pull(1, day=3), rows.pull(2), rows.pull(3, state="open")]
        )
        values = {1: (1, 1), 2: (2, 0), 3: (2, None), 4: (3, 1)}
        for host_id, (number, value) in values.items():
            body = store.add_text(f"**Text** {host_id}.")
            store.put([rows.comment(number, "otter", host_id, body=body)])
            key = comment_key(RemarkKind.LINE, host_id)
            signal = {"comment": key, "signal": Signal.ACTED_ON, "rules": 3}
            store.put([SignalRow(**signal, night="2026-03-01", value=1 - (value or 0))])
            store.put([SignalRow(**signal, night="2026-03-05", value=value)])
        assert learn.load_followed_up(store) == [
            FollowedUp("1#2", "Text 2.", False),
            FollowedUp("1#1", "Text 1.", True),
        ]
