"""Calls that a change leaves behind."""

from __future__ import annotations

import re

import pytest

from crscore.claims.structural import plugin
from crscore.records import ReferenceKind
from tests.helpers.changes import change

PYTHON = """\
def {name}({parameters}):
    return parse(path)


def start():
    return {caller}("a")
"""
GO = """\
package store

func {name}({parameters}) error {{
	return connect(path)
}}

func Start() error {{
	return {caller}("a")
}}
"""
CLASS = """\
class Store {{
  {name}({parameters}) {{
    return parse(path)
  }}

  start() {{
    return this.{caller}("a")
  }}
}}
"""


def questions(path: str, template: str, old: dict[str, str], new: dict[str, str]) -> list[str]:
    before, after = (
        template.format(**{"name": "load_page", "parameters": "path", "caller": "load_page"} | row)
        for row in (old, new)
    )
    (claims,) = plugin.create().generate([change(path, before, after)])
    return [item.text for item in claims.references if item.kind is ReferenceKind.IMPLICATION]


@pytest.mark.parametrize(("path", "template"), [("a.py", PYTHON), ("a.go", GO), ("a.ts", CLASS)])
def test_call_of_the_former_name(path: str, template: str) -> None:
    (text,) = questions(path, template, {}, {"name": "read_page"})

    assert re.fullmatch(
        r"`load_page` is (?:gone|now `read_page`), but line \d still calls .*", text
    )


def test_call_without_the_new_parameter() -> None:
    texts = questions("a.py", PYTHON, {}, {"parameters": "path, mode"})

    assert "`load_page` now requires `mode`, but line 6 is unchanged: what does it pass?" in texts


@pytest.mark.parametrize(
    ("path", "template", "new"),
    [
        ("a.py", PYTHON, {"name": "read_page", "caller": "read_page"}),
        ("a.py", PYTHON, {"parameters": "path, mode=None"}),
        ("a.ts", CLASS, {"parameters": "path, mode"}),  # a caller may leave it out
        ("a.py", PYTHON, {"parameters": "path, mode", "caller": "other.load_page"}),
    ],
)
def test_silent(path: str, template: str, new: dict[str, str]) -> None:
    texts = questions(path, template, {}, new)

    assert not [text for text in texts if "still calls" in text or "requires" in text]
