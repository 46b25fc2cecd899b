"""No hostile program passes, none reads what is secret, and none leaves anything behind."""

from __future__ import annotations

import os
import shutil

import pytest

from crscore.sandbox.run import network_denied
from tests.helpers import hostile_programs

_PROGRAMS = {"java": "javac", "javascript": "node", "cpp": "g++", "python": "python3"}


FEW = (
    *("sys_exit", "always_equal", "patched_builtins", "verdict_printed", "frames_of_the_caller"),
    *("parents_memory", "tests_read_from_disk", "write_outside", "socket", "left_behind"),
)


@pytest.mark.smoke
@pytest.mark.skipif(not network_denied(), reason="no sandbox on this system")
def test_few_hostile_programs_of_an_ordinary_user_do_not_pass_or_escape():
    attack = hostile_programs.attack_as_user("python", names=FEW)
    assert attack.solutions == ["passed", "passed"]
    assert set(attack.results) == set(FEW)
    assert (attack.passed, attack.reads, attack.escapes) == ([], [], [])


@pytest.mark.hostile
@pytest.mark.skipif(not network_denied(), reason="no sandbox on this system")
@pytest.mark.parametrize("language", hostile_programs.LANGUAGES)
@pytest.mark.parametrize("user", ["ordinary", "ordinary, without namespaces", "root"])
def test_no_hostile_program_passes_or_escapes(language, user):
    if shutil.which(_PROGRAMS[language]) is None:
        pytest.skip(f"{_PROGRAMS[language]} is missing")
    if user != "ordinary" and os.geteuid() != 0:
        pytest.skip("this is no root")
    if user == "root":
        attack = hostile_programs.attack(language)
    else:
        options = ("--no-namespaces",) if "without" in user else ()
        attack = hostile_programs.attack_as_user(language, *options)
    assert attack.solutions == ["passed", "passed"]
    assert attack.passed == []
    assert attack.reads == []
    assert attack.escapes == []
