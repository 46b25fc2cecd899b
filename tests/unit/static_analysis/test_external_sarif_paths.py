from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.static_analysis.external_sarif import match_paths
from tests.helpers.growth import growth


def match_path(uri: str, paths) -> str | None:
    return match_paths([uri], paths).get(uri)


PATHS = {"src/a.py", "src/a b.py", "index.js", "docs/README.md", "README.md", "Src/B.py"}


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        # as the change names it
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src/x/../a.py", "src/a.py"),
        ("src//a.py", "src/a.py"),
        ("src\\a.py", "src/a.py"),
        ("src/a%20b.py", "src/a b.py"),
        ("src/a b.py", "src/a b.py"),
        ("README.md", "README.md"),
        # the end of the path
        ("file:///home/runner/work/shop/shop/src/a.py", "src/a.py"),
        ("D:\\a\\shop\\shop\\src\\a.py", "src/a.py"),
        ("file:///D:/a/shop/shop/src/a.py", "src/a.py"),
        ("file:///builds/team/shop/src/a%20b.py", "src/a b.py"),
        ("file:/builds/team/shop/src/a.py", "src/a.py"),
        ("file://host/share/shop/src/a.py", "src/a.py"),
        ("shop/src/a.py", "src/a.py"),
        ("/home/runner/work/shop/shop/index.js", "index.js"),
        ("file:///builds/team/shop/src/a.py#L3", "src/a.py"),
        # another file
        ("lib/index.js", None),
        ("xsrc/a.py", None),
        ("/builds/xsrc/a.py", None),
        ("src/b.py", None),
        ("SRC/A.PY", None),
        # two files end like this
        ("/builds/docs/README.md", None),
        # no file
        ("https://host.example/src/a.py", None),
        ("pkg:npm/src/a.py", None),
        ("", None),
        (".", None),
        ("/", None),
        ("file:///", None),
        ("src/a.py\x00", None),
        ("a/" * 5_000 + "src/a.py", None),
    ],
)
def test_uri_means_a_file_of_the_change(uri: str, path: str | None) -> None:
    assert match_path(uri, PATHS) == path


def test_percent_sign_without_digits_is_no_escape() -> None:
    assert match_path("100%.py", {"100%.py"}) == "100%.py"


def test_path_without_a_folder_is_in_the_folder_of_all() -> None:
    uris = [f"/builds/shop/{name}" for name in ("lib/index.js", "lib/x.js", "web/y.js", "z.js")]
    assert match_paths(uris, {"index.js", "z.js"}) == {"/builds/shop/z.js": "z.js"}


def test_several_paths_with_one_ending_mean_nothing() -> None:
    uris = ["/builds/src/a.py", "/builds/vendor/src/a.py"]
    assert match_paths(uris, PATHS) == {}
    assert match_paths(["src/a.py", *uris], PATHS) == {"src/a.py": "src/a.py"}


@pytest.mark.growth
def test_hostile_number_of_folders_is_borne() -> None:
    paths = {"d/" * depth + "__init__.py" for depth in range(0, 200, 2)}

    def prepare(size: int) -> Callable[[], object]:
        uris = [f"/{i}/" + "d/" * 90 + "__init__.py" for i in range(size)]
        return lambda: match_paths(uris, paths)

    assert growth(prepare, 100) < 12


@given(st.text(max_size=30) | st.text("/.\\%:aC2 ", max_size=30))
def test_any_text_means_a_file_of_the_change_or_none(uri: str) -> None:
    assert match_path(uri, {"a", "a/a", ".a", "C:/a"}) in {"a", "a/a", ".a", "C:/a", None}
