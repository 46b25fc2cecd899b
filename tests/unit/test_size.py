"""No room has more lines than its ceiling in `benchmarks/size.toml`."""

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import size  # noqa: E402

SOURCE = '''"""Doc."""

X = 1
"""Value of X."""

# The reason.
def f():
    """Doc.

    More.
    """
    return _g(X)  # a remark


def _g(x): return x  # noqa: E704
'''


def test_no_room_is_over_its_ceiling() -> None:
    text = tomllib.loads(size.CEILINGS.read_text("utf-8"))
    ceilings, lines = text["rooms"], size.lines_by_room(size.sources())
    over = {room: count for room, count in lines.items() if count > ceilings.get(room, 0)}
    assert not over, "smaller, or with a reason in benchmarks/size.toml"
    assert set(ceilings) - {size.RESEARCH} <= set(lines), "a room is gone: its ceiling can go"
    assert sum(ceilings.values()) - ceilings[size.RESEARCH] <= text["crscore"]


def test_lines_of_code_alone_count() -> None:
    assert size.code_lines(SOURCE) == 4


def test_code_is_described() -> None:
    modules = {"crscore/a.py": SOURCE, "crscore/b/c/d.py": SOURCE + "class C: ...\n"}
    assert [line.split("  ")[-1].strip() for line in size.describe(modules)] == [
        "2",  # packages
        "2",  # below crscore
        "111.1",  # one class in nine lines
        "50 % of 4",
        "12.9",  # four comments in 31 lines
    ]


def test_ceilings_are_lowered_and_never_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "size.toml"
    file.write_text("crscore = 9\n\n[rooms]\na = 5  # for a reason\nb = 3\nc = 1\n", "utf-8")
    modules = {"crscore/a/x.py": "X = 1\n" * 4, "crscore/b/x.py": "X = 1\n" * 8}
    monkeypatch.setattr(size, "CEILINGS", file)
    monkeypatch.setattr(size, "sources", lambda: modules)
    size.lower()
    rooms = "a = 4  # for a reason\nb = 3\nc = 1\n"
    assert file.read_text("utf-8") == f"crscore = 9\n\n[rooms]\n{rooms}"
