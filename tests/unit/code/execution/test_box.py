"""What programs may read, and what is left of them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from crscore.code.execution.box import _installation, private_folder


@pytest.mark.parametrize(
    ("program", "readable"),
    [
        ("bin/node", "bin/node"),
        (".local/bin/node", ".local/bin/node"),
        (".nvm/versions/node/v22/bin/node", ".nvm/versions/node/v22"),
    ],
)
def test_program_in_the_home_does_not_make_the_home_readable(
    tmp_path, monkeypatch, program, readable
):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _installation(tmp_path / program) == str(tmp_path / readable)


def test_folder_is_removed_however_deep_it_is():
    with private_folder() as folder, contextlib.chdir(folder):
        # Deeper than Python may recurse, and longer than a path may be.
        for _ in range(1010):
            Path("d" * 5).mkdir()
            os.chdir("d" * 5)
        Path("closed").mkdir(0)
    assert not folder.exists()
