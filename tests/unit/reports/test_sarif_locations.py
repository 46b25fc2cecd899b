from msgspec.structs import replace

from crscore.records import FileStatus, LineSpan, PseudoReference, Side
from crscore.reports.sarif import make_locations
from tests.helpers import results

HUNKS = results.changed(
    "a.py",
    results.hunk(10, 10, " ten\n-eleven\n-twelve\n+new eleven\n thirteen\n"),
    results.hunk(30, 29, " thirty\n-thirty-one\n"),
    results.hunk(50, 48, "-fifty\n"),
)
DIFF = results.diff_of(results.LEGACY, HUNKS)


def spans_of(reference: PseudoReference, diff=DIFF) -> list[tuple[str, int, int]]:
    actual = []
    for location in make_locations(diff, reference.spans):
        physical = location["physicalLocation"]
        region = physical.get("region", {"startLine": 0, "endLine": 0})
        actual.append((physical["artifactLocation"]["uri"], *region.values()))
    return actual


def old(line: int, path: str = "a.py") -> PseudoReference:
    return results.reference("x", (path, line, line), side=Side.OLD)


def test_removed_line_is_located_at_its_successor() -> None:
    for line, new in [
        (10, 10),  # a context line stays itself
        (11, 11),  # what took the place of a removed line
        (12, 11),
        (13, 12),
        (31, 29),  # nothing follows in the hunk: the line before
        (50, 0),  # the hunk shows no line of the new version
        (99, 0),  # outside of the diff
        (0, 0),  # the file as a whole
    ]:
        assert spans_of(old(line)) == [("a.py", new, new)]


def test_point_on_a_deleted_file_is_at_the_file() -> None:
    assert spans_of(old(1, "src/shop/legacy.py")) == [("src/shop/legacy.py", 0, 0)]


def test_old_name_of_a_renamed_file_becomes_the_new_one() -> None:
    moved = replace(HUNKS, path="b.py", old_path="a.py", status=FileStatus.RENAMED)
    assert spans_of(old(11), results.diff_of(moved)) == [("b.py", 11, 11)]


def test_file_that_the_diff_does_not_name_keeps_its_name() -> None:
    assert spans_of(old(3, "other.py")) == [("other.py", 0, 0)]


def test_point_on_the_whole_change_is_at_the_first_remaining_file() -> None:
    assert spans_of(results.reference("x")) == [("a.py", 0, 0)]
    only_deleted = results.diff_of(results.LEGACY)
    assert spans_of(results.reference("x"), only_deleted) == [("src/shop/legacy.py", 0, 0)]


def test_change_without_a_path_has_no_location() -> None:
    bare = results.diff_of(replace(HUNKS, path=""))
    assert spans_of(results.reference("x", ("", 3, 3)), bare) == []
    assert spans_of(results.reference("x"), bare) == []
    assert spans_of(results.reference("x"), results.diff_of()) == []


def test_new_version_comes_first_and_each_place_once() -> None:
    spans = (
        LineSpan(path="a.py", side=Side.OLD, start=11, end=11),
        LineSpan(path="a.py", side=Side.NEW, start=40, end=42),
        LineSpan(path="a.py", side=Side.NEW, start=11, end=11),
    )
    reference = replace(results.reference("x"), spans=spans)
    assert spans_of(reference) == [("a.py", 40, 42), ("a.py", 11, 11)]


def test_further_places_are_limited() -> None:
    reference = results.reference("x", *(("a.py", line, line) for line in range(1, 40)))
    assert len(make_locations(DIFF, reference.spans)) == 11


def test_end_before_the_start_is_corrected() -> None:
    assert spans_of(results.reference("x", ("a.py", 7, 3))) == [("a.py", 7, 7)]
