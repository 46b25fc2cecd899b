"""The accounts that speak in the scenes."""

from __future__ import annotations

from tests.helpers.github.state import User

MIRA = User(login="mira-k", id=1001, association="MEMBER")
JONAS = User(login="jonas-w", id=1002, association="COLLABORATOR")
NADIA = User(login="nadia", id=1003)
RABBIT = User(login="coderabbitai[bot]", id=136622811, type="Bot", association="NONE")
ACTIONS = User(login="github-actions[bot]", id=41898282, type="Bot", association="NONE")
GHOST = None
"""A deleted account."""
