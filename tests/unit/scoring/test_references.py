from crscore.records import (
    ChangedFile,
    FileStatus,
    Hunk,
    LineSpan,
    PseudoReference,
    ReferenceKind,
    Scope,
    ScopeKind,
    Side,
)
from crscore.scoring import references


def claim(
    text: str, path: str = "a.py", weight: float = 1.0, kind: ReferenceKind = ReferenceKind.CLAIM
) -> PseudoReference:
    span = LineSpan(path=path, side=Side.NEW, start=1, end=1)
    return PseudoReference(text=text, kind=kind, source="test", spans=(span,), weight=weight)


def counted(refs: tuple[PseudoReference, ...]) -> list[str]:
    return [ref.text for ref in refs if ref.counted]


def test_under_the_limit_everything_counts() -> None:
    assert counted(references.select([claim("one"), claim("two")], limit=2)) == ["one", "two"]


def test_no_limit_counts_everything() -> None:
    refs = [claim(str(i)) for i in range(30)]
    assert len(counted(references.select(refs, limit=None))) == 30


def test_over_the_limit_the_first_of_one_file_count() -> None:
    refs = [claim("best", weight=0.9), claim("next", weight=0.9), claim("last", weight=0.1)]
    assert counted(references.select(refs, limit=2)) == ["best", "next"]


def test_over_the_limit_nothing_is_dropped() -> None:
    refs = [claim(str(i)) for i in range(30)]
    assert len(references.select(refs, limit=3)) == 30


def test_findings_count_beyond_the_limit() -> None:
    refs = [claim("a"), claim("b"), claim("bug", kind=ReferenceKind.ISSUE)]
    assert counted(references.select(refs, limit=1)) == ["a", "bug"]


def test_one_large_file_does_not_silence_the_others() -> None:
    # 10 claims of weight 0.8 in one file fall below 0.4 after 0.8 * 0.9**7 = 0.38.
    large = [claim(f"large {i}", "large.py", 0.8) for i in range(10)]
    small = [claim("small", "small.py", 0.4)]
    assert "small" in counted(references.select([*large, *small], limit=8))


def test_claim_without_lines_can_count() -> None:
    whole = PseudoReference(text="whole", kind=ReferenceKind.CLAIM, source="test")
    assert counted(references.select([whole, claim("x", weight=0.1)], limit=1)) == ["whole"]


HUNK = Hunk(old_start=10, old_length=3, new_start=20, new_length=2, section="", lines=())
FILE = ChangedFile(
    path="new.py", old_path="old.py", status=FileStatus.RENAMED, language="python", hunks=(HUNK,)
)
IN_HUNK = Scope(kind=ScopeKind.HUNK, path="new.py", hunk=0)
IN_FILE = Scope(kind=ScopeKind.FILE, path="new.py")


def at(path: str, side: Side, start: int, end: int) -> PseudoReference:
    span = LineSpan(path=path, side=side, start=start, end=end)
    return PseudoReference(text="x", kind=ReferenceKind.CLAIM, source="test", spans=(span,))


def test_new_side_lines_are_compared_with_the_new_range() -> None:
    assert references.in_scope(at("new.py", Side.NEW, 21, 30), IN_HUNK, FILE)
    assert not references.in_scope(at("new.py", Side.NEW, 22, 30), IN_HUNK, FILE)


def test_old_side_lines_are_compared_with_the_old_range() -> None:
    assert references.in_scope(at("old.py", Side.OLD, 1, 10), IN_HUNK, FILE)
    assert not references.in_scope(at("old.py", Side.OLD, 13, 13), IN_HUNK, FILE)


def test_file_scope_takes_any_line_of_the_file() -> None:
    assert references.in_scope(at("new.py", Side.NEW, 500, 500), IN_FILE, FILE)


def test_other_file_is_out_of_scope() -> None:
    assert not references.in_scope(at("other.py", Side.NEW, 20, 20), IN_FILE, FILE)
    assert not references.in_scope(at("other.py", Side.NEW, 20, 20), IN_HUNK, FILE)


def test_reference_without_lines_is_in_every_scope() -> None:
    whole = PseudoReference(text="whole", kind=ReferenceKind.CLAIM, source="test")
    assert references.in_scope(whole, IN_HUNK, FILE)


def test_whole_diff_takes_everything() -> None:
    scope = Scope(kind=ScopeKind.DIFF)
    assert references.in_scope(at("other.py", Side.NEW, 1, 1), scope, None)


def test_claim_about_a_file_as_a_whole_is_in_the_files_scope_and_in_no_hunks() -> None:
    assert references.in_scope(at("new.py", Side.NEW, 0, 0), IN_FILE, FILE)
    assert not references.in_scope(at("new.py", Side.NEW, 0, 0), IN_HUNK, FILE)


def test_old_name_on_the_new_side_is_another_file() -> None:
    assert not references.in_scope(at("old.py", Side.NEW, 20, 20), IN_FILE, FILE)
