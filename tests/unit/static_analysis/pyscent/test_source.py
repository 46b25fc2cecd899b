from pathlib import Path

import pytest

from crscore.static_analysis.pyscent.source import UnparsedError, read_source


@pytest.fixture
def text_of(tmp_path: Path):
    def written(content: bytes | str) -> str:
        file = tmp_path / "code.py"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_source(str(file)).text

    return written


def test_comments_go_and_lines_stay(text_of) -> None:
    assert (
        text_of("# pylint: skip-file\na = 1  # pylint: disable=all\nb = 2\n") == "\na = 1\nb = 2\n"
    )


def test_a_hash_in_a_string_stays(text_of) -> None:
    assert text_of("a = '# pylint: skip-file'\n") == "a = '# pylint: skip-file'\n"


def test_line_ends_become_newlines(text_of) -> None:
    assert text_of(b"a = 1\r\nb = 2\rc = 3 # x\rd = 4\r\n") == "a = 1\nb = 2\nc = 3\nd = 4\n"


def test_the_encoding_cookie_is_obeyed(text_of) -> None:
    assert text_of("# coding: latin-1\na = 'ä'\n".encode("latin-1")) == "\na = 'ä'\n"


def test_a_byte_order_mark_is_no_code(text_of) -> None:
    assert text_of(b"\xef\xbb\xbfa = 1\n") == "a = 1\n"


def test_an_odd_escape_is_no_error(text_of) -> None:
    assert text_of("a = '\\d'\n") == "a = '\\d'\n"


def test_a_form_feed_moves_no_line(text_of) -> None:
    assert text_of("a = 1\n\x0c\ndef f(): pass  # x\n").split("\n")[2] == "def f(): pass"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"def f(:\n", "does not parse"),
        (b"a = 1\0\n", "does not parse"),
        (b"\xff = 1\n", "does not parse|encoding"),
        (b"# coding: no-such\na = 1\n", "does not parse"),
        (b"# coding: rot13\na = 1\n", "encoding"),
        (b"a = '\xff'\n", "does not parse|encoding"),
        (b"# coding: ascii\na = '\xff'\n", "encoding"),
        (b"# coding: utf-7\na = '+2AA-'\n", "encoding"),  # a lone surrogate
        (b"(" * 500 + b")" * 500, "does not parse|nests too deeply"),
        (b"a = " + b"-" * 200_000 + b"1\n", "does not parse|nests too deeply"),
        (b"x" + b".y" * 100_000 + b"\n", "does not parse|nests too deeply"),
    ],
)
def test_what_is_not_python_is_refused(text_of, content: bytes, reason: str) -> None:
    with pytest.raises(UnparsedError, match=reason):
        text_of(content)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnparsedError, match="cannot be read"):
        read_source(str(tmp_path / "none.py"))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnparsedError, match="cannot be read"):
        read_source(str(tmp_path))
