import click
import pytest

from crscore.commands import _split


@click.command(cls=_split.Command)
@click.argument("paths", nargs=-1)
@click.option(_split.FLAG, "held_out")
def command(paths: tuple[str, ...], held_out: str | None) -> tuple[tuple[str, ...], str | None]:
    return paths, held_out


@pytest.mark.parametrize(
    ("words", "paths", "held_out"),
    [
        ("--split grouped-cv 5 DATA", ("DATA",), "grouped-cv:5"),
        ("DATA --split grouped-cv 5", ("DATA",), "grouped-cv:5"),
        ("DATA --split=grouped-cv 5", ("DATA",), "grouped-cv:5"),
        ("--split grouped-cv:5 DATA", ("DATA",), "grouped-cv:5"),
        ("--split grouped-cv DATA", ("DATA",), "grouped-cv"),
        ("--split grouped-cv:5 6", ("6",), "grouped-cv:5"),
        ("5 --split grouped-cv", ("5",), "grouped-cv"),
        ("5 6", ("5", "6"), None),
        ("DATA", ("DATA",), None),
    ],
)
def test_number_after_the_split_belongs_to_it(words, paths, held_out) -> None:
    assert command.main(words.split(), standalone_mode=False) == (paths, held_out)


def test_no_split_is_none() -> None:
    assert _split.choose_split(None, None) is None
