from __future__ import annotations

import pytest

from crscore.diff.languages import language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("B.JAVA", "java"),
        ("x.test.tsx", "tsx"),
        ("win\\dir\\x.cs", "csharp"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("Makefile.am", "makefile"),
        (".env.local", "properties"),
        ("go.mod", "gomod"),
        (".github/workflows/ci.yml", "yaml"),
        ("LICENSE", None),
        ("strange.zzz", None),
        ("dir.py/file", None),
        ("", None),
    ],
)
def test_path_names_its_language(path: str, language: str | None) -> None:
    assert language_of(path) == language
