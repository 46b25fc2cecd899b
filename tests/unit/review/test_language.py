from __future__ import annotations

import pytest

from crscore.records import Sentence
from crscore.review import read
from crscore.review.read import describe_unread, is_english, mark_unread
from tests.helpers.languages import REMARKS


@pytest.mark.parametrize("name", sorted(REMARKS))
def test_remarks_in_another_language_are_recognized(name: str) -> None:
    assert [text for text in REMARKS[name] if is_english(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "请修复: `foo` leaks",
        "这里的 timeout handler 没有 release lock, 会 deadlock",
        "调用foo(bar)之后没有释放锁。",
        "好的",
        "Merge после релиза",
        "Was passiert, wenn der Nutzer das Formular absenden will?",
        "Puedes usar `map` aquí",
        "DIE SPERRE WIRD NIE FREIGEGEBEN",
        *("Bitte entfernen", "nicht nötig", "mauvais nom", "no precisa quitarlo", "kaldır lütfen"),
    ],
)
def test_mixed_and_short_texts_in_another_language_are_recognized(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "nit", "LGTM", "typo", "ditto", "+1", "👍", "hahaha, nice :)", "nit: multi-line?"),
        *("use `map` here", "Unused import", "N+1 query", "null deref", "per above", "voila!"),
        *("stale comment", "compile error", "integer overflow", "fix plz", "same here"),
        *("LGTM 谢谢", "The label “确定” should be translated.", "Rename to 确定 button"),
        *('Typo: "Hinweis"', 'Typo: "Streckenzaehler" instead of "Streckenzähler"'),
        *("λ is unused", "α=β?", "naïve approach, but OK", "Rename `größe` to `size`"),
        *("fix core ut error", "android: fix JNI prototype", "getUserById -> fetchUser"),
        *("ERROR 2024-01-02 worker-3 NullPointerException at com.acme.Foo.bar(Foo.java:12)",),
        *("this function maybe dont work when list is emty, plese check",),
        *(
            "must to close file before return, otherwise will be leak",
            "here will crash if user null",
        ),
        *("exeption is swalowed, bad practice", "pls no hardcode url", "numpy pandas scipy torch"),
    ],
)
def test_short_misspelt_and_technical_english_is_read(text: str) -> None:
    assert is_english(text)


def test_english_with_function_words_needs_no_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_load_detector", pytest.fail)
    assert is_english("The lock that guards this map should be released before the call returns.")
    assert not is_english("Здесь блокировка никогда не снимается.")


def test_comment_in_another_language_is_unread_with_its_english_label_and_code() -> None:
    sentences = [
        Sentence(text="Potential issue", comment=0),
        Sentence(text="Die Sperre in der Schleife wird nie freigegeben.", comment=0),
        Sentence(text="change `a` to `b`", comment=0, proposal=True),
        Sentence(text="made by a bot", comment=0, hidden=True),
        Sentence(text="The lock is never released in the loop.", comment=1),
        Sentence(text="锁没有释放。", comment=1),
        Sentence(text="Why?", comment=2),
    ]
    marked = mark_unread(sentences)
    assert [sentence.unread for sentence in marked] == [*[True] * 4, False, True, False]
    note = "Text in 2 of 3 comments was not read: it is not in English."
    assert describe_unread(marked) == (note,)


def test_note_is_for_reviews_that_were_read_in_part() -> None:
    english, german = (Sentence(text="a", comment=n, unread=bool(n)) for n in range(2))
    assert describe_unread([english]) == describe_unread([german]) == ()
    assert describe_unread([english, german]) == (
        "Text in 1 of 2 comments was not read: it is not in English.",
    )


def test_long_texts_take_linear_time() -> None:
    assert is_english("x=" * 100_000)
    assert is_english("a" * 200_000 + "!" * 200_000)
