"""One tiny model for all tests of fine-tuning, and a prompt that is short enough for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from crscore.claims.llm import prompt
from crscore_lab.training.claims.examples import PromptFormat
from tests.helpers import tiny_llm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHORT = """\
instruction = "Describe the change in {{claims}} claims and {{implications}} implications."
opening = "<{{mark}}"
closing = "{{mark}}>"
request = "Describe {{mark}}."
examples = []

[forms]
json = "Answer as JSON."
sections = "Answer in two sections."

[limits]
claims = 8
implications = 5
"""


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    """Compute on one thread: on a busy machine a tiny model waits five times as long with two."""
    # The fast tests need no model, and run without PyTorch.
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the model once: its tokenizer takes seconds to train."""
    return tiny_llm.make(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="session")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a prompt of a few tokens."""
    folder = tmp_path_factory.mktemp("prompts")
    (folder / "claims.v9.toml").write_text(SHORT, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def prompt_format(prompts: Path) -> PromptFormat:
    """Use it as JSON, without examples."""
    return PromptFormat(prompt=prompt.load_prompt("claims.v9", prompts))
