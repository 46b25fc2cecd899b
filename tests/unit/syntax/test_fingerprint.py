from importlib import metadata

import pytest

from crscore.syntax import grammars


def fresh() -> str:
    grammars.fingerprint.cache_clear()
    return grammars.fingerprint()


def test_another_version_or_a_missing_grammar_gives_another_fingerprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = metadata.version
    fingerprints = {fresh()}
    for changed in ("tree-sitter-go", "tree-sitter"):
        monkeypatch.setattr(
            metadata, "version", lambda name, c=changed: "0.0" if name == c else real(name)
        )
        fingerprints.add(fresh())

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    fingerprints.add(fresh())
    monkeypatch.undo()
    assert len(fingerprints) == 4
    assert fresh() in fingerprints
