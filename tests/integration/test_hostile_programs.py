"""No hostile program passes, and none leaves anything behind."""

from __future__ import annotations

import contextlib
import shutil
import socket
import time
from pathlib import Path

import pytest

from crscore.code.execution.programs import Completion
from crscore.code.execution.runner import run_programs
from crscore.sandbox.run import network_denied
from tests.helpers import hostile_programs

pytestmark = pytest.mark.skipif(not network_denied(), reason="no sandbox on this system")
_PROGRAMS = {"java": "javac", "javascript": "node", "cpp": "g++", "python": "python3"}
_OUTSIDE = ("/escaped-crscore", "/dev/shm/escaped-crscore")


@pytest.mark.slow
@pytest.mark.parametrize("language", hostile_programs.LANGUAGES)
def test_no_hostile_program_passes_or_escapes(language, tmp_path):
    if shutil.which(_PROGRAMS[language]) is None:
        pytest.skip(f"{_PROGRAMS[language]} is missing")
    (tmp_path / "kept").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        programs = hostile_programs.hostile(language, tmp_path, server.getsockname()[1])
        good = Completion(problem=language, code=hostile_programs.SOLUTIONS[language], index=-1)
        problems = {language: hostile_programs.problem(language)}
        before = set(_processes())
        first, *outcomes = run_programs(
            problems, [good, *programs.values()], allowed=True, timeout=3.0
        )
        with pytest.raises(BlockingIOError):
            server.accept()
    time.sleep(2)
    left = {name for pid, name in _processes() if (pid, name) not in before}
    assert first.result == "passed"
    passed = [n for n, one in zip(programs, outcomes, strict=True) if one.passed]
    assert passed == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]
    assert not [place for place in _OUTSIDE if Path(place).exists()]
    assert not left & {"sleep", "java", "node", "run"}


def _processes():
    for pid in filter(str.isdigit, (path.name for path in Path("/proc").iterdir())):
        with contextlib.suppress(OSError):
            group = Path(f"/proc/{pid}/environ").read_bytes()
            if b"crscore-" in group:
                yield pid, Path(f"/proc/{pid}/comm").read_text().strip()
