from pathlib import Path

from crscore import cli
from crscore.audit.posted import read_posted
from crscore.audit.store.database import Store
from crscore.audit.store.rows import CommentObservation
from tests.helpers.audit_rows import comment, pull, repository

LEAK = "The lock is never released on the early return after a failed parse."


def test_comments_of_bots_are_findings_as_posted(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    with Store(path) as store, store.transaction():
        body = store.add_text(LEAK)
        store.put([repository(1, name="o/r"), pull(7)])
        store.put(
            [
                comment(7, "Copilot", 1, body=body),
                comment(7, "Copilot", 2, body=body, side="old"),
                comment(7, "Copilot", 3, body=body, skip="limit"),
                comment(7, "ada", 4, body=body),
                comment(7, "Copilot", 5, body=body, is_review=0),
            ]
        )
    findings = read_posted(path)
    assert [(row.change, row.bot, row.text, row.line) for row in findings] == [
        ("o/r#7", "Copilot", LEAK, 3),
        ("o/r#7", "Copilot", LEAK, None),
    ]
    assert all(row.raw for row in findings)


def test_bot_cannot_take_back_what_it_posted(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    with Store(path) as store, store.transaction():
        body, edited = store.add_text(LEAK), store.add_text("Never mind.")
        store.put([repository(1, name="o/r"), pull(7)])
        store.put([comment(7, "Copilot", 1, body=edited), comment(7, "Copilot", 2, body=body)])
        for night, text, gone in (("2026-03-01", body, None), ("2026-03-02", edited, "deleted")):
            store.put([CommentObservation(comment=4, night=night, body=text, minimized=gone)])
        store.put([CommentObservation(comment=8, night="2026-03-01", minimized="outdated")])

    assert [row.text for row in read_posted(path)] == [LEAK, LEAK]


def test_bench_reads_a_store(tmp_path: Path) -> None:
    path, golden = tmp_path / "audit.db", tmp_path / "golden.jsonl"
    with Store(path) as store, store.transaction():
        store.put([repository(1, name="o/r"), pull(7)])
        store.put([comment(7, "Copilot", 1, body=store.add_text(LEAK))])
    problem = "An early return after a failed parse leaves the lock held."
    golden.write_text(f'{{"id": "o/r#7", "problems": ["{problem}"]}}', "utf-8")
    output = tmp_path / "result.json"
    words = ["bench", str(golden), str(path), "--format", "json", "-o", str(output), "-q"]
    assert cli.run([*words, "--min-f", "1"]) == 0
    assert '"hits": 1' in output.read_text("utf-8")
