"""Expected shares are counted by hand."""

from __future__ import annotations

from crscore.records import ChangedFile, Diff, DiffLine, FileStatus, Hunk, LineKind
from crscore.scoring.assembly import measure_baselines


def diff_of(*lines: str) -> Diff:
    kinds = {"+": LineKind.ADDED, "-": LineKind.REMOVED, " ": LineKind.CONTEXT}
    hunk = Hunk(
        old_start=1,
        old_length=1,
        new_start=1,
        new_length=1,
        section="def sectionname",
        lines=tuple(DiffLine(kind=kinds[x[0]], text=x[1:], old=None, new=None) for x in lines),
    )
    file = ChangedFile(
        path="pathname.py",
        old_path=None,
        status=FileStatus.MODIFIED,
        language="python",
        hunks=(hunk,),
    )
    return Diff(files=(file,), sha256="0" * 64)


def test_tokens_of_all_line_kinds_are_shared() -> None:
    diff = diff_of("+alpha", "-beta", " gamma", "+delta")
    assert measure_baselines(diff, ["alpha and beta", "not gamma"]).repeated_tokens == 3 / 4


def test_token_on_several_lines_counts_once() -> None:
    assert (
        measure_baselines(diff_of("+alpha alpha", "-alpha", "+beta"), ["alpha"]).repeated_tokens
        == 1 / 2
    )


def test_other_case_is_the_same_token() -> None:
    assert measure_baselines(diff_of("+STRASSE = None"), ["Straße"]).repeated_tokens == 1 / 2


def test_identifier_is_split_at_underscores_and_digits() -> None:
    # tokens: user, name, parse
    assert (
        measure_baselines(diff_of("+user_id2name(parseX)"), ["the user"]).repeated_tokens == 1 / 3
    )


def test_camel_case_stays_one_token() -> None:
    assert measure_baselines(diff_of("+getUser"), ["get the user"]).repeated_tokens == 0.0


def test_part_of_a_word_does_not_count_as_repeated() -> None:
    assert (
        measure_baselines(diff_of("+format"), ["reformat the information"]).repeated_tokens == 0.0
    )


def test_path_and_section_are_no_tokens() -> None:
    assert measure_baselines(diff_of("+x"), ["pathname sectionname"]).repeated_tokens is None


def test_diff_without_files_has_no_share() -> None:
    assert measure_baselines(Diff(files=(), sha256=""), ["some words"]).repeated_tokens is None


def test_no_text_repeats_no_token() -> None:
    counts = measure_baselines(diff_of("+alpha"), [])
    assert (counts.words, counts.repeated_tokens) == (0, 0.0)


def test_words_need_a_letter_or_digit() -> None:
    assert measure_baselines(diff_of("+x"), ["- a `b` && 3.5\n\n!", "it's né 日本"]).words == 6
