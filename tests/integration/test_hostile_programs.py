"""No hostile program passes, and none leaves anything behind."""

from __future__ import annotations

import shutil

import pytest

from crscore.sandbox.run import network_denied
from tests.helpers import hostile_programs

_PROGRAMS = {"java": "javac", "javascript": "node", "cpp": "g++", "python": "python3"}


@pytest.mark.slow
@pytest.mark.skipif(not network_denied(), reason="no sandbox on this system")
@pytest.mark.parametrize("language", hostile_programs.LANGUAGES)
def test_no_hostile_program_passes_or_escapes(language, tmp_path):
    if shutil.which(_PROGRAMS[language]) is None:
        pytest.skip(f"{_PROGRAMS[language]} is missing")
    found = hostile_programs.attack(language, tmp_path)
    assert found.solution == "passed"
    assert found.passed == []
    assert found.escapes == []
