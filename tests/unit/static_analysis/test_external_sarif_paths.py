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
        # below the checkout of a known runner
        ("file:///home/runner/work/shop/shop/src/a.py", "src/a.py"),
        ("/home/runner/work/shop/shop/index.js", "index.js"),
        ("file:///D:/a/shop/shop/src/a.py", "src/a.py"),
        ("D:\\a\\shop\\shop\\src\\a.py", "src/a.py"),
        ("/__w/shop/shop/README.md", "README.md"),
        ("/github/workspace/docs/README.md", "docs/README.md"),
        ("/github/workspace/README.md", "README.md"),
        # below some other folder
        ("file:///builds/team/shop/src/a%20b.py", "src/a b.py"),
        ("file:/builds/team/shop/src/a.py", "src/a.py"),
        ("file://host/share/shop/src/a.py", "src/a.py"),
        ("C:/work/shop/src/a.py", "src/a.py"),
        ("shop/src/a.py", "src/a.py"),
        ("file:///builds/team/shop/src/a.py#L3", "src/a.py"),
        # another file
        ("file:///home/runner/work/shop/shop/lib/src/a.py", None),
        ("/home/runner/work/shop/shop/lib/index.js", None),
        ("/github/workspace/lib/index.js", None),
        ("lib/index.js", None),
        ("xsrc/a.py", None),
        ("/builds/xsrc/a.py", None),
        ("src/b.py", None),
        ("SRC/A.PY", None),
        # no telling which
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


def test_percent_sign_of_a_name_is_no_escape() -> None:
    paths = {"a%20b.py", "100%.py", "c d.py"}
    assert match_path("a%20b.py", paths) == "a%20b.py"
    assert match_path("100%.py", paths) == "100%.py"
    assert match_path("c%20d.py", paths) == "c d.py"


def test_report_agrees_on_one_folder() -> None:
    root = "file:///builds/team/shop/"
    uris = [root + name for name in ("docs/README.md", "lib/index.js", "src/a.py", "index.js")]
    assert match_paths(uris, PATHS) == {
        root + "docs/README.md": "docs/README.md",
        root + "src/a.py": "src/a.py",
        root + "index.js": "index.js",
    }


def test_unchanged_file_is_not_taken_for_a_changed_one_with_its_ending() -> None:
    uris = [f"/builds/shop/{name}" for name in ("lib/index.js", "lib/x.js", "web/y.js", "z.js")]
    assert match_paths(uris, {"index.js"}) == {}


def test_relative_names_are_not_shifted_when_one_of_them_fits() -> None:
    uris = ["src/a.py", "vendor/src/a.py"]
    assert match_paths(uris, PATHS) == {"src/a.py": "src/a.py"}


def test_two_folders_that_do_equally_well_mean_nothing() -> None:
    uris = ["/w/shop/shop/a.py", "/w/shop/shop/b.py"]
    assert match_paths(uris, {"a.py", "shop/a.py"}) == {}


def test_checkout_named_like_a_package_is_known_on_a_runner() -> None:
    uris = [f"/home/runner/work/shop/shop/{name}" for name in ("a.py", "shop/a.py")]
    paths = {"a.py", "shop/a.py"}
    assert match_paths(uris, paths) == dict(zip(uris, ("a.py", "shop/a.py"), strict=True))


def test_hostile_number_of_folders_is_borne() -> None:
    paths = {"d/" * depth + "__init__.py" for depth in range(0, 200, 2)}

    def prepare(size: int) -> Callable[[], object]:
        uris = [f"/{i}/" + "d/" * 90 + "__init__.py" for i in range(size)]
        return lambda: match_paths(uris, paths)

    assert growth(prepare, 100) < 9


@given(st.text(max_size=30) | st.text("/.\\%:aC2 ", max_size=30))
def test_any_text_means_a_file_of_the_change_or_none(uri: str) -> None:
    assert match_path(uri, {"a", "a/a", ".a", "C:/a"}) in {"a", "a/a", ".a", "C:/a", None}
