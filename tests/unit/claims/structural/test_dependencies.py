"""Questions about the dependencies of a project."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

NEW = "`{}` is a new dependency: is it worth it, maintained, and its license compatible?"
RAISED = "`{}` goes from `{}` to `{}`: which of its breaking changes concern this project?"
PACKAGE = '{{\n  "name": "a",\n  "{}": {{\n{}    "zod": "^3.1.0"\n  }}\n}}\n'
GO = "module a.org/b\n\nrequire (\n{}\tb.org/z v1.0.0\n)\n"
PROJECT = '[project]\nname = "a"\ndependencies = [\n{}    "zope>=1.0",\n]\n'
BUILD = '<Project>\n  <ItemGroup>\n{}    <PackageReference Include="Z" Version="1.0" />\n  </ItemGroup>\n</Project>\n'  # noqa: E501

ROWS: dict[str, tuple[str, str, str, str]] = {
    "npm": ("package.json", PACKAGE.format("dependencies", ""),
        PACKAGE.format("dependencies", '    "fzf": "^0.5.2",\n'), NEW.format("fzf")),
    "npm, raised": ("package.json", PACKAGE.format("dependencies", '    "fzf": "^1.5.2",\n'),
        PACKAGE.format("dependencies", '    "fzf": "^2.0.0",\n'),
        RAISED.format("fzf", "1.5.2", "2.0.0")),
    "Go": ("go.mod", GO.format(""), GO.format("\tb.org/a v1.2.0\n"), NEW.format("b.org/a")),
    "Python": ("pyproject.toml", PROJECT.format(""), PROJECT.format('    "attrs>=22.1",\n'),
        NEW.format("attrs")),
    "Python, requirements": ("requirements.txt", "zope==1.0\n", "attrs==22.1\nzope==1.0\n",
        NEW.format("attrs")),
    "C#": ("a.csproj", BUILD.format(""),
        BUILD.format('    <PackageReference Include="Vel" Version="1.2" />\n'), NEW.format("Vel")),
    "Rust": ("Cargo.toml", '[dependencies]\nzip = "1.0"\n',
        '[dependencies]\nserde = "1.0"\nzip = "1.0"\n', NEW.format("serde")),
}  # fmt: skip

NOTHING: dict[str, tuple[str, str, str]] = {
    "small step": ("package.json", PACKAGE.format("dependencies", '    "fzf": "^1.5.2",\n'),
        PACKAGE.format("dependencies", '    "fzf": "^1.6.0",\n')),
    "step back": ("package.json", PACKAGE.format("dependencies", '    "fzf": "^2.5.2",\n'),
        PACKAGE.format("dependencies", '    "fzf": "^1.6.0",\n')),
    "removed": ("package.json", PACKAGE.format("dependencies", '    "fzf": "^2.5.2",\n'),
        PACKAGE.format("dependencies", "")),
    "own version": ("package.json", '{\n  "version": "1.0.0"\n}\n', '{\n  "version": "2.0.0"\n}\n'),
    "override": ("package.json", PACKAGE.format("overrides", ""),
        PACKAGE.format("overrides", '    "fzf": "^0.5.2",\n')),
    "indirect": ("go.mod", GO.format(""), GO.format("\tb.org/a v1.2.0 // indirect\n")),
    "path of a module": ("go.mod", GO.format("\tb.org/a v1.2.0\n"),
        GO.format("\tb.org/a/v2 v2.0.0\n")),
    "lock file": ("package-lock.json", PACKAGE.format("dependencies", ""),
        PACKAGE.format("dependencies", '    "fzf": "^0.5.2",\n')),
    "other file": ("settings.json", PACKAGE.format("dependencies", ""),
        PACKAGE.format("dependencies", '    "fzf": "^0.5.2",\n')),
}  # fmt: skip


def _implications(path: str, old: str, new: str) -> list[str]:
    references = claims(change(path, old, new))
    return [claim.text for claim in references if claim.kind is ReferenceKind.IMPLICATION]


@pytest.mark.parametrize("situation", ROWS)
def test_new_package_has_a_consequence(situation: str) -> None:
    path, old, new, sentence = ROWS[situation]
    assert _implications(path, old, new) == [sentence]


@pytest.mark.parametrize("situation", NOTHING)
def test_other_lines_have_no_consequence(situation: str) -> None:
    assert _implications(*NOTHING[situation]) == []
