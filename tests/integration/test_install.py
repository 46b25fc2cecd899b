"""crscore installed as a user would, from a local index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.helpers.index import serve_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[2]
EXAMPLE = [str(ROOT / "examples" / name) for name in ("change.diff", "review.md")]
BIN = Path(sys.executable).parent
# How this machine reaches its registries.
PASSED = re.compile(r"PATH|LANG|(PIP|UV|SSL|REQUESTS)_.*|.*_proxy|.*_PROXY")


class Places(NamedTuple):
    """Where a user's programs look."""

    index: str
    wheel: Path


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """A local index that has the wheels of this checkout."""
    index_folder = tmp_path_factory.mktemp("index") / "simple"
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    for name, source in (("crscore", ROOT), ("crscore-lab", ROOT / "research")):
        subprocess.run([*pip, "--wheel-dir", index_folder / name, source], check=True)
    (wheel,) = (index_folder / "crscore").glob("*.whl")
    with serve_folder(index_folder.parent) as index:
        yield Places(f"{index}/simple", wheel)


def run(places: Places, home: Path, *command: str | Path) -> str:
    """Run a command as a user with an empty home folder would; return all that it prints."""
    environment = {key: value for key, value in os.environ.items() if PASSED.fullmatch(key)}
    environment |= {"HOME": str(home), "CRSCORE_ANALYZERS": "none"}
    # Downloads of packages are shared by the tests; what is installed is not.
    environment |= {"UV_CACHE_DIR": str(home.parent / "uv-cache")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=home
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def is_score(out: str) -> bool:
    standing = r"(?i)useful: \d+ \(\d+ to \d+\), better than (?:\d+ %|nearly all) of [\d,]+ reviews"
    return re.search(standing, out) is not None


@pytest.mark.smoke
def test_pip_install_scores_and_check_is_clean(places: Places, home: Path) -> None:
    run(places, home, sys.executable, "-m", "venv", "venv")
    run(places, home, "venv/bin/pip", "install", "--quiet", places.wheel)
    assert "No broken requirements found" in run(places, home, "venv/bin/pip", "check")
    assert is_score(run(places, home, "venv/bin/crscore", *EXAMPLE))
    # The first score fetched the encoder, so the second one needs no network.
    assert is_score(run(places, home, "venv/bin/crscore", *EXAMPLE, "--offline"))
    extra = f"crscore[bench] @ {places.wheel.as_uri()}"
    run(places, home, "venv/bin/pip", "install", "--quiet", extra)
    sets = [ROOT / f"examples/bench/{name}.jsonl" for name in ("golden", "findings")]
    assert "Recall" in run(places, home, "venv/bin/crscore", "bench", *sets)


def test_lean_install_lists_each_missing_tool_once(places: Places, home: Path) -> None:
    run(places, home, BIN / "uv", "venv", "venv", "--python", sys.executable)
    python = ["--python", "venv/bin/python"]
    run(places, home, BIN / "uv", "pip", "install", *python, places.wheel)
    out = run(places, home, "venv/bin/crscore", *EXAMPLE, "--analyzers", "auto", "--format", "json")
    assert out.count("crscore: note: ") == 1
    folders = [path.parent for path in (ROOT / "analyzers").glob("*/analyzer.toml")]
    of_pip = sorted(path.name for path in folders if not (path / "package.json").exists())
    assert f"{', '.join(of_pip)} (not installed; pip install 'crscore[analyzers]')" in out
    assert "does not print its version" not in out


@pytest.mark.parametrize("extras", ["analyzers,github", "code,validate,audit,openai"])
def test_extras_install_and_check_is_clean(places: Places, home: Path, extras: str) -> None:
    run(places, home, BIN / "uv", "venv", "venv", "--python", sys.executable)
    python = ["--python", "venv/bin/python"]
    install = [BIN / "uv", "pip", "install", "--index", places.index, *python]
    run(places, home, *install, f"crscore[{extras}] @ {places.wheel}")
    assert "compatible" in run(places, home, BIN / "uv", "pip", "check", *python)
    assert is_score(run(places, home, "venv/bin/crscore", *EXAMPLE))


@pytest.mark.parametrize("beside", ["torch==2.8.0", "ruff==0.17.0", "numpy==2.0.2"])
def test_extras_can_be_solved_beside_other_versions(
    places: Places, home: Path, beside: str
) -> None:
    extras = "analyzers,code,codebert,github,st,validate"
    wanted = home / "wanted.txt"
    wanted.write_text(
        f"crscore[{extras}] @ {places.wheel.as_uri()}\ncrscore-lab[finetune]\n{beside}\n"
    )
    solved = run(
        places,
        home,
        BIN / "uv",
        "pip",
        "compile",
        "--index",
        places.index,
        "--no-header",
        "--python-version",
        "3.11",
        wanted,
    )
    assert beside in solved


@pytest.mark.parametrize("from_index", [True, False])
def test_uvx_scores(places: Places, home: Path, from_index: bool) -> None:
    source = "crscore" if from_index else str(places.wheel)
    index = ["--index", places.index] if from_index else []
    assert is_score(run(places, home, BIN / "uvx", *index, "--from", source, "crscore", *EXAMPLE))


def test_uv_tool_install_scores(places: Places, home: Path) -> None:
    run(places, home, BIN / "uv", "tool", "install", "--index", places.index, "crscore")
    assert is_score(run(places, home, home / ".local/bin/crscore", *EXAMPLE))


def test_pipx_run_scores(places: Places, home: Path) -> None:
    command = [BIN / "python", "-m", "pipx", "run", "--spec", str(places.wheel), "crscore"]
    assert is_score(run(places, home, *command, *EXAMPLE))
