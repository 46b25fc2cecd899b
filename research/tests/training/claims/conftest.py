"""One tiny model for all tests of fine-tuning."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.helpers import tiny_llm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    """Compute on one thread: on a busy machine a tiny model waits five times as long with two."""
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
    # The shipped prompt is some 1,300 tokens of the tiny tokenizer.
    return tiny_llm.make(tmp_path_factory.mktemp("base") / "tiny", context=2048)
