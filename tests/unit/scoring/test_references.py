from msgspec.structs import replace

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
    Topic,
    TopicState,
)
from crscore.scoring.cells import in_scope, scale_limit, select_references


def claim(
    text: str, path: str = "a.py", weight: float = 1.0, kind: ReferenceKind = ReferenceKind.CLAIM
) -> PseudoReference:
    span = LineSpan(path=path, side=Side.NEW, start=1, end=1)
    return PseudoReference(text=text, kind=kind, source="test", spans=(span,), weight=weight)


def counted(refs: tuple[PseudoReference, ...]) -> list[str]:
    return [ref.text for ref in refs if ref.counted]


def test_under_the_limit_everything_counts() -> None:
    assert counted(select_references([claim("one"), claim("two")], limit=2)) == ["one", "two"]


def test_no_limit_counts_everything() -> None:
    refs = [claim(str(i)) for i in range(30)]
    assert len(counted(select_references(refs, limit=None))) == 30


def test_over_the_limit_the_first_of_one_file_count() -> None:
    refs = [claim("best", weight=0.9), claim("next", weight=0.9), claim("last", weight=0.1)]
    assert counted(select_references(refs, limit=2)) == ["best", "next"]


def test_over_the_limit_nothing_is_dropped() -> None:
    refs = [claim(str(i)) for i in range(30)]
    assert len(select_references(refs, limit=3)) == 30


def test_findings_count_beyond_the_limit() -> None:
    refs = [claim("a"), claim("b"), claim("bug", kind=ReferenceKind.ISSUE)]
    assert counted(select_references(refs, limit=1)) == ["a", "bug"]


def test_one_large_file_does_not_crowd_out_the_others() -> None:
    # 10 claims of weight 0.8 in one file fall below 0.4 after 0.8 * 0.9**7 = 0.38.
    large = [claim(f"large {i}", "large.py", 0.8) for i in range(10)]
    small = [claim("small", "small.py", 0.4)]
    assert "small" in counted(select_references([*large, *small], limit=8))


def test_claim_without_lines_can_count() -> None:
    whole = PseudoReference(text="whole", kind=ReferenceKind.CLAIM, source="test")
    assert counted(select_references([whole, claim("x", weight=0.1)], limit=1)) == ["whole"]


def of_topic(name: str, lines: int, weight: float = 1.0, path: str = "a.py") -> PseudoReference:
    place = LineSpan(path=path, side=Side.NEW, start=1, end=lines)
    topic = Topic(name=name, noun="function", state=TopicState.NEW, lines=lines, place=place)
    return replace(claim(name, path, weight), topic=topic)


# Lines of each topic -> how many count of a limit of 12
LIMITS = [
    ([], 12), ([10], 12), ([100, 100, 100], 12), ([150, 150, 150, 150], 18), ([150] * 6, 24),
    ([150] * 18, 60), ([150] * 100, 60), ([5000], 12), ([5000] * 3, 18),
]  # fmt: skip


def test_limit_grows_with_the_lines_of_the_topics() -> None:
    for lines, limit in LIMITS:
        refs = [of_topic(str(index), count) for index, count in enumerate(lines)]
        assert scale_limit(refs, 12) == limit


def test_limit_grows_in_proportion() -> None:
    refs = [of_topic(str(at), 150) for at in range(6)]
    assert [scale_limit(refs, limit) for limit in (0, 1, 5)] == [0, 2, 10]


def test_claims_of_one_topic_make_the_limit_grow_once() -> None:
    assert scale_limit([of_topic("f", 150) for _ in range(9)], 12) == 12


def test_claims_without_a_topic_leave_the_limit_as_it_is() -> None:
    refs = [claim(str(at)) for at in range(500)]
    assert scale_limit(refs, 12) == 12
    assert len(counted(select_references(refs, limit=12))) == 12


def test_claims_with_a_topic_are_not_discounted_for_their_file() -> None:
    large = [of_topic(f"large {at}", 1, 0.8, "large.py") for at in range(10)]
    small = [of_topic("small", 1, 0.4, "small.py")]
    assert "small" not in counted(select_references([*large, *small], limit=8))


def test_scaled_limit_applies() -> None:
    refs = [of_topic(str(at), 150) for at in range(30)]
    assert len(counted(select_references(refs, limit=5))) == 25


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
    assert in_scope(at("new.py", Side.NEW, 21, 30), IN_HUNK, FILE)
    assert not in_scope(at("new.py", Side.NEW, 22, 30), IN_HUNK, FILE)


def test_old_side_lines_are_compared_with_the_old_range() -> None:
    assert in_scope(at("old.py", Side.OLD, 1, 10), IN_HUNK, FILE)
    assert not in_scope(at("old.py", Side.OLD, 13, 13), IN_HUNK, FILE)


def test_file_scope_takes_any_line_of_the_file() -> None:
    assert in_scope(at("new.py", Side.NEW, 500, 500), IN_FILE, FILE)


def test_other_file_is_out_of_scope() -> None:
    assert not in_scope(at("other.py", Side.NEW, 20, 20), IN_FILE, FILE)
    assert not in_scope(at("other.py", Side.NEW, 20, 20), IN_HUNK, FILE)


def test_reference_without_lines_is_in_every_scope() -> None:
    whole = PseudoReference(text="whole", kind=ReferenceKind.CLAIM, source="test")
    assert in_scope(whole, IN_HUNK, FILE)


def test_whole_diff_takes_everything() -> None:
    scope = Scope(kind=ScopeKind.DIFF)
    assert in_scope(at("other.py", Side.NEW, 1, 1), scope, None)


def test_claim_about_a_whole_file_is_in_the_scope_of_the_file_and_of_no_hunk() -> None:
    assert in_scope(at("new.py", Side.NEW, 0, 0), IN_FILE, FILE)
    assert not in_scope(at("new.py", Side.NEW, 0, 0), IN_HUNK, FILE)


def test_old_name_on_the_new_side_is_another_file() -> None:
    assert not in_scope(at("old.py", Side.NEW, 20, 20), IN_FILE, FILE)
