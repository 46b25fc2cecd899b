"""Finds the topics of files without a grammar, one for each section, and topics about whole files.

A topic about a whole file is about its name, mode or binary content, or says that it is generated.
"""

import re
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from crscore.claims.structural.change import UnitChange, UnitPart
from crscore.claims.structural.headline import MAX_PATH, summarize
from crscore.claims.structural.quoting import Statement, join_items, prose_of
from crscore.claims.structural.sentences import write_statements
from crscore.diff.paths import GENERATED, MINIFIED, machine_kind_of
from crscore.records import ChangedFile, FileStatus, LineKind
from crscore.syntax.change import Version, runs_of, words_of
from crscore.syntax.outline import Fact, Kind, Role
from crscore.text import quote

MAX_SECTIONS = 6
"""Maximum changed sections that are separate topics; if more changed, the file is one topic."""
MINIFIED_LINE = 400
"""Mean length of the changed lines, in characters, above which a file counts as minified."""
MAX_TITLE = 80
"""Maximum characters of a section's title; longer titles are cut."""

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_LANGUAGES = {name: frozenset(words.split()) for name, words in _TABLES["languages"].items()}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _TABLES["patterns"].items()}
_VERBS = {FileStatus.ADDED: "added", FileStatus.DELETED: "removed"}
_STATES = {FileStatus.ADDED: "new", FileStatus.DELETED: "removed"}
# Modes of git's index: https://git-scm.com/docs/index-format
_MODES = {"100755": "is now executable", "100644": "is no longer executable"}


def find_machine_noun(file: ChangedFile) -> str:
    """Return the noun for a file that a program wrote, such as "lock file"; "" for other files."""
    by_name = machine_kind_of(file.path)
    if by_name:
        return by_name
    first_lines = [line.text for hunk in file.hunks[:1] for line in hunk.lines[:12]]
    if any(_PATTERNS["generated_note"].search(text[:200]) for text in first_lines):
        return GENERATED
    if file.language in _LANGUAGES["prose"]:  # a paragraph of prose may be one long line
        return ""
    changed = file.lines(LineKind.ADDED, LineKind.REMOVED)
    if changed and sum(len(line.text) for line in changed) > MINIFIED_LINE * len(changed):
        return MINIFIED
    return ""


def find_file_topic(file: ChangedFile) -> Iterator[tuple[UnitChange, list[Statement]]]:
    """Yield the topic of a file that is renamed, binary or empty, or whose mode changed.

    Nothing is yielded for a file of which only lines of text changed.
    """
    path, former = (quote(name or "", MAX_PATH) for name in (file.path, file.old_path))
    verb = _VERBS.get(file.status, "changed")
    mode = file.new_mode if file.new_mode != file.old_mode and file.old_mode else None
    text = ""
    if file.is_submodule or file.is_binary:
        text = f"the {'submodule' if file.is_submodule else 'binary file'} {path} has been {verb}"
    elif former and file.status is FileStatus.RENAMED:
        text = f"the file {former} has moved to {path}"
    elif former and file.status is FileStatus.COPIED:
        text = f"the file {path} is a copy of {former}"
    elif not file.hunks and file.status in _VERBS:
        text = f"the empty file {path} has been {verb}"
    elif mode:
        text = f"{path} {_MODES.get(mode, 'has another mode')}"
    if text:
        is_moved = file.status is FileStatus.RENAMED and file.old_path is not None
        change = _change(file, "moved" if is_moved else "changed")
        change.before = file.old_path or ""
        yield change, [Statement(text)]


def make_machine_topic(
    file: ChangedFile, noun: str, old: Version, new: Version
) -> tuple[UnitChange, list[Statement]]:
    """Return the topic of a file that a program wrote, with one sentence."""
    change = _change(file, _STATES.get(file.status, "changed"))
    change.added, change.removed, change.noun = new.changed, old.changed, noun
    text = summarize(change)
    text = re.sub(r"^(the (?:new )?file )?(`[^`]*`)", rf"the {noun} \2", text, count=1)
    return change, [Statement(text)]


def _change(file: ChangedFile, state: str, name: str = "") -> UnitChange:
    noun = "section" if name else "file"
    return UnitChange(
        file=file, name=name, kind=Kind.FILE, noun=noun, state=state, old=UnitPart(), new=UnitPart()
    )


def find_section_topics(
    file: ChangedFile, old: Version, new: Version
) -> Iterator[tuple[UnitChange, list[Statement]]]:
    """Yield the topics of a file without a grammar, which are its changed sections."""
    state = _STATES.get(file.status, "changed")
    old_titles, new_titles = _find_titles(file, old), _find_titles(file, new)
    names = list(dict.fromkeys([*new_titles.values(), *old_titles.values()]))
    is_whole = len(names) > MAX_SECTIONS or state != "changed"
    for name in [""] if is_whole else names:
        change = _change(file, state, name)
        change.removed = [line for line in old.changed if is_whole or old_titles[line] == name]
        change.added = [line for line in new.changed if is_whole or new_titles[line] == name]
        for part, version, lines in (
            (change.old, old, change.removed),
            (change.new, new, change.added),
        ):
            part.facts = list(_find_facts(file, version, lines))
        if not change.size:
            continue
        if {fact.name for fact in (*change.old.facts, *change.new.facts)} == {name}:
            change.name, change.noun = "", "file"  # only the section's own key changed
        if _is_layout(change):
            change.state = "layout"
        yield change, _write(change, old, new, names if is_whole else [])


def _is_layout(change: UnitChange) -> bool:
    """Return whether the lines of both versions differ only in layout."""
    sides = ((LineKind.REMOVED, set(change.removed)), (LineKind.ADDED, set(change.added)))
    for run in runs_of(change.file):
        before, after = (
            [line.text for line in run if line.kind is kind and (line.new or line.old) in numbers]
            for kind, numbers in sides
        )
        language = change.file.language
        if _remove_layout(language, before) != _remove_layout(language, after):
            return False
    return True


def _remove_layout(language: str | None, lines: list[str]) -> list[str]:
    """Return the content of lines without the layout that has no meaning in the language."""
    if language in _LANGUAGES["quoted"]:
        return _PATTERNS["token"].findall("\n".join(lines))
    # Indentation has a meaning in these languages, and perhaps in an unknown language.
    if language is None or language in _LANGUAGES["indented"]:
        return [line.rstrip() for line in lines if line.strip()]
    return [word for line in lines for word in line.split()]


def _write(change: UnitChange, old: Version, new: Version, sections: list[str]) -> list[Statement]:
    """Return the sentences of a topic.

    If the topic joins several sections of prose, the first sentence lists them.
    """
    file = change.file
    is_prose = file.language in _LANGUAGES["prose"] and not _key_patterns(file)
    if not is_prose or change.state in {"removed", "layout"}:
        return [*write_statements(change, old, new), *islice(_dependencies(change, old, new), 1)]
    text = summarize(change)
    titles = [f"“{name}”" for name in sections if name]
    if titles:
        text = text.removesuffix(" has been added")
        have = " has the sections" if change.state == "new" else "; the sections are"
        text = f"{text}{have} {join_items(titles, 5)}"
    path = quote(file.path)
    subject = f"the section “{change.name}” of {path}" if change.name else path
    for line in change.added:
        sentences = prose_of(re.sub(r"^\s*(?:[-*>|]|\d+\.)\s+", "", new.lines[line]))
        prose = next((s for s in sentences if words_of(s) not in old.word_text), "")
        if prose:
            detail = Statement(f"{subject} now says “{prose}”", ((True, line),))
            return [detail] if change.state == "changed" else [Statement(text), detail]
    return [Statement(text)]


def _dependencies(change: UnitChange, old: Version, new: Version) -> Iterator[Statement]:
    """Yield questions about new dependencies of a project and about new major versions."""
    # `overrides` (npm) and `resolutions` (yarn) set versions of indirect dependencies, so they add
    # no dependency: https://docs.npmjs.com/cli/configuring-npm/package-json
    is_listed = _PATTERNS["dependency_path"].search(change.file.path) is not None
    if not is_listed or change.state != "changed" or change.name in {"overrides", "resolutions"}:
        return
    before, after = (
        {
            match["name"]: (match, line)
            for line in lines
            if (match := _PATTERNS["dependency"].match(version.lines[line]))
        }
        for version, lines in ((old, change.removed), (new, change.added))
    )
    for name, (match, line) in after.items():
        lines, package = ((True, line),), quote(name)
        if name in before:
            former = before[name][0]
            # Only a new major version may break its users: https://semver.org/#spec-item-8
            if int(former["major"]) < int(match["major"]):
                versions = f"from {quote(former['version'])} to {quote(match['version'])}"
                question = "which of its breaking changes concern this project?"
                yield Statement(f"{package} goes {versions}: {question}", lines, True, "dependency")
        elif _PATTERNS["module_version"].sub("", name) not in old.all_squeezed:
            question = "is it worth it, maintained, and its license compatible?"
            yield Statement(f"{package} is a new dependency: {question}", lines, True, "dependency")


def _find_titles(file: ChangedFile, version: Version) -> dict[int, str]:
    """Return the title of the section of each changed line; "" for lines before the first title."""
    is_keyed = file.language in _LANGUAGES["keyed"]
    # In the header of a hunk, git shows the last line above the hunk that is not indented, which
    # may be the key of a section.
    starts = {
        hunk.range_of(version.side)[0]: (is_keyed and _parse_title(file, hunk.section, "", 0)) or ""
        for hunk in file.hunks
    }
    # The indentation of titles. Titles of JSON are the outermost keys of the file, whose
    # indentation is unknown (-1) if only hunks are known.
    level = -1 if file.language == "json" else 0
    if file.language == "json" and version.is_whole:
        texts = filter(str.strip, version.lines.values())
        indents = [len(text) - len(text.lstrip()) for text in texts]
        level = min((indent for indent in indents if indent), default=0)
    titles: dict[int, str] = {}
    title, before, changed, is_fenced = "", "", set(version.changed), False
    for number in sorted(version.lines):
        text = version.lines[number]
        if not version.is_whole and number in starts:
            title, is_fenced = starts[number], False
        # In a code block of Markdown, "# a" is a comment of the code and no heading.
        is_fenced ^= file.language == "markdown" and bool(_PATTERNS["fence"].match(text))
        new_title = None if is_fenced else _parse_title(file, text, before, level)
        title = new_title if new_title is not None else title
        before = text
        if number in changed:
            titles[number] = title
    return titles


def _parse_title(file: ChangedFile, text: str, before: str, level: int) -> str | None:
    """Return the title of the section that begins at a line; None if no section begins there."""
    if file.language in _LANGUAGES["prose"]:
        return _parse_heading(file, text, before)
    if file.language not in _LANGUAGES["sectioned"]:
        return None
    table = _PATTERNS["table"].match(text) if file.language in {"toml", "ini"} else None
    if table:
        return table["title"].strip()
    if len(text) - len(text.lstrip()) != level or not text.strip():
        return None
    if file.language == "css":  # "a:hover {", "a,"
        return text.rstrip(" {,")[:MAX_TITLE] if text.rstrip().endswith(("{", ",")) else None
    key = _PATTERNS["key"].match(text) if file.language in {"json", "yaml"} else None
    return key["key"] if key else None


def _parse_heading(file: ChangedFile, text: str, before: str) -> str | None:
    heading = _PATTERNS["heading"].match(text) if file.language == "markdown" else None
    if heading:
        return (heading["title"].rstrip("#").rstrip() or "#")[:MAX_TITLE]
    # An underline is about as long as its title; a shorter line may be a thematic break.
    under = _PATTERNS["underline"].match(text) and len(text.strip()) >= len(before.strip()) - 1
    return before.strip()[:MAX_TITLE] if under and before.strip() else None


def _key_patterns(file: ChangedFile) -> tuple[str, ...]:
    """Return the names of the patterns (`plain_files.toml`) of a file's keys and values."""
    if file.language == "xml":
        return ("package", "tag")
    if file.language == "gomod":
        return ("module",)
    if _PATTERNS["requirements_path"].search(file.path):
        return ("pinned",)
    is_keyed = file.language in _LANGUAGES["keyed"] | {"dockerfile", "makefile"}
    return ("key",) if is_keyed else ()


def _find_facts(file: ChangedFile, version: Version, lines: list[int]) -> Iterator[Fact]:
    """Yield the code comments on the given lines, and the keys with their values."""
    patterns = [_PATTERNS[name] for name in _key_patterns(file)]
    for line in lines:
        text = version.lines.get(line, "")
        matches = (pattern.match(text) for pattern in patterns)
        if text.lstrip().startswith(("#", "//", "/*", ";")):
            yield Fact(Role.COMMENT, "", text.strip(), line)
        elif match := next(filter(None, matches), None):
            value = (match["value"] or "").strip()
            # After such a mark, the value is on the next lines.
            value = "" if value in {"{", "[", "|", ">"} else value
            yield Fact(Role.ASSIGN, match["key"], value, line)
