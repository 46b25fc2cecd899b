"""`crscore pr` against a GitHub on this machine: the straight path, the gate, and bad input."""

import functools
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from crscore import cli
from crscore.hosts import http, site
from crscore.sandbox import run as sandbox
from tests.helpers.github import scenes
from tests.helpers.github.faults import At, Fault, Kind, Places
from tests.helpers.github.people import ACTIONS
from tests.helpers.github.server import Server, serve
from tests.helpers.github.writer import writer_of
from tests.helpers.model_readings import answer, remark

ROOT = Path(__file__).parents[2]
SECRET = "ghs_veryverysecrettoken123"
TARGET = "acme/shop#7"
FAST = ["--encoder", "hashing", "--no-checkout"]


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def crscore(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run the command line in this process, in an empty folder, with a token."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    monkeypatch.setenv("CRSCORE_CACHE_DIR", str(tmp_path / "cache"))

    def run(*arguments: object) -> Ran:
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert SECRET not in captured.out + captured.err
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def github() -> Iterator[Server]:
    with serve(scenes.shop(), token=SECRET) as server:
        yield server


@pytest.fixture
def pr(crscore, github: Server) -> Callable[..., Ran]:
    """Score the shop's pull request."""
    return lambda *more: crscore("pr", TARGET, "--api-url", github.url, *FAST, *more)


def notes(server: Server) -> list[str]:
    """Bodies of our comments on the pull request."""
    pull = server.world.repositories[0].pulls[7]
    return [note.body for note in pull.notes if note.body.startswith("<!-- crscore:sticky")]


def set_at(server: Server, side: str, text: str) -> None:
    """Put a settings file on the base branch, or into the change."""
    repository = server.world.repositories[0]
    pull, history = repository.pulls[7], repository.history
    commit = pull.base if side == "base" else pull.head
    files = {path: history.text(commit, path) or "" for path in history.tree(commit)}
    made = history.commit(files | {"pyproject.toml": text}, parents=[commit], message="Settings")
    if side == "base":
        repository.branches["main"] = made
    else:
        pull.heads.append(made)


# The straight path


def test_reviewers_are_scored_and_unaddressed_topics_listed(pr) -> None:
    ran = pr()
    assert ran.code == 0, ran.err
    for word in ("coderabbit (bot)", "mira-k", "jonas-w", "Together", "crscore 0."):
        assert word in ran.out


def test_author_of_the_pull_request_and_reports_of_tools_are_no_reviewers(pr) -> None:
    document = json.loads(pr("--format", "json").out)
    names = {row["name"] for row in document["reviewers"]}
    assert names == {"coderabbit", "mira-k", "jonas-w", "ghost"}


def test_requests_of_a_pull_request_are_answered_by_a_recording(
    crscore, pr, github: Server, tmp_path: Path
) -> None:
    target = tmp_path / "requests.jsonl"
    common = ("--api-url", github.url, "--analyzers", "none")
    ran = crscore("read", TARGET, *common, "--requests", target)
    assert ran.code == 0, ran.err
    requests = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert requests
    assert {row["pair"] for row in requests} == {TARGET}
    read = answer(remark("no such words"))
    rows = [json.dumps({"id": row["id"], "answer": read}) for row in requests]
    (tmp_path / "answers.jsonl").write_text("\n".join(rows), "utf-8")
    reader = ("--reader", f"replay:{tmp_path / 'answers.jsonl'}")
    scored = crscore("pr", TARGET, *common, "--no-checkout", *reader)
    assert scored.code == 0, scored.err
    assert "the recording has no answer" not in scored.err
    assert "the answer quotes no words of the comment" in scored.err


def test_requests_of_a_pull_request_take_no_option_of_a_single_change(crscore) -> None:
    ran = crscore("read", TARGET, "--requests", "-", "--path", "a.py")
    assert (ran.code, ran.out) == (2, "")
    assert "--path, --source-root and --sarif need a REVIEW" in ran.err


def test_author_option_chooses_whom_to_score(pr) -> None:
    document = json.loads(pr("--format", "json", "--author", "mira-*", "--author", "nadia").out)
    assert {row["name"] for row in document["reviewers"]} == {"mira-k", "nadia"}


def test_marker_names_a_bot_behind_a_shared_account(pr) -> None:
    document = json.loads(pr("--format", "json", "--bot-marker", "linty=<!-- lint-report").out)
    assert "linty" in {row["name"] for row in document["reviewers"]}


def test_findings_of_another_tool_come_in_and_alerts_go_out(pr, tmp_path: Path) -> None:
    place = {"artifactLocation": {"uri": "web/cart.js"}, "region": {"startLine": 9}}
    finding = {
        "message": {"text": "The comparison is too weak for prices."},
        "locations": [{"physicalLocation": place}],
    }
    given, made = tmp_path / "checker.sarif", tmp_path / "alerts.sarif"
    run = {"tool": {"driver": {"name": "Checker"}}, "results": [finding]}
    given.write_text(json.dumps({"version": "2.1.0", "runs": [run]}), encoding="utf-8")

    ran = pr("--sarif", given, "--format", "sarif", "-o", made)

    assert (ran.code, ran.out) == (0, ""), ran.err
    (alerts,) = json.loads(made.read_text("utf-8"))["runs"]
    assert alerts["automationDetails"]["id"].startswith("crscore/pull-request/")
    assert any("too weak" in result["message"]["text"] for result in alerts["results"])
    assert "too weak" not in pr("--format", "sarif").out


def test_file_that_is_not_sarif_is_one_clear_line(pr, tmp_path: Path) -> None:
    broken = tmp_path / "broken.sarif"
    broken.write_text("{", encoding="utf-8")
    ran = pr("--sarif", broken)
    assert (ran.code, ran.out) == (3, "")
    assert str(broken) in ran.err


def test_analyzers_read_no_strangers_code_without_a_sandbox(pr, monkeypatch) -> None:
    macos = functools.partial(sandbox.can_confine, "darwin", "arm64")
    monkeypatch.setattr(sandbox, "can_confine", macos)

    refused = pr("--analyzers", "ruff", "--signature")
    assert "|analyzers:partial,sandbox:none|" in refused.out
    assert "ruff (not run on untrusted code, as no sandbox works" in refused.err
    allowed = pr("--analyzers", "ruff", "--signature", "--trust")
    assert re.search(r"\|analyzers:ruff@[\d.]+,sandbox:none\|", allowed.out)
    assert "not run" not in allowed.err


def test_json_keeps_to_its_schema(pr) -> None:
    schemas = {
        name: json.loads((ROOT / "crscore" / "schemas" / f"{name}.schema.json").read_text("utf-8"))
        for name in ("pull", "result")
    }
    document = json.loads(pr("--format", "json").out)
    registry = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas.values()
    )
    jsonschema.Draft202012Validator(schemas["pull"], registry=registry).validate(document)


def test_outdated_comment_is_scored_against_its_original_hunk(pr) -> None:
    document = json.loads(pr("--format", "json").out)
    comments = document["result"]["comments"]
    rows = [comments[row["comment"]] for row in document["comments"] if row["outdated"]]
    assert {row["scope"]["kind"] for row in rows} == {"original"}
    assert all(row["scores"]["references"] > 0 for row in rows)


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_report_goes_to_a_file(pr, tmp_path: Path, form: str) -> None:
    ran = pr("--format", form, "-o", tmp_path / "report")
    assert (ran.code, ran.out) == (0, "")
    assert "mira-k" in (tmp_path / "report").read_text("utf-8")


def test_reviewer_has_the_same_scores_beside_any_others(pr) -> None:
    def row(*more: str):
        document = json.loads(pr("--format", "json", *more).out)
        (found,) = [one for one in document["reviewers"] if one["name"] == "mira-k"]
        return found

    assert row() == row("--author", "mira-k")


# The comment


def test_without_being_asked_nothing_is_written(pr, github: Server) -> None:
    pr()
    assert github.writes == []


def test_comment_is_written_once_and_then_left_alone(pr, github: Server) -> None:
    assert "comment created" in pr("--comment").err
    assert "comment unchanged" in pr("--comment").err
    # The first edit writes the comment's own id into its marker.
    assert [write.kind for write in github.writes] == ["created", "edited"]
    assert len(notes(github)) == 1


def test_comment_is_updated_after_later_reviews(pr, github: Server) -> None:
    pr("--comment")
    pull = github.world.repositories[0].pulls[7]
    pull.notes[-2].body = "Why does the new code add `format` in `web/format.js`: return `Number`?"
    assert "comment updated" in pr("--comment").err
    assert len(notes(github)) == 1


def test_comments_of_another_workflow_with_our_marker_are_left_alone(pr, github: Server) -> None:
    writer = writer_of(github.world)
    assert "comment created" in pr("--comment").err
    (own,) = notes(github)
    draft = next(write.body for write in github.writes if write.kind == "created")
    quoted = own.partition("\n")[0]
    texts = ["<!-- crscore:sticky -->\nBuild 7 passed.", f"{quoted}\nCoverage: 81 %.", own, draft]
    others = [writer.say(ACTIONS, text) for text in texts]
    writer.pull.reviews[0].body += " Why is the limit 20?"
    assert "comment updated" in pr("--comment").err
    assert [note.body for note in others] == texts
    assert all(note in writer.pull.notes for note in others)
    assert len(notes(github)) == 1 + len(texts)
    # What somebody has edited is theirs.
    next(note for note in writer.pull.notes if note.body == notes(github)[0]).body += " Done."
    assert "comment created" in pr("--comment").err


def test_own_comment_is_not_a_review(pr) -> None:
    before = json.loads(pr("--format", "json").out)
    pr("--comment")
    after = json.loads(pr("--format", "json").out)
    assert after["together"] == before["together"]


def test_read_only_token_scores_and_says_that_it_may_not_write(crscore) -> None:
    with serve(scenes.shop(), token=SECRET, permissions="read") as server:
        ran = crscore("pr", TARGET, "--api-url", server.url, *FAST, "--comment")
    assert ran.code == 0
    assert "comment refused" in ran.err
    assert "mira-k" in ran.out


def test_data_of_another_run_is_posted(pr, crscore, github: Server, tmp_path: Path) -> None:
    pr("--format", "json", "-o", tmp_path / "crscore.json")
    ran = crscore("pr", TARGET, "--api-url", github.url, "--post", tmp_path / "crscore.json")
    assert ran.code == 0
    assert "comment created" in ran.err
    direct = pr("--comment")
    assert "comment unchanged" in direct.err


def test_data_of_another_commit_is_refused(pr, crscore, github: Server, tmp_path: Path) -> None:
    pr("--format", "json", "-o", tmp_path / "crscore.json")
    set_at(github, "head", "")
    ran = crscore("pr", TARGET, "--api-url", github.url, "--post", tmp_path / "crscore.json")
    assert ran.code == 3
    assert "score the pull request again" in ran.err
    assert github.writes == []


# Settings and the gate


def test_gate_fails_with_its_own_code(pr) -> None:
    ran = pr("--fail-under-relevance", "0.99")
    assert ran.code == 1
    assert "below fail-under-relevance 0.99" in ran.err


def test_gate_applies_to_the_reviewers_named(pr) -> None:
    ran = pr("--fail-under-relevance", "0.99", "--fail-on", "nobody-here")
    assert (ran.code, "nobody-here" in ran.err) == (0, True)
    assert pr("--fail-under-relevance", "0.99", "--fail-on", "each").code == 1


def test_settings_of_the_base_branch_count(pr, github: Server) -> None:
    set_at(github, "base", "[tool.crscore]\nfail_under_relevance = 0.99\n")
    assert pr().code == 1


def test_change_cannot_set_its_own_gate(pr, github: Server) -> None:
    set_at(github, "base", "[tool.crscore]\nfail_under_relevance = 0.99\n")
    set_at(github, "head", "[tool.crscore]\nfail_under_relevance = 0.0\n")
    assert pr().code == 1


def test_settings_of_the_folder_do_not_count(pr, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.crscore]\nfail_under_relevance = 0.99\n")
    assert pr().code == 0


def test_base_branch_cannot_name_a_program(pr, github: Server) -> None:
    set_at(github, "base", '[tool.crscore]\nanalyzers = "./evil"\n')
    ran = pr()
    assert ran.code == 2
    assert "base branch" in ran.err


def test_partial_run_says_so_and_applies_no_gate(pr, github: Server) -> None:
    github.faults = Places([At(pattern="pulls/7/files", fault=Fault(kind=Kind.STALE))])
    ran = pr("--fail-under-relevance", "0.99")
    assert ran.code == 0
    assert "could not be judged" in ran.err
    assert "another commit" in ran.out


# Several, and a clone


def test_several_are_scored_and_one_that_fails_does_not_end_the_run(
    crscore, github: Server
) -> None:
    ran = crscore("pr", "acme/shop#99", TARGET, "--api-url", github.url, *FAST)
    assert ran.code == 3
    assert "acme/shop#99: " in ran.err
    assert "acme/shop#7" in ran.out


def test_several_have_no_json(crscore, github: Server) -> None:
    ran = crscore("pr", TARGET, TARGET, "--api-url", github.url, *FAST, "--format", "json")
    assert ran.code == 2
    assert "--format json is for one pull request only" in ran.err


@pytest.mark.parametrize(
    "address",
    [
        "git@github.com:acme/shop.git",
        "ssh://git@github.com:22/acme/shop",
        "ssh://git@ssh.github.com:443/acme/shop.git",
        "https://www.GitHub.com/acme/shop",
        f"https://x-access-token:{SECRET}@github.com/acme/shop.git/",
    ],
)
def test_number_alone_is_of_the_repository_of_the_clone(
    crscore, github: Server, tmp_path: Path, address: str
) -> None:
    git = functools.partial(subprocess.run, check=True, cwd=tmp_path, capture_output=True)
    git(["git", "init", "--quiet"])
    git(["git", "remote", "add", "origin", address])
    ran = crscore("pr", 7, "--api-url", github.url, *FAST)
    assert ran.code == 0, ran.err
    assert "acme/shop#7" in ran.out


def test_number_alone_in_a_forks_clone_is_upstream(crscore, github: Server, tmp_path: Path) -> None:
    git = functools.partial(subprocess.run, check=True, cwd=tmp_path, capture_output=True)
    git(["git", "init", "--quiet"])
    git(["git", "remote", "add", "origin", "git@github.com:me/shop.git"])
    git(["git", "remote", "add", "upstream", "git@github.com:acme/shop.git"])
    assert "acme/shop#7" in crscore("pr", 7, "--api-url", github.url, *FAST).out


def test_number_alone_without_a_remote_is_an_error(crscore, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    ran = crscore("pr", 7)
    assert ran.code == 2
    assert "no remote of this clone" in ran.err


def test_number_alone_is_asked_of_the_host_of_the_clone_only(crscore, tmp_path: Path) -> None:
    git = functools.partial(subprocess.run, check=True, cwd=tmp_path, capture_output=True)
    git(["git", "init", "--quiet"])
    git(["git", "remote", "add", "origin", f"https://{SECRET}@git.evil.example/acme/shop"])
    ran = crscore("pr", 7)
    assert ran.code == 2
    assert "not one of git.evil.example; give acme/shop#7" in ran.err


def test_port_of_the_clones_address_does_not_matter(
    crscore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = functools.partial(subprocess.run, check=True, cwd=tmp_path, capture_output=True)
    git(["git", "init", "--quiet"])
    git(["git", "remote", "add", "origin", "ssh://git@localhost:2222/acme/shop.git"])
    monkeypatch.setenv("GITHUB_API_URL", "http://localhost:9/api/v3")
    monkeypatch.setattr(http, "RETRIES", http.RETRIES.new(total=0))
    ran = crscore("pr", 7, *FAST)
    assert ran.code == 3, ran.err  # asked, and nobody is there


def test_another_host_needs_a_module_and_its_name(
    crscore, tmp_path: Path, github: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A host with GitHub's interface, and names of its own.
    text = """
import dataclasses, re
from crscore.github.site import SITE
target = re.compile(r"(?P<server>forge:)?(?P<repository>[a-z]+/[a-z]+)~(?P<number>[0-9]+)")
SITE = dataclasses.replace(SITE, name="Forge", form="OWNER/NAME~N", mark="~", target=target)
"""
    (tmp_path / "forge_site.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(site, "SITES", (*site.SITES, "forge_site"))
    site.all_sites.cache_clear()
    try:
        ran = crscore("pr", "acme/shop~7", "--api-url", github.url, *FAST)
    finally:
        site.all_sites.cache_clear()
    assert ran.code == 0, ran.err
    assert "coderabbit (bot)" in ran.out


# Bad input


@pytest.mark.parametrize("target", ["", "7", "acme/shop", "acme/shop#0", "acme/shop#x", "a#1"])
def test_wrong_target_is_a_usage_error(crscore, target: str) -> None:
    ran = crscore("pr", target)
    assert ran.code == 2
    assert "acme/shop#7" in ran.err


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "/",
        "/files",
        "/files#diff-1a2bR3",
        "#discussion_r1",
        "/changes",
        "/checks?check_run=1",
        "/files/1a2b3c4d..5e6f7a8b",
        "/files?diff=split&w=1#diff-1a2bR3-R9",
        "/commits/1a2b3c4d",
        "/changes/1a2b..3c4d?diff=unified#r1",
        ".diff",
        ".patch",
        "/files?file-filters%5B%5D=.py",
    ],
)
def test_page_address_is_a_target(crscore, github: Server, rest: str) -> None:
    page = f"https://github.com/acme/shop/pull/7{rest}"
    assert crscore("pr", page, "--api-url", github.url, *FAST).code == 0


def test_page_on_another_host_is_refused(crscore, github: Server, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    ran = crscore("pr", "https://ghe.example/acme/shop/pull/7", *FAST)
    assert (ran.code, "ghe.example" in ran.err) == (2, True)
    assert github.log == []


@pytest.mark.parametrize("how", ["environment", "flag"])
def test_offline_and_a_pull_request_exclude_each_other(
    pr, github: Server, monkeypatch, how: str
) -> None:
    monkeypatch.setenv("CRSCORE_OFFLINE", "1" if how == "environment" else "0")
    ran = pr(*(["--offline"] if how == "flag" else []))
    assert (ran.code, github.log) == (2, [])


def test_partial_run_fails_where_that_was_asked_for(pr, github: Server) -> None:
    github.faults = Places([At(pattern="pulls/7/files", fault=Fault(kind=Kind.STALE))])
    ran = pr("--fail-under-relevance", "0.01", "--fail-on-partial")
    assert ran.code == 1


def test_empty_fail_on_is_a_usage_error(pr) -> None:
    assert pr("--fail-under-relevance", "0.5", "--fail-on", " , ").code == 2


def test_without_reviewers_no_comment_is_written(crscore) -> None:
    with serve(scenes.shop(), token=SECRET) as server:
        pull = server.world.repositories[0].pulls[7]
        pull.lines.clear()
        pull.reviews.clear()
        pull.notes.clear()
        ran = crscore("pr", TARGET, "--api-url", server.url, *FAST, "--comment")
        assert server.writes == []
    assert ran.code == 0
    assert "no review yet" in ran.err


def test_missing_pull_request_is_one_line(crscore, github: Server) -> None:
    ran = crscore("pr", "acme/shop#999", "--api-url", github.url, *FAST)
    assert (ran.code, ran.err.count("\n")) == (3, 1)


def test_wrong_token_is_one_line(crscore, github: Server, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_wrong")
    ran = crscore("pr", TARGET, "--api-url", github.url, *FAST)
    assert (ran.code, ran.err.count("\n")) == (3, 1)


def test_marker_without_a_name_is_a_usage_error(crscore) -> None:
    assert crscore("pr", TARGET, "--bot-marker", "=x").code == 2


def test_host_that_is_not_there_is_one_line(crscore) -> None:
    ran = crscore("pr", TARGET, "--api-url", "http://127.0.0.1:9", "--wait-budget", "0", *FAST)
    assert (ran.code, ran.err.count("\n")) == (3, 1)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_what_strangers_write_commands_nothing(crscore, form: str) -> None:
    with serve(scenes.SCENES["hostile"](), token=SECRET) as server:
        repository = server.world.repositories[0]
        (number,) = repository.pulls
        ran = crscore(
            "pr", f"{repository.full_name}#{number}", "--api-url", server.url, *FAST,
            "--format", form,
        )  # fmt: skip
    assert ran.code == 0, ran.err
    for line in (ran.out + ran.err).splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "\x1b" not in line
        assert "\u202e" not in line
