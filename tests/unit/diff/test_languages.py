from __future__ import annotations

import importlib

import pytest
import tree_sitter

from crscore.diff.languages import language_of, node_types, read_tables, read_words
from crscore.syntax.grammars import languages_known


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


def test_dialect_inherits_from_its_base() -> None:
    tables = read_tables()
    base, dialect = tables["typescript"]["grammar"], tables["tsx"]["grammar"]
    assert dialect["types"] == base["types"]
    assert (base["entry"], dialect["entry"]) == ("language_typescript", "language_tsx")
    assert tables["tsx"]["names"] == tables["javascript"]["names"]
    assert tables["tsx"]["keywords"] == tables["typescript"]["keywords"]


def test_file_names_are_of_languages_with_and_without_a_grammar() -> None:
    assert read_words("suffixes")["python"][0] == "py"
    assert "dockerfile" in read_words("files")["dockerfile"]


def test_suffix_and_file_name_are_of_one_language() -> None:
    for key in ("suffixes", "files"):
        words = [word for of_language in read_words(key).values() for word in of_language]
        assert len(words) == len(set(words))


def test_shared_types_are_of_all_grammars() -> None:
    assert {"identifier", "variable_name", "instance_variable"} <= node_types("variables")


@pytest.mark.parametrize("name", sorted(read_tables()))
def test_shared_types_are_in_the_grammar(name: str) -> None:
    (language,) = (one for one in languages_known() if one.name == name)
    module = importlib.import_module(language.package)
    grammar = tree_sitter.Language(getattr(module, language.entry)())
    types = {
        word for text in read_tables()[name].get("shared", {}).values() for word in text.split()
    }
    unknown = {
        word
        for word in types
        if grammar.id_for_node_kind(word, True) is None
        and grammar.id_for_node_kind(word, False) is None
    }
    assert unknown == set()
