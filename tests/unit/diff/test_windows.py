from crscore.diff import parse, windows
from crscore.diff.windows import LINES_PER_WINDOW, MAX_WINDOWS

BINARY = """diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
"""
CONTEXT = "--- a/a.py\n+++ b/a.py\n@@ -1,8 +1,8 @@\n" + "".join(f" line{at}\n" for at in range(8))


def added(count: int, text: str = "value") -> str:
    lines = "".join(f"+{text} {at}\n" for at in range(count))
    return f"--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,{count} @@\n{lines}"


def test_change_without_lines_has_no_window() -> None:
    assert windows.list_windows(parse.parse_diff(BINARY)) == ()


def test_windows_overlap() -> None:
    first, second = windows.list_windows(parse.parse_diff(added(LINES_PER_WINDOW + 1)))
    assert first.split()[1::2] == [str(at) for at in range(LINES_PER_WINDOW + 1)]
    assert second.split()[1::2] == [
        str(at) for at in range((LINES_PER_WINDOW + 2) // 2, LINES_PER_WINDOW + 1)
    ]


def test_change_without_a_changed_line_gives_its_last_lines() -> None:
    (window,) = windows.list_windows(parse.parse_diff(CONTEXT))
    assert window.split() == [f"line{at}" for at in range(8 - LINES_PER_WINDOW, 8)]


def test_windows_are_few_and_short_and_spread_over_a_huge_change() -> None:
    found = windows.list_windows(parse.parse_diff(added(5_000, "value " * 30)))
    assert len(found) == MAX_WINDOWS
    assert max(map(len, found)) <= windows.MAX_WINDOW_CHARS
    numbered = windows.list_windows(parse.parse_diff(added(5_000)))
    starts = [int(window.split()[1]) for window in numbered]
    assert starts == sorted(set(starts))
    assert starts[-1] >= 3_750


def test_windows_have_every_line_of_a_small_change() -> None:
    for count in range(1, 40):
        found = windows.list_windows(parse.parse_diff(added(count, "v")))
        assert 1 <= len(found) <= MAX_WINDOWS
        numbers = {number for window in found for number in window.split()[1::2]}
        if count <= 2 * LINES_PER_WINDOW * MAX_WINDOWS:
            assert numbers == set(map(str, range(count)))
