"""The command line with static analysis: real tools, real npm, the shipped example."""

import json
import re
import shutil
from pathlib import Path

import pytest

from crscore import cli

ROOT = Path(__file__).parents[2]
EXAMPLE = [str(ROOT / "examples" / name) for name in ("change.diff", "review.md")]
SOURCES = ["--source-root", str(ROOT / "examples" / "source")]
FAST = ["--encoder", "hashing"]


@pytest.fixture
def crscore(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run the command line in this process; returns code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRSCORE_CACHE_DIR", str(tmp_path / "cache"))

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def scored(crscore, *arguments: object) -> dict:
    code, out, err = crscore(*EXAMPLE, *FAST, *SOURCES, "--format", "json", *arguments)
    assert code == 0, err
    return json.loads(out)


def test_example_has_the_issue_that_a_reviewer_would_name(crscore) -> None:
    # The real encoder: it says that two tools mean the same.
    result = scored(crscore, "--analyzers", "ruff,pyscent", "--encoder", "minilm")
    issues = [reference for reference in result["references"] if reference["kind"] == "issue"]
    named = [one for one in issues if "except Exception" in one["text"]]
    assert [one["source"] for one in named] == ["pyscent+ruff"]
    assert named[0]["spans"][0]["start"] == 34
    assert result["analysis"]["coverage"] == "complete"
    assert "|analyzers:pyscent@" in result["signature"]
    assert ",ruff@" in result["signature"]


def test_without_sources_the_signature_says_partial(crscore) -> None:
    code, out, _ = crscore(*EXAMPLE, *FAST, "--analyzers", "ruff,pyscent", "--format", "json")
    assert code == 0
    result = json.loads(out)
    assert result["analysis"]["coverage"] == "partial"
    assert ",partial|" in result["signature"]


def test_none_runs_nothing(crscore) -> None:
    result = scored(crscore, "--analyzers", "none")
    assert result["analysis"] == {"coverage": "none", "tools": [], "findings": []}
    assert "|analyzers:none|" in result["signature"]


def test_missing_tool_is_named_and_the_others_run(crscore, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    arguments = ["--analyzers", "jshint,ruff", "--tools-dir", tmp_path, "--format", "json"]
    code, out, err = crscore(*EXAMPLE, *FAST, *SOURCES, *arguments)
    assert code == 0
    result = json.loads(out)
    states = {run["tool"]: run["state"] for run in result["analysis"]["tools"]}
    assert states == {"jshint": "missing", "ruff": "ran"}
    assert result["analysis"]["coverage"] == "partial"
    assert "jshint (not installed; crscore analyzers install)" in err


def test_findings_of_another_tool_come_in_as_sarif(crscore, tmp_path: Path) -> None:
    place = {"artifactLocation": {"uri": "web/cart.js"}, "region": {"startLine": 8}}
    result = {
        "ruleId": "negative-total",
        "level": "error",
        "message": {"text": "A discount above 1 makes the total negative."},
        "locations": [{"physicalLocation": place}],
    }
    tool = {"driver": {"name": "Checker", "version": "3.1"}}
    sarif = tmp_path / "checker.sarif"
    sarif.write_text(
        json.dumps({"version": "2.1.0", "runs": [{"tool": tool, "results": [result]}]})
    )
    analysis = scored(crscore, "--analyzers", "none", "--sarif", sarif)
    issues = [reference for reference in analysis["references"] if reference["kind"] == "issue"]
    assert [(one["text"], one["source"]) for one in issues] == [
        ("A discount above 1 makes the total negative.", "Checker")
    ]
    # Version and content: another file of this version is another source.
    assert re.search(r"\|analyzers:Checker@3\.1-[0-9a-f]{8}\|", analysis["signature"])


def test_invalid_sarif_file_is_one_clear_line(crscore, tmp_path: Path) -> None:
    broken = tmp_path / "broken.sarif"
    broken.write_text("{")
    code, out, err = crscore(*EXAMPLE, *FAST, "--sarif", broken)
    assert (code, out) == (3, "")
    assert err.startswith("crscore: ")
    assert str(broken) in err


def test_sarif_file_over_the_limit_is_refused(crscore, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CRSCORE_MAX_SARIF_BYTES", "10")
    large = tmp_path / "large.sarif"
    large.write_text("{" + " " * 20 + "}")
    code, _, err = crscore(*EXAMPLE, *FAST, "--sarif", large)
    assert code == 3
    assert "max_sarif_bytes is 10" in err


def test_unknown_analyzer_is_a_usage_error_that_lists_the_known(crscore) -> None:
    code, _, err = crscore(*EXAMPLE, "--analyzers", "pylnt")
    assert code == 2
    assert "'pylnt'" in err
    assert "pyscent" in err


def test_folder_without_a_manifest_is_a_usage_error(crscore, tmp_path: Path) -> None:
    (tmp_path / "mine" / "tool").mkdir(parents=True)
    (tmp_path / "mine" / "tool" / "analyzer.toml").write_text('about = "x"\nsufixes = []\n')
    code, _, err = crscore(*EXAMPLE, "--analyzers", tmp_path / "mine")
    assert code == 2
    assert "sufixes" in err


@pytest.mark.smoke
def test_every_analyzer_is_listed_ready_with_its_version(crscore) -> None:
    code, out, _ = crscore("analyzers", "--analyzers", "auto")
    assert code == 0
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    names = sorted(path.parent.name for path in (ROOT / "analyzers").glob("*/analyzer.toml"))
    assert sorted(lines) == names
    assert all(", ready: " in line for line in lines.values()), out


def test_doctor_shows_the_install_command_of_a_missing_tool(
    crscore, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    code, out, _ = crscore(
        "doctor", *FAST, "--analyzers", "jshint", "--tools-dir", tmp_path / "none"
    )
    assert code == 0
    assert "missing" in out
    assert "crscore analyzers install" in out


@pytest.mark.hosts
def test_install_gets_a_tool_of_npm_that_then_runs(crscore, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    chosen = ["--analyzers", "jshint", "--tools-dir", tools]
    code, out, err = crscore("analyzers", *chosen, "install")
    assert code == 0, err
    assert out == f"jshint: {tools / 'jshint'}\n"
    assert [path.name for path in tools.iterdir()] == ["jshint"]
    result = scored(crscore, *chosen)
    assert [run["state"] for run in result["analysis"]["tools"]] == ["ran"]
    # A second time replaces it.
    assert crscore("analyzers", *chosen, "install")[0] == 0


def test_install_of_a_tool_that_npm_does_not_have_is_a_usage_error(crscore) -> None:
    code, _, err = crscore("analyzers", "--analyzers", "auto", "install", "ruff")
    assert code == 2
    assert "'ruff'" in err


def test_install_without_npm_names_nodejs(crscore, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    code, _, err = crscore(
        "analyzers", "--analyzers", "jshint", "--tools-dir", tmp_path / "t", "install"
    )
    assert code == 3
    assert "npm is not installed" in err


def test_no_cache_leaves_no_file(crscore, tmp_path: Path) -> None:
    scored(crscore, "--analyzers", "ruff", "--no-cache")
    assert not (tmp_path / "cache").exists()


def test_analyzer_of_the_documents_works_as_written(crscore, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "analyzers.md").read_text("utf-8")
    for language, code in re.findall(r"```(python|toml)\n(.*?)```", text, flags=re.DOTALL):
        name = code.partition("\n")[0].removeprefix("# ")
        assert name.endswith({"python": ".py", "toml": ".toml"}[language])
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)
    change = tmp_path / "change.diff"
    change.write_text("--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x = 1\n+y = 2  # TODO: use it\n")
    options = ["--analyzers", "none,tools/", "--format", "json"]
    code, out, err = crscore(change, EXAMPLE[1], *FAST, *options)
    assert code == 0, err
    issues = [row for row in json.loads(out)["references"] if row["kind"] == "issue"]
    assert [(one["text"], one["spans"][0]["start"]) for one in issues] == [
        ("Something is left to do: use it.", 2)
    ]
