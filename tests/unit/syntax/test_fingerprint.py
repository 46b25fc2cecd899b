import pytest

from crscore.syntax import grammars
from crscore.version import version_of


def fresh() -> str:
    grammars.fingerprint.cache_clear()
    return grammars.fingerprint()


def test_another_version_or_a_missing_grammar_gives_another_fingerprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fingerprints = {fresh()}
    for changed in ("tree-sitter-go", "tree-sitter"):
        monkeypatch.setattr(
            grammars, "version_of", lambda name, c=changed: "0.0" if name == c else version_of(name)
        )
        fingerprints.add(fresh())
    monkeypatch.setattr(grammars, "version_of", lambda _: "")
    fingerprints.add(fresh())
    monkeypatch.undo()
    assert len(fingerprints) == 4
    assert fresh() in fingerprints
