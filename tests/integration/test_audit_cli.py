"""`crscore audit` from sync to gate, on a month of a GitHub on this machine."""

from __future__ import annotations

import json
import shutil
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from benchmarks import audit_recount
from crscore import cli
from crscore.audit.store.database import Store
from tests.helpers.github import audit_demo
from tests.helpers.github.server import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMAS = Path(__file__).parents[2] / "crscore" / "schemas"
SECRET = "ghs_veryverysecrettoken123"
NAMES = ("acme/shop", "acme/billing")
PERIOD = ("--since", audit_demo.FIRST_DAY, "--until", audit_demo.LAST_DAY)
FAST = ("--analyzers", "none")
PULLS = 10


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


def of_whole_month(test: Any) -> Any:
    """Run a test on all pull requests, of which the bots' verdicts need that many."""
    return pytest.mark.hosts(
        pytest.mark.parametrize("month", [audit_demo.PULLS], indirect=True)(test)
    )


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory, request: Any) -> Iterator[Path]:
    """Folder with the store and the clones of the month, synchronised and scored."""
    folder = tmp_path_factory.mktemp("month")
    world = audit_demo.audit(getattr(request, "param", PULLS))
    with serve(world, token=SECRET) as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("GITHUB_TOKEN", SECRET)
        patch.setenv("GITHUB_API_URL", server.url)
        patch.setenv("CRSCORE_CACHE_DIR", str(folder / "cache"))
        patch.setenv("CRSCORE_AUDIT_STORE", "audit.db")
        assert cli.run(["audit", "sync", *NAMES, "--since", audit_demo.FIRST_DAY]) == 0
        assert cli.run(["audit", "score", *FAST]) == 0
        yield folder


@pytest.fixture
def audit(
    month: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> Callable[..., Ran]:
    """Run a command of the audit on a copy of the month."""
    with Store(month / "audit.db") as store:
        store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(month / "audit.db", tmp_path / "audit.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRSCORE_AUDIT_STORE", "audit.db")
    monkeypatch.setenv("CRSCORE_CACHE_DIR", str(tmp_path / "cache"))

    def run(*words: object) -> Ran:
        code = cli.run(["audit", *map(str, words)])
        captured = capsys.readouterr()
        assert SECRET not in captured.out + captured.err
        return Ran(code, captured.out, captured.err)

    return run


def overview(audit: Callable[..., Ran]) -> dict[str, Any]:
    ran = audit("report", "--format", "json", *PERIOD)
    assert ran.code == 0
    found: dict[str, Any] = json.loads(ran.out)
    jsonschema.validate(found, json.loads((SCHEMAS / "audit.schema.json").read_text("utf-8")))
    return found


def test_every_pull_request_and_reviewer_is_there(audit) -> None:
    found = overview(audit)
    assert found["pulls"] == PULLS
    assert found["pending"] == found["failed"] == 0
    names = {one["name"]: one["is_bot"] for one in found["reviewers"]}
    assert names == {
        "coderabbit": True, "copilot": True, "nitpicker": True, "scout": True,
        "jonas-w": False, "mira-k": False,
    }  # fmt: skip


@of_whole_month
def test_what_the_bots_did_is_seen(audit) -> None:
    by_name = {one["name"]: one for one in overview(audit)["reviewers"]}
    rabbit, picker = by_name["coderabbit"], by_name["nitpicker"]
    assert rabbit["coverage"]["skips"]["limit"] >= 1
    assert rabbit["coverage"]["green_unreviewed"] >= 2
    assert rabbit["coverage"]["last_head"]["count"] < rabbit["coverage"]["reviewed"]["count"]
    assert picker["comments"]["kinds"]["repeat"] > 20
    assert "repeat" not in rabbit["comments"]["kinds"]
    assert picker["comments"]["total"] > 2 * rabbit["comments"]["total"]
    assert rabbit["comments"]["fixed"] > 5
    assert rabbit["comments"]["resolved"] > 8
    assert picker["comments"]["resolved"] == 0


@of_whole_month
def test_changed_bot_is_seen_near_the_day(audit) -> None:
    by_name = {one["name"]: one for one in overview(audit)["reviewers"]}
    days = [change["day"] for change in by_name["nitpicker"]["changes"]]
    assert days
    first = int(audit_demo.FIRST_DAY[-2:])
    assert abs(int(days[0][-2:]) - first - audit_demo.CHANGED_ON) <= 3
    assert not by_name["coderabbit"]["changes"]


def test_comparison_keeps_to_its_schema_and_says_it_in_words(audit) -> None:
    found = json.loads(audit("compare", "--format", "json", *PERIOD).out)
    schema = json.loads((SCHEMAS / "audit-verdicts.schema.json").read_text("utf-8"))
    jsonschema.validate(found, schema)
    assert len(found["verdicts"]) == 6
    text = audit("compare", "coderabbit", "nitpicker", *PERIOD).out
    assert "coderabbit" in text.split("nitpicker")[0]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_documents_name_every_bot(audit, tmp_path: Path, form: str) -> None:
    assert audit("report", "--format", form, "-o", "page", *PERIOD).code == 0
    text = (tmp_path / "page").read_text("utf-8")
    assert all(name in text for name in ("coderabbit", "copilot", "nitpicker"))


def test_site_has_a_page_for_everything(audit, tmp_path: Path) -> None:
    ran = audit("report", "-o", "site", *PERIOD)
    assert ran.out.strip().endswith("index.html")
    assert len(list((tmp_path / "site" / "bots").glob("*.html"))) == 6
    assert json.loads((tmp_path / "site" / "audit.json").read_text("utf-8")) == overview(audit)


@of_whole_month
def test_each_verdict_occurs_where_it_should(audit) -> None:
    bots = [row for row in overview(audit)["reviewers"] if row["is_bot"]]
    assert {row["name"]: row["decision"]["verdict"] for row in bots} == {
        "coderabbit": "keep", "copilot": "tune", "scout": "undecided", "nitpicker": "drop",
    }  # fmt: skip


@of_whole_month
def test_page_recounted_from_the_store_is_right(audit, tmp_path: Path) -> None:
    audit("report", "-o", "site", *PERIOD)
    numbers, wrong, twice = audit_recount.recount(tmp_path / "audit.db", tmp_path / "site")
    assert len(numbers) >= 60
    assert (wrong, twice) == ({}, {})


def test_price_is_shown(audit) -> None:
    text = audit("report", "--price", "NitPicker=0.5/pull", *PERIOD).out
    assert "Price: 5.00 for 10 pull requests" in " ".join(text.split())
    assert audit("digest", "--price", "NitPicker=0.5/pull", *PERIOD).code == 0


def test_second_night_reads_and_scores_nothing_new(month: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(month)
    monkeypatch.setenv("CRSCORE_AUDIT_STORE", "audit.db")
    monkeypatch.setenv("CRSCORE_CACHE_DIR", str(month / "cache"))
    assert cli.run(["audit", "sync"]) == 0
    assert cli.run(["audit", "score", *FAST]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "0 pull requests read, 0 not completed",
        "0 pull requests scored, 0 failed",
    ]


# The gate


class _Hook(BaseHTTPRequestHandler):
    got: list[dict[str, Any]]

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).got.append(json.loads(data))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    _Hook.got = []
    server = HTTPServer(("127.0.0.1", 0), _Hook)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", _Hook.got
    server.shutdown()
    server.server_close()


def test_gate_fails_below_the_baseline_and_calls_the_webhook(audit, tmp_path: Path, hook) -> None:
    url, got = hook
    low = audit("gate", "nitpicker", "--baseline", "99", "--webhook", url, *PERIOD)
    assert low.code == 1
    assert "nitpicker: usefulness" in low.err
    assert "failed" in got[0]["text"]
    assert "nitpicker" in json.dumps(got[0]["blocks"])
    assert audit("gate", "nitpicker", "--baseline", "0", *PERIOD).code == 0


def test_digest_goes_to_the_webhook_and_has_three_formats(audit, hook) -> None:
    url, got = hook
    lines = {
        form: audit("digest", "--format", form, "--webhook", url, *PERIOD).out
        for form in ("markdown", "slack", "json")
    }
    assert got == [json.loads(lines["slack"])] * 3
    title, *rest = (line for line in lines["markdown"].splitlines() if line)
    assert 1 < len(rest) == len(json.loads(lines["json"])["lines"]) <= 9
    assert json.loads(lines["json"])["title"] in title
    assert "nitpicker: " in got[0]["blocks"][1]["text"]["text"]


def test_gate_can_ask_for_the_low_end(audit) -> None:
    low = overview(audit)["reviewers"][0]["usefulness"]["low"]
    name = overview(audit)["reviewers"][0]["name"]
    assert audit("gate", name, "--fail-under-low", f"{low + 1:.2f}", *PERIOD).code == 1
    assert audit("gate", name, "--fail-under-low", f"{low - 1:.2f}", *PERIOD).code == 0


def test_gate_is_not_applied_after_a_partial_night(audit, tmp_path: Path) -> None:
    with Store(tmp_path / "audit.db") as store:
        store.change("UPDATE runs SET partial = 'the budget is spent'")
    ran = audit("gate", "--baseline", "99", *PERIOD)
    assert ran.code == 0
    assert "no bot could be judged: the" in ran.err


def test_gate_without_a_period_before_is_not_applied(audit, tmp_path: Path) -> None:
    ran = audit("gate", *PERIOD)
    assert ran.code == 0
    assert "no bot could be judged: the earlier scores are missing" in ran.err


def test_failing_webhook_is_reported_without_its_address(audit, tmp_path: Path) -> None:
    ran = audit("gate", "--baseline", "0", "--webhook", "http://127.0.0.1:9/secret", *PERIOD)
    assert ran.code == 0
    assert "the webhook was not reached" in ran.err
    assert "secret" not in ran.err


# Bad input


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("report", "--store", "none.db"),
            "the file does not exist; crscore audit sync creates it",
        ),
        (("report", "--format", "site"), "-o site"),
        (("compare", "coderabbit", "rabbit", *PERIOD), "no review by rabbit"),
        (("report", "--price", "coderabbit=much", *PERIOD), "BOT=AMOUNT/month"),
        (("compare", "--since", "2026-02-01", "--until", "2026-01-01"), "before its start"),
        (("gate", "--baseline", "often", *PERIOD), "not 'often'"),
        (("gate", "--baseline", "101", *PERIOD), "0 to 100"),
        (("score", "--engine", "cluster"), "cluster"),
        (("sync", "acme"), "acme"),
    ],
)
def test_bad_input_is_one_clear_line(audit, words: tuple[str, ...], message: str) -> None:
    ran = audit(*words)
    assert ran.code in (2, 3)
    assert message in ran.err
    assert ran.err.count("\n") == 1
