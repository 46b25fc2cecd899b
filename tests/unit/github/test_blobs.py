"""Whole files: what is asked for, how often, and what a failure leaves."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest

from crscore.diff import parse
from crscore.errors import UnavailableError
from crscore.github import blobs
from crscore.records import FileStatus

if TYPE_CHECKING:
    from crscore.records import ChangedFile, Diff

LIMITS = parse.DiffLimits()
BASE = "b" * 40


def name_of(text: str) -> str:
    data = text.encode()
    return hashlib.sha1(b"blob %d\0%s" % (len(data), data)).hexdigest()


def modified(path: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -2 +2 @@\n-old\n+{path}\n"


def text_of(path: str) -> str:
    return f"first\n{path}\nlast\n"


class Change(NamedTuple):
    diff: Diff
    names: dict[str, str]


class Files(NamedTuple):
    files: tuple[ChangedFile, ...]
    texts: dict[str, str]
    missing: tuple[str, ...]
    notes: tuple[str, ...]


def change_of(text: str, **names: str) -> Change:
    read = parse.parse_diff(text)
    return Change(read, {file.path: name_of(text_of(file.path)) for file in read.files} | names)


class Objects:
    """Answers queries from what it has; some of them it fails."""

    def __init__(self, objects: dict[str, Any], *, failing: tuple[int, ...] = ()) -> None:
        self.objects = objects
        self.failing = failing
        self.queries: list[tuple[str, dict[str, Any]]] = []

    def graphql(self, query, variables, kind):
        self.queries.append((query, dict(variables)))
        if len(self.queries) in self.failing:
            raise UnavailableError("GraphQL", "status 502")
        asked = {key: value for key, value in variables.items() if key[0] == "v"}
        found = {f"o{key[1:]}": self.objects.get(value) for key, value in asked.items()}
        return msgspec.convert({"repository": found}, kind)


def having(*paths: str, **more: Any) -> dict[str, Any]:
    texts = {name_of(text_of(path)): text_of(path) for path in paths}
    return {name: {"oid": name, "text": text} for name, text in texts.items()} | more


def read(host: Objects, change: Change) -> Files:
    full = blobs.read_full_files(  # type: ignore[arg-type]
        host, "own/er", change.diff, change.names, LIMITS, base=BASE
    )
    texts = {file.path: file.new_source for file in full.diff.files if file.new_source}
    return Files(full.diff.files, texts, full.missing, full.notes)


MANY = [f"m{at:03}.py" for at in range(120)]


def test_one_query_for_fifty_files() -> None:
    host = Objects(having(*MANY))
    files = read(host, change_of("".join(map(modified, MANY))))
    assert len(host.queries) == 3
    assert files.texts == {path: text_of(path) for path in MANY}
    assert (files.missing, files.notes) == ((), ())


def test_names_are_variables_and_not_part_of_the_query() -> None:
    host = Objects(having("a.py"))
    read(host, change_of(modified("a.py")))
    query, variables = host.queries[0]
    assert variables == {"owner": "own", "name": "er", "v0": name_of(text_of("a.py"))}
    assert variables["v0"] not in query


def test_failed_query_is_an_error() -> None:
    host = Objects(having(*MANY), failing=(2,))
    with pytest.raises(UnavailableError):
        read(host, change_of("".join(map(modified, MANY))))


def test_object_that_the_host_lacks_is_missing() -> None:
    files = read(Objects({}), change_of(modified("a.py")))
    assert files.missing == (
        "For 1 changed file, only the hunks were read, because the host does not have the full "
        "text: 'a.py'.",
    )


def test_response_with_another_object_is_ignored() -> None:
    wrong = {name_of(text_of("a.py")): {"oid": "f" * 40, "text": text_of("a.py")}}
    files = read(Objects(wrong), change_of(modified("a.py")))
    assert files.texts == {}
    assert files.missing


@pytest.mark.parametrize("what", [{"isBinary": True}, {"isTruncated": True}, {"text": None}])
def test_blob_without_whole_text_is_left_out_with_a_note(what: dict[str, Any]) -> None:
    name = name_of(text_of("a.py"))
    host = Objects({name: {"oid": name, "text": "firs", **what}})
    files = read(host, change_of(modified("a.py")))
    assert (files.texts, files.missing) == ({}, ())
    assert "For 1 file, only the hunks were read" in files.notes[0]


def test_new_deleted_and_moved_files_need_no_request() -> None:
    host = Objects({})
    files = read(
        host,
        change_of(
            "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
            "diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n"
            "+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
            "diff --git a/o b/p\nrename from o\nrename to p\n"
        ),
    )
    assert host.queries == []
    assert files.missing == ()


def test_same_content_in_two_files_is_requested_once() -> None:
    both = change_of(modified("a.py") + modified("b.py"), **{"b.py": name_of(text_of("a.py"))})
    host = Objects(having("a.py"))
    assert read(host, both).missing == ()
    assert len(host.queries[0][1]) == 3


SILENT = "diff --git a/{0} b/{0}\nBinary files a/{0} and b/{0} differ\n"


def test_file_with_only_a_new_mode_differs_from_a_binary_one() -> None:
    change = change_of(SILENT.format("run.sh") + SILENT.format("logo.png"))
    objects = {
        f"{BASE}:run.sh": {"oid": change.names["run.sh"]},
        f"{BASE}:logo.png": {"oid": "a" * 40},
    }
    logo, run = sorted(read(Objects(objects), change).files, key=lambda one: one.path)
    assert (run.status, run.is_binary) == (FileStatus.MODE_CHANGED, False)
    assert (logo.status, logo.is_binary) == (FileStatus.MODIFIED, True)


def test_invalid_blob_name_is_not_requested() -> None:
    host = Objects({})
    files = read(host, change_of(modified("a.py"), **{"a.py": 'x") { } #'}))
    assert host.queries == []
    assert files.missing
