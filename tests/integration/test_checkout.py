"""Real git repositories, friendly and not, against git's own plain output."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import textwrap
from typing import TYPE_CHECKING

import pytest

from crscore.diff import checkout, git
from crscore.diff.parse import DiffLimits
from crscore.errors import HostError
from crscore.github import changed_files
from crscore.github.changed_files import Totals
from crscore.records import FileStatus

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.diff.checkout import Checkout

LIMITS = DiffLimits()
ODD = 'dôc \t"q" 日本 b.md'
LONG = "".join(f"line {n}\n" for n in range(1, 61))


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *args: str) -> str:
        names = {
            f"GIT_{who}_{what}": "a@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        clean = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            env={**os.environ, **names, **clean},
            check=True,
            capture_output=True,
        )
        return done.stdout.decode().strip()

    def write(self, path: str, content: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        return self.git("rev-parse", "HEAD")


class Pull(Repository):
    """A base that went on after the change parted from it."""

    def __init__(self, root: Path, before: dict[str, str | bytes]) -> None:
        super().__init__(root)
        for path, content in {"other.py": "other\n", **before}.items():
            self.write(path, content)
        self.start = self.commit()
        self.write("later.py", "later\n")
        self.base = self.commit()
        self.git("checkout", "-q", "-b", "change", self.start)

    def found(self, head: str | None = None) -> Checkout:
        head = head or self.git("rev-parse", "HEAD")
        found, reason = checkout.find_checkout(self.root, self.base, head)
        assert reason == ""
        assert found is not None
        return found


@pytest.fixture
def pull(tmp_path: Path) -> Pull:
    pull = Pull(
        tmp_path / "pull",
        {
            "a.py": LONG,
            "crlf.txt": b"one\r\ntwo\r\n",
            ODD: LONG,
            "gone.py": "x = 1\n",
            "logo.png": b"\0\1\2",
            "move.py": LONG.replace("line", "move"),
            "run.sh": "echo\n",
        },
    )
    pull.write("a.py", LONG.replace("line 30\n", "line thirty\n"))
    pull.write("crlf.txt", b"one\r\nzwei\r\n")
    pull.write(ODD, LONG + "ende")
    pull.write("logo.png", b"\0\3")
    pull.write("new.py", "y = 2\n")
    pull.git("rm", "-q", "gone.py")
    pull.git("mv", "move.py", "moved.py")
    (pull.root / "run.sh").chmod(0o755)
    pull.commit()
    return pull


def test_change_is_the_one_from_where_the_branches_parted(pull: Pull) -> None:
    clone = pull.found()
    assert clone.merge_base == pull.start
    plain = pull.git("diff", "--full-index", f"{pull.base}...{clone.head}")
    assert clone.diff().decode().strip() == plain


def test_whole_files_are_those_of_the_two_commits(pull: Pull) -> None:
    clone = pull.found()
    change, notes = clone.change(LIMITS)
    assert notes == ()
    for file in change.files:
        if file.hunks and file.status is FileStatus.MODIFIED:
            for source, commit in (
                (file.old_source, clone.merge_base),
                (file.new_source, clone.head),
            ):
                shown = subprocess.run(
                    ["git", "show", f"{commit}:{file.path}"],
                    cwd=pull.root,
                    check=True,
                    capture_output=True,
                )
                assert (source or "").encode() == shown.stdout
    paths = {file.path: file for file in change.files}
    assert (paths["gone.py"].old_source, paths["gone.py"].new_source) == ("x = 1\n", "")
    assert (paths["new.py"].old_source, paths["new.py"].new_source) == ("", "y = 2\n")
    assert ODD in paths


def test_change_adds_up_with_what_git_counts(pull: Pull) -> None:
    change, _ = pull.found().change(LIMITS)
    rows = [
        line.split("\t")
        for line in pull.git("diff", "-M", "--numstat", f"{pull.base}...HEAD").splitlines()
    ]
    counted = [(int(added), int(removed)) for added, removed, *_ in rows if added != "-"]
    totals = Totals(
        files=len(rows),
        additions=sum(count for count, _ in counted),
        deletions=sum(count for _, count in counted),
    )
    assert changed_files.count_totals(change) == totals


HIDING = (
    "*.py -diff",
    "* binary",
    "*.py diff=mine",
    "a.py -text -diff",
    "[attr]dull -diff\n*.py dull",
)


@pytest.mark.parametrize("attributes", HIDING)
@pytest.mark.parametrize("where", [".gitattributes", "sub/.gitattributes"])
def test_change_cannot_hide_its_own_lines(tmp_path: Path, attributes: str, where: str) -> None:
    hiding = Pull(tmp_path / "p", {"sub/a.py": "x = 1\n"})
    hiding.write(where, attributes + "\n")
    hiding.write("sub/a.py", "x = evil()\n")
    hiding.commit()
    for driver in ("binary", "textconv", "command"):
        hiding.git("config", f"diff.mine.{driver}", "true")
    assert b"+x = evil()" in hiding.found().diff()


def test_plain_git_diff_would_let_it_hide(tmp_path: Path) -> None:
    hiding = Pull(tmp_path / "p", {"a.py": "x = 1\n"})
    hiding.write(".gitattributes", "*.py -diff\n")
    hiding.write("a.py", "x = evil()\n")
    hiding.commit()
    assert "evil" not in hiding.git("diff", f"{hiding.base}...HEAD")


def test_files_that_the_base_calls_binary_stay_so(tmp_path: Path) -> None:
    pull = Pull(tmp_path / "p", {"x.lock": "1\n", ".gitattributes": "*.lock -diff\n"})
    pull.write("x.lock", "2\n")
    pull.write(".gitattributes", "")
    pull.commit()
    files = {file.path: file for file in pull.found().change(LIMITS)[0].files}
    assert files["x.lock"].is_binary


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.external", "touch {mark}"),
        ("diff.context", "0"),
        ("diff.algorithm", "patience"),
        ("diff.renames", "false"),
        ("diff.orderFile", "/dev/null"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.ignoreSubmodules", "all"),
        ("color.ui", "always"),
        ("core.quotePath", "false"),
        ("core.fsmonitor", "touch {mark}"),
        ("core.pager", "touch {mark}"),
        ("core.hooksPath", "{hooks}"),
        ("core.abbrev", "4"),
        ("diff.srcPrefix", "x/"),
    ],
)
def test_configuration_changes_nothing_and_runs_nothing(pull: Pull, key: str, value: str) -> None:
    expected = pull.found().diff()
    mark, hooks = pull.root / "mark", pull.root / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    pull.git("config", key, value.format(mark=mark, hooks=hooks))
    assert pull.found().diff() == expected
    assert not mark.exists()


def test_work_tree_and_index_are_left_alone(pull: Pull) -> None:
    pull.write("a.py", "not committed\n")
    index = (pull.root / ".git" / "index").read_bytes()
    pull.found().change(LIMITS)
    assert (pull.root / "a.py").read_text() == "not committed\n"
    assert (pull.root / ".git" / "index").read_bytes() == index


def test_older_version_of_the_change(pull: Pull) -> None:
    older = pull.git("rev-parse", "HEAD")
    pull.write("a.py", "all else\n")
    pull.commit()
    clone = pull.found()
    plain = pull.git("diff", "--full-index", f"{pull.base}...{older}")
    assert (clone.diff_to(older) or b"").decode().strip() == plain
    assert clone.diff_to("0" * 40) is None
    assert clone.diff_to("--output=x") is None


def test_settings_come_from_the_commit_asked_for(pull: Pull) -> None:
    pull.write("pyproject.toml", "mine\n")
    pull.commit()
    clone = pull.found()
    paths = ["pyproject.toml", "."]
    assert clone.texts(clone.base, paths, LIMITS) == ({}, ())
    assert clone.texts(clone.head, paths, LIMITS) == ({"pyproject.toml": "mine\n"}, ())


def test_submodule_and_link_and_type_change(tmp_path: Path) -> None:
    pull = Pull(tmp_path / "p", {"was_file": "x\n"})
    pull.git("update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},lib")
    (pull.root / "was_file").unlink()
    (pull.root / "was_file").symlink_to("other.py")
    pull.git("add", "was_file")
    pull.git("commit", "-q", "-m", "x")
    change, _ = pull.found().change(LIMITS)
    assert any(file.is_submodule for file in change.files)
    assert changed_files.count_totals(change) == Totals(files=2, additions=2, deletions=1)


def test_change_without_files_is_empty(pull: Pull) -> None:
    assert pull.found(pull.base).change(LIMITS)[0].files == ()


def test_clone_without_the_base_commit_is_refused(pull: Pull, tmp_path: Path) -> None:
    pull.git("clone", "-q", "--depth", "1", f"file://{pull.root}", str(tmp_path / "shallow"))
    head = pull.git("rev-parse", "HEAD")
    found, reason = checkout.find_checkout(tmp_path / "shallow", pull.base, head)
    assert found is None
    assert reason


def test_shallow_clone_with_both_ends_is_used(pull: Pull, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    pull.git(
        "clone", "-q", "--depth", "2", "--no-single-branch", f"file://{pull.root}", str(shallow)
    )
    found, _ = checkout.find_checkout(shallow, pull.base, pull.git("rev-parse", "HEAD"))
    assert found is not None
    assert found.head == pull.git("rev-parse", "HEAD")


def test_partial_clone_fetches_nothing(pull: Pull, tmp_path: Path) -> None:
    partial = tmp_path / "partial"
    pull.git("config", "uploadpack.allowFilter", "true")
    pull.git("config", "uploadpack.allowAnySHA1InWant", "true")
    address = f"file://{pull.root}"
    pull.git("clone", "-q", "--no-checkout", "--filter=blob:none", address, str(partial))
    subprocess.run(["git", "config", "protocol.file.allow", "always"], cwd=partial, check=True)
    before = sorted(path.name for path in (partial / ".git" / "objects").rglob("*"))
    found, _ = checkout.find_checkout(partial, pull.base, pull.git("rev-parse", "HEAD"))
    assert found is not None
    with pytest.raises(HostError):
        found.diff()
    assert sorted(path.name for path in (partial / ".git" / "objects").rglob("*")) == before


def test_folder_that_is_not_a_repository(tmp_path: Path) -> None:
    found, reason = checkout.find_checkout(tmp_path, "a" * 40, "b" * 40)
    assert found is None
    assert "not a git repository" in reason


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    assert checkout.find_checkout(tmp_path / "none", "a" * 40, "b" * 40)[0] is None


def test_bare_repository_inside_of_a_change_is_not_taken(pull: Pull) -> None:
    bare = pull.root / "trap"
    pull.git("init", "-q", "--bare", str(bare))
    found, reason = checkout.find_checkout(bare, pull.base, pull.base)
    assert found is None
    assert "bare" in reason


@pytest.mark.parametrize(
    "name", ["main", "--output=x", "HEAD", "a" * 39, "A" * 40, "a" * 40 + "\n", ""]
)
def test_value_that_is_not_a_full_commit_hash_is_rejected(pull: Pull, name: str) -> None:
    _, reason = checkout.find_checkout(pull.root, pull.base, name)
    assert reason is not None
    assert "not a full commit hash" in reason


def test_unrelated_histories_have_no_checkout(pull: Pull) -> None:
    pull.git("checkout", "-q", "--orphan", "alone")
    head = pull.commit()
    assert "merge base" in checkout.find_checkout(pull.root, pull.base, head)[1]


def test_limits_leave_files_out_with_a_note(pull: Pull) -> None:
    change, notes = pull.found().change(DiffLimits(max_source_bytes=20))
    assert "max_source_bytes (20): 'a.py'" in "".join(notes)
    assert all(len(file.new_source or "") <= 20 for file in change.files)


def test_change_over_the_limit_is_refused(pull: Pull) -> None:
    with pytest.raises(HostError, match="more than 100 bytes"):
        pull.found().change(DiffLimits(max_diff_bytes=100))
    with pytest.raises(HostError, match="max_files"):
        pull.found().change(DiffLimits(max_files=2))


def _instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program called git before the real one."""
    real = shutil.which("git")
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = folder / "git"
    fake.write_text(textwrap.dedent(script).format(real=real))
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_folder_of_another_user_is_not_trusted(pull: Pull, tmp_path: Path, monkeypatch) -> None:
    _instead(
        tmp_path, monkeypatch, '#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n'
    )
    found, reason = checkout.find_checkout(pull.root, pull.base, pull.base)
    assert found is None
    assert "dubious ownership" in reason


def test_git_gets_no_secrets_and_none_of_gits_variables(tmp_path: Path, monkeypatch) -> None:
    for name in ("GITHUB_TOKEN", "INPUT_TOKEN", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_DIR"):
        monkeypatch.setenv(name, "hunter2")
    _instead(tmp_path, monkeypatch, "#!/bin/sh\nenv\n")
    assert "hunter2" not in git.run_git(["x"], folder=tmp_path).decode()


def test_git_that_does_not_end_is_ended(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(git, "TIMEOUT_S", 0.2)
    _instead(tmp_path, monkeypatch, "#!/bin/sh\nsleep 60 & wait\n")
    with pytest.raises(HostError, match="took longer than"):
        git.run_git(["x"], folder=tmp_path)


def test_git_that_prints_without_end_is_ended(tmp_path: Path, monkeypatch) -> None:
    _instead(tmp_path, monkeypatch, "#!/bin/sh\nexec yes\n")
    with pytest.raises(HostError, match="printed more than 10 bytes"):
        git.run_git(["x"], folder=tmp_path, max_bytes=10)


def test_machine_without_git_has_no_checkout(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "cannot be run" in checkout.find_checkout(tmp_path, "a" * 40, "a" * 40)[1]
