"""The texts of the scene `audit` fit the changes they are about."""

from __future__ import annotations

from dataclasses import fields
from difflib import unified_diff

import pytest

from tests.helpers.github.audit_texts import BILLING, SHOP, Sample


@pytest.mark.parametrize("sample", [*SHOP, *BILLING], ids=lambda one: one.title)
def test_weak_line_is_new_and_its_repair_changes_it_alone(sample: Sample) -> None:
    added = [
        line[1:].strip()
        for line in unified_diff(sample.before.splitlines(), sample.after.splitlines(), n=0)
        if line.startswith("+")
    ]
    assert added.count(sample.weak) == 1
    after, repaired = sample.after.splitlines(), sample.repaired.splitlines()
    assert repaired[: sample.line - 1] == after[: sample.line - 1]
    tail = after[sample.line :]
    assert repaired[len(repaired) - len(tail) :] == tail
    assert repaired != after
    assert sample.suggestion.splitlines()[1] in repaired


def test_changes_have_the_size_of_a_small_pull_request() -> None:
    for sample in (*SHOP, *BILLING):
        changed = [
            line
            for line in unified_diff(sample.before.splitlines(), sample.after.splitlines(), n=0)
            if line[0] in "+-" and line[:3] not in ("+++", "---")
        ]
        assert 10 <= len(changed) <= 40, sample.title


def test_no_text_is_used_twice() -> None:
    words = [one.name for one in fields(Sample) if one.name not in ("before", "after", "fixed")]
    texts = [getattr(sample, name) for sample in (*SHOP, *BILLING) for name in words]
    assert len(set(texts)) == len(texts)
